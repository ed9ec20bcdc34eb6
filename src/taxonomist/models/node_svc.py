"""``NodeSVC``: a binary SVM, or another classifier, for each node [RSSS06, Sec. 5]."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from taxonomist._threads import n_threads
from taxonomist._typing import Integers, Matrix, is_sparse
from taxonomist.errors import ParameterError, UnknownNodeError, closest
from taxonomist.inference.scorers import NoWeightsError
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.node_margins import MarginScorer
from taxonomist.models.parameters import Word, above_zero
from taxonomist.models.per_node import PerNodeModel
from taxonomist.models.traits import Traits
from taxonomist.solvers import free_bias
from taxonomist.taxonomy.labels import as_integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn.svm import LinearSVC

    from taxonomist._typing import Bools, Codes, Floats, Seed
    from taxonomist.inference.scorers import Cut
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.per_node import NodeProblem
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

KERNEL_BYTES = 5e8
"""Memory for the rows of the linear kernel that SVMs with a free bias share."""

PARALLEL_SIZE = 10**8
"""Minimum of stored values times nodes for several processes, which take a second to start."""


@dataclass(frozen=True, eq=False)
class ClassifierScorer(MarginScorer):
    """Margins of scikit-learn classifiers.

    Attributes
    ----------
    estimators
        The fitted classifiers by node code. Class 1 is the node.
    support
        With a precomputed kernel, the training items of each classifier by node code; else empty.
    """

    estimators: dict[int, Any]
    support: dict[int, Codes]

    def margins(self, X: Matrix, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with a classifier into ``out``, (n_nodes, n_items)."""
        for code in codes.tolist():
            out[code] = _margin(self.estimators[code], self._columns(X, code))

    def accepts(self, code: int, X: Matrix) -> Bools:
        """Return whether the classifier of a node accepts each item."""
        accepted: Bools = self.estimators[code].predict(self._columns(X, code)) == 1
        return accepted

    def shares(self, code: int, row: Matrix) -> tuple[Integers, Floats]:
        """Return features, the constant last, and their contributions to the margin of a node."""
        estimator = self.estimators[code]
        if not hasattr(estimator, "coef_"):
            raise ParameterError(
                f"{type(estimator).__name__} has no feature weights, so it cannot explain a score: "
                "use a linear classifier, such as LinearSVC."
            )
        indices = row.indices if hasattr(row, "indices") else np.flatnonzero(row[0])
        values = row.data if hasattr(row, "indices") else row[0, indices]
        shares = values * np.ravel(estimator.coef_)[indices]
        return np.append(indices, row.shape[1]), np.append(shares, estimator.intercept_)

    def pruned(self, cut: Cut) -> ClassifierScorer:
        """Return a scorer with the weights that ``cut`` returns; see ``Scorer``."""
        if not any(hasattr(estimator, "coef_") for estimator in self.estimators.values()):
            raise NoWeightsError
        smaller = {}
        for code, estimator in self.estimators.items():
            smaller[code] = copy(estimator)
            if hasattr(estimator, "coef_"):
                smaller[code].coef_ = cut(estimator.coef_)
        return replace(self, estimators=smaller)

    def _columns(self, X: Matrix, code: int) -> Matrix:
        """Return the columns that the classifier of a node uses."""
        return X[:, self.support[code]] if self.support else X


