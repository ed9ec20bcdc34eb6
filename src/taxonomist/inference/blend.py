"""The weights of a blend of scores, fitted by the likelihood of the softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats

PRIOR = 1.0
"""Strength of the prior around the first guess, in items. It keeps weights finite if the scores
separate all items."""


def fit_blend(
    parts: Floats, columns: Codes, weights: Floats, guess: Floats, offset: Floats
) -> Floats:
    """Return nonnegative weights θ that maximise the likelihood of the items' categories.

    The probability of category c is the softmax over categories of Σ_k θ_k f_k(x, c) + o_c.

    Parameters
    ----------
    parts
        f, (n_parts, n_items, n_categories). Categories that are impossible have -inf.
    columns
        The category of each item.
    weights
        The weights of the items.
    guess
        The first guess of θ, which is also the centre of a weak prior.
    offset
        o, (n_categories,).
    """
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    is_used = np.array([np.any(part != 0, where=np.isfinite(part)) for part in parts])
    if not is_used.all():
        # The likelihood does not depend on the weight of a part that is 0.
        found = guess.copy()
        if is_used.any():
            found[is_used] = fit_blend(parts[is_used], columns, weights, guess[is_used], offset)
        return found
    n_items = parts.shape[1]
    everyone = np.arange(n_items)
    total = max(float(weights.sum()), 1.0)
    true = parts[:, everyone, columns]
    finite, is_out = _split(parts)

    def loss(theta: Floats) -> tuple[float, Floats]:
        scores = _weighted_sum(theta, finite) + offset
        scores[is_out] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        sums = shares.sum(axis=1, keepdims=True)
        shares /= sums
        logs = scores[everyone, columns] - np.log(sums[:, 0])
        expected = np.einsum("kic,ic->ki", finite, shares)
        away = theta - guess
        value = -float(weights @ logs) + 0.5 * PRIOR * float(away @ away)
        slope = -(true - expected) @ weights + PRIOR * away
        return value / total, slope / total

    # A few numbers gain nothing from threads, which cost time to wake up.
    with threadpool_limits(1, "blas"):
        best = minimize(loss, guess, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(guess))
    theta: Floats = best.x
    return theta


def blended(parts: Floats, theta: Floats) -> Floats:
    """Return Σ_k θ_k f_k, (n_items, n_categories), which is -inf for impossible categories."""
    finite, is_out = _split(parts)
    scores = _weighted_sum(theta, finite)
    scores[is_out] = -np.inf
    return scores


def _split(parts: Floats) -> tuple[Floats, Bools]:
    """Return the parts with 0 for impossible categories, and which ones these are."""
    return np.where(np.isfinite(parts), parts, 0.0), ~np.isfinite(parts[0])


def _weighted_sum(theta: Floats, parts: Floats) -> Floats:
    """Return Σ_k θ_k f_k. Products of matrices would start threads for too little work."""
    total: Floats = theta[0] * parts[0]
    for weight, part in zip(theta[1:], parts[1:], strict=True):
        total += weight * part
    return total
