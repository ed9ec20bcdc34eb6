"""``HierarchicalShrinkage``: word counts pooled along the path to the root [TCPH01, Sec. 3.2.3]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from taxonomist.models.parameters import Word
from taxonomist.models.path_mixture import MIXTURE_DEFAULTS, PathMixture
from taxonomist.models.sources import rest_sources
from taxonomist.models.traits import Traits
from taxonomist.models.word_model import DEFAULT_BACKGROUND, CountStart, WordModel

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Seed
    from taxonomist.inference.label_sets import DecisionLike
    from taxonomist.models.parameters import Requirement
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
        Items to exclude from the words of the nodes above a category: ``"class"`` excludes those of
        the category itself [TCPH01, Sec. 1], ``"child"`` all those below the child on the path,
        so that a node with two children only has the words of the sibling. False excludes none
        [TCPH01, Sec. 3.2.3]. True is the same as ``"child"``. Excluding items made results worse.
    path_weights, shared_words, trust, discount, uniform, held_out, tol, random_state
        Path weights and smoothing, as in ``HierarchicalMixture``.
    damping, length, priors, background
        Counts and priors, as in ``HierarchicalMixture``.
    decision, cv, min_labels, max_labels
        Decision rule for label sets, as in ``HierarchicalMixture``.

    Attributes
    ----------
    classes_, taxonomy_, class_log_prior_, reference_length_
        As in ``HierarchicalMixture``.
    node_word_proba_, node_word_log_proba_
        P(w|v) of nodes, as in ``HierarchicalMixture``. Only available with ``take_out=False``.
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

    parameters: ClassVar[dict[str, Requirement]] = {
        "take_out": Word(("class", "child"), others="False"),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        take_out: bool | str = False,
        path_weights: Any = MIXTURE_DEFAULTS.path_weights,
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
        self.background = background
        self.tol = tol
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels
        self.random_state = random_state

    def sources(self, categories: Categories) -> tuple[Sources, Codes]:
        """Return the sources of words, and the node of each."""
        if not self.take_out:
            return super().sources(categories)
        return rest_sources(categories, "class" if self.take_out == "class" else "child")
