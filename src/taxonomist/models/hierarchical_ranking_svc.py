"""``HierarchicalRankingSVC``: label sets by a ranking SVM over a taxonomy [CH07]."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.models.certified import DEFAULT
from taxonomist.models.joint_model import JointModel
from taxonomist.models.label_sets import LabelSetModel
from taxonomist.solvers.duals import of_items

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats
    from taxonomist.models.set_targets import SetTargets
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)


class HierarchicalRankingSVC(JointModel, LabelSetModel):
    """Support vector machine that ranks an item's categories above all others.

    The score of a category is the sum over the nodes at or above it, as in ``HierarchicalSVC``.
    Every category y of an item is to score higher than every other category c, by a margin that is
    asked for in proportion to the loss Δ(y, c) [CH07]. A decision rule, fitted to the scores of
    held-out items, then cuts the ranking. Items with no category, or with all, rank nothing and are
    left out of training.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``.
    C
        Cost of a unit of slack. ``float("inf")`` asks for a hard margin.
    loss
        What ranking c above y costs: ``"tree"``, ``"zero_one"``, or whatever
        ``taxonomist.losses.category_loss`` takes.
    slack
        ``"example"``: one slack for each item, which bounds the worst pair's loss; ``"pair"``: one
        for each pair (y, c), which bounds the sum over misordered pairs.
    decision
        How scores become label sets: ``"size"`` predicts a threshold for each item [CH07, after
        Elisseeff and Weston], ``"threshold"`` tunes one for all, ``"category_thresholds"`` one for
        each category, ``"top_k"`` takes as many as items have on average; or a rule of
        ``taxonomist.inference.label_sets``.
    cv
        Folds in which items are held out for the decision rule.
    min_labels, max_labels
        The least and the largest number of labels of an item; None means what the training items
        show.
    attributes, node_weight
        Class attributes and v_z, as in ``HierarchicalSVC``.
    kernel, gamma, degree, coef0, constant
        Kernel and constant feature, as in ``HierarchicalSVC``.
    solver
        ``"auto"``, ``"sequential"``, ``"greedy"`` [CH07, Alg. 1], ``"greedy_joint"`` or ``"full"``.
    tol, stop, max_iter, dtype, cache_size, warm_start, random_state, n_jobs
        As in ``HierarchicalSVC``.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy, with terminal children for interior nodes that are categories.
    decision_
        The fitted decision rule; a model of single labels has none.
    label_limits_
        The least and the largest number of labels of a prediction.
    node_coef_, coef_
        Weights of nodes and of categories, as in ``HierarchicalSVC``.
    objective_, dual_objective_, duality_gap_, max_violation_
        Primal value, dual value, relative gap, and the largest ψ_i.
    n_iter_, converged_, history_, active_ratio_
        As in ``HierarchicalSVC``.

    Examples
    --------
    >>> from taxonomist import HierarchicalRankingSVC, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]] * 3
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]] * 3
    >>> model = HierarchicalRankingSVC(taxonomy, C=10).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    """

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        loss: Any = "tree",
        slack: str = "example",
        decision: Any = "size",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
        attributes: Any = "taxonomy",
        node_weight: Any = "depth",
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float = 0.0,
        solver: str = "auto",
        tol: float = DEFAULT.tol,
        stop: str = DEFAULT.stop,
        max_iter: int = DEFAULT.max_iter,
        dtype: str = DEFAULT.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.slack = slack
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels
        self.attributes = attributes
        self.node_weight = node_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.constant = constant
        self.solver = solver
        self.tol = tol
        self.stop = stop
        self.max_iter = max_iter
        self.dtype = dtype
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        super()._check_parameters()
        self._check_word("slack", ("example", "pair"))

    def _learn(self, X: Any, targets: SetTargets, costs: Floats, start: Any = None) -> None:
        """Learn the weights from the pairs of all items."""
        n_own = np.diff(targets.labels.indptr)
        has_pairs = (n_own > 0) & (n_own < len(targets.categories))
        if not has_pairs.all():
            logger.info(
                "%d items have no category, or all: nothing is learned from these.",
                int((~has_pairs).sum()),
            )
        self._solve(
            X,
            targets.labels,
            targets.categories,
            targets.classes,
            costs,
            slack=self.slack,
            start=start,
        )

    def _start_of(self, items: Codes) -> Any:
        """Return the dual variables of some items of the last fit."""
        return of_items(self._duals, items)
