"""A primal-dual interior-point method for the quadratic program of one item.

Problem       max_β  g'β - ½ β'Qβ  s.t.  β >= 0,  Σ β <= C, with Q positive semidefinite
Dual          multipliers z >= 0 of β >= 0, and λ >= 0 of Σ β <= C, with Qβ - g + λ = z
Notation      β ``beta``, s = C - Σ β ``unused``, z ``z``, λ ``level``, μ ``mu``
Step          Newton's method for β_k z_k = s λ = μ, with a predictor for μ = 0 and a corrector for
              the products that it leaves (Mehrotra). Both use one factor of Q + diag(z / β), to
              which the constraint adds one row.
Stopping      The residual of the stationarity, and the complementarity (β'z + s λ) / C, which
              together bound the violation ψ of the optimality conditions.
Cost          O(m³) for m variables, about ten times.
Differences   [HCC03] and [CH04] use LOQO, an interior-point method of the same kind.
References    [CH04, Sec. 4.3], [HCC03, Sec. 5]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

if TYPE_CHECKING:
    from taxonomist._typing import Floats

MOST_STEPS = 100
NEARLY = 0.99
"""Part of the way to the boundary that a step goes at most."""
TIGHT = 1e-6
"""Part of the tolerance for the complementarity: positive variables must not hide a violation."""


def maximise(Q: Floats, g: Floats, C: float, tol: float) -> Floats:
    """Return the maximum of a concave quadratic function over a simplex with its interior.

    Parameters
    ----------
    Q
        Second derivatives with the opposite sign, (m, m).
    g
        The gradient at 0, (m,).
    C
        The largest sum of the variables, finite.
    tol
        Largest violation of the optimality conditions, in units of the gradient.
    """
    m = len(g)
    beta, unused = np.full(m, C / (m + 1)), C / (m + 1)
    level = max(1.0, float(np.abs(g).max(initial=0.0)))
    z = np.maximum(Q @ beta - g + level, level)
    for _ in range(MOST_STEPS):
        residual = g - Q @ beta - level + z
        gap = (beta @ z + unused * level) / C
        if gap <= TIGHT * tol and np.abs(residual).max(initial=0.0) <= 0.1 * tol:
            break
        system = _System(Q, beta, unused, z, level)
        mu = (beta @ z + unused * level) / (m + 1)
        guess = system.direction(residual, -beta * z, -unused * level)
        length = _longest(beta, unused, z, level, guess)
        after = (beta + length * guess[0]) @ (z + length * guess[1])
        after += (unused + length * guess[2]) * (level + length * guess[3])
        aim = mu * (after / (m + 1) / mu) ** 3
        change = system.direction(
            residual,
            aim - beta * z - guess[0] * guess[1],
            aim - unused * level - guess[2] * guess[3],
        )
        length = _longest(beta, unused, z, level, change)
        beta, z = beta + length * change[0], z + length * change[1]
        unused, level = unused + length * change[2], level + length * change[3]
    # Interior points have no exact zeros: of variable and multiplier, the smaller one is zero.
    scale = max(float(np.abs(g).max(initial=0.0)), tol)
    beta = np.where(beta / C < z / scale, 0.0, beta)
    return beta * (C / beta.sum()) if unused / C < level / scale and beta.any() else beta


class _System:
    """The Newton system at a point, factorised."""

    def __init__(self, Q: Floats, beta: Floats, unused: float, z: Floats, level: float) -> None:
        self.beta, self.unused, self.z, self.level = beta, unused, z, level
        self.factor = cho_factor(Q + np.diag(z / beta), check_finite=False)
        self.ones = cho_solve(self.factor, np.ones(len(beta)), check_finite=False)

    def direction(
        self, residual: Floats, products: Floats, product: float
    ) -> tuple[Floats, Floats, float, float]:
        """Return the changes of β, z, s and λ that solve the linearised conditions."""
        right = residual + products / self.beta
        free = cho_solve(self.factor, right, check_finite=False)
        # Σ dβ = -ds, and λ ds + s dλ = product.
        d_level = (product + self.level * free.sum()) / (self.unused + self.level * self.ones.sum())
        d_beta = free - d_level * self.ones
        d_z = (products - self.z * d_beta) / self.beta
        return d_beta, d_z, -float(d_beta.sum()), float(d_level)


def _longest(
    beta: Floats,
    unused: float,
    z: Floats,
    level: float,
    change: tuple[Floats, Floats, float, float],
) -> float:
    """Return the length of a step that stays inside, at most 1."""
    now = np.concatenate([beta, z, [unused, level]])
    by = np.concatenate([change[0], change[1], [change[2], change[3]]])
    falls = by < 0
    return float(min(1.0, NEARLY * np.min(-now[falls] / by[falls], initial=np.inf)))
