"""What a classifier says of items, block by block, as cells of a table or as JSON."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from taxonomist.cli.trained import as_trained, check_explains, check_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import Floats
    from taxonomist.cli.items import Item
    from taxonomist.text import TextClassifier

__all__ = ["Decider", "Prediction", "Wanted", "as_cells", "as_record", "blocks", "headings"]

BLOCK = 2_000
"""Items that are classified together: enough to be quick, few enough for any memory."""
BLOCK_CELLS = 4_000_000
"""Probabilities that are held at a time, at the most."""
STEP = " > "
SEPARATOR = ";"


class Wanted(NamedTuple):
    """What is asked for.

    Attributes
    ----------
    top
        The number of most probable categories to give beside the decision.
    proba
        Whether to give the probability of each label.
    confident
        The probability with which labels must be right; they may be inner nodes then. None for
        the model's own decision.
    words
        The number of words to give as reasons.
    separator
        What parts labels in a cell.
    """

    top: int = 0
    proba: bool = False
    confident: float | None = None
    words: int = 0
    separator: str = SEPARATOR


class Prediction(NamedTuple):
    """What is said of an item; what was not asked for is empty."""

    labels: list[str]
    paths: list[tuple[str, ...]]
    probabilities: list[float]
    top: list[tuple[str, float]]
    words: list[tuple[str, float, str]]


def blocks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in blocks."""
    while block := list(islice(items, size)):
        yield block


class Decider:
    """Makes predictions.

    Parameters
    ----------
    classifier
        A fitted classifier.
    wanted
        What is asked for.
    """

    def __init__(self, classifier: TextClassifier, wanted: Wanted) -> None:
        self._classifier = classifier
        self._wanted = wanted
        self._paths: dict[str, tuple[str, ...]] = {}
        self._above: dict[str, frozenset[str]] = {}
        needs_table = wanted.proba or wanted.top or wanted.confident is not None
        if needs_table:
            check_probabilities(classifier)
        if wanted.words:
            check_explains(classifier)
        n_nodes = classifier.taxonomy_.n_nodes
        self.block_size = max(1, min(BLOCK, BLOCK_CELLS // n_nodes)) if needs_table else BLOCK

    def decide(self, items: Sequence[Item]) -> list[Prediction]:
        """Return what is said of each item."""
        texts = as_trained(self._classifier, [item.text for item in items])
        wanted, classifier = self._wanted, self._classifier
        labels = [self._most_specific(found) for found in self._labels(texts)]
        chances: Any = [[]] * len(items)
        if wanted.proba:
            chances = self._chances(texts, labels)
        top: Any = [[]] * len(items)
        if wanted.top:
            ids, scores = classifier.predict_topk(texts, wanted.top)
            top = [
                list(zip(map(str, row), values, strict=True))
                for row, values in zip(ids, scores.tolist(), strict=True)
            ]
        words: Any = [[]] * len(items)
        if wanted.words:
            words = [self._words(*pair) for pair in zip(texts, labels, strict=True)]
        return [
            Prediction(found, [self._path(label) for label in found], *rest)
            for found, *rest in zip(labels, chances, top, words, strict=True)
        ]

    def _labels(self, texts: list[dict[str, str]]) -> list[list[str]]:
        """Return the labels of each text."""
        classifier, confident = self._classifier, self._wanted.confident
        if confident is None:
            return classifier.predict_labels(texts)
        risk = round(1 - confident, 12)
        found = classifier.predict(texts, depth="confident", risk=risk)
        return [[label] if isinstance(label, str) else list(label) for label in found]

    def _most_specific(self, labels: list[str]) -> list[str]:
        """Return the labels that are above no other; a root that only joins is none."""
        taxonomy = self._classifier.taxonomy_
        if taxonomy.has_artificial_root and taxonomy.root in labels:
            labels = [label for label in labels if label != taxonomy.root]
        if len(labels) < 2:
            return [str(label) for label in labels]
        for label in labels:
            if label not in self._above:
                self._above[label] = frozenset(taxonomy.ancestors(label))
        above = frozenset().union(*(self._above[label] for label in labels))
        return [str(label) for label in labels if label not in above]

    def _path(self, label: str) -> tuple[str, ...]:
        """Return the names on the way from the top to a node."""
        if label not in self._paths:
            taxonomy = self._classifier.taxonomy_
            steps = taxonomy.paths(label, limit=1)[0]
            self._paths[label] = tuple(taxonomy.name(step) for step in steps)
        return self._paths[label]

    def _chances(self, texts: list[dict[str, str]], labels: list[list[str]]) -> list[list[float]]:
        """Return the probability of each label."""
        table: Floats = self._classifier.predict_node_proba(texts)
        code = self._classifier.taxonomy_.code
        pairs = zip(table, labels, strict=True)
        return [[float(row[code(label)]) for label in found] for row, found in pairs]

    def _words(self, text: dict[str, str], labels: list[str]) -> list[tuple[str, float, str]]:
        """Return the words that decide, the strongest first."""
        n = self._wanted.words
        categories = self._classifier.classes_
        category = next((label for label in labels if label in categories), None)
        return self._classifier.explain(text, n=n, category=category).words[:n]


def headings(key: str, wanted: Wanted) -> list[str]:
    """Return the names of the columns that ``as_cells`` fills."""
    names = [key, "label", "path"]
    if wanted.proba:
        names.append("probability")
    for k in range(1, wanted.top + 1):
        names += [f"label_{k}", f"probability_{k}"]
    return [*names, "words"] if wanted.words else names


def as_cells(key: object, found: Prediction, wanted: Wanted) -> list[object]:
    """Return a prediction as the cells of a row."""
    glue = wanted.separator
    cells = [key, glue.join(found.labels), glue.join(map(STEP.join, found.paths))]
    if wanted.proba:
        cells.append(glue.join(f"{chance:.4f}" for chance in found.probabilities))
    if wanted.top:
        for label, chance in found.top:
            cells += [label, f"{chance:.4f}"]
        cells += [""] * (2 * (wanted.top - len(found.top)))
    if wanted.words:
        cells.append(" ".join(f"{word} {value:+.2f}" for word, value, _ in found.words))
    return cells


def as_record(key: dict[str, object], found: Prediction, wanted: Wanted) -> dict[str, Any]:
    """Return a prediction as plain data; labels and what belongs to them are lists."""
    record: dict[str, Any] = {**key, "labels": found.labels, "paths": found.paths}
    if wanted.proba:
        record["probabilities"] = [round(chance, 6) for chance in found.probabilities]
    if wanted.top:
        record["top"] = [{"label": name, "probability": round(p, 6)} for name, p in found.top]
    if wanted.words:
        record["words"] = [
            {"word": word, "value": value, "node": node} for word, value, node in found.words
        ]
    return record
