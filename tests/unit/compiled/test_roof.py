"""The bound of roof duality against a general linear program and enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from taxonomist.compiled import roof
from taxonomist.compiled.roof import make_pairs, roof_scratch


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """Small problems need no compiled loops; ``test_graph_search`` compares them with these."""
    for name in ("set_capacities", "search_roof", "push_roof"):
        monkeypatch.setattr(roof, name, getattr(roof, name).py_func)


def random_problem(rng):
    """Return a_v and b_k of random pairs of nodes: sparse or dense, of whole numbers or not."""
    n = int(rng.integers(2, 8))
    every = [(p, q) for p in range(n) for q in range(p + 1, n)]
    is_there = rng.random(len(every)) < rng.choice([0.3, 0.6, 1.0])
    is_there[rng.integers(len(every))] = True
    pairs = np.array(every)[is_there]
    a, b = rng.normal(size=n), 2 * rng.normal(size=len(pairs))
    if rng.random() < 0.4:
        a, b = np.round(2 * a), np.round(2 * b)
    return a, b, pairs


def least_by_program(a, b, pairs):
    """Return the minimum over marginals of nodes and pairs that agree [RSSS06, Eq. 8].

    Given the marginals of its nodes, a pair has μ_11 between max(0, μ_p + μ_q - 1) and both.
    """
    n, m = len(a), len(b)
    rows, bounds = np.zeros((3 * m, n + m)), np.zeros(3 * m)
    for k, (p, q) in enumerate(pairs):
        rows[3 * k, [n + k, p]] = 1, -1
        rows[3 * k + 1, [n + k, q]] = 1, -1
        rows[3 * k + 2, [n + k, p, q]] = -1, 1, 1
        bounds[3 * k + 2] = 1
    found = linprog(np.append(a, b), A_ub=rows, b_ub=bounds, bounds=(0, 1))
    assert found.success
    return found.fun


def least_by_enumeration(a, b, pairs):
    """Return the minimum over labellings, and all labellings that have it."""
    states = np.array(list(product((0, 1), repeat=len(a))))
    values = states @ a + (states[:, pairs[:, 0]] * states[:, pairs[:, 1]]) @ b
    return values.min(), states[values <= values.min() + 1e-9]


@pytest.mark.equation("RSSS06:8")
def test_the_bound_is_that_of_the_linear_program_and_decides_no_node_wrongly():
    rng = np.random.default_rng(0)
    n_open = n_decided = n_loose = 0
    for _ in range(120):
        a, b, couples = random_problem(rng)
        pairs = make_pairs(couples[:, 0], couples[:, 1], len(a))
        scratch, state = roof_scratch(pairs), np.full(len(a), 7)
        scratch.unary[:], scratch.joint[:] = a, b
        bound = roof.roof.py_func(pairs, scratch, state)
        assert bound == pytest.approx(least_by_program(a, b, couples), abs=1e-9)
        least, best = least_by_enumeration(a, b, couples)
        assert bound <= least + 1e-9
        decided = state < 7
        assert (best[:, decided] == state[decided]).all(axis=1).any()
        if decided.all():
            assert bound == pytest.approx(least, abs=1e-9)
        n_loose += bound < least - 1e-6
        n_open += int((~decided).sum())
        n_decided += int(decided.sum())
    assert min(n_loose, n_open, n_decided) > 5, "the problems are too easy or too hard"
