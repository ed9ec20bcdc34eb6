"""Word sources of categories: the nodes on their paths, or parts of these nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.solvers.word_counts import Sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes
    from taxonomist.taxonomy import Categories, Taxonomy


def node_sources(categories: Categories) -> Sources:
    """Return one source per node, pooled from all items below it [TCPH01, Sec. 3.2.3].

    Sources are numbered by node code. The path of a category contains its ancestors, then itself.
    """
    taxonomy = categories.expanded
    paths = csr_array(taxonomy.ancestor_matrix()[categories.codes])
    paths.sort_indices()
    return Sources(paths, csr_array(paths.T.tocsr()), taxonomy.depths)


def rest_sources(categories: Categories, without: str = "child") -> tuple[Sources, Codes]:
    """Return sources that exclude items further down the path, and the node of each.

    The source of a node for a category contains the items below the node, but not those of the
    category itself (``without="class"``), or none below its children on the path (``"child"``). In
    a tree, an inner node has one source per category or per child. The source of the category
    itself contains its own items.
    """
    taxonomy = categories.expanded
    whole = node_sources(categories)
    paths = [row.tolist() for row in np.split(whole.paths.indices, whole.paths.indptr[1:-1])]
    if without == "child":
        keys = [[(v, _children_on(taxonomy, v, path)) for v in path] for path in paths]
    else:
        own = categories.codes.tolist()
        keys = [
            [(v, (c,) if v != c else ()) for v in path] for c, path in zip(own, paths, strict=True)
        ]
    found = {key: s for s, key in enumerate(sorted({key for row in keys for key in row}))}
    below = [set(row.tolist()) for row in np.split(whole.pools.indices, whole.pools.indptr[1:-1])]
    pools = [sorted(below[v].difference(*(below[u] for u in children))) for v, children in found]
    nodes = np.array([v for v, _ in found], dtype=np.intp)
    rows = [[found[key] for key in row] for row in keys]
    sources = Sources(
        _marked(rows, len(found)), _marked(pools, len(categories)), taxonomy.depths[nodes]
    )
    return sources, nodes


def _children_on(taxonomy: Taxonomy, node: int, path: list[int]) -> tuple[int, ...]:
    """Return the codes of the children of a node that are on a path."""
    children = taxonomy.child_indices[slice(*taxonomy.child_indptr[node : node + 2])]
    return tuple(sorted(set(children.tolist()).intersection(path)))


def _marked(rows: Sequence[list[int]], n_columns: int) -> CSR:
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row], dtype=np.intp)
    return csr_array((np.ones(len(columns), bool), columns, ends), shape=(len(rows), n_columns))
