"""``HierarchicalShrinkage``: word counts pooled along the path to the root [TCPH01, Sec. 3.2.3]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxonomist.models.path_mixture import MIXTURE_DEFAULTS, PathMixture
from taxonomist.models.sources import rest_sources
from taxonomist.models.traits import Traits
from taxonomist.models.word_model import CountStart, WordModel

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Seed
    from taxonomist.inference.label_sets import DecisionLike
    from taxonomist.solvers.word_counts import Sources
    from taxonomist.taxonomy import Categories, Taxonomy


class HierarchicalShrinkage(PathMixture, WordModel):
    """Naive Bayes with word probabilities shrunk towards those of ancestors.

    P(w|c) = Σ_v P(v|c) P(w|v) over the nodes v at or above c. The words of a node are those of all
    items below it; an additional node above the root has a uniform distribution. The weights of
    nodes maximize the likelihood of left-out items. A category with few items borrows strength from
    related categories.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    take_out
        Whether to exclude the items below the child on the path from the words of a node, as in
        the paper. A node with two children then only has the words of the sibling. This made all
        results worse.
    path_weights, shared_words, trust, discount, uniform, held_out, tol, random_state
        Path weights and smoothing, as in ``HierarchicalMixture``.
    damping, length, priors
        Counts and priors, as in ``HierarchicalMixture``.
    decision, cv, min_labels, max_labels
        Decision rule for label sets, as in ``HierarchicalMixture``.

    Attributes
    ----------
    classes_, taxonomy_, class_log_prior_, reference_length_
        As in ``HierarchicalMixture``.
    node_word_proba_, node_word_log_proba_
        P(w|v) of nodes, as in ``HierarchicalMixture``. Not available with ``take_out=True``.
    path_weights_
        P(v|c), (n_classes, n_nodes + 1), the uniform node last.
    objective_, weights_gap_, history_, n_iter_
        As in ``HierarchicalMixture``, without EM steps.
    decision_, label_limits_
        The fitted decision rule, and the minimum and maximum number of labels per prediction. Only
        set for label sets.

    Examples
    --------
    >>> from taxonomist import HierarchicalShrinkage, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[2, 0, 0, 1], [0, 2, 0, 1], [0, 0, 3, 1]] * 3
    >>> model = HierarchicalShrinkage(taxonomy).fit(X, ["cat", "dog", "oak"] * 3)
    >>> model.predict([[1, 0, 0, 1], [0, 0, 1, 1]]).tolist()
    ['cat', 'oak']
    """

    traits = Traits(
        single={"shrinkage": {}},
        sets={"shrinkage": {}},
        takes_counts=True,
        parts=(CountStart,),
    )

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        take_out: bool = False,
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
        decision: DecisionLike = "category_thresholds",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.take_out = take_out
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

    def sources(self, categories: Categories) -> tuple[Sources, Codes]:
        """Return the sources of words, and the node of each."""
        return rest_sources(categories) if self.take_out else super().sources(categories)
