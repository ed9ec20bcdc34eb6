"""``PathSVC``: a binary SVM for every node, and the whole path decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from taxonomist._spill import single_precision
from taxonomist._threads import n_threads
from taxonomist.compiled.block_scores import WeightBlocks
from taxonomist.errors import ParameterError
from taxonomist.inference.block_weights import BlockWeights
from taxonomist.inference.node_model import Frequencies, NodeModel
from taxonomist.inference.node_scorer import NodeScorer
from taxonomist.inference.path_scorer import Blend, PathScorer
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.parameters import (
    MAX_VALUE,
    Number,
    Word,
    above_zero,
    at_least,
    check_size,
)
from taxonomist.models.path_answers import PathAnswers, PathSearch, searched
from taxonomist.models.path_branches import Branches, check_branches
from taxonomist.models.path_decisions import DECISIONS, NodeDecision
from taxonomist.models.path_learning import (
    PathParameters,
    PathStart,
    learn_paths,
    path_taxonomy,
    solution_facts,
)
from taxonomist.models.path_tuning import BlendTuning, NodeTuning, first_folds
from taxonomist.models.probable_questions import ProbableQuestions
from taxonomist.models.traits import Traits
from taxonomist.solvers.node_svms import NodeOptions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from numpy.typing import ArrayLike

    from taxonomist._typing import (
        CSR,
        Codes,
        Floats,
        FoldsLike,
        LabelsLike,
        MatrixLike,
        Objects,
        Seed,
    )
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Folds, Learned, Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.taxonomy import Taxonomy

DEFAULTS = NodeOptions()


class PathSVC(ProbableQuestions, TaxonomyClassifier):
    """One binary SVM per node; the classifiers along the path decide together.

    An item is positive for a node if one of its labels is at or below the node. A node's classifier
    is trained against all other items, against the other items below its parents, or there are two
    of them. The score of a category sums over the nodes of its path, see ``PathScorer``. The few
    weights of that sum are fitted to held-out items by the likelihood of the softmax, and then its
    temperature and a share of chance, so that ``predict_proba`` is calibrated. For label sets, a
    logistic model of the margins gives the probability of every node, see ``NodeModel``, and a
    threshold is chosen for a measure.

    This model is none of the papers'. The problems of nodes are small and independent, so that it
    trains fast, also with thousands of categories.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``, which gives one-vs-rest classification.
    C
        Penalty for margin violations.
    negatives
        The negative items of a node's classifier: ``"all"`` other items, ``"siblings"`` (the other
        items below its parents), ``"both"`` (two classifiers), or ``"auto"``: both if nodes times
        stored values are at most 5·10⁸, else siblings. Classifiers against siblings take about as
        long as a few passes over the items; those against all other items as many times as there
        are nodes.
    loss
        ``"squared_hinge"`` or ``"hinge"``.
    constant
        Value of a constant feature that is added to every item. Its weight is the bias, which is
        regularised like the other weights. 0 adds no feature.
    decision
        The measure for which label sets are chosen: ``"loss"`` (the number of wrong nodes, so that
        nodes are predicted that are more probable than not), ``"hierarchical_f1"`` (over all
        nodes), ``"micro_f1"`` or ``"macro_f1"`` (over categories) or ``"subset"`` (whole label
        sets). Of thresholds with about the same F1, the one with most whole label sets right is
        chosen. With one category per item, the weight of rarity is chosen by accuracy for
        ``"subset"``, by macro F1 for ``"macro_f1"``, and otherwise by hierarchical F1.
    cv
        The number of cross-validation folds for the weights, the probabilities and the decision, a
        splitter with a ``split`` method, or pairs of training and test items. A few thousand
        held-out items determine them, so with many items only the first folds are used.
    beam
        How many nodes of each depth to expand when the best categories of single labels are
        searched for from the top. None scores all categories, or searches exactly where a bound
        allows it: in a tree with ``negatives="siblings"``. Only ``predict``, ``predict_labels``,
        ``predict_paths``, ``predict_topk`` and ``search`` use it, and DAGs never do.
    min_labels, max_labels
        Limits of the number of categories of a label set. None uses the smallest and the largest
        number among training items.
    tol
        The relative duality gap at which classifiers are solved.
    max_iter
        Maximum number of passes over the items.
    warm_start
        Whether ``fit`` starts from the dual variables of the last fit. Items and categories may be
        added between fits.
    random_state
        Seed of the order in which items are visited.
    n_jobs
        Number of threads. None uses all cores. The result does not depend on it.
    complement
        Whether scores of single labels have one more part, complement naive Bayes, see
        ``taxonomist.models.typical_features``: it helps if there are few items, or long texts.
        Held-out items decide on its weight. There is none with ``negatives="siblings"``, and where
        it is used, all categories are scored, whatever ``beam`` is.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    blend_
        With one category per item, the weights ``own``, ``above``, ``among`` and ``typical`` of
        the parts of a score, and that of ``rarity``; and ``sharpness`` and ``chance``, by which
        scores become probabilities. See ``taxonomist.inference.path_scorer.Blend``.
    thresholds_
        With label sets, the threshold of the probability of each node.
    objective_, dual_objective_, duality_gap_
        Sums over classifiers of ½ ||w||² + C Σ ξ² (or ξ) and of its dual, and their relative
        difference.
    n_iter_, converged_
        The largest number of passes, and whether all classifiers reached ``tol``.
    fit_seconds_
        Run time of the solver.

    Notes
    -----
    Categories without training items are never predicted.

    Examples
    --------
    >>> from taxonomist import PathSVC, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X, y = [[1, 0, 0], [1, 1, 0], [0, 0, 1]] * 4, ["cat", "dog", "oak"] * 4
    >>> model = PathSVC(taxonomy, random_state=0).fit(X, y)
    >>> model.predict_paths([[1, 1, 0]])
    [('animal', 'dog')]
    """

    traits = Traits(
        single={"path": {"complement": True}},
        sets={"path": {}},
        fits_probabilities=True,
        starts_by_item=True,
        parts=(
            PathScorer,
            Blend,
            NodeScorer,
            NodeModel,
            Frequencies,
            BlockWeights,
            WeightBlocks,
            PathStart,
        ),
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "C": above_zero(),
        "negatives": Word(("auto", "all", "siblings", "both")),
        "loss": Word(("squared_hinge", "hinge")),
        "constant": at_least(0),
        "decision": Word(DECISIONS),
        "beam": at_least(1, whole=True, optional=True),
        "tol": Number("above 0", lambda value: value > 0),
        "max_iter": Number("above 0", lambda value: value > 0),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        negatives: str = "auto",
        loss: str = "squared_hinge",
        constant: float = 1.0,
        decision: str = "loss",
        cv: FoldsLike = 3,
        beam: int | None = None,
        min_labels: int | None = None,
        max_labels: int | None = None,
        tol: float = DEFAULTS.tol,
        max_iter: int = DEFAULTS.max_iter,
        warm_start: bool = False,
        random_state: Seed = None,
        n_jobs: int | None = None,
        complement: bool = False,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.negatives = negatives
        self.loss = loss
        self.constant = constant
        self.decision = decision
        self.cv = cv
        self.beam = beam
        self.min_labels = min_labels
        self.max_labels = max_labels
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.complement = complement

    # Learning ---------------------------------------------------------------------------------

    def check_rows(self, X: MatrixLike, reset: bool) -> CSR:
        """Return validated rows, sparse and in single precision."""
        rows = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float32, np.float64), reset=reset
        )
        check_size(rows, type(self).__name__, MAX_VALUE)
        return single_precision(rows)

    def refit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        nodes: Iterable[str],
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit again after a change of the items of some branches.

        Only classifiers whose training items changed are trained. The result is the same as that of
        ``fit`` with the same ``random_state``. With ``negatives="siblings"``, these are few; new
        items change all classifiers against all other items.

        Parameters
        ----------
        X, y, sample_weight
            The items of the last fit in the same order, and behind them new ones with labels at or
            below one of ``nodes``. Labels of old items may have changed from one at or below one of
            ``nodes`` to another at or below the same node.
        nodes
            The ids of the tops of the changed branches.

        Returns
        -------
        PathSVC
            The model itself.

        Raises
        ------
        ParameterError
            If the model lacks the state of the last fit, or if the items are fewer than before.
        UnknownNodeError
            If a node is unknown.
        LabelError
            If a new item belongs to none of the branches.
        """
        check_is_fitted(self)
        if self.start_ is None:
            raise ParameterError(
                "refit needs the dual variables of the last fit, which a saved model has only with "
                "warm_start=True; use fit."
            )
        self.check()
        self.checked_rows(X, reset=False)
        training, tops = self._training(X, y, sample_weight), tuple(nodes)
        n_old = self.start_.alpha.shape[0]
        check_branches(training, tops, n_old)
        scorer = cast("PathScorer | NodeScorer", self.scorer_)
        scorer = scorer.without_typical() if isinstance(scorer, PathScorer) else scorer
        branches = Branches(tops, len(training.weights) > n_old, scorer.weights)
        self.store(self.learn(training, self.start_, branches), training.targets)
        self._hold_out(training, None, None)
        return self

    def learn_from(self, training: Training) -> Self:
        """Fit to validated items for models that contain models; weights need held-out items."""
        super().learn_from(training)
        if training.targets.is_single:
            self._hold_out(training, None, None)
        return self

    def learn(
        self,
        training: Training,
        start: PathStart | None = None,
        branches: Branches | None = None,
    ) -> Learned:
        """Learn the classifiers of all nodes; see ``TaxonomyClassifier.learn``."""
        learned, solution = learn_paths(
            training, self.path_parameters(), self.node_options(), start, branches
        )
        return learned._replace(facts=solution_facts(solution, self.tol))

    def path_parameters(self) -> PathParameters:
        """Return the parameters of the classifiers."""
        is_squared = self.loss == "squared_hinge"
        given = self.C, self.negatives, self.constant, is_squared, self.beam
        return PathParameters(*given, self.complement)

    def node_options(self) -> NodeOptions:
        """Return the solver options; every call may draw another seed."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return NodeOptions(self.tol, self.max_iter, int(seed), n_threads(self.n_jobs))

    def start_of(self, items: Codes) -> PathStart | None:
        """Return the dual variables of some items of the last fit."""
        return None if self.start_ is None else self.start_.of(items)

    def tuning_folds(self, folds: Folds) -> Folds:
        """Return folds with enough held-out items; see ``first_folds``."""
        n_sets = 4 * self.taxonomy_.n_nodes
        return first_folds(folds, len(self.classes_) if self.targets_.is_single else n_sets)

    def tuning(self, training: Training, held_out: Codes) -> BlendTuning | NodeTuning:
        """Return the tuning of weights, probabilities and decision on held-out margins."""
        if training.targets.is_single:
            return BlendTuning(training, held_out, cast("PathScorer", self.scorer_), self.decision)
        scorer = cast("NodeScorer", self.scorer_)
        return NodeTuning(training, held_out, scorer, self.decision, self.label_limits_)

    # Predicting -------------------------------------------------------------------------------

    def answer(self, X: MatrixLike) -> PathAnswers:
        """Return all predictions for items, which are scored only once.

        Parameters
        ----------
        X
            Items as in ``fit``, at most a few thousand.

        Returns
        -------
        PathAnswers
            An object with methods such as ``labels``, ``paths``, ``proba`` and ``explain``.
        """
        return PathAnswers(self, self.scored(X))

    def plain_predictions(self, X: MatrixLike) -> Any:
        """Return the best categories, or the label sets."""
        return TaxonomyClassifier.predict(self, X)

    def predict_topk(self, X: MatrixLike, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k best categories of each item, and their scores.

        Parameters
        ----------
        X
            Items as in ``fit``.
        k
            The number of categories to return.

        Returns
        -------
        labels : ndarray, shape (n_items, k)
            The labels, best first.
        scores : ndarray, shape (n_items, k)
            The scores, as in ``decision_function``.
        """
        return self.answer(X).topk(k)

    def search(self, X: MatrixLike, k: int = 1, beam: int | None = None) -> PathSearch:
        """Search for the k best categories of each item from the top of a tree.

        Parameters
        ----------
        X
            Items as in ``fit``.
        k
            The number of categories to return.
        beam
            How many nodes of each depth to expand at most; None sets no limit.

        Returns
        -------
        PathSearch
            The labels, best first; their scores; and whether each item's answer is certainly that
            of scoring all categories. Without classifiers against all other items, the sum of a
            path's log-probabilities bounds the scores below, so that this can be known.

        Raises
        ------
        ParameterError
            If the model predicts label sets, or if the taxonomy is a DAG.
        """
        check_is_fitted(self)
        return searched(self, X, k, beam)

    @property
    def decider(self) -> NodeDecision:
        """The decision that converts node probabilities to label sets."""
        return NodeDecision(self.thresholds_, self.label_limits_, self.targets_)

    def probabilities(self, scored: Scored) -> Floats:
        """Return the probabilities of categories, (n_items, n_categories)."""
        scorer = cast("PathScorer | NodeScorer", scored.scorer)
        return scorer.probabilities(scored.raw)

    def top_features(self, n: int = 10) -> dict[str, list[tuple[int, float]]]:
        """Return the features that are most typical of each node.

        Parameters
        ----------
        n
            The number of features to return for each node.

        Returns
        -------
        dict
            For each node id, the columns and the weights of the features with the largest positive
            weights in the node's classifier, largest first. If a node has two classifiers, it is
            the one against siblings.
        """
        check_is_fitted(self)
        nodes = path_taxonomy(self.targets_).nodes
        found = cast("PathScorer | NodeScorer", self.scorer_).top_features(n)
        return {nodes[code]: features for code, features in found.items()}

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and display name of a node."""
        taxonomy = path_taxonomy(self.targets_)
        node = taxonomy.nodes[source]
        return taxonomy.terminals.get(node, node), taxonomy.names[source]
