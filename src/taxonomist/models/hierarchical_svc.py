"""``HierarchicalSVC``: the joint multiclass SVM over a taxonomy [CH04, HCC03]."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from taxonomist.errors import ParameterError
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.certificates import CERTIFIED, SOLVER_DEFAULTS
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.joint import JointStart, learn_joint
from taxonomist.models.parameters import Word
from taxonomist.models.traits import Traits
from taxonomist.solvers import SOLVERS

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Seed
    from taxonomist.kernels.pairwise import KernelLike
    from taxonomist.losses.categories import LossLike
    from taxonomist.models.attributes import AttributesLike, NodeWeightLike
    from taxonomist.models.class_kernel import ClassKernelLike
    from taxonomist.models.learning import Learned, Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy


BIAS_FEATURE = 1.0
"""The constant feature behind bias terms; any value gives the same optimum."""


class HierarchicalSVC(AttributeWeights, TaxonomyClassifier):
    """Support vector classifier that shares weights between related categories.

    Every node of the taxonomy has a weight vector, and the score of a category is the sum over the
    nodes at or above it [CH04, Eq. 21]. All weights are learned jointly, with margins proportional
    to the loss of a mistake [CH04, Eq. 24]. Categories without training items can be predicted
    through the weights that they share with other categories.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``, which gives the multiclass SVM of Crammer and Singer.
    C
        Penalty for margin violations, per unit of slack. ``float("inf")`` requires a hard margin.
    loss
        The loss of a mistake: ``"tree"``, ``"zero_one"``, or any other loss that
        ``taxonomist.losses.category_loss`` accepts.
    attributes
        Class attributes: ``"taxonomy"`` (one attribute per node), ``"flat"`` (one per category), or
        a matrix of shape (n_classes, n_attributes).
    node_weight
        Weight v_z of each node: ``"depth"`` (1/√depth of the taxonomy), ``"unit"`` (1),
        ``"normalized"`` (squares sum to 1 for every category), a number, or a mapping from node ids
        to numbers.
    class_kernel
        Similarities between classes in place of ``attributes`` [HCC03, Sec. 3]: a symmetric,
        positive semidefinite matrix of shape (n_classes, n_classes) in the order of ``classes_``,
        or a function of two class ids. The inner products <Λ(y), Λ(y')> of ``attributes`` are such
        a matrix.
    kernel
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"``, ``"precomputed"``, or a function.
    gamma, degree, coef0
        Parameters of the kernel, as in scikit-learn's ``SVC``.
    constant
        Value of a constant feature that is added to every item with the linear kernel. 0 adds no
        feature. Its weights are penalised like all others.
    fit_intercept
        Whether every category has a bias term b_y, which is not penalised [CH04, footnote 1].
        Requires the linear kernel, ``constant=0`` and the default solver.
    solver
        ``"auto"`` and ``"sequential"`` visit items in random order. The others take the most
        violated item first, as in the papers: ``"greedy"`` and ``"greedy_joint"`` are
        [CH04, Alg. 1] with step 8a and 8b, ``"full"`` is the same without an active set
        [CH04, Sec. 6.4], and ``"hcc03"`` is [HCC03, Alg. 1], whose criterion does not prove
        optimality.
    tol
        Tolerance of the stopping criterion.
    stop
        Stopping criterion: ``"gap"`` (the relative duality gap) or ``"violation"`` (the largest
        violation ψ_i of the optimality conditions [CH04, Eq. 33], as in the paper).
    max_iter
        Maximum number of passes over the items.
    dtype
        The dtype of the weights with a linear kernel, ``"float32"`` or ``"float64"``.
    cache_size
        Size of the Gram matrix cache in megabytes.
    warm_start
        Whether ``fit`` starts from the dual variables of the last fit. Items and categories may be
        added between fits.
    random_state
        Seed of the order in which items are visited.
    n_jobs
        Number of threads. None uses all cores. The result does not depend on it.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    node_coef_
        Weights of nodes v_z w_z, (n_nodes, n_features), in the order of ``taxonomy_.nodes``. Linear
        kernel only.
    coef_
        Weights of categories, (n_classes, n_features): the sums of ``node_coef_`` along ancestors,
        plus ``terminal_coef_``. Linear kernel only.
    terminal_coef_
        Additional weights of categories that are inner nodes, (n_classes, n_features)
        [CH04, Sec. 2.4]. 0 for leaves.
    intercept_
        Bias b_y of every category, or the part of its score that comes from the constant feature,
        (n_classes,). Linear kernel only.
    objective_, dual_objective_, duality_gap_
        Primal objective ½ ||w||² + C Σ ξ, dual objective, and (primal - dual) / primal.
    max_violation_
        The largest violation ψ_i.
    n_iter_, converged_
        The number of passes, and whether ``tol`` was reached.
    history_
        For each pass: seconds, primal, dual, violation, n_active and is_exact.
    active_ratio_
        The share of dual variables that are positive [CH04, Eq. 41].

    Examples
    --------
    >>> from taxonomist import HierarchicalSVC, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X, y = [[1, 0, 0], [1, 1, 0], [0, 0, 1]], ["cat", "dog", "oak"]
    >>> model = HierarchicalSVC(taxonomy).fit(X, y)
    >>> model.predict_paths([[1, 1, 0]])
    [('animal', 'dog')]
    """

    traits = Traits(
        single={"svm": {}, "flat": {"attributes": "flat", "loss": "zero_one"}},
        label_sets=False,
        parts=(JointStart,),
        dense=(DenseArray("features", "nodes", 4),),
    )
    parameters: ClassVar[dict[str, Requirement]] = CERTIFIED | {"solver": Word(tuple(SOLVERS))}

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        loss: LossLike = "tree",
        attributes: AttributesLike = "taxonomy",
        node_weight: NodeWeightLike = "depth",
        class_kernel: ClassKernelLike | None = None,
        kernel: KernelLike = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float = 0.0,
        fit_intercept: bool = False,
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
        self.attributes = attributes
        self.node_weight = node_weight
        self.class_kernel = class_kernel
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.constant = constant
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.stop = stop
        self.max_iter = max_iter
        self.dtype = dtype
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def constant_feature(self) -> float:
        """The value of the constant feature, whose weights give the biases; 0 if there is none."""
        return BIAS_FEATURE if self.fit_intercept else self.constant or 0.0

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        super().check()
        if self.fit_intercept and (self.constant or self.solver not in ("auto", "sequential")):
            raise ParameterError(
                "fit_intercept=True needs constant=0 and solver='auto' or 'sequential'. "
                f"Got constant={self.constant!r} and solver={self.solver!r}."
            )

    def learn(self, training: Training, start: JointStart | None = None) -> Learned:
        """Learn the weights of all nodes; see ``TaxonomyClassifier.learn``."""
        return learn_joint(self, training, start)

    def start_of(self, items: Codes) -> JointStart | None:
        """Return the dual variables of some items of the last fit."""
        return None if self.start_ is None else self.start_.of(items)
