"""Newsgroups and Reuters stories as counts of words, in the splits of TCPH01."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist import datasets
from taxonomist.experiments.work.trials import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes
    from taxonomist.taxonomy import Taxonomy

FIRST_SEED = 1000
"""Seeds from here on: defaults of the library were chosen with those from 0 on."""
ENCODED = re.compile(r"^\s*\S{40,}\s*$", re.MULTILINE)
"""A line of at least 40 characters and no blank, as in files that were encoded as text."""


def newsgroups(
    size: int, *, n_splits: int, n_test: int, encoded: bool = True, every: int = 1
) -> Problem:
    """Return the postings of 15 newsgroups, with several splits [TCPH01, Sec. 3.1.1].

    Parameters
    ----------
    size
        Training postings of each group.
    n_splits
        How often they are drawn.
    n_test
        Test postings, drawn from the others.
    encoded
        Whether lines of encoded files are kept.
    every
        Keeps only every so many-th posting, for a quick run.

    Returns
    -------
    Problem
        Counts of words that occur at least 3 times in all, without stop words.
    """
    X, y, taxonomy = _postings(encoded, every)
    splits = [_drawn(y, size, n_test, FIRST_SEED + number) for number in range(n_splits)]
    return Problem(X, y, taxonomy, splits)


@lru_cache(maxsize=1)
def reuters(every: int = 1) -> Problem:
    """Return the stories of Reuters-21578 in the ModApte split, as counts of all words.

    The words are those of the training stories, lower-cased, with stop words
    [TCPH01, Sec. 3.1.2]. ``every`` keeps only every so many-th story.
    """
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = datasets.load("reuters21578").select(slice(None, None, every))
    train, test = corpus.train(), corpus.test()
    words = CountVectorizer(dtype=np.float64)
    X = vstack([words.fit_transform(train.texts), words.transform(test.texts)], format="csr")
    y = [list(row) for row in (*train.labels, *test.labels)]
    splits = [(np.arange(len(train)), np.arange(len(train), len(y)))]
    return Problem(X, y, corpus.taxonomy, splits)


@lru_cache(maxsize=1)
def _postings(encoded: bool, every: int) -> tuple[Any, Any, Taxonomy]:
    """Return counts, groups and taxonomy."""
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = datasets.load("20newsgroups", tree="15").select(slice(None, None, every))
    texts: Sequence[str] = corpus.texts or ()
    if not encoded:
        texts = [without_encoded(text) for text in texts]
    X = CountVectorizer(stop_words="english", dtype=np.float64).fit_transform(texts)
    often = np.asarray(X.sum(axis=0)).ravel() >= 3
    return X[:, often], np.asarray(corpus.y), corpus.taxonomy


def without_encoded(text: str) -> str:
    """Return a text without the lines that look like those of an encoded file."""
    return ENCODED.sub("", text)


def _drawn(y: Any, size: int, n_test: int, seed: int) -> tuple[Codes, Codes]:
    """Return training items, so many of each label, and test items out of the others."""
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.flatnonzero(y == label))[:size] for label in np.unique(y)]
    train = np.concatenate(parts)
    rest = np.setdiff1d(np.arange(len(y)), train)
    return train, rng.permutation(rest)[:n_test]
