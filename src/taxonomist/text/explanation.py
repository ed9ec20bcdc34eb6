"""Explanations of predictions: the words for and against a category, level by level."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from taxonomist.datasets.cells import STEP
from taxonomist.features.terms import spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taxonomist.models.explanation import Explanation

CERTAIN = 1e-12
"""Contributions smaller than this fraction of the largest one are not shown."""


@dataclass(frozen=True)
class TextExplanation:
    """The words in a text for and against a category.

    Attributes
    ----------
    text
        The text; several columns are joined by line breaks.
    category, path
        The explained category, and the path to it from the top.
    probability
        Probability of the category; None if the model has no probabilities.
    score
        Score of the category: the sum of the contributions.
    levels
        For each node on the path: its id, name and contribution, and its strongest words.
    totals
        Contribution of each word, summed over all levels.
    meaning
        For each level, the part of its words' contributions that comes from the sentence vector;
        empty if the model uses words alone.
    """

    text: str
    category: object
    path: tuple[object, ...]
    probability: float | None
    score: float
    levels: tuple[tuple[object, str, float, tuple[tuple[str, float], ...]], ...]
    totals: Mapping[str, float]
    meaning: tuple[Mapping[str, float], ...] = ()

    @classmethod
    def of(
        cls,
        text: str,
        found: Explanation,
        path: Iterable[object],
        probability: float | None,
        n: int,
        meaning: tuple[Mapping[str, float], ...] = (),
    ) -> TextExplanation:
        """Make an explanation from a model's explanation, with the n strongest words per level."""
        totals: dict[str, float] = defaultdict(float)
        for part in found.parts:
            for word, value in part.features:
                totals[word] += value
        levels = tuple(
            (part.node, part.name, part.value, tuple(part.features[:n])) for part in found.parts
        )
        known = found.category, tuple(path), probability, found.score, levels, dict(totals)
        return cls(text, *known, meaning)

    @cached_property
    def spans(self) -> tuple[tuple[int, int, float], ...]:
        """Start, end and contribution of the words in the text."""
        least = CERTAIN * max(map(abs, self.totals.values()), default=0.0)
        placed = ((start, end, self.totals.get(word, 0.0)) for start, end, word in spans(self.text))
        return tuple((start, end, value) for start, end, value in placed if abs(value) > least)

    @property
    def words(self) -> list[tuple[str, float, object]]:
        """Words with their contributions and nodes, strongest first."""
        found = [(word, value, node) for node, _, _, words in self.levels for word, value in words]
        return sorted(found, key=lambda entry: -abs(entry[1]))

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as JSON-serialisable data."""
        return {
            "category": self.category,
            "path": list(self.path),
            "probability": self.probability,
            "score": self.score,
            "levels": [
                {
                    "node": node,
                    "name": name,
                    "value": value,
                    "words": [
                        {"word": word, "value": part, **self._meaning_of(level, word)}
                        for word, part in words
                    ],
                }
                for level, (node, name, value, words) in enumerate(self.levels)
            ],
        }

    def __str__(self) -> str:
        """Return the path, and a line with the strongest words for each level."""
        chance = "" if self.probability is None else f"  ({self.probability:.0%})"
        lines = [self._steps + chance]
        for level, (node, name, value, words) in enumerate(self.levels):
            title = name if name == _short(node, name) else f"{node} {name}"
            parts = self._listed(level, words)
            lines.append(f"  {value:+z.2f}  {title}" + (f": {parts}" if parts else ""))
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return HTML with the levels and the text, words marked green (for) or red (against)."""
        largest = max((abs(value) for *_, value in self.spans), default=1.0)
        by_meaning = {
            start: sum(level.get(word, 0.0) for level in self.meaning)
            for start, _, word in (spans(self.text) if self.meaning else ())
        }
        pieces, end = [], 0
        for start, stop, value in self.spans:
            if start < end:
                continue
            strength = round(100 * abs(value) / largest)
            colour = "46, 160, 67" if value > 0 else "218, 54, 51"
            shade = f"rgba({colour}, {strength / 100:.2f})"
            title = f"{value:+z.3f}"
            if self.meaning:
                share = by_meaning[start]
                shade = _two_shades(colour, strength, value - share, share)
                title = f"{value:+z.3f}: word {value - share:+z.3f}, meaning {share:+z.3f}"
            pieces.append(escape(self.text[end:start]))
            pieces.append(
                f'<mark style="background: {shade}; color: inherit" '
                f'title="{title}">{escape(self.text[start:stop])}</mark>'
            )
            end = stop
        pieces.append(escape(self.text[end:]))
        head = escape(self._steps)
        chance = "" if self.probability is None else f" ({self.probability:.0%})"
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{value:+z.2f}</td><td>"
            + escape(self._listed(level, words))
            + "</td></tr>"
            for level, (_, name, value, words) in enumerate(self.levels)
        )
        return (
            f'<div class="taxonomist-explanation"><p><strong>{head}</strong>{chance}</p>'
            f'<p style="white-space: pre-wrap">{"".join(pieces)}</p><table>{rows}</table></div>'
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    @property
    def _steps(self) -> str:
        """The path for people, which does not repeat the steps above an id that is a whole path."""
        names = {node: name for node, name, *_ in self.levels}
        return STEP.join(_short(node, names.get(node, "")) for node in self.path)

    def _meaning_of(self, level: int, word: str) -> dict[str, float]:
        """Return the part of a word that comes from the vector; empty for words alone."""
        return {"meaning": self.meaning[level].get(word, 0.0)} if self.meaning else {}

    def _listed(self, level: int, words: Iterable[tuple[str, float]]) -> str:
        """Return the words of a level with their contributions; in brackets, by the vector."""
        found = []
        for word, part in words:
            share = self._meaning_of(level, word).get("meaning", 0.0)
            found.append(f"{word} {part:+z.2f}" + (f" ({share:+z.2f})" if self.meaning else ""))
        return ", ".join(found)


def _short(node: object, name: str) -> str:
    """Return an id; if it is a whole path, only its end, which is the name."""
    return name if name and str(node).endswith(f"{STEP}{name}") else str(node)


def _two_shades(colour: str, strength: float, by_word: float, by_meaning: float) -> str:
    """Return a background of two shades: dark for the word itself, light for its meaning."""
    end = round(100 * abs(by_word) / max(abs(by_word) + abs(by_meaning), 1e-300))
    dark, light = (f"rgba({colour}, {strength / part:.2f})" for part in (100, 200))
    return f"linear-gradient(to right, {dark} {end}%, {light} {end}%)"
