"""Dual coordinate ascent for binary problems that are coupled through shared attributes.

Problem       min_{w, ξ}  ½ ||w||² + Σ_i Σ_r C_ir ξ_ir
              s.t.  s_ir f(x_i, r) >= 1 - ξ_ir,  ξ_ir >= 0,
              with  f(x, r) = Σ_z λ_z(r) <w_z, φ(x)>  [CH04, Eq. 22]
Dual          max_α  Σ α_ir - ½ ||w(α)||²,  w_z(α) = Σ α_ir s_ir λ_z(r) φ(x_i),
              0 <= α_ir <= C_ir
Notation
    i     item            n_items        x_i   ``items``
    r     category        n_categories   s_ir  +1 if r is in ``labels`` of i, else -1
    z     attribute       n_attributes   Λ     ``attributes`` (n_categories x n_attributes)
    C_ir  ``costs[i]``, for s_ir = +1 times ``positive_weight[r]``
    G_ir  1 - s_ir f(x_i, r), the gradient of the dual
Step          Full pass: an item is scored at all attributes at once; then α_ir moves to
              clip(α_ir + G_ir / (k(x_i, x_i) ||Λ(r)||²), 0, C_ir) for one category after another
              of those with α_ir > 0 or G_ir > 0, up to three times if they share attributes, and
              the weights are updated once. Active passes between full ones do so only for the
              categories with α_ir > 0 after the last full pass, which needs the scores of few
              attributes.
Stopping      The certificate at fixed weights: the duality gap, which bounds the distance of either
              objective from the optimum, or the largest projected gradient of the dual.
Threads       Sets of categories that share no attribute are independent problems: the branches
              below a root without weights, or single categories if attributes are flat. They are
              split into at most ``MOST_PARTS`` parts, for any number of threads; a thread works on
              one part at a time.
Cost          Full pass O(nnz n_attributes + n_items Σ_r |Λ(r)|), active pass O(nnz × attributes in
              use). Memory: α is dense, 8 n_items n_categories bytes; weights n_features (in dual
              form n_items) x n_attributes. Each part stores its own columns of both, and the
              solution is a copy, so that at the end the larger of the two is in memory twice.
Differences   The paper states the problem only.
References    [CH04, Eq. 22]
"""

from __future__ import annotations

import heapq
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from taxonomist.compiled import binary
from taxonomist.compiled.arrays import Attributes, Findings, Labels, Rows, no_rows
from taxonomist.solvers.solution import Certificate, Options, Pass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.solvers.problem import Items

    T = TypeVar("T")

MOST_PARTS = 8
LEAST_SIZE = 64
"""Least number of categories plus attributes of a part, on average: narrow rows of weights are
slow."""
WHOLE_VECTORS = 8
"""The length of rows of weights is rounded up to a multiple of this."""
NEARLY = 1.5
"""If the estimate is within this factor of the tolerance, compute a certificate. Estimates are
mostly too high, since they date from before each item was solved."""
MUCH_BETTER = 0.25
"""Active passes end when the gap of the active categories, or the violation, is this part of that
before them."""
MOST_ACTIVE_PASSES = 64


@dataclass(frozen=True)
class BinaryProblem:
    """Binary problems over items, one for each category, coupled by shared attributes.

    Attributes
    ----------
    items
        The rows of the items.
    labels
        The categories of each item: (n_items, n_categories) boolean CSR.
    costs
        C_i of each item, finite.
    attributes
        Λ, (n_categories, n_attributes) CSR.
    positive_weight
        What C_i is multiplied by for the items that have a category, (n_categories,); ``None`` is
        1 for each.
    """

    items: Items
    labels: CSR
    costs: Floats
    attributes: CSR
    positive_weight: Floats | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[0])

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return int(self.attributes.shape[0])


