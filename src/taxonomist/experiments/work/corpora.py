"""Whole corpora with one split each, as features that are the same for every contestant."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist import datasets
from taxonomist.evaluation import GivenFolds, StratifiedFolds, sample_per_category
from taxonomist.experiments.work.trials import SplitData, identities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist._typing import Codes
    from taxonomist.datasets import Corpus

NOT_TRAINED_ON = ("test", "unused")
_SEED = 0


@lru_cache(maxsize=1)
def divided(
    name: str,
    *,
    is_single: bool,
    n_train: int,
    n_test: int,
    per_category: int | None = None,
    seed: int = 0,
    letters: int = 0,
    **options: str,
) -> SplitData:
    """Return a corpus with one split: its own, its first fold, or a stratified fifth.

    Parameters
    ----------
    name
        A named corpus.
    is_single
        Whether to keep only items with exactly one label, instead of all items with labels.
    n_train, n_test
        Maximum number of items of each part; larger parts are sampled.
    per_category
        Maximum number of training items per category; larger categories are sampled.
    seed
        Seed of that sample.
    letters
        If positive, features are substrings of this many letters instead of words.
    **options
        Options of the corpus.

    Returns
    -------
    SplitData
        Features made from the training items alone, and the taxonomy pruned to the labels in use
        and their ancestors.
    """
    sample = None if per_category is None else (per_category, seed)
    corpus, split, ids = one_split(name, is_single, (n_train, n_test), options, sample)
    y: Any = corpus.y if is_single else [list(row) for row in corpus.labels]
    X = _features(corpus, split[0], letters)
    return SplitData(X, y, corpus.taxonomy, [split], ids)


def one_split(
    name: str,
    is_single: bool,
    most: tuple[int, int],
    options: Mapping[str, str],
    sample: tuple[int, int] | None = None,
) -> tuple[Corpus, tuple[Codes, Codes], list[str]]:
    """Return a corpus of training and test items, which of them are which, and their identities.

    Parameters
    ----------
    name, is_single, options
        As in :func:`divided`.
    most
        Maximum number of items of each part.
    sample
        Maximum number of training items per category, and the seed of that sample.
    """
    corpus = _loaded(name, is_single, **options)
    rng = np.random.default_rng(_SEED)
    train, test = (
        np.sort(rng.permutation(part)[:limit])
        for part, limit in zip(_parts(corpus), most, strict=True)
    )
    if sample is not None:
        rows = [corpus.labels[item] for item in train]
        train = train[sample_per_category(rows, *sample)]
    chosen = np.concatenate([train, test])
    known = identities(corpus)
    ids = [known[item] for item in chosen]
    corpus = corpus.select(chosen)
    corpus = corpus.relabel(corpus.taxonomy.prune({i for row in corpus.labels for i in row}))
    split = np.arange(len(train)), np.arange(len(train), len(corpus))
    return corpus, split, ids


@lru_cache(maxsize=1)
def _loaded(name: str, is_single: bool, **options: str) -> Corpus:
    """Return the items of a corpus with exactly one label, or with any."""
    corpus = datasets.load(name, **options)
    wanted = [len(row) == 1 if is_single else len(row) > 0 for row in corpus.labels]
    return corpus.select(np.array(wanted))


def _parts(corpus: Corpus) -> tuple[Codes, Codes]:
    if corpus.split is not None:
        known = np.isin(corpus.split.astype(str), NOT_TRAINED_ON)
        return np.flatnonzero(~known), np.flatnonzero(corpus.split == "test")
    folds = corpus.folds
    if folds is None:
        folds = StratifiedFolds(5, random_state=_SEED).folds(list(corpus.labels))
    return next(iter(GivenFolds(folds).split(folds)))


def _features(corpus: Corpus, train: Codes, letters: int) -> Any:
    """Return tf-idf of words or letters, or features of about unit length."""
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
    from sklearn.preprocessing import StandardScaler

    if corpus.texts is not None:
        shape = {"analyzer": "char", "ngram_range": (letters, letters)} if letters else {}
        words = TfidfVectorizer(sublinear_tf=True, min_df=2, **shape)
        return words.fit([corpus.texts[item] for item in train]).transform(corpus.texts)
    X: Any = corpus.X
    if not hasattr(X, "tocsr"):
        X = np.nan_to_num(X)
        return StandardScaler().fit(X[train]).transform(X) / np.sqrt(X.shape[1])
    is_counts = (X.data == X.data.round()).all()
    return TfidfTransformer(sublinear_tf=True).fit(X[train]).transform(X) if is_counts else X
