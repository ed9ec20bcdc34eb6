"""Small joint problems: for solvers, for the oracle, for loops; and what solutions must be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import joint
from taxonomist.compiled.attributes import write_category_scores
from taxonomist.compiled.inspection import inspection_scratch
from taxonomist.compiled.joint_arrays import JointFindings
from taxonomist.compiled.pair_qp import write_gradients
from taxonomist.compiled.places import score_places
from taxonomist.compiled.rows import score_row
from taxonomist.losses import category_loss, weighted_tree
from taxonomist.solvers.duals import DualStore, Entries
from taxonomist.solvers.problem import FeatureRows, JointProblem, one_label_each
from taxonomist.taxonomy import Taxonomy
from tests.reference import pair_svm
from tests.reference.joint_svm import Instance, certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLACKS = ("example", "pair")
SHAPES = ("tree", "dag", "flat", "real")
LOSSES = ("zero_one", "tree", "weighted", "matrix", "callable")
UNWRITTEN = 7.0


class Toy(NamedTuple):
    """Features, labels, costs and what they are labelled with."""

    X: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    attributes: Any  # CSR
    loss: Any  # CategoryLoss

    def problem(self, items: Any = None) -> JointProblem:
        """Return the problem; the items are sparse float64 rows by default."""
        items = items or FeatureRows(sparse.csr_array(self.X), "float64")
        labels = one_label_each(self.y, self.attributes.shape[0])
        return JointProblem(items, labels, self.costs, self.attributes, self.loss)

    def instance(self, K: np.ndarray | None = None) -> Instance:
        """Return the problem for the oracle; the kernel is linear by default."""
        K = self.X @ self.X.T if K is None else K
        loss = self.loss.rows(range(self.loss.n_categories))
        return Instance(K, self.y, self.attributes.toarray(), loss, self.costs)

    def margins(self, W: np.ndarray) -> np.ndarray:
        """Return f(x_i, y_i) - f(x_i, c) for all items and categories."""
        f = self.X @ W @ self.attributes.toarray().T
        return f[np.arange(len(f)), self.y][:, None] - f


def toy(shape: str = "tree", loss: str = "tree", C: float = 1.0, seed: int = 0, n: int = 30) -> Toy:
    """Return a random problem with costs that differ by item.

    One item has no features, two have the same, and one category has no items.
    """
    rng = np.random.default_rng(seed)
    taxonomy = _taxonomy("tree" if shape == "real" else shape, rng)
    leaves = np.flatnonzero(taxonomy.is_leaf)
    attributes = taxonomy.ancestor_matrix()[leaves][:, 1:].astype(np.float64)
    if shape == "real":
        attributes = sparse.csr_array(rng.normal(size=(len(leaves), 4)))
    y = rng.integers(len(leaves) - 1, size=n)
    X = rng.normal(size=(n, 20)) * (rng.random((n, 20)) < 0.4)
    X[:, : len(leaves)] += np.eye(len(leaves))[y]
    X[0] = 0
    X[1:3] = X[1]
    costs = C * rng.uniform(0.5, 1.5, size=n)
    return Toy(X, y, costs, attributes, category_loss(_loss(loss, taxonomy, rng), taxonomy))


def separable(shape: str = "tree", seed: int = 0, C: float = np.inf) -> Toy:
    """Return a problem that a hard margin solves."""
    found = toy(shape, seed=seed)
    rng = np.random.default_rng(seed)
    n_categories = found.attributes.shape[0]
    X = 3 * np.eye(n_categories)[found.y] + rng.normal(scale=0.3, size=(30, n_categories))
    return found._replace(X=X, costs=np.full(30, C))


class SetToy(NamedTuple):
    """The like with label sets."""

    X: np.ndarray
    Y: np.ndarray  # (n_items, n_categories)  bool
    costs: np.ndarray
    attributes: Any  # CSR
    loss: Any  # CategoryLoss
    slack: str = "example"

    @classmethod
    def of(cls, one: Toy, slack: str = "example") -> SetToy:
        """Return a problem with one category per item as one with label sets."""
        Y = np.arange(one.attributes.shape[0]) == one.y[:, None]
        return cls(one.X, Y, one.costs, one.attributes, one.loss, slack)

    def problem(self, items: Any = None) -> JointProblem:
        """Return the problem; the items are sparse float64 rows by default."""
        items = items or FeatureRows(sparse.csr_array(self.X), "float64")
        labels = sparse.csr_array(self.Y)
        return JointProblem(items, labels, self.costs, self.attributes, self.loss, self.slack)

    def instance(self, K: np.ndarray | None = None) -> pair_svm.Instance:
        """Return the problem for the oracle; the kernel is linear by default."""
        K = self.X @ self.X.T if K is None else K
        loss = self.loss.rows(range(self.loss.n_categories))
        return pair_svm.Instance(K, self.Y, self.attributes.toarray(), loss, self.costs, self.slack)

    def select(self, chosen: Any) -> SetToy:
        """Return the problem of some items."""
        return self._replace(X=self.X[chosen], Y=self.Y[chosen], costs=self.costs[chosen])


def set_toy(
    shape: str = "tree",
    loss: str = "tree",
    C: float = 1.0,
    slack: str = "example",
    seed: int = 0,
    n: int = 24,
) -> SetToy:
    """Return a random problem with label sets of one to four categories.

    One item has no features, two have the same, one has no categories, and one has all.
    """
    one = toy(shape, loss, C, seed, n)
    rng = np.random.default_rng(seed)
    n_categories = one.attributes.shape[0]
    Y = SetToy.of(one).Y | (rng.random((n, n_categories)) < rng.choice([0.0, 0.2, 0.4], (n, 1)))
    Y[3], Y[4] = False, True
    X = one.X.copy()
    X[1:, :n_categories] += Y[1:] * rng.uniform(0.5, 1.0, size=(n - 1, 1))
    X[1:3] = X[1]
    return SetToy(X, Y, one.costs, one.attributes, one.loss, slack)


def separable_sets(shape: str = "tree", slack: str = "example", seed: int = 0) -> SetToy:
    """Return a problem with label sets that a hard margin solves."""
    found = set_toy(shape, slack=slack, seed=seed)
    noise = np.random.default_rng(seed).normal(scale=0.3, size=found.Y.shape)
    return found._replace(X=3 * found.Y + noise, costs=np.full(len(noise), np.inf))


def pair_alpha(duals: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return dual variables as a dense array α (n_items, n_categories, n_categories)."""
    alpha = np.zeros((*shape, shape[1]))
    entries = Entries.of(duals)
    alpha[entries.item, entries.own, entries.other] = entries.beta * entries.delta
    return alpha


