"""Names of categories as training documents, with a weight that held-out documents choose."""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError, closest
from taxonomist.features.terms import words_of
from taxonomist.text.feature_sets import FEWEST_DOCUMENTS
from taxonomist.text.held_out_trials import MOST_ITEMS, best_of, difference
from taxonomist.text.measure import MEASURE, in_words
from taxonomist.text.negatives import SETS, used_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR, Floats
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text.budget import Budget
    from taxonomist.text.classifier import TextClassifier
    from taxonomist.text.held_out_trials import TrialItems

__all__ = [
    "ChosenNames",
    "NameDocuments",
    "NameTrial",
    "as_names",
    "check_names",
    "choose_names",
    "documents_of_names",
    "flat_names",
    "readable",
    "some_names",
    "weights_of_names",
]

logger = logging.getLogger(__name__)

NAMES = ("auto", "on", "off")
"""Words for the parameter ``names``."""
NAME_WEIGHTS = (0.0, 1.0, 3.0, 10.0)
"""Weights of a name beside a document, to climb as long as held-out documents are better."""
LESS = 0.3
"""The weight to try if 1 is worse than 0."""
GUESS = 1.0
"""The weight if there are too few documents to hold some out. With 7 documents of each of the 15
newsgroups, weights of 1, 3 and 10 are within a point of each other, and 3 to 5 points better than
0."""
HALF = 30.0
"""Documents of a category with which its name counts half as much as without any. 10 and 30 do the
same on held-out training items of reuters21578, with 4,000 to learn from; with 7 documents of each
of 15 newsgroups, 4 draws, accuracy is .556 and .558, and .561 if names do not fade."""
MOST_NAMES = 20_000
"""With more categories, only names of categories with documents are used."""
MOST_PER_DOCUMENT = 10
"""With more categories per document, only names of categories with documents are used."""


class NameDocuments(NamedTuple):
    """The names of categories as documents.

    Attributes
    ----------
    texts
        The documents: name, synonyms, definitions and notes of a category.
    labels
        The category of each, in the form of the training labels.
    without
        Ids of categories that have a name but no documents.
    """

    texts: list[str]
    labels: list[object]
    without: list[str]


class NameTrial(NamedTuple):
    """A weight of names.

    Attributes
    ----------
    weight
        The weight of a name beside a document.
    score
        The mean measure of held-out documents; higher is better.
    seconds
        The time that it took.
    """

    weight: float
    score: float
    seconds: float


class ChosenNames(NamedTuple):
    """The weight of names.

    Attributes
    ----------
    weight
        The weight; 0 if names are not used.
    trials
        The weights that were tried, best first.
    gain
        What names gain, with an interval; None if that was not measured.
    note
        Why names are not used; empty if they are.
    values
        The measure of each held-out document with this weight; None if that was not measured.
    measure
        The measure in words.
    """

    weight: float
    trials: list[NameTrial]
    gain: dict[str, float] | None
    note: str = ""
    values: Floats | None = None
    measure: str = in_words(MEASURE)

    def facts(self, documents: NameDocuments | None) -> dict[str, object]:
        """Return the choice as plain data."""
        is_used = documents is not None and self.weight > 0
        return {
            "weight": self.weight,
            "names": len(documents.texts) if documents is not None and is_used else 0,
            "without_documents": len(documents.without) if documents and is_used else 0,
            "trials": [dict(trial._asdict()) for trial in self.trials],
            "gain": self.gain,
            "said": self._said(documents),
        }

    def _said(self, documents: NameDocuments | None) -> str:
        """Return a sentence about the choice."""
        if documents is None or not self.weight:
            return f"Names of categories are not used: {self.note}."
        times = "" if self.weight == 1 else f"{self.weight:g} times "
        said = f"Names of categories count {times}as much as a document"
        if self.gain is not None:
            said += (
                f": {self.measure} of held-out documents {self.gain['estimate']:+z.3f} "
                f"({self.gain['low']:+z.3f} to {self.gain['high']:+z.3f})"
            )
        if documents.without:
            n_without = len(documents.without)
            have = "category has" if n_without == 1 else "categories have"
            said += f". {n_without:,} {have} a name but no documents"
        return f"{said}."


