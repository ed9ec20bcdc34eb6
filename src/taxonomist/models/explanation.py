"""Explanations of scores: contributions of nodes and features that sum to the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class NodePart:
    """The contribution of one node to a score.

    Attributes
    ----------
    node, name
        Id and display name of the node.
    value
        The contribution of the node.
    features
        The strongest features at the node and their contributions, strongest first.
    rest
        The sum of the contributions of all other features.
    """

    node: Any
    name: str
    value: float
    features: tuple[tuple[str, float], ...] = ()
    rest: float = 0.0


@dataclass(frozen=True)
class Explanation:
    """Explanation of the score of a category, or of the difference of two scores.

    Attributes
    ----------
    category
        The explained category.
    against
        The category that it is compared with, or None.
    score
        The score, or the difference of the two scores.
    parts
        Contributions of nodes in the order of the path. They sum to ``score``.
    """

    category: Any
    against: Any
    score: float
    parts: Sequence[NodePart]

    def __str__(self) -> str:
        """Return a line per node with its strongest features."""
        versus = "" if self.against is None else f" rather than {self.against}"
        lines = [f"{self.category}{versus}: {self.score:+z.3f}"]
        for part in self.parts:
            words = ", ".join(f"{name} {value:+z.3f}" for name, value in part.features)
            title = part.name if part.name == str(part.node) else f"{part.node} {part.name}"
            lines.append(f"  {part.value:+z.3f}  {title}" + (f"  ({words})" if words else ""))
        return "\n".join(lines)