def alpha_of(given: Any, of: Any) -> np.ndarray:
    """Return dual variables, or those of a solution, as a dense array α.

    ``of`` is the instance, or the shape (n_items, n_categories).
    """
    duals = getattr(given, "duals", given)
    shape = (len(of.y), len(of.attributes)) if isinstance(of, Instance) else of
    alpha = np.zeros(shape)
    entries = Entries.of(duals)
    alpha[entries.item, entries.other] = entries.beta * entries.delta
    return alpha


def recomputed(instance: Instance, solution: Any, X: np.ndarray | None = None) -> Any:
    """Return the oracle's certificate of a solution; without X its weights are coefficients."""
    W = np.asarray(solution.W, dtype=np.float64)
    scores = (instance.K if X is None else X) @ W
    squared = np.sum(W * scores) if X is None else np.sum(W * W)
    return certificate(instance, scores, squared, alpha_of(solution.duals, instance))


def recomputed_pairs(
    instance: pair_svm.Instance, solution: Any, X: np.ndarray | None = None
) -> pair_svm.Certificate:
    """Return the oracle's certificate of a solution; without X its weights are coefficients."""
    W = np.asarray(solution.W, dtype=np.float64)
    scores = (instance.K if X is None else X) @ W
    squared = float(np.sum(W * scores) if X is None else np.sum(W * W))
    alpha = pair_alpha(solution.duals, instance.Y.shape)
    return pair_svm.certificate(instance, scores, squared, alpha)


def assert_solves(
    case: SetToy, solution: Any, best: float, options: Any, K: np.ndarray | None = None
) -> None:
    """Check what every solution must be: feasible, certified, optimal, complementary."""
    instance = case.instance(K)
    assert_feasible(instance, solution)
    exact = [entry for entry in solution.history if entry.is_exact]
    rounding = 1e-11 if options.dtype == "float64" else 1e-6
    for entry in exact:
        assert entry.primal - entry.dual >= -rounding * entry.primal
    for before, after in pairwise(exact):
        assert after.dual >= before.dual - rounding * abs(before.dual)
    claimed = solution.certificate
    assert solution.converged
    assert claimed.gap <= options.tol
    assert (claimed.primal, claimed.dual, claimed.violation) == exact[-1][1:4]
    assert claimed.primal == pytest.approx(best, rel=2 * options.tol)
    found = recomputed_pairs(instance, solution, case.X if K is None else None)
    precision = 1e-9 if options.dtype == "float64" else 1e-5
    assert claimed.primal == pytest.approx(found.primal, rel=precision)
    assert claimed.dual == pytest.approx(found.dual, rel=precision)
    assert claimed.violation == pytest.approx(found.psi.max(), abs=100 * precision)
    if np.isfinite(instance.costs).all():
        assert_complementary(instance, solution, found, options)


