"""The taxonomy as an expandable tree, drawn on demand by a script on the page."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

from taxonomist.report.html import Html, join, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.taxonomy import Taxonomy

N_WORDS = 12
"""Number of words to show per node."""


def tree_section(
    assessment: Assessment,
    taxonomy: Taxonomy,
    words: Mapping[str, Sequence[tuple[str, float]]] | None,
) -> Html:
    """Return controls, an empty tree, and the data to fill it.

    The page holds the numbers of the nodes instead of their elements, so that even ten thousand
    nodes open immediately.

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
    data = _json(_data(assessment, taxonomy, words or {}))
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


def _data(
    assessment: Assessment, taxonomy: Taxonomy, words: Mapping[str, Sequence[tuple[str, float]]]
) -> dict[str, object]:
    """Return a list for each property of the nodes, in the order of the taxonomy."""
    starts = taxonomy.child_indptr.tolist()
    below = taxonomy.child_indices.tolist()
    nodes = assessment.nodes
    code = {node: i for i, node in enumerate(taxonomy.nodes)}
    return {
        "ids": taxonomy.nodes,
        "names": [n if n != i else 0 for n, i in zip(taxonomy.names, taxonomy.nodes, strict=True)],
        "children": [below[a:b] for a, b in pairwise(starts)],
        "support": [0, *(node.support for node in nodes)],
        "predicted": [0, *(node.predicted for node in nodes)],
        "found": [0, *(node.found for node in nodes)],
        "takenFor": [0, *([[code[b], n] for b, n in node.taken_for] or 0 for node in nodes)],
        "words": [[str(word) for word, _ in words.get(n, ())[:N_WORDS]] or 0 for n in code],
    }


def _json(data: Mapping[str, object]) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # These escapes are equivalent in JSON strings, and keep tags from ending the element early.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