def check_names(given: object) -> None:
    """Raise if the parameter ``names`` of a classifier is invalid."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if (is_number and 0 <= given < np.inf) or given in NAMES:  # type: ignore[operator]
        return
    hint = closest(given, NAMES) if isinstance(given, str) else ""
    raise ParameterError(
        f"names must be 'auto', 'on', 'off', or a weight of at least 0. Got {given!r}.{hint}"
    )


def as_names(given: str) -> str | float:
    """Return the parameter ``names`` from a word or a number that was typed."""
    try:
        return float(given)
    except ValueError:
        return given


def readable(name: str) -> str:
    """Return a name in which dots and underscores are blanks."""
    return name.replace("_", " ").replace(".", " ").strip()


def documents_of_names(
    taxonomy: Taxonomy | None, labels: Sequence[object], is_multilabel: bool
) -> NameDocuments | None:
    """Return the names of categories as documents; None if there are no names.

    Categories are leaves, and inner nodes that are labels of documents.

    Parameters
    ----------
    taxonomy
        The taxonomy; without one, the labels are names themselves.
    labels
        The labels of the documents.
    is_multilabel
        Whether these are label sets.
    """
    used = used_labels(labels)
    has_integers = all(isinstance(label, int | np.integer) for label in used)
    seen = {str(label) for label in used}
    if taxonomy is None:
        ids = sorted(seen)
        texts = {node: readable(node) for node in ids}
    else:
        leaves = set(taxonomy.leaves)
        if len(leaves) > min(MOST_NAMES, MOST_PER_DOCUMENT * len(labels)):
            leaves &= seen
        ids = [node for node in taxonomy.nodes if node in leaves or node in seen]
        texts = {node: _told(taxonomy, node) for node in ids}
    ids = [node for node in ids if _has_letters(texts[node])]
    if has_integers:
        ids = [node for node in ids if node.isdecimal()]
    if not ids:
        return None
    made: list[object] = [int(node) if has_integers else node for node in ids]
    without = [node for node in ids if node not in seen]
    made_labels: list[object] = [[label] for label in made] if is_multilabel else made
    return NameDocuments([texts[node] for node in ids], made_labels, without)


def flat_names(classifier: TextClassifier) -> Taxonomy | None:
    """Return a single level of the categories of a fitted classifier, with the same names.

    None if names are not used: the labels of documents are enough then.
    """
    from taxonomist.taxonomy import Taxonomy

    taxonomy = classifier.taxonomy
    if taxonomy is None or not getattr(classifier, "name_weight_", 0.0):
        return None
    ids = [str(label) for label in classifier.classes_.tolist()]
    level = Taxonomy.flat(ids)
    names = {node: taxonomy.name(node) for node in ids}
    texts = {node: taxonomy.texts[node] for node in ids if node in taxonomy.texts}
    return level.rename(names=names).with_texts(texts)


def _told(taxonomy: Taxonomy, node: str) -> str:
    """Return the name and the texts of a node as one document."""
    texts = taxonomy.texts.get(node)
    return "\n".join([readable(taxonomy.name(node)), *(texts.all if texts else ())])


def _has_letters(text: str) -> bool:
    return any(not word.isdecimal() for word in words_of(text))


def choose_names(
    given: object,
    items: TrialItems,
    X: CSR,
    names: tuple[CSR, Sequence[object]] | None,
    budget: Budget,
    on_trial: Callable[[str], object] = lambda _: None,
) -> ChosenNames:
    """Choose the weight of names on held-out documents.

    Names are used unless held-out documents are clearly better without them: they make categories
    without documents predictable.

    Parameters
    ----------
    given
        The parameter ``names`` of the classifier.
    items
        The labels of documents.
    X
        Features of the documents.
    names
        Features and labels of the names; None if there are none, or they are not wanted.
    budget
        The time for the choice; trials after it are left out.
    on_trial
        Called before each trial.
    """
    if given in ("off", 0):
        return ChosenNames(0.0, [], None, "they are turned off")
    if names is None:
        return ChosenNames(0.0, [], None, "there are none")
    if not isinstance(given, str):
        return ChosenNames(float(given), [], None)  # type: ignore[arg-type]
    if len(items.labels) < FEWEST_DOCUMENTS:
        return ChosenNames(GUESS, [], None)
    chosen, some = items.some()
    rows, labels = some_names(*names)
    documents = X[chosen]
    values: dict[float, Floats] = {}
    trials: list[NameTrial] = []
    while (weight := _next_weight(trials, items.best_score)) is not None:
        if trials and not budget.left:
            break
        on_trial(f"names with weight {weight:g}")
        start = time.perf_counter()
        weights = weights_of_names(weight, labels, some.labels)
        values[weight] = some.values(documents, rows, labels, weights)
        trial = NameTrial(weight, float(values[weight].mean()), time.perf_counter() - start)
        logger.info("Names with weight %g: %.4f in %.1f s.", *trial)
        trials.append(trial)
    usual = GUESS if items.are_few else None
    best = _best(values, trials, usual, is_on=given == "on")
    return best._replace(measure=in_words(items.measure))


def _next_weight(trials: list[NameTrial], best_score: float) -> float | None:
    """Return the next weight to try: larger ones as long as these are better, else a smaller one.

    None if no other weight is worth a trial, as far as those before tell.
    """
    if len(trials) < 2:
        return NAME_WEIGHTS[len(trials)]
    last, before = trials[-1], trials[-2]
    if last.score >= best_score or last.weight < before.weight:
        return None
    if last.score > before.score or (len(trials) == 2 and last.score == before.score):
        at = NAME_WEIGHTS.index(last.weight) + 1
        return NAME_WEIGHTS[at] if at < len(NAME_WEIGHTS) else None
    return LESS if len(trials) == 2 else None


def _best(
    values: dict[float, Floats], trials: list[NameTrial], usual: float | None, *, is_on: bool
) -> ChosenNames:
    """Return the best weight; 0 only if the 95 % interval of what names gain is below 0."""
    ranked = sorted(trials, key=lambda trial: -trial.score)
    used = {weight: found for weight, found in values.items() if weight}
    if not used:
        weight = GUESS if is_on else 0.0
        known = None if weight else values[0.0]
        return ChosenNames(weight, ranked, None, "no time was left to try them", known)
    best = best_of(used, usual)
    gain = difference(values[best], values[0.0])
    if not is_on and gain["high"] < 0:
        note = "held-out documents are better without them"
        return ChosenNames(0.0, ranked, gain, note, values[0.0])
    return ChosenNames(best, ranked, gain, values=values[best])


def weights_of_names(weight: float, names: Sequence[object], labels: Sequence[object]) -> Floats:
    """Return the weight of each name: the fewer documents its category has, the more it counts.

    Parameters
    ----------
    weight
        The weight for a category without documents.
    names
        The categories of names.
    labels
        The labels of the documents.
    """
    counts = Counter(label for row in labels for label in _as_set(row))
    n = np.array([min(counts[label] for label in _as_set(row)) for row in names], dtype=np.float64)
    found: Floats = weight * HALF / (HALF + n)
    return found


def _as_set(row: object) -> Sequence[object]:
    return tuple(row) if isinstance(row, SETS) else (row,)


def some_names(rows: CSR, labels: Sequence[object]) -> tuple[CSR, Sequence[object]]:
    """Return at most as many names as documents of a trial."""
    if len(labels) <= MOST_ITEMS:
        return rows, labels
    kept = np.sort(np.random.default_rng(0).permutation(len(labels))[:MOST_ITEMS])
    return rows[kept], [labels[i] for i in kept.tolist()]
