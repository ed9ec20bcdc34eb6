"""Build the arrays of a taxonomy from edges, parents, paths and nested dicts.

Codes follow a topological order. On a tree this is preorder, so every subtree is a run of
consecutive codes. Siblings keep the order of the input.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from itertools import chain, count
from operator import eq, ne
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.errors import CycleError, TaxonomyError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taxonomist._typing import Codes

ROOT = "ROOT"
"""Id of the virtual root that is added above several parentless nodes."""

_TOP = -1
"""Stands for the parent of the first component of a path."""

_LISTS = (list, tuple, set, frozenset)

_MAX_CYCLE_NODES = 40
"""Error messages cut the middle out of cycles with more nodes than this."""


class Arrays(NamedTuple):
    """Ids in code order and the edges in both directions as CSR arrays."""

    ids: tuple[str, ...]
    parent_indptr: Codes
    parent_indices: Codes
    child_indptr: Codes
    child_indices: Codes


def is_artificial(root: str) -> bool:
    """Return whether the id marks a virtual root, that is, ``ROOT`` in any case."""
    return root.casefold() == ROOT.casefold()


def as_id(value: object) -> str:
    """Return a node id as a stripped string; integers are accepted too."""
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


def is_missing(value: object) -> bool:
    """Return whether a cell is empty: None, NaN, a pandas null, or white space."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def texts_by_id(names: dict[Any, Any]) -> dict[str, str]:
    """Return the names that are not missing and not equal to the id, as strings, by node id.

    Without names that repeat the id, round trips through files are exact.
    """
    texts = names.values()
    if {*map(type, names)} | {*map(type, texts)} <= {str}:
        is_plain = all(names) and not any(map(ne, names, map(str.strip, names)))
        if is_plain and all(map(str.strip, texts)) and not any(map(eq, names, texts)):
            return names
    given = {as_id(key): str(name) for key, name in names.items() if not is_missing(name)}
    return {node: name for node, name in given.items() if name != node}


def is_table(values: object) -> bool:
    """Return whether this is a 2-d array, a sparse matrix or a data frame."""
    return len(getattr(values, "shape", ())) == 2


def rows(values: Any) -> Any:
    """Return an iterable over rows; iterating over a data frame itself would yield its columns."""
    return np.asarray(values, dtype=object) if is_table(values) else values


def assemble(edges: Iterable[tuple[str, str]], nodes: Iterable[str] = ()) -> Arrays:
    """Return the arrays of the rooted DAG with these (parent, child) edges and extra nodes."""
    first = list(map(as_id, nodes))
    given = list(rows(edges))
    ends = _plain_ends(given)
    ids, codes = _numbered(first, _checked_ends(given) if ends is None else ends)
    if not ids:
        raise TaxonomyError("A taxonomy needs at least one node; no edges and no nodes were given.")
    if has_repeats(codes[:, 0] * len(ids) + codes[:, 1]):
        _checked_ends(given)
    return arrange(ids, codes)


def _numbered(first: list[str], ends: list[str]) -> tuple[tuple[str, ...], Codes]:
    """Return the distinct ids in order of appearance, and the edges as places among them."""
    # A new id gets the next number where it is looked up first.
    number: defaultdict[str, int] = defaultdict(count().__next__)
    deque(map(number.__getitem__, first), maxlen=0)
    codes = np.fromiter(map(number.__getitem__, ends), dtype=np.intp, count=len(ends))
    return tuple(number), codes.reshape(-1, 2)


def has_repeats(numbers: Codes) -> bool:
    """Return whether a number occurs twice; sorting is faster here than ``numpy.unique``."""
    in_order = np.sort(numbers)
    return bool((in_order[1:] == in_order[:-1]).any())


def arrange(ids: tuple[str, ...], edges: Codes) -> Arrays:
    """Return the arrays of distinct edges, which are given as places in ``ids``."""
    return _arrays(*_join_roots(ids, edges))


def _plain_ends(edges: list[Any]) -> list[str] | None:
    """Return parent, child, parent, child, ...; None if an edge is not plainly right.

    ``_checked_ends`` looks at one edge after the other, and says which of them is wrong.
    """
    if not {*map(type, edges)} <= {tuple, list} or not {*map(len, edges)} <= {2}:
        return None
    try:
        ends = list(map(str.strip, chain.from_iterable(edges)))
    except TypeError:
        return None
    parents, children = ends[::2], ends[1::2]
    return ends if all(ends) and not any(map(eq, parents, children)) else None


