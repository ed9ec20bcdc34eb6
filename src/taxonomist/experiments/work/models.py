"""Models as experiments declare them: functions of a taxonomy, with everything else bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.pipeline import make_pipeline

from taxonomist.features import TfidfWeights
from taxonomist.models import HierarchicalSVC

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist.taxonomy import Taxonomy


def with_tfidf(taxonomy: Taxonomy, model: Callable[[Taxonomy], Any]) -> Any:
    """Return a model of counts that are weighted by the training items' own frequencies."""
    return make_pipeline(TfidfWeights(sublinear_tf=True), model(taxonomy))


def joint_svm(taxonomy: Taxonomy, is_flat: bool = False, **parameters: Any) -> HierarchicalSVC:
    """Return the hierarchical SVM, or the flat one with the zero-one loss."""
    if is_flat:
        parameters = {"attributes": "flat", "loss": "zero_one"} | parameters
    return HierarchicalSVC(taxonomy, **{"random_state": 0, "n_jobs": 1, **parameters})


def ranking_model(
    taxonomy: Taxonomy, kind: Callable[..., Any], is_flat: bool = False, **parameters: Any
) -> Any:
    """Return a model that ranks categories, or its flat form with the zero-one loss.

    Its label sets are as large as is usual: measures of rankings need no better rule, which would
    cost six fits for one.
    """
    if is_flat:
        parameters = {"attributes": "flat", "loss": "zero_one"} | parameters
    return kind(taxonomy, **{"decision": "top_k", "n_jobs": 1, **parameters})


def with_counts_weighted(taxonomy: Taxonomy, model: Callable[[Taxonomy], Any]) -> Any:
    """Return a model of counts n_u that become n_u log2 N / N_u [RSSS06, Sec. 2.2]."""
    return make_pipeline(TfidfWeights(), model(taxonomy))


def of_label_sets(taxonomy: Taxonomy, kind: Callable[..., Any], **parameters: Any) -> Any:
    """Return a model of label sets."""
    return kind(taxonomy, **parameters)
