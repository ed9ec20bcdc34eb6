"""JSON: a list of nodes and edges, or nested objects.

A list, as ``write`` makes it by default, can represent any taxonomy::

    {"nodes": [{"id": "a", "name": "Animals"}, {"id": "b"}], "edges": [["a", "b"]]}

Names are optional, and so are ``"synonyms"``, ``"definitions"`` and ``"notes"`` of a node, each a
string or a list of strings. ``read`` also accepts ``"parents": ["a"]`` in a node instead of edges,
and nodes without a name need not be listed if they occur in an edge.

Nested objects suit trees; a node with several parents is repeated, with its children given once::

    {"id": "a", "name": "Animals", "children": [{"id": "b"}, {"id": "c"}]}

For several top nodes, use a list of such objects. An object with other keys is read as nested dicts
of names, ``{"Animals": {"Cats": {}, "Dogs": {}}}``; see ``Taxonomy.from_nested``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from taxonomist.errors import FormatError
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.edges import edge_ids
from taxonomist.taxonomy.node_texts import as_data, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_PLAIN_KEYS = frozenset(("id", "name", "parents", "children"))


def read(text: str, *, cycles: str = "error") -> Taxonomy:
    """Read a taxonomy from a JSON document in any of the three forms.

    Parameters
    ----------
    text
        The content of the file.
    cycles
        ``"error"``, or ``"break"`` to leave out edges; see ``Taxonomy.from_edges``.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}: invalid JSON ({error.msg}).") from error
    except RecursionError as error:
        raise FormatError("the objects are nested too deeply; use a list of edges.") from error
    if isinstance(document, dict):
        if any(isinstance(document.get(key), list) for key in ("nodes", "edges")):
            return _from_lists(document.get("nodes", []), document.get("edges", []), cycles)
        # Without this check, the keys of a nested object without an id would become nodes.
        is_object = "id" in document or {"name", "children"} <= document.keys()
        if not is_object:
            return Taxonomy.from_nested(document)
        document = [document]
    if not isinstance(document, list):
        raise FormatError(f"expected an object or a list of objects; got {_shown(document)}.")
    return _from_objects(document, cycles)


def write(taxonomy: Taxonomy, *, nested: bool = False) -> str:
    """Write a taxonomy as a JSON document.

    Parameters
    ----------
    taxonomy
        The taxonomy to write.
    nested
        Write nested objects, which only works for a tree, instead of a list of nodes and edges.
    """
    if not nested:
        return _lists(taxonomy)
    if not taxonomy.is_tree:
        raise FormatError("nested objects need a tree, but a node has several parents.")
    nodes = {node: _object(taxonomy, node) for node in taxonomy.nodes}
    for parent, child in edge_ids(taxonomy):
        nodes[parent].setdefault("children", []).append(nodes[child])
    try:
        return _dumps(nodes[taxonomy.root], indent=1) + "\n"
    except RecursionError as error:
        raise FormatError("the taxonomy is too deep for nesting; use nested=False.") from error


def _lists(taxonomy: Taxonomy) -> str:
    """Return the nodes and the edges as JSON, one on each line."""
    ids = list(map(_quoted, taxonomy.nodes))
    if taxonomy.texts:
        objects = (_dumps(_object(taxonomy, node)) for node in taxonomy.nodes)
        entries = ",\n".join(objects)
    else:
        # Without texts, this is several times as fast.
        names = map(taxonomy.raw_names.get, taxonomy.nodes)
        entries = ",\n".join(
            f'{{"id": {node}}}' if name is None else f'{{"id": {node}, "name": {_quoted(name)}}}'
            for node, name in zip(ids, names, strict=True)
        )
    pairs = ",\n".join(
        f"[{ids[parent]}, {ids[child]}]" for parent, child in taxonomy.edges.tolist()
    )
    return f'{{"nodes": [\n{entries}\n],\n"edges": [\n{pairs}\n]}}\n'


