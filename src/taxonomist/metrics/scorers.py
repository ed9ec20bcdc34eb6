"""Measures as scorers for scikit-learn's model selection.

A scorer is a callable ``(estimator, X, y)`` to pass as ``scoring=`` to ``GridSearchCV`` or
``cross_val_score``. Losses are negated, so that higher is better, and named ``neg_...``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError, closest
from taxonomist.metrics import curves, labelling, ranking, sets, single
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from taxonomist._typing import LabelsLike, MatrixLike
    from taxonomist.taxonomy import Taxonomy


def _micro_f1(*args: Any, **options: Any) -> float:
    """Return the F1 pooled over all nodes except the root."""
    return float(sets.precision_recall_f1(*args, nodes="all", **options).f1)


def _macro_f1(*args: Any, **options: Any) -> float:
    """Return the mean F1 of all nodes that occur, except the root."""
    return float(sets.precision_recall_f1(*args, nodes="all", average="macro", **options).f1)


@dataclass(frozen=True)
class _Measure:
    """A measure and the inputs that it needs."""

    function: Callable[..., float]
    scores: bool = False
    taxonomy: bool = True


_MEASURES = {
    "accuracy": _Measure(single.accuracy, taxonomy=False),
    "hierarchical_f1": _Measure(sets.hierarchical_f1),
    "neg_taxonomy_loss": _Measure(single.taxonomy_loss),
    "parent_accuracy": _Measure(single.parent_accuracy),
    "mean_reciprocal_rank": _Measure(single.mean_reciprocal_rank, scores=True, taxonomy=False),
    "micro_f1": _Measure(_micro_f1),
    "macro_f1": _Measure(_macro_f1),
    "neg_symmetric_difference_loss": _Measure(labelling.symmetric_difference_loss),
    "neg_set_loss": _Measure(labelling.set_loss),
    "neg_zero_one_loss": _Measure(labelling.zero_one_loss),
    "au_prc": _Measure(curves.au_prc, scores=True),
    "one_accuracy": _Measure(ranking.one_accuracy, scores=True, taxonomy=False),
    "average_precision": _Measure(ranking.average_precision, scores=True, taxonomy=False),
    "neg_ranking_loss": _Measure(ranking.ranking_loss, scores=True, taxonomy=False),
    "neg_misordering_loss": _Measure(ranking.misordering_loss, scores=True),
}


@dataclass(frozen=True)
class TaxonomyScorer:
    """A measure of a fitted estimator on held-out items.

    Parameters
    ----------
    name
        One of ``SCORERS``.
    taxonomy
        The taxonomy of the labels; by default the estimator's ``taxonomy_``.
    """

    name: str
    taxonomy: Taxonomy | None = None

    def __post_init__(self) -> None:
        """Reject unknown names early, not in the middle of a search."""
        if self.name not in _MEASURES:
            hint = closest(self.name, _MEASURES) or f" Choose one of {', '.join(_MEASURES)}."
            raise LabelError(f"Unknown scorer {self.name!r}.{hint}")

    def __call__(
        self, estimator: Any, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the measure for the estimator's predictions of ``X``; higher is better.

        Parameters
        ----------
        estimator
            A fitted estimator, pipeline or search.
        X, y
            The items and their labels.
        sample_weight
            Weights of the items; all equal by default.
        """
        measure = _MEASURES[self.name]
        options: dict[str, Any] = {"sample_weight": sample_weight}
        if measure.taxonomy:
            options["taxonomy"] = taxonomy = self._find_taxonomy(estimator)
        if measure.scores:
            options["classes"] = _attribute(estimator, "classes_")
            outcome = _scores(estimator, X)
        else:
            outcome = estimator.predict(X)
            if measure.taxonomy:
                y, outcome = (_by_node(part, taxonomy, estimator) for part in (y, outcome))
        value = measure.function(y, outcome, **options)
        return -value if self.name.startswith("neg_") else value

    def _find_taxonomy(self, estimator: Any) -> Taxonomy:
        if self.taxonomy is not None:
            return self.taxonomy
        taxonomy: Taxonomy | None = _attribute(estimator, "taxonomy_")
        if taxonomy is None:
            message = f"{type(estimator).__name__} has no taxonomy_; pass one to the scorer:"
            raise LabelError(f"{message} scorer({self.name!r}, taxonomy).")
        return taxonomy


def scorer(name: str, taxonomy: Taxonomy | None = None) -> TaxonomyScorer:
    """Return a measure as a scorer.

    Parameters
    ----------
    name
        One of ``SCORERS``.
    taxonomy
        The taxonomy of the labels; by default the estimator's ``taxonomy_``.

    Returns
    -------
    TaxonomyScorer
        Callable with ``(estimator, X, y, sample_weight=None)``.

    Raises
    ------
    LabelError
        If the name is unknown.
    """
    return TaxonomyScorer(name, taxonomy)


SCORERS: dict[str, TaxonomyScorer] = {name: TaxonomyScorer(name) for name in _MEASURES}
"""All scorers by name; each uses the taxonomy of the estimator that it scores."""


def _attribute(estimator: Any, name: str) -> Any:
    """Look up an attribute on an estimator, a pipeline's last step or a search's best one."""
    while estimator is not None:
        if hasattr(estimator, name):
            return getattr(estimator, name)
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "best_estimator_", None)
    return None


def _scores(estimator: Any, X: MatrixLike) -> Any:
    method = getattr(estimator, "decision_function", None)
    method = method or getattr(estimator, "predict_proba", None)
    if method is None:
        message = f"{type(estimator).__name__} has neither decision_function nor predict_proba,"
        raise LabelError(f"{message} but this scorer needs scores.")
    scores = method(X)
    # A binary decision function is one number per item, in favour of the second class.
    return scores if scores.ndim == 2 else np.column_stack([-scores, scores])


def _by_node(y: Any, taxonomy: Taxonomy, estimator: Any) -> Any:
    """Convert an indicator over the estimator's classes to nodes; return other labels as is."""
    if not (sparse.issparse(y) or getattr(y, "ndim", 1) == 2):
        return y
    classes = _attribute(estimator, "classes_")
    fits = classes is not None and len(classes) == y.shape[1]
    return labels.encode_sets(taxonomy, y, classes if fits else None)
