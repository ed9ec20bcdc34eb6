"""The page that leads to all results: what held, what did not and why, then every verdict."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from taxonomist import __version__
from taxonomist.experiments.contents import LISTED
from taxonomist.experiments.contents_page import VERDICTS, count_verdicts, summary
from taxonomist.experiments.work import peers
from taxonomist.experiments.writing import NOT_CORRECTED, TOO_FEW, after_holm, markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from taxonomist.experiments.declarations import Judgement
    from taxonomist.experiments.records import Record

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "hiclass", "omikuji")
HOW_JUDGED = (
    "A claim holds, **yes**, where a paired permutation test or an interval says so at the level "
    "of 0.05; **no** where it says the contrary; and else it is **within noise**. Tests use the "
    "averages that the tables show, and an item counts once, however often it was drawn. A claim "
    "about every row needs a significant difference in every row, and one about most rows in more "
    "than half of them; in brackets is in how many rows the averages agree with it. *After Holm* "
    "is the verdict with p-values corrected for the number of claims of the paper; claims that an "
    f"interval decides are not corrected ({NOT_CORRECTED}), and "
    f"*{TOO_FEW}* stands where all repeats agree, but are so few that no p-value could be smaller."
)


def write_index(
    out: Path,
    found: Mapping[str, Sequence[Record]],
    titles: Mapping[str, str],
    listed: Sequence[str],
) -> None:
    """Write the page that lists the existing tables and figures, with verdicts.

    Parameters
    ----------
    out
        The folder to write to.
    found
        The records of each paper that has any.
    titles
        The authors, titles and years of these papers.
    listed
        The papers that have a page of their contents.
    """
    sections = [_section(key, found[key], titles[key], key in listed) for key in found]
    details = [f"### Verdicts on {key}\n\n{_verdicts(records)}" for key, records in found.items()]
    lines = [
        "# The papers' tables and figures",
        "The experiments of the papers behind the models, run again. "
        "First what held here, what did not, and why; then every table, figure and claim.",
        _counts(found, titles, listed),
        *_together(found),
        HOW_JUDGED,
        *sections,
        "## Every verdict",
        f"Made by `taxonomist reproduce` on {os.cpu_count()} cores ({', '.join(_versions())}). "
        "Each line leads to a table or figure, with the seconds of its work (what several of them "
        "share is counted in each), the paper's numbers beside ours, and the figures behind the "
        "verdicts.",
        *details,
    ]
    (out / "index.md").write_text("\n\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _counts(
    found: Mapping[str, Sequence[Record]], titles: Mapping[str, str], listed: Sequence[str]
) -> str:
    """Return the numbers of verdicts of each paper, and of all papers with a list together."""
    rows = [["", "claims", *VERDICTS, *(f"{verdict}, after Holm" for verdict in VERDICTS)]]
    rows += [
        [f"[{key}](#{key.lower()}): {titles[key]}", *count_verdicts(made)]
        for key, made in found.items()
    ]
    if len(listed) > 1:
        together = [record for key in listed for record in found[key]]
        rows.insert(1 + len(listed), [f"**{' + '.join(listed)}**", *count_verdicts(together)])
    return markdown_table(rows)


def _together(found: Mapping[str, Sequence[Record]]) -> list[str]:
    """Return what held and what did not in all papers together, if all of them were run."""
    if not set(LISTED) <= set(found):
        return []
    text = summary("ALL", [record for records in found.values() for record in records])
    return [text] if text else []


def _section(key: str, records: Sequence[Record], title: str, is_listed: bool) -> str:
    """Return what held and what did not in a paper."""
    parts = [f"## {key}", f"*{title}.*", summary(key, records)]
    if is_listed:
        parts.append(
            f"[Every model, equation, algorithm, table, figure and claim of the paper]"
            f"({key}/index.md), with the place in the code, the test and the verdict."
        )
    return "\n\n".join(part for part in parts if part)


def _verdicts(records: Sequence[Record]) -> str:
    rows = [["", "claim", "does it hold here?", "after Holm"]]
    for record in records:
        name = record.name
        small = " (small version)" if record.is_quick else ""
        link = f"[{name}]({record.paper}/{name}.md): {record.title}{small}, {record.seconds:.0f} s"
        claims = [(text, _shown(made), after_holm(made)) for text, made in record.claims]
        rows += [
            [link if position == 0 else "", *claim]
            for position, claim in enumerate(claims or [("", "", "")])
        ]
    return markdown_table(rows).replace("---:", "---")


def _shown(made: Judgement) -> str:
    """Return a verdict, with the rows in which a claim about rows is right."""
    return f"{made.verdict} ({made.rows})" if made.rows else made.verdict


def _versions() -> Iterator[str]:
    """Yield the versions of the software in use."""
    yield f"taxonomist {__version__}"
    yield f"Python {platform.python_version()}"
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
    for name, found in peers.installed().items():
        yield f"{name} {found}"
