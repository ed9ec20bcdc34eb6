"""Figures on pages: one drawing for light pages and one for dark ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

LIGHT_INK = "#cfd0d0"
"""The colour of letters and lines on dark pages."""


def draw_for_pages(figure: Figure, draft: Path, title: str) -> str:
    """Save a figure as two SVG files without background, and return the Markdown that shows it.

    Parameters
    ----------
    figure
        The figure; its letters and axes are bright afterwards.
    draft
        Path of the files without ``-light.svg`` and ``-dark.svg``, in a folder of the pages.
    title
        What the figure shows, for readers who cannot see it.
    """
    from matplotlib import rc_context

    draft.parent.mkdir(parents=True, exist_ok=True)
    shown = []
    for theme in ("light", "dark"):
        if theme == "dark":
            for artist in _frame_of(figure):
                _brighten(artist)
        target = draft.with_name(f"{draft.name}-{theme}.svg")
        # The same figure gives the same file: ids from a fixed salt, no date.
        with rc_context({"svg.hashsalt": draft.name}):
            figure.savefig(target, transparent=True, metadata={"Date": None})
        shown.append(
            f"```{{image}} /{draft.parent.name}/{target.name}\n"
            f":class: only-{theme} drawn\n:alt: {title}\n```\n"
        )
    return "\n\n" + "\n".join(shown)


def _frame_of(figure: Figure) -> Iterator[Artist]:
    """Yield what is drawn around the data of a figure: axes, labels, legends, black lines."""
    from matplotlib.colors import same_color

    for axes in figure.axes:
        yield from axes.spines.values()
        for axis in (axes.xaxis, axes.yaxis):
            yield axis.label
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                yield from (tick.label1, tick.label2, tick.tick1line, tick.tick2line)
        yield from (line for line in axes.lines if same_color(line.get_color(), "black"))
        for lines in axes.collections:
            colours = lines.get_edgecolor()
            if len(colours) and all(same_color(colour, "black") for colour in colours):
                yield lines
        legend = axes.get_legend()
        if legend is not None:
            yield from legend.get_texts()
            legend.get_frame().set_facecolor("none")


def _brighten(artist: Artist) -> None:
    """Give a line or text the colour for dark pages."""
    if hasattr(artist, "set_markeredgecolor"):
        artist.set_markeredgecolor(LIGHT_INK)
    if hasattr(artist, "set_edgecolor"):
        artist.set_edgecolor(LIGHT_INK)
    elif hasattr(artist, "set_color"):
        artist.set_color(LIGHT_INK)
