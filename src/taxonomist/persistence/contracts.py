"""What the objects of a model file must satisfy before they are used.

Decoding sets attributes without running constructors, so a changed file could give a class
attributes that it never has: missing ones, some of another type, or numbers that lead compiled
loops out of their arrays. ``check_object`` compares an object with the annotations of its class
and, by the name of the class, with the shapes and ranges that it relies on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from taxonomist.errors import ModelFileError
from taxonomist.persistence.annotations import (
    check_annotations,
    damaged,
    is_array,
    is_named,
    is_number,
)
from taxonomist.persistence.block_contracts import FAULTS, are_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from taxonomist._typing import Integers, Reals
    from taxonomist.compiled.graph_arrays import LabelledDag
    from taxonomist.compiled.markov_arrays import Tree
    from taxonomist.features.sentence_vectors import SentenceVectors
    from taxonomist.features.text_features import TextFeatures
    from taxonomist.inference.linear_scorer import LinearScorer
    from taxonomist.inference.nested_softmax import NestedSoftmax
    from taxonomist.inference.row_maps import GramMap, KernelMap
    from taxonomist.inference.word_scorer import WordScorer
    from taxonomist.models.hierarchical_rls import LeastSquaresScorer
    from taxonomist.models.markov_decisions import GainScorer
    from taxonomist.models.node_margins import MarginScorer
    from taxonomist.models.node_svc import ClassifierScorer
    from taxonomist.models.plsa_classifier import ShareScorer
    from taxonomist.models.targets import Targets
    from taxonomist.models.thresholded_knn import VoteScorer
    from taxonomist.taxonomy.categories import Categories
    from taxonomist.taxonomy.graph import Graph

__all__ = ["check_object"]

MAX_STEPS = 100_000
"""Maximum number of iterations per item that a file may ask for."""

MAX_GRAM = 1000
"""Maximum number of words or characters of a term."""


def check_object(value: object) -> None:
    """Raise if the attributes of a decoded object are not what its class needs.

    Raises
    ------
    ModelFileError
        If an attribute is missing, has another type, or does not fit the others.
    """
    try:
        check_annotations(value)
        for base in type(value).__mro__:
            if base.__name__ in CONTRACTS:
                CONTRACTS[base.__name__](value)
            if base.__name__ in FAULTS:
                _need(value, **dict.fromkeys(FAULTS[base.__name__](value), False))
    except ModelFileError:
        raise
    except Exception as error:  # whatever a wrong attribute leads to
        raise ModelFileError(
            f"The model is damaged: its {type(value).__name__} is not what it was when it was "
            f"saved ({type(error).__name__}: {error})."
        ) from error


# Shapes and ranges ------------------------------------------------------------------------------


def _need(value: object, **conditions: object) -> None:
    """Raise if a condition is false; its name says what it is about."""
    for name, is_true in conditions.items():
        if not is_true:
            raise damaged(value, f"{name} does not fit the rest")


def _within(codes: Integers, n: int) -> bool:
    """Return whether codes are a vector of integers in [0, n)."""
    is_codes = isinstance(codes, np.ndarray) and codes.ndim == 1 and codes.dtype.kind in "iu"
    return is_codes and bool(((codes >= 0) & (codes < n)).all())


def _is_matrix(value: Reals) -> bool:
    """Return whether a value is a matrix of numbers that compiled loops can read."""
    return is_array("f")(value) and value.ndim == 2 and value.dtype.str in ("<f4", "<f8")


def _are_vectors(n: int, *arrays: Reals | Integers) -> bool:
    return all(isinstance(array, np.ndarray) and array.shape == (n,) for array in arrays)


def _are_strings(value: Iterable[object]) -> bool:
    return all(isinstance(text, str) for text in value)


def _check_taxonomy(graph: Graph) -> None:
    n = len(graph.nodes)
    names, terminals, edges = graph.raw_names, graph.terminals, []
    for side in ("parent", "child"):
        ends, near = getattr(graph, f"{side}_indptr"), getattr(graph, f"{side}_indices")
        is_complete = _are_vectors(n + 1, ends) and _within(ends, len(near) + 1)
        _need(graph, **{side: is_complete and _within(near, n)})
        sizes = np.diff(ends)
        _need(graph, **{side: ends[0] == 0 and ends[-1] == len(near) and (sizes >= 0).all()})
        here = np.repeat(np.arange(n), sizes)
        edges.append(np.column_stack([near, here] if side == "parent" else [here, near]))
    above, below = (part[np.lexsort(part.T)] for part in edges)
    _need(
        graph,
        nodes=n > 0 and isinstance(graph.nodes, tuple) and _are_strings(graph.nodes),
        ids=len(set(graph.nodes)) == n,
        edges=np.array_equal(above, below) and bool((above[:, 0] < above[:, 1]).all()),
        root=np.array_equal(np.flatnonzero(np.diff(graph.parent_indptr) == 0), [0]),
    )
    for mapping in (names, terminals):
        _need(graph, names=isinstance(mapping, Mapping) and _are_strings(mapping.values()))
    _need(graph, texts=all(map(is_named("NodeTexts"), graph.texts.values())))
    for what, keys in (("names", {*names}), ("terminals", {*terminals}), ("texts", {*graph.texts})):
        _need(graph, **{what: keys <= {*graph.nodes}})


def _check_categories(categories: Categories) -> None:
    codes, n = categories.codes, categories.expanded.n_nodes
    _need(
        categories,
        ids=all(node in categories.taxonomy for node in categories.ids) and len(categories.ids) > 0,
        codes=_within(codes, n) and len(codes) == len(categories.ids) == len(np.unique(codes)),
        leaves=categories.expanded.is_leaf[codes].all(),
        expanded=set(categories.expanded.nodes)
        == {*categories.taxonomy.nodes, *categories.expanded.terminals},
    )


def _check_targets(targets: Targets) -> None:
    n, columns = len(targets.categories), targets.columns
    _need(
        targets,
        labels=targets.labels.shape[1] == n,
        classes=_are_vectors(n, targets.classes),
        columns=columns is None or _within(columns, targets.categories.taxonomy.n_nodes),
    )


def _check_linear(scorer: LinearScorer) -> None:
    _need(
        scorer,
        W=_is_matrix(scorer.W),
        attributes=scorer.attributes.shape[1] == scorer.W.shape[1],
        rows=n_rows(scorer) in (None, scorer.W.shape[0]),
    )


def n_rows(scorer: Any) -> int | None:
    """Return the number of rows that a linear scorer's weights need; None for features."""
    if scorer.rows.is_linear:
        return None
    return int(scorer.rows.items.shape[0])


