"""Changed copies of a taxonomy, and the difference between two taxonomies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import ParameterError, TaxonomyError, some
from taxonomist.taxonomy.build import arrange, as_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taxonomist._typing import Bools, Codes, NodeTextsLike
    from taxonomist.taxonomy.core import Taxonomy


def subtree(taxonomy: Taxonomy, node: str) -> Taxonomy:
    """Return the taxonomy of a node and its descendants, with the node as root."""
    keep = np.zeros(taxonomy.n_nodes, dtype=bool)
    keep[taxonomy.codes([node, *taxonomy.descendants(node)])] = True
    return _restrict(taxonomy, keep)


def prune(taxonomy: Taxonomy, labels: Iterable[str]) -> Taxonomy:
    """Return the taxonomy of the given nodes and their ancestors."""
    keep = np.zeros(taxonomy.n_nodes, dtype=bool)
    keep[taxonomy.codes(labels)] = True
    if not keep.any():
        raise TaxonomyError("prune needs at least one label; none was given.")
    kept = bytearray(keep)
    for parent, child in taxonomy.edges[::-1].tolist():
        if kept[child]:
            kept[parent] = 1
    return _restrict(taxonomy, np.frombuffer(kept, dtype=bool))


def truncate(taxonomy: Taxonomy, depth: int) -> Taxonomy:
    """Return the taxonomy without the nodes below a depth."""
    if depth < 0:
        raise ParameterError(f"depth must be 0 or more. Got {depth} instead.")
    return _restrict(taxonomy, taxonomy.depths <= depth)


def collapse_chains(taxonomy: Taxonomy, keep: Iterable[str] = ()) -> Taxonomy:
    """Remove inner nodes with a single child, except the root and the nodes in ``keep``."""
    fixed = {0, *taxonomy.codes(keep).tolist()}
    stand_in = taxonomy.topological_order.copy()
    below: list[dict[int, None]] = [{} for _ in taxonomy.nodes]
    # Bottom up, because replacing children may leave their parent with a single child.
    for code in taxonomy.topological_order[::-1].tolist():
        if len(below[code]) == 1 and code not in fixed:
            stand_in[code] = next(iter(below[code]))
        start, end = taxonomy.parent_indptr[code : code + 2]
        for parent in taxonomy.parent_indices[start:end].tolist():
            below[parent][int(stand_in[code])] = None
    stays = stand_in == taxonomy.topological_order
    kept = np.flatnonzero(stays)
    edges = [(parent, child) for parent in kept.tolist() for child in reversed(below[parent])]
    return _copy(taxonomy, np.array(edges, dtype=np.intp).reshape(-1, 2), kept)


def spanning_tree(taxonomy: Taxonomy, parents: Mapping[str, str] | None) -> Taxonomy:
    """Return a tree in which every node keeps one of its parents."""
    chosen = dict(parents or {})
    for node, parent in chosen.items():
        if parent not in taxonomy.parents(node):
            raise TaxonomyError(
                f"{parent!r} is not a parent of {node!r}; its parents are "
                f"{some(taxonomy.parents(node))}."
            )
    child = np.repeat(taxonomy.topological_order, np.diff(taxonomy.parent_indptr))
    above = taxonomy.parent_indices
    # Sorted by child and then from the deepest parent on; stable, so ties go to the first.
    order = np.lexsort([-taxonomy.depths[above], child])
    kept = above[order][np.unique(child[order], return_index=True)[1]]
    kept[taxonomy.codes(chosen) - 1] = taxonomy.codes(chosen.values())
    edges = np.column_stack([kept, taxonomy.topological_order[1:]])
    return _copy(taxonomy, edges, taxonomy.topological_order)


def with_terminals(taxonomy: Taxonomy, ids: Iterable[str]) -> Taxonomy:
    """Add a terminal child to each interior node among ``ids``."""
    given = list(dict.fromkeys(ids))
    is_leaf = taxonomy.is_leaf[taxonomy.codes(given)].tolist()
    interior = [node for node, leaf in zip(given, is_leaf, strict=True) if not leaf]
    terminals = {}
    for node in interior:
        terminal = f"{node} [self]"
        while terminal in taxonomy:
            terminal += "'"
        terminals[terminal] = node
    n, above = taxonomy.n_nodes, taxonomy.codes(interior)
    new = np.column_stack([above, n + np.arange(len(above))])
    return type(taxonomy).from_arrays(
        arrange((*taxonomy.nodes, *terminals), np.concatenate([taxonomy.edges, new])),
        {**taxonomy.raw_names, **{t: taxonomy.name(node) for t, node in terminals.items()}},
        {**taxonomy.terminals, **terminals},
        dict(taxonomy.texts),
    )


def without_terminals(taxonomy: Taxonomy) -> Taxonomy:
    """Remove the terminal children that ``with_terminals`` added."""
    keep = np.ones(taxonomy.n_nodes, dtype=bool)
    keep[taxonomy.codes(taxonomy.terminals)] = False
    return _restrict(taxonomy, keep)


def rename(
    taxonomy: Taxonomy, ids: Mapping[str, str] | None, names: Mapping[str, str] | None
) -> Taxonomy:
    """Return a copy with new ids and names, both by old id."""
    new = {node: as_id(other) for node, other in (ids or {}).items()}
    taxonomy.codes(new)
    taxonomy.codes(names or {})
    renamed = [new.get(node, node) for node in taxonomy.nodes]
    twice = [node for node, count in Counter(renamed).items() if count > 1]
    if twice:
        raise TaxonomyError(f"After renaming, two nodes would have the id {some(twice)}.")
    edges = [(new.get(parent, parent), new.get(child, child)) for parent, child in _edges(taxonomy)]
    all_names = {**taxonomy.raw_names, **(names or {})}
    return type(taxonomy)(
        edges,
        names={new.get(node, node): name for node, name in all_names.items()},
        nodes=renamed,
        terminals={new.get(t, t): new.get(node, node) for t, node in taxonomy.terminals.items()},
        texts={new.get(node, node): texts for node, texts in taxonomy.texts.items()},
    )


def with_texts(taxonomy: Taxonomy, texts: NodeTextsLike) -> Taxonomy:
    """Return a copy with other texts."""
    return type(taxonomy)(
        _edges(taxonomy),
        names=taxonomy.raw_names,
        nodes=taxonomy.nodes,
        terminals=taxonomy.terminals,
        texts=texts,
    )


@dataclass(frozen=True)
class TaxonomyDiff:
    """The changes from one taxonomy to another.

    Attributes
    ----------
    added, removed
        Ids that only the new, or only the old taxonomy has.
    moved
        Old and new parents of the ids in both taxonomies whose parents differ.
    renamed
        Old and new display name of the ids in both taxonomies whose names differ.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    renamed: Mapping[str, tuple[str, str]]

    def __bool__(self) -> bool:
        """Return whether there is any difference."""
        return bool(self.added or self.removed or self.moved or self.renamed)

    def __str__(self) -> str:
        """Return one line for each difference."""
        lines = [f"+ {node}" for node in self.added]
        lines += [f"- {node}" for node in self.removed]
        lines += [
            f"> {node}: {', '.join(old) or 'top'} -> {', '.join(new) or 'top'}"
            for node, (old, new) in self.moved.items()
        ]
        lines += [f"~ {node}: {old!r} -> {new!r}" for node, (old, new) in self.renamed.items()]
        return "\n".join(lines) or "no difference"


