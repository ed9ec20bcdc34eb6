"""Verdicts as data: a JSON file beside each page, and Holm's correction within a paper."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from taxonomist.experiments.claims.multiplicity import holm
from taxonomist.experiments.declarations import LEVEL, Judgement
from taxonomist.experiments.writing import replace_claims

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Record:
    """A table or figure that was written.

    Attributes
    ----------
    paper, name, title
        The paper, and the name and title of the part.
    claims
        Its claims, each with the verdict.
    seconds
        Run time of its cells.
    is_quick
        Whether it is the small version.
    """

    paper: str
    name: str
    title: str
    claims: tuple[tuple[str, Judgement], ...] = ()
    seconds: float = 0.0
    is_quick: bool = False


def save(folder: Path, record: Record) -> None:
    """Write a record into the folder of its paper."""
    text = json.dumps(asdict(record), indent=1) + "\n"
    (folder / f"{record.name}.json").write_text(text, encoding="utf-8", newline="\n")


def load(folder: Path) -> list[Record]:
    """Return the records of a paper: tables first, then figures, each by name."""
    found = []
    for kind in ("table", "figure"):
        for path in sorted(folder.glob(f"{kind}-*.json")):
            fields = json.loads(path.read_text(encoding="utf-8"))
            fields["claims"] = tuple((text, Judgement(**made)) for text, made in fields["claims"])
            # A folder may have files of an earlier version, with other fields.
            known = {name: fields[name] for name in Record.__dataclass_fields__ if name in fields}
            found.append(Record(**known))
    return found


def corrected(records: Sequence[Record]) -> list[Record]:
    """Return the records with verdicts after Holm's correction for all their claims.

    Parameters
    ----------
    records
        The records of a paper.

    Returns
    -------
    list of Record
        The same, with ``corrected`` verdicts of the claims that have a p-value: the plain verdict
        if the corrected p-value is below the level, and otherwise "within noise".
    """
    made = [judgement for record in records for _, judgement in record.claims]
    p_values = iter(holm([one.p_value for one in made if one.p_value is not None]).tolist())
    return [
        replace(
            record,
            claims=tuple(
                (text, one if one.p_value is None else _after(one, next(p_values)))
                for text, one in record.claims
            ),
        )
        for record in records
    ]


def _after(judgement: Judgement, p_value: float) -> Judgement:
    """Return a judgement with its verdict by the corrected p-value."""
    verdict = judgement.verdict if p_value < LEVEL else "within noise"
    return replace(judgement, corrected=verdict)


def correct(folder: Path) -> list[Record]:
    """Correct the verdicts of all parts of a paper that are in its folder, and write them again.

    Parameters
    ----------
    folder
        The folder of the paper.

    Returns
    -------
    list of Record
        The records after the correction.
    """
    records = corrected(load(folder))
    for record in records:
        save(folder, record)
        replace_claims(folder / f"{record.name}.md", record.claims)
    return records
