"""Shares of the blocks of binary SVMs for threads, and the memory that a share needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled.arrays import Rows, read_only
from taxonomist.compiled.node_jobs import JobRoom, Seeds, Variables
from taxonomist.compiled.node_svm import Scratch
from taxonomist.compiled.vectors import FEW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Codes

PORTIONS = 64
"""Jobs are shared out to threads in about so many portions of equal work."""


class JobSizes(NamedTuple):
    """How large each job is; every array has an entry per job.

    Attributes
    ----------
    n_items, n_entries
        The numbers of items, and of entries of their rows.
    n_features
        The largest possible number of features that occur.
    n_columns
        The number of columns.
    """

    n_items: Codes
    n_entries: Codes
    n_features: Codes
    n_columns: Codes

    @property
    def work(self) -> int:
        """The entries that all jobs visit in one pass, times their columns."""
        return int((self.n_entries * self.n_columns).sum())

    @property
    def widths(self) -> Codes:
        """The number of columns of weights of each job."""
        return widths_for(self.n_columns)

    def portions(self, todo: Codes) -> list[Codes]:
        """Return the jobs to do in portions of about equal work, the largest jobs first."""
        work = ((self.n_entries + 1) * self.n_columns)[todo]
        order = np.argsort(-work, kind="stable")
        portion = np.cumsum(work[order]) * PORTIONS // max(1, int(work.sum()))
        return np.split(todo[order], np.flatnonzero(np.diff(portion)) + 1) if len(order) else []

    def room(self, n_rows: int, n_features: int) -> JobRoom:
        """Return room for any of the jobs, given the numbers of all items and features."""
        is_copied = (self.n_items < n_rows) | (self.n_entries < n_features)
        n_items = self.n_items.max(initial=0, where=is_copied)
        n_entries = self.n_entries.max(initial=0, where=is_copied)
        indptr, indices = np.empty(n_items + 1, np.intp), np.empty(n_entries, np.int32)
        rows = Rows(indptr, indices, np.empty(n_entries, np.float32))
        n_weights = ((self.n_features + 1) * self.widths).max(initial=0)
        n_alphas = (self.n_items * self.n_columns).max(initial=0)
        return JobRoom(
            rows,
            read_only(rows),
            np.empty(self.n_features.max(initial=0), np.int32),
            np.full(n_features, -1, np.int32),
            np.empty(n_weights, np.float32),
            np.empty(n_alphas, np.float32),
            Scratch.of(self.n_items.max(initial=0), self.widths.max(initial=0)),
        )

    def variables(self, jobs: Codes) -> Variables:
        """Return room for the variables of some jobs; pages that stay empty take no memory."""
        n_features = int(self.n_features[jobs].sum())
        n_values = int((self.n_features * self.n_columns)[jobs].sum())
        n_alphas = int((self.n_items * self.n_columns)[jobs].sum())
        return Variables(
            np.empty(n_features, np.int32),
            np.empty(n_values, np.float32),
            np.empty(n_alphas, np.int32),
            np.empty(n_alphas, np.int32),
            np.empty(n_alphas, np.float32),
            np.zeros(3, np.intp),
        )


def widths_for(n_columns: Codes | int) -> Codes:
    """Return how many columns of weights to use for some: there are loops for a few numbers."""
    return np.array(FEW)[np.searchsorted(FEW, n_columns)]


def written(out: Variables) -> Variables:
    """Return the variables that were written, without the room after them."""
    n_features, n_values, n_alphas = out.counts
    return Variables(
        out.features[:n_features].copy(),
        out.values[:n_values].copy(),
        out.items[:n_alphas].copy(),
        out.columns[:n_alphas].copy(),
        out.alphas[:n_alphas].copy(),
        out.counts,
    )


def joined(parts: list[Variables]) -> Variables:
    """Return the variables of all parts, and empty the list: there is never a second copy of all.

    The counts are of no use then, and empty.
    """
    nothing = JobSizes(*[np.arange(0)] * 4).variables(np.arange(0))
    fields = [list(arrays) for arrays in zip(nothing, *parts, strict=True)]
    parts.clear()
    return Variables._make([*map(_moved, fields[:-1]), np.arange(0)])


def _moved(parts: list[NDArray[np.generic]]) -> NDArray[np.generic]:
    """Return arrays one after another; each is freed when it was copied."""
    ends = np.cumsum([len(part) for part in parts]).tolist()
    whole = np.empty(ends[-1], parts[0].dtype)
    for number, end in enumerate(ends):
        whole[end - len(parts[number]) : end] = parts[number]
        parts[number] = parts[0][:0]
    return whole


def mixed_seeds(random_state: int, seeds: Codes) -> Seeds:
    """Return seeds above 0 that depend on the random state too."""
    first = np.random.default_rng(random_state).integers(1, 2**63, dtype=np.uint64)
    steps = (seeds.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return (first + steps) | np.uint64(1)


def start_rows(start: CSR | None) -> Rows:
    """Return the dual variables of a start as rows; without one, no rows."""
    if start is None:
        nothing = np.zeros(1, np.intp), np.empty(0, np.int32), np.empty(0, np.float32)
        return read_only(Rows(*nothing))
    indptr, indices = start.indptr.astype(np.intp), start.indices.astype(np.int32)
    return read_only(Rows(indptr, indices, start.data.astype(np.float32)))
