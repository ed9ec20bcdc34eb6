"""Tasks on parts of texts: document frequencies, vectors and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.taxonomy import labels as label_formats
from taxonomist.text.digests import digests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, TextLike
    from taxonomist.distributed.blocks import Block
    from taxonomist.features import TextFeatures


class TextFacts(NamedTuple):
    """Facts about the texts and labels of parts.

    Attributes
    ----------
    n_items
        The number of items.
    first
        A list of the first item; empty if there is none.
    is_single
        Whether each item has exactly one label.
    seen
        The hashes of the texts.
    """

    n_items: int
    first: list[TextLike]
    is_single: bool
    seen: NDArray[np.uint64]

    @classmethod
    def joined(cls, parts: Sequence[TextFacts]) -> TextFacts:
        """Return the facts about all parts."""
        return cls(
            sum(part.n_items for part in parts),
            [item for part in parts for item in part.first][:1],
            all(part.is_single for part in parts),
            np.unique(np.concatenate([part.seen for part in parts])),
        )


def texts_of(block: Block) -> list[TextLike]:
    """Return the texts of a block: of a data frame with several columns, a mapping per item."""
    if hasattr(block, "to_dict") and getattr(block, "ndim", 1) == 2:
        return list(block.to_dict("records"))
    return list(block.tolist() if hasattr(block, "tolist") else block)


def text_facts(number: int, block: Block, y: Block) -> TextFacts:
    """Return the facts about a part; raise if it has other numbers of texts and of labels."""
    texts, sets = texts_of(block), label_formats.as_sets(labels_of(y))
    if len(texts) != len(sets):
        raise ParameterError(
            f"Partition {number} has {len(texts)} texts, but labels for {len(sets)} items; give "
            "both the same items in each partition."
        )
    is_single = all(len(labels) == 1 for labels in sets)
    return TextFacts(len(texts), texts[:1], is_single, np.unique(digests(texts)))


def labels_of(y: Block) -> Block:
    """Return the labels of a block as a list."""
    return y.tolist() if hasattr(y, "tolist") else y


def simplified_labels(y: Block, is_single: bool) -> list[object]:
    """Return one label per item if all items of all parts have one, else lists of labels."""
    sets = label_formats.as_sets(labels_of(y))
    return [label for (label,) in sets] if is_single else list(sets)


def term_frequencies(
    block: Block, features: TextFeatures, first: TextLike | None
) -> dict[str, int]:
    """Return how many items of a part have each term."""
    return features.frequencies(texts_of(block), first)


def add_frequencies(parts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Return the sums of frequencies, with terms in order of first appearance."""
    total = dict(parts[0])
    for part in parts[1:]:
        for term, number in part.items():
            total[term] = total.get(term, 0) + number
    return total


def vectors_of(block: Block, features: TextFeatures) -> CSR:
    """Return the vectors of a part."""
    return features.transform(texts_of(block))
