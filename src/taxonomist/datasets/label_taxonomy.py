"""Build a taxonomy from the labels of a table: from paths, levels, or prefixes of codes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.datasets.bad_rows import listed_lines
from taxonomist.datasets.cells import STEP, likely_separator
from taxonomist.errors import FormatError, ParameterError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taxonomist.datasets.cells import Label
    from taxonomist.datasets.columns import Columns

__all__ = ["LabelTaxonomy", "check_prefixes", "has_paths", "label_taxonomy", "shown"]

N_SHOWN = 5
"""Number of names under several parents to show."""
MISSING_WORDS = frozenset({"nan", "na", "n/a", "#n/a", "nil", "none", "null", "-", "--", "?"})
"""What programs and people write into a cell without a value, in lower case."""


class LabelTaxonomy(NamedTuple):
    """A taxonomy built from labels.

    Attributes
    ----------
    taxonomy
        The taxonomy.
    origin
        What it was built from: ``"levels"``, ``"paths"``, ``"codes"`` or ``"labels"``.
    note
        Sentences about names that occur under several parents, names that are written in several
        ways, and labels that look like several; empty if there are none.
    """

    taxonomy: Taxonomy
    origin: str
    note: str = ""


def has_paths(labels: Iterable[Label]) -> bool:
    """Return whether any label is a path."""
    return any(isinstance(label, tuple) for label in labels)


def shown(label: Label) -> str:
    """Format a label for people."""
    return label if isinstance(label, str) else STEP.join(label)


def label_taxonomy(name: str, labels: Mapping[Label, int], columns: Columns) -> LabelTaxonomy:
    """Build a taxonomy from labels.

    A name under several parents is several nodes, with their paths as ids. Labels that are neither
    paths nor codes with prefixes form a single level.

    Parameters
    ----------
    name
        Name of the table in messages.
    labels
        The first line of each label.
    columns
        Says how the labels were given.

    Raises
    ------
    FormatError
        If there are no labels, or two paths would have the same id.
    ParameterError
        If the prefixes are not increasing positive integers.
    """
    if not labels:
        raise FormatError(f"{name} holds no labels; give the taxonomy.")
    steps = {(label,) if isinstance(label, str) else label: line for label, line in labels.items()}
    said = [_joined_labels(labels), _missing_words(steps), _respelled_names(steps)]
    if columns.code_prefixes:
        paths = _code_paths(map(shown, labels), columns.code_prefixes)
        return LabelTaxonomy(Taxonomy.from_paths(paths, ids="name"), "codes", _lines(said))
    if not has_paths(labels):
        return LabelTaxonomy(Taxonomy.flat(labels), "labels", _lines(said))
    _check_consistent(name, steps)
    origin = "paths" if columns.labels is None or isinstance(columns.labels, str) else "levels"
    notes = _lines([*said, _shared_names(steps)])
    return LabelTaxonomy(Taxonomy.from_paths(list(steps)), origin, notes)


def _lines(notes: list[str]) -> str:
    return "\n".join(filter(None, notes))


def check_prefixes(lengths: Sequence[int]) -> None:
    """Raise a ``ParameterError`` unless the lengths are increasing positive integers."""
    if any(below <= above for above, below in pairwise([0, *lengths])):
        raise ParameterError(
            f"code_prefixes must be increasing positive integers, such as 2, 3, 4. Got {lengths!r}."
        )


def _code_paths(codes: Iterable[str], lengths: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the path of each code: its prefixes and itself."""
    check_prefixes(lengths)
    cut = ([code[:n].rstrip() for n in lengths if n < len(code)] + [code] for code in codes)
    return [tuple(dict.fromkeys(steps)) for steps in cut]


def _places(paths: Mapping[tuple[str, ...], int]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the path of every node on some paths, with the line of that path."""
    for path, line in paths.items():
        for depth in range(1, len(path) + 1):
            yield path[:depth], line


def _check_consistent(name: str, paths: Mapping[tuple[str, ...], int]) -> None:
    """Raise if different paths read the same, because a level contains the sign for 'below'."""
    known: dict[str, tuple[tuple[str, ...], int]] = {}
    for path, line in _places(paths):
        other, before = known.setdefault(shown(path), (path, line))
        if other != path:
            raise FormatError(
                f"{name}, lines {before} and {line}: the levels {list(other)} and {list(path)} "
                f"contradict each other, because both read {shown(path)!r}. Rename the level that "
                f"contains {STEP.strip()!r}."
            )


def _joined_labels(labels: Mapping[Label, int]) -> str:
    """Return a sentence about the first label that looks like several others."""
    for label, line in labels.items():
        if separator := likely_separator(label, labels.__contains__):
            return (
                f"{label!r} (line {line}) is taken as one label. If a cell can hold several, pass "
                f"label_sep={separator!r}."
            )
    return ""


def _missing_words(paths: Mapping[tuple[str, ...], int]) -> str:
    """Return a sentence about labels that may be a program's words for an empty cell."""
    lines: dict[str, int] = {}
    for path, line in paths.items():
        for step in path:
            if step.casefold() in MISSING_WORDS:
                lines.setdefault(step, line)
    if not lines:
        return ""
    listed = ", ".join(f"{word!r} (line {line})" for word, line in lines.items())
    which = "This label is a category" if len(lines) == 1 else "These labels are categories"
    return f"{which}: {listed}. If a label is missing there, leave its cell empty."


def _respelled_names(paths: Mapping[tuple[str, ...], int]) -> str:
    """Return a sentence about names in one place that differ only in case or spaces."""
    spelled: dict[tuple[str, ...], dict[str, int]] = {}
    for path, line in _places(paths):
        place = tuple(" ".join(step.casefold().split()) for step in path)
        spelled.setdefault(place, {}).setdefault(path[-1], line)
    found = [names for names in spelled.values() if len(names) > 1]
    if not found:
        return ""
    first = [
        " and ".join(f"{name!r} (line {line})" for name, line in names.items())
        for names in found[:N_SHOWN]
    ]
    more = f"; and {len(found) - N_SHOWN:,} more" if len(found) > N_SHOWN else ""
    return (
        "Labels that differ only in case or spaces are different categories: "
        f"{'; '.join(first)}{more}."
    )


def _shared_names(paths: Mapping[tuple[str, ...], int]) -> str:
    """Return a sentence about the names that occur in several places."""
    lines: dict[str, dict[tuple[str, ...], int]] = {}
    for path, line in _places(paths):
        lines.setdefault(path[-1], {}).setdefault(path, line)
    # A name can be in two places of one row: Physics > Physics.
    shared = {name: sorted({*found.values()}) for name, found in lines.items() if len(found) > 1}
    if not shared:
        return ""
    first = [
        f"{name!r} ({listed_lines(found[:2], len(found))})"
        for name, found in list(shared.items())[:N_SHOWN]
    ]
    more = f" and {len(shared) - N_SHOWN:,} more" if len(shared) > N_SHOWN else ""
    if len(shared) == 1:
        return f"1 name is in several places and kept apart by its path: {first[0]}."
    return (
        f"{len(shared):,} names are in several places and kept apart by their paths: "
        f"{', '.join(first)}{more}."
    )
