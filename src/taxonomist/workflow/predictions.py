"""Predict the labels of items, in blocks."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.items import read_items
from taxonomist.datasets.rows import open_table
from taxonomist.errors import ParameterError
from taxonomist.workflow.choices import (
    NarrowedChoice,
    choose,
    expected_losses,
    most_probable,
    node_chances,
)
from taxonomist.workflow.label_ancestors import LabelAncestors
from taxonomist.workflow.model_columns import as_model_texts
from taxonomist.workflow.node_titles import NodeTitles
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.items import Item
    from taxonomist.datasets.table import OpenTable
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.text.answers import TextAnswers
    from taxonomist.workflow.steps import OnStep

__all__ = ["Prediction", "Predictor", "TablePredictions", "Wanted", "predict_table"]

MOST_ITEMS = 8_000
"""Maximum number of items in a block: enough for speed."""
MOST_CHARACTERS = 2**22
"""Characters in a block, about: few enough for any memory."""
AT_ONCE = 2
"""Blocks that are predicted at the same time: words are looked up by one core only."""
MOST_PROBABILITIES = 4_000_000
"""Maximum number of probabilities in memory."""
FEWEST_KNOWN = 0.5
"""Fraction of known words below which a text is far from the training texts. In seven corpora, up
to 4% of the held-out texts have some known words but fewer, and up to 4% have none."""
NOTHING_KNOWN = "no known words"
FAR = "far from training"
NAME_ONLY = "known by name only"


class Wanted(NamedTuple):
    """What a prediction should contain besides the labels.

    Attributes
    ----------
    top
        Number of most probable categories to add.
    proba
        Whether to add the probability of each label.
    confident
        Minimum probability that a label is correct. Predicts the deepest node that reaches it,
        which may be an inner node. None for the model's own decision.
    words
        Number of deciding words to add.
    branch, level, loss
        A branch, a level or a loss that narrow the choice; see ``NarrowedChoice``.
    risk
        Whether to add the expected loss.
    """

    top: int = 0
    proba: bool = False
    confident: float | None = None
    words: int = 0
    branch: str | None = None
    level: int | None = None
    loss: str | None = None
    risk: bool = False

    @property
    def choice(self) -> NarrowedChoice:
        """How to choose the labels."""
        return NarrowedChoice(self.confident, self.branch, self.level, self.loss)

    @property
    def needs_probabilities(self) -> bool:
        """Whether the classifier must predict probabilities."""
        return bool(self.proba or self.top or self.risk or self.choice != NarrowedChoice())


class Prediction(NamedTuple):
    """The prediction for an item; fields that were not requested are empty.

    Attributes
    ----------
    labels, names, paths, probabilities
        Id, name, path and probability of each label; see ``NodeTitles`` for names and paths.
    note
        Why the prediction says little: the text has no known words, or few, or a label is a
        category without training documents, which only its name describes; otherwise empty.
    top
        Id, name and probability of the most probable categories.
    words
        The deciding words, with their values and nodes.
    risk
        The expected loss of the labels; see ``expected_losses``.
    """

    labels: list[str]
    names: list[str]
    paths: list[tuple[str, ...]]
    note: str
    probabilities: list[float]
    top: list[tuple[str, str, float]]
    words: list[tuple[str, float, object]]
    risk: float | None = None


class Predictor:
    """Predict the labels of blocks of items.

    Parameters
    ----------
    classifier
        A fitted classifier.
    wanted
        What the predictions should contain.

    Raises
    ------
    ParameterError
        If the classifier cannot provide what is wanted.
    """

    def __init__(self, classifier: TextClassifier, wanted: Wanted) -> None:
        if wanted.needs_probabilities and classifier.calibration is None:
            raise ParameterError(
                "The model has no probabilities: it was trained with calibration=None."
            )
        if wanted.words and not classifier.can_explain:
            raise ParameterError(
                "This kind of model cannot explain its predictions. Train another one, such as svm."
            )
        self._classifier = classifier
        self._wanted = wanted
        self._titles = NodeTitles(classifier.taxonomy_)
        self._ancestors = LabelAncestors(classifier.taxonomy_)
        self._categories = frozenset(classifier.classes_.tolist())
        # Classifiers of old files lack the attribute.
        self._named_only = frozenset(getattr(classifier, "named_only_", ()))
        self.block_size = MOST_ITEMS
        if wanted.needs_probabilities:
            n_fitting = MOST_PROBABILITIES // classifier.taxonomy_.n_nodes
            self.block_size = max(1, min(MOST_ITEMS, n_fitting))

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """Return the predictions for a block of at most ``block_size`` items."""
        wanted = self._wanted
        texts = as_model_texts(self._classifier, [item.text for item in items])
        answers = self._classifier.answer(self._classifier.features_.count(texts))
        labels = [*map(self._ancestors.most_specific, self._labels(answers))]
        nothing: Any = [[]] * len(items)
        chances = self._chances(answers, labels) if wanted.proba else nothing
        top = self._top(answers) if wanted.top else nothing
        words = self._words(answers, labels) if wanted.words else nothing
        risks: list[float | None] = [None] * len(items)
        if wanted.risk:
            risks = expected_losses(self._classifier, answers, labels).tolist()
        notes = map(self._note, answers.known_share().tolist(), labels)
        name, path = self._titles.name, self._titles.path
        return [
            Prediction(found, [*map(name, found)], [*map(path, found)], *rest)
            for found, *rest in zip(labels, notes, chances, top, words, risks, strict=True)
        ]

    def _note(self, known: float, labels: list[str]) -> str:
        """Return a note about a text with a fraction of known words."""
        if not known:
            return NOTHING_KNOWN
        if not self._named_only.isdisjoint(labels):
            return NAME_ONLY
        return FAR if known < FEWEST_KNOWN else ""

    def _labels(self, answers: TextAnswers) -> list[list[str]]:
        return choose(self._classifier, answers, self._wanted.choice)

    def _chances(self, answers: TextAnswers, labels: list[list[str]]) -> list[list[float]]:
        """Return the probability of each label."""
        code = self._classifier.taxonomy_.code
        chances = node_chances(self._classifier, answers, self._wanted.branch)
        pairs = zip(chances, labels, strict=True)
        return [[float(row[code(label)]) for label in found] for row, found in pairs]

    def _top(self, answers: TextAnswers) -> list[list[tuple[str, str, float]]]:
        """Return the most probable categories of each text."""
        wanted, name = self._wanted, self._titles.name
        found = most_probable(self._classifier, answers, wanted.top, wanted.branch)
        return [[(label, name(label), chance) for label, chance in row] for row in found]

    def _words(
        self, answers: TextAnswers, labels: list[list[str]]
    ) -> list[list[tuple[str, float, object]]]:
        """Return the deciding words of each text, strongest first."""
        n = self._wanted.words
        wanted = [next((x for x in found if x in self._categories), None) for found in labels]
        return [why.words[:n] for why in answers.explanations(n, wanted)]


class TablePredictions:
    """An iterator over the predictions for the rows of an open table, in order.

    Iterate over it only once.

    Parameters
    ----------
    predictor
        Makes the predictions.
    table, columns
        The table, and the roles of its columns.
    skip_bad
        Whether to skip bad rows. If False, a bad row ends the iteration with a ``BadRowsError``,
        after the predictions for the blocks before it.
    on_step
        Called with the number of predictions so far.

    Attributes
    ----------
    has_ids
        Whether items have ids.
    bad
        Numbers of rows read and of bad ones.
    note
        Message about skipped rows and the encoding, set at the end of the iteration.
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
        for block, predictions in self._predicted():
            yield from zip(block, predictions, strict=True)
            n_done += len(block)
            self._on_step("Classifying", n_done, None)
        skipped = self.bad.settle(self._table.name, self._skip_bad)
        self.note = "\n".join(filter(None, [*self._table.notes, skipped]))

    def _predicted(self) -> Iterator[tuple[list[Item], list[Prediction]]]:
        """Yield blocks with their predictions; threads predict while others are read, written."""
        waiting: deque[tuple[list[Item], Future[list[Prediction]]]] = deque()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            items = read_items(self._table, self._columns, self.bad)
            for block in _blocks(items, self._predictor.block_size):
                if self.bad.count and not self._skip_bad:
                    break
                waiting.append((block, pool.submit(self._predictor.predict, block)))
                if len(waiting) > AT_ONCE:
                    done, predictions = waiting.popleft()
                    yield done, predictions.result()
            for done, predictions in waiting:
                yield done, predictions.result()


def _blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    block: list[Item] = []
    n_characters = 0
    for item in items:
        block.append(item)
        n_characters += sum(map(len, item.text.values()))
        if len(block) >= size or n_characters >= MOST_CHARACTERS:
            yield block
            block, n_characters = [], 0
    if block:
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
    """Open a table of any size and predict the labels of its rows in blocks.

    Parameters
    ----------
    predictor
        Makes the predictions.
    source
        The file.
    columns
        Roles of the columns; labels are not read.
    skip_bad
        Whether to skip bad rows.
    on_step
        Called with the number of predictions so far.

    Yields
    ------
    TablePredictions
        Items with their predictions.
    """
    with open_table(source) as table:
        yield TablePredictions(predictor, table, columns, skip_bad=skip_bad, on_step=on_step)
