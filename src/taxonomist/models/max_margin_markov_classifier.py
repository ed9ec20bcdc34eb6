"""``MaxMarginMarkovClassifier``: unions of partial paths by a Markov tree [RSSS06]."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from taxonomist.compiled.labelling_search import best_by_codes
from taxonomist.compiled.markov_arrays import markov_scratch
from taxonomist.inference.labellings import Labellings, fit_softmax
from taxonomist.inference.node_odds import NodeOdds, check_decision
from taxonomist.losses import labelling_loss
from taxonomist.models.certified import CertifiedModel, log_pass
from taxonomist.models.label_sets import LabelSetModel
from taxonomist.models.markov_parts import (
    Start,
    check_tree,
    feature_owners,
    global_norms,
    node_weights,
    zero_loss,
)
from taxonomist.solvers import markov, subspace
from taxonomist.solvers.markov_problem import MarkovProblem, labelled_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Bools, Codes, Floats
    from taxonomist.models.set_targets import SetTargets
    from taxonomist.taxonomy import Taxonomy

BLOCK = 2**22
"""Gains of nodes that are held at a time, 32 MiB."""
TUNED = 2**25
"""Gains of held-out items that decisions are fitted to at the most, 256 MiB: items of larger
problems are left out at random."""

CONSTANT = 0.5
"""For items of length 1. Of 0, 0.5 and 1 on Reuters-21578, 0 costs three points of exactly right
label sets, and 1 twice the time."""

DEFAULT = markov.MARKOV_DEFAULTS


class MaxMarginMarkovClassifier(CertifiedModel, LabelSetModel):
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

    attributes = "taxonomy"
    max_labels = None

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

    # Learning --------------------------------------------------------------------------------

    @property
    def _constant(self) -> float:
        """The value of the constant feature, 0 for none."""
        if self.constant is None:
            return CONSTANT if self.kernel == "linear" else 0.0
        return self.constant

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work is done."""
        super()._check_parameters()
        if np.isinf(self.C):
            raise ValueError("C must be finite: MaxMarginMarkovClassifier has no hard margin.")
        self._check_word("slack", ("example", "example_signed", "edge"))
        self._check_word("features", ("edge", "path"))
        self._check_word("train_on", ("all", "consistent"))
        self._check_word("solver", ("auto", "sequential", "subspace"))
        if self.local_features and self.kernel != "linear":
            raise ValueError("local_features are columns of X, which needs kernel='linear'.")

    def _check_decision(self) -> None:
        """Refuse a decision that there is not, or that needs held-out items without any."""
        check_decision(self.decision)
        if isinstance(self.cv, Integral) and self.cv != 0 and self.cv < 2:
            raise ValueError(f"cv must be 0, an integer of at least 2, or splits. Got {self.cv}.")
        if self._holds_none_out and self.decision != "argmax":
            raise ValueError(
                f"decision={self.decision!r} is fitted to held-out items: give cv=2 or more, or "
                "decision='argmax'."
            )

    @property
    def _holds_none_out(self) -> bool:
        """Whether there is to be no cross-validation."""
        return isinstance(self.cv, Integral) and self.cv == 0

    def _learn(self, X: Any, targets: SetTargets, costs: Floats, start: Any = None) -> None:
        """Learn the weights of all edges or paths."""
        taxonomy = targets.categories.taxonomy
        check_tree(taxonomy)
        items = np.flatnonzero(costs > 0)
        problem = self._problem(X, targets, costs, items)
        if self.solver == "subspace":
            options = subspace.SubspaceOptions(**vars(self._options()))
            solution = subspace.solve(problem, options, log_pass)
        else:
            begin = None if start is None else start.at(problem, items)
            solution = markov.solve(problem, self._options(), log_pass, begin)
        self.classes_ = targets.classes
        self.taxonomy_ = taxonomy
        self._categories = targets.categories
        self._codes = taxonomy.codes(targets.categories.ids)
        self._attributes = taxonomy.ancestor_matrix()[self._codes].astype(np.float64)
        self._tree = zero_loss(problem.tree)
        self._edge_W = solution.W
        self._W = node_weights(solution.W, problem.tree)
        self._start = Start(problem.tree, problem.slack, items, problem.labels, solution.labellings)
        self._store_certificate(
            solution.certificate, solution.converged, solution.history, len(items)
        )

    def _problem(self, X: Any, targets: SetTargets, costs: Floats, items: Codes) -> MarkovProblem:
        """Return the problem of the items that have a weight."""
        taxonomy = targets.categories.taxonomy
        owner = feature_owners(taxonomy, self.local_features, self.n_features_in_, X.shape[1])
        rows = self._items(X, items)
        if len(owner):
            rows.norms = global_norms(X[items], owner)
        return MarkovProblem(
            items=rows,
            labels=targets.close(targets.labels[items]).tocsr(),
            costs=costs[items],
            tree=labelled_tree(self._loss(taxonomy), self.features, self.train_on),
            slack=self.slack,
            owner=owner,
        )

    def _loss(self, taxonomy: Taxonomy) -> Any:
        """Return the loss; one that does not split over edges cannot be trained for."""
        loss = labelling_loss(self.loss, taxonomy)
        if loss.charge not in ("node", "parent"):
            raise ValueError(
                f"The loss {loss.name!r} does not split over the edges of a tree, which training "
                "needs: take 'symmetric_difference', or a hierarchical one with charge='parent'."
            )
        return loss

    def _start_of(self, items: Codes) -> Start:
        """Return from where learning on some of the items of the last fit may start."""
        return self._start.of(items)

    def _tune(self, X: Any, targets: SetTargets, costs: Floats) -> None:
        """Fit the odds of nodes and the temperature to held-out items."""
        self.node_odds_, self.temperature_ = None, 1.0
        if self._holds_none_out:
            return
        n_nodes = self.taxonomy_.n_nodes
        rng = np.random.default_rng(0)
        n_kept = min(X.shape[0], max(1, TUNED // n_nodes))
        kept = np.sort(rng.choice(X.shape[0], n_kept, replace=False))
        gains = np.zeros((n_kept, n_nodes))
        for items, block in self._held_out_scores(X, targets, costs):
            inside = np.isin(items, kept, assume_unique=True)
            gains[np.searchsorted(kept, items[inside])] = block[inside]
        weights = costs[kept] / self.C
        if targets.is_single:
            codes = targets.labels.indices[kept]
            self.temperature_ = fit_softmax(gains @ self._attributes.T, codes, weights)
            return
        truth = targets.close(targets.labels[kept]).toarray()
        labellings = self._labellings()
        self.temperature_ = labellings.fit_temperature(gains, truth, weights)
        if self.decision != "argmax":
            self.node_odds_ = NodeOdds.fit(labellings, gains, truth, weights, self.decision)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of items and the gains of all nodes."""
        size = max(1, BLOCK // self._W.shape[1])
        for begin in range(0, X.shape[0], size):
            block = slice(begin, begin + size)
            rows = X[block]
            gains = np.zeros((rows.shape[0], self._W.shape[1]))
            self._scores().apply(lambda values: values, rows, gains)
            yield block, gains

    def _labellings(self) -> Labellings:
        """Return the labellings that predictions are chosen from."""
        is_category = np.zeros(self.taxonomy_.n_nodes, dtype=bool)
        is_category[self._codes] = True
        return Labellings(self._tree.parent, is_category, self.label_limits_.least)

    # Predicting ------------------------------------------------------------------------------

    def predict(self, X: Any, *, consistent: bool = True) -> Any:
        """Return the label sets of items as an indicator matrix.

        Parameters
        ----------
        X
            Items as in ``fit``.
        consistent
            False for the labelling of the best score whether or not it is closed under
            ancestors, without a decision rule: what training compares with the truth.

        Returns
        -------
        array, shape (n_items, n_columns)
            The columns are those of the matrix that the model was fitted to, dense or sparse as
            that was; if it was fitted to sets of ids, ``classes_``, sparse. A model of single
            labels returns those, (n_items,).
        """
        if consistent:
            return super().predict(X)
        check_is_fitted(self)
        if self._targets.is_single:
            raise ValueError("consistent=False needs label sets: a single label is one path.")
        return self._in_columns(self._closed_by(X, self._unrestricted))

    def decision_function(self, X: Any) -> Floats:
        """Return by how much the best label set with a category beats the best without it.

        Scores are those that ``predict`` compares, before ``min_labels``: positive exactly for
        the categories of the predicted set, ancestors included. In a model of single labels they
        are the scores of paths.

        Parameters
        ----------
        X
            Items as in ``fit``; with a precomputed kernel, their values with the training items.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            In the order of ``classes_``. For a model of single labels with two classes (n_items,):
            how much more the second has.
        """
        check_is_fitted(self)
        if self._targets.is_single:
            return super().decision_function(X)
        labellings = self._labellings()
        return self._of_categories(
            X, lambda gains: labellings.max_marginals(self._decided(labellings, gains))
        )

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every category.

        It is the sum over all label sets with the category, where the probability of a set goes as
        the exponential of its score divided by ``temperature_`` [RSSS06, Sec. 2]. If items have at
        least one label, the sets without are left out. In a model of single labels the sets are
        paths, and rows add up to 1.

        Parameters
        ----------
        X
            Items as in ``decision_function``.

        Returns
        -------
        ndarray, shape (n_items, n_classes)
        """
        check_is_fitted(self)
        if self._targets.is_single:
            scores = self._scores().all(self._checked(X)) / self.temperature_
            return np.asarray(softmax(scores, axis=1))
        labellings = self._labellings()
        return self._of_categories(X, lambda gains: labellings.marginals(gains, self.temperature_))

    def predict_topk(self, X: Any, k: int = 5) -> tuple[Any, Floats]:
        """Return the k categories with the best scores for each item.

        Parameters
        ----------
        X
            Items as in ``decision_function``.
        k
            How many; at most the number of categories.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            Best first.
        scores : ndarray, shape (n_items, k)
            Those of ``decision_function``.
        """
        check_is_fitted(self)
        if self._targets.is_single or not 1 <= k <= len(self.classes_):
            return super().predict_topk(X, k)
        scores = self.decision_function(X)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return self.classes_[best], np.take_along_axis(scores, best, axis=1)

    def _of_categories(self, X: Any, function: Any) -> Floats:
        """Return the columns of the categories of what a function makes of gains."""
        X = self._checked(X)
        out = np.zeros((X.shape[0], len(self._codes)))
        self._scores().apply(lambda gains: function(gains)[:, self._codes], X, out)
        return out

    def _decided(self, labellings: Labellings, gains: Any) -> Any:
        """Return the gains whose best labelling is predicted."""
        return gains if self.node_odds_ is None else self.node_odds_.gains(labellings, gains)

    def _closed_sets(self, X: Any) -> CSR:
        """Return which nodes of the taxonomy each item has, (n_items, n_nodes) boolean."""
        labellings, scores = self._labellings(), self._scores()
        return self._closed_by(
            X,
            lambda rows, out: scores.apply(
                lambda gains: labellings.best(self._decided(labellings, gains)), rows, out
            ),
        )

    def _unrestricted(self, X: Any, out: Bools) -> None:
        """Write the best labellings, consistent or not."""
        scores = replace(self._scores(), W=self._edge_W).of_attributes(X)
        scratch = markov_scratch(self._tree, self._edge_W.shape[1], self._edge_W.dtype)
        best_by_codes(self._tree, scores, scratch, out)

    def _closed_by(self, X: Any, function: Any) -> CSR:
        """Return labellings that a function writes, block after block, as a boolean CSR."""
        X, blocks = self._checked(X), []
        size = max(1, BLOCK // self.taxonomy_.n_nodes)
        for begin in range(0, X.shape[0], size):
            rows = X[begin : begin + size]
            out = np.zeros((rows.shape[0], self.taxonomy_.n_nodes), dtype=bool)
            function(rows, out)
            blocks.append(csr_array(out))
        return csr_array(vstack(blocks, format="csr"))

    # What was learned ------------------------------------------------------------------------

    @property
    def node_coef_(self) -> Any:
        """What each node adds to the score of a labelling, (n_nodes, n_features)."""
        return self._linear_weights("node_coef_").T

    @property
    def edge_coef_(self) -> Any:
        """Weights of the four labellings of each edge, (n_nodes - 1, 4, n_features)."""
        self._linear_weights("edge_coef_")
        if self.features == "path":
            raise AttributeError("Path features have weights of nodes: there is no edge_coef_.")
        weights = self._edge_W[: self.n_features_in_]
        return weights.T.reshape(-1, 4, weights.shape[0])

    def _attribute_title(self, z: int) -> tuple[str, str]:
        """Return id and display name of a node."""
        return self.taxonomy_.nodes[z], self.taxonomy_.names[z]
