"""The interface of losses between categories, and the check of their values.

Every loss is zero on equality and positive elsewhere, as slack rescaling needs [CH04, section 3].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist._typing import Codes, Floats
    from taxonomist.taxonomy import Taxonomy


class CategoryLoss(ABC):
    """A loss between the categories of a taxonomy.

    Parameters
    ----------
    taxonomy
        The taxonomy of the categories.
    categories
        Node codes of the categories, in column order.

    Attributes
    ----------
    taxonomy, categories
        As given.
    """

    def __init__(self, taxonomy: Taxonomy, categories: Codes) -> None:
        self.taxonomy = taxonomy
        self.categories = categories

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return len(self.categories)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids of the categories as users see them, without terminal children."""
        nodes, terminals = self.taxonomy.nodes, self.taxonomy.terminals
        return tuple(terminals.get(nodes[code], nodes[code]) for code in self.categories)

    @abstractmethod
    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return the loss of predicting ``j[k]`` where ``i[k]`` is true, for every k.

        Parameters
        ----------
        i, j
            Positions of the true and the predicted categories, arrays of equal length.

        Returns
        -------
        Floats
            One loss per pair.
        """

    def row(self, i: int) -> Floats:
        """Return the loss of predicting each category where category ``i`` is true.

        Parameters
        ----------
        i
            Position of the true category.

        Returns
        -------
        Floats
            Array of shape (n_categories,).
        """
        return self.pairs(np.full(self.n_categories, i), np.arange(self.n_categories))

    def rows(self, indices: Iterable[int]) -> Floats:
        """Return several rows as one block; the caller limits their number to fit in memory.

        Parameters
        ----------
        indices
            Positions of the true categories.

        Returns
        -------
        Floats
            Array of shape (number of indices, n_categories).
        """
        found = [self.row(i) for i in indices]
        return np.stack(found) if found else np.empty((0, self.n_categories))


def check_values(loss: CategoryLoss, i: Codes, j: Codes, values: Floats) -> None:
    """Raise if a value is not zero on equality or not positive elsewhere, and name the pair."""
    valid = np.isfinite(values) & np.where(i == j, values == 0, values > 0)
    if valid.all():
        return
    at = tuple(np.argwhere(~valid)[0])
    true, predicted = (loss.ids[np.broadcast_to(k, values.shape)[at]] for k in (i, j))
    wanted = "0" if true == predicted else "a finite number above 0"
    raise LabelError(
        f"The loss of predicting {predicted!r} where {true!r} is true is {values[at]}; "
        f"it must be {wanted}."
    )
