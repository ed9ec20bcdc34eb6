"""Learn from a few more texts in little time.

What a full training of the same classifier chooses and learns from all texts stays fixed: the terms
and their inverse document frequencies, and the weight of names. The classifiers of all nodes, the
weights of their margins and the probabilities are fitted again to all items, as a full training
with these features would do. The solver starts from the dual variables of the last training, so
both agree up to its tolerance.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils.validation import check_is_fitted

from taxonomist.compiled.compiling import working_clock
from taxonomist.taxonomy import labels as label_formats
from taxonomist.text.digests import digests
from taxonomist.text.fitting import FittedTexts, fit_model, name_counts, wanted_names
from taxonomist.text.held_out_trials import TrialItems
from taxonomist.text.parameters import several
from taxonomist.text.prior_answers import label_shares

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from taxonomist._typing import CSR, Codes, TextLike
    from taxonomist.features import TextFeatures
    from taxonomist.models.learning import ItemStart
    from taxonomist.text.classifier import TextClassifier

__all__ = ["LearnedTexts", "can_update", "update"]

MOST_NEW = 0.05
"""Share of texts that may be new since the features were learned from all texts."""


@dataclass(frozen=True)
class LearnedTexts:
    """The texts that a classifier was fitted to, as far as its next update needs them.

    Attributes
    ----------
    features
        Hash of the features that counted the terms; see ``feature_mark``.
    texts, labels
        Hash of each text, and of its labels.
    counts
        Counts of its terms.
    start
        The dual variables of the texts, and behind them those of the names.
    """

    features: str
    texts: NDArray[np.uint64]
    labels: NDArray[np.uint64]
    counts: CSR
    start: ItemStart


def can_update(classifier: TextClassifier, texts: Sequence[TextLike]) -> bool:
    """Return whether ``update`` can learn from texts: the model allows it, and few are new."""
    check_is_fitted(classifier, "model_")
    has_words = not classifier.takes_counts_ and classifier.used_vectors is None
    if not (classifier.model_.traits.starts_by_item and has_words):
        return False
    return _n_added(classifier, digests(texts)) <= MOST_NEW * len(texts)


def _n_added(classifier: TextClassifier, marks: NDArray[np.uint64]) -> int:
    """Return the number of texts from which the features were not learned."""
    before = classifier.training_.get("added", 0)
    return int(before) + int((~np.isin(marks, classifier.seen_)).sum())


def update(
    classifier: TextClassifier,
    texts: Iterable[TextLike],
    labels: Iterable[object],
    sample_weight: ArrayLike | None = None,
    known: LearnedTexts | None = None,
) -> tuple[TextClassifier, LearnedTexts]:
    """Return a new classifier with the same features, fitted to other items.

    Parameters
    ----------
    classifier
        A classifier for which ``can_update`` is true.
    texts, labels, sample_weight
        All items, old and new, as in ``TextClassifier.fit``.
    known
        What the last update returned. It is used only if the features are still the same.

    Returns
    -------
    classifier, learned
        The classifier, and what makes the next update fast.
    """
    start, items = working_clock(), list(several(texts))
    y, marks = label_formats.simplified(labels), digests(items)
    label_marks = digests(sorted(map(str, each)) for each in label_formats.as_sets(y))
    mark = feature_mark(classifier.features_)
    if known is not None and known.features != mark:
        known = None
    places = _places(known, marks)
    counts = _counts(classifier.features_, items, places, known)
    again = _same_features(classifier, marks)
    given = _given(again, counts, y)
    model = copy(classifier.model_)
    model.start_ = None if known is None else _start(known, places, label_marks, given)
    model.set_params(warm_start=True)
    rows = again.features_.weigh(counts)
    facts = fit_model(again, model, rows, given, sample_weight, None)
    model.set_params(warm_start=False)
    again.classes_, again.taxonomy_ = model.classes_, classifier.taxonomy_
    if not again.is_multilabel_:
        again.prior_ = label_shares(model.targets_, y, sample_weight)
    again.training_ = {
        **classifier.training_,
        "items": len(y),
        "seconds": working_clock() - start,
        **facts,
        "added": _n_added(classifier, marks),
    }
    return again, LearnedTexts(mark, marks, label_marks, counts, model.start_)


def feature_mark(features: TextFeatures) -> str:
    """Return a hash of everything that decides how features count terms."""
    found = blake2b(repr(sorted(features.get_params().items())).encode(), digest_size=16)
    found.update(repr((features.columns_, features.column_weights_)).encode())
    found.update("\0".join(features.terms_.tolist()).encode("utf-8", "replace"))
    found.update(features.idf_.tobytes())
    return found.hexdigest()


def _places(known: LearnedTexts | None, marks: NDArray[np.uint64]) -> Codes:
    """Return the place of each text among the known ones; -1 for new ones."""
    if known is None or not len(known.texts):
        return np.full(len(marks), -1, dtype=np.intp)
    order = np.argsort(known.texts)
    found = np.searchsorted(known.texts, marks, sorter=order)
    near: Codes = order[np.minimum(found, len(order) - 1)]
    return np.where(known.texts[near] == marks, near, -1)


def _counts(
    features: TextFeatures, items: Sequence[TextLike], places: Codes, known: LearnedTexts | None
) -> CSR:
    """Return the counts of all texts, of which only new ones are read."""
    is_new = places < 0
    new = features.counts([item for item, fresh in zip(items, is_new, strict=True) if fresh])
    if known is None:
        return new
    rows = places.copy()
    rows[is_new] = known.counts.shape[0] + np.arange(new.shape[0])
    return csr_array(csr_array(vstack([known.counts, new], format="csr"))[rows])


def _same_features(classifier: TextClassifier, marks: NDArray[np.uint64]) -> TextClassifier:
    """Return a classifier with the features of another one, but without a model."""
    again = classifier.unfitted()
    again.seen_ = np.unique(marks)
    again.vectors_, again.vector_weight_, again.takes_counts_ = None, 0.0, False
    for name in ("features_", "feature_set_", "is_multilabel_", "search_"):
        setattr(again, name, getattr(classifier, name))
    return again


def _given(classifier: TextClassifier, counts: CSR, y: Sequence[object]) -> FittedTexts:
    """Return counted texts and names, as after a fit of the features."""
    names = wanted_names(classifier, y)
    items = TrialItems(
        y, classifier.taxonomy, classifier.is_multilabel_, classifier.model_options, 0
    )
    rows = None if names is None else name_counts(classifier.features_, names)
    return FittedTexts(counts, names, rows, {}, items)


def _start(
    known: LearnedTexts, places: Codes, label_marks: NDArray[np.uint64], given: FittedTexts
) -> ItemStart:
    """Return dual variables for all items; those that are new or have other labels start at 0."""
    n_known, n_rows = len(known.texts), known.start.alpha.shape[0]
    is_same = (places >= 0) & (known.labels[places] == label_marks)
    n_names = 0 if given.names is None else len(given.names.labels)
    # With other names than before, theirs start at 0, too.
    has_names = n_rows - n_known == n_names
    of_names = np.arange(n_known, n_rows) if has_names else np.full(n_names, n_rows)
    return known.start.of(np.append(np.where(is_same, places, n_rows), of_names))
