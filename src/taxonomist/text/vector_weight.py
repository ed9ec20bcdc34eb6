"""The weight of sentence vectors beside words, chosen on held-out items."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils import gen_batches

from taxonomist.inference.node_scorer import NodeScorer
from taxonomist.inference.path_scorer import PathScorer
from taxonomist.text.folds import document_folds, n_folds_of
from taxonomist.text.held_out_trials import FEW_DOCUMENTS, best_of
from taxonomist.text.joined_columns import join
from taxonomist.text.models import make_model
from taxonomist.text.name_documents import some_names
from taxonomist.text.negatives import kind_for_trials

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import CSR, Codes, Floats, Options, Reals
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Training
    from taxonomist.models.path_svc import PathSVC
    from taxonomist.taxonomy import Taxonomy

__all__ = ["NameRows", "WeightProblem", "WeightTrial", "try_weights"]

logger = logging.getLogger(__name__)

WEIGHTS = (0.0, 0.35, 0.7, 1.0, 1.4, 2.0)
"""Weights to choose from."""
USUAL = 0.7
"""The weight if no item can be held out, such as with one item per category; and the weight of few
documents, relative to the length of the words' rows, unless another one is clearly better. With 7
documents of each category, a linear SVM was best or within a point of the best with it on sectors
and subsectors of naics2012, trec-question and wos-1000."""
MOST_ITEMS = 4000
"""Items that weights are tried on at most. The best weight falls with the number of items."""
MOST_SCORES = 2**23
"""Scores of held-out items that are kept at most, unless these are few items."""
LEAST_HELD_OUT = 256
"""Held-out items that are used at least, if there are as many."""


class WeightTrial(NamedTuple):
    """A weight of the sentence vectors.

    Attributes
    ----------
    weight
        The weight; 0 stands for words alone.
    likelihood
        The mean log-likelihood of held-out items, in nats; higher is better.
    seconds
        The time that it took.
    """

    weight: float
    likelihood: float
    seconds: float


class NameRows(NamedTuple):
    """Names of categories, from which the model learns besides.

    Attributes
    ----------
    texts
        The names as documents.
    words, rows
        Their tf-idf and sentence vectors.
    labels
        Their labels.
    """

    texts: Sequence[str]
    words: CSR
    rows: Reals
    labels: Sequence[object]


class WeightProblem(NamedTuple):
    """The items that weights are tried on.

    Attributes
    ----------
    words, rows
        tf-idf and sentence vectors.
    labels
        The labels.
    taxonomy
        The taxonomy; None for a single level.
    is_multilabel
        Whether items have label sets.
    options
        Parameters of ``PathSVC``.
    names
        The names that are learned from besides, at the weight of a document each; None without.
    share
        The share of these items among all training items.
    """

    words: CSR
    rows: Reals
    labels: Sequence[object]
    taxonomy: Taxonomy | None
    is_multilabel: bool
    options: Options
    names: NameRows | None = None
    share: float = 1.0

    def some(self, n_items: int) -> WeightProblem:
        """Return the problem with so many items at most."""
        if len(self.labels) <= n_items:
            return self
        rng = np.random.default_rng(self.options["random_state"])
        items = np.sort(rng.permutation(len(self.labels))[:n_items])
        labels = [self.labels[i] for i in items.tolist()]
        share = len(labels) / len(self.labels)
        words, rows = self.words[items], self.rows[items]
        return self._replace(words=words, rows=rows, labels=labels, share=share)

    @property
    def usual(self) -> float | None:
        """The weight to use unless another one is clearly better; None with many documents."""
        if len(self.labels) >= FEW_DOCUMENTS * self.share:
            return None
        squares = self.words.multiply(self.words).sum(axis=1)
        length = float(np.sqrt(squares[squares > 0]).mean()) if squares.any() else 1.0
        return min(WEIGHTS, key=lambda weight: abs(weight - USUAL * length))

    def likelihoods(self, weight: float) -> Floats:
        """Return the log-likelihood of each held-out item; none if none can be held out."""
        model = make_model("path", self.taxonomy, is_multilabel=self.is_multilabel, **self.options)
        taken: list[HeldOutChances] = []

        def make_taker(training: Training, held_out: Codes) -> HeldOutChances:
            taken.append(HeldOutChances(training, held_out))
            return taken[0]

        X, y = join(self.words, self.rows, weight), list(self.labels)
        n, n_values = len(y), X.nnz / self.share
        model.set_params(negatives=kind_for_trials(y, self.taxonomy, n_values))
        if self.names is not None:
            both = join(self.names.words, self.names.rows, weight)
            added, labels = some_names(both, self.names.labels)
            X, y = csr_array(vstack([X, added], format="csr")), [*y, *labels]
        folds = document_folds(
            self.labels,
            n_folds_of(n, self.options["cv"]),
            is_multilabel=self.is_multilabel,
            n_added=len(y) - n,
        )
        model.fit_held_out(X, y, cv=folds, make_taker=make_taker)
        return taken[0].likelihoods(model)


def try_weights(
    problem: WeightProblem,
    is_out_of_time: Callable[[], bool] = lambda: False,
    on_trial: Callable[[float], object] = lambda _: None,
) -> tuple[float, list[WeightTrial]]:
    """Try weights in ascending order until the likelihood of held-out items falls; choose one.

    Parameters
    ----------
    problem
        The items.
    is_out_of_time
        Asked before each weight after the first.
    on_trial
        Called with each weight before it is tried.

    Returns
    -------
    weight : float
        The weight with the best likelihood; words alone win ties. With few documents the usual
        weight, if it is better than words alone, and no other one is clearly better.
    trials : list of WeightTrial
        Best first. With no item that can be held out, the usual weight is the only one.
    """
    some, trials = problem.some(MOST_ITEMS), list[WeightTrial]()
    values: dict[float, Floats] = {}
    for weight in WEIGHTS:
        if trials and is_out_of_time():
            break
        on_trial(weight)
        start = time.perf_counter()
        found = some.likelihoods(weight)
        mean = float(found.mean()) if len(found) else -inf
        trial = WeightTrial(weight, mean, time.perf_counter() - start)
        logger.info("Vectors with weight %g: log-likelihood %.4f in %.1f s.", *trial)
        if not len(found):
            return USUAL, [trial._replace(weight=USUAL)]
        values[weight] = found
        trials.append(trial)
        if len(trials) > 1 and mean < trials[-2].likelihood:
            break
    return _best(values, some.usual), sorted(trials, key=lambda trial: -trial.likelihood)


def _best(values: dict[float, Floats], usual: float | None) -> float:
    """Return the best weight, or the usual one if it gains and no other one is clearly better."""
    best = best_of(values)
    if not best or usual not in values or values[usual].mean() <= values[0.0].mean():
        return best
    return best_of(values, usual)


class HeldOutChances:
    """Keeps the margins of held-out items, for the likelihood of the tuned model.

    Parameters
    ----------
    training
        All items.
    held_out
        The items that will be held out.
    """

    def __init__(self, training: Training, held_out: Codes) -> None:
        self._targets = training.targets
        n_nodes = training.targets.categories.expanded.n_nodes
        n_kept = max(LEAST_HELD_OUT, MOST_SCORES // n_nodes)
        kept = np.random.default_rng(0).permutation(held_out)[:n_kept]
        self._at_a_time = max(1, MOST_SCORES // (4 * n_nodes))
        self._is_kept = np.zeros(len(training.weights), dtype=bool)
        self._is_kept[kept] = True
        self._parts: list[tuple[PathScorer | NodeScorer, Reals, Codes]] = []

    def take(self, items: Codes, scored: Scored) -> None:
        """Take a block of held-out items; see ``HeldOutTaker``."""
        scorer = cast("PathScorer | NodeScorer", scored.scorer)
        used = self._is_kept[items]
        if self._targets.is_single:
            used &= cast("PathScorer", scorer).seen[self._targets.labels[items].indices]
        if used.any():
            self._parts.append((scorer, scored.raw[used], items[used]))

    def likelihoods(self, model: PathSVC) -> Floats:
        """Return the log-likelihood of each item under a tuned model, in the order of folds."""
        tuned = cast("PathScorer | NodeScorer", model.scorer_)
        found = [np.empty(0)]
        for scorer, raw, items in self._parts:
            if isinstance(scorer, PathScorer) and isinstance(tuned, PathScorer):
                scorer = replace(scorer, blend=tuned.blend)
            elif isinstance(scorer, NodeScorer) and isinstance(tuned, NodeScorer):
                scorer = replace(scorer, model=tuned.model)
            blocks = gen_batches(len(items), self._at_a_time)
            found += [self._logarithms(scorer, raw[block], items[block]) for block in blocks]
        return np.concatenate(found)

    def _logarithms(self, scorer: PathScorer | NodeScorer, raw: Reals, items: Codes) -> Floats:
        """Return the logarithm of the probability of what is true about each item."""
        labels = self._targets.labels[items]
        if isinstance(scorer, PathScorer):
            return _logarithm(scorer.probabilities(raw)[np.arange(len(items)), labels.indices])
        truth, chances = self._targets.close(labels).toarray(), scorer.node_probabilities(raw)
        sums: Floats = _logarithm(np.where(truth, chances, 1 - chances)).sum(axis=1)
        return sums


def _logarithm(chances: Floats) -> Floats:
    """Return logarithms, with a bound so that one item cannot decide."""
    found: Floats = np.log(np.maximum(chances, 1e-6))
    return found
