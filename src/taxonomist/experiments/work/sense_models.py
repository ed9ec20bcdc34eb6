"""Models of word senses: one for each word, or one for all words."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer

from taxonomist.experiments.work.word_classes import PartsOfSpeech
from taxonomist.features import ContextFeatures
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.pipeline import FeatureUnion, Pipeline

    from taxonomist._typing import Classifier, Objects
    from taxonomist.experiments.work.trials import MakeModel

Passage: TypeAlias = tuple[str, str, str, str]
"""The text before a word, the word, the text after it, and its lemma."""

LOCAL = (
    *((-1, -1), (1, 1), (-2, -2), (2, 2), (-2, -1), (-1, 1), (1, 2)),
    *((-3, -1), (-2, 1), (-1, 2), (1, 3)),
)
"""The eleven local collocations that were usual at the time of the paper."""


def contexts(is_unit: bool = True) -> Pipeline | FeatureUnion:
    """Return the features of the paper: parts of speech, collocations and words.

    All are binary, and none is dropped. ``is_unit`` scales their vectors to length 1.
    """
    words = ContextFeatures(LOCAL, min_df=1, lemma_weight=0.0, normalize=False)
    every = make_union(words, PartsOfSpeech())
    return make_pipeline(every, Normalizer()) if is_unit else every


class PerWord(BaseEstimator):
    """A model for each word, trained on the passages with that word and the first of their senses.

    Parameters
    ----------
    taxonomy
        The taxonomy of all senses; the one of a word has its senses in training passages only.
    model
        Makes the model of a word for its taxonomy.
    is_unit
        Whether vectors have length 1.
    """

    def __init__(self, taxonomy: Taxonomy, model: MakeModel, is_unit: bool = True) -> None:
        self.taxonomy = taxonomy
        self.model = model
        self.is_unit = is_unit

    def fit(self, X: Sequence[Passage], y: Sequence[Sequence[str]]) -> PerWord:
        """Train on passages."""
        rows = _by_lemma(X)
        self.models_: dict[str, Pipeline | str] = {}
        for lemma, items in rows.items():
            senses = [y[item][0] for item in items]
            if len(set(senses)) == 1:
                self.models_[lemma] = senses[0]
                continue
            last = self.model(self.taxonomy.prune(set(senses)))
            model = make_pipeline(contexts(self.is_unit), last)
            self.models_[lemma] = model.fit([X[item] for item in items], senses)
        return self

    def predict(self, X: Sequence[Passage]) -> Objects:
        """Return a sense of the word of each passage."""
        found = np.empty(len(X), dtype=object)
        for lemma, items in _by_lemma(X).items():
            model = self.models_[lemma]
            if isinstance(model, str):
                found[items] = model
            else:
                found[items] = model.predict([X[item] for item in items])
        return found


def _by_lemma(X: Sequence[Passage]) -> dict[str, list[int]]:
    """Return the passages of each word."""
    rows: dict[str, list[int]] = defaultdict(list)
    for number, (*_, lemma) in enumerate(X):
        rows[lemma].append(number)
    return rows


class AmongSenses(BaseEstimator):
    """One model for all words, whose answers are senses of the word in training passages.

    Parameters
    ----------
    model
        Takes passages, and has ``decision_function`` or ``predict_log_proba``.
    """

    def __init__(self, model: Classifier) -> None:
        self.model = model

    def fit(self, X: Sequence[Passage], y: Sequence[Sequence[str]]) -> AmongSenses:
        """Train on passages and the first sense of each."""
        first = [senses[0] for senses in y]
        self.model_ = clone(self.model).fit(X, first)
        self.classes_ = np.asarray(self.model_.classes_)
        columns = {sense: column for column, sense in enumerate(self.classes_.tolist())}
        self.candidates_: dict[str, set[int]] = defaultdict(set)
        for (*_, lemma), sense in zip(X, first, strict=True):
            self.candidates_[lemma].add(columns[sense])
        return self

    def predict(self, X: Sequence[Passage]) -> Objects:
        """Return the candidate with the highest score for each passage."""
        scored = hasattr(self.model_, "decision_function")
        scores = (self.model_.decision_function if scored else self.model_.predict_log_proba)(X)
        # With two classes, a decision is one number, in favour of the second.
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else np.asarray(scores)
        best = []
        for row, (*_, lemma) in zip(scores, X, strict=True):
            among = sorted(self.candidates_[lemma])
            best.append(among[int(np.argmax(row[among]))])
        return self.classes_[best]


def one_for_all(taxonomy: Taxonomy, model: MakeModel, is_unit: bool = True) -> AmongSenses:
    """Return one model of all words; the word itself is another feature."""
    lemma = ContextFeatures((), window=0, min_df=1, normalize=False)
    every = make_union(contexts(is_unit), lemma)
    features = make_pipeline(every, Normalizer()) if is_unit else every
    return AmongSenses(make_pipeline(features, model(taxonomy)))


def per_word(taxonomy: Taxonomy, model: MakeModel, is_unit: bool = True) -> PerWord:
    """Return a model for each word."""
    return PerWord(taxonomy, model, is_unit)


def shuffled(taxonomy: Taxonomy, model: MakeModel, seed: int) -> Classifier:
    """Return a model for a taxonomy whose categories are randomly permuted."""
    places = np.random.default_rng(seed).permutation(taxonomy.leaves).tolist()
    moved = dict(zip(taxonomy.leaves, places, strict=True))
    edges = [
        (parent, moved.get(node, node))
        for node in taxonomy.nodes
        for parent in taxonomy.parents(node)
    ]
    return model(Taxonomy.from_edges(edges))
