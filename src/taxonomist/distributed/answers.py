"""Lazy predictions: a local model answers questions about each block of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.distributed.blocks import blocks_of, matrix_of
from taxonomist.distributed.text_parts import texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from dask.array import Array
    from dask.bag import Bag
    from dask.delayed import Delayed

    from taxonomist.distributed.blocks import Block, Collection


class Question(NamedTuple):
    """A method of a local model and its arguments.

    Attributes
    ----------
    method
        The name of the method.
    arguments
        What it is given behind the items.
    is_text
        Whether items are texts.
    example
        One item, for blocks without any.
    """

    method: str
    arguments: tuple[object, ...]
    is_text: bool
    example: Block


def ask(model: Block, block: Block, question: Question) -> Block:
    """Return the answer of a model for the items of a block."""
    method = getattr(model, question.method)
    if block.shape[0] if hasattr(block, "shape") else len(block):
        items = texts_of(block) if question.is_text else matrix_of(block)
        return method(items, *question.arguments)
    # No model takes an empty table: ask about one item, and keep nothing of the answer.
    answer = method(question.example, *question.arguments)
    return tuple(part[:0] for part in answer) if isinstance(answer, tuple) else answer[:0]


def pick(answer: Block, number: int) -> Block:
    """Return one of several results."""
    return answer[number]


class LazyAnswers(NamedTuple):
    """The answers for all blocks of a collection, not computed yet.

    Attributes
    ----------
    blocks
        The answer for each block.
    sizes
        The number of items of each block; NaN if it is unknown.
    """

    blocks: list[Delayed]
    sizes: tuple[float, ...]

    @classmethod
    def of(cls, model: Delayed, X: Collection, question: Question) -> LazyAnswers:
        """Return the answers of a model, which is delayed or a future, for a collection."""
        from dask import delayed

        blocks = blocks_of(X, "X")
        lazily = delayed(ask, pure=False)
        known = getattr(X, "chunks", None)
        sizes = known[0] if known is not None else (np.nan,) * len(blocks)
        return cls([lazily(model, block, question) for block in blocks], sizes)

    def part(self, number: int) -> LazyAnswers:
        """Return one of several results of each answer."""
        from dask import delayed

        lazily = delayed(pick, pure=False)
        return self._replace(blocks=[lazily(block, number) for block in self.blocks])

    def array(self, dtype: object, *columns: int, meta: Block = None) -> Array:
        """Return an array of all answers, given the number of columns if it has any."""
        import dask.array as da

        made: Callable[..., Array] = da.from_delayed
        parts = [
            made(block, (size, *columns), dtype=dtype, meta=meta)
            for block, size in zip(self.blocks, self.sizes, strict=True)
        ]
        return da.concatenate(parts, axis=0, allow_unknown_chunksizes=True)

    def bag(self) -> Bag:
        """Return a bag of all answers, which are lists."""
        import dask.bag

        return dask.bag.from_delayed(self.blocks)
