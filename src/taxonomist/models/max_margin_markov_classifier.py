"""``MaxMarginMarkovClassifier``: unions of partial paths by a Markov tree [RSSS06]."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from taxonomist.errors import ParameterError
from taxonomist.inference.node_odds import check_decision
from taxonomist.losses import labelling_loss
from taxonomist.losses.labellings import EDGE_LOSSES
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.certificates import (
    CERTIFIED,
    certificate_facts,
    item_costs,
    log_pass,
    solver_options,
)
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.learning import Learned
from taxonomist.models.markov_checks import check_markov, shared_rows
from taxonomist.models.markov_dags import markov_problem
from taxonomist.models.markov_decisions import GainScorer, LabellingDecision, MarkovTuning
from taxonomist.models.markov_parts import (
    Start,
    check_edges,
    feature_owners,
    global_norms,
    node_weights,
    zero_loss,
)
from taxonomist.models.parameters import Check, Word
from taxonomist.models.traits import Traits
from taxonomist.solvers import additive, markov, subspace
from taxonomist.solvers.markov import MARKOV_DEFAULTS
from taxonomist.solvers.markov_problem import MarkovProblem
from taxonomist.solvers.subspace import SubspaceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist._typing import Codes, Floats, FoldsLike, MatrixLike, Reals, Seed
    from taxonomist.inference.row_maps import RowMap
    from taxonomist.inference.scorers import Scored
    from taxonomist.kernels.pairwise import KernelLike
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.solvers.markov_graph import GraphProblem
    from taxonomist.taxonomy import Taxonomy

DEFAULT_CONSTANT = 0.5
"""Default constant feature, for items of length 1.

