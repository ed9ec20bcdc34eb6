"""The weights of a blend of scores, and how far to trust it, fitted by the likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_expit

from taxonomist._threads import one_blas_thread

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats

PRIOR = 1.0
"""Strength of the prior around the first guess, in items. It keeps weights finite if the scores
separate all items."""
FIRST_TRUST = (0.0, -4.0)
"""First guess of the logarithm of the sharpness, and of the log-odds of chance."""
TRUST_RANGE = ((-3.0, 3.0), (-20.0, 5.0))
"""Where both are looked for."""


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
        scores = _weighted_sum(theta, finite)
        scores += offset
        scores[is_out] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[everyone, columns]
        shares = np.exp(scores, out=scores)
        sums = shares.sum(axis=1, keepdims=True)
        shares /= sums
        logs = own - np.log(sums[:, 0])
        expected = np.einsum("kic,ic->ki", finite, shares)
        away = theta - guess
        value = -float(weights @ logs) + 0.5 * PRIOR * float(away @ away)
        slope = -(true - expected) @ weights + PRIOR * away
        return value / total, slope / total

    with one_blas_thread():
        best = minimize(loss, guess, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(guess))
    theta: Floats = best.x
    return theta


def fit_trust(
    scores: Floats, columns: Codes, weights: Floats, offset: Floats, n_categories: int
) -> tuple[float, float]:
    """Return the sharpness a and the share ε of chance that maximise the likelihood.

    The probability of category c is (1 - ε) times the softmax of a f(x, c) + o_c, plus ε divided by
    the number of categories. A softmax alone is too sure of scores that are far apart. As the
    order of categories does not change, predictions do not either.

    Parameters
    ----------
    scores
        f, (n_items, n_candidates), of candidates that stand for all categories. Impossible ones
        have -inf.
    columns
        The place of each item's category among the candidates.
    weights
        The weights of the items. One item by chance and one by the softmax are added, so that ε
        stays inside (0, 1).
    offset
        o, (n_items, n_candidates).
    n_categories
        The number of categories that are possible.
    """
    from scipy.optimize import minimize

    everyone, is_out = np.arange(len(scores)), ~np.isfinite(scores)
    ahead = np.where(is_out, 0.0, scores - scores[everyone, columns][:, None])
    places = np.where(is_out, -np.inf, offset - offset[everyone, columns][:, None])

    def loss(point: Floats) -> tuple[float, Floats]:
        a, chance = np.exp(point[0]), expit(point[1])
        logs = a * ahead
        logs += places
        top = logs.max(axis=1, keepdims=True)
        logs -= top
        shares = np.exp(logs, out=logs)
        sums = shares.sum(axis=1)
        decided = np.exp(-top[:, 0]) / sums
        slope = -decided * np.einsum("ic,ic->i", shares, ahead) / sums
        p = (1 - chance) * decided + chance / n_categories
        value = weights @ np.log(p) + log_expit(point[1]) + log_expit(-point[1])
        by_a = weights @ ((1 - chance) * slope / p) * a
        by_chance = weights @ ((1 / n_categories - decided) / p) * chance * (1 - chance)
        return -float(value), -np.array([by_a, by_chance + 1 - 2 * chance])

    with one_blas_thread():
        best = minimize(loss, FIRST_TRUST, jac=True, method="L-BFGS-B", bounds=TRUST_RANGE)
    return float(np.exp(best.x[0])), float(expit(best.x[1]))


def blended(parts: Floats, theta: Floats) -> Floats:
    """Return Σ_k θ_k f_k, (n_items, n_categories), which is -inf for impossible categories."""
    finite, is_out = _split(parts)
    scores = _weighted_sum(theta, finite)
    scores[is_out] = -np.inf
    return scores


def _split(parts: Floats) -> tuple[Floats, Bools]:
    """Return the parts with 0 for impossible categories, and which ones these are."""
    is_out = ~np.isfinite(parts[0])
    return (np.where(is_out, 0.0, parts) if is_out.any() else parts), is_out


def _weighted_sum(theta: Floats, parts: Floats) -> Floats:
    """Return Σ_k θ_k f_k. Products of matrices would start threads for too little work."""
    total: Floats = theta[0] * parts[0]
    for weight, part in zip(theta[1:], parts[1:], strict=True):
        total += weight * part
    return total
