"""Labelled items in memory: reading them, holding some out, and knowing them again."""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from taxonomist.cli.bad_rows import BadRows
from taxonomist.cli.cells import LabelReader
from taxonomist.cli.items import read_items
from taxonomist.cli.output import progress
from taxonomist.cli.rows import open_table
from taxonomist.errors import LabelError
from taxonomist.evaluation import StratifiedFolds
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from taxonomist._typing import Bools
    from taxonomist.cli.items import Columns, Item
    from taxonomist.cli.rows import Source

__all__ = ["Labelled", "digests", "held_out", "read_labelled", "read_taxonomy"]

MOST_FOLDS = 100
"""Shares of held-out items are rounded to this part."""
REPORT_EVERY = 1000


class Labelled(NamedTuple):
    """Items with labels.

    Attributes
    ----------
    texts
        Texts by column of each item.
    labels
        Node ids of each item.
    taxonomy
        The taxonomy of the labels.
    origin
        Where the taxonomy comes from: ``"given"``, ``"paths"`` or ``"labels"``.
    bad
        The rows that were left out.
    """

    texts: list[dict[str, str]]
    labels: list[list[str]]
    taxonomy: Taxonomy
    origin: str
    bad: BadRows

    @property
    def is_multilabel(self) -> bool:
        """Whether some item has several labels."""
        return any(len(labels) > 1 for labels in self.labels)

    @property
    def targets(self) -> list[Any]:
        """A label for each item, or label sets."""
        return self.labels if self.is_multilabel else [label for (label,) in self.labels]

    def take(self, items: Iterable[int]) -> Self:
        """Return some of the items."""
        chosen = [int(i) for i in items]
        return self._replace(
            texts=[self.texts[i] for i in chosen], labels=[self.labels[i] for i in chosen]
        )


def read_taxonomy(path: Path | None, format: str | None) -> Taxonomy | None:
    """Return the taxonomy of a file, None if there is none."""
    return None if path is None else Taxonomy.read(path, format)


def read_labelled(
    source: Source,
    columns: Columns,
    taxonomy: Taxonomy | None,
    *,
    skip_bad: bool = False,
    single: bool = False,
) -> Labelled:
    """Read items with their labels.

    Parameters
    ----------
    source
        The file.
    columns
        Which columns hold what.
    taxonomy
        The taxonomy of the labels. None builds it: from paths if labels are paths, else with one
        level.
    skip_bad
        Whether bad rows are left out.
    single
        Whether several labels make a row bad.

    Raises
    ------
    FormatError
        If the file cannot be read, or has bad rows that are not to be skipped.
    """
    bad = BadRows()
    reader = None if taxonomy is None else LabelReader(taxonomy, single=single)
    items: list[Item] = []
    with open_table(source) as table, progress("rows") as report:
        for item in read_items(table, columns, bad, reader):
            items.append(item)
            if len(items) % REPORT_EVERY == 0:
                report("Reading", bad.n_rows, None)
        bad.settle(table.name, skip_bad)
    texts = [item.text for item in items]
    if taxonomy is not None:
        return Labelled(texts, [_ids(item) for item in items], taxonomy, "given", bad)
    given = list(dict.fromkeys(label for item in items for label in item.labels))
    if any(isinstance(label, tuple) for label in given):
        built = Taxonomy.from_paths([(x,) if isinstance(x, str) else x for x in given])
        finder = LabelReader(built)
        paths = [list(finder.nodes(item.labels)) for item in items]
        return Labelled(texts, paths, built, "paths", bad)
    return Labelled(texts, [_ids(item) for item in items], Taxonomy.flat(given), "labels", bad)


def _ids(item: Item) -> list[str]:
    """Return the labels of an item, which are no paths."""
    return [label for label in item.labels if isinstance(label, str)]


def held_out(labelled: Labelled, share: float, seed: int) -> Bools:
    """Return which items are held out: a share of those of every category, as far as possible.

    Parameters
    ----------
    labelled
        The items.
    share
        How many are held out, from 0 to below 1.
    seed
        Seed of the draw.
    """
    n_items = len(labelled.texts)
    if not share:
        return np.zeros(n_items, dtype=bool)
    part = Fraction(share).limit_denominator(min(MOST_FOLDS, n_items))
    if not 0 < part < 1:
        raise LabelError(f"--test-size {share:g} of {n_items} items leaves none on one side.")
    folds = StratifiedFolds(part.denominator, random_state=seed).folds(labelled.targets)
    # Spread over the folds, as neighbouring folds get neighbouring items of a category.
    ends = np.arange(part.denominator + 1) * part.numerator // part.denominator
    is_test: Bools = (np.diff(ends) > 0)[folds]
    several = np.array([len(labels) > 1 for labels in labelled.labels])
    if several.any() and is_test[several].all():
        # A model that has seen no label set would not know that there are any: one changes sides.
        is_test[[np.argmax(several), np.argmin(is_test)]] = False, True
    return is_test


def digests(texts: Iterable[dict[str, str]]) -> NDArray[np.uint64]:
    """Return a number for each item's text, by which it is known again."""
    found = (
        blake2b("\x1f".join(text.values()).encode("utf-8", "replace"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(b"".join(found), dtype="<u8")
