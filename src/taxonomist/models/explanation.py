"""Why a category got its score: the parts of nodes and of features, adding up exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class NodePart:
    """What one node adds to a score.

    Attributes
    ----------
    node, name
        Id and display name.
    value
        The node's contribution.
    features
        The strongest features at the node and their contributions, strongest first.
    rest
        The sum of the contributions of all other features.
    """

    node: str
    name: str
    value: float
    features: tuple[tuple[str, float], ...] = ()
    rest: float = 0.0


@dataclass(frozen=True)
class Explanation:
    """Why an item has its score for a category, or more of it than for another.

    Attributes
    ----------
    category
        The category that is explained.
    against
        The category that it is compared with; None where the score itself is explained.
    score
        The score, or the difference of the two scores.
    parts
        Contributions of nodes, in the order of the path; they add up to ``score``.
    """

    category: str
    against: str | None
    score: float
    parts: Sequence[NodePart]

    def __str__(self) -> str:
        """Return a line per node with its strongest features."""
        versus = "" if self.against is None else f" rather than {self.against}"
        lines = [f"{self.category}{versus}: {self.score:+.3f}"]
        for part in self.parts:
            words = ", ".join(f"{name} {value:+.3f}" for name, value in part.features)
            title = part.node if part.name == part.node else f"{part.node} {part.name}"
            lines.append(f"  {part.value:+.3f}  {title}" + (f"  ({words})" if words else ""))
        return "\n".join(lines)
