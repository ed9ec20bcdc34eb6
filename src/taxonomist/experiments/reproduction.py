"""Reproduce the papers' tables and figures: run missing cells and write the results."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

from taxonomist import datasets
from taxonomist.errors import CorpusNotFoundError, LabelError, closest
from taxonomist.experiments import records
from taxonomist.experiments.contents_page import write_contents
from taxonomist.experiments.index_page import write_index
from taxonomist.experiments.records import Record
from taxonomist.experiments.running import Store, run
from taxonomist.experiments.writing import file_name, write_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taxonomist.experiments.declarations import Figure, Judgement, Paper, Results, Table
    from taxonomist.experiments.running import Progress

PAPERS = ("CH04", "HCC03", "TCPH01", "RSSS06", "CH07", "BEYOND", "NAMES", "CONTEST")


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
    only_finished: bool = False,
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
    only_finished
        Whether to run nothing and to write what has finished.
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
    # Processes that were started earlier work in other folders.
    store = Store(out.absolute() / "cells")
    papers = [load_paper(key, is_quick=is_quick) for key in keys]
    if only_finished:
        papers = [paper.finished(lambda cell: store.load(cell) is not None) for paper in papers]
        if not any(paper.tables or paper.figures for paper in papers):
            raise LabelError(f"Nothing has finished in {out}; run the command without --finished.")
    parts = [(paper, part) for paper in papers for part in _parts(paper, wanted)]
    if not parts:
        known = ", ".join(file_name(part) for paper in papers for part in _parts(paper, None))
        raise LabelError(f"There is no {wanted}; there are {known}.")
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
    write_overview(out)
    return [
        Written(
            *(paper.key, file_name(part), part.title),
            claims=judged.get((paper.key, file_name(part)), ()),
            missing=_missing(paper, part, absent),
        )
        for paper, part in parts
    ]


def write_overview(out: Path) -> None:
    """Write the page of each paper that has results, and the one that leads to all of them."""
    loaded = {key: records.load(out / key) for key in PAPERS}
    found = {key: made for key, made in loaded.items() if made}
    titles = {key: load_paper(key, is_quick=True).title for key in found}
    listed = [key for key, made in found.items() if write_contents(out / key, titles[key], made)]
    write_index(out, found, titles, listed)


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
