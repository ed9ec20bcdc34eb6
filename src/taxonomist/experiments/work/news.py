"""Newsgroups and Reuters stories as counts of words, in the splits of TCPH01."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist import datasets
from taxonomist.experiments.declarations import Settings
from taxonomist.experiments.work.trials import SplitData, identities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Objects
    from taxonomist.taxonomy import Taxonomy

FIRST_SEED = 1000
"""First seed of the splits; smaller seeds were used to choose the library's defaults."""
ENCODED = re.compile(r"^\s*\S{40,}\s*$", re.MULTILINE)
"""A line of at least 40 characters without a blank, as in text-encoded files."""
NEWS_SETTINGS = Settings(
    tolerance="path weights to 0.001 per word; two EM steps.",
    features="counts of words of subject and body, lower-cased, without stop words, that occur at "
    "least three times in all postings, test postings included.",
    splits="the drawn postings for training, 3,000 others for testing.",
    draws="ten for each number of postings.",
)
STORY_SETTINGS = Settings(
    tolerance="path weights to 0.001 per word; two EM steps; SVM: a violation of 0.01.",
    features="counts of all words of the training stories, lower-cased; k-NN: the 2,000 words with "
    "the largest information gain; SVM: tf-idf of the 1,000 to 10,000 such words.",
    splits="the ModApte split.",
    draws="one.",
)


def newsgroups(
    size: int, *, n_splits: int, n_test: int, encoded: bool = True, every: int = 1
) -> SplitData:
    """Return the postings of 15 newsgroups, with several splits [TCPH01, Sec. 3.1.1].

    Parameters
    ----------
    size
        Number of training postings per group.
    n_splits
        Number of random splits.
    n_test
        Number of test postings, drawn from the rest.
    encoded
        Whether to keep lines of encoded files.
    every
        Keep only every n-th posting, for a quick run.

    Returns
    -------
    SplitData
        Counts of words that occur at least 3 times overall, without stop words.
    """
    X, y, taxonomy = _postings(encoded, every)
    splits = [_drawn(y, size, n_test, FIRST_SEED + number) for number in range(n_splits)]
    return SplitData(X, y, taxonomy, splits)


@lru_cache(maxsize=1)
def reuters(every: int = 1) -> SplitData:
    """Return the stories of Reuters-21578 in the ModApte split, as counts of all words.

    The words are those of the training stories, in lower case, including stop words
    [TCPH01, Sec. 3.1.2]. ``every`` keeps only every n-th story.
    """
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = datasets.load("reuters21578").select(slice(None, None, every))
    train, test = corpus.train(), corpus.test()
    words = CountVectorizer(dtype=np.float64)
    X = vstack([words.fit_transform(train.texts), words.transform(test.texts)], format="csr")
    y = [list(row) for row in (*train.labels, *test.labels)]
    splits = [(np.arange(len(train)), np.arange(len(train), len(y)))]
    return SplitData(X, y, corpus.taxonomy, splits, [*identities(train), *identities(test)])


@lru_cache(maxsize=1)
def _postings(encoded: bool, every: int) -> tuple[Any, Any, Taxonomy]:
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = datasets.load("20newsgroups", tree="15").select(slice(None, None, every))
    texts: Sequence[str] = corpus.texts or ()
    if not encoded:
        texts = [without_encoded(text) for text in texts]
    X = CountVectorizer(stop_words="english", dtype=np.float64).fit_transform(texts)
    often = np.asarray(X.sum(axis=0)).ravel() >= 3
    return X[:, often], np.asarray(corpus.y), corpus.taxonomy


def without_encoded(text: str) -> str:
    """Remove the lines that look like an encoded file."""
    return ENCODED.sub("", text)


def _drawn(y: Objects, size: int, n_test: int, seed: int) -> tuple[Codes, Codes]:
    """Return ``size`` training items of each label, and test items from the rest."""
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.flatnonzero(y == label))[:size] for label in np.unique(y)]
    train = np.concatenate(parts)
    rest = np.setdiff1d(np.arange(len(y)), train)
    return train, rng.permutation(rest)[:n_test]
