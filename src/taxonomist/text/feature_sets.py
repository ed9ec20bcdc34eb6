"""The features of texts, chosen on held-out documents."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError, closest
from taxonomist.features import TextFeatures
from taxonomist.text.held_out_trials import best_of, difference
from taxonomist.text.measure import MEASURE, in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Floats, Options, TextLike
    from taxonomist.features.token_table import TokenTable
    from taxonomist.text.budget import Budget
    from taxonomist.text.classifier import TextClassifier
    from taxonomist.text.held_out_trials import TrialItems

__all__ = [
    "FEATURE_SETS",
    "ChosenFeatures",
    "FeatureTrial",
    "check_features",
    "choose_features",
    "chosen_features",
    "feature_options",
]

logger = logging.getLogger(__name__)

FEATURE_SETS: dict[str, Options] = {
    "words": {"words": (1, 1), "characters": None},
    "words 1-2": {"words": (1, 2), "characters": None},
    "words + characters": {"words": (1, 1), "characters": (3, 5)},
    "words 1-2 + characters": {"words": (1, 2), "characters": (3, 5)},
}
"""Sets of features by name: words, pairs of words, and character n-grams within words."""
LARGEST = "words 1-2 + characters"
"""The set that has the terms of all others."""
CHARACTER_WEIGHT = 0.7
"""Length of character n-grams beside words of length 1. Of .7 and 1, on one split of 2,400 items
each, .7 was ahead on trec-question, naics2012, onet-soc, reuters21578 and debian-debtags, and 1 on
arxiv-sample and us-patents-ipc; all differences are below half a point of hierarchical F1."""
COLUMN_WEIGHT = 3.0
"""The weight of the shortest column that is tried if items have several texts."""
FEWEST_DOCUMENTS = 30
"""Fewer documents are not held out for choices."""
SIMPLE = "words"
"""The set of features if nothing can be chosen."""
MOST_VALUES = 20_000_000
"""Stored values of all documents up to which a set of features is tried. Training on so many takes
about a minute of one core, and 3 GB. The first set, single words, is always tried."""


class FeatureTrial(NamedTuple):
    """A set of features.

    Attributes
    ----------
    features
        Its name.
    weights
        Weights of the columns; None for 1 each.
    score
        The mean measure of held-out documents; higher is better.
    seconds
        The time that it took.
    """

    features: str
    weights: tuple[float, ...] | None
    score: float
    seconds: float


class ChosenFeatures(NamedTuple):
    """The features that were chosen.

    Attributes
    ----------
    options
        Parameters of ``TextFeatures``.
    name
        The name of the set; empty if words or characters were given.
    trials
        The sets that were tried, best first.
    gain
        What the chosen set gains over words, with an interval; None if only words were tried.
    n_items
        The number of documents that sets were tried on.
    left_out
        Sets that were not tried, because training on all documents would be too much work.
    measure
        The measure in words.
    """

    options: Options
    name: str
    trials: list[FeatureTrial]
    gain: dict[str, float] | None
    n_items: int
    left_out: list[str]
    measure: str = in_words(MEASURE)

    @property
    def facts(self) -> dict[str, object]:
        """The choice as plain data."""
        return {
            "set": self.name,
            "weights": self.options["weights"],
            "trials": [dict(trial._asdict()) for trial in self.trials],
            "gain": self.gain,
            "items": self.n_items,
            "left_out": self.left_out,
            "said": self._said,
        }

    @property
    def _said(self) -> str:
        """Sentences about the choice."""
        if not self.left_out:
            return self._chosen
        missing = " and ".join(map(repr, self.left_out))
        return f"{self._chosen} Not tried, as too much work for so many documents: {missing}."

    @property
    def _chosen(self) -> str:
        """A sentence about the set that was chosen."""
        if not self.trials:
            return f"Features: {self.name or 'as given'}."
        best = self.trials[0]
        said = f"Features: {self.name}"
        if best.weights is not None:
            said += f", columns weighted {', '.join(f'{weight:g}' for weight in best.weights)}"
        if self.gain is None or (best.features == SIMPLE and best.weights is None):
            return f"{said}."
        low, high = self.gain["low"], self.gain["high"]
        verdict = "" if low > 0 or high < 0 else " This is within the noise."
        return (
            f"{said}: {self.measure} of held-out documents {best.score:.3f}, "
            f"{self.gain['estimate']:+z.3f} ({low:+z.3f} to {high:+z.3f}) beside words "
            f"alone.{verdict}"
        )


def check_features(given: object) -> None:
    """Raise if the parameter ``features`` of a classifier is invalid."""
    if given not in ("auto", *FEATURE_SETS):
        known = ", ".join(map(repr, ("auto", *FEATURE_SETS)))
        hint = closest(str(given), FEATURE_SETS)
        raise ParameterError(f"features must be one of {known}. Got {given!r}.{hint}")


def feature_options(classifier: TextClassifier, name: str = SIMPLE) -> Options:
    """Return the parameters of ``TextFeatures`` for a set; those given by the user come first.

    Parameters
    ----------
    classifier
        An unfitted ``TextClassifier``.
    name
        The set, unless the classifier names another one.
    """
    given = classifier.features
    chosen = FEATURE_SETS[given if given in FEATURE_SETS else name]
    if has_given_terms(classifier):
        chosen = FEATURE_SETS[SIMPLE]
    found = {
        key: chosen[key] if _is_auto(getattr(classifier, key)) else getattr(classifier, key)
        for key in ("words", "characters")
    }
    others = {key: getattr(classifier, key) for key in ("min_df", "max_features", "weights")}
    weight = None if has_given_terms(classifier) else CHARACTER_WEIGHT
    return {**found, **others, "character_weight": weight if found["characters"] else None}


def chosen_features(classifier: TextClassifier) -> Options:
    """Return the parameters with which a fitted classifier would get the same features and names.

    Classifiers of old files lack what was chosen.
    """
    features, name = classifier.features_, getattr(classifier, "feature_set_", "")
    found = {"weights": features.weights, "names": getattr(classifier, "name_weight_", 0.0)}
    if name:
        return {**found, "features": name, "words": "auto", "characters": "auto"}
    return {**found, "words": features.words, "characters": features.characters}


def has_given_terms(classifier: TextClassifier) -> bool:
    """Return whether the user gave words or characters."""
    return not (_is_auto(classifier.words) and _is_auto(classifier.characters))


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"


def choose_features(
    classifier: TextClassifier,
    table: TokenTable,
    blank: TextLike | None,
    items: TrialItems,
    budget: Budget,
    on_trial: Callable[[str], object] = lambda _: None,
) -> ChosenFeatures:
    """Choose the features of a classifier on held-out documents.

    Parameters
    ----------
    classifier
        The unfitted ``TextClassifier``.
    table
        The words of its training documents.
    blank
        A document without words.
    items
        Their labels.
    budget
        The time for the choice; trials after it are left out.
    on_trial
        Called with the name of each set before it is tried.
    """
    fixed = feature_options(classifier)
    is_given = has_given_terms(classifier) or classifier.features in FEATURE_SETS
    names = [] if is_given else list(FEATURE_SETS)
    name = "" if has_given_terms(classifier) else (SIMPLE if names else classifier.features)
    columns = _column_weights(table) if classifier.weights is None else None
    tries = [(each, None) for each in names] or ([(name, None)] if columns else [])
    if not tries or len(items.labels) < FEWEST_DOCUMENTS:
        return ChosenFeatures(fixed, name, [], None, 0, [])
    chosen, some = items.some()
    search = _Search(classifier, table.select(chosen), blank, some, budget, on_trial)
    for each in tries:
        search.run(*each)
        is_last = len(search.trials) == len(FEATURE_SETS) - 1
        if is_last and search.best == search.trials[0] and not items.are_few:
            # Neither pairs nor characters help, so both together are not tried.
            break
    if columns is not None:
        search.run(search.best.features, columns)
    best = search.best
    options = feature_options(classifier, best.features or SIMPLE)
    if best.weights is not None:
        options["weights"] = list(best.weights)
    others = [trial for trial in search.trials if trial != best]
    ranked = [best, *sorted(others, key=lambda trial: -trial.score)]
    found = options, best.features, ranked, search.gain, len(chosen)
    return ChosenFeatures(*found, search.left_out, in_words(items.measure))


class _Search:
    """Trials of features on the same documents."""

    def __init__(
        self,
        classifier: TextClassifier,
        table: TokenTable,
        blank: TextLike | None,
        items: TrialItems,
        budget: Budget,
        on_trial: Callable[[str], object],
    ) -> None:
        self._classifier = classifier
        self._table = table
        self._blank = blank
        self._items = items
        self._budget = budget
        self._on_trial = on_trial
        self._values: list[Floats] = []
        self.trials: list[FeatureTrial] = []
        self.left_out: list[str] = []

    @property
    def best(self) -> FeatureTrial:
        """The best trial so far; the simplest of equal ones.

        With few documents, it is that of all terms unless another one is clearly better.
        """
        names = [trial.features for trial in self.trials]
        usual = names.index(LARGEST) if self._items.are_few and LARGEST in names else None
        return self.trials[best_of(dict(enumerate(self._values)), usual)]

    @property
    def gain(self) -> dict[str, float] | None:
        """What the best trial gains over the first one."""
        place = self.trials.index(self.best)
        return difference(self._values[place], self._values[0]) if len(self.trials) > 1 else None

    def run(self, name: str, weights: tuple[float, ...] | None) -> None:
        """Try a set of features, if there is time and training is not too much work."""
        if self.trials and (not self._budget.left or self.best.score >= self._items.best_score):
            return
        if self.left_out and name == LARGEST:
            self.left_out.append(name)
            return
        self._on_trial(name or "column weights")
        start = time.perf_counter()
        options = feature_options(self._classifier, name or SIMPLE)
        features = TextFeatures(**{**options, "weights": weights or options["weights"]})
        features.learn_columns(self._blank)
        X = features.weigh(features.fit_table(self._table))
        if self.trials and weights is None and X.nnz > MOST_VALUES * self._items.share:
            self.left_out.append(name)
            return
        values = self._items.values(X)
        trial = FeatureTrial(name, weights, float(values.mean()), time.perf_counter() - start)
        logger.info("Features %s, weights %s: %.4f in %.1f s.", *trial)
        self._values.append(values)
        self.trials.append(trial)


def _column_weights(table: TokenTable) -> tuple[float, ...] | None:
    """Return weights that favour the shortest column with words; None for a single column."""
    sizes = np.diff(table.ends).reshape(-1, table.n_columns).sum(axis=0)
    used = np.flatnonzero(sizes)
    if len(used) < 2:
        return None
    weights = np.ones(table.n_columns)
    weights[used[np.argmin(sizes[used])]] = COLUMN_WEIGHT
    return tuple(weights.tolist())
