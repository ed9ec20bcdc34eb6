"""Loops of probabilistic latent semantic analysis; see ``taxonomist.solvers.plsa``."""

from __future__ import annotations

import math

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.rows import row_sum


@compiled(allocates=True)
def em_step(
    rows: Rows,  # in  counts
    weights: Floats,  # in (n_items,)
    words: Floats,  # in (n_features, n_categories)  P(w|c)
    shares: Floats,  # in/out (n_items, n_categories)  P(c|d)
    expected: Floats,  # in/out (n_features, n_categories)  expected counts are added
) -> tuple[float, float]:
    """Take one step of EM for the shares of items, and add up the expected counts of words.

    Return the log-likelihood before the step and the number of words. Words that have no
    probability in any category are left out.
    """
    n_categories = words.shape[1]
    sums = np.zeros(n_categories)
    likelihood, n_words = 0.0, 0.0
    for i in range(shares.shape[0]):
        n_known = 0.0
        for c in range(n_categories):
            sums[c] = 0.0
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            f, count = rows.indices[e], rows.data[e]
            probability = 0.0
            for c in range(n_categories):
                probability += words[f, c] * shares[i, c]
            if probability <= 0.0:
                continue
            likelihood += weights[i] * count * math.log(probability)
            n_known += count
            for c in range(n_categories):
                part = count * words[f, c] * shares[i, c] / probability
                sums[c] += part
                expected[f, c] += weights[i] * part
        n_words += weights[i] * n_known
        if n_known > 0.0:
            for c in range(n_categories):
                shares[i, c] = sums[c] / n_known
    return likelihood, n_words


@compiled(allocates=True)
def fold_in_items(
    rows: Rows,  # in  counts
    words: Floats,  # in (n_features, n_categories)  P(w|c)
    max_iter: int,
    tol: float,
    shares: Floats,  # in/out (n_items, n_categories)  P(c|d)
    gaps: Floats,  # out (n_items,)
) -> None:
    """Take steps of EM for the shares of each item by itself, the words' probabilities fixed.

    An item is done when its log-likelihood per word is at most ``tol`` below the largest there is,
    or after ``max_iter`` steps; ``gaps`` bounds the difference. The gradient of the
    log-likelihood per word is at most g = max_c Σ_w n_w P(w|c) / P(w|d) / n, and 1 along the
    shares, so that by concavity g - 1 bounds what is missing.
    """
    n_categories = words.shape[1]
    ratios = np.zeros(n_categories)
    for i in range(shares.shape[0]):
        for step in range(max_iter + 1):
            n_known = _add_ratios(rows, i, words, shares, ratios)
            gaps[i] = 0.0
            if n_known == 0.0:
                break
            for c in range(n_categories):
                ratios[c] /= n_known
                gaps[i] = max(gaps[i], ratios[c] - 1.0)
            if gaps[i] <= tol or step == max_iter:
                break
            for c in range(n_categories):
                shares[i, c] *= ratios[c]


@compiled(inline=True)
def _add_ratios(
    rows: Rows,  # in  counts
    i: int,
    words: Floats,  # in (n_features, n_categories)  P(w|c)
    shares: Floats,  # in (n_items, n_categories)  P(c|d)
    ratios: Floats,  # out (n_categories,)  Σ_w n_w P(w|c) / P(w|d)
) -> float:
    """Write the ratios by which a step of EM multiplies shares; return how many words are known."""
    n_known = 0.0
    for c in range(len(ratios)):
        ratios[c] = 0.0
    for e in range(rows.indptr[i], rows.indptr[i + 1]):
        f, count = rows.indices[e], rows.data[e]
        probability = 0.0
        for c in range(len(ratios)):
            probability += words[f, c] * shares[i, c]
        if probability > 0.0:
            n_known += count
            for c in range(len(ratios)):
                ratios[c] += count * words[f, c] / probability
    return n_known


@compiled()
def left_out_likelihoods(
    rows: Rows,  # in  counts
    labels: Labels,  # in
    weights: Floats,  # in (n_items,)
    counts: Floats,  # in (n_features, n_categories)  pooled counts of categories
    totals: Floats,  # in (n_categories,)  Σ_w of them
    n_words: int,  # different words
    smoothings: Floats,  # in (n_smoothings,)
    out: Floats,  # out (n_smoothings,)
) -> None:
    """Add up the log-likelihood of each item under the counts of its categories without it.

    With several labels its words belong in equal parts to each. An item of weight 2 is two items,
    of which one is left out.
    """
    for i in range(len(weights)):
        n_labels = labels.indptr[i + 1] - labels.indptr[i]
        length = row_sum(rows, i)
        for a in range(labels.indptr[i], labels.indptr[i + 1]):
            c = labels.indices[a]
            share = min(weights[i], 1.0) / n_labels
            left_total = max(totals[c] - share * length, 0.0)
            for e in range(rows.indptr[i], rows.indptr[i + 1]):
                left = max(counts[rows.indices[e], c] - share * rows.data[e], 0.0)
                amount = weights[i] * rows.data[e] / n_labels
                for s in range(len(smoothings)):
                    smoothed = left + smoothings[s]
                    out[s] += amount * math.log(smoothed / (left_total + smoothings[s] * n_words))
