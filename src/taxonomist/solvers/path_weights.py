"""EM for path weights: how likely a category's words come from each node on its path.

Problem       max  Σ_c Σ_w n'_cw log Σ_v P(v|c) P'(w|v)  over distributions P(.|c)   [TCPH01, Eq. 7]
              concave; v runs over the sources on the path of c and the uniform node.
Dual          by concavity, the maximum is at most Σ_c max_v g_cv - Σ_c n'_c above the value
Notation      n'_cw    counts of left-out or held-out items
              P'(w|v)  of the other items: (n_vw - own part) / (n_v - own part)    ``components``
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
              Shared weights are estimated from ``MOST_WORDS`` non-zeros at most.
Differences   An item is left out with all its words, and all its labels; the paper does not say. An
              item without which a source has no words says nothing.
References    [TCPH01, Eq. 5, 7]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled import mixture
from taxonomist.solvers.word_counts import count_rows, item_parts

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.compiled.arrays import Rows
    from taxonomist.solvers.word_counts import CountedItems, Sources

SHARING = ("level", "class", "shrunk")

MOST_STEPS = 2000
"""Most steps of EM; some twenty are usual with many items, hundreds with few."""

FURTHER = 1.9
"""Power of a step. Near the solution, EM may go up to twice as far as it does."""

MOST_WORDS = 2**18
"""Non-zeros of items from which shared weights are estimated; a quarter million fix them to less
than a hundredth."""


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
    """

    weights: PathWeights
    log_likelihood: float
    gap: float
    n_iter: int
    converged: bool
    history: list[float]


class _Ties(NamedTuple):
    """Which weights are equal, and which sum to 1; weights are slots and then uniform nodes."""

    group: Codes  # (n_weights,)
    parts: Floats  # (n_weights,)  nodes among which a group's weight is shared out
    owner: Codes  # (n_groups,)  groups with the same owner sum to 1


class _Evidence(NamedTuple):
    """The left-out items, and P'(w|v) of their words."""

    items: Rows
    entries: mixture.ItemParts
    components: Floats
    first: Codes
    n_words: int
    has_uniform: bool


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
    evidence = _gather(sample, counts, sources, has_uniform, is_inside)
    start = _evenly(by_level)
    shared = _climb(evidence, by_level, start, np.zeros(len(start)), tol)
    if sharing == "level":
        return shared
    by_class = _ties_by_class(sources, has_uniform)
    start = np.concatenate(shared.weights)[: len(by_class.group)]
    words = shared_words if sharing == "shrunk" else 0.0
    return _climb(evidence, by_class, start, words * start, tol)


def _climb(
    evidence: _Evidence, ties: _Ties, theta: Floats, prior: Floats, tol: float
) -> WeightsSolution:
    """Return the weights that EM finds from a start; ``prior`` is added to expected counts."""
    history: list[float] = []
    plain = theta
    for n_iter in range(MOST_STEPS + 1):
        look = _look(evidence, ties, theta, prior)
        if history and look.value < history[-1]:
            # Too far: the step of EM itself never falls.
            theta = plain
            look = _look(evidence, ties, theta, prior)
        history.append(look.value)
        if look.gap <= tol or n_iter == MOST_STEPS:
            break
        plain = _shared_out(theta * look.ratio, ties, theta)
        theta = _shared_out(theta * look.ratio**FURTHER, ties, theta)
    is_done = look.gap <= tol
    return WeightsSolution(look.weights, look.likelihood, look.gap, n_iter, is_done, history)


class _Look(NamedTuple):
    """The value of weights, its bound, and the next step."""

    weights: PathWeights
    likelihood: float
    value: float  # with the prior
    gap: float  # per word
    ratio: Floats  # (n_groups,)  by which EM multiplies


def _look(evidence: _Evidence, ties: _Ties, theta: Floats, prior: Floats) -> _Look:
    """Return the value of weights, a bound on what is missing, and the next step."""
    weights = _spread(evidence, ties, theta)
    likelihood, pull = _expect(evidence, weights)
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


