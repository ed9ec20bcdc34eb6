"""``HierarchicalMixture``: words find the node of their generality by EM [TCPH01]."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.models.parameters import at_least
from taxonomist.models.path_mixture import MIXTURE_DEFAULTS, PathMixture
from taxonomist.models.traits import Traits
from taxonomist.models.word_model import CountStart, WordModel

if TYPE_CHECKING:
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.mixture import MixtureOptions
    from taxonomist.taxonomy import Taxonomy


class HierarchicalMixture(PathMixture, WordModel):
    """Naive Bayes in which every word of an item comes from a node on the path to the root.

    P(w|c) = Σ_v P(v|c) P(w|v) over the nodes v at or above c [TCPH01, Eq. 1]. Starting from the
    words of all items below a node, a few steps of EM move words to the nodes that explain them
    best: general ones up, specific ones down. It is made for few items per category.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``.
    max_iter
        Steps of EM for P(w|v); 0 is ``HierarchicalShrinkage``. More than a few fit the training
        items too closely.
    inverse_temperature
        Power of the terms of which responsibilities are made (tempered EM), or a sequence with one
        for each step. 1 is plain EM.
    path_weights
        P(v|c): ``"level"``, shared by categories of the same depth; ``"class"``, each its own,
        which few items do not suffice for; ``"shrunk"``, each its own but drawn to the shared
        ones; or a matrix like ``path_weights_``.
    shared_words
        How many words the shared weights are worth, with ``"shrunk"``.
    trust
        Part of the estimated weight that nodes below the root keep; the root and the uniform node
        take the rest. Likelihoods trust rare words too much, since the words of an item are not
        independent. 1 is the paper's.
    discount
        What is taken off the number of items that have a word before EM starts: a word that one
        item of a node has may be chance. 0 is the paper's.
    uniform
        Whether there is a node above the root that has all words alike, so that unseen words cost
        no infinity.
    held_out
        Share of the items that path weights are estimated from, by the words of the others; None
        leaves out one item at a time, and uses all.
    damping
        ``"log"`` takes a count n as log(1 + n), None as it is.
    length
        From 0, counts as they are, to 1, all items the same length; 0.5 is half-way: a count is
        divided by the square root of the item's length.
    priors
        P(c): ``"estimated"`` from the number of items (one more for each), ``"uniform"``, or
        numbers in the order of ``classes_`` or by label.
    tol
        How much of the largest log-likelihood of left-out items the path weights may miss, per
        word.
    decision
        How scores log P(d|c) - log P(d) become label sets: ``"category_thresholds"`` tunes a
        threshold for each category, ``"threshold"`` one for all, ``"size"`` predicts one for each
        item, ``"top_k"`` takes as many as items have on average; or a rule of
        ``taxonomist.inference.label_sets``.
    cv
        Folds in which items are held out for the decision rule.
    min_labels, max_labels
        The least and the largest number of labels of an item; None means what the training items
        show.
    random_state
        Seed for the choice of held-out items.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy, with terminal children for interior nodes that are categories.
    node_word_proba_, node_word_log_proba_
        P(w|v), (n_nodes, n_features) CSR, row order ``taxonomy_.nodes``; and its logarithm, dense.
    path_weights_
        P(v|c), (n_classes, n_nodes + 1) CSR, the uniform node last.
    class_log_prior_
        log P(c), (n_classes,).
    reference_length_
        Mean length of the training items, to which ``length`` refers; 1 if it is not used.
    objective_
        Log-likelihood of the training counts, or the tempered bound of the last step.
    weights_gap_
        How much of the largest log-likelihood the path weights miss at most, per word; None where
        they were given.
    history_, n_iter_
        Seconds, inverse temperature and bound before each step and at the end; how many steps.
    decision_, label_limits_
        The fitted decision rule, and the least and the largest number of labels; a model of single
        labels has neither.

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
    parameters: ClassVar[dict[str, Requirement]] = {"max_iter": at_least(0, whole=True)}

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        max_iter: int = MIXTURE_DEFAULTS.max_iter,
        inverse_temperature: Any = MIXTURE_DEFAULTS.inverse_temperature,
        path_weights: Any = MIXTURE_DEFAULTS.path_weights,
        shared_words: float = MIXTURE_DEFAULTS.shared_words,
        trust: float = MIXTURE_DEFAULTS.trust,
        discount: float = MIXTURE_DEFAULTS.discount,
        uniform: bool = MIXTURE_DEFAULTS.uniform,
        held_out: float | None = MIXTURE_DEFAULTS.held_out,
        damping: str | None = "log",
        length: float = 0.5,
        priors: Any = "estimated",
        tol: float = MIXTURE_DEFAULTS.tol,
        decision: Any = "category_thresholds",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.max_iter = max_iter
        self.inverse_temperature = inverse_temperature
        self.path_weights = path_weights
        self.shared_words = shared_words
        self.trust = trust
        self.discount = discount
        self.uniform = uniform
        self.held_out = held_out
        self.damping = damping
        self.length = length
        self.priors = priors
        self.tol = tol
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels
        self.random_state = random_state

    def options(self) -> MixtureOptions:
        """Return what the solver is told."""
        given = self.inverse_temperature
        steps = float(given) if np.ndim(given) == 0 else tuple(map(float, given))
        return replace(super().options(), max_iter=self.max_iter, inverse_temperature=steps)

    def check(self) -> None:
        """Raise unless the parameters make sense."""
        super().check()
        values = np.atleast_1d(np.asarray(self.inverse_temperature, dtype=np.float64))
        if not (
            values.ndim == 1 and len(values) and (values > 0).all() and np.isfinite(values).all()
        ):
            raise ParameterError(
                "inverse_temperature must be a number above 0, or one for each step. "
                f"Got {self.inverse_temperature!r}."
            )