def _check_gains(scorer: GainScorer) -> None:
    from taxonomist.compiled.graph_arrays import LabelledDag

    tree = scorer.tree
    if isinstance(tree, LabelledDag):
        n, n_codes = tree.n_nodes, tree.n_codes
    else:
        n = len(tree.parent)
        n_codes = tree.stride * (n - tree.first)
    _need(
        scorer,
        W=scorer.W.shape[1] == n and scorer.attributes.shape[0] == len(scorer.nodes),
        edge_weights=_is_matrix(scorer.edge_weights)
        and scorer.edge_weights.shape[0] == scorer.W.shape[0]
        and scorer.edge_weights.shape[1] >= n_codes,
        nodes=_within(scorer.nodes, n),
    )


def _check_tree(tree: Tree) -> None:
    n, n_states = len(tree.parent), len(tree.up)
    _need(
        tree,
        parent=n > 0 and _within(tree.parent, n) and _is_topological(tree.parent),
        up=_within(tree.up, n_states),
        code=tree.code.shape == (n_states, 2) and (tree.code < max(tree.stride, 0)).all(),
        stride=0 <= tree.stride <= 2 * n_states,
        first=0 <= tree.first <= n,
        n_root_states=0 <= tree.n_root_states <= n_states,
    )


def _check_dag(dag: LabelledDag) -> None:
    n, ends = dag.n_nodes, dag.indptr
    sizes = np.diff(ends)
    _need(
        dag,
        indptr=n > 0 and ends[0] == 0 and ends[-1] == len(dag.indices) and (sizes >= 0).all(),
        root=np.array_equal(np.flatnonzero(sizes == 0), [0]),
    )
    _need(
        dag,
        indices=_within(dag.indices, n) and (dag.indices < np.repeat(np.arange(n), sizes)).all(),
        costs=_are_vectors(n, dag.costs),
        stride=dag.stride in (1, 4),
    )


def _is_topological(parents: Integers) -> bool:
    """Return whether the first node is its own parent, and others come after their parents."""
    return bool(parents[0] <= 0 and (parents[1:] < np.arange(1, len(parents))).all())


def _check_words(scorer: WordScorer) -> None:
    n_categories, n_sources = scorer.paths.shape
    _need(
        scorer,
        source_nodes=_are_vectors(n_sources, scorer.source_nodes),
        words=scorer.words.shape[0] == n_sources and scorer.words.shape[1] > 0,
        slots=_are_vectors(scorer.paths.nnz, scorer.slots),
        priors=_are_vectors(n_categories, scorer.uniform, scorer.priors)
        and (scorer.priors > 0).all(),
    )


def _check_shares(scorer: ShareScorer) -> None:
    _need(scorer, words=_is_matrix(scorer.words), max_iter=0 <= scorer.max_iter <= MAX_STEPS)


def _check_votes(scorer: VoteScorer) -> None:
    n_features, n_items = scorer.by_feature.shape
    _need(
        scorer,
        labels=scorer.labels.shape[0] == n_items,
        weights=_are_vectors(n_items, scorer.weights),
        idf=scorer.idf is None or _are_vectors(n_features, scorer.idf),
        n_neighbors=0 < scorer.n_neighbors < 2**31,
    )


def _check_margins(scorer: MarginScorer) -> None:
    n = scorer.taxonomy.n_nodes
    _need(scorer, nodes=_within(scorer.nodes, n), constants=_are_vectors(n, scorer.constants))


