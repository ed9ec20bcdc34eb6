"""PathSVC: scores, blends, probabilities and decisions against their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logsumexp, softmax

from taxonomist import PathSVC, Taxonomy
from taxonomist.inference.blend import PRIOR, blended, fit_blend, fit_trust
from taxonomist.inference.path_scorer import Blend
from taxonomist.persistence import load, save

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "b > b2 > b22", "c"])
DAG = Taxonomy.from_edges([("a", "x"), ("a", "y"), ("b", "y"), ("b", "z"), ("z", "z1"), ("z", "w")])
TAXONOMIES = {"tree": TREE, "dag": DAG}
DECISIONS = ("hierarchical_f1", "micro_f1", "macro_f1", "subset", "loss")


def items(taxonomy=TREE, labels=None, *, n=90, seed=0):
    """Return rows that tell the labels roughly, one label each, and label sets."""
    rng = np.random.default_rng(seed)
    labels = taxonomy.leaves if labels is None else labels
    y = rng.choice(np.array(labels, dtype=object), size=n)
    centres = {label: rng.normal(size=12) for label in labels}
    X = np.array([centres[label] for label in y]) + 1.2 * rng.normal(size=(n, 12))
    X *= rng.random(X.shape) < 0.8
    sets = [sorted({y[k], y[-1 - k]}) if k % 3 == 0 else [y[k]] for k in range(n)]
    X[::3] += np.array([centres[y[-1 - k]] for k in range(0, n, 3)])
    return X, y, sets


def margins(model, X):
    """Return the margins of all columns by definition, (n_items, n_columns)."""
    table, n_features = model.scorer_.weights, model.n_features_in_
    W = np.array([table.of_column(c, np.arange(n_features)) for c in range(table.n_columns)])
    return X @ W.T.astype(np.float64) + table.table.bias


def log_shares_by_definition(model, s):
    """Return the largest log-probability of each classifier's node among a parent's children."""
    scorer, taxonomy = model.scorer_, model.targets_.categories.expanded
    found = np.zeros_like(s)
    for node, column in enumerate(scorer.beside.tolist()):
        parents = taxonomy.parents(taxonomy.nodes[node]) if column >= 0 else []
        shares = []
        for parent in parents:
            siblings = [scorer.beside[taxonomy.code(name)] for name in taxonomy.children(parent)]
            siblings = [other for other in siblings if other >= 0]
            shares.append(4 * s[:, column] - logsumexp(4 * s[:, siblings], axis=1))
        if column >= 0:
            found[:, column] = np.max(shares, axis=0)
    return found


# One category per item ------------------------------------------------------------------------


def test_nodes_with_parents_of_their_own_are_told_apart():
    taxonomy = Taxonomy.from_edges([("a", "x"), ("b", "x"), ("a", "y"), ("b", "z")])
    y = np.array(["x", "y", "z"] * 20, dtype=object)
    X = np.eye(3)[np.arange(60) % 3]
    model = PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X, y)
    assert (model.predict(X) == y).all()


EARLIER = Blend(own=0.4, above=0.3, beside=0.7, rarity=0.2)
"""Models of earlier versions squash the margins against siblings, too."""


@pytest.mark.parametrize("given", [None, EARLIER], ids=["fitted", "earlier"])
@pytest.mark.parametrize("negatives", ["all", "siblings", "both"])
@pytest.mark.parametrize("kind", TAXONOMIES)
def test_scores_are_blends_of_sums_along_paths(kind, negatives, given):
    taxonomy = TAXONOMIES[kind]
    X, y, _ = items(taxonomy)
    y[:20] = "b"
    model = PathSVC(taxonomy, negatives=negatives, random_state=0).fit(X, y)
    if given is not None:
        model.scorer_ = replace(model.scorer_, blend=given)
    blend = model.scorer_.blend
    expanded, nodes = model.targets_.categories.expanded, model.scorer_.nodes.tolist()
    terminal = {node: leaf for leaf, node in expanded.terminals.items()}
    s = margins(model, X)
    q = -(np.maximum(1 - s, 0) ** 2)
    n_all = 0 if negatives == "siblings" else len(set(nodes))
    r = log_shares_by_definition(model, s)
    expected = np.zeros((len(X), len(model.classes_)))
    for column, label in enumerate(model.classes_):
        leaf = terminal.get(label, label)
        path = {leaf, *expanded.ancestors(leaf)}
        for z, code in enumerate(nodes):
            node = expanded.nodes[code]
            if node not in path:
                continue
            if z < n_all:
                expected[:, column] += blend.above * q[:, z]
                if node == leaf:
                    expected[:, column] += blend.own * s[:, z]
            is_top = list(expanded.parents(node)) == [expanded.nodes[0]]
            if z >= n_all or (negatives == "both" and is_top):
                expected[:, column] += blend.beside * q[:, z] + blend.among * r[:, z]
        expected[:, column] -= blend.rarity * np.log(np.sum(y == label))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-4, atol=1e-4)
    best = model.classes_[expected.argmax(axis=1)]
    assert (model.predict(X) == best).mean() > 0.98


def test_a_blend_maximises_the_likelihood():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 200, 4))
    columns = (1.5 * parts[0] + 0.5 * parts[2] + rng.gumbel(size=(200, 4))).argmax(axis=1)
    weights = rng.choice([1.0, 2.0], size=200)
    offset = np.array([0.5, 0.0, 0.0, -0.5])
    found = fit_blend(parts, columns, weights, np.ones(3), offset)

    def loss(theta):
        scores = np.tensordot(theta, parts, 1) + offset
        logs = log_softmax(scores, axis=1)[np.arange(200), columns]
        return -weights @ logs + PRIOR / 2 * np.sum((theta - 1) ** 2)

    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 5000}
    expected = minimize(
        loss, np.ones(3), method="Nelder-Mead", bounds=[(0, None)] * 3, options=options
    )
    assert loss(found) == pytest.approx(expected.fun, rel=1e-6)
    np.testing.assert_allclose(found, expected.x, atol=0.01)


def test_impossible_categories_have_no_part_in_the_likelihood():
    rng = np.random.default_rng(1)
    parts = rng.normal(size=(3, 50, 4))
    columns = rng.integers(0, 3, size=50)
    without = fit_blend(parts[:, :, :3], columns, np.ones(50), np.ones(3), np.zeros(3))
    parts[:, :, 3] = -np.inf
    found = fit_blend(parts, columns, np.ones(50), np.ones(3), np.zeros(4))
    np.testing.assert_allclose(found, without)
    assert np.isneginf(blended(parts, np.zeros(3))[:, 3]).all()


def test_trust_maximises_the_likelihood():
    rng = np.random.default_rng(0)
    scores = 3 * rng.normal(size=(400, 5))
    columns = (0.5 * scores[:, :4] + rng.gumbel(size=(400, 4))).argmax(axis=1)
    random = rng.random(400) < 0.3
    columns[random] = rng.integers(0, 4, size=random.sum())
    scores[:, 4] = -np.inf
    weights, offset = rng.choice([1.0, 2.0], size=400), np.log(rng.integers(1, 4, (400, 5)))
    found = fit_trust(scores, columns, weights, offset, 4)

    def loss(point):
        a, chance = point
        shares = softmax(a * scores + offset, axis=1)[np.arange(400), columns]
        value = weights @ np.log((1 - chance) * shares + chance / 4)
        return -value - np.log(chance) - np.log(1 - chance)

    options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000}
    box = [(0.05, 20), (1e-6, 0.99)]
    expected = minimize(loss, (1.0, 0.1), method="Nelder-Mead", bounds=box, options=options)
    assert loss(found) == pytest.approx(expected.fun, rel=1e-6)
    np.testing.assert_allclose(found, expected.x, atol=0.01)


def test_trust_changes_probabilities_but_no_prediction():
    X, y, _ = items(n=300)
    y[:90:3] = TREE.leaves[0]
    model = PathSVC(TREE, random_state=0).fit(X[:200], y[:200])
    blend, raw = model.scorer_.blend, model.scorer_.raw(sparse.csr_array(X[200:], dtype=np.float32))
    assert 0 < blend.chance < 1
    scores = model.scorer_.categories(raw)
    expected = (1 - blend.chance) * softmax(blend.sharpness * scores, axis=1)
    expected += blend.chance / scores.shape[1]
    np.testing.assert_allclose(model.predict_proba(X[200:]), expected)
    assert (model.classes_[expected.argmax(axis=1)] == model.predict(X[200:])).all()


def test_probabilities_are_calibrated_and_sum_to_one():
    X, y, _ = items(n=600)
    model = PathSVC(TREE, random_state=0).fit(X[:400], y[:400])
    chances = model.predict_proba(X[400:])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    best = chances.max(axis=1)
    is_right = model.predict(X[400:]) == y[400:]
    assert abs(best.mean() - is_right.mean()) < 0.08
    nodes = model.predict_node_proba(X[400:])
    assert nodes.shape == (200, TREE.n_nodes)
    for node in TREE.nodes[1:]:
        for parent in TREE.parents(node):
            mine, above = (nodes[:, TREE.codes([one])[0]] for one in (node, parent))
            assert (mine <= above + 1e-12).all()


def test_confident_and_cheap_nodes():
    X, y, _ = items(n=300)
    model = PathSVC(TREE, random_state=0).fit(X[:200], y[:200])
    sure = model.predict(X[200:], depth="confident", risk=0.1)
    assert set(sure) - set(TREE.leaves)
    cheap = model.predict_labels(X[200:], cost="tree")
    assert len(cheap) == 100
    assert model.predict_paths(X[200:], depth="confident", risk=0.5)[0][0] in {"a", "b", "c"}


def test_categories_without_items_are_never_predicted():
    X, y, _ = items(labels=("a1", "b1", "b21"))
    model = PathSVC(TREE, random_state=0).fit(X, y)
    assert list(model.classes_) == list(TREE.leaves)
    strange = np.random.default_rng(0).normal(size=(500, 12)) * 100
    assert set(model.predict(strange)) <= {"a1", "b1", "b21"}
    unseen = ~np.isin(model.classes_, ["a1", "b1", "b21"])
    assert (model.predict_proba(strange)[:, unseen] == 0).all()
    ranked, _ = model.predict_topk(strange, k=6)
    assert set(ranked[:, :3].ravel()) == {"a1", "b1", "b21"}


@pytest.mark.parametrize("labels", [("c",), ("b21",), ("b21", "b22"), ("a1", "a2")])
def test_few_categories(labels):
    X, y, _ = items(labels=labels, n=30)
    model = PathSVC(TREE, random_state=0).fit(X, y)
    assert set(model.predict(X)) <= set(labels)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_branches_of_weight_zero_count_as_absent():
    X, y, _ = items()
    weights = np.where(np.isin(y, ["b1", "b21", "b22"]), 0.0, 1.0)
    model = PathSVC(TREE, random_state=0).fit(X, y, weights)
    used = weights > 0
    same = PathSVC(TREE, random_state=0).fit(X[used], y[used])
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert set(model.predict(X)) <= {"a1", "a2", "c"}


# Both ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_set", [False, True])
def test_the_batch_its_form_and_the_threads_change_nothing(is_set):
    X, y, sets = items()
    y = sets if is_set else y
    model = PathSVC(TREE, random_state=0, n_jobs=1).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X[7:8]), scores[7:8])
    np.testing.assert_array_equal(model.decision_function(sparse.csr_array(X)), scores)
    threads = PathSVC(TREE, random_state=0, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(threads.decision_function(X), scores)


@pytest.mark.parametrize("is_set", [False, True])
@pytest.mark.parametrize("kind", TAXONOMIES)
def test_explanations_sum_to_scores(kind, is_set):
    taxonomy = TAXONOMIES[kind]
    X, y, sets = items(taxonomy)
    model = PathSVC(taxonomy, random_state=0).fit(X, sets if is_set else y)
    scores = model.decision_function(X)
    for i in range(8):
        for c, label in enumerate(model.classes_):
            found = model.explain(X[i], 3, category=label)
            assert found.score == pytest.approx(scores[i, c], rel=1e-3, abs=1e-3)
        other = model.explain(X[i], 3, category=model.classes_[0], against=model.classes_[1])
        assert other.score == pytest.approx(scores[i, 0] - scores[i, 1], rel=1e-3, abs=1e-3)


def test_the_constant_of_a_set_model_counts_for_the_node_that_matters_most():
    """A node elsewhere, such as that with the best margin, has nothing but its own margin."""
    X, _, sets = items()
    model = PathSVC(TREE, random_state=0).fit(X, sets)
    scorer, n_elsewhere = model.scorer_, 0
    for i in range(8):
        row = sparse.csr_array(X[i : i + 1])
        raw = np.asarray(scorer.raw(row))
        for c in range(len(model.classes_)):
            slopes, _ = scorer._slopes(raw, c)
            main = scorer.nodes[np.argmax(np.abs(slopes))]
            for part in scorer.explain(row, c, None, 3):
                if part.source != main:
                    own = scorer.nodes == part.source
                    assert part.value == pytest.approx(slopes[own] @ raw[0, own], abs=1e-5)
                    n_elsewhere += 1
    assert n_elsewhere


def test_words_explain_a_node_beside_its_siblings_as_they_are():
    """The share of a node's words in r is that of moving its own margin from 0."""
    X, y, _ = items()
    model = PathSVC(TREE, negatives="siblings", random_state=0).fit(X, y)
    row, label = X[0], model.predict(X[:1])[0]
    found = model.explain(row, 99, category=label)
    s, among = margins(model, X[:1])[0], model.blend_["among"]
    for part in found.parts:
        (code,) = TREE.codes([part.node])
        column = model.scorer_.beside[code]
        siblings = model.scorer_.beside[TREE.codes(TREE.children(TREE.parents(part.node)[0]))]
        moved = np.where(np.arange(len(s)) == column, 0.0, s)
        now, then = (4 * m[column] - logsumexp(4 * m[siblings]) for m in (s, moved))
        bias = model.scorer_.weights.table.bias[column]
        expected = among * (now - then) * (s[column] - bias) / s[column]
        assert sum(value for _, value in part.features) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("is_set", [False, True])
