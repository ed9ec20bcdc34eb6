"""``LidstoneNB``: multinomial naive Bayes with smoothing chosen automatically [TCPH01]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taxonomist.models.parameters import at_least
from taxonomist.models.traits import Traits
from taxonomist.models.word_model import DEFAULT_BACKGROUND, CountStart, Estimate, WordModel
from taxonomist.solvers.lidstone import choose_alpha, smoothed_weights
from taxonomist.solvers.mixture import discounted, without_empty

if TYPE_CHECKING:
    from taxonomist._typing import Codes
    from taxonomist.inference.label_sets import DecisionLike
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.word_counts import CountedItems, Pooled, Sources
    from taxonomist.taxonomy import Taxonomy


class LidstoneNB(WordModel):
    """Multinomial naive Bayes with P(w|c) = (n_cw + α) / (n_c + α n_words) [TCPH01, Sec. 3.2.1].

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. It organizes the predictions, but does not
        affect training. None uses a flat taxonomy of the labels in ``y``.
    alpha
        Value added to every count. None chooses the value with the highest leave-one-out
        likelihood.
    damping, length, priors, background
        Counts and priors, as in ``HierarchicalMixture``. By default, counts are not changed.
    decision, cv, min_labels, max_labels
        Decision rule for label sets, as in ``HierarchicalMixture``.

    Attributes
    ----------
    classes_, taxonomy_, class_log_prior_, reference_length_
        As in ``HierarchicalMixture``.
    alpha_
        The value added to every count.
    node_word_proba_, node_word_log_proba_
        P(w|v) of nodes before smoothing, from the words of all items below each node.
    path_weights_
        The weights of nodes in each category, (n_classes, n_nodes + 1): n_c / (n_c + α n_words) for
        the category itself and the rest for the uniform distribution, in the last column.
    decision_, label_limits_
        The fitted decision rule, and the minimum and maximum number of labels per prediction. Only
        set for label sets.

    Examples
    --------
    >>> from taxonomist import LidstoneNB
    >>> model = LidstoneNB(alpha=0.5).fit([[2, 0], [3, 1], [0, 2]], ["cat", "cat", "dog"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['cat', 'dog']
    >>> model.partial_fit([[0, 4]], ["cat"]).predict([[0, 1]]).tolist()
    ['cat']
    """

    traits = Traits(
        single={"naive_bayes": {}},
        sets={"naive_bayes": {}},
        takes_counts=True,
        parts=(CountStart,),
    )
    parameters: ClassVar[dict[str, Requirement]] = {"alpha": at_least(0, optional=True)}
    item_reason = "alpha is chosen by leaving items out. Give alpha or use fit."

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        alpha: float | None = None,
        damping: str | None = None,
        length: float = 0.0,
        priors: Any = "estimated",
        background: str = DEFAULT_BACKGROUND,
        decision: DecisionLike = "category_thresholds",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.alpha = alpha
        self.damping = damping
        self.length = length
        self.priors = priors
        self.background = background
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels

    def needs_items(self) -> bool:
        """Return whether alpha must be estimated."""
        return self.alpha is None

    def estimate(
        self,
        pooled: Pooled,
        sources: Sources,
        columns: Codes,  # noqa: ARG002
        items: CountedItems | None,
    ) -> Estimate:
        """Return the words of nodes, and weights equivalent to adding α to all counts."""
        if self.alpha is None:
            assert items is not None
            alpha = choose_alpha(items, pooled.categories)
        else:
            alpha = float(self.alpha)
        words = discounted(pooled, sources, 0.0)
        weights = smoothed_weights(pooled.categories, sources, alpha)
        has_words = np.diff(words.indptr) > 0
        return Estimate(
            words, without_empty(weights, sources, has_words, alpha > 0), {"alpha_": alpha}
        )