@dataclass(frozen=True)
class BinarySolution:
    """The weights, the dual variables, and the certificate.

    Attributes
    ----------
    W
        Unscaled weights w, (n_features, n_attributes); in dual form the coefficients of the
        kernel expansion, (n_items, n_attributes).
    alpha
        α, (n_items, n_categories).
    certificate
        Bounds of the objective at ``W`` and ``alpha``; its violation is the largest projected
        gradient of the dual.
    converged
        Whether the certificate is as good as the options asked.
    history
        One entry a full pass, and one for each certificate.
    """

    W: Reals
    alpha: Floats
    certificate: Certificate
    converged: bool
    history: list[Pass] = field(default_factory=list)


def solve(
    problem: BinaryProblem,
    options: Options,
    callback: Callable[[Pass], object] | None = None,
    start: Floats | None = None,
) -> BinarySolution:
    """Return the solution of coupled binary problems.

    Parameters
    ----------
    problem
        What to solve.
    options
        Tolerance, limits, seed, threads.
    callback
        Called with each entry of the history; a true answer stops.
    start
        Dual variables to begin at, (n_items, n_categories), cut off at the costs of this problem.
    """
    with ThreadPoolExecutor(options.n_threads) as pool:
        state = _State(problem, options, pool, callback)
        if start is not None:
            state.begin_at(start)
        for _ in range(options.max_iter):
            if state.wants_stop or state.is_solved():
                break
            state.active_passes()
            state.full_pass()
        return state.solution(state.certificate or state.certify())


def split_categories(attributes: CSR) -> list[Codes]:
    """Return categories in parts that share no attribute.

    Parameters
    ----------
    attributes
        Λ, (n_categories, n_attributes) CSR.

    Returns
    -------
    list of Codes
        Codes of categories in ascending order: as many parts as there are, up to ``MOST_PARTS``
        and as far as they are wide enough, of about the same size.
    """
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    graph = block_array([[None, attributes], [attributes.T, None]])
    _, component = connected_components(graph, directed=False)
    sizes = np.bincount(component)
    mine = component[: attributes.shape[0]]
    own = np.unique(mine)
    n_parts = int(sizes[own].sum()) // LEAST_SIZE
    n_parts = min(max(n_parts, 1), MOST_PARTS, len(own))
    lightest = [(0, part) for part in range(n_parts)]
    part_of = np.zeros(len(sizes), dtype=np.intp)
    for number in own[np.argsort(-sizes[own], kind="stable")]:
        size, part_of[number] = lightest[0]
        heapq.heapreplace(lightest, (size + int(sizes[number]), int(part_of[number])))
    return [np.flatnonzero(part_of[mine] == part) for part in range(n_parts)]


class _Part:
    """Categories that share no attribute with others, with their weights and dual variables."""

    def __init__(
        self, problem: BinaryProblem, categories: Codes, row_of: Codes, dtype: DTypeLike
    ) -> None:
        n_items = problem.n_items
        own = problem.attributes[categories]
        self.categories, self.columns = categories, np.unique(own.indices)
        self.arrays = _arrays(problem, categories, own[:, self.columns], row_of)
        width = len(self.columns) + -len(self.columns) % WHOLE_VECTORS
        self.W = np.zeros((problem.items.n_weights, width), dtype=dtype)
        self.alpha = np.zeros((n_items, len(categories)))
        self.findings = Findings(*np.zeros((4, n_items)))

    def list_active(self) -> int:
        """Make the categories with a positive α active; return the number of these α."""
        n_active = int(np.count_nonzero(self.alpha))
        indptr = np.zeros(len(self.alpha) + 1, dtype=np.intp)
        self.active = Labels(indptr, np.zeros(n_active, dtype=np.intp))
        binary.list_positive(self.alpha, *self.active)
        return n_active

    def inspect(self, items: Codes, rows: Rows) -> None:
        """Write the findings about items at fixed weights."""
        arrays = self.arrays._replace(rows=rows)
        binary.inspect(items, arrays, self.W, self.alpha, self.findings, self._scratch())

    def sweep(self, items: Codes, rows: Rows) -> float:
        """Inspect and solve all categories of items; return the gain."""
        arrays = self.arrays._replace(rows=rows)
        return binary.sweep(items, arrays, self.W, self.alpha, self.findings, self._scratch())

    def visit(self, items: Codes, rows: Rows) -> tuple[float, float, float]:
        """Solve the active categories of items; return gain, gap and violation."""
        arrays = self.arrays._replace(rows=rows)
        return binary.visit(items, arrays, self.active, self.W, self.alpha, self._scratch())

    def begin_at(self, alpha: Floats) -> None:
        """Start from dual variables, clipped to the costs of this problem."""
        own = np.zeros(self.alpha.shape, dtype=bool)
        labels = self.arrays.labels
        own[np.repeat(np.arange(len(own)), np.diff(labels.indptr)), labels.indices] = True
        most = self.arrays.costs[:, None] * np.where(own, self.arrays.positive_weight, 1.0)
        np.clip(alpha[:, self.categories], 0.0, most, out=self.alpha)
        self.list_active()

    def rebuild(self, items: Codes, rows: Rows) -> None:
        """Add the weights that follow from the dual variables of items."""
        arrays = self.arrays._replace(rows=rows)
        binary.rebuild(items, arrays, self.active, self.W, self.alpha, self._scratch())

    def _scratch(self) -> binary.BinaryScratch:
        return binary.binary_scratch(self.arrays, self.W)


