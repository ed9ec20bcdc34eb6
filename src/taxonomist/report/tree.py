"""The taxonomy as an expandable tree, drawn on demand by a script on the page."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.report.html import Html, join, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.taxonomy import Taxonomy

N_WORDS = 12
"""Number of words to show per node."""

MOST_PLAIN = 10_000
"""Number of nodes up to which they are not packed."""

BLOCK_SIZE = 1_000
"""Number of nodes in a packed block."""

MOST_PACKED = 2_700_000
"""Bytes of packed nodes beyond which they have fewer words; a page stays below 3 MB."""


def tree_section(
    assessment: Assessment,
    taxonomy: Taxonomy,
    words: Mapping[str, Sequence[tuple[str, float]]] | None,
) -> Html:
    """Return controls, an empty tree, and the data to fill it.

    The page holds the numbers of the nodes instead of their elements, so that even ten thousand
    nodes open immediately. Beyond that they are packed in blocks, which the script unpacks as
    branches are opened, and nodes have as many words as fit.

    Parameters
    ----------
    assessment
        Results by node.
    taxonomy
        The taxonomy of the nodes.
    words
        Words of some nodes with their weights, most telling first.

    Returns
    -------
    Html
        The content of the section.
    """
    data = _json(page_data(assessment, taxonomy, words or {}))
    kinds = {"found": "found", "missed": "missed", "added": "wrongly predicted"}
    legend = [tag("span", title, class_=f"key {kind}") for kind, title in kinds.items()]
    heads = ("category", "outcome", "F1", "items", "precision", "recall")
    controls = join(
        [
            Html('<label>Find <input id="find" type="search" placeholder="a category"></label>'),
            tag(
                "label",
                "Order ",
                tag(
                    "select",
                    tag("option", "of the taxonomy", value="own"),
                    tag("option", "lowest F1 first", value="f1"),
                    tag("option", "most items first", value="items"),
                    id="order",
                ),
            ),
            tag("span", *legend, class_="legend"),
        ]
    )
    return join(
        [
            tag("div", controls, class_="controls"),
            tag("ul", id="matches", class_="matches"),
            tag("div", *(tag("span", head) for head in heads), class_="row head"),
            tag("div", id="tree", class_="tree"),
            tag("noscript", tag("p", "Enable JavaScript to show the tree.")),
            Html(f'<script type="application/json" id="data">{data}</script>'),
        ]
    )


def page_data(
    assessment: Assessment, taxonomy: Taxonomy, words: Mapping[str, Sequence[tuple[str, float]]]
) -> dict[str, object]:
    """Return what the page holds of the nodes: a list for each property, or packed blocks."""
    if taxonomy.n_nodes <= MOST_PLAIN:
        order = range(taxonomy.n_nodes)
        return {**_columns(assessment, taxonomy, order), "words": _words(taxonomy, words, order)}
    # By depth, so that the children of a node are in one block, or in few.
    by_depth = np.argsort(taxonomy.depths, kind="stable").tolist()
    columns = _columns(assessment, taxonomy, by_depth)
    blocks: list[str] = []
    for n_words in (N_WORDS, N_WORDS // 2, N_WORDS // 4, 0):
        columns["words"] = _words(taxonomy, words, by_depth, n_words)
        blocks = [
            _packed({name: column[at : at + BLOCK_SIZE] for name, column in columns.items()})
            for at in range(0, taxonomy.n_nodes, BLOCK_SIZE)
        ]
        if sum(map(len, blocks)) <= MOST_PACKED:
            break
    return {"n_nodes": taxonomy.n_nodes, "size": BLOCK_SIZE, "blocks": blocks}


def _words(
    taxonomy: Taxonomy,
    words: Mapping[str, Sequence[tuple[str, float]]],
    order: Sequence[int],
    n_words: int = N_WORDS,
) -> list[list[str] | int]:
    """Return the first words of each node, or 0 where there are none."""
    first = (words.get(taxonomy.nodes[code], ())[:n_words] for code in order)
    return [[str(word) for word, _ in each] or 0 for each in first]


def _columns(
    assessment: Assessment, taxonomy: Taxonomy, order: Sequence[int]
) -> dict[str, Sequence[object]]:
    """Return a list for each property of the nodes, which are numbered in the given order."""
    starts = taxonomy.child_indptr.tolist()
    place = dict(zip(order, range(len(order)), strict=True))
    below = [place[child] for child in taxonomy.child_indices.tolist()]
    above = [taxonomy.parent_indices[start] for start in taxonomy.parent_indptr[1:-1]]
    nodes = [None, *assessment.nodes]
    page = {node: place[code] for code, node in enumerate(taxonomy.nodes)}
    columns: dict[str, Sequence[object]] = {
        "ids": list(taxonomy.nodes),
        "names": [n if n != i else 0 for n, i in zip(taxonomy.names, taxonomy.nodes, strict=True)],
        "children": [below[a:b] for a, b in pairwise(starts)],
        "parent": [-1, *(place[int(code)] for code in above)],
        "support": [node.support if node else 0 for node in nodes],
        "predicted": [node.predicted if node else 0 for node in nodes],
        "found": [node.found if node else 0 for node in nodes],
        "takenFor": [
            [[page[b], n] for b, n in node.taken_for] or 0 if node else 0 for node in nodes
        ],
    }
    return {name: [column[code] for code in order] for name, column in columns.items()}


def _packed(data: Mapping[str, object]) -> str:
    """Return JSON, compressed by raw DEFLATE, in base64."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Texts can hold lone surrogates, which no encoding can represent.
    return b64encode(zlib.compress(text.encode("utf-8", "replace"), 6, -15)).decode("ascii")


def _json(data: Mapping[str, object]) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # These escapes are equivalent in JSON strings, and keep tags from ending the element early.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
