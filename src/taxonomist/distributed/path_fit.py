"""The fit of ``DaskPathSVC``: rounds of tasks, whose results make an ordinary ``PathSVC``.

1. Every part loads its rows and finds which labels occur. Weights and labels that occur come to
   the driver, which chooses categories and folds.
2. Every part encodes its labels, and counts the items of nodes; sums decide which classifiers
   there are.
3. Every part sends rows to the families that need them. With siblings, an item goes to as many
   families as its path is long. Where the rows of families come together, their classifiers are
   trained, and again without the held-out items of each fold. Where they would not fit on one
   worker, they stay in shards, see ``path_shards``.
4. Weights come to the driver, which fits the blend to the few held-out rows.

The classifiers of a family depend on its items in their order only. So the result is the same as
that of ``PathSVC`` on all items, to the last bit, whatever the parts and workers; those of a family
in shards are the same up to the tolerance.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import pairwise
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist._threads import n_threads
from taxonomist.compiled.arrays import Labels
from taxonomist.distributed.engine import reduce
from taxonomist.distributed.loading import load_parts
from taxonomist.distributed.memory import check_memory, most_values
from taxonomist.distributed.path_batches import (
    batches_of,
    fold_batches,
    solve_batch,
    without_duals,
)
from taxonomist.distributed.path_held_out import HeldOut, tune, without_folds
from taxonomist.distributed.path_parts import (
    PartCounts,
    PathPart,
    add_norms,
    encode_part,
    send_rows,
    squares_after,
)
from taxonomist.distributed.path_shards import SplitFamily
from taxonomist.errors import ParameterError
from taxonomist.inference.block_weights import BlockWeights
from taxonomist.models.learning import Learned, plain_folds
from taxonomist.models.path_columns import PathColumns, families_of, plan_columns
from taxonomist.models.path_learning import (
    chosen_negatives,
    path_taxonomy,
    scorer_of,
    solution_facts,
)
from taxonomist.solvers.node_svms import Groups, NodeSolution, blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Floats, Integers, Reals
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.distributed.loading import PartFacts
    from taxonomist.distributed.path_batches import Batch, Gathering, Solved
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.path_scorer import PathScorer
    from taxonomist.models.learning import Folds
    from taxonomist.models.path_columns import ColumnPlan
    from taxonomist.models.path_svc import PathSVC
    from taxonomist.models.targets import Targets
    from taxonomist.solvers.node_svms import NodeOptions

logger = logging.getLogger(__name__)


class _Data(NamedTuple):
    """The items of all parts, and what is known of them.

    Attributes
    ----------
    parts
        Handles of ``PathPart``.
    first
        The number of the first item of each part, (n_parts + 1,).
    targets
        The categories.
    n_features, n_values
        The numbers of features, and of stored values.
    n_items
        The number of items of each set.
    folds
        Pairs of training and held-out items.
    """

    parts: list[Handle]
    first: Codes
    targets: Targets
    n_features: int
    n_values: int
    n_items: list[int]
    folds: Folds


def fit_paths(engine: Engine, blocks: Sequence[Sequence[Handle]], model: PathSVC) -> PathSVC:
    """Fit a local model to items that are elsewhere.

    Parameters
    ----------
    engine
        The engine.
    blocks
        The blocks of X, of y and of weights.
    model
        The unfitted model; it is fitted and returned.
    """
    started = perf_counter()
    model.check()
    if model.complement:
        raise ParameterError("On a cluster, PathSVC needs complement=False.")
    parts, facts = load_parts(engine, blocks, model)
    check_memory(engine.capacity(), facts.n_bytes)
    (model.n_features_in_,) = facts.n_features
    if facts.feature_names is not None:
        model.feature_names_in_ = facts.feature_names
    data = _encoded(engine, parts, facts, model)
    del parts
    return _Fit(engine, data, model, facts.all_weights, started).run()


def _encoded(engine: Engine, parts: list[Handle], facts: PartFacts, model: PathSVC) -> _Data:
    """Return the data with encoded labels, and with masks and norms of all sets."""
    targets = facts.labels.targets(model.taxonomy)
    weights = facts.all_weights
    first = np.cumsum([0, *map(len, facts.weights)])
    # The model needs to know its categories in order to choose folds.
    model.targets_, model.classes_ = targets, targets.classes
    model.taxonomy_ = targets.categories.taxonomy
    folds = model.tuning_folds(plain_folds(model.cv, weights))
    masks = np.zeros((1 + len(folds), len(weights)), dtype=bool)
    masks[0] = weights > 0
    for number, (train, _) in enumerate(folds, 1):
        masks[number, train] = True
    pieces = [masks[:, begin:end] for begin, end in pairwise(first)]
    shared = engine.scatter(targets), model.n_features_in_
    encoded = engine.map(encode_part, parts, pieces, shared=shared)
    before: list[object] = [[0.0] * len(masks)]
    for part in encoded[:-1]:
        before += engine.map(squares_after, [part], before[-1:])
    normed = engine.map(add_norms, encoded, before, shared=(model.constant,))
    n_items = masks.sum(axis=1).tolist()
    n_values = sum(facts.n_values)
    return _Data(normed, first, targets, model.n_features_in_, n_values, n_items, folds)


class _Fit:
    """A fit whose data is encoded."""

    def __init__(
        self, engine: Engine, data: _Data, model: PathSVC, weights: Floats, started: float
    ) -> None:
        self.engine, self.data, self.model = engine, data, model
        self.weights, self.started = weights, started
        self.taxonomy = path_taxonomy(data.targets)
        self.given = model.path_parameters()
        self.given = self.given._replace(
            negatives=chosen_negatives(self.given.negatives, self.taxonomy, data.n_values)
        )

    def run(self) -> PathSVC:
        """Return the fitted model."""
        model, targets, engine = self.model, self.data.targets, self.engine
        families = families_of(self.taxonomy, self.given.negatives)
        counted = engine.map(PartCounts.of, self.data.parts, shared=(engine.scatter(families),))
        self.counts: PartCounts = engine.gather([reduce(engine, PartCounts.joined, counted)])[0]
        plans = [
            plan_columns(self.taxonomy, self.given.negatives, families, nodes, sizes)
            for nodes, sizes in zip(self.counts.nodes, self.counts.families, strict=True)
        ]
        if not targets.is_single:
            model.label_limits_ = model.limits(self._extremes())
        places = {(family.kind, family.parents): k for k, family in enumerate(families)}
        used = [places[family[:2]] for family in plans[0].families]
        capacity = engine.capacity()
        limits = capacity.n_threads, most_values(capacity)
        gatherings = batches_of(plans[0], self.counts.values[used], *limits)
        solutions = self._solve(gatherings, plans)
        scorer = self._scorer(solutions[0], plans[0], 0)
        facts = solution_facts(solutions[0], model.tol)
        model.store(Learned(scorer, facts), targets)
        held_out = [
            HeldOut(self._scorer(solutions[number], plans[number], number), test)
            for number, (_, test) in enumerate(self.data.folds, 1)
        ]
        for solution in solutions[1:]:
            solution_facts(solution, model.tol)
        held_out = held_out or without_folds(model, np.flatnonzero(self.weights))
        tune(engine, self.data.parts, self.data.first, model, held_out)
        return model

    def _extremes(self) -> Targets:
        """Return targets with one item that has the fewest labels, and one that has the most."""
        targets, sizes = self.data.targets, [int(self.counts.least), int(self.counts.most)]
        indices = np.concatenate([np.arange(size) for size in sizes])
        ends = np.cumsum([0, *sizes])
        shape = len(sizes), len(targets.categories)
        labels = csr_array((np.ones(len(indices), bool), indices, ends), shape=shape)
        return replace(targets, labels=labels)

    def _solve(
        self, gatherings: Sequence[Gathering], plans: Sequence[ColumnPlan]
    ) -> list[NodeSolution]:
        """Return the classifiers of all sets."""
        results: list[list[Handle]] = [[] for _ in plans]
        numbers: list[list[int]] = [[] for _ in plans]
        for gathering in gatherings:
            if not gathering.is_split:
                self._begin(gathering, plans, results, numbers)
        split = [self._split(gathering, plans) for gathering in gatherings if gathering.is_split]
        found = self.engine.gather([handle for handles in results for handle in handles])
        values = iter(found)
        solved = [[next(values) for _ in handles] for handles in results]
        for family in split:
            for number, pairs in enumerate(family):
                solved[number] += [one for _, one in pairs]
                numbers[number] += [block for batch, _ in pairs for block in batch.numbers]
        return [self._joined(*of_set) for of_set in zip(solved, numbers, plans, strict=True)]

    def _begin(
        self,
        gathering: Gathering,
        plans: Sequence[ColumnPlan],
        results: list[list[Handle]],
        numbers: list[list[int]],
    ) -> None:
        """Begin to solve the batches of a gathering; append results, and the numbers of blocks."""
        engine, options = self.engine, self._options()
        pieces = engine.map(send_rows, self.data.parts, shared=(gathering.parents,))
        rows = engine.map(PathPart.joined, [pieces])
        del pieces
        batches = gathering.batches
        none: list[list[Handle]] = [[] for _ in batches]
        shared = 0, self.given, options
        solved = engine.map(solve_batch, rows * len(batches), batches, none, shared=shared)
        results[0] += engine.map(without_duals, solved)
        numbers[0] += [number for batch in batches for number in batch.numbers]
        for fold, plan in enumerate(plans[1:], 1):
            work = fold_batches(plan, gathering)
            starts = [[solved[k] for k in needed] for _, needed in work]
            results[fold] += engine.map(
                solve_batch,
                rows * len(work),
                [batch for batch, _ in work],
                starts,
                shared=(fold, self.given, options),
            )
            numbers[fold] += [number for batch, _ in work for number in batch.numbers]

    def _split(
        self, gathering: Gathering, plans: Sequence[ColumnPlan]
    ) -> list[list[tuple[Batch, Solved]]]:
        """Solve the batches of a gathering whose rows do not fit on one worker."""
        engine, data = self.engine, self.data
        capacity = engine.capacity()
        n_shards = max(capacity.n_threads, ceil(gathering.n_values / most_values(capacity)))
        given = data.n_features, self.given, self._options()
        return SplitFamily(engine, data.parts, gathering, n_shards, *given).solve(plans)

    def _options(self) -> NodeOptions:
        """Return the options of the solver."""
        threads = 1 if self.model.n_jobs is None else n_threads(self.model.n_jobs)
        return replace(self.model.node_options(), n_threads=threads)

    def _joined(
        self, found: Sequence[Solved], numbers: Sequence[int], plan: ColumnPlan
    ) -> NodeSolution:
        """Return the solution of all columns from those of batches."""
        blocks, n_columns = blocks_of(plan.first), len(plan.nodes)
        bias, primal, dual = (
            np.zeros(n_columns, np.float32),
            np.zeros(n_columns),
            np.zeros(n_columns),
        )
        features: list[Integers] = [np.empty(0, np.int32)]
        places: list[Codes] = [np.arange(0)]
        values: list[Reals] = [np.empty(0, np.float32)]
        position = 0
        for solved in found:
            own = np.array(numbers[position : position + len(solved.families)], dtype=np.intp)
            position += len(own)
            where = np.concatenate([np.arange(blocks.begin[k], blocks.end[k]) for k in own])
            bias[where], primal[where], dual[where] = solved.bias, solved.primal, solved.dual
            features.append(solved.features)
            places.append(own[solved.blocks])
            values.append(solved.values)
        weights = BlockWeights.join(
            self.data.n_features,
            np.concatenate(features),
            np.concatenate(places),
            np.concatenate(values),
            blocks.end - blocks.begin,
            bias,
        )
        return NodeSolution(
            weights,
            csr_array((0, n_columns)),
            primal,
            dual,
            all(solved.converged for solved in found),
            max((solved.n_passes for solved in found), default=0),
            perf_counter() - self.started,
        )

    def _scorer(
        self, solution: NodeSolution, plan: ColumnPlan, number: int
    ) -> PathScorer | NodeScorer:
        """Return the scorer of the classifiers of a set."""
        nothing = np.zeros(1, np.intp)
        groups = Groups(nothing[:0], nothing, Labels(nothing, nothing[:0]), nothing, nothing[:0])
        counts = self.counts.nodes[number].astype(float)
        columns = PathColumns(groups, *plan[1:5], counts, self.data.n_items[number])
        return scorer_of(solution.weights, columns, self.data.targets, self.model.beam)
