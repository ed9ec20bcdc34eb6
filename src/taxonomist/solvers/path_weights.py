"""EM for path weights: how likely a category's words come from each node on its path.

Problem       max  Σ_c Σ_w n'_cw log Σ_v P(v|c) P'(w|v)  over distributions P(.|c)   [TCPH01, Eq. 7]
              concave; v runs over the sources on the path of c and the uniform node.
Dual          by concavity, the maximum is at most Σ_c max_v g_cv - Σ_c n'_c above the value
Notation      n'_cw    counts of left-out or held-out items
              P'(w|v)  of the other items, see ``solvers.left_out``                ``components``
              P(v|c)   (n_slots,), a slot for each source on each path             ``slots``
              g_cv     Σ_w n'_cw P'(w|v) / P(w|c), the derivative by P(v|c)        ``pull``
Step          P(v|c) ∝ P(v|c) g_cv [TCPH01, Eq. 5, 7], or with g_cv to the power ``FURTHER``, if the
              value does not fall
Sharing       "level": categories of the same depth have the same weight for the same depth of
              nodes, in equal parts where a path has several nodes of a depth. "class": each has
              weights of its own, starting from the shared ones. "shrunk": the same with
              ``shared_words`` words more that are spread as the shared weights are. A category
              without items keeps the shared weights.
Stopping      when the bound on what is missing is at most ``tol`` per word, or ``MOST_STEPS``
Cost          A step takes the non-zeros of the items times the nodes on a path; memory likewise.
              Shared weights are estimated from ``left_out.MOST_WORDS`` non-zeros at most.
Differences   An item is left out with all its words, and all its labels; the paper does not say. An
              item without which a source has no words says nothing.
References    [TCPH01, Eq. 5, 7]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.solvers.left_out import gather, sampled

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.solvers.left_out import LeftOut
    from taxonomist.solvers.word_counts import CountedItems, Sources

SHARING = ("level", "class", "shrunk")

MOST_STEPS = 2000
"""Most steps of EM; some twenty are usual with many items, hundreds with few."""

FURTHER = 1.9
"""Power of a step. Near the solution, EM may go up to twice as far as it does."""


class PathWeights(NamedTuple):
    """P(v|c): a number for each source on each path, and one for the uniform node."""

    slots: Floats  # (n_slots,)  in the order of ``Sources.paths``
    uniform: Floats  # (n_categories,)


@dataclass(frozen=True)
class WeightsSolution:
    """Path weights, and a bound on their distance from the best ones.

    Attributes
    ----------
    weights
        P(v|c).
    log_likelihood
        Of the left-out or held-out items.
    gap
        The most that is missing to the largest value, per word; with "shrunk", of the value with
        the prior.
    n_iter
        Steps of EM.
    converged
        Whether the gap is small enough.
    history
        Before each step: the value that EM raises.
    climb
        State to continue from when the words of sources have changed.
    """

    weights: PathWeights
    log_likelihood: float
    gap: float
    n_iter: int
    converged: bool
    history: list[float]
    climb: WeightsClimb


class _Ties(NamedTuple):
    """Which weights are equal, and which sum to 1; weights are slots and then uniform nodes."""

    group: Codes  # (n_weights,)
    parts: Floats  # (n_weights,)  nodes among which a group's weight is shared out
    owner: Codes  # (n_groups,)  groups with the same owner sum to 1


@dataclass(frozen=True)
class WeightsClimb:
    """Path weights on their way up, and the evidence that they are judged by.

    Attributes
    ----------
    evidence
        Left-out items.
    ties
        Which weights are equal.
    prior
        What is added to expected counts, (n_groups,).
    tol
        Gap per word at which to stop.
    theta
        The weights of groups, (n_groups,).
    """

    evidence: LeftOut
    ties: _Ties
    prior: Floats
    tol: float
    theta: Floats

    def with_components(self, components: Floats) -> WeightsClimb:
        """Return the same weights, judged by other P'(w|v)."""
        return replace(self, evidence=self.evidence._replace(components=components))

    def stepped(self) -> WeightsClimb:
        """Return the weights after one step of EM [TCPH01, Eq. 7]."""
        look = _look(self.evidence, self.ties, self.theta, self.prior)
        return replace(self, theta=_shared_out(self.theta * look.ratio, self.ties, self.theta))

    def climbed(self) -> WeightsSolution:
        """Return the best weights."""
        history: list[float] = []
        plain = theta = self.theta
        for n_iter in range(MOST_STEPS + 1):
            look = _look(self.evidence, self.ties, theta, self.prior)
            if history and look.value < history[-1]:
                # Too far: the step of EM itself never falls.
                theta = plain
                look = _look(self.evidence, self.ties, theta, self.prior)
            history.append(look.value)
            if look.gap <= self.tol or n_iter == MOST_STEPS:
                break
            plain = _shared_out(theta * look.ratio, self.ties, theta)
            theta = _shared_out(theta * look.ratio**FURTHER, self.ties, theta)
        return _solved(replace(self, theta=theta), look, n_iter, history)

    def solution(self) -> WeightsSolution:
        """Return the weights as they are, with the bound on their distance from the best ones."""
        look = _look(self.evidence, self.ties, self.theta, self.prior)
        return _solved(self, look, 0, [look.value])