def assert_feasible(instance: pair_svm.Instance, solution: Any) -> None:
    """Check the feasible set, and that active variables are distinct pairs of the item."""
    item, own, other, beta, delta = Entries.of(solution.duals)
    assert len(beta) == len(solution.duals.beta)
    assert (beta > 0).all()
    if instance.slack == "pair":
        assert (beta <= instance.costs[item]).all()
    else:
        used = np.bincount(item, beta, len(instance.costs))
        assert (used <= instance.costs * (1 + 1e-12)).all()
    triples = list(zip(item.tolist(), own.tolist(), other.tolist(), strict=True))
    assert len(set(triples)) == len(triples)
    assert set(triples) <= set(instance.triples)
    np.testing.assert_allclose(delta, instance.loss[own, other], rtol=1e-12)


def assert_complementary(
    instance: pair_svm.Instance, solution: Any, found: pair_svm.Certificate, options: Any
) -> None:
    """Check that no term that optimality makes zero is larger than the gap, their sum."""
    beta = np.zeros(found.G.shape)
    entries = Entries.of(solution.duals)
    beta[entries.item, entries.own, entries.other] = entries.beta
    terms = []
    for group in instance.sharing:
        slack = max(0.0, *(found.G[triple] for triple in group))
        terms += [beta[triple] * (slack - found.G[triple]) for triple in group]
        terms.append((instance.costs[group[0][0]] - sum(beta[t] for t in group)) * slack)
    allowed = options.tol * found.primal
    rounding = allowed / 10
    assert min(terms) >= -rounding
    assert max(terms) <= allowed + rounding
    assert sum(terms) == pytest.approx(found.primal - found.dual, abs=rounding)


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)


def assert_twins(loop: Any, make_arguments: Callable[[], tuple[Any, ...]]) -> tuple[Any, Any]:
    """Check that the compiled loop and the plain one return and write the same; return both."""
    arguments, twins = make_arguments(), make_arguments()
    found, expected = loop(*arguments), loop.py_func(*twins)
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    written = list(arrays_in(tuple(arguments)))
    for one, other in zip(written, arrays_in(tuple(twins)), strict=True):
        precision = 1e-5 if one.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(one, other, rtol=precision, atol=1e-2 * precision)
    return arguments, found


class State:
    """A solver's arrays after some passes, with room for four more variables of each item."""

    def __init__(self, case: SetToy, solution: Any, items: Any = None) -> None:
        problem = case.problem(items)
        self.case, self.solution = case, solution
        self.W = solution.W.copy()
        self.items = np.arange(len(case.Y))
        arrays = problem.arrays()
        self.problem = arrays._replace(rows=problem.items.rows(self.items, arrays.row_of))
        store = DualStore(solution.duals)
        store.make_place(self.items, 4)
        self.duals = store.duals
        self.findings = JointFindings(*np.full((6, len(case.Y)), UNWRITTEN))
        self.scratch = joint.qp_scratch(self.W.shape[1], store.largest_room, self.W.dtype)

    def looks(self, n_new: int = 3) -> Any:
        """Return scratch arrays for inspections, with the scores of the first item."""
        scratch = inspection_scratch(self.problem, self.W, n_new)
        score_row(self.problem.rows, 0, self.W, scratch.scores)
        write_category_scores(self.problem.attributes, scratch.scores, scratch.f)
        return scratch

    def enter(self, i: int) -> int:
        """Prepare item i's small QP; return how many attributes it uses."""
        places, is_few = self.scratch.places, self.W.shape[1] <= joint.FEW_ATTRIBUTES
        n_used = joint.enter_active(self.problem.attributes, i, self.duals, places)
        score_places(self.problem.rows, self.problem.row_of[i], self.W, n_used, is_few, places)
        write_gradients(self.problem.attributes, i, self.duals, self.scratch)
        return n_used


def _taxonomy(shape: str, rng: np.random.Generator) -> Taxonomy:
    """Return a taxonomy of the given shape with six or so leaves."""
    if shape == "flat":
        return Taxonomy.flat([f"c{k}" for k in range(6)])
    edges = [("r", "a"), ("r", "b"), ("r", "c"), ("a", "d"), ("a", "e"), ("b", "f"), ("b", "g")]
    edges += [(rng.choice(["d", "f", "c"]), leaf) for leaf in ("h", "i", "j")]
    if shape == "dag":
        edges += [("b", "d"), ("c", "e"), ("c", "h"), ("f", "j")]
    return Taxonomy.from_edges([(str(p), c) for p, c in dict.fromkeys(edges)])


def _loss(name: str, taxonomy: Taxonomy, rng: np.random.Generator) -> Any:
    """Return a loss in the form that users give it."""
    if name == "weighted":
        tables = rng.uniform(0.2, 2.0, size=(3, taxonomy.n_nodes))
        return weighted_tree(*(dict(zip(taxonomy.nodes, row, strict=True)) for row in tables))
    if name == "matrix":
        n = int(taxonomy.is_leaf.sum())
        return rng.uniform(0.2, 3.0, size=(n, n)) * (1 - np.eye(n))
    if name == "callable":
        return lambda true, predicted: taxonomy.distance(true, predicted) ** 2 / 4
    return name
