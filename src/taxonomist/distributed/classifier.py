"""``DaskClassifier``: the base of estimators that run a local twin on a Dask cluster."""

from __future__ import annotations

from copy import copy
from inspect import Parameter, signature
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from taxonomist.distributed.answers import LazyAnswers, Question
from taxonomist.distributed.blocks import aligned_blocks, matrix_of
from taxonomist.distributed.dask_engine import DaskEngine, find_client
from taxonomist.distributed.text_parts import texts_of
from taxonomist.errors import ClusterError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dask.array import Array
    from dask.bag import Bag
    from dask.delayed import Delayed
    from distributed import Client, Future

    from taxonomist.distributed.blocks import Block, Collection
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.models.base import TaxonomyClassifier


class DaskClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers on Dask collections.

    A subclass names its local twin in ``local_class``, whose parameters it takes, and implements
    ``_fit_local``. Attributes that end in an underscore are those of the fitted twin, ``local_``.

    Parameters
    ----------
    client
        The Dask client. None uses the default client when it is needed. It is never pickled.
    **parameters
        The parameters of the local twin.
    """

    local_class: ClassVar[type[TaxonomyClassifier]]
    takes_texts: ClassVar[bool] = False

    client: Client | None
    local_: Block

    def __init_subclass__(cls) -> None:
        """Give a subclass the parameters of its local twin, with their defaults."""
        super().__init_subclass__()
        twin = signature(cls.local_class.__init__)
        known = [p for p in twin.parameters.values() if p.kind != Parameter.VAR_KEYWORD]
        client = Parameter("client", Parameter.KEYWORD_ONLY, default=None)

        def __init__(self: DaskClassifier, *args: object, **given: object) -> None:  # noqa: N807
            bound = accepted.bind(self, *args, **given)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        accepted = twin.replace(parameters=[*known, client])
        __init__.__signature__ = accepted  # type: ignore[attr-defined]
        type.__setattr__(cls, "__init__", __init__)

    # To be defined by subclasses ---------------------------------------------------------------

    def _fit_local(self, engine: Engine, blocks: Sequence[Sequence[Handle]], local: Block) -> Block:
        """Fit the local twin to blocks of items, labels and weights, and return it."""
        raise NotImplementedError

    # Learning ----------------------------------------------------------------------------------

    def fit(self, X: Collection, y: Collection, sample_weight: Collection | None = None) -> Self:
        """Learn from items and their labels.

        Parameters
        ----------
        X
            Items: a Dask array with dense or CSR blocks, a data frame, a bag of rows, or a list of
            delayed parts.
        y
            Labels in the same partitions, as in ``fit`` of the local model: ids, label sets, or an
            indicator matrix. Local labels are accepted if the sizes of the blocks of X are known.
        sample_weight
            Weights of the items, in the same partitions. None means equal weights.

        Returns
        -------
        DaskClassifier
            The model itself.

        Raises
        ------
        ClusterError
            If the cluster is lost, or has too little memory.
        """
        if getattr(self, "warm_start", False):
            raise ParameterError(
                f"{type(self).__name__} cannot go on from the last fit; use warm_start=False."
            )
        given = aligned_blocks(X, y, sample_weight)
        with DaskEngine(self.client) as engine:
            blocks = _computed(engine, given)
            del given
            self.local_ = self._fit_local(engine, blocks, self._unfitted())
        return self

    def _unfitted(self) -> Block:
        """Return the local twin, unfitted."""
        given = self.get_params(deep=False)
        del given["client"]
        return clone(self.local_class(**given))

    def to_local(self) -> Block:
        """Return the fitted local model, which needs no cluster and can be saved."""
        check_is_fitted(self, "local_")
        return copy(self.local_)

    # Predicting --------------------------------------------------------------------------------

    def predict(self, X: Collection) -> Array:
        """Return the labels of items, lazily.

        Parameters
        ----------
        X
            Items as in ``fit``.

        Returns
        -------
        dask array, shape (n_items,), or of an indicator matrix
            As in ``predict`` of the local model, in the partitions of X.
        """
        answers, local = self._ask(X, "predict"), self.local_
        if local.targets_.is_single:
            return answers.array(local.classes_.dtype)
        example = self._example("predict")
        return answers.array(example.dtype, example.shape[1], meta=example[:0])

    def predict_proba(self, X: Collection) -> Array:
        """Return the probability of every category, (n_items, n_classes), lazily."""
        check_is_fitted(self, "local_")
        local = self.local_
        if not hasattr(local, "predict_proba"):
            return local.predict_proba  # raises the error that says why
        return self._ask(X, "predict_proba").array(np.float64, len(local.classes_))

    def decision_function(self, X: Collection) -> Array:
        """Return the score of every category, lazily; see the local model."""
        answers, example = self._ask(X, "decision_function"), self._example("decision_function")
        return answers.array(example.dtype, *example.shape[1:])

    def predict_topk(self, X: Collection, k: int = 5) -> tuple[Array, Array]:
        """Return the k best categories of each item and their scores, (n_items, k), lazily."""
        answers = self._ask(X, "predict_topk", k)
        labels, scores = self._example("predict_topk", k)
        return (
            answers.part(0).array(labels.dtype, labels.shape[1]),
            answers.part(1).array(scores.dtype, scores.shape[1]),
        )

    def predict_labels(self, X: Collection) -> Bag:
        """Return the labels of each item as a list, lazily."""
        return self._ask(X, "predict_labels").bag()

    def predict_paths(self, X: Collection) -> Bag:
        """Return the path, or for label sets all paths, of each item, lazily."""
        return self._ask(X, "predict_paths").bag()

    def score(self, X: Collection, y: Collection, sample_weight: Collection | None = None) -> float:
        """Return the share of items whose label, or label set, is predicted exactly.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        check_is_fitted(self, "local_")
        given = aligned_blocks(X, y, sample_weight)
        with DaskEngine(self.client) as engine:
            blocks = _computed(engine, given)
            shared = engine.scatter(self._answering()), self.takes_texts
            found = engine.map(_score_part, *blocks, shared=shared)
            right, total = np.sum(engine.gather(found), axis=0)
        if not total:
            raise ParameterError("No item has a weight above 0, so there is nothing to score.")
        return float(right / total)

    def _ask(self, X: Collection, method: str, *arguments: object) -> LazyAnswers:
        """Return lazy answers of the local model."""
        check_is_fitted(self, "local_")
        question = Question(method, arguments, self.takes_texts, self._one())
        return LazyAnswers.of(self._model(), X, question)

    def _example(self, method: str, *arguments: object) -> Block:
        """Return an answer for one item, which shows its format."""
        return getattr(self.local_, method)(self._one(), *arguments)

    def _one(self) -> Block:
        """Return one item: zeros, or texts without words."""
        if not self.takes_texts:
            zeros = np.zeros((1, self.local_.n_features_in_))
            names = getattr(self.local_, "feature_names_in_", None)
            if names is None:
                return zeros
            from pandas import DataFrame

            return DataFrame(zeros, columns=names)
        features = self.local_.features_
        blank = [""] * len(features.column_weights_)
        if features.columns_ is not None:
            return [dict(zip(features.columns_, blank, strict=True))]
        return [blank] if len(blank) > 1 else blank

    def _answering(self) -> Block:
        """Return the local model as workers use it: their threads share out the blocks."""
        model = copy(self.local_)
        if getattr(model, "n_jobs", 1) is None:
            model.n_jobs = 1
        return model

    def _model(self) -> Delayed | Future:
        """Return the local model on the workers, where it is scattered once."""
        from dask import delayed

        try:
            client = find_client(self.client)
        except ClusterError:
            return delayed(self._answering(), pure=False)
        *owner, known = vars(self).get("_scattered", (None, None, None))
        if owner == [client.id, id(self.local_)] and known.status == "finished":
            return known
        future = client.scatter(self._answering(), broadcast=True, hash=False)
        self._scattered = client.id, id(self.local_), future
        return future

    # The estimator -----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Block:
        """Return a fitted attribute of the local model."""
        if name.endswith("_") and not name.startswith("_") and "local_" in vars(self):
            return getattr(self.local_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def __getstate__(self) -> dict[str, object]:
        """Return what is pickled: everything but the client and what is on the workers."""
        state = {**super().__getstate__(), "client": None}
        state.pop("_scattered", None)
        return state

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same client, which cannot be copied."""
        given = self.get_params(deep=False)
        client = given.pop("client")
        copied = {name: clone(value, safe=False) for name, value in given.items()}
        return type(self)(**copied, client=client)


def _computed(engine: DaskEngine, blocks: list[list[Delayed]]) -> list[list[Handle]]:
    """Begin to compute all delayed blocks; local blocks stay as they are."""
    lazy = [block for column in blocks for block in column if hasattr(block, "__dask_graph__")]
    found = iter(engine.compute(lazy))
    return [
        [next(found) if hasattr(block, "__dask_graph__") else block for block in column]
        for column in blocks
    ]


def _score_part(
    X: Block, y: Block, sample_weight: Block, model: Block, is_text: bool
) -> tuple[float, float]:
    """Return the weight of the items of a part that are predicted exactly, and of all items."""
    n_items = len(y) if not hasattr(y, "shape") else y.shape[0]
    weights = np.ones(n_items) if sample_weight is None else np.asarray(sample_weight, float)
    total = float(weights.sum())
    if not total:
        return 0.0, 0.0
    items = texts_of(X) if is_text else matrix_of(X)
    return total * float(model.score(items, y, weights)), total