class NodeSVC(PerNodeModel):
    """One binary classifier per node, trained on all items: the SVM baseline of [RSSS06].

    An item is positive for a node if one of its labels is at or below the node. Predictions are
    made from the top down: a node is predicted if its classifier accepts the item and all parents
    of the node are predicted. Label sets are therefore closed under ancestors. They may be empty
    and may end at any node.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``, which gives one-vs-rest classification.
    C
        Penalty for margin violations of the default SVM. Do not set it if ``estimator`` is given;
        nor ``loss`` and ``bias``.
    loss
        Loss of the default SVM: ``"squared_hinge"``, or ``"hinge"`` as in the paper.
    bias
        ``"regularized"``: the bias of the default SVM is the weight of a constant feature, as in
        ``LinearSVC``. ``"free"``: it is not regularized, as in the paper's SVM-light; training then
        takes one core.
    estimator
        The classifier of every node, with the scikit-learn interface. None uses ``LinearSVC``. A
        mapping from node ids sets individual classifiers, and its key ``"default"`` sets the
        classifier of all other nodes.
    min_labels
        The minimum number of categories per prediction. If there are fewer, the best categories by
        ``decision_function`` are added. None adds no categories, as in the paper.
    random_state
        Seed from which the seed of every classifier is drawn. None keeps the ``random_state`` of
        the classifiers.
    n_jobs
        Number of processes for training. None uses all cores, or a single process for small
        problems. The result does not depend on it.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    node_estimators_
        The fitted classifiers by node id. Class 1 is the node. With ``bias="free"``, weights and
        biases are stored as those of ``LinearSVC``, whose own ``fit`` would regularize the bias.
    node_constants_
        The constant prediction of nodes without a classifier, by node id. These are nodes whose
        training items are all positive or all negative.

    Notes
    -----
    The paper's settings are ``loss="hinge", bias="free", C=1`` [RSSS06, Sec. 5].

    Training uses processes instead of threads, because liblinear in scikit-learn has one random
    number generator per process. With threads, the result would depend on their timing.

    A root that is a category itself has a classifier if some items do not belong to it.

    Examples
    --------
    >>> from taxonomist.models.node_svc import NodeSVC
    >>> from taxonomist import Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]]
    >>> model = NodeSVC(taxonomy, C=10).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    """

    traits = Traits(
        single={"nodes": {}},
        sets={"nodes": {"min_labels": 1}},
        parts=(ClassifierScorer,),
        dense=(DenseArray("features", "nodes", 8),),
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "C": above_zero(),
        "loss": Word(free_bias.LOSSES),
        "bias": Word(("regularized", "free")),
    }
    scorer_: ClassifierScorer

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        loss: str = "squared_hinge",
        bias: str = "regularized",
        estimator: Any = None,
        min_labels: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.bias = bias
        self.estimator = estimator
        self.min_labels = min_labels
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def is_top_down(self) -> bool:
        """Whether a node is trained only on items that belong to all its parents."""
        return False

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        super().check()
        usual = {"C": 1, "loss": "squared_hinge", "bias": "regularized"}
        for name, value in usual.items():
            if self.estimator is not None and getattr(self, name) != value:
                raise ParameterError(
                    f"{name} applies to the default SVM only; set the parameters of the estimator."
                )
        for estimator in (self._default, *self._own.values()):
            if isinstance(estimator, type) or not hasattr(estimator, "fit"):
                raise TypeError(
                    "estimator must be a classifier, or a mapping from node ids to classifiers. "
                    f"Got {estimator!r}."
                )

    @property
    def _own(self) -> Mapping[Any, Any]:
        """The classifiers of individual nodes, by node id."""
        return self.estimator if isinstance(self.estimator, Mapping) else {}

    @property
    def _default(self) -> Any:
        """The classifier of all other nodes."""
        given = self._own.get("default") if isinstance(self.estimator, Mapping) else self.estimator
        from sklearn.svm import LinearSVC

        return LinearSVC(C=self.C, loss=self.loss) if given is None else given

    def learn_nodes(
        self, training: Training, problems: Iterator[NodeProblem], constants: Floats
    ) -> tuple[ClassifierScorer, dict[str, object]]:
        """Learn the classifiers in parallel; see ``PerNodeModel``."""
        X, targets = training.X, training.targets
        taxonomy, nodes = targets.categories.taxonomy, targets.nodes
        if self.bias == "free":
            learned = _learn_free(self._default, X, training.weights, problems)
            return ClassifierScorer(taxonomy, nodes, constants, learned, {}), {}
        templates = self._templates(targets)
        weights = None if (training.weights == 1).all() else training.weights
        for template in (self._default, *self._own.values()) if weights is not None else ():
            if not has_fit_parameter(template, "sample_weight"):
                raise ParameterError(f"{type(template).__name__} does not support sample_weight.")
        is_pairwise = get_tags(self).input_tags.pairwise
        if is_pairwise and X.shape[0] != X.shape[1]:
            raise ParameterError(f"A precomputed kernel must be square. Got shape {X.shape}.")
        support: dict[int, Codes] = {}

        def tasks() -> Iterator[Any]:
            for problem in problems:
                if is_pairwise:
                    support[problem.code] = problem.items
                template = templates[problem.code]
                yield delayed(_learn_node)(template, X, problem, weights, is_pairwise)

        size = (X.nnz if is_sparse(X) else X.size) * len(constants)
        n_jobs = 1 if self.n_jobs is None and size < PARALLEL_SIZE else n_threads(self.n_jobs)
        learned = dict(sorted(Parallel(n_jobs=n_jobs)(tasks())))
        return ClassifierScorer(taxonomy, nodes, constants, learned, support), {}

    @property
    def node_estimators_(self) -> dict[Any, Any]:
        """The fitted classifiers by node id. Class 1 is the node."""
        if not hasattr(self, "scorer_"):
            raise AttributeError("node_estimators_ is not available: fit the model first.")
        names = self.targets_.node_names
        return {names[code]: model for code, model in self.scorer_.estimators.items()}

    def _templates(self, targets: Targets) -> list[Any]:
        names, taxonomy = targets.node_names, targets.categories.taxonomy
        top = taxonomy.root if taxonomy.has_artificial_root else None
        known = {name for name in names if name != top}
        own = dict(self._own)
        if targets.has_integers:
            own = {as_integer(str(name)): estimator for name, estimator in own.items()}
        unknown = [name for name in own if name not in known and name != "default"]
        if unknown:
            hint = closest(str(unknown[0]), map(str, known))
            raise UnknownNodeError(
                f"estimator names {unknown[0]!r}, which is not a node with a classifier.{hint}"
            )
        default = self._default
        templates = [clone(own.get(name, default)) for name in names]
        if self.random_state is not None:
            random = check_random_state(self.random_state)
            seeds = random.randint(np.iinfo(np.int32).max, size=len(names))
            for template, seed in zip(templates, seeds.tolist(), strict=True):
                _set_seed(template, seed)
        return templates

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags, with the input tags of the default classifier."""
        tags = super().__sklearn_tags__()
        given = get_tags(self._default).input_tags
        tags.input_tags.sparse = given.sparse
        tags.input_tags.pairwise = given.pairwise
        tags.input_tags.allow_nan = given.allow_nan
        return tags


def _learn_node(
    model: Any, X: Matrix, problem: NodeProblem, weights: Floats | None, is_pairwise: bool
) -> tuple[int, Any]:
    items = problem.items
    if len(items) < X.shape[0]:
        X = X[np.ix_(items, items)] if is_pairwise else X[items]
    given = {} if weights is None else {"sample_weight": weights[items]}
    return problem.code, model.fit(X, problem.is_in.astype(np.intp), **given)


def _learn_free(
    template: LinearSVC, X: Matrix, weights: Floats, problems: Iterator[NodeProblem]
) -> dict[int, LinearSVC]:
    """Return SVMs with free biases by node code, as fitted ``LinearSVC``."""
    rows = free_bias.kernel_rows(X, KERNEL_BYTES)
    options = free_bias.FreeBiasOptions(loss=template.loss)
    learned, n_failed = {}, 0
    for problem in problems:
        costs = template.C * weights[problem.items]
        solution = free_bias.solve(rows, problem.items, problem.is_in, costs, options)
        model = clone(template)
        model.classes_, model.n_features_in_ = np.arange(2), X.shape[1]
        model.coef_, model.intercept_ = solution.w[None], np.array([solution.bias])
        model.n_iter_ = solution.n_iter
        learned[problem.code] = model
        n_failed += not solution.converged
    if n_failed:
        warnings.warn(
            f"The SVMs of {n_failed} nodes stopped after {options.max_iter} steps. Scale the "
            "features, or decrease C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return dict(sorted(learned.items()))


def _margin(model: Any, X: Matrix) -> Any:
    """Return the margin of a classifier; probabilities and labels are mapped to [-1, 1]."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        return 2 * model.predict_proba(X)[:, 1] - 1
    return 2 * model.predict(X) - 1


def _set_seed(model: Any, seed: int) -> None:
    """Set the seed of a classifier and its nested estimators."""
    seeded = [key for key in model.get_params() if key.split("__")[-1] == "random_state"]
    model.set_params(**dict.fromkeys(seeded, seed))
