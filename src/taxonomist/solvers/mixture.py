"""Tempered EM for the words of nodes: the hierarchical mixture, and shrinkage without its steps.

Problem       max  Σ_c Σ_w n_cw log P(w|c),  P(w|c) = Σ_v P(v|c) P(w|v)     [TCPH01, Eq. 1, 3, 4]
              over distributions P(.|v); v runs over the sources on the path of c and, if there is
              one, a node above the root that gives all words the same probability.
Dual          none; the value is bounded from below (see Stopping)
Notation      n_cw     counts, (n_categories, n_words)                      ``Pooled.categories``
              n_vw     pooled counts, (n_sources, n_words)                  ``Pooled.sources``
              P(w|v)   (n_sources, n_words) CSR                             ``words``
              P(v|c)   a number per slot, and one for the uniform node      ``PathWeights``
              β        inverse temperature                                  ``inverse_temperature``
              P(v|c,w) ∝ (P(v|c) P(w|v))^β, responsibilities [TCPH01, Eq. 5]; never stored
Start         P(w|v) ∝ n_vw (1 - discount / number of the items of v that have w), but without the
              discount for sources that pool all categories, as the root does. P(v|c) maximise the
              likelihood of left-out items under P(w|v) ∝ n_vw (``solvers.path_weights``); then
              those of all sources that do not pool everything are multiplied by ``trust``, and the
              others and the uniform node take the rest in proportion.
Step          P(w|v) ∝ Σ_c n_cw P(v|c,w) [TCPH01, Eq. 6]. P(v|c) stay, or are re-estimated from
              left-out items: by one step of EM from the responsibilities of the same words
              ("step") [TCPH01, Eq. 7], or until they are the best for the new words ("full")
Stopping      after ``max_iter`` steps: more fit the training items too closely. The history holds
              Σ n_cw log(Σ_v (P(v|c) P(w|v))^β) / β, the largest value of the tempered bound over
              responsibilities; steps at the same β never lower it while P(v|c) stay. At β = 1 it
              is the log-likelihood.
Cost          A step takes the non-zeros of n_cw times the nodes on a path, and memory for the
              non-zeros of n_cw and n_vw.
Differences   By default, P(v|c) are estimated once, from pooled counts, not again in each step. If
              they are, an item is left out with the words that the last responsibilities expect
              it to have added to each source, and the responsibilities of P(v|c) have β = 1.
              ``trust`` and ``discount``: words of an item are not independent, so that the
              likelihood trusts too much in words that few items have; trust = 1 and discount = 0
              is the paper's. A source without words gives its weight to the others on the path.
References    [TCPH01, Eq. 1, 3, 4, 5, 6, 7]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled import mixture
from taxonomist.compiled.mixture import LeaveOutRoom
from taxonomist.solvers.path_weights import PathWeights, estimate
from taxonomist.solvers.word_counts import count_rows, pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR, Bools, Floats
    from taxonomist.compiled.arrays import Rows
    from taxonomist.solvers.path_weights import WeightsSolution
    from taxonomist.solvers.word_counts import CountedItems, Pooled, Sources

UPDATES = ("step", "full")


@dataclass(frozen=True)
class MixtureOptions:
    """How words and weights are estimated.

    Attributes
    ----------
    max_iter
        Steps of EM for the words of nodes.
    inverse_temperature
        β, or a sequence with that of each step; the last one holds for all further steps.
    path_weights
        ``"level"``, ``"class"`` or ``"shrunk"``.
    weight_updates
        How weights are re-estimated in each step: None, ``"step"`` or ``"full"``. Weights that are
        given stay.
    shared_words
        How many words the shared weights are worth, with "shrunk".
    trust
        Part of the estimated weight that sources keep which do not pool all categories.
    discount
        What is taken off the number of items that have a word, in these sources.
    uniform
        Whether there is a uniform node above the root.
    held_out
        Share of items that are held out for the weights; None leaves one item out at a time, and
        ``"word"`` one occurrence of a word.
    seed
        For the choice of held-out items.
    tol
        How much of the largest log-likelihood the weights may miss, per word.
    """

    # trust and discount: of .05, .1, .2, .3 and 1, and of 0, .5, .7 and .9, for 7, 20 and 67
    # items of each of 15 newsgroups; all near these do about as well.
    max_iter: int = 2
    inverse_temperature: float | Sequence[float] = 1.0
    path_weights: str = "level"
    weight_updates: str | None = None
    shared_words: float = 1000.0
    trust: float = 0.1
    discount: float = 0.7
    uniform: bool = True
    held_out: float | str | None = None
    seed: int = 0
    tol: float = 1e-3


@dataclass(frozen=True)
class MixtureProblem:
    """Counts of words along the paths of categories.

    Attributes
    ----------
    pooled
        Counts of categories and sources.
    sources
        The sources on each path.
    items
        Items from which path weights are estimated; not needed where they are given.
    weights
        Path weights if they are given; they are used as they are.
    """

    pooled: Pooled
    sources: Sources
    items: CountedItems | None = None
    weights: PathWeights | None = None


class MixtureStep(NamedTuple):
    """An entry of the history: the bound at an inverse temperature, before a step or at the end."""

    seconds: float
    inverse_temperature: float
    bound: float


@dataclass(frozen=True)
class MixtureSolution:
    """The words of sources and the weights on paths.

    Attributes
    ----------
    words
        P(w|v), (n_sources, n_words) CSR; a row of a source without words is empty.
    weights
        P(v|c).
    bound
        The last entry of the history.
    weights_solution
        How the weights were found; None if they were given.
    history
        An entry before each step, and one at the end.
    """

    words: CSR
    weights: PathWeights
    bound: float
    weights_solution: WeightsSolution | None
    history: list[MixtureStep] = field(default_factory=list)


def solve(
    problem: MixtureProblem,
    options: MixtureOptions,
    callback: Callable[[MixtureStep], object] | None = None,
) -> MixtureSolution:
    """Return the words of sources after some steps of EM from pooled counts.

    Parameters
    ----------
    problem
        Counts and paths.
    options
        See ``MixtureOptions``.
    callback
        Called with each entry of the history.
    """
    began = perf_counter()
    words = discounted(problem.pooled, problem.sources, options.discount)
    moving, found, weights = None, None, problem.weights
    if weights is None:
        moving = _MovingWeights(problem, options, words)
        found, weights = moving.found, moving.weights
    else:
        weights = _with_words(weights, problem.sources, words, options)
    climb = _Climb(problem, words, weights)
    history: list[MixtureStep] = []
    for step in range(options.max_iter + 1):
        beta = _temperature(options.inverse_temperature, min(step, max(options.max_iter - 1, 0)))
        history.append(MixtureStep(perf_counter() - began, beta, climb.look(beta)))
        if callback is not None:
            callback(history[-1])
        if step < options.max_iter:
            if moving is not None and options.weight_updates is not None:
                found, weights = moving.move(climb, beta)
            climb.move(beta)
            climb.weigh(weights)
    return MixtureSolution(words, weights, history[-1].bound, found, history)


def discounted(pooled: Pooled, sources: Sources, discount: float) -> CSR:
    """Return P(w|v) ∝ n_vw (1 - discount / number of items with w); fewer than one count as one.

    Sources that pool all categories have no discount.
    """
    words = pooled.sources.copy()
    off = np.where(sources.is_general, 0.0, discount)
    words.data *= 1 - np.repeat(off, np.diff(words.indptr)) / np.maximum(pooled.having.data, 1.0)
    totals = np.asarray(words.sum(axis=1)).ravel()
    words.data /= np.repeat(np.where(totals > 0, totals, 1.0), np.diff(words.indptr))
    return words


def trusted(weights: PathWeights, sources: Sources, trust: float) -> PathWeights:
    """Return weights multiplied by ``trust`` for all sources but those that pool all categories.

    These and the uniform node take the rest in proportion. If they have no weight, nothing changes.
    """
    n_nodes = np.diff(sources.paths.indptr)
    category = np.repeat(np.arange(len(n_nodes)), n_nodes)
    is_below = ~sources.is_general[sources.paths.indices]
    slots, uniform = weights.slots.copy(), weights.uniform.copy()
    below = np.bincount(category, slots * is_below, len(n_nodes))
    above = np.bincount(category, slots * ~is_below, len(n_nodes)) + uniform
    can_give = above > 0
    rise = np.where(can_give, (above + (1 - trust) * below) / np.where(can_give, above, 1.0), 1.0)
    fall = np.where(can_give, trust, 1.0)
    slots *= np.where(is_below, fall[category], rise[category])
    return PathWeights(slots, uniform * rise)


def without_empty(
    weights: PathWeights, sources: Sources, has_words: Bools, has_uniform: bool
) -> PathWeights:
    """Return weights in which sources without words have no weight.

    If no source on a path has words, the uniform node has all the weight, if there is one.
    """
    n_nodes = np.diff(sources.paths.indptr)
    category = np.repeat(np.arange(len(n_nodes)), n_nodes)
    slots = weights.slots * has_words[sources.paths.indices]
    before = np.bincount(category, weights.slots, len(n_nodes)) + weights.uniform
    left = np.bincount(category, slots, len(n_nodes)) + weights.uniform
    factor = np.where(left > 0, before / np.where(left > 0, left, 1.0), 0.0)
    uniform = np.where(left > 0, weights.uniform * factor, before * int(has_uniform))
    return PathWeights(slots * factor[category], uniform)


class _MovingWeights:
    """Path weights that make left-out or held-out items likely, also while words move."""

    def __init__(self, problem: MixtureProblem, options: MixtureOptions, words: CSR) -> None:
        assert problem.items is not None
        self.sources, self.options, self.words = problem.sources, options, words
        items, pooled = problem.items, problem.pooled
        n_items = items.X.shape[0]
        self.is_inside = not isinstance(options.held_out, float) or n_items < 2
        if options.held_out == "word":
            items = items.occurrences()
        if not self.is_inside:
            order = np.random.default_rng(options.seed).permutation(n_items)
            n_held = min(max(1, round(float(options.held_out or 0.0) * n_items)), n_items - 1)
            pooled = pool(items.select(np.sort(order[n_held:])), problem.sources)
            items = items.select(np.sort(order[:n_held]))
        self.counts = count_rows(pooled.categories)
        self.found = estimate(
            items,
            pooled.sources,
            problem.sources,
            sharing=options.path_weights,
            shared_words=options.shared_words,
            has_uniform=options.uniform,
            is_inside=self.is_inside,
            tol=options.tol,
        )
        self.weights = self._used(self.found.weights)

    def move(self, climb: _Climb, beta: float) -> tuple[WeightsSolution, PathWeights]:
        """Re-estimate weights before the words move; return them as found and as used."""
        components = self._left_out(climb, beta)
        weights = self.found.climb
        if self.options.weight_updates == "full":
            self.found = weights.with_components(components).climbed()
        else:
            # [TCPH01, Eq. 7], by responsibilities under the words before the step
            stepped = weights.stepped().with_components(components).solution()
            self.found = replace(stepped, converged=self.found.converged)
        return self.found, self._used(self.found.weights)

    def _left_out(self, climb: _Climb, beta: float) -> Floats:
        """Return P'(w|v) after the step, without the item or without the held-out ones."""
        evidence = self.found.climb.evidence
        n_items, n_words = len(evidence.items.indptr) - 1, evidence.n_words
        mixed = climb.mixed if self.is_inside else climb.mix(self.counts, beta)[1]
        sizes = n_words, n_words, n_words, len(evidence.items.data), n_items
        components = np.zeros(len(evidence.components))
        mixture.leave_out_expected(
            evidence.items,
            evidence.entries,
            evidence.own,
            self.counts,
            climb.sources,
            climb.readers,
            climb.weights.slots,
            beta,
            mixed,
            evidence.first,
            LeaveOutRoom(*map(np.zeros, sizes)),
            components,
        )
        return components

    def _used(self, weights: PathWeights) -> PathWeights:
        trusting = trusted(weights, self.sources, self.options.trust)
        return _with_words(trusting, self.sources, self.words, self.options)


