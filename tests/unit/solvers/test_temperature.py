"""The inverse temperature: by really holding items out and loops over every word."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from taxonomist.models.sources import node_sources
from taxonomist.solvers import temperature
from taxonomist.solvers.mixture import MixtureOptions, MixtureProblem, solve
from taxonomist.solvers.temperature import TEMPERATURES, choose_temperature, held_out_likelihood
from taxonomist.solvers.word_counts import pool
from tests.reference import mixture as naive


def problem_of(toy, items=None):
    sources = node_sources(toy.targets.categories)
    items = toy.items if items is None else items
    return MixtureProblem(pool(items, sources), sources, items)


def naive_likelihood(items, taxonomy, solution, sources):
    """Return Σ n log P(w|c), where all sources on the path have words."""
    words, total = solution.words.toarray(), 0.0
    for row, labels, weight in items:
        for label in labels:
            c = taxonomy.leaves.index(label)
            slots = slice(*sources.paths.indptr[c : c + 2])
            nodes = sources.paths.indices[slots]
            if not words[nodes].any(axis=1).all():
                continue
            for w, n in enumerate(row):
                p = solution.weights.slots[slots] @ words[nodes, w]
                p += solution.weights.uniform[c] / len(row)
                if n and p > 0:
                    total += weight * n / len(labels) * math.log(p)
    return total


@pytest.mark.parametrize("updates", [None, "step"])
@pytest.mark.parametrize("name", naive.TAXONOMIES)
def test_the_chosen_value_makes_held_out_items_most_likely(name, updates):
    toy = naive.make_toy(naive.TAXONOMIES[name], n_items=23, seed=8)
    options = MixtureOptions(max_iter=3, trust=1.0, discount=0.0, seed=5, weight_updates=updates)
    order = np.random.default_rng(5).permutation(23)
    totals = dict.fromkeys(TEMPERATURES, 0.0)
    for fold in range(5):
        held = np.sort(order[fold::5])
        part = problem_of(toy, toy.items.select(np.setdiff1d(np.arange(23), held)))
        for beta in TEMPERATURES:
            solution = solve(part, replace(options, inverse_temperature=beta))
            items = [toy.naive_items()[i] for i in held]
            value = naive_likelihood(items, toy.taxonomy, solution, part.sources)
            found = held_out_likelihood(toy.items.select(held), solution, part.sources)
            assert np.isclose(found, value)
            totals[beta] += value
    assert choose_temperature(problem_of(toy), options) == max(totals, key=totals.get)


def test_no_choice_without_steps_or_items(monkeypatch):
    toy = naive.make_toy(n_items=20)
    monkeypatch.setattr(temperature, "solve", None)
    assert choose_temperature(problem_of(toy), MixtureOptions(max_iter=0)) == 1
    one = naive.make_toy(n_items=1)
    assert choose_temperature(problem_of(one), MixtureOptions()) == 1
