"""``PerNodeModel``: the base class of models with one classifier per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from taxonomist._typing import Matrix, is_sparse
from taxonomist.errors import ParameterError
from taxonomist.inference.limits import Limits
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.learning import Learned, Training
from taxonomist.models.node_margins import (
    TopDownDecision,
    in_all,
    limited_by_parents,
    parents_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Bools, Codes, Floats, MatrixLike
    from taxonomist.models.node_margins import MarginScorer
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy


class NodeProblem(NamedTuple):
    """The training items of the classifier of a node, and which of them are positive."""

    code: int
    parents: tuple[int, ...]
    items: Codes
    is_in: Bools


class PerNodeModel(TaxonomyClassifier):
    """Base class of models with one classifier per node and top-down decisions.

    A subclass has the parameter ``min_labels`` and learns the classifiers in ``learn_nodes``. Nodes
    whose training items are all positive or all negative have a constant prediction instead of a
    classifier. A virtual root has no classifier.
    """

    min_labels: int | None
    node_constants_: dict[Any, bool]
    scorer_: MarginScorer

    @property
    def is_top_down(self) -> bool:
        """Whether a node is trained only on items that belong to all its parents."""
        return True

    def learn_nodes(
        self, training: Training, problems: Iterator[NodeProblem], constants: Floats
    ) -> tuple[MarginScorer, dict[str, object]]:
        """Learn the classifiers; return their scorer and fitted attributes.

        Parameters
        ----------
        training
            All items.
        problems
            The training problems of nodes. Once they are exhausted, ``constants`` is complete.
        constants
            Margins of nodes without a classifier. NaN for other nodes.
        """
        raise NotImplementedError

    def learn(self, training: Training, start: object = None) -> Learned:  # noqa: ARG002
        """Learn one classifier per node; see ``TaxonomyClassifier.learn``."""
        targets = training.targets
        taxonomy = targets.categories.taxonomy
        constants = np.full(taxonomy.n_nodes, np.nan)
        closed = csc_array(targets.close(targets.labels))
        problems = node_problems(taxonomy, closed, training.weights, self.is_top_down)
        scorer, facts = self.learn_nodes(training, _open(problems, constants), constants)
        names, answers = targets.node_names, (constants > 0).tolist()
        without = np.flatnonzero(~np.isnan(constants)).tolist()
        first = int(taxonomy.has_artificial_root)
        found = {names[code]: answers[code] for code in without if code >= first}
        return Learned(scorer, facts | {"node_constants_": found})

    def limits(self, targets: Targets) -> Limits:
        """Return ``min_labels`` and the number of categories."""
        n_categories = len(targets.categories)
        if self.min_labels is not None and not 0 <= self.min_labels <= n_categories:
            raise ParameterError(
                f"min_labels must be None or from 0 to {n_categories}, the number of categories. "
                f"Got {self.min_labels!r}."
            )
        return Limits(self.min_labels or 0, n_categories)

    def tuning(self, training: Training, held_out: Codes) -> None:
        """Return None: the classifiers decide without tuning."""

    def node_decision_function(self, X: MatrixLike) -> Floats:
        """Return the scores of all nodes.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        ndarray, shape (n_items, n_nodes)
            The smallest margin of each node and its ancestors, in the order of
            ``taxonomy_.nodes``, so that no node scores higher than its parents. Infinite where a
            constant prediction decides.
        """
        check_is_fitted(self)
        margins = self.scorer_.raw(self.checked_rows(X, reset=False)).T
        scores: Floats = limited_by_parents(self.scorer_.taxonomy, margins).T
        return scores

    @property
    def decider(self) -> TopDownDecision:
        """The decision that converts margins to label sets."""
        return TopDownDecision(self.targets_, self.min_labels)

    def check_rows(self, X: MatrixLike, reset: bool) -> Matrix:
        """Return validated items."""
        return narrow_indices(
            validate_data(
                self,
                X,
                accept_sparse="csr",
                dtype=(np.float64, np.float32),
                ensure_all_finite="allow-nan" if get_tags(self).input_tags.allow_nan else True,
                reset=reset,
            )
        )

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and display name of a node."""
        return str(self.targets_.node_names[source]), self.taxonomy_.names[source]


def _open(problems: Iterator[NodeProblem], constants: Floats) -> Iterator[NodeProblem]:
    """Yield the problems that need a classifier; write the constants of the others."""
    for problem in problems:
        if problem.is_in.all() and len(problem.items):
            constants[problem.code] = np.inf
        elif not problem.is_in.any():
            constants[problem.code] = -np.inf
        else:
            yield problem


def node_problems(
    taxonomy: Taxonomy, closed: Any, weights: Floats, is_top_down: bool
) -> Iterator[NodeProblem]:
    """Yield the training problem of each node; nodes with the same parents are consecutive.

    ``closed`` contains label sets closed under ancestors, (n_items, n_nodes) CSC. Items of weight 0
    are left out. All items belong to a virtual root, also those without labels.
    """
    everyone = np.flatnonzero(weights)
    if not len(everyone):
        raise ParameterError("No item has a weight above 0, so there is nothing to learn.")
    ends = closed.indptr
    members = [
        np.intersect1d(everyone, closed.indices[ends[code] : ends[code + 1]], assume_unique=True)
        for code in range(taxonomy.n_nodes)
    ]
    if taxonomy.has_artificial_root:
        members[0] = everyone
    above = [parents_of(taxonomy, code) for code in range(taxonomy.n_nodes)]
    for code in sorted(range(taxonomy.n_nodes), key=above.__getitem__):
        seen = in_all(members, above[code], everyone) if is_top_down else everyone
        is_in = np.isin(seen, members[code], assume_unique=True)
        yield NodeProblem(code, above[code], seen, is_in)


def narrow_indices(X: Matrix) -> Matrix:
    """Convert sparse items to 32-bit indices if possible, because liblinear needs them."""
    if not is_sparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return type(X)((X.data, indices, indptr), shape=X.shape)