def _shared_out(amounts: Floats, ties: _Ties, theta: Floats) -> Floats:
    """Return amounts divided by the sum of their owner; if that is 0, the given weights."""
    whole = np.bincount(ties.owner, amounts)[ties.owner]
    return np.where(whole > 0, amounts / np.where(whole > 0, whole, 1.0), theta)


def _expect(evidence: _Evidence, weights: PathWeights) -> tuple[float, Floats]:
    """Return Σ n log P(w|c) and its derivatives by all weights, those of uniform nodes last."""
    slots, uniform = np.zeros(len(weights.slots)), np.zeros(len(weights.uniform))
    likelihood = mixture.expect_weights(
        evidence.items,
        evidence.entries,
        evidence.components,
        evidence.first,
        weights.slots,
        weights.uniform / evidence.n_words,
        slots,
        uniform,
    )
    return float(likelihood), np.concatenate([slots, uniform / evidence.n_words])


def _gather(
    items: CountedItems, counts: CSR, sources: Sources, has_uniform: bool, is_inside: bool
) -> _Evidence:
    """Return P'(w|v) for all words of the items and all nodes on their paths."""
    first = sources.paths.indptr.astype(np.intp)
    entries = item_parts(items, np.diff(first))
    n_items, n_words = items.X.shape
    taken = np.minimum(items.weights, 1.0) if is_inside else np.zeros(n_items)
    own = items.parts(taken) @ sources.pools.T.astype(np.float64)
    entries = entries._replace(shares=entries.shares * _can_tell(items, counts, sources, own))
    components = np.zeros(entries.start[-1])
    mixture.leave_out(
        count_rows(items.X),
        entries,
        count_rows(own.tocsc()),
        count_rows(counts),
        sources.readers(),
        first,
        np.zeros(n_words),
        np.zeros(n_items),
        components,
    )
    return _Evidence(count_rows(items.X), entries, components, first, n_words, has_uniform)


def _can_tell(items: CountedItems, counts: CSR, sources: Sources, own: CSR) -> Floats:
    """Return 0 for entries that leave a source on their path without words, else 1.

    Without its only item, a category's own words have no probabilities, and so no weight.
    """
    from scipy.sparse import csr_array

    totals = np.asarray(counts.sum(axis=1)).ravel()
    lengths = np.repeat(np.asarray(items.X.sum(axis=1)).ravel(), np.diff(own.indptr))
    left = totals[own.indices] - own.data * lengths
    is_last = (left <= mixture.ROUNDING * totals[own.indices]) & (lengths > 0)
    rows = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
    places = rows[is_last], own.indices[is_last]
    empty = csr_array((np.ones(len(places[0])), places), shape=own.shape)
    on_path = csr_array(empty @ sources.paths.T.astype(np.float64))
    mute = items.shares.multiply(on_path > 0).tocoo()
    columns = items.shares.tocsc()
    columns.sort_indices()
    category = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    n_items = columns.shape[0]
    is_mute = np.isin(category * n_items + columns.indices, mute.col * n_items + mute.row)
    return np.where(is_mute, 0.0, 1.0)


def sampled(items: CountedItems) -> CountedItems:
    """Return items with about ``MOST_WORDS`` non-zeros, drawn at random where there are more."""
    order = np.random.default_rng(0).permutation(items.X.shape[0])
    n_words = np.cumsum(np.diff(items.X.indptr)[order])
    if not len(n_words) or n_words[-1] <= MOST_WORDS:
        return items
    return items.select(np.sort(order[: 1 + int(np.searchsorted(n_words, MOST_WORDS))]))


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


def _spread(evidence: _Evidence, ties: _Ties, theta: Floats) -> PathWeights:
    """Return the weights of slots and of uniform nodes."""
    weights = theta[ties.group] / ties.parts
    n_slots = int(evidence.first[-1])
    n_categories = len(evidence.first) - 1
    uniform = weights[n_slots:] if evidence.has_uniform else np.zeros(n_categories)
    return PathWeights(weights[:n_slots].copy(), uniform.copy())
