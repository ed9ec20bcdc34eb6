"""``HierarchicalRankingSVC``: label sets by a ranking SVM over a taxonomy [CH07]."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from taxonomist.inference.label_sets import DecisionLike, decision_rule
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.certificates import CERTIFIED, SOLVER_DEFAULTS
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.joint import JointStart, learn_joint
from taxonomist.models.parameters import Check, Word
from taxonomist.models.traits import Traits
from taxonomist.solvers import SOLVERS

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Seed
    from taxonomist.kernels.pairwise import KernelLike
    from taxonomist.losses.categories import LossLike
    from taxonomist.models.attributes import AttributesLike, NodeWeightLike
    from taxonomist.models.learning import Learned, Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)


class HierarchicalRankingSVC(AttributeWeights, TaxonomyClassifier):
    """Support vector machine for label sets that ranks the categories of each item.

    The score of a category is the sum over the nodes at or above it, as in ``HierarchicalSVC``.
    Training ranks every category y of an item above every other category c, with a margin
    proportional to the loss Δ(y, c) [CH07]. A decision rule, tuned on held-out scores, then decides
    how many of the best categories to predict. Items with no category, or with all categories, do
    not affect training.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    C
        Penalty for margin violations, per unit of slack. ``float("inf")`` requires a hard margin.
    loss
        The loss Δ of ranking c above y: ``"tree"``, ``"zero_one"``, or any other loss that
        ``taxonomist.losses.category_loss`` accepts, such as ``weighted_tree(s, c⁻, c⁺)`` for the
        sign-up volumes and costs of [CH07].
    slack
        ``"example"``: one slack variable per item, which bounds the loss of the worst pair
        (``metrics.maximal_loss``). ``"pair"``: one per pair (y, c), which bounds the sum over
        misordered pairs (``metrics.misordering_loss``, Δ(Y, g) in [CH07]).
    decision
        Decision rule that converts scores to label sets. ``"size"`` predicts a threshold for each
        item [CH07, after Elisseeff and Weston], ``"threshold"`` tunes one threshold for all
        categories, ``"category_thresholds"`` tunes one per category, ``"top_k"`` predicts the mean
        number of labels for every item. Or a rule from ``taxonomist.inference.label_sets``.
    cv
        Number of cross-validation folds that provide held-out scores for the decision rule.
    min_labels, max_labels
        The minimum and maximum number of labels per prediction. None uses the smallest and largest
        number of labels of the training items.
    attributes, node_weight
        Class attributes and node weights, as in ``HierarchicalSVC``.
    kernel, gamma, degree, coef0, constant
        Kernel and constant feature, as in ``HierarchicalSVC``.
    solver
        ``"auto"``, ``"sequential"``, ``"greedy"`` [CH07, Alg. 1], ``"greedy_joint"`` or ``"full"``.
    tol, stop, max_iter, dtype, cache_size, warm_start, random_state, n_jobs
        As in ``HierarchicalSVC``.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    decision_
        The fitted decision rule. Only set for label sets.
    label_limits_
        The minimum and maximum number of labels per prediction. Only set for label sets.
    node_coef_, coef_
        Weights of nodes and of categories, as in ``HierarchicalSVC``.
    objective_, dual_objective_, duality_gap_, max_violation_
        Primal objective, dual objective, relative gap, and the largest violation ψ_i.
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

    traits = Traits(
        single={"ranking": {}},
        sets={"ranking": {"slack": "pair"}},
        parts=(JointStart,),
        dense=(DenseArray("features", "nodes", 4),),
    )
    parameters: ClassVar[dict[str, Requirement]] = CERTIFIED | {
        "solver": Word(tuple(SOLVERS)),
        "slack": Word(("example", "pair")),
        "decision": Check(decision_rule),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        loss: LossLike = "tree",
        slack: str = "example",
        decision: DecisionLike = "size",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
        attributes: AttributesLike = "taxonomy",
        node_weight: NodeWeightLike = "depth",
        kernel: KernelLike = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float = 0.0,
        solver: str = "auto",
        tol: float = SOLVER_DEFAULTS.tol,
        stop: str = SOLVER_DEFAULTS.stop,
        max_iter: int = SOLVER_DEFAULTS.max_iter,
        dtype: str = SOLVER_DEFAULTS.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        random_state: Seed = None,
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

    def learn(self, training: Training, start: JointStart | None = None) -> Learned:
        """Learn the weights of all nodes; see ``TaxonomyClassifier.learn``."""
        n_own = np.diff(training.targets.labels.indptr)
        n_idle = int(((n_own == 0) | (n_own == len(training.targets.categories))).sum())
        if n_idle:
            logger.info(
                "%d items have no category or all categories and do not affect training.", n_idle
            )
        return learn_joint(self, training, start, self.slack)

    def start_of(self, items: Codes) -> JointStart | None:
        """Return the dual variables of some items of the last fit."""
        return None if self.start_ is None else self.start_.of(items)
