"""``CoupledBinarySVC``: binary problems that share the weights of nodes [CH04, Sec. 2.5]."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import ParameterError
from taxonomist.inference.label_sets import DecisionLike, decision_rule
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.certificates import (
    CERTIFIED,
    SOLVER_DEFAULTS,
    certificate_facts,
    item_costs,
    log_pass,
    solver_options,
)
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.learning import Learned
from taxonomist.models.parameters import Check
from taxonomist.models.traits import Traits
from taxonomist.solvers import binary

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats, Objects, Seed
    from taxonomist.kernels.pairwise import KernelLike
    from taxonomist.models.attributes import AttributesLike, NodeWeightLike
    from taxonomist.models.class_kernel import ClassKernelLike
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy


class BinaryStart(NamedTuple):
    """The state of a fit, for warm starts.

    Attributes
    ----------
    alpha
        Dual variables, (n_items, n_categories) CSR.
    classes
        The classes of the columns.
    """

    alpha: CSR
    classes: Objects

    def of(self, items: Codes) -> BinaryStart:
        """Return the state of some items; the dual variables of new items are 0."""
        known = items[items < self.alpha.shape[0]]
        chosen = csr_array(self.alpha[known])
        chosen.resize((len(items), self.alpha.shape[1]))
        return BinaryStart(chosen, self.classes)


class CoupledBinarySVC(AttributeWeights, TaxonomyClassifier):
    """One binary SVM per category, coupled by shared weights of nodes.

    The score of a category is the sum over the nodes at or above it, as in ``HierarchicalSVC``.
    Training pushes it to at least 1 for items in the category and to at most -1 for all other items
    [CH04, Eq. 22]. With ``attributes="flat"`` this is one independent SVM per category, without a
    bias term.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    C
        Penalty for margin violations, per unit of slack of one item in one category.
    positive_weight
        Factor of ``C`` for the items in a category. None means 1. A number applies to all
        categories, such as 10 in [TCPH01, Sec. 3.2.5]. ``"balanced"`` gives the items inside and
        outside a category the same total weight. A mapping gives factors by label, with 1 for
        missing labels.
    decision
        Decision rule that converts scores to label sets. ``"threshold"`` tunes one threshold for
        all categories, ``"category_thresholds"`` tunes one per category, ``"size"`` predicts a
        threshold for each item, ``"top_k"`` predicts the mean number of labels for every item. Or a
        rule from ``taxonomist.inference.label_sets``.
    cv
        Number of cross-validation folds that provide held-out scores for the decision rule.
    min_labels, max_labels
        The minimum and maximum number of labels per prediction. None uses the smallest and largest
        number of labels of the training items.
    attributes, node_weight, class_kernel
        Class attributes, node weights and similarities of classes, as in ``HierarchicalSVC``.
    with_root
        Whether the root of the taxonomy has weights too, which all categories share. This is the
        formulation of the paper [CH04, Eq. 20, 22]; the default leaves the root out, as all other
        models do. In ``HierarchicalSVC`` its weights cancel, here they do not.
    kernel, gamma, degree, coef0, constant
        Kernel and constant feature, as in ``HierarchicalSVC``.
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
        Primal objective, dual objective, relative gap, and the largest violation.
    n_iter_, converged_, history_, active_ratio_
        As in ``HierarchicalSVC``.

    Examples
    --------
    >>> from taxonomist import CoupledBinarySVC, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]] * 3
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]] * 3
    >>> model = CoupledBinarySVC(taxonomy, C=10).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    """

    traits = Traits(
        sets={"svm": {"constant": 1.0}, "flat": {"constant": 1.0, "attributes": "flat"}},
        parts=(BinaryStart,),
        dense=(DenseArray("features", "nodes", 4), DenseArray("items", "categories", 8)),
    )
    parameters: ClassVar[dict[str, Requirement]] = CERTIFIED | {"decision": Check(decision_rule)}

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        positive_weight: Any = None,
        decision: DecisionLike = "threshold",
        cv: int = 5,
        min_labels: int | None = None,
        max_labels: int | None = None,
        attributes: AttributesLike = "taxonomy",
        node_weight: NodeWeightLike = "depth",
        class_kernel: ClassKernelLike | None = None,
        with_root: bool = False,
        kernel: KernelLike = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float = 0.0,
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
        self.positive_weight = positive_weight
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.max_labels = max_labels
        self.attributes = attributes
        self.node_weight = node_weight
        self.class_kernel = class_kernel
        self.with_root = with_root
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.constant = constant
        self.tol = tol
        self.stop = stop
        self.max_iter = max_iter
        self.dtype = dtype
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        super().check()
        if np.isinf(self.C):
            raise ParameterError("C must be finite: CoupledBinarySVC has no hard margin.")

    def learn(self, training: Training, start: BinaryStart | None = None) -> Learned:
        """Learn the weights of all nodes; see ``TaxonomyClassifier.learn``."""
        targets, categories = training.targets, training.targets.categories
        costs = item_costs(self.C, training.weights)
        items = np.flatnonzero(costs > 0)
        rows, row_map = self.solver_rows(training.X, items)
        problem = binary.BinaryProblem(
            items=rows,
            labels=targets.labels[items],
            costs=costs[items],
            attributes=self.attributes_of(targets),
            positive_weight=self._weights_inside(targets.select(items)),
        )
        begin = None
        if start is not None and np.array_equal(start.classes, targets.classes):
            begin = start.alpha[items].toarray()
        solution = binary.solve(problem, solver_options(self), log_pass, begin)
        facts = certificate_facts(
            self, solution.certificate, solution.converged, solution.history, solution.alpha.size
        )
        alpha = np.zeros((len(costs), len(categories)))
        alpha[items] = solution.alpha
        scorer = LinearScorer(solution.W, problem.attributes, row_map)
        return Learned(scorer, facts, BinaryStart(csr_array(alpha), targets.classes))

    def start_of(self, items: Codes) -> BinaryStart | None:
        """Return the dual variables of some items of the last fit; those of new items are 0."""
        return None if self.start_ is None else self.start_.of(items)

    def _weights_inside(self, targets: Targets) -> Floats:
        """Return the factor of C for the items in each category."""
        labels, n_categories = targets.labels, len(targets.classes)
        weights = np.ones(n_categories)
        if self.positive_weight is None:
            return weights
        if isinstance(self.positive_weight, Mapping):
            for label, weight in self.positive_weight.items():
                weights[targets.column(label)] = weight
        elif isinstance(self.positive_weight, Real):
            weights[:] = self.positive_weight
        elif self.positive_weight == "balanced":
            n_in = np.bincount(labels.indices, minlength=n_categories)
            has_both = (n_in > 0) & (n_in < labels.shape[0])
            weights[has_both] = (labels.shape[0] / n_in[has_both]) - 1
        else:
            message = "positive_weight must be None, a number, 'balanced' or a mapping from labels"
            raise ParameterError(f"{message} to numbers. Got {self.positive_weight!r}.")
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ParameterError("positive_weight must be finite and above 0 for every category.")
        return weights
