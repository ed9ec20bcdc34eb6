"""``HierarchicalPerceptron``: label sets by the MinOver perceptron over a taxonomy [CH07]."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from taxonomist.inference.label_sets import label_limits
from taxonomist.losses import category_loss
from taxonomist.models.attributes import class_attributes
from taxonomist.models.label_sets import LabelSetModel
from taxonomist.models.set_targets import SetTargets
from taxonomist.models.targets import item_costs
from taxonomist.solvers import minover
from taxonomist.solvers.problem import JointProblem

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats
    from taxonomist.taxonomy import Taxonomy

logger = logging.getLogger(__name__)

DEFAULT = minover.MinOverOptions()


class HierarchicalPerceptron(LabelSetModel):
    """Perceptron that ranks an item's categories above all others, the worst mistake first.

    The score of a category is the sum over the nodes at or above it, as in ``HierarchicalSVC``.
    Each step takes the item i, one of its categories y and another category c for which
    f(x_i, y) - f(x_i, c) is smallest, and moves the weights of the nodes in which y and c differ,
    the further the larger their loss is [CH07, Alg. 2]. Items with no category, or with all, rank
    nothing. With the linear kernel it keeps weights of nodes, with others coefficients of items;
    both forms take the same steps.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``.
    margin
        Training ends when every category of every item is ahead by more than this.
    loss
        Length of a step: ``"tree"``, ``"zero_one"``, or whatever
        ``taxonomist.losses.category_loss`` takes.
    average
        Whether to score with the mean of the weights over all steps, not with the last ones.
    ridge
        What is added to k(x, x) while training. Above 0 all items are separable, and the margin is
        soft; 0 is the paper's algorithm.
    max_iter
        Most steps.
    decision
        How scores become label sets, as in ``HierarchicalRankingSVC``.
    cv
        Folds in which items are held out for the decision rule.
    min_labels, max_labels
        The least and the largest number of labels of an item; None means what the training items
        show.
    attributes, node_weight
        Class attributes and v_z, as in ``HierarchicalSVC``.
    kernel, gamma, degree, coef0, constant
        Kernel and constant feature, as in ``HierarchicalSVC``.
    dtype
        Type of the weights with a linear kernel, ``"float32"`` or ``"float64"``.
    cache_size
        Megabytes for kept blocks of the Gram matrix.
    warm_start
        Whether ``fit`` goes on from the weights of the last fit to the same categories.
    n_jobs
        Threads that predict; None means all cores.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy, with terminal children for interior nodes that are categories.
    decision_, label_limits_
        The fitted decision rule, and the least and the largest number of labels.
    node_coef_, coef_
        Weights of nodes and of categories, as in ``HierarchicalSVC``.
    margin_
        The smallest f(x_i, y) - f(x_i, c) of the training items in the end.
    n_iter_, converged_, history_
        Steps, whether ``margin_`` is above ``margin``, and how margin and errors went.

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

    # Steps that were taken for held-out items cannot be told from the others.
    _starts_held_out = False

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        margin: float = DEFAULT.margin,
        loss: Any = "tree",
        average: bool = DEFAULT.average,
        ridge: float = DEFAULT.ridge,
        max_iter: int = DEFAULT.max_iter,
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
        dtype: str = DEFAULT.dtype,
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
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> HierarchicalPerceptron:
        """Go on training with more items.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes
            For the first call all labels that will occur, where neither the taxonomy's leaves nor
            the columns of an indicator matrix say so.

        Returns
        -------
        HierarchicalPerceptron
            The model itself. Its decision rule and the limits of the number of labels are those
            of the first call, or of ``fit``.
        """
        self._check_parameters()
        if self.kernel == "precomputed":
            raise ValueError("partial_fit needs items, not a precomputed kernel. Use fit.")
        is_first = not hasattr(self, "_targets")
        X = self._validate(X, reset=is_first)
        targets = (
            SetTargets.from_labels(self.taxonomy, y, X, classes)
            if is_first
            else self._targets.again(y, X)
        )
        costs = self._costs(sample_weight, X)
        if not is_first and self.kernel != "linear":
            X, targets, costs = self._with_earlier(X, targets, costs)
        start = None if is_first else self._start_of(np.arange(len(costs)))
        self._learn(X, targets, costs, start)
        if is_first:
            if not targets.is_single:
                limits = label_limits(targets.labels, self.min_labels, self.max_labels)
                self.label_limits_ = limits
            self._targets = targets.select(np.arange(0))
            self._tune(X, targets, costs)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        for name, number in (("margin", self.margin), ("ridge", self.ridge)):
            if not (number >= 0 and np.isfinite(number)):
                raise ValueError(f"{name} must be finite and not below 0. Got {number!r}.")
        if not self.max_iter > 0:
            raise ValueError(f"max_iter must be above 0. Got {self.max_iter!r}.")
        if self.constant and self.kernel != "linear":
            raise ValueError("A constant feature needs kernel='linear'; others have coef0.")

    def _costs(self, sample_weight: Any, X: Any) -> Floats:
        """Return the weights of items, of which only those that are 0 matter."""
        return item_costs(1.0, sample_weight, X)

    def _learn(self, X: Any, targets: SetTargets, costs: Floats, start: Any = None) -> None:
        """Take steps until all items are satisfied, or too many were taken."""
        categories = targets.categories
        problem = JointProblem(
            items=self._items(X, np.arange(len(costs))),
            labels=targets.labels,
            costs=costs,
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
        self.classes_ = targets.classes
        self.taxonomy_ = categories.expanded
        self._categories = categories
        self._attributes = problem.attributes
        self._W, self._solution = solution.W, solution
        self.margin_ = solution.margin
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.history_ = solution.history
        if not solution.converged:
            self._complain(solution)

    def _complain(self, solution: minover.MinOverSolution) -> None:
        """Say so where the items are not separated by the margin."""
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

    def _start_of(self, items: Codes) -> Any:
        """Return the weights so far; with a kernel, the coefficients of some items."""
        if self.kernel == "linear":
            return self._solution
        return replace(
            self._solution,
            W=_rows(self._solution.W, items),
            last=_rows(self._solution.last, items),
        )

    def _with_earlier(
        self, X: Any, targets: SetTargets, costs: Floats
    ) -> tuple[Any, SetTargets, Floats]:
        """Return the items with the earlier ones in front, which have weights but no triples."""
        from scipy.sparse import csr_array, vstack

        n_earlier = self._X_fit.shape[0]
        stack = vstack if hasattr(X, "indptr") else np.vstack
        nothing = csr_array((n_earlier, targets.labels.shape[1]), dtype=bool)
        labels = csr_array(vstack([nothing, targets.labels], format="csr"))
        costs = np.concatenate([np.zeros(n_earlier), costs])
        return stack([self._X_fit, X]), replace(targets, labels=labels), costs


def _rows(W: Any, items: Codes) -> Any:
    """Return the rows of some items; those of items beyond the last are zero."""
    result = np.zeros((len(items), W.shape[1]), dtype=W.dtype)
    result[items < len(W)] = W[items[items < len(W)]]
    return result


def _log_progress(entry: minover.Progress) -> None:
    """Log how training goes."""
    logger.debug("%.1f s: %d steps, smallest margin %.3g, %d items with errors", *entry)
