"""The page of a paper: what it contains, where the code and the test are, and the verdict."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING

from taxonomist.experiments.contents import contents_of
from taxonomist.experiments.contents.lines import JUDGED_KINDS
from taxonomist.experiments.writing import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from taxonomist.experiments.contents.lines import Line
    from taxonomist.experiments.declarations import Judgement, Verdict
    from taxonomist.experiments.records import Record

VERDICTS: tuple[Verdict, ...] = ("yes", "no", "within noise")
AS_THERE = "as in the paper"


def write_contents(folder: Path, title: str, records: Sequence[Record]) -> bool:
    """Write the page that lists what a paper contains.

    Parameters
    ----------
    folder
        The folder of the paper.
    title
        The authors, title and year of the paper.
    records
        Its judged tables and figures; the page is written without those that are missing.

    Returns
    -------
    bool
        Whether the contents of the paper are listed, so that there is a page.
    """
    lines = contents_of(folder.name)
    if not lines:
        return False
    made = [line for line in lines if line.kind not in JUDGED_KINDS]
    told = [line for line in lines if line.kind in JUDGED_KINDS]
    parts = [
        f"# {title}",
        summary(folder.name, records),
        "Every model, equation, algorithm, table, figure and claim of the paper: the place in the "
        "code, the test that proves it, and the verdict. [All papers](../index.md).",
        "## Models, equations and algorithms\n\n" + _made_table(made),
        "## Tables, figures and claims\n\n"
        "The verdict after Holm's correction stands behind the plain one where it differs.\n\n"
        + _told_table(told, records),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    (folder / "index.md").write_text(text, encoding="utf-8", newline="\n")
    return True


def summary(key: str, records: Iterable[Record]) -> str:
    """Return what held, what did not and why; it refers to the full experiments only."""
    page = files("taxonomist.experiments") / "findings" / key / "summary.md"
    if any(record.is_quick for record in records) or not page.is_file():
        return ""
    return page.read_text(encoding="utf-8").strip()


def count_verdicts(records: Iterable[Record]) -> list[str]:
    """Return how many claims there are, and the numbers of verdicts before and after Holm."""
    made = [judgement for record in records for _, judgement in record.claims]
    plain = Counter(one.verdict for one in made)
    after = Counter(one.corrected or one.verdict for one in made)
    return [
        str(len(made)),
        *(str(count[verdict]) for count in (plain, after) for verdict in VERDICTS),
    ]


def _made_table(lines: Sequence[Line]) -> str:
    rows = [["", "what", "here", "code", "test"]]
    for line in lines:
        state = f"not here: {line.absent}" if line.absent else AS_THERE
        state = f"differs: {line.differs}" if line.differs else state
        rows.append([_name(line), line.says, state, *_places(line)])
    return markdown_table(rows).replace("---:", "---")


def _told_table(lines: Sequence[Line], records: Sequence[Record]) -> str:
    rows = [["", "what", "does it hold here?", "code", "test"]]
    for line in lines:
        verdict = f"not here: {line.absent}" if line.absent else _verdict(line, records)
        if line.differs:
            verdict += f" ({line.differs})"
        rows.append([_name(line), line.says, verdict, *_places(line)])
    return markdown_table(rows).replace("---:", "---")


def _name(line: Line) -> str:
    """Return what a line is about: equation 24, or a claim of section 6.4."""
    separator = " " if line.number[0].isdigit() else ", "
    return f"{line.kind}{separator}{line.number}"


def _places(line: Line) -> tuple[str, str]:
    """Return the code and the tests of a line, one below the other."""
    code = "<br>".join(f"`{name.removeprefix('taxonomist.')}`" for name in line.code)
    tests = "<br>".join(f"`{name.removeprefix('tests/')}`" for name in line.tests)
    return code, tests


def _verdict(line: Line, records: Sequence[Record]) -> str:
    """Return the verdicts on the judged claims of a line, with links to their pages."""
    if not line.judged:
        return AS_THERE
    shown = []
    for part in dict.fromkeys(part for part, _ in line.judged):
        found = [record for record in records if record.name == part]
        made = [one for record in found for one in matching(record, line)]
        said = f": {_tally(made)}" if made else "" if found else ": not run"
        shown.append(f"[{part}]({part}.md){said}" if found else f"{part}{said}")
    return "<br>".join(shown)


def matching(record: Record, line: Line) -> list[Judgement]:
    """Return the judgements of a record that a line refers to."""
    return [
        made
        for text, made in record.claims
        if any(part == record.name and words in text for part, words in line.judged)
    ]


def _tally(made: Sequence[Judgement]) -> str:
    """Return one verdict in words, or the numbers of several."""
    plain, after = (_counted(verdicts) for verdicts in zip(*map(_both, made), strict=True))
    return plain if plain == after else f"{plain}; after Holm {after}"


def _both(made: Judgement) -> tuple[Verdict, Verdict]:
    return made.verdict, made.corrected or made.verdict


def _counted(verdicts: Sequence[Verdict]) -> str:
    if len(verdicts) == 1:
        return f"**{verdicts[0]}**"
    count = Counter(verdicts)
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS if count[verdict])
