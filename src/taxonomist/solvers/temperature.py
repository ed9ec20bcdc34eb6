"""The inverse temperature of EM for the words of nodes, chosen by held-out items.

Problem       max over β of  Σ_i Σ_c u_i a_ic Σ_w n_iw log P(w|c),  the likelihood of each fold of
              items [TCPH01, Eq. 4] under the words and weights of the other folds after EM at β
Notation      as in ``taxonomist.solvers.mixture``
Step          all β of ``TEMPERATURES`` are tried on ``N_FOLDS`` folds, drawn by the seed of the
              options; the largest of equally good ones is taken
Cost          for each fold, path weights once, and EM for each β
Differences   The paper uses tempered EM and does not give β. In its references β is lowered as long
              as held-out items become more likely; here all values are tried.
References    [TCPH01, Eq. 4], [TCPH01, Sec. 2.2]
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.solvers.left_out import gather
from taxonomist.solvers.mixture import MixtureProblem, solve
from taxonomist.solvers.word_counts import pool

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats
    from taxonomist.solvers.mixture import MixtureOptions, MixtureSolution
    from taxonomist.solvers.word_counts import CountedItems, Sources

TEMPERATURES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Inverse temperatures that are tried."""

N_FOLDS = 5


def choose_temperature(problem: MixtureProblem, options: MixtureOptions) -> float:
    """Return the inverse temperature under which held-out items are most likely.

    Parameters
    ----------
    problem
        Counts and paths, with the items themselves.
    options
        All options but the inverse temperature.
    """
    assert problem.items is not None
    n_items = problem.items.X.shape[0]
    if n_items < 2 or options.max_iter == 0:
        return TEMPERATURES[0]
    order = np.random.default_rng(options.seed).permutation(n_items)
    n_folds = min(N_FOLDS, n_items)
    total = np.zeros(len(TEMPERATURES))
    for fold in range(n_folds):
        held_out = np.sort(order[fold::n_folds])
        total += _likelihoods(problem, options, held_out)
    return TEMPERATURES[int(np.argmax(total))]


def held_out_likelihood(items: CountedItems, solution: MixtureSolution, sources: Sources) -> float:
    """Return Σ n log P(w|c) of items; words that no source on the path makes are left out."""
    weights = solution.weights
    evidence = gather(items, solution.words, sources, has_uniform=True, is_inside=False)
    return evidence.expect(*weights)[0]


def _likelihoods(problem: MixtureProblem, options: MixtureOptions, held_out: Codes) -> Floats:
    """Return the likelihood of a fold after training on the others, for each temperature."""
    items, sources = problem.items, problem.sources
    assert items is not None
    inside = np.ones(items.X.shape[0], dtype=bool)
    inside[held_out] = False
    rest, fold = items.select(np.flatnonzero(inside)), items.select(np.flatnonzero(~inside))
    part = MixtureProblem(pool(rest, sources), sources, rest, problem.weights)
    if options.weight_updates is None:
        # Weights do not depend on the temperature.
        part = replace(part, weights=solve(part, replace(options, max_iter=0)).weights)
    found = [
        held_out_likelihood(fold, solve(part, replace(options, inverse_temperature=beta)), sources)
        for beta in TEMPERATURES
    ]
    return np.array(found)
