"""``CalibratedAnswers``: the predictions of a model with calibrated probabilities."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from taxonomist.inference.node_probabilities import (
    any_of_categories,
    given_any,
    sum_of_categories,
)
from taxonomist.models.probable_answers import ProbableAnswers

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.models.calibrated import CalibratedClassifier
    from taxonomist.models.calibrator import Opened


class CalibratedAnswers(ProbableAnswers):
    """All predictions for a block of items, which are scored once.

    Parameters
    ----------
    wrapper
        The fitted ``CalibratedClassifier``.
    inside
        The wrapped model with the items.
    """

    def __init__(self, wrapper: CalibratedClassifier, inside: Opened) -> None:
        super().__init__(wrapper.targets_)
        self._wrapper = wrapper
        self._inside = inside

    @cached_property
    def categories(self) -> Floats:
        """Category probabilities, before conditioning on at least one label."""
        return self._wrapper.probabilities_.of(self._inside.categories)

    def proba(self) -> Floats:
        """Return the probability of every category; see ``predict_proba``."""
        return given_any(self.categories) if self._wrapper.has_label_ else self.categories

    @cached_property
    def of_nodes(self) -> Floats:
        """Probabilities that items belong at or below every node."""
        taxonomy, nodes = self._taxonomy, self._targets.nodes
        if self._targets.is_single:
            return sum_of_categories(taxonomy, nodes, self.categories)
        has_label = self._wrapper.has_label_
        return any_of_categories(taxonomy, nodes, self.categories, has_label=has_label)

    def plain(self) -> Any:
        """Return the predictions of the model."""
        if self._inside.answers is None:
            return self._inside.model.predict(self._inside.X)
        return self._inside.answers.predict()

    def wrapped(self, question: str) -> Any:
        """Return the answers of the wrapped model; raise if it is not a model of this library."""
        if self._inside.answers is None:
            name = type(self._inside.model).__name__
            raise AttributeError(f"{name} is not a model of this library and cannot {question}.")
        return self._inside.answers
