"""Reproduce the papers' tables and figures: run missing cells and write the results."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import TYPE_CHECKING

from taxonomist import __version__, datasets
from taxonomist.errors import CorpusNotFoundError, LabelError, closest
from taxonomist.experiments import records
from taxonomist.experiments.records import Record
from taxonomist.experiments.running import Store, run
from taxonomist.experiments.writing import (
    NOT_CORRECTED,
    file_name,
    markdown_table,
    write_part,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taxonomist.experiments.declarations import Figure, Judgement, Paper, Results, Table
    from taxonomist.experiments.running import Progress

PAPERS = ("CH04", "HCC03", "TCPH01", "RSSS06", "CH07", "BEYOND")
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "hiclass", "omikuji")


@dataclass(frozen=True)
class Written:
    """A table or figure that was written, or the reason why it was not.

    Attributes
    ----------
    paper, name, title
        The paper, and the name and title of the part.
    claims
        Its claims, each with the verdict.
    missing
        Required corpora that are not on this machine; if any, the part is not written.
    """

    paper: str
    name: str
    title: str
    claims: tuple[tuple[str, Judgement], ...] = ()
    missing: tuple[str, ...] = ()


def load_paper(key: str, *, is_quick: bool) -> Paper:
    """Return the experiments of a paper.

    Parameters
    ----------
    key
        One of ``PAPERS``.
    is_quick
        Whether to return a small version.

    Returns
    -------
    Paper
        Its cells, tables and figures.

    Raises
    ------
    LabelError
        If the paper is unknown.
    """
    if key.upper() not in PAPERS:
        hint = closest(key.upper(), PAPERS) or f" There are {', '.join(PAPERS)}."
        raise LabelError(f"There is no paper {key!r}.{hint}")
    module = import_module(f"taxonomist.experiments.{key.lower()}")
    found: Paper = module.paper(is_quick)
    return found


def reproduce(
    keys: Sequence[str],
    out: Path,
    *,
    wanted: str | None = None,
    is_quick: bool = False,
    n_jobs: int = 2,
    progress: Progress,
) -> list[Written]:
    """Run the experiments of papers and write their tables and figures.

    Parameters
    ----------
    keys
        The papers.
    out
        The folder to write to; finished cells are stored in its ``cells`` and not run again.
    wanted
        A single table or figure, such as ``"table-2"``; all by default.
    is_quick
        Whether to run a small version of everything.
    n_jobs
        Number of processes.
    progress
        Called with the name of the finished cell, and the numbers of finished and of all cells.

    Returns
    -------
    list of Written
        The parts that were written, and those that were not because a corpus is missing.

    Raises
    ------
    LabelError
        If the paper, table or figure is unknown.
    CorpusNotFoundError
        If the corpora of all of them are missing.
    """
    papers = [load_paper(key, is_quick=is_quick) for key in keys]
    parts = [(paper, part) for paper in papers for part in _parts(paper, wanted)]
    if not parts:
        known = ", ".join(file_name(part) for paper in papers for part in _parts(paper, None))
        raise LabelError(f"There is no {wanted}; there are {known}.")
    # Processes that were started earlier work in other folders.
    store = Store(out.absolute() / "cells")
    absent = {corpus for paper, _ in parts for corpus in _absent(paper)}
    cells = {
        (paper.key, cell.name): cell
        for paper, part in parts
        for cell in paper.cells
        if cell.name in part.cells and not _missing(paper, part, absent)
    }
    if not cells:
        # Nothing can be run; this raises an error that says where to get the missing corpora.
        datasets.find(min(absent))
    run(list(cells.values()), store, n_jobs, progress)
    for paper, part in parts:
        if not _missing(paper, part, absent):
            results = _results(store, paper, part)
            _write(out / paper.key, part, results, is_quick=is_quick)
    judged = {
        (record.paper, record.name): record.claims
        for paper in papers
        for record in records.correct(out / paper.key)
    }
    _write_index(out)
    return [
        Written(
            *(paper.key, file_name(part), part.title),
            claims=judged.get((paper.key, file_name(part)), ()),
            missing=_missing(paper, part, absent),
        )
        for paper, part in parts
    ]


def _write_index(out: Path) -> None:
    """Write the page that lists the existing tables and figures, with verdicts."""
    sections = []
    for key in PAPERS:
        found = records.load(out / key)
        if found:
            sections.append(f"## {key}\n\n" + _verdicts(found))
    lines = [
        "# The papers' tables and figures",
        f"Made by `taxonomist reproduce` on {os.cpu_count()} cores ({', '.join(_versions())}). "
        "Each line leads to a table or figure, with the seconds of its work (what several of them "
        "share is counted in each), the paper's numbers beside ours, and the figures behind the "
        "verdicts.",
        "A claim holds, **yes**, where a paired permutation test or an interval says so at the "
        "level of 0.05; **no** where it says the contrary; and else it is **within noise**. Tests "
        "use the averages that the tables show, and an item counts once, however often it was "
        "drawn. A claim about every row needs a significant difference in every row, and one about "
        "most rows in more than half of them, corrected for their number. *After Holm* is the "
        "verdict with p-values corrected for the number of claims of the paper; it is empty "
        f"({NOT_CORRECTED}) for claims that an interval decides.",
        *sections,
    ]
    (out / "index.md").write_text("\n\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _verdicts(found: Sequence[Record]) -> str:
    rows = [["", "claim", "does it hold here?", "after Holm"]]
    for record in found:
        name = record.name
        small = " (small version)" if record.is_quick else ""
        link = f"[{name}]({record.paper}/{name}.md): {record.title}{small}, {record.seconds:.0f} s"
        claims = [
            (text, made.verdict, made.corrected or NOT_CORRECTED) for text, made in record.claims
        ]
        rows += [
            [link if position == 0 else "", *claim]
            for position, claim in enumerate(claims or [("", "", "")])
        ]
    return markdown_table(rows).replace("---:", "---")


def _write(folder: Path, part: Table | Figure, results: Results, *, is_quick: bool) -> None:
    """Write a table or figure, and its verdicts as data."""
    paper, name = folder.name, file_name(part)
    judgements = write_part(folder, part, results, "" if is_quick else _finding(paper, name))
    claims = tuple((c.text, j) for c, j in zip(part.claims, judgements, strict=True))
    seconds = sum(result.seconds for result in results.values())
    records.save(folder, Record(paper, name, part.title, claims, seconds, is_quick))


def _finding(paper: str, name: str) -> str:
    """Return the remarks under a table or figure, which refer to the full experiments."""
    page = files("taxonomist.experiments") / "findings" / paper / f"{name}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def _results(store: Store, paper: Paper, part: Table | Figure) -> Results:
    found = {cell.name: store.load(cell) for cell in paper.cells if cell.name in part.cells}
    return {name: result for name, result in found.items() if result is not None}


def _parts(paper: Paper, wanted: str | None) -> Iterator[Table | Figure]:
    """Yield the tables and figures of a paper, or the wanted one."""
    parts: list[Table | Figure] = [*paper.tables, *paper.figures]
    for part in parts:
        if wanted in (None, file_name(part)):
            yield part


def _missing(paper: Paper, part: Table | Figure, absent: set[str]) -> tuple[str, ...]:
    """Return the absent corpora that a table or figure needs."""
    needed = {cell.corpus for cell in paper.cells if cell.name in part.cells}
    return tuple(sorted(needed & absent))


def _absent(paper: Paper) -> set[str]:
    """Return the corpora of a paper that are not on this machine."""
    absent = set()
    for corpus in {cell.corpus for cell in paper.cells if cell.corpus}:
        try:
            datasets.find(corpus)
        except CorpusNotFoundError:
            absent.add(corpus)
    return absent


def _versions() -> Iterator[str]:
    """Yield the versions of the software in use."""
    yield f"taxonomist {__version__}"
    yield f"Python {platform.python_version()}"
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
