"""Equations of RSSS06, by enumeration of labellings and differences of the dual objective."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.solvers import subspace
from taxonomist.solvers.subspace import SubspaceOptions
from tests.reference import markov_tree as reference
from tests.reference.markov_toys import SHAPES, toy


def gradient(instance, mu, i):
    """Return the derivatives of the dual by the marginals of item i; it is quadratic."""
    found = np.zeros(mu.shape[1])
    for code in range(mu.shape[1]):
        step = np.zeros_like(mu)
        step[i, code] = 0.5
        above, below = (reference.marginal_dual(instance, mu + s * step) for s in (1, -1))
        found[code] = above - below
    return found


@pytest.mark.equation("RSSS06:9")
@pytest.mark.parametrize("shape", SHAPES)
def test_first_order_condition_of_the_marginals_of_an_item(shape):
    """No feasible point is further up the gradient than by Δ_i, which goes to 0."""
    case = toy(shape, "costs", 0.3, "example", "edge", "all").select(slice(4))
    options = SubspaceOptions(tol=1e-6, dtype="float64", max_iter=500, chunk_size=4)
    instance, rng = case.instance(), np.random.default_rng(0)
    state = subspace._State(case.problem(), options)
    for passes in (1, 3, 100):
        for _ in range(passes):
            state.visit(state.choose())
            state.look()
        for i in range(4):
            g = gradient(instance, state.mu, i)
            vertices = instance.C[i] * reference.blocks(instance, instance.others(i))
            feasible = rng.dirichlet(np.full(len(vertices), 0.1), size=20) @ vertices
            limit = state.findings.violation[i] * instance.C[i]
            assert ((feasible - state.mu[i]) @ g).max() <= limit + 1e-9
            # Vertices and the point where the item is inactive: the bound is reached.
            corners = np.vstack([vertices, np.zeros_like(g)])
            assert ((corners - state.mu[i]) @ g).max() == pytest.approx(limit, abs=1e-9)
    assert (state.findings.violation * instance.C).sum() < 1e-2 * state.certificate.primal
