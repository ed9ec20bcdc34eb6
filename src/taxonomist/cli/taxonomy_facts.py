"""What the taxonomy commands print: counts, findings, differences, as plain values."""

from __future__ import annotations

from collections import Counter
from statistics import mean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.taxonomy.edit import TaxonomyDiff

__all__ = ["counts", "differences", "findings", "shown_nodes", "statistics"]


def counts(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return the size and shape of a taxonomy; a root that only joins is a node like any."""
    return {
        "nodes": taxonomy.n_nodes,
        "leaves": len(taxonomy.leaves),
        "edges": len(taxonomy.edges),
        "tops": len(taxonomy.roots),
        "height": taxonomy.height,
        "tree": taxonomy.is_tree,
        "named": len(taxonomy.raw_names),
    }


def findings(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return what is legal and may be meant, but is often a mistake.

    Returns
    -------
    dict
        ``several_parents``: nodes with more than one parent. ``chains``: inner nodes with a single
        child. ``alone``: tops without anything below, where there are other tops.
        ``shared_names``: ids by the name that they share, in any case.
    """
    inner = [node for node in taxonomy.nodes if node != taxonomy.root]
    shared: dict[str, list[str]] = {}
    for node, name in zip(taxonomy.nodes, taxonomy.names, strict=True):
        shared.setdefault(" ".join(name.split()).casefold(), []).append(node)
    return {
        "several_parents": [node for node in inner if len(taxonomy.parents(node)) > 1],
        "chains": [node for node in inner if len(taxonomy.children(node)) == 1],
        "alone": [
            node
            for node in taxonomy.roots
            if len(taxonomy.roots) > 1 and not taxonomy.children(node)
        ],
        "shared_names": {taxonomy.name(ids[0]): ids for ids in shared.values() if len(ids) > 1},
    }


def statistics(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return the counts, the nodes and leaves at each depth, and how many children nodes have."""
    nodes = Counter(taxonomy.depths.tolist())
    leaves = Counter(taxonomy.depths[taxonomy.is_leaf].tolist())
    children = {node: len(taxonomy.children(node)) for node in taxonomy.nodes}
    inner = [number for number in children.values() if number]
    widest = max(children, key=lambda node: children[node])
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
            "widest": widest,
        },
    }


def differences(diff: TaxonomyDiff) -> dict[str, Any]:
    """Return what changes from one taxonomy to another."""
    return {
        "same": not diff,
        "added": list(diff.added),
        "removed": list(diff.removed),
        "moved": {
            node: {"from": list(old), "to": list(new)} for node, (old, new) in diff.moved.items()
        },
        "renamed": {node: {"from": old, "to": new} for node, (old, new) in diff.renamed.items()},
    }


def shown_nodes(taxonomy: Taxonomy, depth: int | None, children: int | None) -> dict[str, Any]:
    """Return the nodes that a drawing with these limits shows, in a form ``Taxonomy.read`` reads.

    ``hidden`` counts the children of a node that are left out.
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
