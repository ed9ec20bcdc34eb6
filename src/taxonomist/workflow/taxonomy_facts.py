"""Counts, findings and differences of taxonomies as plain values."""

from __future__ import annotations

from collections import Counter
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist._unicode import nfkc

if TYPE_CHECKING:
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.taxonomy.edit import TaxonomyDiff

__all__ = ["counts", "differences", "findings", "shown_nodes", "statistics"]


def counts(taxonomy: Taxonomy) -> dict[str, object]:
    """Return the size and shape of a taxonomy; a virtual root counts as a node."""
    return {
        "nodes": taxonomy.n_nodes,
        "leaves": len(taxonomy.leaves),
        "edges": len(taxonomy.edges),
        "tops": len(taxonomy.roots),
        "height": taxonomy.height,
        "tree": taxonomy.is_tree,
        "named": len(taxonomy.raw_names),
    }


def findings(taxonomy: Taxonomy) -> dict[str, object]:
    """Return what is allowed but often a mistake.

    Returns
    -------
    dict
        ``several_parents``: nodes with more than one parent. ``chains``: inner nodes with a single
        child. ``alone``: top nodes without children, if there are several top nodes.
        ``shared_names``: ids by the name they share, ignoring case. ``twins``: ids that differ only
        in Unicode normalisation (NFKC), by the id that they become.
    """
    n_parents, n_children = np.diff(taxonomy.parent_indptr), np.diff(taxonomy.child_indptr)
    chains = np.flatnonzero(n_children[1:] == 1) + 1
    shared: dict[str, list[str]] = {}
    twins: dict[str, list[str]] = {}
    for node, name in zip(taxonomy.nodes, taxonomy.names, strict=True):
        shared.setdefault(" ".join(nfkc(name).split()).casefold(), []).append(node)
        twins.setdefault(nfkc(node), []).append(node)
    return {
        "several_parents": [taxonomy.nodes[code] for code in np.flatnonzero(n_parents > 1)],
        "chains": [taxonomy.nodes[code] for code in chains],
        "alone": [
            node
            for node in taxonomy.roots
            if len(taxonomy.roots) > 1 and not taxonomy.children(node)
        ],
        "shared_names": {taxonomy.name(ids[0]): ids for ids in shared.values() if len(ids) > 1},
        "twins": {node: ids for node, ids in twins.items() if len(ids) > 1},
    }


def statistics(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return the counts, the nodes and leaves at each depth, and statistics of children."""
    nodes = Counter(taxonomy.depths.tolist())
    leaves = Counter(taxonomy.depths[taxonomy.is_leaf].tolist())
    children = np.diff(taxonomy.child_indptr).tolist()
    inner = [number for number in children if number]
    widest = children.index(max(children))
    return {
        **counts(taxonomy),
        "depths": [
            {"depth": depth, "nodes": nodes[depth], "leaves": leaves[depth]}
            for depth in sorted(nodes)
        ],
        "branching": {
            "mean": mean(inner) if inner else 0.0,
            "median": float(median(inner)) if inner else 0.0,
            "max": children[widest],
            "widest": taxonomy.nodes[widest],
        },
    }


def differences(diff: TaxonomyDiff) -> dict[str, object]:
    """Return the changes between two taxonomies."""
    return {
        "same": not diff,
        "added": list(diff.added),
        "removed": list(diff.removed),
        "moved": {
            node: {"from": list(old), "to": list(new)} for node, (old, new) in diff.moved.items()
        },
        "renamed": {node: {"from": old, "to": new} for node, (old, new) in diff.renamed.items()},
    }


def shown_nodes(taxonomy: Taxonomy, depth: int | None, children: int | None) -> dict[str, object]:
    """Return the nodes to show within the limits, in the JSON form that ``Taxonomy.read`` reads.

    ``hidden`` is the number of children of a node that are not shown.
    """
    entries: dict[str, dict[str, Any]] = {}
    level = {taxonomy.root: list[str]()}
    below = 0
    while level:
        following: dict[str, list[str]] = {}
        for node, parents in level.items():
            if node in entries:
                entries[node]["parents"] += parents
                continue
            every = taxonomy.children(node)
            shown = () if depth is not None and below >= depth else every[:children]
            entries[node] = {"id": node, "name": taxonomy.name(node), "parents": parents}
            entries[node]["hidden"] = len(every) - len(shown)
            for child in shown:
                following.setdefault(child, []).append(node)
        level, below = following, below + 1
    return {"nodes": list(entries.values())}
