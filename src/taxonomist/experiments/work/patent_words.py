"""Patents with their label sets as counts of words or of stems, for CH07."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from taxonomist import datasets
from taxonomist.evaluation import GivenFolds, sample_per_category
from taxonomist.experiments.work.problems import frequent
from taxonomist.experiments.work.trials import SplitData, identities
from taxonomist.features import porter_stem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sklearn.pipeline import Pipeline

    from taxonomist._typing import CSR, Classifier
    from taxonomist.taxonomy import Taxonomy


@lru_cache(maxsize=2)
def counted_patents(
    section: str,
    *,
    is_stemmed: bool = True,
    per_category: int | None = None,
    seed: int = 0,
    n_items: int | None = None,
) -> SplitData:
    """Return the patents of a section with all their main groups, as counts of all words.

    Parameters
    ----------
    section
        A section of the IPC.
    is_stemmed
        Whether to count stems instead of words.
    per_category
        Draw that many patents of each main group.
    seed
        Seed of the draw.
    n_items
        Keep only the first items.

    Returns
    -------
    SplitData
        The folds are those of the corpus, which keep patents with the same abstract together.
    """
    corpus = datasets.load("us-patents-ipc", level="maingroup", labels="all", section=section)
    corpus = frequent(corpus.select(slice(n_items)), 3)
    X, y, ids = counts(corpus.texts or (), is_stemmed), list(corpus.labels), identities(corpus)
    folds = np.asarray(corpus.folds)
    if per_category is not None:
        drawn = sample_per_category(y, per_category, seed)
        X, folds = X[drawn], folds[drawn]
        y, ids = [y[item] for item in drawn], [ids[item] for item in drawn]
    return SplitData(X, y, corpus.taxonomy, list(GivenFolds(folds).split(X)), ids)


def counts(texts: Sequence[str], is_stemmed: bool) -> CSR:
    """Return counts of lower-case words without stop words, or of their stems."""
    from sklearn.feature_extraction.text import CountVectorizer

    words = CountVectorizer(stop_words="english").build_analyzer()
    analyzer = partial(stems, words) if is_stemmed else words
    found: CSR = CountVectorizer(analyzer=analyzer, dtype=np.float64).fit_transform(texts)
    return found


def stems(words: Callable[[str], list[str]], text: str) -> list[str]:
    """Return the stems of the words of a text."""
    return [porter_stem(word) for word in words(text)]


def with_unit_length(taxonomy: Taxonomy, model: Callable[[Taxonomy], Classifier]) -> Pipeline:
    """Return a model on counts of length 1 over the words of the training items."""
    return make_pipeline(VarianceThreshold(), Normalizer(), model(taxonomy))
