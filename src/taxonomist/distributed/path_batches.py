"""Batches of the classifiers of ``DaskPathSVC``: which are trained together, on which rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from taxonomist.distributed.path_parts import sorted_columns
from taxonomist.inference.block_weights import sparse_rows
from taxonomist.models.path_columns import Family, groups_of
from taxonomist.solvers.node_svms import NodeProblems, blocks_of, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Integers, Reals
    from taxonomist.distributed.path_parts import PathPart
    from taxonomist.models.path_columns import ColumnPlan
    from taxonomist.models.path_learning import PathParameters
    from taxonomist.solvers.node_svms import NodeOptions

BATCHES_PER_THREAD = 4
"""How many batches there are for each thread, so that none waits long for the last one."""
LEAST_WORK = 1_000_000
"""Stored values times columns below which a batch is not worth a task of its own."""


class Batch(NamedTuple):
    """Blocks of columns that a task solves.

    Attributes
    ----------
    families
        The family of each block, with the nodes of the block.
    numbers
        The number of each block in the plan.
    seeds
        The seeds of all columns.
    """

    families: list[Family]
    numbers: list[int]
    seeds: Codes


@dataclass(frozen=True)
class Gathering:
    """Families whose rows come together in one place, and the batches that need them.

    Attributes
    ----------
    parents
        The parents of each family.
    batches
        The batches.
    is_split
        Whether the rows are too many for one place; then there is one family, and every block of
        its columns is a batch.
    n_values
        At most so many stored values are needed.
    """

    parents: list[tuple[int, ...]]
    batches: list[Batch] = field(default_factory=list)
    is_split: bool = False
    n_values: int = 0


def batches_of(
    plan: ColumnPlan, values: Codes, n_threads: int, most_values: float = inf
) -> list[Gathering]:
    """Return the batches of a plan.

    A family with more work than a batch should have is split by blocks of columns, and gets a
    gathering of its own. Smaller ones come together.

    Parameters
    ----------
    plan
        The classifiers.
    values
        The number of stored values of each family of the plan.
    n_threads
        The number of threads of all workers.
    most_values
        The most stored values that may come together.
    """
    blocks = blocks_of(plan.first)
    work = (values[blocks.group] + 1) * (blocks.end - blocks.begin)
    share = max(LEAST_WORK, int(work.sum()) // (BATCHES_PER_THREAD * n_threads))
    ends = np.searchsorted(blocks.group, np.arange(len(plan.families) + 1))
    found: list[Gathering] = []
    small: list[int] = []
    n_small = held = 0
    for number, family in enumerate(plan.families):
        own, n_values = np.arange(ends[number], ends[number + 1]), int(values[number])
        total = int(work[own].sum())
        if n_values > most_values:
            batches = [make_batch(plan, [block]) for block in own.tolist()]
            found.append(Gathering([family.parents], batches, True, n_values))
            continue
        if total > share and len(own) > 1:
            portion = np.cumsum(work[own]) * -(-total // share) // (total + 1)
            parts = np.split(own, np.flatnonzero(np.diff(portion)) + 1)
            batches = [make_batch(plan, part.tolist()) for part in parts]
            found.append(Gathering([family.parents], batches, n_values=n_values))
            continue
        if n_small > share or held + n_values > most_values:
            found.append(_together(plan, small, held))
            small, n_small, held = [], 0, 0
        small += own.tolist()
        n_small, held = n_small + total, held + n_values
    return [*found, _together(plan, small, held)] if small else found


def make_batch(plan: ColumnPlan, numbers: list[int]) -> Batch:
    """Return the batch of some blocks of a plan."""
    blocks = blocks_of(plan.first)
    families, seeds = [], [np.arange(0)]
    for number in numbers:
        columns = slice(blocks.begin[number], blocks.end[number])
        family = plan.families[blocks.group[number]]
        families.append(family._replace(nodes=plan.nodes[columns]))
        seeds.append(plan.seeds[columns])
    return Batch(families, numbers, np.concatenate(seeds))


def _together(plan: ColumnPlan, numbers: list[int], n_values: int) -> Gathering:
    """Return the gathering of the families of some blocks, with one batch."""
    group = np.unique(blocks_of(plan.first).group[numbers])
    parents = [plan.families[k].parents for k in group.tolist()]
    return Gathering(parents, [make_batch(plan, numbers)], n_values=n_values)


def fold_batches(plan: ColumnPlan, gathering: Gathering) -> list[tuple[Batch, list[int]]]:
    """Return the batches of a fold that need the rows of a gathering.

    Returns
    -------
    list of pairs
        Each batch, and the numbers of those batches of the gathering that hold its columns.
    """
    home = {
        (family.kind, node): number
        for number, batch in enumerate(gathering.batches)
        for family in batch.families
        for node in family.nodes.tolist()
    }
    blocks = blocks_of(plan.first)
    numbers: dict[int, list[int]] = {}
    needed: dict[int, set[int]] = {}
    for block, begin in enumerate(blocks.begin.tolist()):
        kind = int(plan.kinds[begin])
        places = [home.get((kind, n)) for n in plan.nodes[begin : blocks.end[block]].tolist()]
        if places[0] is not None:
            numbers.setdefault(places[0], []).append(block)
            needed.setdefault(places[0], set()).update(p for p in places if p is not None)
    return [(make_batch(plan, numbers[key]), sorted(needed[key])) for key in sorted(numbers)]


class Solved(NamedTuple):
    """The classifiers of a batch.

    Attributes
    ----------
    families
        As in ``Batch``.
    features, blocks, values
        The feature and the block of each segment of weights, and the weights.
    bias, primal, dual
        The bias and both objectives of each column.
    converged, n_passes
        Whether all blocks reached the tolerance, and the largest number of passes.
    alpha
        The dual variables, (n_items of the gathering, n_columns), or None.
    """

    families: list[Family]
    features: Integers
    blocks: Codes
    values: Reals
    bias: Reals
    primal: Floats
    dual: Floats
    converged: bool
    n_passes: int
    alpha: CSR | None


def solve_batch(
    rows: PathPart,
    batch: Batch,
    starts: Sequence[Solved],
    number: int,
    given: PathParameters,
    options: NodeOptions,
) -> Solved:
    """Solve the blocks of a batch for the training items of a set.

    Parameters
    ----------
    rows
        The rows of the gathering.
    batch
        The blocks.
    starts
        Solutions for set 0 that hold the columns of this batch, for a warm start; none for set 0.
    number
        The number of the set.
    given, options
        Parameters of the classifiers and of the solver.
    """
    used = rows if rows.masks[number].all() else rows.select(np.flatnonzero(rows.masks[number]))
    problem = NodeProblems(
        sparse_rows(used.X),
        used.X.shape[1],
        given.C * used.weights,
        groups_of(sorted_columns(used.closed), batch.families, batch.seeds),
        given.constant,
        given.is_squared,
        used.norms[number],
    )
    begin = _start(batch, starts)[rows.masks[number]] if starts else None
    solution = solve(problem, options, None, begin)
    segments = solution.weights.segments(np.ones(len(batch.numbers), dtype=bool))
    objectives = solution.weights.table.bias, solution.primal, solution.dual
    alpha = None if starts else solution.duals
    return Solved(
        batch.families, *segments, *objectives, solution.converged, solution.n_passes, alpha
    )


def without_duals(solved: Solved) -> Solved:
    """Return what goes back to the driver."""
    return solved._replace(alpha=None)


def _start(batch: Batch, starts: Sequence[Solved]) -> CSR:
    """Return the dual variables of the columns of a batch, (n_items of the gathering, ...)."""
    keys = [key for start in starts for key in columns_of(start.families)]
    places = {key: place for place, key in enumerate(keys)}
    alphas = csr_array(hstack([start.alpha for start in starts]))
    return csr_array(alphas[:, [places[key] for key in columns_of(batch.families)]])


def columns_of(families: Sequence[Family]) -> list[tuple[int, int]]:
    """Return the kind and the node of each column."""
    return [(family.kind, node) for family in families for node in family.nodes.tolist()]