Chosen from 0, 0.5 and 1 on Reuters-21578: 0 loses three points of subset accuracy, and 1 takes
twice the time."""


class MaxMarginMarkovClassifier(AttributeWeights, TaxonomyClassifier):
    """Maximum-margin Markov network over the nodes of a taxonomy: H-M3.

    Every node is either in the label set or not, and every edge has a weight vector for each of the
    four labellings of its two nodes. Training makes the true labelling of an item score higher than
    every other labelling by at least their loss. Predictions are the best consistent labellings
    (unions of partial paths from the root), found by dynamic programming [RSSS06].

    A node with several parents has an edge to each of them, and is only in a label set with all of
    them. The best labellings are then found by minimum cuts, exactly on every DAG.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    C
        Penalty for margin violations, per unit of slack of one item. Infinite for a hard margin,
        which allows no slack [RSSS06, Sec. 2.4].
    loss
        Loss between labellings: ``"symmetric_difference"``; ``"hierarchical_uniform"``,
        ``"hierarchical_sibling"`` or ``"hierarchical_subtree"``, which charge a node only if all
        its parents are correct; an array or a mapping of node costs, charged in the same way; or a
        loss from ``taxonomist.losses.labelling_loss``.
    slack
        ``"example"``: one slack variable per item. ``"example_signed"``: the same without the sign
        constraint, so that every item affects the model. ``"edge"``: one slack variable per edge,
        so that edges are trained independently.
    edge_loss
        How the symmetric difference loss is split over edges, which matters only with
        ``slack="edge"``. ``"shared"``: evenly among all edges at a node [RSSS06, Sec. 2.1].
        ``"upper"``: to the edge above the node, as the hierarchical losses always are.
    features
        ``"edge"``: weights for the four labellings of each edge, the orthogonal representation of
        the paper. ``"path"``: weights for each node, active if the node and all its ancestors are
        positive. ``"additive"``: weights for the four labellings that all edges share
        [RSSS06, Sec. 2.3]; what tells edges apart are the ``local_features`` of their lower nodes,
        as many for each node, which share weights in the order of their columns.
    train_on
        The labellings that the true one is compared with: ``"all"``, or the ``"consistent"`` ones,
        which are closed under ancestors. ``"auto"`` means all of them, except on a DAG without a
        small junction tree, where the worst of all labellings can only be bounded.
    decision
        Decision rule. ``"argmax"`` predicts the labelling with the best score, as in the paper.
        ``"level"`` and ``"node"`` predict the most probable labelling; its odds are fitted to
        held-out items for each level or each node.
    cv
        Cross-validation folds for the decision rule and for the temperature of ``predict_proba``: a
        number, a splitter or splits. 0 disables them, which requires ``decision="argmax"``.
    min_labels
        The minimum number of labels per prediction. None uses the smallest number of labels of the
        training items.
    local_features
        Features that are used by one node only: a mapping from node ids to column numbers of X or a
        slice. All other features are used by every node.
    kernel, gamma, degree, coef0
        Kernel, as in ``HierarchicalSVC``.
    constant
        Value of a constant feature, which gives each edge labelling a regularized offset. 0 adds no
        feature. None means 0.5 with a linear kernel and 0 with other kernels.
    solver
        ``"sequential"`` (steps between two labellings of an item), ``"subspace"`` (the algorithm of
        the paper, in the space of marginals, which is slower) or ``"auto"`` (same as
        ``"sequential"``).
    solver_options
        Options of ``solver="subspace"``, a mapping with any of: ``oracle``, ``"dynamic"`` or, on a
        tree, ``"linear_program"``, which finds the update directions; ``working_set``, ``"gap"`` or
        ``"kkt"``, which chooses items; ``chunk_size``, the number of items or draws per pass
        (4000); ``steps_per_example``, the maximum number of steps of an item per pass (10).
    tol, stop, max_iter, dtype, cache_size, warm_start, random_state, n_jobs
        As in ``HierarchicalSVC``.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    label_limits_
        The minimum and maximum number of labels of the training items. The minimum also applies to
        predictions.
    node_coef_
        Weights that each node adds to the score of a labelling, (n_nodes, n_features).
    coef_, intercept_
        Sums of ``node_coef_`` along the path to each category, (n_classes, n_features), and the
        contribution of the constant feature.
    edge_coef_
        Weights of the labellings (0, 0), (0, 1), (1, 0) and (1, 1) of each edge, parent first:
        (n_edges, 4, n_features), by child and then by parent. Only with ``features="edge"``.
    node_odds_
        Slopes and offsets of the log-odds. None with ``decision="argmax"``.
    temperature_
        The temperature of ``predict_proba``.
    objective_, dual_objective_, duality_gap_, max_violation_
        Primal objective, dual objective, relative gap, and the largest violation.
    n_iter_, converged_, history_, active_ratio_
        As in ``HierarchicalSVC``. The ratio is the number of positive dual variables per item:
        marginals of wrong labellings of edges, or labellings with ``features="path"`` or
        ``slack="example_signed"``.

    Examples
    --------
    >>> from taxonomist import MaxMarginMarkovClassifier, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]] * 3
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]] * 3
    >>> model = MaxMarginMarkovClassifier(taxonomy, C=10).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    """

    traits = Traits(
        single={"markov": {}},
        sets={"markov": {}},
        parts=(Start, GainScorer),
        dense=(DenseArray("features", "nodes", 16),),
    )
    parameters: ClassVar[dict[str, Requirement]] = CERTIFIED | {
        "slack": Word(("example", "example_signed", "edge")),
        "edge_loss": Word(EDGE_LOSSES),
        "features": Word(("edge", "path", "additive")),
        "train_on": Word(("auto", "all", "consistent")),
        "solver": Word(("auto", "sequential", "subspace")),
        "decision": Check(check_decision),
    }
    attributes = "taxonomy"

    scorer_: GainScorer
    node_odds_: Any
    temperature_: float

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        loss: Any = "symmetric_difference",
        kernel: KernelLike = "linear",
        slack: str = "example",
        edge_loss: str = "shared",
        features: str = "edge",
        train_on: str = "auto",
        decision: str = "node",
        cv: FoldsLike = 5,
        min_labels: int | None = None,
        local_features: Any = None,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float | None = None,
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        tol: float = MARKOV_DEFAULTS.tol,
        stop: str = MARKOV_DEFAULTS.stop,
        max_iter: int = MARKOV_DEFAULTS.max_iter,
        dtype: str = MARKOV_DEFAULTS.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.slack = slack
        self.edge_loss = edge_loss
        self.features = features
        self.train_on = train_on
        self.decision = decision
        self.cv = cv
        self.min_labels = min_labels
        self.local_features = local_features
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.constant = constant
        self.solver = solver
        self.solver_options = solver_options
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
        """The value of the constant feature, 0 for none."""
        if self.constant is None:
            return DEFAULT_CONSTANT if self.kernel == "linear" else 0.0
        return self.constant

    def check(self) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        super().check()
        check_markov(self)
        if self.local_features and self.kernel != "linear":
            raise ParameterError("local_features are columns of X and need kernel='linear'.")
        if isinstance(self.cv, Integral) and self.cv != 0 and self.cv < 2:
            raise ParameterError(
                f"cv must be 0, an integer of at least 2, or splits. Got {self.cv}."
            )
        if self._holds_none_out and self.decision != "argmax":
            raise ParameterError(
                f"decision={self.decision!r} is fitted to held-out items: give cv=2 or more, or "
                "decision='argmax'."
            )

    @property
    def _holds_none_out(self) -> bool:
        return isinstance(self.cv, Integral) and self.cv == 0

    # Learning --------------------------------------------------------------------------------

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Learn the weights of all edges or paths; see ``TaxonomyClassifier.learn``."""
        taxonomy = training.targets.categories.taxonomy
        check_edges(taxonomy)
        items = np.flatnonzero(training.weights)
        problem, row_map = self._problem(training, items)
        options = solver_options(self)
        if self.solver == "subspace":
            given = SubspaceOptions(**vars(options), **(self.solver_options or {}))
            solution = subspace.solve(problem, given, log_pass)
        elif self.features == "additive":
            assert isinstance(problem, MarkovProblem)
            solution = additive.solve(
                problem, shared_rows(taxonomy, problem.owner), options, log_pass
            )
        else:
            begin = None if start is None else start.at(problem, items)
            solution = markov.solve(problem, options, log_pass, begin)
        nodes = training.targets.nodes
        scorer = GainScorer(
            W=node_weights(solution.W, problem.tree),
            attributes=taxonomy.ancestor_matrix()[nodes].astype(np.float64),
            rows=row_map,
            edge_weights=solution.W,
            tree=zero_loss(problem.tree),
            nodes=nodes,
            is_single=training.targets.is_single,
        )
        facts = certificate_facts(
            self, solution.certificate, solution.converged, solution.history, len(items)
        )
        kept = Start(problem.tree, problem.slack, items, problem.labels, solution.labellings)
        return Learned(scorer, facts | {"node_odds_": None, "temperature_": 1.0}, kept)

    def _problem(
        self, training: Training, items: Codes
    ) -> tuple[MarkovProblem | GraphProblem, RowMap]:
        """Return the problem of the items with positive weight, and the row map for prediction."""
        targets, X = training.targets, training.X
        taxonomy = targets.categories.taxonomy
        owner = feature_owners(taxonomy, self.local_features, self.n_features_in_, X.shape[1])
        rows, row_map = self.solver_rows(X, items)
        if len(owner):
            rows.norms = global_norms(X[items], owner)
        labels = targets.close(targets.labels[items]).tocsr()
        costs = item_costs(self.C, training.weights[items])
        problem = markov_problem(self, self._loss(taxonomy), rows, labels, costs, owner)
        return problem, row_map

    def _loss(self, taxonomy: Taxonomy) -> Any:
        """Return the loss; raise if it is not a sum over edges."""
        loss = labelling_loss(self.loss, taxonomy)
        if loss.charge not in ("node", "parent"):
            raise ParameterError(
                f"The loss {loss.name!r} does not split over the edges of a tree, which training "
                "needs: use 'symmetric_difference' or a hierarchical loss with charge='parent'."
            )
        return loss

    def start_of(self, items: Codes) -> Any:
        """Return the state of some items of the last fit, for a warm start."""
        return None if self.start_ is None else self.start_.of(items)

    def tuning(self, training: Training, held_out: Codes) -> MarkovTuning | None:
        """Return the tuning of node odds and temperature, or None if no items are held out."""
        if self._holds_none_out:
            return None
        least = 0 if training.targets.is_single else self.label_limits_.least
        labellings = self.scorer_.labellings(least)
        return MarkovTuning(training, held_out, labellings, self.decision)

    @property
    def decider(self) -> LabellingDecision:
        """The decision that converts gains to label sets."""
        labellings = self.scorer_.labellings(self.label_limits_.least)
        return LabellingDecision(labellings, self.node_odds_, self.targets_.nodes)

    # Predicting ------------------------------------------------------------------------------

    def predict(self, X: MatrixLike, *, consistent: bool = True) -> Any:
        """Return the labels of items.

        Parameters
        ----------
        X
            Items as in ``fit``.
        consistent
            Whether labellings must be closed under ancestors. False returns the labelling with the
            best score, without a decision rule, as training uses it.

        Returns
        -------
        ndarray, shape (n_items,), or indicator matrix, shape (n_items, n_columns)
            Labels, as in ``HierarchicalRankingSVC.predict``.
        """
        if consistent:
            return super().predict(X)
        check_is_fitted(self)
        if self.targets_.is_single:
            raise ParameterError("consistent=False requires a model of label sets.")
        answers = self.answer(X)
        return answers.in_columns(self.scorer_.unrestricted(self.scored(X).X))

    def probabilities(self, scored: Scored) -> Floats:
        """Return the probability of every category.

        It is the sum over all label sets with the category, where the probability of a set is
        proportional to exp(score / ``temperature_``) [RSSS06, Sec. 2]. If every item has at least
        one label, the empty set is excluded. With one label per item, the sets are paths and rows
        sum to 1.
        """
        if self.targets_.is_single:
            return np.asarray(softmax(scored.categories / self.temperature_, axis=1))
        labellings = self.scorer_.labellings(self.label_limits_.least)
        marginals = labellings.marginals(scored.raw, self.temperature_)
        found: Floats = marginals[:, self.targets_.nodes]
        return found

    # What was learned ------------------------------------------------------------------------

    @property
    def node_coef_(self) -> Reals:
        """Weights that each node adds to the score of a labelling, (n_nodes, n_features)."""
        return self.feature_weights("node_coef_").T

    @property
    def edge_coef_(self) -> Reals:
        """Weights of the four labellings of each edge, (n_edges, 4, n_features)."""
        self.feature_weights("edge_coef_")
        if self.features == "path":
            raise AttributeError(
                "edge_coef_ needs features='edge'; path features only have node_coef_."
            )
        weights = self.scorer_.edge_weights[: self.n_features_in_]
        return weights.T.reshape(-1, 4, weights.shape[0])

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and display name of a node."""
        return self.taxonomy_.nodes[source], self.taxonomy_.names[source]
