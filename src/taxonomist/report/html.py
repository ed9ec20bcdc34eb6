"""Build HTML safely: all text is escaped unless it is ``Html``."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Html(str):
    """A string that is already HTML."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Html:
    """Return an element.

    Parameters
    ----------
    name
        The element's name.
    *children
        Content: ``Html`` is inserted unchanged, anything else as escaped text.
    **attributes
        Attributes; None is left out. A trailing underscore is removed, as in ``class_``, and other
        underscores become hyphens.

    Returns
    -------
    Html
        The element, with a closing tag.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[object]) -> Html:
    """Concatenate pieces, escaped unless they are ``Html``."""
    return Html("".join(c if isinstance(c, Html) else escape(str(c)) for c in children))


def table(
    caption: object,
    head: Sequence[object],
    rows: Iterable[Html | Sequence[object]],
    *,
    class_: str | None = None,
) -> Html:
    """Return a table whose first column holds the row titles.

    Parameters
    ----------
    caption
        What the table shows.
    head
        Titles of the columns.
    rows
        Cells of each row, or rows as ``Html``.
    class_
        Class of the table.

    Returns
    -------
    Html
        A table in a box that scrolls on narrow screens, whose caption and first column stay in
        place.
    """
    lines = [row if isinstance(row, Html) else _row(row) for row in rows]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", tag("span", caption)),
            tag("thead", tag("tr", *(tag("th", title, scope="col") for title in head))),
            tag("tbody", *lines),
            class_=class_,
        ),
        class_="scroll",
        tabindex=0,
    )


def _row(cells: Sequence[object]) -> Html:
    """Return a row whose first cell is its title."""
    title = tag("th", cells[0], scope="row")
    return tag("tr", title, *(tag("td", cell) for cell in cells[1:]))


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with fixed decimals; a dash for None and NaN."""
    return "–" if value is None or math.isnan(value) else f"{value:z.{digits}f}"


def percent(value: float | None) -> str:
    """Format a fraction in percent; a dash for None and NaN."""
    return "–" if value is None or math.isnan(value) else f"{100 * value:z.1f} %"


def bar(value: float, low: float = math.nan, high: float = math.nan) -> Html:
    """Return a bar from 0 to 1 with an optional interval, hidden from screen readers."""
    if math.isnan(value):
        return Html("")
    parts = [tag("i", class_="fill", style=f"width:{100 * value:.1f}%")]
    if not math.isnan(low):
        style = f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"
        parts.append(tag("i", class_="range", style=style))
    return tag("span", *parts, class_="bar", aria_hidden="true")
