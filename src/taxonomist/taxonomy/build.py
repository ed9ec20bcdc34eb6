"""From edges, parents, paths and nested dicts to the arrays of a taxonomy.

Codes are a topological order in which a tree's nodes stand in preorder, so every subtree of
a tree is a run of consecutive codes. The order of the input decides among siblings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import TaxonomyError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taxonomist._typing import Codes

ROOT = "ROOT"
"""Id of the root under which several parentless nodes are joined."""


class Arrays(NamedTuple):
    """Ids in code order and the edges in both directions as CSR arrays."""

    ids: tuple[str, ...]
    parent_indptr: Codes
    parent_indices: Codes
    child_indptr: Codes
    child_indices: Codes


def is_artificial(root: str) -> bool:
    """Return whether a root's id says that it only joins others: ``ROOT`` in any case."""
    return root.casefold() == ROOT.casefold()


def as_id(value: object) -> str:
    """Return a node id as a string; integers are accepted since codes are often read as such."""
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        text = str(int(value))
    else:
        kind = type(value).__name__
        raise TaxonomyError(f"Node ids are strings; got {value!r} of type {kind}.")
    if not text:
        raise TaxonomyError("A node id is empty; every node needs an id.")
    return text


def assemble(edges: Iterable[tuple[str, str]], nodes: Iterable[str] = ()) -> Arrays:
    """Return the arrays of the rooted DAG with these (parent, child) edges and further nodes."""
    index: dict[str, int] = {}
    for node in nodes:
        index.setdefault(as_id(node), len(index))
    pairs: dict[tuple[int, int], None] = {}
    for parent_id, child_id in edges:
        parent, child = as_id(parent_id), as_id(child_id)
        if parent == child:
            raise TaxonomyError(f"Node {parent!r} is given as its own parent; remove that edge.")
        pair = index.setdefault(parent, len(index)), index.setdefault(child, len(index))
        if pair in pairs:
            raise TaxonomyError(f"The edge {parent!r} -> {child!r} is given twice; keep one.")
        pairs[pair] = None
    if not index:
        raise TaxonomyError("A taxonomy needs at least one node; no edges and no nodes were given.")
    _join_roots(index, pairs)
    return _arrays(tuple(index), np.array(list(pairs), dtype=np.intp).reshape(-1, 2))


def _join_roots(index: dict[str, int], pairs: dict[tuple[int, int], None]) -> None:
    """Leave one parentless node: attach the others to the artificial root, made if need be."""
    has_parent = {child for _, child in pairs}
    tops = [(node, code) for node, code in index.items() if code not in has_parent]
    if len(tops) == 1:
        return
    artificial = [code for node, code in tops if is_artificial(node)]
    if artificial:
        root = artificial[0]
    elif tops:
        if ROOT in index:
            raise TaxonomyError(
                f"{len(tops)} nodes have no parent ({some([node for node, _ in tops])}) and the id "
                f"{ROOT!r}, under which they would be joined, is taken; rename that node."
            )
        root = index.setdefault(ROOT, len(index))
    else:
        raise _cycle_error(tuple(index), np.array(list(pairs), dtype=np.intp))
    for _, code in tops:
        if code != root:
            pairs[root, code] = None


def _arrays(ids: tuple[str, ...], edges: Codes) -> Arrays:
    """Renumber the nodes in topological order and lay out the edges."""
    n = len(ids)
    child_indptr, child_indices = _group(edges[:, 0], edges[:, 1], n)
    root = int(np.flatnonzero(np.bincount(edges[:, 1], minlength=n) == 0)[0])
    order = _reverse_postorder(root, child_indptr.tolist(), child_indices.tolist())
    position = np.full(n, n, dtype=np.intp)
    position[order] = np.arange(len(order))
    ordered = position[edges]
    if len(order) < n or bool((ordered[:, 0] >= ordered[:, 1]).any()):
        raise _cycle_error(ids, edges)
    child = _group(ordered[:, 0], ordered[:, 1], n)
    by_parent = ordered[np.argsort(ordered[:, 0], kind="stable")]
    parent = _group(by_parent[:, 1], by_parent[:, 0], n)
    return Arrays(tuple(ids[code] for code in order), *parent, *child)


def _group(keys: Codes, values: Codes, n: int) -> tuple[Codes, Codes]:
    """Return ``values`` grouped by key as CSR arrays, in their given order within a key."""
    indptr = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(keys, minlength=n), out=indptr[1:])
    return indptr, values[np.argsort(keys, kind="stable")]


def _reverse_postorder(root: int, indptr: list[int], indices: list[int]) -> list[int]:
    """Return the nodes reachable from ``root``, parents first where there is no cycle."""
    finished: list[int] = []
    seen = {root}
    stack = [(root, indptr[root + 1])]
    while stack:
        node, end = stack.pop()
        while end > indptr[node]:
            end -= 1
            child = indices[end]
            if child not in seen:
                seen.add(child)
                stack.append((node, end))
                stack.append((child, indptr[child + 1]))
                break
        else:
            finished.append(node)
    finished.reverse()
    return finished


