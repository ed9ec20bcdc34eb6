"""Decisions: from scored items to label sets closed under ancestors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from taxonomist.inference.label_sets import choose

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.label_sets import FittedRule, Limits, Rule
    from taxonomist.inference.rules import RuleReader
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.targets import Targets


class Decision(Protocol):
    """Converts scored items to label sets."""

    def sets(self, scored: Scored) -> CSR:
        """Return label sets, (n_items, n_nodes) boolean, closed under ancestors."""

    def scores(self, scored: Scored) -> Floats:
        """Return the category scores that the decision is based on."""

    def best(self, scored: Scored, k: int) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""


@dataclass(frozen=True, eq=False)
class RuleDecision:
    """Chooses the categories that exceed the thresholds of a fitted rule, within limits.

    Attributes
    ----------
    rule
        The fitted rule.
    limits
        The minimum and maximum number of labels.
    targets
        The categories.
    """

    rule: FittedRule
    limits: Limits
    targets: Targets

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``."""
        return self.targets.close(choose(self.rule.excess(scored.categories), *self.limits))

    def scores(self, scored: Scored) -> Floats:
        """Return the scores of categories."""
        return scored.categories

    def best(self, scored: Scored, k: int) -> tuple[Codes, Floats]:
        """Return the best categories; see ``Decision``."""
        return scored.best(k)


class RuleTuning:
    """Tunes a decision rule on held-out scores.

    Parameters
    ----------
    rule
        The rule.
    targets
        The targets of all items.
    held_out
        The items that will be held out, in ascending order.
    limits
        The minimum and maximum number of labels.
    """

    def __init__(self, rule: Rule, targets: Targets, held_out: Codes, limits: Limits) -> None:
        self._held_out = held_out
        self._reader: RuleReader = rule.reader(targets.labels[held_out], limits)

    @property
    def needs_scores(self) -> bool:
        """Whether the rule needs held-out scores."""
        return self._reader.needs_scores

    def take(self, items: Codes, scored: Scored) -> None:
        """Take a block of held-out items."""
        if self.needs_scores:
            self._reader.add(np.searchsorted(self._held_out, items), scored.categories)

    def finish(self) -> dict[str, object]:
        """Return the fitted rule, as a fitted attribute."""
        return {"decision_": self._reader.finish()}
