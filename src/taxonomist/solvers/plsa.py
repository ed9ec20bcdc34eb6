"""EM for probabilistic latent semantic analysis, started from labels.

Problem       max  Σ_d u_d Σ_w n_dw log Σ_c P(w|c) P(c|d)                       [TCPH01, Eq. 14]
              over distributions P(.|c) of words and P(.|d) of categories
Dual          none; folding in is concave, and its gap is known (see Stopping)
Notation      n_dw     counts, (n_items, n_features)                            ``counts``
              u_d      weights of items, (n_items,)                             ``weights``
              P(w|c)   (n_features, n_categories)                               ``words``
              P(c|d)   (n_items, n_categories)                                  ``shares``
              λ        what Lidstone smoothing adds to each count               ``smoothing``
Start         P(w|c) ∝ λ + counts of the items in c, an item's words in equal parts to each of its
              labels; P(c|d) = (1 - s) / (number of labels) for the labels of d, and the spread s in
              equal parts for the others. λ is the one under which items are most likely by the
              counts of their categories without them. Items without labels start evenly.
Step          P(c|d,w) ∝ P(w|c) P(c|d);  P(w|c) ∝ Σ_d u_d n_dw P(c|d,w),
              P(c|d) ∝ Σ_w n_dw P(c|d,w), both from the same responsibilities
Folding in    The step for P(c|d) alone, from even shares.
Stopping      After ``max_iter`` steps, or when a step raised the log-likelihood by less than
              ``tol`` per word. The log-likelihood never falls. Folding in stops when the
              log-likelihood of an item is at most ``tol`` per word below its largest value, by
              concavity, or after ``fold_max_iter`` steps.
Cost          A step takes the non-zeros of n_dw times n_categories; memory holds both
              distributions twice over words and once over items, dense.
Differences   Words that no training item has are left out. A category without items has no words:
              its probabilities and shares are 0. λ is chosen by leaving items out, where the paper
              has held-out items; "close to 0" is the spread.
References    [TCPH01, Sec. 3.2.2], [TCPH01, Eq. 14]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.plsa import em_step, fold_in_items, left_out_likelihoods

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Bools, Floats

SMOOTHINGS = 10.0 ** (np.arange(-9, 4) / 3)
"""Lidstone parameters that are tried, 0.001 to 10."""


@dataclass(frozen=True)
class PLSAProblem:
    """Counts and labels of items.

    Attributes
    ----------
    counts
        (n_items, n_features) CSR, not negative.
    labels
        (n_items, n_categories) boolean CSR.
    weights
        (n_items,), not negative.
    """

    counts: CSR
    labels: CSR
    weights: Floats


@dataclass(frozen=True)
class PLSAOptions:
    """How the model is started and how long it is trained.

    Attributes
    ----------
    smoothing
        Lidstone parameter of the start; None chooses it.
    spread
        Part of an item that starts in categories that it does not have.
    max_iter
        Most steps of training. Of 0, 1, 2, 5, 10 and 20 one or two were best on 15 newsgroups,
        with 7, 20 and 67 items per category; more fit the training items too closely.
    fold_max_iter
        Most steps for a new item. Of 1, 2, 3, 5, 10 and 50 the fewest were best there; five cost
        one point of accuracy, and 50 two to three.
    tol
        Rise of the log-likelihood per word at which to stop.
    """

    smoothing: float | None = None
    spread: float = 0.1
    max_iter: int = 2
    fold_max_iter: int = 2
    tol: float = 1e-6


class PLSAStep(NamedTuple):
    """An entry of the history: seconds since the start, and the log-likelihood."""

    seconds: float
    log_likelihood: float


@dataclass(frozen=True)
class PLSASolution:
    """The distributions, and how likely they make the items.

    Attributes
    ----------
    words
        P(w|c), (n_features, n_categories).
    shares
        P(c|d) of the training items, (n_items, n_categories).
    smoothing
        The Lidstone parameter of the start.
    log_likelihood
        At these distributions.
    converged
        Whether the last step raised it by less than ``tol`` per word.
    history
        The start and an entry for each step.
    """

    words: Floats
    shares: Floats
    smoothing: float
    log_likelihood: float
    converged: bool
    history: list[PLSAStep] = field(default_factory=list)


def solve(
    problem: PLSAProblem,
    options: PLSAOptions,
    callback: Callable[[PLSAStep], None] | None = None,
) -> PLSASolution:
    """Return the distributions after some steps of EM from the labels.

    Parameters
    ----------
    problem
        Counts, labels and weights of items.
    options
        Start and stopping.
    callback
        Called with the start and after every step.

    Returns
    -------
    PLSASolution
        P(w|c), P(c|d), and the log-likelihood of every step.
    """
    began = perf_counter()
    pooled, vocabulary = _pooled_counts(problem), _vocabulary(problem)
    smoothing = options.smoothing
    if smoothing is None:
        smoothing = choose_smoothing(problem)
    has_items: Bools = np.asarray(pooled.any(axis=0))
    words = _normalized(np.where(vocabulary[:, None] & has_items, pooled + smoothing, 0.0))
    shares = _start(problem.labels, has_items, options.spread)
    rows = _rows(problem.counts)
    history: list[PLSAStep] = []
    while True:
        now, expected = shares.copy(), np.zeros_like(words)
        likelihood, n_words = em_step(rows, problem.weights, words, shares, expected)
        history.append(PLSAStep(perf_counter() - began, likelihood))
        if callback is not None:
            callback(history[-1])
        n_iter, rise = len(history) - 1, np.inf
        if n_iter:
            rise = likelihood - history[-2].log_likelihood
        converged = bool(rise <= options.tol * n_words)
        if converged or n_iter == options.max_iter:
            return PLSASolution(words, now, smoothing, likelihood, converged, history)
        words = _normalized(expected)


def fold_in(counts: CSR, words: Floats, options: PLSAOptions) -> tuple[Floats, Floats]:
    """Return the categories' shares in new items, and bounds on what more steps could gain.

    Parameters
    ----------
    counts
        (n_items, n_features) CSR, not negative.
    words
        P(w|c), (n_features, n_categories).
    options
        ``fold_max_iter`` and ``tol``.

    Returns
    -------
    shares : ndarray, shape (n_items, n_categories)
        P(c|d). Items without known words have all categories alike that have words.
    gaps : ndarray, shape (n_items,)
        The largest rise of the log-likelihood per word that more steps could bring.
    """
    n_items = counts.shape[0]
    has_words = words.any(axis=0) | ~words.any()
    shares = np.tile(has_words / has_words.sum(), (n_items, 1))
    gaps = np.zeros(n_items)
    fold_in_items(_rows(counts), words, options.fold_max_iter, options.tol, shares, gaps)
    return shares, gaps


def choose_smoothing(problem: PLSAProblem) -> float:
    """Return the Lidstone parameter under which left-out items are most likely.

    Parameters
    ----------
    problem
        Counts, labels and weights of items.

    Returns
    -------
    float
        One of ``SMOOTHINGS``; the largest of equally good ones.
    """
    likelihoods = _left_out_likelihoods(problem)
    return float(SMOOTHINGS[::-1][np.argmax(likelihoods[::-1])])


def _left_out_likelihoods(problem: PLSAProblem) -> Floats:
    """Return the log-likelihood of items under the other items' counts, for each smoothing."""
    pooled = _pooled_counts(problem)
    likelihoods = np.zeros(len(SMOOTHINGS))
    left_out_likelihoods(
        _rows(problem.counts),
        Labels(problem.labels.indptr, problem.labels.indices),
        problem.weights,
        pooled,
        pooled.sum(axis=0),
        int(_vocabulary(problem).sum()),
        SMOOTHINGS,
        likelihoods,
    )
    return likelihoods


