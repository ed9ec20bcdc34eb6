"""``HierarchicalPerceptron``: label sets by the MinOver perceptron over a taxonomy [CH07]."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from taxonomist.errors import ParameterError
from taxonomist.inference.label_sets import DecisionLike, decision_rule
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.losses import category_loss
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.attributes import AttributesLike, NodeWeightLike, class_attributes
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.learning import Learned, Training
from taxonomist.models.parameters import Check, Number, at_least
from taxonomist.models.targets import Targets, item_weights
from taxonomist.models.traits import Traits
from taxonomist.solvers import minover
from taxonomist.solvers.duals import no_duals
from taxonomist.solvers.problem import JointProblem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from taxonomist._typing import Codes, LabelsLike, MatrixLike
    from taxonomist.inference.scorers import Cut
    from taxonomist.kernels.pairwise import KernelLike
    from taxonomist.losses.categories import LossLike
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

MINOVER_DEFAULTS = minover.MinOverOptions(ridge=0.3)
"""The solver's defaults, which are the paper's, but with a soft margin.

Without one, training on items that cannot be separated ends after ``max_iter`` steps, wherever the
weights are. Of 0, 0.1, 0.3 and 1, 0.3 had the best mean accuracy by 3 folds of training items:
0.834, 0.878, 0.880, 0.878 over a part of the bundled corpus and scikit-learn's iris, wine, digits
and breast cancer data. Averaging had less: 0.862, 0.869 and 0.867 with 0, 0.1 and 1.
"""


class HierarchicalPerceptron(AttributeWeights, TaxonomyClassifier):
    """MinOver perceptron for label sets that ranks the categories of each item.

    The score of a category is the sum over the nodes at or above it, as in ``HierarchicalSVC``.
    Each step picks the item i, its category y and another category c with the smallest
    f(x_i, y) - f(x_i, c), and updates the weights of the nodes that y and c do not share, in
    proportion to the loss between y and c [CH07, Alg. 2]. Items with no category, or with all
    categories, do not affect training. The linear kernel uses weights of nodes, other kernels use
    coefficients of items; both take the same steps.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    margin
        Training stops when f(x_i, y) - f(x_i, c) exceeds this margin for all items.
    loss
        The loss that determines the step size: ``"tree"``, ``"zero_one"``, or any other loss that
        ``taxonomist.losses.category_loss`` accepts, such as ``weighted_tree(s, c⁻, c⁺)`` for the
        sign-up volumes and costs of [CH07].
    average
        Whether to use the mean of the weights over all steps instead of the last weights.
    ridge
        Value added to k(x, x) during training. Values above 0 make all items separable, which gives
        a soft margin; the best value grows with the length of the items. 0 is the algorithm of the
        paper.
    max_iter
        Maximum number of steps.
    decision
        Decision rule that converts scores to label sets, as in ``HierarchicalRankingSVC``.
    cv
        Number of cross-validation folds that provide held-out scores for the decision rule.
    min_labels, max_labels
        The minimum and maximum number of labels per prediction. None uses the smallest and largest
        number of labels of the training items.
    attributes, node_weight
        Class attributes and node weights, as in ``HierarchicalSVC``.
    kernel, gamma, degree, coef0, constant
        Kernel and constant feature, as in ``HierarchicalSVC``.
    dtype
        The dtype of the weights with a linear kernel, ``"float32"`` or ``"float64"``.
    cache_size
        Size of the Gram matrix cache in megabytes.
    warm_start
        Whether ``fit`` starts from the weights of the last fit. The categories must be the same.
    n_jobs
        Number of threads for prediction. None uses all cores.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    decision_, label_limits_
        The fitted decision rule, and the minimum and maximum number of labels per prediction. Only
        set for label sets.
    node_coef_, coef_
        Weights of nodes and of categories, as in ``HierarchicalSVC``.
    margin_
        The smallest f(x_i, y) - f(x_i, c) of the training items after training.
    n_iter_, converged_, history_
        The number of steps, whether ``margin_`` exceeds ``margin``, and the margin and errors
        during training.

    Examples
    --------
    >>> from taxonomist import HierarchicalPerceptron, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]] * 3
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]] * 3
    >>> model = HierarchicalPerceptron(taxonomy).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    """

    traits = Traits(
        single={"perceptron": {"ridge": 1.0, "average": True}},
        sets={"perceptron": {"ridge": 1.0, "average": True}},
        parts=(minover.MinOverSolution, minover.Progress),
        dense=(DenseArray("features", "nodes", 8), DenseArray("items", "nodes", 8)),
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "margin": at_least(0),
        "ridge": at_least(0),
        "max_iter": Number("above 0", lambda value: value > 0),
        "decision": Check(decision_rule),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        margin: float = MINOVER_DEFAULTS.margin,
        loss: LossLike = "tree",
        average: bool = MINOVER_DEFAULTS.average,
        ridge: float = MINOVER_DEFAULTS.ridge,
        max_iter: int = MINOVER_DEFAULTS.max_iter,
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
        dtype: str = MINOVER_DEFAULTS.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.margin = margin
        self.loss = loss
        self.average = average
        self.ridge = ridge
        self.max_iter = max_iter
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
        self.dtype = dtype
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def partial_fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        classes: Iterable[object] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue training with more items.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes
            In the first call, all labels that can occur. Not needed if they are the leaves of the
            taxonomy or the columns of an indicator matrix.

        Returns
        -------
        HierarchicalPerceptron
            The model itself. The decision rule and the limits on the number of labels stay those of
            the first call, or of ``fit``.
        """
        self.check()
        if self.kernel == "precomputed":
            raise ParameterError("partial_fit needs items, not a precomputed kernel. Use fit.")
        is_first = not hasattr(self, "targets_")
        X = self.checked_rows(X, reset=is_first)
        weights = item_weights(sample_weight, X)
        if is_first:
            targets = Targets.from_labels(self.taxonomy, y, X, classes)
            self._fit(Training(X, targets, weights))
            return self
        training = Training(X, self.targets_.again(y, X), weights)
        if self.kernel != "linear":
            training = self._with_earlier(training)
        start = self.next_start(len(training.weights))
        self.store(self.learn(training, start), training.targets)
        return self

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Take steps until the margin is reached; see ``TaxonomyClassifier.learn``."""
        targets, categories = training.targets, training.targets.categories
        rows, row_map = self.solver_rows(training.X, np.arange(len(training.weights)))
        problem = JointProblem(
            items=rows,
            labels=targets.labels,
            costs=training.weights,
            attributes=class_attributes(categories, self.attributes, self.node_weight),
            loss=category_loss(self.loss, categories.expanded, categories.codes),
        )
        options = minover.MinOverOptions(
            margin=self.margin,
            max_iter=self.max_iter,
            ridge=self.ridge,
            average=self.average,
            dtype=self.dtype,
        )
        solution = minover.solve(problem, options, _log_progress, start)
        if not solution.converged:
            self._complain(solution)
        facts = {
            "margin_": solution.margin,
            "n_iter_": solution.n_iter,
            "converged_": solution.converged,
            "history_": solution.history,
        }
        return Learned(LinearScorer(solution.W, problem.attributes, row_map), facts, solution)

    def _complain(self, solution: minover.MinOverSolution) -> None:
        """Warn that the items are not separated by the margin."""
        advice = (
            "no number of steps separates these items; give ridge > 0"
            if solution.is_hopeless
            else "increase max_iter, lower margin, or give ridge > 0"
        )
        warnings.warn(
            f"Stopped after {solution.n_iter} steps with a smallest margin of "
            f"{solution.margin:.2g}; wanted more than {self.margin:.2g}: {advice}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def start_of(self, items: Codes) -> None:
        """Return None: the steps of held-out items cannot be undone."""

    def next_start(self, n_items: int) -> Any:
        """Return the current weights; with a kernel, new items have coefficients of 0."""
        if self.kernel == "linear":
            return self.start_
        W, last = (_first_rows(part, n_items) for part in (self.start_.W, self.start_.last))
        return replace(self.start_, W=W, last=last)

    def pruned(self, cut: Cut) -> Self:
        """Return a copy with pruned weights, including the weights for warm starts."""
        result = super().pruned(cut)
        W: Any = result.scorer_.W
        last = W if self.start_.last is self.start_.W else cut(self.start_.last)
        result.start_ = replace(self.start_, W=W, last=last)
        return result

    def file_state(self) -> dict[str, object]:
        """Return the state to save: with the weights for warm starts, without dual variables."""
        state = super().file_state()
        if getattr(self, "start_", None) is not None:
            state["start_"] = replace(self.start_, duals=no_duals(0))
        return state

    def _with_earlier(self, training: Training) -> Training:
        """Append the items to the earlier ones, which keep coefficients but have no labels."""
        from scipy.sparse import csr_array, vstack

        earlier: Any = self.scorer_.rows
        n_earlier = earlier.items.shape[0]
        stack = vstack if hasattr(training.X, "indptr") else np.vstack
        nothing = csr_array((n_earlier, training.targets.labels.shape[1]), dtype=bool)
        labels = csr_array(vstack([nothing, training.targets.labels], format="csr"))
        return Training(
            stack([earlier.items, training.X]),
            replace(training.targets, labels=labels),
            np.concatenate([np.zeros(n_earlier), training.weights]),
        )


def _first_rows(W: Any, n_items: int) -> Any:
    """Return the first ``n_items`` rows, padded with zeros."""
    result = np.zeros((n_items, W.shape[1]), dtype=W.dtype)
    result[: len(W)] = W[:n_items]
    return result


def _log_progress(entry: minover.Progress) -> None:
    logger.debug("%.1f s: %d steps, smallest margin %.3g, %d items with errors", *entry)
