"""Patents as texts: vectors are learnt from the training patents of each fold."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from taxonomist import datasets
from taxonomist.evaluation import GivenFolds, sample_per_category
from taxonomist.experiments.work.trials import SplitData, identities
from taxonomist.features import TfidfWeights

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from taxonomist._typing import Codes
    from taxonomist.datasets import Corpus
    from taxonomist.experiments.work.trials import MakeModel
    from taxonomist.taxonomy import Taxonomy

PATENT_TEXTS = (
    "`us-patents-ipc`, titles and abstracts of US patents by the main group of their first IPC "
    "symbol. They stand in for WIPO-alpha (titles and claims), whose text cannot be had."
)
PLAIN = "all words"
"""The papers say no more than terms of a retrieval engine, in vectors of unit length: tf-idf."""
CHOSEN = "chosen words"
"""Our choice: logarithmic tf-idf of words in two training patents at least, no stop words."""
FEATURES = {
    PLAIN: "tf log2 N / N_u of all words of the training patents, lower-cased; length 1",
    CHOSEN: "(1 + ln tf) log2 N / N_u of words, lower-cased, that are no stop words and occur in "
    "at least two training patents; length 1",
}


@lru_cache(maxsize=4)
def patent_texts(
    section: str,
    *,
    least: int = 1,
    per_category: int | None = None,
    seed: int = 0,
    n_items: int | None = None,
) -> SplitData:
    """Return the texts of a section's patents by main group, in the corpus's three folds.

    Parameters
    ----------
    section
        Letter of the section.
    least
        Minimum number of patents of a main group.
    per_category
        Number of patents to draw from each main group; all of them if it has fewer. None for all.
    seed
        Seed of the draw.
    n_items
        Keep only the first patents, for a quick run.
    """
    corpus = datasets.load("us-patents-ipc", level="maingroup", labels="main", section=section)
    corpus = corpus.select(slice(n_items))
    counts = Counter(corpus.y)
    chosen = np.array([counts[label] >= least for label in corpus.y]).nonzero()[0]
    if per_category is not None:
        chosen = chosen[sample_per_category(corpus.y[chosen], per_category, seed)]
    return _split(corpus, chosen)


@lru_cache(maxsize=2)
def patents_of_size(section: str, n_categories: int, n_items: int, seed: int) -> SplitData:
    """Return a draw of patents of a section's largest main groups, at least one of each."""
    corpus = datasets.load("us-patents-ipc", level="maingroup", labels="main", section=section)
    largest = [label for label, _ in Counter(corpus.y).most_common(n_categories)]
    among = np.flatnonzero(np.isin(corpus.y.astype(str), largest))
    order = np.random.default_rng(seed).permutation(among)
    _, firsts = np.unique(corpus.y[order].astype(str), return_index=True)
    others = np.delete(order, firsts)[: n_items - len(firsts)]
    return _split(corpus, np.sort(np.concatenate([order[firsts], others])))


def _split(corpus: Corpus, chosen: Codes) -> SplitData:
    """Return some patents, their folds, and the taxonomy of their labels."""
    corpus = corpus.select(chosen)
    corpus = corpus.relabel(corpus.taxonomy.prune(set(corpus.y)))
    splits = [
        (train, test)
        for train, test in GivenFolds(np.asarray(corpus.folds)).split(corpus.y)
        if len(train) and len(test)
    ]
    texts = np.array(corpus.texts, dtype=object)
    return SplitData(texts, corpus.y, corpus.taxonomy, splits, identities(corpus))


def vectorizer(features: str) -> Pipeline:
    """Return the transformer of texts into unit vectors."""
    if features == PLAIN:
        return make_pipeline(CountVectorizer(dtype=np.float64), TfidfWeights())
    words = CountVectorizer(stop_words="english", min_df=2, dtype=np.float64)
    return make_pipeline(words, TfidfWeights(sublinear_tf=True))


def of_texts(taxonomy: Taxonomy, model: MakeModel, features: str) -> Pipeline:
    """Return a model of texts, with vectors that are learnt from its training texts."""
    return make_pipeline(vectorizer(features), model(taxonomy))