def _checked_ends(edges: list[Any]) -> list[str]:
    """Return parent, child, parent, child, ...; raise for the first edge that is wrong."""
    pairs: dict[tuple[str, str], None] = {}
    for edge in edges:
        parent, child = _ends(edge)
        if parent == child:
            raise CycleError(f"Node {parent!r} is given as its own parent. Remove that edge.")
        if (parent, child) in pairs:
            raise TaxonomyError(f"The edge {parent!r} -> {child!r} is given twice; keep one.")
        pairs[parent, child] = None
    return list(chain.from_iterable(pairs))


def _ends(edge: Any) -> tuple[str, str]:
    if not isinstance(edge, (tuple, list, np.ndarray)) or len(edge) != 2:
        raise TaxonomyError(f"An edge is a pair (parent, child); got {edge!r}.")
    return as_id(edge[0]), as_id(edge[1])


def _join_roots(ids: tuple[str, ...], edges: Codes) -> tuple[tuple[str, ...], Codes]:
    """Ensure a single root: attach all parentless nodes to ``ROOT``, creating it if needed."""
    tops = np.flatnonzero(np.bincount(edges[:, 1], minlength=len(ids)) == 0)
    if len(tops) == 1:
        return ids, edges
    if not len(tops):
        raise _cycle_error(ids, edges)
    root = next((code for code in tops.tolist() if is_artificial(ids[code])), len(ids))
    if root == len(ids):
        if ROOT in ids:
            shown = some([ids[code] for code in tops.tolist()])
            raise TaxonomyError(
                f"{len(tops)} nodes have no parent ({shown}) and the id "
                f"{ROOT!r}, under which they would be joined, is taken; rename that node."
            )
        ids = (*ids, ROOT)
    below = tops[tops != root]
    return ids, np.concatenate([edges, np.column_stack([np.full_like(below, root), below])])


def _arrays(ids: tuple[str, ...], edges: Codes) -> Arrays:
    """Renumber the nodes in topological order and lay out the edges."""
    n = len(ids)
    child_indptr, child_indices = _group(edges[:, 0], edges[:, 1], n)
    root = int(np.flatnonzero(np.bincount(edges[:, 1], minlength=n) == 0)[0])
    order = _reverse_postorder(root, child_indptr.tolist(), child_indices.tolist())
    position = np.full(n, n, dtype=np.intp)
    position[order] = np.arange(len(order))
    ordered = position[edges]
    # Unreachable nodes share one position; they contain a cycle.
    if bool((ordered[:, 0] >= ordered[:, 1]).any()):
        raise _cycle_error(ids, edges)
    child = _group(ordered[:, 0], ordered[:, 1], n)
    by_parent = ordered[np.argsort(ordered[:, 0], kind="stable")]
    parent = _group(by_parent[:, 1], by_parent[:, 0], n)
    return Arrays(tuple(map(ids.__getitem__, order)), *parent, *child)


def _group(keys: Codes, values: Codes, n: int) -> tuple[Codes, Codes]:
    """Return ``values`` grouped by key as CSR arrays, in their given order within a key."""
    indptr = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(keys, minlength=n), out=indptr[1:])
    return indptr, values[np.argsort(keys, kind="stable")]


def _reverse_postorder(root: int, indptr: list[int], indices: list[int]) -> list[int]:
    """Return the nodes reachable from ``root``, parents first where there is no cycle."""
    finished: list[int] = []
    is_seen = bytearray(len(indptr) - 1)
    is_seen[root] = 1
    # Children are visited from the last to the first; those from ``ends`` on have been.
    ends = indptr[1:]
    stack = [root]
    while stack:
        node = stack[-1]
        start, end = indptr[node], ends[node]
        while end > start:
            end -= 1
            child = indices[end]
            if not is_seen[child]:
                is_seen[child] = 1
                ends[node] = end
                stack.append(child)
                break
        else:
            finished.append(stack.pop())
    finished.reverse()
    return finished


