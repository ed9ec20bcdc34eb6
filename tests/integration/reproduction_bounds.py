"""Bounds of the numbers of the papers' experiments in their small version.

The experiments have fixed seeds, so that a number changes only with the code, or by a few items
with other versions of numpy and other processors. ``make reproduction-bounds`` runs the small
version and writes the bounds again: do so when an experiment is changed on purpose, and look at the
difference.
"""

from __future__ import annotations

import csv
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("reproduction_bounds.csv")
RELATIVE, ABSOLUTE = 0.01, 0.02
"""A number may be off by 1 %, and by 0.02, or 2 points if it is in per cent: two items of 100."""
OF_THE_MACHINE = ("seconds", "mib", "ms_per_step", "at ", "objective ")
"""Measures with these words depend on the machine, or on how far a run comes in a given time."""
OPTIONAL = ("HiClass", "Omikuji", "PECOS", "napkinXC", "best other")
"""Rows of packages that need not be installed, or that depend on which of them are."""


class Number(NamedTuple):
    """The place of a number in a table or figure."""

    part: str
    row: str
    column: str


def read_numbers(out: Path) -> dict[Number, float]:
    """Return the numbers of all tables and figures in a folder."""
    numbers = {}
    for path in sorted(out.glob("*/*.csv")):
        part = f"{path.parent.name}/{path.stem}"
        with path.open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                if not any(word in row["row"] for word in OPTIONAL):
                    depends = row["measure"] == "at" or any(
                        word in row["measure"] for word in OF_THE_MACHINE
                    )
                    value = math.nan if depends else float(row["mean"])
                    numbers[Number(part, row["row"], row["column"])] = value
    return numbers


def bounds_of(number: Number, value: float) -> tuple[float, float]:
    """Return the bounds of a number; it has none if it depends on the machine."""
    if math.isnan(value):
        return -math.inf, math.inf
    in_per_cent = "%" in number.row + number.column
    room = RELATIVE * abs(value) + ABSOLUTE * (100 if in_per_cent else 1)
    return value - room, value + room


def write_bounds(numbers: dict[Number, float], file: Path = FILE) -> None:
    """Store the bounds of numbers."""
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*Number._fields, "low", "high"])
        for number, value in numbers.items():
            low, high = bounds_of(number, value)
            writer.writerow([*number, f"{low:.4g}", f"{high:.4g}"])


def read_bounds(file: Path = FILE) -> dict[Number, tuple[float, float]]:
    """Return the stored bounds."""
    with file.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return {
        Number(row["part"], row["row"], row["column"]): (float(row["low"]), float(row["high"]))
        for row in rows
    }


def complaints(
    numbers: dict[Number, float], bounds: dict[Number, tuple[float, float]]
) -> list[str]:
    """Return what is wrong with the numbers of some tables and figures; nothing if all are fine."""
    written = {number.part for number in numbers}
    wanted = {number for number in bounds if number.part in written}
    found = [f"{number} has no stored bounds" for number in numbers if number not in bounds]
    found += [f"{number} is not there" for number in sorted(wanted - set(numbers))]
    for number in wanted & set(numbers):
        (low, high), value = bounds[number], numbers[number]
        if not math.isnan(value) and not low <= value <= high:
            found.append(f"{number} is {value:.4g} and not from {low:.4g} to {high:.4g}")
    return sorted(found)


def main() -> None:
    """Run the small version of all experiments and store the bounds of their numbers."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "taxonomist", "reproduce", "--quick", "--out", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        write_bounds(read_numbers(Path(folder)))


if __name__ == "__main__":
    main()