def _from_lists(nodes: Any, edges: Any, cycles: str) -> Taxonomy:
    names: dict[str, str | None] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    pairs: list[tuple[str, str]] = []
    for entry in _list(nodes, "nodes"):
        node = _id_of(entry)
        if node in names:
            raise FormatError(f"the node {node!r} is listed twice; keep one.")
        names[node] = _name_of(entry)
        texts[node] = _texts_of(entry)
        if "parents" in entry:
            pairs += [(_id(parent), node) for parent in _list(entry["parents"], "parents")]
    return _build([*pairs, *_pairs(_list(edges, "edges"))], names, texts, cycles)


def _pairs(edges: list[Any]) -> Iterable[tuple[str, str]]:
    """Yield the edges as pairs of ids."""
    for edge in edges:
        if not isinstance(edge, list) or len(edge) != 2:
            raise FormatError(f"an edge is a list [parent, child]; got {_shown(edge)}.")
        yield _id(edge[0]), _id(edge[1])


def _from_objects(objects: list[Any], cycles: str) -> Taxonomy:
    names: dict[str, str | None] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    edges: list[tuple[str, str]] = []
    stack: list[tuple[str | None, Any]] = [(None, entry) for entry in reversed(objects)]
    while stack:
        parent, entry = stack.pop()
        node = _id_of(entry)
        known, name = names.get(node), _name_of(entry)
        if known and name and known != name:
            raise FormatError(f"{node!r} is named {known!r} and {name!r}; give it one name.")
        names[node] = known or name
        texts[node] = texts.get(node) or _texts_of(entry)
        if parent is not None:
            edges.append((parent, node))
        children = _list(entry.get("children", []), "children")
        stack.extend((node, child) for child in reversed(children))
    return _build(edges, names, texts, cycles)


def _build(
    edges: Iterable[tuple[str, str]],
    names: dict[str, str | None],
    texts: dict[str, dict[str, list[str]]],
    cycles: str,
) -> Taxonomy:
    """Build the taxonomy; all keys of ``names`` are nodes, even without a name."""
    given = {node: name for node, name in names.items() if name}
    told = {node: of_node for node, of_node in texts.items() if of_node}
    return Taxonomy.from_edges(edges, given, nodes=names, cycles=cycles, texts=told)


def _texts_of(entry: Mapping[str, object]) -> dict[str, list[str]]:
    """Return the texts of a node by kind."""
    found: dict[str, list[str]] = {}
    if len(entry) == 1 or entry.keys() <= _PLAIN_KEYS:
        return found
    for key, given in entry.items():
        kind = None if key in _PLAIN_KEYS else kind_of(key)
        if kind is None or given is None:
            continue
        texts = [given] if isinstance(given, str) else _list(given, key)
        for text in texts:
            if not isinstance(text, str):
                raise FormatError(f"a text of {entry['id']!r} is not a string: {_shown(text)}.")
        found.setdefault(kind, []).extend(texts)
    return found


def _id_of(entry: Any) -> str:
    if not isinstance(entry, dict) or "id" not in entry:
        raise FormatError(f'a node is an object with an "id"; got {_shown(entry)}.')
    return _id(entry["id"])


def _id(value: object) -> str:
    if type(value) is str and (text := value.strip()):
        return text
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise FormatError(f"an id must be a non-empty string; got {_shown(value)}.")
    return str(value).strip()


def _name_of(entry: dict[str, Any]) -> str | None:
    name = entry.get("name")
    if name is not None and not isinstance(name, str):
        raise FormatError(f"the name of {entry['id']!r} is not a string: {_shown(name)}.")
    return name


def _list(value: object, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f'"{key}" must be a list; got {_shown(value)}.')
    return value


def _shown(value: object) -> str:
    """Return a value as JSON, shortened for an error message."""
    text = _dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _object(taxonomy: Taxonomy, node: str) -> dict[str, Any]:
    name, texts = taxonomy.raw_names.get(node), taxonomy.texts.get(node)
    said = {"id": node} if name is None else {"id": node, "name": name}
    return said if texts is None else {**said, **as_data(texts)}


_quoted: Callable[[str], str] = json.encoder.encode_basestring
"""Return a string as JSON, in quotes; as ``json.dumps`` without ``ensure_ascii``."""


def _dumps(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
