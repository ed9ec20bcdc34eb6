"""The first and the last step of fitting a text classifier: its features, and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist._spill import first_rows, stacked
from taxonomist.errors import LabelError
from taxonomist.features import TextFeatures
from taxonomist.features.counted_texts import CountedTexts
from taxonomist.text.budget import Budget
from taxonomist.text.cost_choice import choose_cost, chooses_cost
from taxonomist.text.digests import digest, digests, noted
from taxonomist.text.feature_sets import choose_features, feature_options
from taxonomist.text.folds import document_folds, n_folds_of
from taxonomist.text.held_out_trials import TrialItems
from taxonomist.text.measure import in_words
from taxonomist.text.models import DEFAULT_MODEL
from taxonomist.text.name_documents import (
    choose_names,
    documents_of_names,
    some_names,
    weights_of_names,
)
from taxonomist.text.names import NAME_WEIGHT, fit_uncentred, name_documents
from taxonomist.text.parameters import several
from taxonomist.text.vector_columns import choose_vectors, wanted_vectors
from taxonomist.text.vector_weight import NameRows, WeightProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Floats, Reals, TextLike
    from taxonomist.features import SentenceVectors
    from taxonomist.text.classifier import TextClassifier
    from taxonomist.text.cost_choice import ChosenCost
    from taxonomist.text.name_documents import ChosenNames, NameDocuments
    from taxonomist.text.search import SearchStep

__all__ = [
    "FittedTexts",
    "add_vectors",
    "fit_model",
    "fit_texts",
    "name_counts",
    "prepare_names",
    "wanted_names",
]

SHARE = 0.25
"""Share of the budget for the choice of features, and as much for that of names."""


class FittedTexts(NamedTuple):
    """The training texts as features.

    Attributes
    ----------
    counts
        Counts of the terms of the documents.
    names, name_counts
        Names of categories as documents, and counts of their terms; None if they are not wanted.
    facts
        Facts about the choice of features.
    items
        The labels of the documents, for trials.
    name_vectors
        Sentence vectors of the names; None if there are none.
    """

    counts: CSR
    names: NameDocuments | None
    name_counts: CSR | None
    facts: dict[str, object]
    items: TrialItems
    name_vectors: Reals | None = None


def fit_texts(
    classifier: TextClassifier,
    texts: Iterable[TextLike],
    labels: Sequence[object],
    callback: Callable[[SearchStep], object] | None,
) -> FittedTexts:
    """Choose and fit the features of a classifier, and store the hashes of the texts.

    Parameters
    ----------
    classifier
        The classifier; gets ``features_``, ``feature_set_`` and ``seen_``.
    texts, labels, callback
        As in ``TextClassifier.fit``.
    """
    first = TextFeatures(**feature_options(classifier))
    found = bytearray()
    if isinstance(texts, CountedTexts):
        found += b"".join(map(digest, texts))
    else:
        texts = noted(several(texts), found)
    table = first.tabulate(texts)
    classifier.seen_ = np.unique(np.frombuffer(found, dtype="<u8"))
    items = TrialItems(
        labels,
        classifier.taxonomy,
        classifier.is_multilabel_,
        classifier.model_options,
        len(table.codes),
    )
    budget = _budget(classifier)
    blank = _blank(first)
    on_trial = _teller(callback, budget, "features: ")
    # With as many labels as texts only; the caller says what is wrong otherwise.
    fits = table.n_items == len(labels)
    chosen = choose_features(
        classifier, table, blank, items if fits else items._replace(labels=()), budget, on_trial
    )
    classifier.features_ = TextFeatures(**chosen.options)
    classifier.features_.learn_columns(blank)
    classifier.feature_set_ = chosen.name
    names = wanted_names(classifier, labels) if fits else None
    n = table.n_items
    if names is not None:
        empty = [""] * (table.n_columns - 1)
        table = table.extended([text, *empty] for text in names.texts)
    counts = classifier.features_.fit_table(table, n if names else None)
    documents = first_rows(counts, n) if names else counts
    return FittedTexts(documents, names, counts[n:] if names else None, chosen.facts, items)


def add_vectors(
    classifier: TextClassifier,
    vectors: SentenceVectors,
    X: CSR,
    texts: Iterable[TextLike],
    given: FittedTexts,
    callback: Callable[[SearchStep], object] | None,
    weight: float | None,
) -> tuple[CSR, FittedTexts, dict[str, object]]:
    """Choose sentence vectors; return features and names with them, and facts about the choice.

    Parameters
    ----------
    classifier
        The classifier; gets ``vectors_`` and ``vector_weight_``.
    vectors
        The unfitted transformer.
    X, texts
        The features of the words of documents, and their texts.
    given
        The documents and the names.
    callback
        As in ``TextClassifier.fit``.
    weight
        The weight of the vectors, if it is known.
    """
    items, names, counts = given.items, given.names, given.name_counts
    name_rows = None
    if names is not None and counts is not None:
        words = classifier.features_.weigh(counts)
        name_rows = NameRows(names.texts, words, np.empty((0, 0)), names.labels)
    is_auto = isinstance(classifier.vectors, str) and classifier.vectors == "auto"
    chosen = choose_vectors(
        vectors,
        classifier.features_,
        texts,
        WeightProblem(X, np.empty((0, 0)), *items[:4], name_rows),
        seconds=classifier.budget if is_auto else None,
        weight=weight,
        callback=callback,
    )
    classifier.vectors_, classifier.vector_weight_ = chosen.vectors, chosen.weight
    return chosen.beside(X), given._replace(name_vectors=chosen.names), {"vectors": chosen.facts}


def fit_model(
    classifier: TextClassifier,
    model: Any,
    X: CSR,
    given: FittedTexts,
    sample_weight: ArrayLike | None,
    callback: Callable[[SearchStep], object] | None,
) -> dict[str, object]:
    """Fit a model to documents and names, and return facts about names and C.

    Names are in no fold: probabilities and decisions are fitted to documents alone.

    Parameters
    ----------
    classifier
        The classifier; gets ``model_``, ``name_weight_``, ``named_only_``, and ``cost_`` if C is
        chosen.
    model
        The unfitted model.
    X
        Features of the documents, as the model takes them.
    given
        The documents and the names.
    sample_weight, callback
        As in ``TextClassifier.fit``.
    """
    y, names = given.items.labels, given.names
    rows = None if names is None else (_name_rows(classifier, given), names.labels)
    budget = _budget(classifier)
    tell = _teller(callback, budget)
    chosen = choose_names(classifier.names, given.items, X, rows, budget, tell)
    classifier.name_weight_, classifier.named_only_ = chosen.weight, []
    facts: dict[str, object] = {}
    if chooses_cost(classifier, len(y)):
        cost = _cost(classifier, X, given.items, rows, chosen, tell)
        classifier.cost_, facts["C"] = cost.C, cost.facts
        getattr(model, "model", model).set_params(C=cost.C)
    if not classifier.search_:
        tell("training the model")
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    if rows is None or names is None or not chosen.weight:
        classifier.model_ = model.fit(X, y, **options)
        return {"names": chosen.facts(names), **facts}
    given_weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
    weights = np.append(given_weights, weights_of_names(chosen.weight, names.labels, y))
    both, labels = stacked([X, rows[0]]), [*y, *names.labels]
    classifier.model_ = _fit_with_names(classifier, model, both, labels, weights, len(y))
    classifier.named_only_ = names.without
    return {"names": chosen.facts(names), **facts}


def _fit_with_names(
    classifier: TextClassifier, model: Any, X: CSR, y: Sequence[Any], weights: Floats, n: int
) -> Any:
    """Return a model that has learned from n documents and the names behind them.

    The names are in no fold, and say nothing about the number of labels of a document.
    """
    inner, is_sets = getattr(model, "model", model), classifier.is_multilabel_
    folds = document_folds(
        y[:n], n_folds_of(n, classifier.cv), is_multilabel=is_sets, n_added=len(y) - n
    )
    least = min(len(set(labels)) for labels in y[:n]) if is_sets else 1
    if least > 1 and inner.get_params(deep=False).get("min_labels", least) is None:
        inner.set_params(min_labels=least)
    if "cv" not in model.get_params(deep=False) or not folds:
        return model.fit(X, y, sample_weight=weights)
    return model.set_params(cv=folds).fit(X, y, sample_weight=weights).set_params(cv=classifier.cv)


def _cost(
    classifier: TextClassifier,
    X: CSR,
    items: TrialItems,
    rows: tuple[CSR, Sequence[object]] | None,
    names: ChosenNames,
    on_trial: Callable[[str], object],
) -> ChosenCost:
    """Choose C on held-out documents, with the chosen names beside them."""
    chosen, some = items.some()
    documents = X[chosen]
    extra, labels = (None, ()) if rows is None else some_names(*rows)

    of_names = weights_of_names(names.weight, labels, some.labels)

    def values_of(C: float) -> Floats:
        with_cost = some._replace(options={**some.options, "C": C})
        return with_cost.values(documents, extra, labels, of_names)

    budget = _budget(classifier)
    return choose_cost(
        values_of,
        names.values,
        budget,
        on_trial,
        are_few=items.are_few,
        best_score=items.best_score,
        measure=in_words(items.measure),
    )


def wanted_names(classifier: TextClassifier, labels: Sequence[object]) -> NameDocuments | None:
    """Return the names to learn from; None if they are not wanted."""
    if classifier.names in ("off", 0):
        return None
    # A model of the user's own gets names only if these are asked for.
    if classifier.names == "auto" and not isinstance(classifier.model, str):
        return None
    return documents_of_names(classifier.taxonomy, labels, classifier.is_multilabel_)


def name_counts(features: TextFeatures, names: NameDocuments) -> CSR:
    """Return the counts of the terms of names, which stand in the first column."""
    blank = _blank(features)
    if isinstance(blank, str):
        return features.counts(names.texts)
    if isinstance(blank, dict):
        return features.counts({**blank, next(iter(blank)): text} for text in names.texts)
    return features.counts([text, *blank[1:]] for text in names.texts)


def _name_rows(classifier: TextClassifier, given: FittedTexts) -> CSR:
    """Return the features of names, as the model takes them."""
    from taxonomist.text.joined_columns import join

    counts = given.name_counts
    if counts is None or classifier.takes_counts_:
        return csr_array(counts)
    words = classifier.features_.weigh(counts)
    if given.name_vectors is None:
        return words
    return join(words, given.name_vectors, classifier.vector_weight_)


def _budget(classifier: TextClassifier) -> Budget:
    return Budget(None if classifier.budget is None else SHARE * classifier.budget)


def _blank(features: TextFeatures) -> str | list[str] | dict[str, str]:
    """Return an item without words."""
    if features.columns_ is not None:
        return dict.fromkeys(features.columns_, "")
    n = len(features.column_weights_)
    return "" if n == 1 else [""] * n


def _teller(
    callback: Callable[[SearchStep], object] | None, budget: Budget, front: str = ""
) -> Callable[[str], object]:
    """Return a function that tells the callback of a step."""
    from taxonomist.text.search import SearchStep

    def tell(what: str) -> None:
        if callback is not None:
            callback(SearchStep(0, 0, f"{front}{what}", None, budget.left))

    return tell


def prepare_names(classifier: TextClassifier) -> tuple[list[str], list[str]]:
    """Fit the features of a classifier to the names of its taxonomy's leaves.

    Returns
    -------
    texts, labels
        The names, and the leaves.

    Raises
    ------
    LabelError
        If there is no taxonomy, or no encoder of sentences.
    """
    taxonomy, wanted = classifier.taxonomy, None
    if taxonomy is not None:
        wanted = wanted_vectors(classifier.vectors, DEFAULT_MODEL, classifier.n_jobs)
    if taxonomy is None or wanted is None:
        raise LabelError(
            "There are no items to learn from. With a taxonomy and sentence vectors, the names of "
            "categories are enough: pip install 'taxonomist[vectors]'."
        )
    texts, labels = name_documents(taxonomy)
    options = {**feature_options(classifier), "min_df": 1}
    classifier.features_ = TextFeatures(**options).fit(texts)
    classifier.feature_set_, classifier.name_weight_ = "", 1.0
    classifier.named_only_ = []
    classifier.vectors_, classifier.vector_weight_ = fit_uncentred(wanted, texts), NAME_WEIGHT
    classifier.is_multilabel_, classifier.takes_counts_ = False, False
    classifier.search_, classifier.seen_ = [], digests([])
    return texts, labels
