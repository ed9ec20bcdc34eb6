"""The corpora as experiments use them: features, labels and splits.

Each function is cached, so consecutive cells on the same data load them once per process.
``n_items`` keeps only the first items, for a quick run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist import datasets
from taxonomist.evaluation import GivenFolds, StratifiedFolds, sample_per_category
from taxonomist.experiments.work.term_counts import recovered_counts
from taxonomist.experiments.work.trials import SplitData, identities

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, ItemsLike
    from taxonomist.datasets import Corpus
    from taxonomist.experiments.work.trials import MakeProblem

PATENTS = (
    "`us-patents-ipc`, real US patents under the IPC (title and abstract), which stand in for "
    "WIPO-alpha: its text cannot be had. Main groups with at least 3 patents."
)


@lru_cache(maxsize=2)
def synthetic(
    branching: int, depth: int, margin: float, seed: int, n_items: int, n_folds: int
) -> SplitData:
    """Return synthetic points under a tree, with stratified folds [CH04, Sec. 6.3]."""
    corpus = datasets.make_taxonomy_data(
        n_items, branching=branching, depth=depth, margin=margin, random_state=seed
    )
    assert corpus.X is not None
    folds = StratifiedFolds(n_folds, random_state=seed).split(corpus.X, corpus.y)
    drawn = f"synthetic {branching} {depth} {margin} {seed}"
    ids = [f"{drawn}/{item}" for item in range(n_items)]
    return SplitData(corpus.X, corpus.y, corpus.taxonomy, list(folds), ids)


@lru_cache(maxsize=2)
def _rcv1(subset: str) -> tuple[Corpus, CSR]:
    """Return stories and their counts of words; cached because loading takes seconds."""
    from scipy.sparse import csr_array

    corpus = datasets.load("rcv1-subset", subset=subset)
    return corpus, recovered_counts(csr_array(corpus.X))


@lru_cache(maxsize=2)
def stories(n_train: int, n_test: int, *, only_ccat: bool, seed: int = 0) -> SplitData:
    """Return stories of RCV1 with their topics at or below CCAT, the first ones for training.

    They are drawn from all stories, more than half of which have none of the topics, or taken from
    the fixed split of the stories in CCAT. Features are counts of words, recovered from the vectors
    of the corpus.
    """
    corpus, counts = _rcv1("ccat" if only_ccat else "all")
    rng = np.random.default_rng(seed)
    if only_ccat:
        split = np.asarray(corpus.split)
        parts = [np.flatnonzero(split == name) for name in ("train", "test")]
    else:
        parts = np.split(rng.permutation(len(corpus))[: n_train + n_test], [n_train])
        corpus = corpus.relabel(corpus.taxonomy.subtree("CCAT"))
    chosen = np.concatenate([parts[0][:n_train], parts[1][:n_test]])
    splits = [(np.arange(n_train), np.arange(n_train, len(chosen)))]
    y = [list(corpus.labels[item]) for item in chosen]
    ids = _chosen(identities(corpus), chosen)
    return SplitData(counts[chosen], y, corpus.taxonomy, splits, ids)


@lru_cache(maxsize=2)
def patent_paths(section: str, n_items: int | None = None) -> SplitData:
    """Return a section's patents as counts of all words, each with one main group as label set.

    No word is dropped [RSSS06, Sec. 5]. Folds are those of the corpus.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = datasets.load("us-patents-ipc", level="maingroup", labels="main", section=section)
    corpus = frequent(corpus.select(slice(n_items)), 3)
    words = CountVectorizer(token_pattern=r"\w+", dtype=np.float64)
    X = words.fit_transform(corpus.texts or ())
    splits = list(GivenFolds(np.asarray(corpus.folds)).split(X))
    y = [[label] for label in corpus.y]
    return SplitData(X, y, corpus.taxonomy, splits, identities(corpus))


@lru_cache(maxsize=2)
def section_d_vectors(n_items: int | None = None) -> SplitData:
    """Return WIPO-alpha's documents of section D as unit vectors, in their own split."""
    from sklearn.preprocessing import normalize

    corpus = datasets.load("wipo-alpha-d-lsa")
    corpus = corpus.relabel(corpus.taxonomy.subtree("D"))
    split = np.asarray(corpus.split)
    train, test = (np.flatnonzero(split == name)[:n_items] for name in ("train", "test"))
    y = [list(row) for row in corpus.labels]
    ids = identities(corpus)
    return SplitData(normalize(corpus.X), y, corpus.taxonomy, [(train, test)], ids)


