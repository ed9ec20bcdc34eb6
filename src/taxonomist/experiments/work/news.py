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

    from taxonomist._typing import CSR, Bools, Codes, Objects
    from taxonomist.taxonomy import Taxonomy

FIRST_SEED = 1000
"""First seed of the splits; smaller seeds were used to choose the library's defaults."""
ENCODED = re.compile(r"^\s*\S{40,}\s*$", re.MULTILINE)
"""A line of at least 40 characters without a blank, as in text-encoded files."""
MIN_COUNT = 3
"""Rarer words are discarded [TCPH01, Sec. 3.1.1]."""
N_FREQUENT = 100
"""Size of the list of most frequent words, as another list of stop words."""
TOKENS: dict[str, dict[str, str]] = {
    "plain": {"stop_words": "english"},
    "without files": {"stop_words": "english"},
    "without copies": {"stop_words": "english"},
    "blanks": {"stop_words": "english", "token_pattern": r"\S+"},
    "letters": {"stop_words": "english", "token_pattern": r"[a-z]{2,}"},
    "stop words": {},
    "without frequent words": {},
}
"""Ways to turn a posting into words, with the parameters of scikit-learn's ``CountVectorizer``."""
NEWS_SETTINGS = Settings(
    tolerance="path weights to 0.001 per word; two EM steps, or as many as a row says.",
    features="counts of words of subject and body, lower-cased, without scikit-learn's English "
    "stop words. Words that occur fewer than three times in the postings that are not tested are "
    "left out; the paper counts in all postings, test postings included.",
    splits="the drawn postings for training (held-out ones included), 3,000 others for testing.",
    draws="ten for each number of postings.",
)
STORY_SETTINGS = Settings(
    tolerance="path weights to 0.001 per word; two EM steps; SVM: a violation of 0.01.",
    features="counts of all words of the training stories, lower-cased, with stop words; where a "
    "row names a number of words, those with the largest information gain in the training stories; "
    "SVM: tf-idf of them.",
    splits="the ModApte split; thresholds by five folds of the training stories (k-NN: each story "
    "is left out).",
    draws="one.",
)


def newsgroups(
    size: int,
    *,
    draw: int,
    n_test: int,
    text: str = "plain",
    counted: str = "others",
    every: int = 1,
) -> SplitData:
    """Return a draw of postings of 15 newsgroups, training postings first [TCPH01, Sec. 3.1.1].

    Parameters
    ----------
    size
        Number of training postings per group.
    draw
        The number of the draw.
    n_test
        Number of test postings, drawn from the rest.
    text
        One of ``TOKENS``. ``"without files"`` leaves out the lines of encoded files, ``"without
        copies"`` all but the first of postings with the same text, ``"without frequent words"``
        the ``N_FREQUENT`` most frequent words.
    counted
        The postings that must have a word ``MIN_COUNT`` times: ``"others"``, all that are not
        tested, or ``"all"``.
    every
        Keep only every n-th posting, for a quick run.

    Returns
    -------
    SplitData
        Counts of words, with a single split.
    """
    X, y, taxonomy = _postings(text, every)
    train, test = drawn(y, size, n_test, FIRST_SEED + draw)
    is_counted = np.ones(len(y), dtype=bool)
    if counted == "others":
        is_counted[test] = False
    items = np.concatenate([train, test])
    words = kept_words(X, is_counted, N_FREQUENT if text == "without frequent words" else 0)
    split = np.arange(len(train)), np.arange(len(train), len(items))
    return SplitData(X[items][:, words], y[items], taxonomy, [split])


def kept_words(X: CSR, is_counted: Bools, n_frequent: int = 0) -> Codes:
    """Return the words that are frequent enough in some items, without the most frequent ones."""
    counts = X.T @ is_counted.astype(np.float64)
    too_frequent = np.argsort(-counts, kind="stable")[:n_frequent]
    return np.setdiff1d(np.flatnonzero(counts >= MIN_COUNT), too_frequent)


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
def _postings(text: str, every: int) -> tuple[Any, Any, Taxonomy]:
    """Return the counts of all words, the groups and the tree of the groups."""
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = datasets.load("20newsgroups", tree="15").select(slice(None, None, every))
    texts: Sequence[str] = corpus.texts or ()
    y = np.asarray(corpus.y)
    if text == "without files":
        texts = [without_encoded(one) for one in texts]
    if text == "without copies":
        places: dict[str, int] = {}
        for place, one in enumerate(texts):
            places.setdefault(one, place)
        texts, y = list(places), y[list(places.values())]
    X = CountVectorizer(dtype=np.float64, **TOKENS[text]).fit_transform(texts)
    # Words that no choice of counted postings can keep.
    often = np.asarray(X.sum(axis=0)).ravel() >= MIN_COUNT
    return X[:, often], y, corpus.taxonomy


def without_encoded(text: str) -> str:
    """Remove the lines that look like an encoded file."""
    return ENCODED.sub("", text)


def drawn(y: Objects, size: int, n_test: int, seed: int) -> tuple[Codes, Codes]:
    """Return ``size`` training items of each label, and test items from the rest."""
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.flatnonzero(y == label))[:size] for label in np.unique(y)]
    train = np.concatenate(parts)
    rest = np.setdiff1d(np.arange(len(y)), train)
    return train, rng.permutation(rest)[:n_test]