def _pooled_counts(problem: PLSAProblem) -> Floats:
    """Return counts of categories, items in equal parts to labels, (n_features, n_categories)."""
    n_labels = np.asarray(problem.labels.sum(axis=1)).ravel()
    part = problem.weights / np.maximum(n_labels, 1)
    parts = problem.labels.multiply(part[:, None]).tocsr()
    pooled: Floats = np.ascontiguousarray((problem.counts.T @ parts).toarray())
    return pooled


def _vocabulary(problem: PLSAProblem) -> Bools:
    """Return which words some item has, (n_features,)."""
    has_word: Bools = problem.counts.T @ problem.weights > 0
    return has_word


def _normalized(counts: Floats) -> Floats:
    """Return counts divided by the sums of columns; columns of zeros stay."""
    totals = counts.sum(axis=0)
    distributions: Floats = counts / np.where(totals > 0, totals, 1.0)
    return distributions


def _start(labels: CSR, has_items: Bools, spread: float) -> Floats:
    """Return the shares to start from: the labels, with a part spread over other categories."""
    is_label = labels.toarray() & has_items
    is_other = ~is_label & has_items
    own = is_label / np.maximum(is_label.sum(axis=1, keepdims=True), 1)
    others = is_other / np.maximum(is_other.sum(axis=1, keepdims=True), 1)
    only_own, only_others = ~is_other.any(axis=1), ~is_label.any(axis=1)
    part = np.where(only_own, 0.0, np.where(only_others, 1.0, spread))[:, None]
    shares: Floats = (1 - part) * own + part * others
    return shares


def _rows(counts: CSR) -> Rows:
    """Return counts as the rows that compiled loops read."""
    return Rows(counts.indptr, counts.indices, counts.data.astype(np.float64, copy=False))