def diff(old: Taxonomy, new: Taxonomy) -> TaxonomyDiff:
    """Return what changes from ``old`` to ``new``."""
    place = old.places_of(new)
    known = old.raw_names.items() ^ new.raw_names.items()
    named = sorted({old.code(node) for node, _ in known if node in old and node in new})
    moved = [old.nodes[code] for code in _moved(old, new, place).tolist()]
    removed = np.bincount(place[place >= 0], minlength=old.n_nodes) == 0
    return TaxonomyDiff(
        tuple(new.nodes[code] for code in np.flatnonzero(place < 0).tolist()),
        tuple(old.nodes[code] for code in np.flatnonzero(removed).tolist()),
        {node: (old.parents(node), new.parents(node)) for node in moved},
        {old.nodes[code]: (old.names[code], new.name(old.nodes[code])) for code in named},
    )


def _moved(old: Taxonomy, new: Taxonomy, place: Codes) -> Codes:
    """Return the codes in ``old`` of the nodes of both taxonomies whose parents differ."""
    is_shared = np.zeros(old.n_nodes, dtype=bool)
    is_shared[place[place >= 0]] = True
    before = old.edges[is_shared[old.edges[:, 1]]]
    edges = new.edges[place[new.edges[:, 1]] >= 0]
    parent, child = place[edges].T
    # Parents that only ``new`` has get numbers that no edge of ``old`` has.
    base = old.n_nodes + new.n_nodes
    after = child * base + np.where(parent < 0, old.n_nodes + edges[:, 0], parent)
    keys = np.sort(np.concatenate([before[:, 1] * base + before[:, 0], after]))
    # An edge of both taxonomies is there twice.
    is_same = keys[1:] == keys[:-1]
    is_once = np.ones(len(keys), dtype=bool)
    is_once[1:] &= ~is_same
    is_once[:-1] &= ~is_same
    is_moved = np.zeros(old.n_nodes, dtype=bool)
    is_moved[keys[is_once] // base] = True
    return np.flatnonzero(is_moved)


def _edges(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    return [(taxonomy.nodes[p], taxonomy.nodes[c]) for p, c in taxonomy.edges.tolist()]


def _restrict(taxonomy: Taxonomy, keep: Bools) -> Taxonomy:
    """Return the taxonomy of the nodes in the mask ``keep`` and the edges between them."""
    edges = taxonomy.edges[keep[taxonomy.edges].all(axis=1)]
    return _copy(taxonomy, edges, np.flatnonzero(keep))


def _copy(taxonomy: Taxonomy, edges: Codes, kept: Codes) -> Taxonomy:
    """Return a taxonomy of these edges and nodes, all given by code, with names and terminals."""
    place = np.zeros(taxonomy.n_nodes, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    ids = tuple(map(taxonomy.nodes.__getitem__, kept.tolist()))
    stays = {*ids}
    return type(taxonomy).from_arrays(
        arrange(ids, place[edges]),
        {node: name for node, name in taxonomy.raw_names.items() if node in stays},
        {t: node for t, node in taxonomy.terminals.items() if t in stays and node in stays},
        {node: texts for node, texts in taxonomy.texts.items() if node in stays},
    )