def estimate(
    items: CountedItems,
    counts: CSR,
    sources: Sources,
    *,
    sharing: str = "level",
    shared_words: float = 1000.0,
    has_uniform: bool = True,
    is_inside: bool = True,
    tol: float = 1e-3,
) -> WeightsSolution:
    """Return the path weights under which left-out items are most likely.

    Parameters
    ----------
    items
        The items to be left out, or held-out ones.
    counts
        n_vw, (n_sources, n_words) CSR.
    sources
        The sources on the path of each category.
    sharing
        ``"level"``, ``"class"`` or ``"shrunk"``.
    shared_words
        How many words the shared weights are worth, with "shrunk".
    has_uniform
        Whether there is a node above the root with the same probability for all words.
    is_inside
        Whether the items are in the counts, so that they must be left out.
    tol
        Gap per word at which to stop.
    """
    by_level = _ties_by_level(sources, has_uniform)
    sample = sampled(items) if sharing == "level" else items
    evidence = gather(sample, counts, sources, has_uniform, is_inside)
    start = _evenly(by_level)
    shared = WeightsClimb(evidence, by_level, np.zeros(len(start)), tol, start).climbed()
    if sharing == "level":
        return shared
    by_class = _ties_by_class(sources, has_uniform)
    start = np.concatenate(shared.weights)[: len(by_class.group)]
    words = shared_words if sharing == "shrunk" else 0.0
    return WeightsClimb(evidence, by_class, words * start, tol, start).climbed()


class _Look(NamedTuple):
    """The value of weights, its bound, and the next step."""

    weights: PathWeights
    likelihood: float
    value: float  # with the prior
    gap: float  # per word
    ratio: Floats  # (n_groups,)  by which EM multiplies


def _look(evidence: LeftOut, ties: _Ties, theta: Floats, prior: Floats) -> _Look:
    """Return the value of weights, a bound on what is missing, and the next step."""
    weights = _spread(evidence, ties, theta)
    likelihood, pull = evidence.expect(*weights)
    pulls = pull[: len(ties.group)] / ties.parts
    gradient: Floats = np.bincount(ties.group, pulls, len(theta)).astype(np.float64)
    known = theta > 0
    gradient[known] += prior[known] / theta[known]
    n_owners = int(ties.owner.max()) + 1
    totals = np.bincount(ties.owner, theta * gradient, n_owners)
    best = np.zeros(n_owners)
    np.maximum.at(best, ties.owner, gradient)
    gap = float((best - totals).sum()) / max(float(totals.sum()), 1.0)
    whole = totals[ties.owner]
    ratio = np.where(whole > 0, gradient / np.where(whole > 0, whole, 1.0), 1.0)
    value = likelihood + float(prior[known] @ np.log(theta[known]))
    return _Look(weights, likelihood, value, gap, ratio)


def _solved(climb: WeightsClimb, look: _Look, n_iter: int, history: list[float]) -> WeightsSolution:
    found = look.weights, look.likelihood, look.gap
    return WeightsSolution(*found, n_iter, look.gap <= climb.tol, history, climb)


def _shared_out(amounts: Floats, ties: _Ties, theta: Floats) -> Floats:
    """Return amounts divided by the sum of their owner; if that is 0, the given weights."""
    whole = np.bincount(ties.owner, amounts)[ties.owner]
    return np.where(whole > 0, amounts / np.where(whole > 0, whole, 1.0), theta)


def _ties_by_level(sources: Sources, has_uniform: bool) -> _Ties:
    """Return ties between the same depths on the paths of categories of the same depth."""
    paths = sources.paths
    n_categories = paths.shape[0]
    category = np.repeat(np.arange(n_categories), np.diff(paths.indptr))
    level = sources.levels[paths.indices] + 1
    depth = np.zeros(n_categories, dtype=np.intp)
    np.maximum.at(depth, category, level)
    if has_uniform:
        category = np.append(category, np.arange(n_categories))
        level = np.append(level, np.zeros(n_categories, dtype=np.intp))
    width = int(depth.max(initial=0)) + 1
    keys, group = np.unique(depth[category] * width + level, return_inverse=True)
    beside = category * width + level
    _, place, sizes = np.unique(beside, return_inverse=True, return_counts=True)
    _, owner = np.unique(keys // width, return_inverse=True)
    return _Ties(group, sizes[place].astype(np.float64), owner)


def _ties_by_class(sources: Sources, has_uniform: bool) -> _Ties:
    """Return ties in which every weight is a group of its own."""
    n_categories = sources.paths.shape[0]
    owner = np.repeat(np.arange(n_categories), np.diff(sources.paths.indptr))
    if has_uniform:
        owner = np.append(owner, np.arange(n_categories))
    return _Ties(np.arange(len(owner)), np.ones(len(owner)), owner)


def _evenly(ties: _Ties) -> Floats:
    """Return the same weight for all groups of an owner."""
    return 1 / np.bincount(ties.owner)[ties.owner]


def _spread(evidence: LeftOut, ties: _Ties, theta: Floats) -> PathWeights:
    """Return the weights of slots and of uniform nodes."""
    weights = theta[ties.group] / ties.parts
    n_slots = int(evidence.first[-1])
    n_categories = len(evidence.first) - 1
    uniform = weights[n_slots:] if evidence.has_uniform else np.zeros(n_categories)
    return PathWeights(weights[:n_slots].copy(), uniform.copy())