def test_a_warm_start_goes_on_with_more_items_and_categories(is_set):
    X, y, sets = items()
    y = sets if is_set else y
    model = PathSVC(TREE, warm_start=True, random_state=0, tol=1e-4).fit(X[:60], y[:60])
    model.fit(X, y)
    cold = PathSVC(TREE, random_state=0, tol=1e-4).fit(X, y)
    assert model.objective_ == pytest.approx(cold.objective_, rel=3e-4)
    assert model.n_iter_ <= cold.n_iter_


@pytest.mark.parametrize("is_set", [False, True])
def test_small_weights_can_be_pruned(is_set, tmp_path):
    X, y, sets = items()
    model = PathSVC(TREE, random_state=0).fit(X, sets if is_set else y)
    whole = model.scorer_.weights.table.values
    save(model, tmp_path / "model", prune=0.3)
    kept = load(tmp_path / "model").scorer_.weights.table.values
    assert np.count_nonzero(kept) == pytest.approx(0.7 * np.count_nonzero(whole), rel=0.05)
    assert np.abs(whole[kept == 0]).max() <= np.abs(kept[kept != 0]).min()


# Label sets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("kind", TAXONOMIES)
def test_label_sets_are_closed_and_follow_from_probabilities(kind, decision):
    taxonomy = TAXONOMIES[kind]
    X, _, sets = items(taxonomy, n=150)
    model = PathSVC(taxonomy, decision=decision, random_state=0).fit(X[:100], sets[:100])
    nodes = model.predict_node_proba(X[100:])
    assert (nodes[:, 0] == 1).all()
    predicted = [set(labels) for labels in model.predict_labels(X[100:])]
    for chances, labels in zip(nodes, predicted, strict=True):
        assert labels >= {parent for label in labels for parent in taxonomy.ancestors(label)} - {
            taxonomy.nodes[0]
        }
        above = {
            taxonomy.nodes[code] for code in np.flatnonzero(chances > model.thresholds_) if code
        }
        n_leaves = sum(bool(taxonomy.is_leaf[taxonomy.codes([node])[0]]) for node in above)
        if decision != "macro_f1" and 1 <= n_leaves <= model.label_limits_.most:
            assert labels == above
    for node in taxonomy.nodes[1:]:
        code = taxonomy.codes([node])[0]
        for parent in taxonomy.parents(node):
            assert (nodes[:, code] <= nodes[:, taxonomy.codes([parent])[0]]).all()


