"""``HierarchicalRLS``: hierarchical regularised least squares, in batch form [RSSS06, Sec. 5].

Problem       for node z and an item x that is to be classified,
              w = (I + Sᵀ S + x xᵀ)⁻¹ Sᵀ y, margin <w, x>
Notation      S   the training items that all parents of z have, n_S x n_features
              y   1 where such an item has z, else -1
              A   I + Sᵀ S, the same for all nodes with the same parents
Step          by Sherman and Morrison the margin is <A⁻¹ Sᵀ y, x> / (1 + xᵀ A⁻¹ x): weights that are
              the same for all x, and a divisor that depends on the parents only and changes no
              sign. Where n_S < n_features, A is replaced by I + S Sᵀ, with
              A⁻¹ = I - Sᵀ (I + S Sᵀ)⁻¹ S.
Cost          with m = min(n_S, n_features): the weights take some tens of products with S for each
              node (conjugate gradients). The divisors take one factor for each set of parents, m³/3
              time and m² memory, made when they are first asked for, and then m² for each item.
              Label sets need no divisors.
Differences   C and weights of items, which multiply xᵢ xᵢᵀ and xᵢ yᵢ. A node whose items are all in
              or all out answers so always.
References    [RSSS06, Sec. 5]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taxonomist.models.node_margins import MarginScorer
from taxonomist.models.parameters import Number, above_zero
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
    """Margins by least squares, in which the item itself takes part.

    Attributes
    ----------
    weights
        A⁻¹ Sᵀ y of each node, (n_nodes, n_features); 0 for nodes without a classifier.
    systems
        For each set of parents: the nodes below it, and A.
    C
        Weight of the squared errors.
    """

    weights: Floats
    systems: list[tuple[list[int], RidgeSystem]]
    C: float

    def margins(self, X: Any, codes: Codes, out: Floats) -> None:
        """Write the margins of nodes with weights into rows of (n_nodes, n_items)."""
        X = X.astype(np.float64, copy=False)
        out[codes] = (X @ self.weights[codes].T).T
        for siblings, system in self.systems:
            out[siblings] /= 1 + system.self_products(np.sqrt(self.C) * X)

    def accepts(self, code: int, X: Any) -> Bools:
        """Return for which items the margin of a node is positive."""
        accepted: Bools = X @ self.weights[code] > 0
        return accepted

    def shares(self, code: int, row: Any) -> tuple[Any, Floats]:
        """Return features, and what each adds to the margin of a node."""
        indices = row.indices if hasattr(row, "indices") else np.flatnonzero(row[0])
        values = row.data if hasattr(row, "indices") else row[0, indices]
        system = next(system for siblings, system in self.systems if code in siblings)
        divisor = 1 + system.self_products(np.sqrt(self.C) * row.astype(np.float64))[0]
        return indices, values * self.weights[code, indices] / divisor

    def pruned(self, cut: Cut) -> LeastSquaresScorer:
        """Return a scorer whose weights have gone through ``cut``; see ``Scorer``."""
        return replace(self, weights=cut(self.weights))


class HierarchicalRLS(PerNodeModel):
    """Least squares for each node, on the items of its parents: H-RLS.

    Each node has a regularised least-squares classifier, learned from the items that all its
    parents have; the item that is classified takes part in the regularisation. Predicting
    starts at the top, as in ``TopDownSVC``; label sets may be empty.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None means one of depth one over the labels
        in ``y``.
    C
        Weight of the squared errors against the squared weights; the paper has 1.
    min_labels
        The least number of categories in a prediction; the best by ``decision_function`` are
        added where there are fewer. None adds none, as in the paper.
    cache_size
        Megabytes for factors, which take 8 m² bytes for each set of parents with m = min(items,
        features). They are made by the first ``decision_function``, or ``predict`` with single
        labels, and not pickled. Without the room, both take much longer.

    Attributes
    ----------
    classes_
        Ids of the categories, in column order of ``decision_function``.
    taxonomy_
        The taxonomy.
    node_coef_
        (n_nodes, n_features), row order ``taxonomy_.nodes``: A⁻¹ Sᵀ y; 0 for nodes in
        ``node_constants_``.
    node_constants_
        The answer of nodes that have no weights, since the items that they would learn from are all
        in or all out.

    Notes
    -----
    There is no bias; give items a constant feature if they need one.

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

    traits = Traits(parts=(LeastSquaresScorer, RidgeSystem))
    parameters: ClassVar[dict[str, Requirement]] = {
        "C": above_zero(),
        "cache_size": Number("at least 0 megabytes", lambda value: value >= 0),
    }
    scorer_: LeastSquaresScorer

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        C: float = 1.0,
        min_labels: int | None = None,
        cache_size: float = 2000,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.min_labels = min_labels
        self.cache_size = cache_size

    def learn_nodes(
        self, training: Training, problems: Iterator[NodeProblem], constants: Floats
    ) -> tuple[LeastSquaresScorer, dict[str, Any]]:
        """Learn the weights, for all nodes with the same parents at once; see ``PerNodeModel``."""
        X = training.X.astype(np.float64, copy=False)
        roots = np.sqrt(self.C * training.weights)
        weights = np.zeros((len(constants), X.shape[1]))
        systems: list[tuple[list[int], RidgeSystem]] = []
        left = 1e6 * self.cache_size
        for _, siblings in groupby(problems, key=lambda problem: problem.parents):
            group = list(siblings)
            items, codes = group[0].items, [problem.code for problem in group]
            system = RidgeSystem(scaled(X[items], roots[items]), left)
            left -= system.n_bytes
            signs = np.where(np.column_stack([problem.is_in for problem in group]), 1.0, -1.0)
            weights[codes] = system.weights(signs * roots[items, None]).T
            systems.append((codes, system))
        targets = training.targets
        taxonomy, nodes = targets.categories.taxonomy, targets.nodes
        return LeastSquaresScorer(taxonomy, nodes, constants, weights, systems, self.C), {}

    @property
    def node_coef_(self) -> Floats:
        """A⁻¹ Sᵀ y of each node of ``taxonomy_``, (n_nodes, n_features)."""
        if not hasattr(self, "scorer_"):
            raise AttributeError("node_coef_ is not there: fit the model first.")
        return self.scorer_.weights
