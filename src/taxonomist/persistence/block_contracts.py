"""What weights in blocks, and the scorers that use them, must satisfy before they are used.

Only small arrays are read. Features of weights are checked when they are first looked up, see
``BlockWeights``: files are opened without reading all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from taxonomist._typing import Integers
    from taxonomist.compiled.block_scores import WeightBlocks
    from taxonomist.features.term_table import TermTable
    from taxonomist.inference.block_scorer import BlockScorer
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.path_scorer import PathScorer

__all__ = ["FAULTS", "are_ends"]


def _faults_of_blocks(table: WeightBlocks) -> Iterator[str]:
    """Yield the names of arrays that do not fit the others."""
    floats = ("float32",)
    dtypes = ("intp",), ("int32",), ("intp",), ("intp",), floats, ("float32", "int16"), floats
    for name, array, known in zip(table._fields, table, dtypes, strict=True):
        if not _is_vector(array, *known):
            yield name
            return
    n_blocks = len(table.first) - 1
    if not (are_ends(table.first, len(table.bias)) and len(table.scale) == n_blocks):
        yield "first"
    elif not are_ends(table.indptr, len(table.features)) or len(table.indptr) != n_blocks + 1:
        yield "indptr"
    elif len(table.start) != n_blocks:
        yield "start"
    else:
        sizes = np.diff(table.indptr) * np.diff(table.first)
        if not ((table.start >= 0) & (table.start <= len(table.values) - sizes)).all():
            yield "start"
    if not np.isfinite(table.scale).all():
        yield "scale"


def _faults_of_terms(table: TermTable) -> Iterator[str]:
    """Yield the names of arrays that do not fit."""
    if not (_is_vector(table.text, "uint8") and _is_vector(table.ends, "int64")):
        yield "text"


def _faults_of_weights(weights: BlockWeights) -> Iterator[str]:
    """Yield what of the weights does not fit."""
    if not (type(weights.table).__name__ == "WeightBlocks" and weights.n_features >= 0):
        yield "table"


def _faults_of_paths(scorer: PathScorer) -> Iterator[str]:
    """Yield the names of attributes of a scorer by paths that do not fit the others."""
    n_nodes, n_columns = scorer.taxonomy.n_nodes, scorer.weights.n_columns
    n_categories = len(scorer.category_nodes)
    for name in ("above", "beside"):
        columns = getattr(scorer, name)
        if not (columns.shape == (n_nodes,) and _are_within(columns + 1, n_columns + 1)):
            yield name
    if not _are_within(scorer.category_nodes, n_nodes):
        yield "category_nodes"
    if scorer.counts.shape != (n_categories,):
        yield "counts"
    if scorer.has_typical and n_columns < n_categories:
        yield "weights"
    yield from _faults_of_nodes(scorer)


def _faults_of_nodes(scorer: BlockScorer | NodeScorer) -> Iterator[str]:
    """Yield the names of attributes of a scorer by nodes that do not fit the others."""
    if scorer.nodes.shape != (scorer.weights.n_columns,) or scorer.nodes.min(initial=0) < 0:
        yield "nodes"


def _is_vector(array: object, *dtypes: str) -> bool:
    """Return whether a value is a vector of one of some dtypes, in the order of this machine."""
    if not (isinstance(array, np.ndarray) and array.ndim == 1 and array.flags.c_contiguous):
        return False
    return array.dtype in [np.dtype(name) for name in dtypes]


def are_ends(ends: NDArray[np.intp], last: int) -> bool:
    """Return whether numbers grow from 0 to the last one."""
    return bool(
        len(ends) > 0 and ends[0] == 0 and ends[-1] == last and (ends[1:] >= ends[:-1]).all()
    )


def _are_within(codes: Integers, n: int) -> bool:
    return codes.ndim == 1 and bool(((codes >= 0) & (codes < n)).all())


FAULTS: dict[str, Callable[..., Iterator[str]]] = {
    "BlockWeights": _faults_of_weights,
    "NodeScorer": _faults_of_nodes,
    "PathScorer": _faults_of_paths,
    "TermTable": _faults_of_terms,
    "WeightBlocks": _faults_of_blocks,
}
"""Functions that yield what does not fit, by the name of the class."""