def _with_words(
    weights: PathWeights, sources: Sources, words: CSR, options: MixtureOptions
) -> PathWeights:
    return without_empty(weights, sources, np.diff(words.indptr) > 0, options.uniform)


def _temperature(given: float | Sequence[float], step: int) -> float:
    """Return the inverse temperature of a step."""
    if isinstance(given, (int, float)):
        return float(given)
    return float(given[min(step, len(given) - 1)])


class _Climb:
    """The arrays that steps of EM change in place."""

    def __init__(self, problem: MixtureProblem, words: CSR, weights: PathWeights) -> None:
        self.counts = count_rows(problem.pooled.categories)
        self.sources = count_rows(words)
        self.readers = problem.sources.readers()
        self.room = np.zeros(words.shape[1]), np.zeros(words.shape[1])
        self.mixed = np.zeros(0)
        self.weigh(weights)

    def weigh(self, weights: PathWeights) -> None:
        """Use other path weights from now on."""
        self.weights = weights
        self.uniform = weights.uniform / max(len(self.room[0]), 1)

    def mix(self, counts: Rows, beta: float) -> tuple[float, Floats]:
        """Return the bound of some counts, and Σ_v (P(v|c) P(w|v))^β of all their words."""
        mixed = np.zeros(len(counts.data))
        arrays = counts, self.sources, self.readers, self.weights.slots, self.uniform
        return float(mixture.mix_words(*arrays, beta, self.room[0], mixed)), mixed

    def look(self, beta: float) -> float:
        """Compute P(w|c) for all words of all categories, and return the bound."""
        bound, self.mixed = self.mix(self.counts, beta)
        return bound

    def move(self, beta: float) -> None:
        """Re-estimate the words of sources."""
        arrays = self.counts, self.sources, self.readers, self.weights.slots
        mixture.move_words(*arrays, beta, self.mixed, *self.room)
