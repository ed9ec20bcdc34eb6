"""``HierarchicalRLS``: hierarchical regularised least squares, in batch form [RSSS06, Sec. 5].

Problem       for node z and an item x that is to be classified,
              w = (I + Sᵀ S + x xᵀ)⁻¹ Sᵀ y, margin <w, x>
Notation      S   the training items that all parents of z have, n_S x n_features
              y   1 where such an item has z, else -1
              A   I + Sᵀ S, the same for all nodes with the same parents
Step          by the Sherman-Morrison formula the margin is <A⁻¹ Sᵀ y, x> / (1 + xᵀ A⁻¹ x): weights
              that are the same for all x, and a divisor that depends on x and the parents only and
              never changes the sign. If n_S < n_features, I + S Sᵀ is factorized instead of A, with
              A⁻¹ = I - Sᵀ (I + S Sᵀ)⁻¹ S.
Cost          with m = min(n_S, n_features): the weights of a node take some tens of products with S
              (conjugate gradients). The divisors take one factorization per set of parents, with
              m³/3 time and m² memory, computed on first use, and then m² time per item. Label sets
              do not need the divisors.
Differences   C and item weights, which multiply xᵢ xᵢᵀ and xᵢ yᵢ. With ``train_on="all"`` S is all
              training items, all nodes share one system, and there is no x xᵀ and no divisor: it
              draws the margins of unusual items towards 0, all nodes alike, so that scores of
              different items cannot be compared. A node whose training items are
              all positive or all negative makes a constant prediction.
References    [RSSS06, Sec. 5]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from taxonomist._typing import Integers, Matrix, Reals, is_sparse
from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.node_margins import MarginScorer
from taxonomist.models.parameters import Number, Word, above_zero
from taxonomist.models.per_node import PerNodeModel
from taxonomist.models.traits import Traits
from taxonomist.solvers.least_squares import RidgeSystem, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.inference.scorers import Cut
    from taxonomist.models.learning import Training
    from taxonomist.models.parameters import Requirement
    from taxonomist.models.per_node import NodeProblem
    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class LeastSquaresScorer(MarginScorer):
    """Least-squares margins that include the item to be classified.

    Attributes
    ----------
    weights
        A⁻¹ Sᵀ y of each node, (n_nodes, n_features); 0 for nodes without a classifier.
    systems
        For each set of parents: its children and A. Empty if margins have no divisor.
    C
        Weight of the squared errors.
    """

    weights: Reals
    systems: list[tuple[list[int], RidgeSystem]]
    C: float

    def margins(self, X: Matrix, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with weights into ``out``, (n_nodes, n_items)."""
        X = X.astype(np.float64, copy=False)
        out[codes] = (X @ self.weights[codes].T).T
        for siblings, system in self.systems:
            # A damaged model may hold a tuple, which would be an index of a row and a column.
            out[list(siblings)] /= 1 + system.self_products(np.sqrt(self.C) * X)

    def accepts(self, code: int, X: Matrix) -> Bools:
        """Return whether the margin of a node is positive for each item."""
        accepted: Bools = X @ self.weights[code] > 0
        return accepted

    def shares(self, code: int, row: Matrix) -> tuple[Integers, Floats]:
        """Return features and their contributions to the margin of a node."""
        indices = row.indices if is_sparse(row) else np.flatnonzero(row[0])
        values = row.data if is_sparse(row) else row[0, indices]
        shares = values * self.weights[code, indices]
        for siblings, system in self.systems:
            if code in siblings:
                shares /= 1 + system.self_products(np.sqrt(self.C) * row.astype(np.float64))[0]
        return indices, shares

    def pruned(self, cut: Cut) -> LeastSquaresScorer:
        """Return a scorer with the weights that ``cut`` returns; see ``Scorer``."""
        return replace(self, weights=cut(self.weights))