@lru_cache(maxsize=1)
def section_d_folds(n_items: int | None = None) -> SplitData:
    """Return the same vectors with one label each, in three stratified folds."""
    data = section_d_vectors()
    X, y = data.X[:n_items], np.array([row[0] for row in data.y[:n_items]], dtype=object)
    folds = list(StratifiedFolds(3, random_state=0).split(X, y))
    return replace(data, X=X, y=y, splits=folds)


def few_to_train(problem: MakeProblem, per_category: int, seed: int) -> SplitData:
    """Reduce the training items to a number per category; the test items stay the same."""
    data = problem()
    splits = [
        (train[sample_per_category(_chosen(data.y, train), per_category, seed)], test)
        for train, test in data.splits
    ]
    return replace(data, splits=splits)


@lru_cache(maxsize=1)
def enzymes(length: int, n_items: int | None = None) -> SplitData:
    """Return proteins as counts of substrings, each with the label set of its EC number."""
    from scipy.sparse import vstack

    from taxonomist.features import SpectrumFeatures

    corpus = datasets.load("enzyme-ec")
    train, test = corpus.train().select(slice(n_items)), corpus.test().select(slice(n_items))
    spectrum = SpectrumFeatures(length)
    assert train.texts is not None
    assert test.texts is not None
    X = [spectrum.fit_transform(train.texts), spectrum.transform(test.texts)]
    splits = [(np.arange(len(train)), np.arange(len(train), len(train) + len(test)))]
    y = [list(row) for row in (*train.labels, *test.labels)]
    ids = [*identities(train), *identities(test)]
    return SplitData(vstack(X, format="csr"), y, corpus.taxonomy, splits, ids)


def without_copies(problem: MakeProblem) -> SplitData:
    """Remove training items with the same features as an earlier item."""
    data = problem()
    firsts = first_copies(data.X)
    splits = [(train[np.isin(train, firsts)], test) for train, test in data.splits]
    return replace(data, splits=splits)


def distinct_folds(problem: MakeProblem, n_folds: int, seed: int = 0) -> SplitData:
    """Return stratified folds of the items without duplicate features."""
    data = problem()
    firsts = first_copies(data.X)
    X, y = data.X[firsts], _chosen(data.y, firsts)
    folds = list(StratifiedFolds(n_folds, random_state=seed).split(X, y))
    return SplitData(X, y, data.taxonomy, folds, _chosen(data.ids, firsts))


def distinct_samples(problem: MakeProblem, per_category: int, n_repeats: int) -> SplitData:
    """Return repeats of training on ``per_category`` items and testing on all others.

    Items with the same features as an earlier item are removed.
    """
    data = problem()
    firsts = first_copies(data.X)
    X, y = data.X[firsts], _chosen(data.y, firsts)
    every = np.arange(len(firsts))
    drawn = [sample_per_category(y, per_category, seed) for seed in range(n_repeats)]
    splits = [(train, np.setdiff1d(every, train)) for train in drawn]
    return SplitData(X, y, data.taxonomy, splits, _chosen(data.ids, firsts))


def first_copies(X: ItemsLike) -> Codes:
    """Return the rows of a sparse matrix that differ from all earlier rows."""
    from scipy.sparse import csr_array

    rows = csr_array(X, copy=True)
    rows.sum_duplicates()
    seen: dict[tuple[bytes, bytes], int] = {}
    for row, (start, end) in enumerate(pairwise(rows.indptr.tolist())):
        key = rows.indices[start:end].tobytes(), rows.data[start:end].tobytes()
        seen.setdefault(key, row)
    return np.array(list(seen.values()), dtype=np.intp)


def frequent(corpus: Corpus, least: int) -> Corpus:
    """Keep only labels with at least ``least`` items, and the items that have one."""
    counts = Counter(label for row in corpus.labels for label in row)
    kept = [[label for label in row if counts[label] >= least] for row in corpus.labels]
    used = {label for row in kept for label in row}
    corpus = corpus.relabel(corpus.taxonomy.prune(used), kept)
    return corpus.select(np.array([bool(row) for row in kept]))


def _chosen(y: Any, items: Codes) -> Any:
    if y is None:
        return None
    return y[items] if hasattr(y, "shape") else [y[item] for item in items]
