"""What a classifier says of items, block by block."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.items import read_items
from taxonomist.datasets.rows import open_table
from taxonomist.errors import ParameterError
from taxonomist.workflow.model_columns import as_model_texts
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.items import Item
    from taxonomist.datasets.table import OpenTable
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.text.answers import TextAnswers
    from taxonomist.workflow.steps import OnStep

__all__ = ["Prediction", "Predictor", "TablePredictions", "Wanted", "predict_table"]

MOST_ITEMS = 2_000
"""Items that are classified together: enough to be quick, few enough for any memory."""
MOST_PROBABILITIES = 4_000_000
"""Probabilities that are held at a time, at the most."""


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
    """

    top: int = 0
    proba: bool = False
    confident: float | None = None
    words: int = 0

    @property
    def needs_probabilities(self) -> bool:
        """Whether the classifier must have probabilities."""
        return bool(self.proba or self.top or self.confident is not None)


class Prediction(NamedTuple):
    """What is said of an item; what was not asked for is empty."""

    labels: list[str]
    paths: list[tuple[str, ...]]
    probabilities: list[float]
    top: list[tuple[str, float]]
    words: list[tuple[str, float, str]]


class Predictor:
    """Makes predictions.

    Parameters
    ----------
    classifier
        A fitted classifier.
    wanted
        What is asked for.

    Raises
    ------
    ParameterError
        If the classifier cannot give what is asked for.
    """

    def __init__(self, classifier: TextClassifier, wanted: Wanted) -> None:
        if wanted.needs_probabilities and classifier.calibration is None:
            raise ParameterError("The model has no probabilities: it was fitted without them.")
        if wanted.words and not hasattr(classifier.model_, "explain"):
            raise ParameterError(
                "This kind of model cannot say why: train another one, such as svm."
            )
        self._classifier = classifier
        self._wanted = wanted
        self._paths: dict[str, tuple[str, ...]] = {}
        self._above: dict[str, frozenset[str]] = {}
        self._categories = frozenset(classifier.classes_.tolist())
        self.block_size = MOST_ITEMS
        if wanted.needs_probabilities:
            n_fitting = MOST_PROBABILITIES // classifier.taxonomy_.n_nodes
            self.block_size = max(1, min(MOST_ITEMS, n_fitting))

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """Return what is said of each item; a block of them should be no larger than the size."""
        wanted = self._wanted
        texts = as_model_texts(self._classifier, [item.text for item in items])
        answers = self._classifier.answer(texts)
        labels = [self._most_specific(found) for found in self._labels(answers)]
        nothing: Any = [[]] * len(items)
        chances = self._chances(answers, labels) if wanted.proba else nothing
        top = _top(answers, wanted.top) if wanted.top else nothing
        words = self._words(answers, labels) if wanted.words else nothing
        return [
            Prediction(found, [self._path(label) for label in found], *rest)
            for found, *rest in zip(labels, chances, top, words, strict=True)
        ]

    def _labels(self, answers: TextAnswers) -> list[list[str]]:
        """Return the labels of each text."""
        if self._wanted.confident is None:
            return answers.labels()
        return answers.labels(depth="confident", risk=round(1 - self._wanted.confident, 12))

    def _most_specific(self, labels: list[str]) -> list[str]:
        """Return the labels that are above no other; a virtual root is none."""
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

    def _chances(self, answers: TextAnswers, labels: list[list[str]]) -> list[list[float]]:
        """Return the probability of each label."""
        code = self._classifier.taxonomy_.code
        pairs = zip(answers.node_proba(), labels, strict=True)
        return [[float(row[code(label)]) for label in found] for row, found in pairs]

    def _words(
        self, answers: TextAnswers, labels: list[list[str]]
    ) -> list[list[tuple[str, float, str]]]:
        """Return the words that decide, the strongest first."""
        n = self._wanted.words
        wanted = [next((x for x in found if x in self._categories), None) for found in labels]
        return [why.words[:n] for why in answers.explanations(n, wanted)]


def _top(answers: TextAnswers, k: int) -> list[list[tuple[str, float]]]:
    """Return the most probable categories of each text."""
    ids, scores = answers.topk(k)
    return [
        list(zip(map(str, row), values, strict=True))
        for row, values in zip(ids, scores.tolist(), strict=True)
    ]


class TablePredictions:
    """The predictions for the rows of an open table, in their order; iterated over once.

    Parameters
    ----------
    predictor
        Makes the predictions.
    table, columns
        The table, and which of its columns hold what.
    skip_bad
        Whether bad rows are left out. If not, the first bad row ends the iteration with a
        ``BadRowsError``; the predictions for the blocks before it have come by then.
    on_step
        Called with the number of predictions.

    Attributes
    ----------
    has_ids
        Whether items have ids.
    bad
        Counts of the rows, and of bad ones.
    note
        What is to be said, at the end, about the rows that were left out.
    """

    def __init__(
        self,
        predictor: Predictor,
        table: OpenTable,
        columns: Columns,
        *,
        skip_bad: bool,
        on_step: OnStep,
    ) -> None:
        self._predictor = predictor
        self._table = table
        self._columns = replace(columns, labels=None).found_in(table, "id")
        self._skip_bad = skip_bad
        self._on_step = on_step
        self.has_ids = self._columns.id is not None
        self.bad = BadRows()
        self.note = ""

    def __iter__(self) -> Iterator[tuple[Item, Prediction]]:
        n_done = 0
        items = read_items(self._table, self._columns, self.bad)
        for block in _blocks(items, self._predictor.block_size):
            if self.bad.count and not self._skip_bad:
                break
            yield from zip(block, self._predictor.predict(block), strict=True)
            n_done += len(block)
            self._on_step("Classifying", n_done, None)
        self.note = self.bad.settle(self._table.name, self._skip_bad)


def _blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in blocks."""
    items = iter(items)
    while block := list(islice(items, size)):
        yield block


@contextmanager
def predict_table(
    predictor: Predictor,
    source: TableSource,
    columns: Columns,
    *,
    skip_bad: bool = False,
    on_step: OnStep = silent,
) -> Iterator[TablePredictions]:
    """Open a table of any size and predict the labels of its rows, a block at a time.

    Parameters
    ----------
    predictor
        Makes the predictions.
    source
        The file.
    columns
        Which columns hold what; labels are not read.
    skip_bad
        Whether bad rows are left out.
    on_step
        Called with the number of predictions.

    Yields
    ------
    TablePredictions
        Items with their predictions.
    """
    with open_table(source) as table:
        yield TablePredictions(predictor, table, columns, skip_bad=skip_bad, on_step=on_step)