def _check_classifiers(scorer: ClassifierScorer) -> None:
    n, wanted = scorer.taxonomy.n_nodes, np.flatnonzero(np.isnan(scorer.constants))
    _need(
        scorer,
        estimators=_within(np.array(list(scorer.estimators), dtype=np.intp), n)
        and set(wanted.tolist()) <= set(scorer.estimators),
        support=not scorer.support or set(scorer.support) == set(scorer.estimators),
    )


def _check_linear_estimator(estimator: Any) -> None:
    if "coef_" not in vars(estimator):
        return
    n_rows, n_classes = len(estimator.coef_), len(estimator.classes_)
    intercept = np.asarray(estimator.intercept_)
    _need(
        estimator,
        coef_=_is_matrix(estimator.coef_),
        classes_=estimator.classes_.ndim == 1 and n_rows == (1 if n_classes == 2 else n_classes),
        intercept_=intercept.dtype.kind in "fiu" and intercept.size in (1, n_rows),
    )


def _check_least_squares(scorer: LeastSquaresScorer) -> None:
    n = scorer.taxonomy.n_nodes
    _need(scorer, weights=_is_matrix(scorer.weights) and scorer.weights.shape[0] == n)
    for siblings, system in scorer.systems:
        _need(
            scorer,
            systems=all(type(code) is int for code in siblings)
            and _within(np.array(siblings, dtype=np.intp), n)
            and system.S.ndim == 2
            and system.S.shape[1] == scorer.weights.shape[1],
        )


def _check_softmax(softmax: NestedSoftmax) -> None:
    parents, n = softmax.parents, len(softmax.parents)
    _need(
        softmax,
        parents=n > 0 and parents.ndim == 1 and _is_topological(parents) and (parents >= -1).all(),
        leaves=_within(softmax.leaves + 1, n + 1) and bool((softmax.leaves >= 0).any()),
        slopes=softmax.slopes.ndim == 1 and softmax.slopes.shape == softmax.chances.shape,
    )


def _check_features(features: TextFeatures) -> None:
    if "idf_" not in vars(features):
        return
    n, columns, ends = len(features.idf_), features.columns_, features.term_table_.ends
    lengths = [given for given in (features.words, features.characters) if given is not None]
    _need(
        features,
        idf_=_are_vectors(n, features.idf_)
        and features.idf_.dtype.kind == "f"
        and np.isfinite(features.idf_).all(),
        term_table_=are_ends(ends, len(features.term_table_.text)) and len(ends) == n + 1,
        words=all(0 < low <= high <= MAX_GRAM for low, high in lengths),
        column_weights_=all(map(is_number, features.column_weights_)),
        columns_=columns is None or len(columns) == len(features.column_weights_),
    )


def _check_vectors(vectors: SentenceVectors) -> None:
    centre = getattr(vectors, "centre_", np.zeros(1))
    _need(
        vectors,
        # A file must not choose where the cache is written.
        cache=vectors.cache in (None, "auto") and is_number(vectors.cache_mib),
        encoder=vectors.encoder is None or isinstance(vectors.encoder, str),
        tokens=all(type(n) is int for n in (vectors.tokens, vectors.batch_size)),
        centre_=is_array("f")(centre) and centre.ndim == 1 and np.isfinite(centre).all(),
    )


def _check_pairs(*names: str) -> Callable[[Any], None]:
    """Return a check that some attributes are vectors of the same length."""

    def check(value: object) -> None:
        arrays = [getattr(value, name) for name in names]
        _need(value, **{names[0]: _are_vectors(len(arrays[0]), *arrays)})

    return check


def _check_gram(rows: GramMap) -> None:
    _need(rows, items=_within(rows.items, rows.n_train))


def _check_kernel(rows: KernelMap) -> None:
    numbers = rows.items.data if sparse.issparse(rows.items) else rows.items
    is_finite = numbers.dtype.kind not in "fc" or bool(np.isfinite(numbers).all())
    _need(rows, items=rows.items.ndim == 2 and rows.items.shape[0] > 0 and is_finite)


CONTRACTS: dict[str, Callable[[Any], None]] = {
    "Calibration": _check_pairs("slopes", "offsets"),
    "Categories": _check_categories,
    "ClassifierScorer": _check_classifiers,
    "Curve": _check_pairs("points", "heights"),
    "FittedThresholds": _check_pairs("thresholds"),
    "GainScorer": _check_gains,
    "Graph": _check_taxonomy,
    "GramMap": _check_gram,
    "KernelMap": _check_kernel,
    "LabelledDag": _check_dag,
    "LeastSquaresScorer": _check_least_squares,
    "LinearSVC": _check_linear_estimator,
    "LinearScorer": _check_linear,
    "LogisticRegression": _check_linear_estimator,
    "MarginScorer": _check_margins,
    "NestedSoftmax": _check_softmax,
    "NodeOdds": _check_pairs("slopes", "offsets"),
    "SentenceVectors": _check_vectors,
    "ShareScorer": _check_shares,
    "Targets": _check_targets,
    "TextFeatures": _check_features,
    "Tree": _check_tree,
    "VoteScorer": _check_votes,
    "WordScorer": _check_words,
}
"""Checks by the name of the class."""