def _cycle_error(ids: Sequence[str], edges: Codes) -> TaxonomyError:
    """Return an error that shows one cycle node by node."""
    parents: dict[int, list[int]] = {}
    children: dict[int, list[int]] = {}
    for parent, child in edges.tolist():
        parents.setdefault(child, []).append(parent)
        children.setdefault(parent, []).append(child)
    waiting = {node: len(above) for node, above in parents.items()}
    free = [node for node in range(len(ids)) if node not in waiting]
    while free:
        for child in children.get(free.pop(), ()):
            waiting[child] -= 1
            if not waiting[child]:
                del waiting[child]
                free.append(child)
    # Every node still waiting has a parent still waiting, so walking up must close a cycle.
    walk = [min(waiting)]
    while walk[-1] not in walk[:-1]:
        walk.append(next(parent for parent in parents[walk[-1]] if parent in waiting))
    cycle = walk[walk.index(walk[-1]) + 1 :][::-1]
    first = cycle.index(min(cycle))
    cycle = [*cycle[first:], *cycle[: first + 1]]
    shown = " -> ".join(repr(ids[node]) for node in cycle)
    return TaxonomyError(f"The edges form a cycle: {shown}. Remove one of these edges.")


def edges_from_parents(
    parents: Mapping[str, str | Iterable[str] | None],
) -> Iterator[tuple[str, str]]:
    """Yield the edges of a mapping from child to parent, parents, or nothing (a root)."""
    for child, above in parents.items():
        if above is None:
            continue
        for parent in [above] if isinstance(above, (str, int)) else above:
            yield parent, child


def edges_from_paths(
    paths: Iterable[str | Sequence[str]], sep: str, ids: str
) -> tuple[list[str], list[tuple[str, str]], dict[str, str]]:
    """Return nodes, edges and names of root-to-node paths; see ``Taxonomy.from_paths``."""
    if ids not in ("auto", "name", "path"):
        raise TaxonomyError(f"ids must be 'auto', 'name' or 'path'. Got {ids!r} instead.")
    prefixes: dict[tuple[str, ...], None] = {}
    for path in paths:
        parts = _split_path(path, sep)
        for end in range(1, len(parts) + 1):
            prefixes.setdefault(parts[:end])
    places: dict[str, int] = {}
    for prefix in prefixes:
        places[prefix[-1]] = places.get(prefix[-1], 0) + 1
    glue = f" {sep.strip()} " if sep.strip() else sep

    def node_id(prefix: tuple[str, ...]) -> str:
        alone = ids == "name" or (ids == "auto" and places[prefix[-1]] == 1)
        return prefix[-1] if alone else glue.join(prefix)

    node_of = {prefix: node_id(prefix) for prefix in prefixes}
    if ids != "name" and len(set(node_of.values())) < len(node_of):
        raise TaxonomyError(
            f"Two paths give the same id because a component holds the separator {sep!r}; "
            "choose another sep."
        )
    edges = dict.fromkeys(
        (node_of[prefix[:-1]], node_of[prefix]) for prefix in prefixes if len(prefix) > 1
    )
    names = {node: prefix[-1] for prefix, node in node_of.items() if node != prefix[-1]}
    return list(node_of.values()), list(edges), names


def _split_path(path: str | Sequence[str], sep: str) -> tuple[str, ...]:
    """Return the components of a path, without blanks around them and empty ones at the end."""
    raw = path.split(sep.strip() or sep) if isinstance(path, str) else path
    parts = ["" if part is None else str(part).strip() for part in raw]
    while parts and not parts[-1]:
        parts.pop()
    if not parts:
        raise TaxonomyError(f"A path is empty: {path!r}.")
    if "" in parts:
        raise TaxonomyError(f"Level {parts.index('') + 1} of the path {path!r} is empty.")
    return tuple(parts)


def paths_from_nested(nested: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """Yield every path of a nested dict whose innermost values are dicts, lists, or nothing."""
    stack: list[tuple[tuple[str, ...], object]] = [
        ((str(key),), value) for key, value in reversed(list(nested.items()))
    ]
    while stack:
        path, below = stack.pop()
        yield path
        if below is None or below == "":
            continue
        if isinstance(below, str):
            items: list[tuple[object, object]] = [(below, None)]
        elif hasattr(below, "items"):
            items = list(below.items())
        elif isinstance(below, (list, tuple, set, frozenset)):
            items = [entry for item in below for entry in _entries(item)]
        else:
            raise TaxonomyError(
                f"Below {' > '.join(path)!r} there must be a dict, a list or nothing; "
                f"got {below!r} of type {type(below).__name__}."
            )
        stack.extend(((*path, str(key)), value) for key, value in reversed(items))


def _entries(item: object) -> list[tuple[object, object]]:
    """Return a list's item as (key, below) pairs: a leaf, or the entries of a nested dict."""
    return list(item.items()) if hasattr(item, "items") else [(item, None)]
