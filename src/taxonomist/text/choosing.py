"""The choice of a text classifier's model: the given one, or the best one of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxonomist.taxonomy import Taxonomy, labels
from taxonomist.text.budget import Budget
from taxonomist.text.models import choice_of
from taxonomist.text.negatives import kind_of_negatives
from taxonomist.text.parameters import calibration_method

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR
    from taxonomist.text.classifier import TextClassifier
    from taxonomist.text.search import SearchStep

__all__ = ["choose_model"]


def choose_model(
    classifier: TextClassifier,
    X: CSR,
    counts: CSR,
    y: Sequence[object],
    callback: Callable[[SearchStep], object] | None,
) -> tuple[Any, bool]:
    """Return the unfitted model of a classifier, and whether it takes word counts.

    Parameters
    ----------
    classifier
        The classifier. With ``model="auto"``, its trials are stored in ``search_``.
    X, counts
        The features of the texts, and their word counts.
    y
        The labels.
    callback
        As in ``TextClassifier.fit``.
    """
    from taxonomist.text.search import SearchProblem, last_step, search

    if not isinstance(classifier.model, str):
        return classifier.model, False
    is_multilabel = classifier.is_multilabel_
    negatives = kind_of_negatives(y, classifier.taxonomy, X.nnz, X.shape[1])
    if classifier.model == "auto":
        taxonomy = classifier.taxonomy
        if taxonomy is None:
            used = dict.fromkeys(node for sets in labels.as_sets(y) for node in sets)
            taxonomy = Taxonomy.flat(used)
        given = classifier.measure, classifier.C, classifier.n_jobs, negatives
        problem = SearchProblem({False: X, True: counts}, y, taxonomy, is_multilabel, *given)
        budget, seed = Budget(classifier.budget), classifier.random_state
        classifier.search_ = search(problem, classifier.cv, seed, budget, callback)
    model = classifier.made(negatives=negatives)
    if classifier.model == "auto" and callback is not None:
        method = calibration_method(classifier.calibration, model, is_multilabel)
        callback(last_step(classifier.search_, len(y), classifier.cv, method is not None))
    return model, choice_of(classifier.chosen[0]).counts
