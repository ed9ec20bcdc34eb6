"""``ProbableQuestions``: the prediction methods of classifiers that have node probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import _num_samples, check_is_fitted

from taxonomist.models.answers import stacked
from taxonomist.models.probable_answers import is_own_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Floats, MatrixLike, Objects
    from taxonomist.losses.categories import LossLike
    from taxonomist.models.probable_answers import ProbableAnswers
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

NODES_AT_A_TIME = 2**22
"""Node probabilities held in memory at a time if they are not returned, 32 MiB."""


class ProbableQuestions:
    """The prediction methods of a classifier that has node probabilities.

    A subclass defines ``answer`` and ``plain_predictions``.
    """

    targets_: Targets
    taxonomy_: Taxonomy

    def answer(self, X: MatrixLike) -> ProbableAnswers:
        """Return all predictions for items."""
        raise NotImplementedError

    def plain_predictions(self, X: MatrixLike) -> Any:
        """Return the predictions without ``depth`` and ``cost``."""
        raise NotImplementedError

    def predict(
        self,
        X: MatrixLike,
        *,
        depth: str | None = None,
        risk: float = 0.1,
        cost: LossLike | None = None,
    ) -> Any:
        """Return the predictions of the model, or confident or least-cost nodes.

        Parameters
        ----------
        X
            Items as in ``fit``.
        depth
            ``"confident"`` returns the deepest node that is correct with a probability of at least
            1 - ``risk``, which may be the root. For label sets, it returns the nodes of the
            predicted set that are that probable.
        risk
            The accepted probability of an error.
        cost
            A loss between nodes: ``"tree"``, ``"zero_one"``, or any other loss that
            ``taxonomist.losses.category_loss`` accepts. Returns the node, or label set, with the
            lowest expected loss. For label sets, the loss must be defined by costs at nodes.

        Returns
        -------
        ndarray, shape (n_items,), or for label sets a matrix
            Labels. With ``depth`` or ``cost``, node ids, or for label sets an indicator matrix over
            ``taxonomy_.nodes``, (n_items, n_nodes), closed under ancestors.

        Raises
        ------
        ValueError
            If ``depth`` or ``risk`` is invalid, or if both ``depth`` and ``cost`` are given.
        LabelError
            If the loss does not fit the taxonomy.
        """
        check_is_fitted(self)
        if not is_own_rule(depth, risk, cost):
            return self.plain_predictions(X)
        found = [block.predict(depth=depth, risk=risk, cost=cost) for block in self._blocks(X)]
        if self.targets_.is_single:
            return np.concatenate(found)
        return stacked(found)

    def predict_labels(
        self,
        X: MatrixLike,
        *,
        depth: str | None = None,
        risk: float = 0.1,
        cost: LossLike | None = None,
    ) -> list[list[Any]]:
        """Return the labels of each item as a list, from general to specific.

        A virtual root is left out. The parameters are the same as in ``predict``.
        """
        blocks = self._blocks(X)
        rule: dict[str, Any] = {"depth": depth, "risk": risk, "cost": cost}
        return [labels for block in blocks for labels in block.labels(**rule)]

    def predict_paths(
        self,
        X: MatrixLike,
        *,
        depth: str | None = None,
        risk: float = 0.1,
        cost: LossLike | None = None,
    ) -> list[Any]:
        """Return the path from the top to each prediction; lists of paths for label sets.

        The path to a virtual root is empty. If a node of a DAG has several paths, the first is
        returned. The parameters are the same as in ``predict``.
        """
        blocks = self._blocks(X)
        rule: dict[str, Any] = {"depth": depth, "risk": risk, "cost": cost}
        return [paths for block in blocks for paths in block.paths(**rule)]

    def _blocks(self, X: MatrixLike) -> Iterator[ProbableAnswers]:
        """Yield answers for blocks of items whose node probabilities fit into memory."""
        check_is_fitted(self)
        n_items, size = _num_samples(X), max(1, NODES_AT_A_TIME // self.taxonomy_.n_nodes)
        rows = X.tocsr() if hasattr(X, "tocsr") else X
        for block in gen_batches(n_items, size) if n_items > size else [None]:
            yield self.answer(X if block is None else _safe_indexing(rows, block))

    # Probabilities ---------------------------------------------------------------------------

    @overload
    def predict_proba(self, X: MatrixLike, *, top: None = None) -> Floats: ...

    @overload
    def predict_proba(self, X: MatrixLike, *, top: int) -> CSR: ...

    def predict_proba(self, X: MatrixLike, *, top: int | None = None) -> Floats | CSR:
        """Return the probability of every category, or of the most probable ones.

        Parameters
        ----------
        X
            Items as in ``fit``.
        top
            How many categories of each item to return. They are the most probable ones, with the
            same probabilities as without ``top``; only blocks of items have a dense array for a
            moment.

        Returns
        -------
        ndarray or csr_array, shape (n_items, n_classes)
            Probabilities in the order of ``classes_``. Rows do not depend on the other items. With
            one category per item, every row of the whole array sums to 1. With ``top``, a sparse
            array with ``top`` entries in each row.

        Raises
        ------
        ParameterError
            If ``top`` is not a number of categories.
        """
        if top is None:
            return self.answer(X).proba()
        return stacked([block.top_proba(top) for block in self._blocks(X)])

    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs

    @overload
    def predict_node_proba(self, X: MatrixLike, *, top: None = None) -> Floats: ...

    @overload
    def predict_node_proba(self, X: MatrixLike, *, top: int) -> CSR: ...

    def predict_node_proba(self, X: MatrixLike, *, top: int | None = None) -> Floats | CSR:
        """Return the probability that items belong at or below every node, or the probable ones.

        Parameters
        ----------
        X
            Items as in ``fit``.
        top
            If given, only this many most probable categories of each item, and the nodes above
            them, are returned, with the same probabilities.

        Returns
        -------
        ndarray or csr_array, shape (n_items, n_nodes)
            Probabilities in the order of ``taxonomy_.nodes``. No node is more probable than its
            parents. With ``top``, a sparse array.

        Raises
        ------
        ParameterError
            If ``top`` is not a number of categories.
        """
        if top is None:
            return self.answer(X).node_proba()
        return stacked([block.top_node_proba(top) for block in self._blocks(X)])

    def predict_topk(self, X: MatrixLike, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k most probable categories of each item.

        Parameters
        ----------
        X
            Items as in ``fit``.
        k
            The number of categories to return.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            The labels, most probable first.
        probabilities : ndarray, shape (n_items, k)
        """
        return self.answer(X).topk(k)