def _arrays(
    problem: BinaryProblem, categories: Codes, attributes: CSR, row_of: Codes
) -> binary.BinaryArrays:
    """Return the arrays for the compiled loops, as yet without rows."""
    labels = problem.labels[:, categories]
    weight = problem.positive_weight
    return binary.BinaryArrays(
        rows=no_rows(),
        row_of=row_of,
        labels=Labels(labels.indptr.astype(np.intp), labels.indices.astype(np.intp)),
        costs=problem.costs,
        positive_weight=np.ones(len(categories)) if weight is None else weight[categories],
        norms=problem.items.norms,
        attributes=Attributes(
            attributes.indptr.astype(np.intp),
            attributes.indices.astype(np.intp),
            attributes.data.astype(np.float64),
            np.empty((0, 0)),
        ),
        squares=np.asarray(attributes.power(2).sum(axis=1), dtype=np.float64).ravel(),
        dual_form=problem.items.dual_form,
    )


class _State:
    """The state of the solver between passes."""

    def __init__(
        self,
        problem: BinaryProblem,
        options: Options,
        pool: ThreadPoolExecutor,
        callback: Callable[[Pass], object] | None,
    ) -> None:
        self.problem, self.options, self.pool, self.callback = problem, options, pool, callback
        self.rng = np.random.default_rng(options.random_state)
        self.started = perf_counter()
        self.dtype = np.dtype(np.float64 if problem.items.dual_form else options.dtype)
        self.row_of = np.zeros(problem.n_items, dtype=np.intp)
        self.parts = [
            _Part(problem, categories, self.row_of, self.dtype)
            for categories in split_categories(problem.attributes)
        ]
        self.nearly = replace(options, tol=NEARLY * options.tol)
        self.dual = 0.0
        self.estimate = Certificate(np.inf, 0.0, np.inf, np.inf)
        self.certificate: Certificate | None = None
        self.history: list[Pass] = []
        self.wants_stop = False

    def begin_at(self, alpha: Floats) -> None:
        """Start from the dual variables of a similar problem."""
        self._run(_Part.begin_at, alpha)
        for batch in self.problem.items.batches():
            self._run(_Part.rebuild, batch, self._rows(batch))
        self.certify()

    def is_solved(self) -> bool:
        """Return whether the certificate meets the tolerance."""
        return self.certificate is not None and self.certificate.reaches(self.options)

    def active_passes(self) -> None:
        """Solve items at their active categories until their gap, or the violation, is small."""
        if sum(self._run(_Part.list_active)) == 0:
            return
        self.certificate = None
        target = MUCH_BETTER * self._measure(self.estimate)
        for _ in range(MOST_ACTIVE_PASSES):
            gap = worst = 0.0
            for group in self._groups():
                for gain, share, violation in self._run(_Part.visit, group, self._rows(group)):
                    self.dual += gain
                    gap += share
                    worst = max(worst, violation)
            if self._measure(_bounds(self.dual + gap, self.dual, worst)) <= target:
                break

    def full_pass(self) -> None:
        """Solve all items at all categories; certify if the estimate is near the tolerance."""
        self.certificate = None
        for group in self._groups():
            self.dual += sum(self._run(_Part.sweep, group, self._rows(group)))
        found = self._findings()
        primal = self.dual + found.primal - found.dual
        self.estimate = _bounds(primal, self.dual, found.violation)
        self._record(self.estimate)
        if self.estimate.reaches(self.nearly):
            self.certify()

    def certify(self) -> Certificate:
        """Inspect all items at fixed weights, and return the certificate that follows."""
        for batch in self.problem.items.batches():
            rows = self._rows(batch)
            chunks = np.array_split(batch, self.options.n_threads)
            jobs = [(part, chunk, rows) for part in self.parts for chunk in chunks]
            self._run_jobs(_Part.inspect, jobs)
        self.certificate = self.estimate = self._findings()
        self.dual = self.certificate.dual
        self._record(self.certificate)
        return self.certificate

    def solution(self, certificate: Certificate) -> BinarySolution:
        """Return the solution of all parts; they are deleted one by one to save memory."""
        problem = self.problem
        W = np.zeros((problem.items.n_weights, problem.attributes.shape[1]), self.dtype)
        for part in self.parts:
            W[:, part.columns] = part.W[:, : len(part.columns)]
            del part.W
        alpha = np.zeros((problem.n_items, problem.n_categories))
        for part in self.parts:
            alpha[:, part.categories] = part.alpha
            del part.alpha
        return BinarySolution(W, alpha, certificate, self.is_solved(), self.history)

    def _groups(self) -> list[Codes]:
        """Return all items in random order, in groups whose rows fit into memory together."""
        return self.problem.items.groups(self.rng, max(1, self.problem.n_items))

    def _rows(self, group: Codes) -> Rows:
        return self.problem.items.rows(group, self.row_of)

    def _run(self, work: Callable[..., T], *arguments: object) -> list[T]:
        """Call a function with each part, in threads; return the results."""
        return self._run_jobs(work, [(part, *arguments) for part in self.parts])

    def _run_jobs(self, work: Callable[..., T], jobs: Sequence[tuple[object, ...]]) -> list[T]:
        """Call a function with each job, in threads; return the results."""
        if self.options.n_threads == 1 or len(jobs) == 1:
            return [work(*job) for job in jobs]
        return list(self.pool.map(lambda job: work(*job), jobs))

    def _findings(self) -> Certificate:
        """Return the certificate that holds if the weights were fixed while inspecting."""
        slack, linear, squared = (
            float(sum(getattr(part.findings, name).sum() for part in self.parts))
            for name in ("slack", "linear", "quadratic")
        )
        worst = (part.findings.violation.max(initial=0.0) for part in self.parts)
        violation = float(max(worst, default=0.0))
        return _bounds(squared / 2 + slack, linear - squared / 2, violation)

    def _measure(self, known: Certificate) -> float:
        """Return the gap or the violation, whichever the tolerance is for."""
        return known.gap if self.options.stop == "gap" else known.violation

    def _record(self, known: Certificate) -> None:
        """Add to the history, and ask the callback whether to stop."""
        entry = Pass(
            seconds=perf_counter() - self.started,
            primal=known.primal,
            dual=known.dual,
            violation=known.violation,
            n_active=sum(int(np.count_nonzero(part.alpha)) for part in self.parts),
            is_exact=self.certificate is not None,
        )
        self.history.append(entry)
        self.wants_stop |= self.callback is not None and bool(self.callback(entry))


def _bounds(primal: float, dual: float, violation: float) -> Certificate:
    """Return a certificate with the relative gap."""
    gap = (primal - dual) / primal if primal > 0 else 0.0
    return Certificate(primal, dual, gap, violation)
