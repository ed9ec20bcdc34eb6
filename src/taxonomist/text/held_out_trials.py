"""How well features and weights do on held-out items, measured with ``PathSVC``.

A trial fits the model once to all items and once without each fold; the scores of held-out items
tune the model and measure it.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from scipy.sparse import csr_array, vstack

from taxonomist.inference.path_scorer import PathScorer
from taxonomist.taxonomy.labels import most_specific
from taxonomist.text.folds import document_folds
from taxonomist.text.measure import MEASURE
from taxonomist.text.models import DEFAULT_MODEL, make_model
from taxonomist.text.negatives import kind_for_trials
from taxonomist.text.sampling import sampled
from taxonomist.text.trial_values import values_by_document

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from taxonomist._typing import CSR, Codes, Floats, Options, Reals
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Training
    from taxonomist.models.path_svc import PathSVC
    from taxonomist.taxonomy import Taxonomy

__all__ = ["FEW_DOCUMENTS", "MOST_ITEMS", "TrialItems", "best_of", "difference"]

Key = TypeVar("Key", bound="Hashable")

N_FOLDS = 2
"""Folds of a trial, which trains one more model than there are folds."""
MOST_ITEMS = 2400
"""Items of a trial at most."""
LEAST_ITEMS = 600
"""Items of a trial at least, if there are as many."""
MOST_WORDS = 100_000
"""Words of the items of a trial at most, unless these are few items. A trial of 1,000 abstracts
takes some seconds."""
FEW_DOCUMENTS = 1000
"""With fewer documents, what usually is best is chosen unless something else is clearly better.
Differences between trials are mostly noise then."""
SHARE = 0.5
"""The share of a sample that first items of categories may take."""


class TrialItems(NamedTuple):
    """The items of trials.

    Attributes
    ----------
    labels
        The labels of documents.
    taxonomy
        The taxonomy; None for a single level.
    is_multilabel
        Whether items have label sets.
    options
        Parameters of ``PathSVC``.
    n_words
        The number of words of all documents.
    share
        The share of these items among all documents.
    """

    labels: Sequence[object]
    taxonomy: Taxonomy | None
    is_multilabel: bool
    options: Options
    n_words: int
    share: float = 1.0

    @property
    def are_few(self) -> bool:
        """Whether there are so few documents that trials are mostly noise."""
        return len(self.labels) < FEW_DOCUMENTS * self.share

    @property
    def most(self) -> int:
        """How many documents to try something on."""
        n = len(self.labels)
        fitting = MOST_WORDS * n // max(1, self.n_words)
        return int(np.clip(fitting, LEAST_ITEMS, MOST_ITEMS))

    def some(self) -> tuple[Codes, TrialItems]:
        """Return the documents to try something on, and their labels."""
        seed = self.options["random_state"]
        found = sampled(self.labels, self.is_multilabel, self.most, seed, SHARE)
        chosen: Codes = np.sort(found)
        labels = [self.labels[i] for i in chosen.tolist()]
        return chosen, self._replace(labels=labels, share=len(labels) / len(self.labels))

    @property
    def measure(self) -> str:
        """The measure that choices go by: hierarchical F1 if a scorer or nothing is given."""
        given = self.options.get("measure", MEASURE)
        return given if isinstance(given, str) else MEASURE

    @property
    def best_score(self) -> float:
        """The score that nothing can be better than."""
        return 0.0 if self.measure == "taxonomy_loss" else 1.0

    def values(
        self,
        X: CSR,
        extra: CSR | None = None,
        labels: Sequence[object] = (),
        weights: Floats | None = None,
    ) -> Floats:
        """Return the measure of each document when it is held out; higher is better.

        Parameters
        ----------
        X
            Features of the documents.
        extra, labels, weights
            Further training items, which are never held out: their features, labels and weights.
        """
        n, n_added = len(self.labels), 0
        y, given = [*self.labels], {}
        if extra is not None and weights is not None and weights.any():
            rows, n_added = [X, extra], extra.shape[0]
            X, y = _stacked(rows), [*y, *labels]
            given["sample_weight"] = np.append(np.ones(n), weights)
        folds = document_folds(
            self.labels, N_FOLDS, is_multilabel=self.is_multilabel, n_added=n_added
        )
        model = make_model(
            DEFAULT_MODEL, self.taxonomy, is_multilabel=self.is_multilabel, **self.options
        )
        model.set_params(negatives=self.negatives(X))
        taken: list[HeldOutDocuments] = []

        def make_taker(training: Training, _: Codes) -> HeldOutDocuments:
            taken.append(HeldOutDocuments(training))
            return taken[0]

        model.fit_held_out(X, y, cv=folds, make_taker=make_taker, **given)
        return taken[0].values(model, n, self.measure)

    def negatives(self, X: CSR) -> str:
        """Return the kind of negative items for a trial of these features."""
        return kind_for_trials(self.labels, self.taxonomy, X.nnz / self.share)


class HeldOutDocuments:
    """Keeps the scores of held-out items, and measures what the tuned model predicts for them.

    Parameters
    ----------
    training
        All items.
    """

    def __init__(self, training: Training) -> None:
        self._targets = training.targets
        self._parts: list[tuple[PathScorer | NodeScorer, Reals, Codes]] = []

    def take(self, items: Codes, scored: Scored) -> None:
        """Take a block of held-out items; see ``HeldOutTaker``."""
        scorer = cast("PathScorer | NodeScorer", scored.scorer)
        self._parts.append((scorer, scored.raw, items))

    def values(self, model: PathSVC, n_items: int, measure: str) -> Floats:
        """Return the measure of each item under a tuned model; higher is better."""
        targets, order = self._targets, np.concatenate([items for _, _, items in self._parts])
        true = targets.close(targets.labels[order])
        predicted = vstack([self._predicted(model, *part[:2]) for part in self._parts], "csr")
        taxonomy = targets.categories.taxonomy
        pairs = [(part[:, 1:], most_specific(taxonomy, part)) for part in (true, predicted)]
        found = np.zeros(n_items)
        found[order] = values_by_document(measure, *pairs, is_single=targets.is_single)
        return found

    def _predicted(self, model: PathSVC, scorer: PathScorer | NodeScorer, raw: Reals) -> CSR:
        """Return the predicted nodes of items, (n_items, n_nodes)."""
        tuned = cast("Any", model.scorer_)
        if isinstance(scorer, PathScorer):
            best = replace(scorer, blend=tuned.blend).probabilities(raw).argmax(axis=1)
            shape = (len(best), len(self._targets.classes))
            ends = np.arange(len(best) + 1)
            return self._targets.close(csr_array((np.ones(len(best), bool), best, ends), shape))
        scored = SimpleNamespace(scorer=replace(scorer, model=tuned.model), raw=raw)
        return model.decider.sets(cast("Scored", scored))


def best_of(values: Mapping[Key, Floats], usual: Key | None = None) -> Key:
    """Return what has the best mean, the first of equal ones.

    Parameters
    ----------
    values
        Measures of the same items for everything that was tried.
    usual
        What is chosen unless the 95 % interval of the gain of something else is above 0; None for
        nothing.
    """
    best = max(values, key=lambda key: values[key].mean())
    if usual is None or usual not in values:
        return best
    return best if difference(values[best], values[usual])["low"] > 0 else usual


def difference(better: Floats, worse: Floats) -> dict[str, float]:
    """Return the mean difference of two measures of the same items, with a 95 % interval."""
    gains = better - worse
    error = 1.96 * float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    mean = float(gains.mean())
    return {"estimate": mean, "low": mean - error, "high": mean + error}


def _stacked(parts: list[CSR]) -> CSR:
    return csr_array(vstack(parts, format="csr"))
