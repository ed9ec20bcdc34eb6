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
from taxonomist.models.attribute_weights import AttributeWeights
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.certificates import (
    CERTIFIED,
    certificate_facts,
    item_costs,
    log_pass,
    solver_options,
)
from taxonomist.models.learning import Learned
from taxonomist.models.markov_decisions import GainScorer, LabellingDecision, MarkovTuning
from taxonomist.models.markov_parts import (
    Start,
    check_tree,
    feature_owners,
    global_norms,
    node_weights,
    zero_loss,
)
from taxonomist.models.parameters import Check, Word
from taxonomist.models.traits import Traits
from taxonomist.solvers import markov, subspace
from taxonomist.solvers.markov import MARKOV_DEFAULTS
from taxonomist.solvers.markov_problem import MarkovProblem, labelled_tree

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats
    from taxonomist.inference.row_maps import RowMap
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

CONSTANT = 0.5
"""For items of length 1. Of 0, 0.5 and 1 on Reuters-21578, 0 costs three points of exactly right
label sets, and 1 twice the time."""


class MaxMarginMarkovClassifier(AttributeWeights, TaxonomyClassifier):
    """A Markov tree over the nodes of a taxonomy, trained for a large margin: H-M3.

    Every node has a microlabel, in the label set or not, and every edge a weight vector for each
    labelling of its two ends. The true labelling of an item is to score better than every other by
    at least their loss. Predictions are the best consistent labellings, unions of partial paths
    from the root, found by dynamic programming [RSSS06].

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree. None means one of depth one over the labels in ``y``.
    C
        Cost of a unit of slack of one item.
    loss
        Between labellings: ``"symmetric_difference"``; ``"hierarchical_uniform"``,
        ``"hierarchical_sibling"`` or ``"hierarchical_subtree"``, which charge a node only if its
        parent is right; costs of nodes, an array or a mapping from node id, charged so; or a loss
        from ``taxonomist.losses.labelling_loss``.
    slack
        ``"example"``: one for each item; ``"example_signed"``: the same, of any sign, by which
        every item takes part in the model; ``"edge"``: one for each edge, by which edges are
        trained apart.
    features
        ``"edge"``: weights for the four labellings of each edge; ``"path"``: weights for each node,
        in use where it and all above it are positive.
    train_on
        What the truth competes with: ``"all"`` labellings, or the ``"consistent"`` ones.
    decision
        How gains of nodes become label sets: ``"argmax"`` takes the best labelling, as the paper
        does; ``"level"`` and ``"node"`` the most probable one, by odds that are fitted to held-out
        items for each level or each node.
    cv
        Folds in which items are held out for that and for the temperature of ``predict_proba``: a
        number, a splitter or splits; 0 for none, which needs ``decision="argmax"``.
    min_labels
        The least number of labels of an item; None means what the training items show. The best
        labelling with so many is predicted.
    local_features
        Features that are tied to one node: a mapping from node id to columns of X, numbers or a
        slice. All others are used by every node.
    kernel, gamma, degree, coef0
        Kernel, as in ``HierarchicalSVC``.
    constant
        A constant feature of this value, which gives each edge labelling a regularised offset; 0
        for none. None means 0.5 with a linear kernel and none with others.
    solver
        ``"sequential"``: working sets of labellings; ``"subspace"``: the paper's algorithm, in
        the space of marginals, which is slower; ``"auto"``: the first.
    tol
        When to stop: the relative duality gap, or the largest violation.
    stop, max_iter, dtype, cache_size, warm_start, random_state, n_jobs
        As in ``HierarchicalSVC``.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy.
    label_limits_
        The least and the largest number of labels of a training item; the least is that of a
        prediction.
    node_coef_, coef_, intercept_
        What each node adds to the score of a labelling, (n_nodes, n_features); sums of those along
        the path to each category, (n_classes, n_features), and what the constant adds to these.
    edge_coef_
        Weights of the labellings (0, 0), (0, 1), (1, 0) and (1, 1) of each edge, parent first:
        (n_nodes - 1, 4, n_features); for edge features.
    node_odds_
        Slopes and offsets of the odds; None with ``decision="argmax"``.
    temperature_
        That of ``predict_proba``.
    objective_, dual_objective_, duality_gap_, max_violation_
        Primal value, dual value, relative gap, and the largest violation.
    n_iter_, converged_, history_, active_ratio_
        As in ``HierarchicalSVC``; the ratio is labellings in use per item.

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
        needs_tree=True,
        parts=(Start, GainScorer),
    )
    parameters: ClassVar[dict[str, Requirement]] = CERTIFIED | {
        "slack": Word(("example", "example_signed", "edge")),
        "features": Word(("edge", "path")),
        "train_on": Word(("all", "consistent")),
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
        kernel: Any = "linear",
        slack: str = "example",
        features: str = "edge",
        train_on: str = "all",
        decision: str = "node",
        cv: Any = 5,
        min_labels: int | None = None,
        local_features: Any = None,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        constant: float | None = None,
        solver: str = "auto",
        tol: float = MARKOV_DEFAULTS.tol,
        stop: str = MARKOV_DEFAULTS.stop,
        max_iter: int = MARKOV_DEFAULTS.max_iter,
        dtype: str = MARKOV_DEFAULTS.dtype,
        cache_size: float = 500,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.slack = slack
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
            return CONSTANT if self.kernel == "linear" else 0.0
        return self.constant

    def check(self) -> None:
        """Raise unless the parameters make sense, each by itself and together."""
        super().check()
        if np.isinf(self.C):
            raise ParameterError("C must be finite: MaxMarginMarkovClassifier has no hard margin.")
        if self.local_features and self.kernel != "linear":
            raise ParameterError("local_features are columns of X, which needs kernel='linear'.")
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
        """Return the weights of all edges or paths; see ``TaxonomyClassifier.learn``."""
        taxonomy = training.targets.categories.taxonomy
        check_tree(taxonomy)
        items = np.flatnonzero(training.weights)
        problem, row_map = self._problem(training, items)
        options = solver_options(self)
        if self.solver == "subspace":
            solution = subspace.solve(problem, subspace.SubspaceOptions(**vars(options)), log_pass)
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

    def _problem(self, training: Training, items: Codes) -> tuple[MarkovProblem, RowMap]:
        """Return the problem of the items that have a weight, and what prediction makes of rows."""
        targets, X = training.targets, training.X
        taxonomy = targets.categories.taxonomy
        owner = feature_owners(taxonomy, self.local_features, self.n_features_in_, X.shape[1])
        rows, row_map = self.solver_rows(X, items)
        if len(owner):
            rows.norms = global_norms(X[items], owner)
        problem = MarkovProblem(
            items=rows,
            labels=targets.close(targets.labels[items]).tocsr(),
            costs=item_costs(self.C, training.weights[items]),
            tree=labelled_tree(self._loss(taxonomy), self.features, self.train_on),
            slack=self.slack,
            owner=owner,
        )
        return problem, row_map

    def _loss(self, taxonomy: Taxonomy) -> Any:
        """Return the loss; one that does not split over edges cannot be trained for."""
        loss = labelling_loss(self.loss, taxonomy)
        if loss.charge not in ("node", "parent"):
            raise ValueError(
                f"The loss {loss.name!r} does not split over the edges of a tree, which training "
                "needs: take 'symmetric_difference', or a hierarchical one with charge='parent'."
            )
        return loss

    def start_of(self, items: Codes) -> Any:
        """Return from where learning on some of the items of the last fit may start."""
        return None if self.start_ is None else self.start_.of(items)

    def tuning(self, training: Training, held_out: Codes) -> MarkovTuning | None:
        """Return what fits the odds of nodes and the temperature to held-out items."""
        if self._holds_none_out:
            return None
        least = 0 if training.targets.is_single else self.label_limits_.least
        labellings = self.scorer_.labellings(least)
        return MarkovTuning(training, held_out, labellings, self.decision)

    @property
    def decider(self) -> LabellingDecision:
        """What turns gains into label sets: the best labelling."""
        labellings = self.scorer_.labellings(self.label_limits_.least)
        return LabellingDecision(labellings, self.node_odds_, self.targets_.nodes)

    # Predicting ------------------------------------------------------------------------------

    def predict(self, X: Any, *, consistent: bool = True) -> Any:
        """Return the labels of items.

        Parameters
        ----------
        X
            Items as in ``fit``.
        consistent
            False for the labelling of the best score whether or not it is closed under
            ancestors, without a decision rule: what training compares with the truth.

        Returns
        -------
        ndarray, shape (n_items,), or indicator matrix, shape (n_items, n_columns)
            As in other models; see ``HierarchicalRankingSVC.predict``.
        """
        if consistent:
            return super().predict(X)
        check_is_fitted(self)
        if self.targets_.is_single:
            raise ValueError("consistent=False needs label sets: a single label is one path.")
        answers = self.answer(X)
        return answers.in_columns(self.scorer_.unrestricted(self.scored(X).X))

    def probabilities(self, scored: Scored) -> Floats:
        """Return the probability of every category.

        It is the sum over all label sets with the category, where the probability of a set goes as
        the exponential of its score divided by ``temperature_`` [RSSS06, Sec. 2]. If items have at
        least one label, the sets without are left out. In a model of single labels the sets are
        paths, and rows add up to 1.
        """
        if self.targets_.is_single:
            return np.asarray(softmax(scored.categories / self.temperature_, axis=1))
        labellings = self.scorer_.labellings(self.label_limits_.least)
        marginals = labellings.marginals(scored.raw, self.temperature_)
        found: Floats = marginals[:, self.targets_.nodes]
        return found

    # What was learned ------------------------------------------------------------------------

    @property
    def node_coef_(self) -> Any:
        """What each node adds to the score of a labelling, (n_nodes, n_features)."""
        return self.feature_weights("node_coef_").T

    @property
    def edge_coef_(self) -> Any:
        """Weights of the four labellings of each edge, (n_nodes - 1, 4, n_features)."""
        self.feature_weights("edge_coef_")
        if self.features == "path":
            raise AttributeError("Path features have weights of nodes: there is no edge_coef_.")
        weights = self.scorer_.edge_weights[: self.n_features_in_]
        return weights.T.reshape(-1, 4, weights.shape[0])

    def source_title(self, source: int) -> tuple[str, str]:
        """Return id and display name of a node."""
        return self.taxonomy_.nodes[source], self.taxonomy_.names[source]
