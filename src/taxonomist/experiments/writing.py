"""Write the tables and figures of a paper: Markdown and CSV, PNG, and verdicts on claims.

Tables and figures have a CSV file of the numbers that they show, with the same columns.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.experiments.claims.rivals import best_of, contestant_of, lead
from taxonomist.experiments.declarations import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from taxonomist._typing import Floats
    from taxonomist.experiments.claims.pairing import Paired
    from taxonomist.experiments.declarations import Entry, Figure, Judgement, Results, Settings

CLAIMS = "## Claims\n\n"
FINDING = "## What we found\n\n"
NOT_CORRECTED = "–"
"""Stands for the corrected verdict of a claim without a p-value."""
TOO_FEW = "too few repeats"
"""Marks claims whose p-value is the smallest that their test has, and still too large."""


def write_part(
    folder: Path, part: Table | Figure, results: Results, finding: str = ""
) -> list[Judgement]:
    """Write a table as Markdown and CSV, or a figure as Markdown, CSV and PNG.

    Parameters
    ----------
    folder
        The folder of the paper.
    part
        The table or figure.
    results
        The results of its cells.
    finding
        Remarks about differences from the paper.

    Returns
    -------
    list of Judgement
        The verdicts on its claims.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{file_name(part)}.md"
    if isinstance(part, Table):
        entries = part.entries
        shown = _grid(entries, results)
    else:
        entries = part.entries(results)
        shown = f"![{part.title}]({path.stem}.png)"
        # Leave out date and version, so that the same results give the same file.
        drawing = part.draw(results)
        drawing.savefig(path.with_suffix(".png"), dpi=110, metadata={"Software": None})
    path.with_suffix(".csv").write_text(_lines(entries, results), encoding="utf-8", newline="\n")
    judgements = [claim.judge(results) for claim in part.claims]
    head = f"# {part.title[0].upper()}{part.title[1:]}\n\nData: {part.corpus}"
    parts = [head, settings_list(part.settings), shown, _note(part, results)]
    if part.claims:
        claims = [(claim.text, made) for claim, made in zip(part.claims, judgements, strict=True)]
        parts.append(CLAIMS + claims_table(claims))
    if finding:
        parts.append(FINDING + finding.strip())
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8", newline="\n")
    return judgements


def file_name(part: Table | Figure) -> str:
    """Return the file name of a table or figure, without a suffix."""
    return f"{'table' if isinstance(part, Table) else 'figure'}-{part.number}"


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with the first row as header and right-aligned numbers."""
    header, *lines = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])


def settings_list(settings: Settings) -> str:
    """Return tolerance, features, splits and draws as a Markdown list."""
    return "\n".join(f"- {name.capitalize()}: {text}" for name, text in asdict(settings).items())


def claims_table(claims: Sequence[tuple[str, Judgement]]) -> str:
    """Return the claims with their verdicts, before and after Holm's correction."""
    rows = [["claim", "does it hold here?", "after Holm", "because"]]
    rows += [[text, f"**{made.verdict}**", after_holm(made), made.because] for text, made in claims]
    return markdown_table(rows).replace("---:", "---")


def after_holm(made: Judgement) -> str:
    """Return the corrected verdict, and whether repeats are too few for any other."""
    if made.corrected is None:
        return NOT_CORRECTED
    is_cut_off = made.is_least and made.corrected != made.verdict
    return f"{made.corrected} ({TOO_FEW})" if is_cut_off else made.corrected


def replace_claims(page: Path, claims: Sequence[tuple[str, Judgement]]) -> None:
    """Write the table of claims of a page again, after a correction."""
    text = page.read_text(encoding="utf-8")
    head, mark, rest = text.partition("\n\n" + CLAIMS)
    if mark:
        _, found, finding = rest.partition("\n\n" + FINDING)
        end = found + finding if found else "\n"
        page.write_text(head + mark + claims_table(claims) + end, encoding="utf-8", newline="\n")


def _grid(entries: Sequence[Entry], results: Results) -> str:
    """Return the numbers in rows and columns, each with the paper's in brackets."""
    rows = list(dict.fromkeys(entry.row for entry in entries))
    columns = list(dict.fromkeys(entry.column for entry in entries))
    cells = {(entry.row, entry.column): _shown(entry, results) for entry in entries}
    return markdown_table(
        [
            ["", *columns],
            *([row, *(cells.get((row, column), "") for column in columns)] for row in rows),
        ]
    )


def _shown(entry: Entry, results: Results) -> str:
    """Return a number, with the paper's in brackets, or with its interval."""
    if entry.versus:
        return _shown_lead(entry, results)
    sign = "+" if entry.relative_to else ""
    ours = f"{entry.scale * float(_values(entry, results).mean()):{sign}.{entry.digits}f}"
    return ours if entry.paper is None else f"{ours} ({entry.paper:{sign}.{entry.digits}f})"


def _shown_lead(entry: Entry, results: Results) -> str:
    """Return a difference with its interval, and with the name of the best of several others."""
    other, gained = _lead(entry, results)
    low, high = gained.interval()
    digits = f"+.{entry.digits}f"
    shown = f"{gained.mean:{digits}} [{low:{digits}}, {high:{digits}}]"
    return shown if len(entry.versus) == 1 else f"{shown} {contestant_of(other)}"


def _lead(entry: Entry, results: Results) -> tuple[str, Paired]:
    """Return the best of the cells that an entry is compared with, and the lead over it."""
    compared = results, entry.cell
    other = best_of(*compared, entry.versus, entry.measure, lower=entry.lower)
    return other, lead(*compared, other, entry.measure, lower=entry.lower)


def _values(entry: Entry, results: Results) -> Floats:
    """Return the values of an entry, or the one value of a relative improvement."""
    if entry.versus:
        return _lead(entry, results)[1].values
    values: Floats = np.asarray(results[entry.cell].values[entry.measure], dtype=np.float64)
    if not entry.relative_to:
        return values
    ours, other = values.mean(), np.mean(results[entry.relative_to].values[entry.measure])
    is_better = ours <= other if entry.lower else ours >= other
    least, most = sorted([ours, other])
    change = most / least - 1 if least else math.nan
    return np.array([change if is_better else -change])


def _note(part: Table | Figure, results: Results) -> str:
    """Return a note on how to read a table or figure, and how long it took."""
    total = sum(results[name].seconds for name in part.cells)
    work = f"{len(part.cells)} cells, {total:.0f} s of work."
    if not isinstance(part, Table):
        return work
    papers = any(entry.paper is not None for entry in part.entries)
    brackets = " The paper's numbers are in brackets." if papers else ""
    return f"Means over folds or repeats.{brackets} {work}"


def _lines(entries: Sequence[Entry], results: Results) -> str:
    """Return the numbers as comma-separated values, one line each, with all their folds."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["row", "column", "measure", "paper", "mean", "deviation", "n"])
    for entry in entries:
        values = entry.scale * _values(entry, results)
        deviation = float(values.std(ddof=1)) if values.size > 1 else math.nan
        shown = [f"{value:.6g}" for value in (float(values.mean()), deviation)]
        paper = "" if entry.paper is None else entry.paper
        writer.writerow([entry.row, entry.column, entry.measure, paper, *shown, values.size])
    return stream.getvalue().replace("nan", "")
