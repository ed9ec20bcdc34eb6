"""Models as experiments declare them: functions of a taxonomy with all other arguments bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.pipeline import make_pipeline

from taxonomist.features import TfidfWeights
from taxonomist.models import HierarchicalSVC

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Classifier
    from taxonomist.taxonomy import Taxonomy


def with_tfidf(taxonomy: Taxonomy, model: Callable[[Taxonomy], Classifier]) -> Any:
    """Return a model on counts weighted by tf-idf of the training items."""
    return make_pipeline(TfidfWeights(sublinear_tf=True), model(taxonomy))


def joint_svm(taxonomy: Taxonomy, is_flat: bool = False, **parameters: Any) -> HierarchicalSVC:
    """Return the hierarchical SVM, or the flat one with the zero-one loss.

    A tolerance that is given is one of violations, as in the papers.
    """
    if is_flat:
        parameters = {"attributes": "flat", "loss": "zero_one"} | parameters
    if "tol" in parameters:
        parameters = {"stop": "violation"} | parameters
    return HierarchicalSVC(taxonomy, **{"random_state": 0, "n_jobs": 1, **parameters})


def ranking_model(
    taxonomy: Taxonomy, kind: Callable[..., Classifier], is_flat: bool = False, **parameters: Any
) -> Any:
    """Return a model that ranks categories, or its flat form with the zero-one loss.

    Its label sets have the average size: ranking measures need no better rule, which would cost six
    fits instead of one.
    """
    if is_flat:
        parameters = {"attributes": "flat", "loss": "zero_one"} | parameters
    return kind(taxonomy, **{"decision": "top_k", "n_jobs": 1, **parameters})


def with_counts_weighted(taxonomy: Taxonomy, model: Callable[[Taxonomy], Classifier]) -> Any:
    """Return a model on counts n_u weighted as n_u log2 N / N_u [RSSS06, Sec. 2.2]."""
    return make_pipeline(TfidfWeights(), model(taxonomy))


def of_label_sets(taxonomy: Taxonomy, kind: Callable[..., Classifier], **parameters: Any) -> Any:
    """Return a label-set model of a given class."""
    return kind(taxonomy, **parameters)