class HierarchicalRLS(PerNodeModel):
    """One least-squares classifier per node, trained on the items of its parents: H-RLS.

    Each node has a regularized least-squares classifier, trained on the items that belong to all
    its parents. The item to be classified contributes to the regularization. Predictions are made
    from the top down, as in ``TopDownSVC``. Label sets may be empty.

    With ``train_on="all"`` every node is trained on all items, and the item to be classified does
    not contribute. One system is then solved for all nodes, which takes seconds for thousands of
    them, and the margins of different nodes and items can be compared: a margin m estimates the
    probability (1 + m) / 2 of the node.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels in
        ``y``.
    C
        Weight of the squared errors relative to the squared weights. The paper uses 1.
    train_on
        The training items of a node: ``"parents"``, the items that belong to all its parents, as in
        the paper, or ``"all"``.
    min_labels
        The minimum number of categories per prediction. If there are fewer, the best categories by
        ``decision_function`` are added. None adds no categories, as in the paper.
    cache_size
        Megabytes for matrix factorizations, which take 8 m² bytes for each set of parents, with
        m = min(items, features). They are computed by the first call of ``decision_function`` (or
        of ``predict`` with one label per item) and not pickled. Both are much slower if the cache
        is too small.

    Attributes
    ----------
    classes_
        The categories, in the column order of ``decision_function``.
    taxonomy_
        The taxonomy as given.
    node_coef_
        Weights A⁻¹ Sᵀ y, (n_nodes, n_features), in the order of ``taxonomy_.nodes``. 0 for nodes
        in ``node_constants_``.
    node_constants_
        The constant prediction of nodes without weights, by node id. These are nodes whose training
        items are all positive or all negative.

    Notes
    -----
    The model has no bias term. Add a constant feature to the items if needed.

    Examples
    --------
    >>> from taxonomist.models.hierarchical_rls import HierarchicalRLS
    >>> from taxonomist import Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]]
    >>> model = HierarchicalRLS(taxonomy).fit(X, y)
    >>> model.predict_paths([[1, 0, 0], [0, 0, 1]])
    [[('animal', 'cat')], [('plant', 'oak')]]
    """

    traits = Traits(
        parts=(LeastSquaresScorer, RidgeSystem), dense=(DenseArray("features", "nodes", 8),)
    )
    parameters: ClassVar[dict[str, Requirement]] = {
        "C": above_zero(),
        "train_on": Word(("parents", "all")),
        "cache_size": Number("at least 0 megabytes", lambda value: value >= 0),
    }
    scorer_: LeastSquaresScorer

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        train_on: str = "parents",
        min_labels: int | None = None,
        cache_size: float = 2000,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.train_on = train_on
        self.min_labels = min_labels
        self.cache_size = cache_size

    @property
    def is_top_down(self) -> bool:
        """Whether a node is trained only on items that belong to all its parents."""
        return self.train_on == "parents"

    def learn_nodes(
        self, training: Training, problems: Iterator[NodeProblem], constants: Floats
    ) -> tuple[LeastSquaresScorer, dict[str, object]]:
        """Learn the weights, jointly for nodes with the same items; see ``PerNodeModel``."""
        X = training.X.astype(np.float64, copy=False)
        roots = np.sqrt(self.C * training.weights)
        weights = np.zeros((len(constants), X.shape[1]))
        systems: list[tuple[list[int], RidgeSystem]] = []
        left = 1e6 * self.cache_size
        for _, alike in groupby(problems, key=lambda p: p.parents if self.is_top_down else ()):
            group = list(alike)
            items, codes = group[0].items, [problem.code for problem in group]
            system = RidgeSystem(scaled(X[items], roots[items]), left, not self.is_top_down)
            left -= system.n_bytes
            signs = np.where(np.column_stack([problem.is_in for problem in group]), 1.0, -1.0)
            weights[codes] = system.weights(signs * roots[items, None]).T
            if self.is_top_down:
                systems.append((codes, system))
        targets = training.targets
        taxonomy, nodes = targets.categories.taxonomy, targets.nodes
        return LeastSquaresScorer(taxonomy, nodes, constants, weights, systems, self.C), {}

    @property
    def node_coef_(self) -> Reals:
        """A⁻¹ Sᵀ y of each node of ``taxonomy_``, (n_nodes, n_features)."""
        if not hasattr(self, "scorer_"):
            raise AttributeError("node_coef_ is not available: fit the model first.")
        return self.scorer_.weights
