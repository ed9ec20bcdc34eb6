"""``WordModel``: the base class of generative models of word counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from taxonomist.errors import ParameterError
from taxonomist.inference.counts import as_counts, damped, equal_shares
from taxonomist.inference.label_sets import decision_rule
from taxonomist.inference.word_scorer import WordScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.learning import Learned, Training
from taxonomist.models.node_words import NodeWords, word_nodes
from taxonomist.models.parameters import Check, Word, between
from taxonomist.models.sources import node_sources
from taxonomist.models.targets import Targets, item_weights
from taxonomist.solvers.word_counts import CountedItems, Pooled, pool

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from taxonomist._typing import CSR, Codes, Floats, LabelsLike, MatrixLike
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.path_weights import PathWeights
    from taxonomist.solvers.word_counts import Sources
    from taxonomist.taxonomy import Categories


DEFAULT_BACKGROUND = "mixture"


class Estimate(NamedTuple):
    """The estimates of a model: P(w|v), P(v|c), and fitted attributes by name."""

    words: CSR
    weights: PathWeights
    facts: dict[str, object]


class CountStart(NamedTuple):
    """The counts that ``partial_fit`` adds to.

    Attributes
    ----------
    pooled
        Counts of words by source.
    n_items
        The total weight of the items of each category.
    """

    pooled: Pooled
    n_items: Floats


def _is_exact(model: WordModel) -> bool:
    """Return True if counts are sufficient for learning; raise otherwise."""
    if model.needs_items():
        raise AttributeError(f"{type(model).__name__} has no partial_fit: {model.item_reason}")
    return True


class WordModel(NodeWords, TaxonomyClassifier):
    """Base class of models P(d|c) = Π_w P(w|c)^n, where P(w|c) is a mixture of word sources.

    A subclass has the parameters ``damping``, ``length``, ``priors`` and ``background``, and those
    of label sets. It estimates words and weights in ``estimate``.

    Attributes
    ----------
    item_reason
        The reason why learning needs the items themselves, as a sentence.
    """

    parameters: ClassVar[dict[str, Requirement]] = {
        "decision": Check(decision_rule),
        "damping": Word(("log",), optional=True),
        "length": between(0, 1),
        "priors": Word(("estimated", "uniform"), others="a number for each class"),
        "background": Word(("mixture", "pooled")),
    }
    item_reason: ClassVar[str] = ""

    damping: str | None
    length: float
    priors: Any
    background: str
    scorer_: WordScorer
    class_log_prior_: Floats
    reference_length_: float

    def estimate(
        self, pooled: Pooled, sources: Sources, columns: Codes, items: CountedItems | None
    ) -> Estimate:
        """Estimate P(w|v) and P(v|c).

        Parameters
        ----------
        pooled
            Counts of words by source.
        sources
            The word sources of categories.
        columns
            The column of each source in ``path_weights_``.
        items
            The items themselves if ``needs_items``, else None.
        """
        raise NotImplementedError

    def needs_items(self) -> bool:
        """Return whether learning needs the items themselves in addition to pooled counts."""
        raise NotImplementedError

    def sources(self, categories: Categories) -> tuple[Sources, Codes]:
        """Return the word sources and the node of each."""
        return node_sources(categories), np.arange(categories.expanded.n_nodes)

    # Learning --------------------------------------------------------------------------------

    def learn(self, training: Training, start: object = None) -> Learned:  # noqa: ARG002
        """Learn the words of nodes; see ``TaxonomyClassifier.learn``."""
        training = training.with_weight()
        reference = self._reference_length(training)
        items = self._counted(training, reference)
        sources, _ = self.sources(training.targets.categories)
        counts = CountStart(pool(items, sources), _items_by_category(items))
        return self._learned(training.targets, counts, items, reference)

    @available_if(_is_exact)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        classes: Iterable[object] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add the counts of more items; the result is the same as fitting all items at once.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes
            In the first call, all labels that can occur. Not needed if they are the leaves of the
            taxonomy or the columns of an indicator matrix.

        Returns
        -------
        WordModel
            The model itself. The decision rule, the limits on the number of labels and
            ``reference_length_`` stay those of the first call, or of ``fit``.
        """
        self.check()
        is_first = not hasattr(self, "targets_")
        X = self.checked_rows(X, reset=is_first)
        weights = item_weights(sample_weight, X)
        if is_first:
            targets = Targets.from_labels(self.taxonomy, y, X, classes)
            self._fit(Training(X, targets, weights).with_weight())
            return self
        training = Training(X, self.targets_.again(y, X), weights).with_weight()
        items = self._counted(training, self.reference_length_)
        sources, _ = self.sources(self.targets_.categories)
        counts = CountStart(
            self.start_.pooled.plus(pool(items, sources)),
            self.start_.n_items + _items_by_category(items),
        )
        learned = self._learned(training.targets, counts, None, self.reference_length_)
        self.store(learned, training.targets)
        return self

    def _learned(
        self, targets: Targets, counts: CountStart, items: CountedItems | None, reference: float
    ) -> Learned:
        """Estimate words, weights and priors, and return their scorer."""
        sources, nodes = self.sources(targets.categories)
        columns = np.argsort(word_nodes(targets))[nodes]
        words, weights, facts = self.estimate(counts.pooled, sources, columns, items)
        priors = self._category_priors(targets, counts.n_items)
        scorer = WordScorer(
            paths=sources.paths,
            source_nodes=nodes,
            words=words,
            slots=weights.slots,
            uniform=weights.uniform,
            priors=priors,
            damping=self.damping,
            length=self.length,
            reference=reference,
            is_single=targets.is_single,
            uniform_node=targets.categories.expanded.n_nodes,
            general=pooled_unigrams(counts.pooled) if self.background == "pooled" else None,
        )
        scorer.word_scores.prepare()
        facts = facts | {"class_log_prior_": np.log(priors), "reference_length_": reference}
        return Learned(scorer, facts, None if self.needs_items() else counts)

    def _counted(self, training: Training, reference: float) -> CountedItems:
        """Return damped counts and the shares of items in their categories."""
        counts = damped(training.X, self.damping, self.length, reference)
        return CountedItems(counts, equal_shares(training.targets.labels), training.weights)

    def _reference_length(self, training: Training) -> float:
        """Return the mean length of items, or 1 without length normalization."""
        if not self.length:
            return 1.0
        counts = damped(training.X, self.damping, 0.0, 1.0)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        used = lengths > 0
        if not used.any():
            return 1.0
        return float(np.average(lengths[used], weights=training.weights[used]))

    def _category_priors(self, targets: Targets, n_items: Floats) -> Floats:
        """Return P(c); estimated priors add one item to each category."""
        if isinstance(self.priors, str):
            counts = n_items + 1 if self.priors == "estimated" else np.ones(len(n_items))
            priors: Floats = counts / counts.sum()
            return priors
        given = self.priors
        if isinstance(given, Mapping):
            by_column = {targets.column(label): value for label, value in given.items()}
            missing = [c for c in range(len(targets.classes)) if c not in by_column]
            if missing:
                label = targets.classes.tolist()[missing[0]]
                raise ParameterError(f"priors has no value for {label!r}; give one for each class.")
            given = [by_column[c] for c in range(len(targets.classes))]
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (len(targets.classes),) or not (
            np.isfinite(values).all() and (values > 0).all()
        ):
            message = f"priors must be {len(targets.classes)} numbers above 0, one for each class"
            raise ParameterError(f"{message}, 'estimated' or 'uniform'. Got {self.priors!r}.")
        shares: Floats = values / values.sum()
        return shares

    def file_state(self) -> dict[str, object]:
        """Return the state to save, with the counts that ``partial_fit`` adds to."""
        state = super().file_state()
        return state | {"start_": self.start_} if "start_" in state else state

    # Predicting ------------------------------------------------------------------------------

    def probabilities(self, scored: Scored) -> Floats:
        """Return the posterior probability of each category, P(c|d) [TCPH01, Eq. 8].

        Every row sums to 1, also for label sets: the probabilities assume a single label.
        """
        return np.exp(self.log_probabilities(scored))

    def log_probabilities(self, scored: Scored) -> Floats:
        """Return the logarithm of ``probabilities``."""
        priors = self.class_log_prior_
        joint = scored.raw.copy() if self.targets_.is_single else scored.raw + priors
        joint[np.isneginf(joint).all(axis=1)] = priors
        posterior: Floats = joint - logsumexp(joint, axis=1, keepdims=True)
        return posterior

    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """Return the logarithm of ``predict_proba``."""
        return np.vstack([self.log_probabilities(block) for block in self.scored(X).blocks()])

    def check_rows(self, X: MatrixLike, reset: bool) -> CSR:
        """Return validated counts."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return as_counts(X, type(self).__name__)

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # The test data of scikit-learn are not counts; its own MultinomialNB has the same tag.
        tags.classifier_tags.poor_score = True
        return tags


def pooled_unigrams(pooled: Pooled) -> Floats:
    """Return P(w) from the counts of all items, each item once [TCPH01, Sec. 2.2]."""
    counts: Floats = np.asarray(pooled.categories.sum(axis=0)).ravel()
    return counts / max(float(counts.sum()), 1e-300)


def _items_by_category(items: CountedItems) -> Floats:
    """Return the total weight of each category; items with several labels are divided."""
    n_items: Floats = items.shares.T @ items.weights
    return n_items