def _cycle_error(ids: Sequence[str], edges: Codes) -> CycleError:
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
    walk: dict[int, None] = {}
    node = min(waiting)
    while node not in walk:
        walk[node] = None
        node = next(parent for parent in parents[node] if parent in waiting)
    upwards = list(walk)
    cycle = upwards[upwards.index(node) :][::-1]
    first = cycle.index(min(cycle))
    shown = [repr(ids[node]) for node in (*cycle[first:], *cycle[: first + 1])]
    if len(shown) > _MAX_CYCLE_NODES:
        half = _MAX_CYCLE_NODES // 2
        shown = [*shown[:half], f"({len(shown) - 2 * half} more)", *shown[-half:]]
    path = " -> ".join(shown)
    return CycleError(f"The edges form a cycle: {path}. Remove one of these edges.")


def edges_from_parents(parents: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield the edges of a mapping from child to its parent, several parents, or None."""
    for child, above in parents.items():
        several = hasattr(above, "__iter__") and not isinstance(above, (str, bytes))
        for parent in above if several else [above]:
            if not is_missing(parent):
                yield parent, child


def edges_from_paths(
    paths: Iterable[str | Sequence[str]], sep: str, ids: str
) -> tuple[list[str], list[tuple[str, str]], dict[str, str]]:
    """Return nodes, edges and names of root-to-node paths; see ``Taxonomy.from_paths``."""
    if ids not in ("auto", "name", "path"):
        raise TaxonomyError(f"ids must be 'auto', 'name' or 'path'. Got {ids!r} instead.")
    if isinstance(paths, str):
        raise TaxonomyError(f"paths must be a list of paths. Got {paths!r}; pass [{paths!r}].")
    # A place is a position in the tree of paths, keyed by its parent place and its component.
    places: dict[tuple[int, str], int] = {}
    for path in rows(paths):
        place = _TOP
        for part in _split_path(path, sep):
            place = places.setdefault((place, part), len(places))
    above = [parent for parent, _ in places]
    parts = [part for _, part in places]
    uses = Counter(parts)
    glue = f" {sep.strip()} " if sep.strip() else sep

    def node_id(place: int) -> str:
        if ids == "name" or (ids == "auto" and uses[parts[place]] == 1):
            return parts[place]
        path = [parts[place]]
        while (place := above[place]) != _TOP:
            path.append(parts[place])
        return glue.join(reversed(path))

    nodes = [node_id(place) for place in range(len(places))]
    if ids != "name" and len(set(nodes)) < len(nodes):
        raise TaxonomyError(
            f"Two paths give the same id because a component contains the separator {sep!r}; "
            "choose another sep."
        )
    pairs = zip(above, nodes, strict=True)
    edges = dict.fromkeys((nodes[parent], node) for parent, node in pairs if parent != _TOP)
    names = {node: part for node, part in zip(nodes, parts, strict=True) if node != part}
    return nodes, list(edges), names


def _split_path(path: Any, sep: str) -> list[str]:
    """Return the stripped components of a path without trailing empty ones."""
    raw = path.split(sep.strip() or sep) if isinstance(path, str) else path
    if not hasattr(raw, "__iter__"):
        raise TaxonomyError(f"A path is a string or a sequence of components; got {path!r}.")
    parts = ["" if is_missing(part) else str(part).strip() for part in raw]
    while parts and not parts[-1]:
        parts.pop()
    if not parts:
        raise TaxonomyError(f"A path is empty: {path!r}.")
    if "" in parts:
        raise TaxonomyError(f"Level {parts.index('') + 1} of the path {path!r} is empty.")
    return parts


def paths_from_nested(nested: object) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every leaf of nested dicts and lists."""
    stack: list[tuple[tuple[Any, ...], object]] = [((), nested)]
    while stack:
        path, below = stack.pop()
        items = _entries(path, below)
        if path and not items:
            yield path
        stack.extend(((*path, key), value) for key, value in reversed(items))


def _entries(path: tuple[Any, ...], below: object) -> list[tuple[Any, object]]:
    """Return the keys directly below a path, each with its own content."""
    if below is None or below == "":
        return []
    if isinstance(below, str):
        return [(below, None)]
    if hasattr(below, "items"):
        return list(below.items())
    if isinstance(below, _LISTS) and not any(isinstance(item, _LISTS) for item in below):
        return [
            entry
            for item in below
            for entry in (item.items() if hasattr(item, "items") else [(item, None)])
        ]
    place = f"Below {' > '.join(map(str, path))!r}" if path else "At the top"
    raise TaxonomyError(
        f"{place} there must be a dict, a list of names and dicts, or nothing; "
        f"got {below!r} of type {type(below).__name__}."
    )
