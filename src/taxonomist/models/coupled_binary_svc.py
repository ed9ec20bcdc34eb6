"""``CoupledBinarySVC``: binary problems that share the weights of nodes [CH04, Sec. 2.5]."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import ParameterError
from taxonomist.inference.label_sets import decision_rule
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.attributes import class_attributes
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.certificates import (
    CERTIFIED,
    SOLVER_DEFAULTS,
    certificate_facts,
    item_costs,
    log_pass,
    solver_options,
)
from taxonomist.models.learning import Learned
from taxonomist.models.parameters import Check
from taxonomist.models.targets import column_of
from taxonomist.models.traits import Traits
from taxonomist.solvers import binary

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy


class BinaryStart(NamedTuple):
    """Where learning ended.

    Attributes
    ----------
    alpha
        Dual variables, (n_items, n_categories) CSR.
    classes
        The classes of the columns.
    """

    alpha: CSR
    classes: Any

    def of(self, items: Codes) -> BinaryStart:
        """Return the start of some items; new ones have no dual variables yet."""
        known = items[items < self.alpha.shape[0]]
        chosen = csr_array(self.alpha[known])
        chosen.resize((len(items), self.alpha.shape[1]))
        return BinaryStart(chosen, self.classes)


class CoupledBinarySVC(AttributeWeights, TaxonomyClassifier):
    """One binary SVM for each category, coupled by the weights of the nodes that they share.

    The score of a category is the sum over the nodes at or above it, as in ``HierarchicalSVC``; it
    is to be at least 1 for items of the category and at most -1 for all others [CH04, Eq. 22]. With
    ``attributes="flat"`` the problems fall apart into one SVM per category, without bias.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``.
    C
        Cost of a unit of slack of one item in one category.
    positive_weight
        What C is multiplied by for the items in a category: None for 1; a number, such as the 10 of
        [TCPH01, Sec. 3.2.5]; ``"balanced"``, which gives the items in a category and those
        outside the same total weight; or a mapping from labels to weights, 1 where a label is
        left out.
    decision
        How scores become label sets: ``"threshold"`` tunes one threshold for all categories,
        ``"category_thresholds"`` one for each, ``"size"`` predicts one for each item, ``"top_k"``
        takes as many as items have on average; or a rule of ``taxonomist.inference.label_sets``.
    cv
        Folds in which items are held out for the decision rule.
    min_labels, max_labels
        The least and the largest number of labels of an item; None means what the training items
        show.
    attributes, node_weight
        Class attributes and v_z, as in ``HierarchicalSVC``.
    kernel, gamma, degree, coef0, constant
        Kernel and constant feature, as in ``HierarchicalSVC``.
    tol
        When to stop: the largest violation of the optimality conditions, or the relative duality
        gap.
    stop, max_iter, dtype, cache_size, warm_start, random_state, n_jobs
        As in ``HierarchicalSVC``.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy as it was given.
    decision_
        The fitted decision rule; a model of single labels has none.
    label_limits_
        The least and the largest number of labels of a prediction.
    node_coef_, coef_
        Weights of nodes and of categories, as in ``HierarchicalSVC``.
    objective_, dual_objective_, duality_gap_, max_violation_
        Primal value, dual value, relative gap, and the largest violation.
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
    )
    parameters: ClassVar[dict[str, Requirement]] = CERTIFIED | {"decision": Check(decision_rule)}

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        positive_weight: Any = None,
        decision: Any = "threshold",
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
        tol: float = SOLVER_DEFAULTS.tol,
        stop: str = SOLVER_DEFAULTS.stop,
        max_iter: int = SOLVER_DEFAULTS.max_iter,
        dtype: str = SOLVER_DEFAULTS.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        random_state: Any = None,
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
        """Raise unless the parameters make sense, each by itself and together."""
        super().check()
        if np.isinf(self.C):
            raise ParameterError("C must be finite: there is no hard margin for coupled problems.")

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Return the weights from all items, in or outside each category; see the base class."""
        targets, categories = training.targets, training.targets.categories
        costs = item_costs(self.C, training.weights)
        items = np.flatnonzero(costs > 0)
        rows, row_map = self.solver_rows(training.X, items)
        problem = binary.BinaryProblem(
            items=rows,
            labels=targets.labels[items],
            costs=costs[items],
            attributes=class_attributes(categories, self.attributes, self.node_weight),
            positive_weight=self._weights_inside(targets.labels[items], targets.classes),
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

    def start_of(self, items: Codes) -> Any:
        """Return the dual variables of some items of the last fit; those of new items are 0."""
        return None if self.start_ is None else self.start_.of(items)

    def _weights_inside(self, labels: CSR, classes: Any) -> Floats:
        """Return what C is multiplied by for the items in each category."""
        weights = np.ones(len(classes))
        if self.positive_weight is None:
            return weights
        if isinstance(self.positive_weight, Mapping):
            for label, weight in self.positive_weight.items():
                weights[column_of(classes, label)] = weight
        elif isinstance(self.positive_weight, Real):
            weights[:] = self.positive_weight
        elif self.positive_weight == "balanced":
            n_in = np.bincount(labels.indices, minlength=len(classes))
            has_both = (n_in > 0) & (n_in < labels.shape[0])
            weights[has_both] = (labels.shape[0] / n_in[has_both]) - 1
        else:
            message = "positive_weight must be None, a number, 'balanced' or a mapping from labels"
            raise ValueError(f"{message} to numbers. Got {self.positive_weight!r}.")
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ValueError("positive_weight must be finite and above 0 for every category.")
        return weights
