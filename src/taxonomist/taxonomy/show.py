"""Draw a taxonomy as a text tree or as collapsible HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist._terminals import visible_line
from taxonomist.errors import ParameterError
from taxonomist.taxonomy import labels as label_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Codes, LabelsLike
    from taxonomist.taxonomy.core import Taxonomy


DRAWN_DEPTH = 50
"""Depth from which on lines show their depth instead of all bars."""

LAST_BARS = 10
"""Number of bars in front of lines beyond that depth."""


class _Line(NamedTuple):
    """One node to draw, or a note about nodes that are left out."""

    text: str
    depth: int
    is_last: bool
    has_below: bool


def to_text(
    taxonomy: Taxonomy, max_depth: int | None, max_children: int | None, labels: LabelsLike | None
) -> str:
    """Return a text tree with one line per node."""
    lines = []
    bars: list[str] = []
    for line in _lines(taxonomy, max_depth, max_children, labels):
        del bars[max(line.depth - 1, 0) :]
        if line.depth == 0:
            lines.append(line.text)
        else:
            lines.append(_indent(bars) + ("└── " if line.is_last else "├── ") + line.text)
            bars.append("    " if line.is_last else "│   ")
    return "\n".join(lines)


def _indent(bars: list[str]) -> str:
    """Return the bars in front of a line; far down, the depth and only the last bars.

    All bars of a chain of 10,000 nodes would take 200 MB.
    """
    if len(bars) < DRAWN_DEPTH:
        return "".join(bars)
    return f"[depth {len(bars) + 1:,}] " + "".join(bars[-LAST_BARS:])


def to_html(
    taxonomy: Taxonomy, max_depth: int | None, max_children: int | None, labels: LabelsLike | None
) -> str:
    """Return nested ``<details>`` elements, the top two levels open."""
    parts = ['<div class="taxonomist-tree" style="font-family:sans-serif;line-height:1.5">']
    open_depths: list[int] = []
    for line in _lines(taxonomy, max_depth, max_children, labels):
        while open_depths and open_depths[-1] >= line.depth:
            open_depths.pop()
            parts.append("</details>")
        margin = f"margin-left:{1.2 if line.depth else 0}em"
        if line.has_below:
            state = " open" if line.depth < 1 else ""
            parts.append(f'<details{state} style="{margin}"><summary>{escape(line.text)}</summary>')
            open_depths.append(line.depth)
        else:
            parts.append(f'<div style="{margin};padding-left:1em">{escape(line.text)}</div>')
    parts.extend("</details>" for _ in open_depths)
    parts.append("</div>")
    return "".join(parts)


def _lines(
    taxonomy: Taxonomy, max_depth: int | None, max_children: int | None, labels: LabelsLike | None
) -> Iterator[_Line]:
    """Yield the lines in preorder; a node with several parents is expanded only once."""
    for limit, value in (("max_depth", max_depth), ("max_children", max_children)):
        if value is not None and value < 0:
            raise ParameterError(f"{limit} must be 0 or more, or None. Got {value} instead.")
    counts = None if labels is None else node_counts(taxonomy, labels)
    drawn: set[int] = set()
    stack: list[tuple[int, int, bool]] = [(0, 0, True)]
    while stack:
        code, depth, is_last = stack.pop()
        if code < 0:
            yield _Line(f"… {-code} more", depth, is_last, False)
            continue
        text = _title(taxonomy, code, counts)
        below = taxonomy.child_indices[
            taxonomy.child_indptr[code] : taxonomy.child_indptr[code + 1]
        ].tolist()
        again = code in drawn and bool(below)
        if again:
            text += " (see above)"
        elif below and max_depth is not None and depth >= max_depth:
            text += f" [{len(below)} below]"
        else:
            drawn.add(code)
            shown = below if max_children is None else below[:max_children]
            rest = len(below) - len(shown)
            entries = [*shown, -rest] if rest else shown
            yield _Line(text, depth, is_last, bool(entries))
            stack.extend(
                (entry, depth + 1, position == 0)
                for position, entry in enumerate(reversed(entries))
            )
            continue
        yield _Line(text, depth, is_last, False)


def _title(taxonomy: Taxonomy, code: int, counts: Codes | None) -> str:
    node, name = taxonomy.nodes[code], taxonomy.names[code]
    title = visible_line(node if name == node else f"{node}  {name}")
    return title if counts is None else f"{title}  ({counts[code]:,})"


def node_counts(taxonomy: Taxonomy, labels: LabelsLike) -> Codes:
    """Return the number of items labelled at or below each node."""
    closed = label_codes.close(taxonomy, label_codes.encode_sets(taxonomy, labels, name="labels"))
    return np.bincount(closed.indices, minlength=taxonomy.n_nodes)