def test_node_probabilities_by_hand():
    X, _, sets = items(DAG)
    model = PathSVC(DAG, random_state=0).fit(X, sets)
    scorer, node_model = model.scorer_, model.scorer_.model
    raw = margins(model, X)
    column = {"above": scorer.above, "beside": scorer.beside}
    code = {node: k for k, node in enumerate(DAG.nodes)}
    own = {n: raw[:, column["above"][code[n]]] for n in DAG.nodes[1:]}
    beside = {n: raw[:, column["beside"][code[n]]] for n in DAG.nodes[1:]}
    share = {
        n: np.mean([n in s or any(n in DAG.ancestors(x) for x in s) for s in sets]) for n in own
    }
    odds = {}
    for node in DAG.nodes[1:]:
        above = [a for a in DAG.ancestors(node) if code[a] != 0]
        below = [d for d in DAG.nodes[1:] if d == node or node in DAG.ancestors(d)]
        features = [
            own[node],
            beside[node],
            np.mean([own[a] for a in above], axis=0) if above else own[node],
            np.min([own[a] for a in [node, *above]], axis=0),
            np.max([own[d] for d in below], axis=0),
            np.max(list(own.values()), axis=0),
        ]
        log, depth = np.log(share[node]), DAG.depths[code[node]]
        odds[node] = np.dot(node_model.node_coef, [1, log, log**2, depth])
        for a, b, feature in zip(*node_model.margin_coef, features, strict=True):
            odds[node] = odds[node] + (a + b * log) * feature
    for node in DAG.nodes[1:]:
        path = [node, *(a for a in DAG.ancestors(node) if code[a] != 0)]
        expected = expit(np.min([odds[a] for a in path], axis=0))
        found = model.predict_node_proba(X)[:, code[node]]
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_every_item_has_a_label_unless_training_items_have_none():
    X, _, sets = items()
    strange = np.zeros((5, 12))
    assert all(PathSVC(TREE, random_state=0).fit(X, sets).predict_labels(strange))
    empty = [[] if k % 2 else labels for k, labels in enumerate(sets)]
    model = PathSVC(TREE, decision="loss", random_state=0).fit(X, empty)
    assert any(not labels for labels in model.predict_labels(X))


def test_limits_of_the_number_of_labels():
    X, _, sets = items()
    model = PathSVC(TREE, min_labels=2, max_labels=2, random_state=0).fit(X, sets)
    for labels in model.predict_labels(X):
        assert len(set(labels) & set(TREE.leaves)) == 2


# Certificate -----------------------------------------------------------------------------------


def test_too_few_passes_are_warned_of():
    X, y, _ = items()
    with pytest.warns(Warning, match="Stopped after 1 passes"):
        PathSVC(TREE, max_iter=1, tol=1e-6, cv=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"negatives": "some"}, "negatives"),
        ({"loss": "log"}, "loss"),
        ({"decision": "f1"}, "decision"),
        ({"C": 0}, "C"),
        ({"constant": -1}, "constant"),
        ({"tol": 0}, "tol"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y, _ = items()
    with pytest.raises(ValueError, match=message):
        PathSVC(TREE, **parameters).fit(X, y)
