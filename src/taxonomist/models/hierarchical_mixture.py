"""``HierarchicalMixture``: naive Bayes that assigns words to nodes by EM [TCPH01]."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.models.parameters import Word, at_least
from taxonomist.models.path_mixture import MIXTURE_DEFAULTS, PathMixture
from taxonomist.models.traits import Traits
from taxonomist.models.word_model import DEFAULT_BACKGROUND, CountStart, WordModel
from taxonomist.solvers.mixture import UPDATES
from taxonomist.solvers.temperature import choose_temperature

if TYPE_CHECKING:
    from taxonomist._typing import Seed
    from taxonomist.inference.label_sets import DecisionLike
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.mixture import MixtureOptions, MixtureProblem
    from taxonomist.taxonomy import Taxonomy


class HierarchicalMixture(PathMixture, WordModel):
    """Naive Bayes in which every word of an item comes from a node on the path to the root.

    P(w|c) = Σ_v P(v|c) P(w|v) over the nodes v at or above c [TCPH01, Eq. 1]. Starting from the
    words of all items below a node, a few EM steps move words to the nodes that explain them best:
    general words up, specific words down. The model is suited to few items per category.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    max_iter
        The number of EM steps for P(w|v). 0 is the same as ``HierarchicalShrinkage``. Too many
        steps overfit the training items.
    inverse_temperature
        Exponent of the terms of the responsibilities (tempered EM), or a sequence with one value
        per step. 1 is plain EM. ``"held_out"`` chooses the value from 0.5 to 1 that makes held-out
        items most likely; it trains 30 more times.
    path_weights
        P(v|c): ``"level"`` (shared by categories of the same depth), ``"class"`` (separate for each
        category, which needs many items), ``"shrunk"`` (separate, but shrunk towards the shared
        weights), or a matrix like ``path_weights_``.
    weight_updates
        How P(v|c) is re-estimated in each EM step: ``"step"`` by one EM step of its own, together
        with that for P(w|v) [TCPH01, Eq. 7]; ``"full"`` until it is best for the new P(w|v). None
        estimates it once, before the first step.
    shared_words
        With ``path_weights="shrunk"``, the weight of the shared weights as a number of words.
    trust
        The share of the estimated weight that nodes below the root keep; the rest goes to the root
        and the uniform node. Values below 1 compensate for the dependence between the words of an
        item, which makes the likelihood rely too much on rare words. The paper uses 1.
    discount
        Value subtracted from the number of items with a word before EM, because a word in a single
        item of a node may be chance. The paper uses 0.
    uniform
        Whether to add a node above the root with a uniform distribution, so that unseen words do
        not have probability 0.
    held_out
        The share of the items that path weights are estimated from, given the words of the other
        items. None leaves out one item at a time and uses all items; ``"word"`` leaves out one
        occurrence of a word at a time, so that an item supports its own repeated words.
    damping
        ``"log"`` replaces a count n by log(1 + n). None leaves counts unchanged.
    length
        Exponent of the length normalization. 0 leaves counts unchanged, 1 scales all items to the
        same length, and 0.5 divides counts by the square root of the length of the item.
    priors
        P(c): ``"estimated"`` from the number of items plus one, ``"uniform"``, or numbers in the
        order of ``classes_`` or by label.
    background
        P(w) in log P(d|c) - log P(d), P(d) = Π_w P(w)^n: ``"mixture"`` is Σ_c P(c) P(w|c),
        ``"pooled"`` the share of w in the counts of all training items, as in the paper; words that
        no training item has are then ignored. It shifts the scores of an item by the same amount
        for all categories, so it matters for label sets only.
    tol
        Tolerance of the path weights: the distance from the largest log-likelihood of left-out
        items, per word.
    decision
        Decision rule that converts the scores log P(d|c) - log P(d) to label sets. The paper's is
        ``CategoryThresholds(counted=True)`` with ``min_labels=0``. With ``least_score=0`` as well,
        an item gets no category that makes it less likely than P(d).
        ``"category_thresholds"`` tunes one threshold per category, ``"threshold"`` tunes one for
        all categories, ``"size"`` predicts a threshold for each item, ``"top_k"`` predicts the mean
        number of labels for every item. Or a rule from ``taxonomist.inference.label_sets``.
    cv
        Number of cross-validation folds that provide held-out scores for the decision rule.
    min_labels, max_labels
        The minimum and maximum number of labels per prediction. None uses the smallest and largest
        number of labels of the training items.
    random_state
        Seed for the choice of held-out items; see ``held_out``.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    node_word_proba_, node_word_log_proba_
        P(w|v), (n_nodes, n_features) CSR, and its logarithm, dense. Rows are in the order of
        ``taxonomy_.nodes``, followed by one row for each category that is an inner node.
    path_weights_
        P(v|c), (n_classes, n_nodes + 1) CSR. Columns are the rows of ``node_word_proba_``, followed
        by the uniform node.
    class_log_prior_
        log P(c), (n_classes,).
    reference_length_
        The mean length of the training items, used by ``length``. 1 if ``length`` is 0.
    objective_
        Log-likelihood of the training counts, or the tempered bound of the last step.
    weights_gap_
        Upper bound of the distance of the path weights from the largest log-likelihood, per word.
        None if the weights were given.
    inverse_temperature_
        The inverse temperature in use, a number or one per step.
    history_, n_iter_
        Seconds, inverse temperature and bound before each step and at the end; the number of steps.
    decision_, label_limits_
        The fitted decision rule, and the minimum and maximum number of labels per prediction. Only
        set for label sets.

    Examples
    --------
    >>> from taxonomist import HierarchicalMixture, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[2, 0, 0, 1], [0, 2, 0, 1], [0, 0, 3, 1]] * 3
    >>> model = HierarchicalMixture(taxonomy).fit(X, ["cat", "dog", "oak"] * 3)
    >>> model.predict([[1, 0, 0, 1], [0, 0, 1, 1]]).tolist()
    ['cat', 'oak']
    >>> words = model.top_words("cat", 1, feature_names=["purr", "bark", "leaf", "the"])
    >>> [word for word, _ in words]
    ['purr']
    """

    traits = Traits(
        single={"mixture": {}}, sets={"mixture": {}}, takes_counts=True, parts=(CountStart,)
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "max_iter": at_least(0, whole=True),
        "weight_updates": Word(UPDATES, optional=True),
    }
    item_reason = (
        "path weights or the inverse temperature are estimated from items. Give both as numbers "
        "or use fit."
    )

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        max_iter: int = MIXTURE_DEFAULTS.max_iter,
        inverse_temperature: Any = MIXTURE_DEFAULTS.inverse_temperature,
        path_weights: Any = MIXTURE_DEFAULTS.path_weights,
        weight_updates: str | None = MIXTURE_DEFAULTS.weight_updates,
        shared_words: float = MIXTURE_DEFAULTS.shared_words,
        trust: float = MIXTURE_DEFAULTS.trust,
        discount: float = MIXTURE_DEFAULTS.discount,
        uniform: bool = MIXTURE_DEFAULTS.uniform,
        held_out: float | str | None = MIXTURE_DEFAULTS.held_out,
        damping: str | None = "log",
        length: float = 0.5,
        priors: Any = "estimated",
        background: str = DEFAULT_BACKGROUND,
        tol: float = MIXTURE_DEFAULTS.tol,
        decision: DecisionLike = "category_thresholds",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.max_iter = max_iter
        self.inverse_temperature = inverse_temperature
        self.path_weights = path_weights
        self.weight_updates = weight_updates
        self.shared_words = shared_words
        self.trust = trust
        self.discount = discount
        self.uniform = uniform
        self.held_out = held_out
        self.damping = damping
        self.length = length
        self.priors = priors
        self.background = background
        self.tol = tol
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels
        self.random_state = random_state

    def options(self) -> MixtureOptions:
        """Return the options of the solver; a chosen inverse temperature is 1 until it is known."""
        values = np.ravel(1.0 if self._is_chosen() else self.inverse_temperature).astype(np.float64)
        is_one = np.ndim(self.inverse_temperature) == 0
        return replace(
            super().options(),
            max_iter=self.max_iter,
            inverse_temperature=float(values[0]) if is_one else tuple(values.tolist()),
            weight_updates=self.weight_updates,
        )

    def settled(self, problem: MixtureProblem, options: MixtureOptions) -> MixtureOptions:
        """Return the options with the inverse temperature chosen, if it is to be."""
        if not self._is_chosen():
            return options
        return replace(options, inverse_temperature=choose_temperature(problem, options))

    def facts_of(self, options: MixtureOptions) -> dict[str, object]:
        """Return the inverse temperature in use."""
        used = options.inverse_temperature
        return {"inverse_temperature_": used if isinstance(used, float) else list(used)}

    def needs_items(self) -> bool:
        """Return whether path weights or the inverse temperature must be estimated."""
        return super().needs_items() or self._is_chosen()

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        super().check()
        if self.weight_updates is not None and not isinstance(self.path_weights, str):
            raise ParameterError(
                "weight_updates re-estimates path weights, but path_weights is a matrix. Give "
                "path_weights as a word, or weight_updates=None."
            )
        if self._is_chosen():
            return
        try:
            values = np.atleast_1d(np.asarray(self.inverse_temperature, dtype=np.float64))
        except (TypeError, ValueError):
            values = np.zeros(0)
        if not (
            values.ndim == 1 and len(values) and (values > 0).all() and np.isfinite(values).all()
        ):
            raise ParameterError(
                "inverse_temperature must be a number above 0, one for each step, or 'held_out'. "
                f"Got {self.inverse_temperature!r}."
            )

    def _is_chosen(self) -> bool:
        return isinstance(self.inverse_temperature, str) and self.inverse_temperature == "held_out"
