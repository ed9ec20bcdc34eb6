"""The corpora as experiments use them: features, labels and splits.

Each function is cached, so that cells of the same data that run one after another in a process
load them once. ``n_items`` keeps the first so many items, for a quick run.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist import datasets
from taxonomist.evaluation import GivenFolds, StratifiedFolds, sample_per_category
from taxonomist.experiments.trials import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes
    from taxonomist.datasets import Corpus

PATENTS = (
    "`us-patents-ipc`, real US patents under the IPC (title and abstract), which stand in for "
    "WIPO-alpha: its text cannot be had. Main groups with at least 3 patents."
)


def word_counts(texts: Sequence[str], least: int = 2) -> Any:
    """Return counts of lower-case words without English stop words, in at least so many texts."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(stop_words="english", min_df=least, dtype=np.float64)
    return counts.fit_transform(texts)


@lru_cache(maxsize=2)
def synthetic(
    branching: int, depth: int, margin: float, seed: int, n_items: int, n_folds: int
) -> Problem:
    """Return synthetic points under a tree, with stratified folds [CH04, Sec. 6.3]."""
    corpus = datasets.make_taxonomy_data(
        n_items, branching=branching, depth=depth, margin=margin, random_state=seed
    )
    folds = StratifiedFolds(n_folds, random_state=seed).split(corpus.X, corpus.y)
    return Problem(corpus.X, corpus.y, corpus.taxonomy, list(folds))


@lru_cache(maxsize=2)
def patents(
    section: str,
    labels: str = "main",
    *,
    per_category: int | None = None,
    seed: int = 0,
    n_folds: int = 3,
    n_items: int | None = None,
) -> Problem:
    """Return the patents of a section by main group, as counts of words.

    Folds are those of the corpus, which keep patents with the same abstract together, or others of
    another number. With ``per_category``, so many patents of each main group are drawn first.
    """
    corpus = datasets.load("us-patents-ipc", level="maingroup", labels=labels, section=section)
    corpus = _frequent(corpus.select(slice(n_items)), 3)
    X = word_counts(corpus.texts or ())
    y: Any = corpus.y if labels == "main" else list(corpus.labels)
    folds = np.asarray(corpus.folds)
    if n_folds != 3:
        folds = StratifiedFolds(n_folds, random_state=seed).folds(y)
    if per_category is not None:
        drawn = sample_per_category(y, per_category, seed)
        X, y, folds = X[drawn], _chosen(y, drawn), folds[drawn]
    return Problem(X, y, corpus.taxonomy, list(GivenFolds(folds).split(X)))


@lru_cache(maxsize=2)
def patent_counts(section: str, labels: str = "main", n_items: int | None = None) -> Problem:
    """Return a section's patents by main group with no split: all are trained on."""
    data = patents(section, labels, n_items=n_items)
    every = np.arange(data.X.shape[0])
    return Problem(data.X, data.y, data.taxonomy, [(every, every)])


def _frequent(corpus: Corpus, least: int) -> Corpus:
    """Return the items with a label that at least so many items have, and those labels only."""
    counts = Counter(label for row in corpus.labels for label in row)
    kept = [[label for label in row if counts[label] >= least] for row in corpus.labels]
    used = {label for row in kept for label in row}
    corpus = corpus.relabel(corpus.taxonomy.prune(used), kept)
    return corpus.select(np.array([bool(row) for row in kept]))


def _chosen(y: Any, items: Codes) -> Any:
    """Return the labels of some items."""
    return y[items] if hasattr(y, "shape") else [y[item] for item in items]
