import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from taxonomist import (
    HierarchicalRankingSVC,
    HierarchicalSVC,
    LidstoneNB,
    NodeSVC,
    Taxonomy,
    features,
    losses,
)
from taxonomist.features.text_features import TextFeatures
from taxonomist.inference.label_sets import CategoryThresholds, SizePredictor, Threshold, TopK
from taxonomist.kernels import GappedKernel
from taxonomist.models.calibrated import CalibratedClassifier
from taxonomist.persistence import describe, load, pruned, save, trial
from tests.combinations import every_value
from tests.unit.persistence.examples import (
    DAG,
    NAMES,
    SET_NAMES,
    TREE,
    model_of,
    problem,
    same,
    same_answers,
)

TEXTS = [
    "the black hole shines",
    "a lattice of spins",
    "black holes and spins",
    "das Haus, die Häuser",
    "事象の地平面",
    "",
    "the lattice of the house",
    "holes in the house",
]
TEXT_LABELS = ["a1", "a2", "a1", "b1", "b21", "c", "b1", "a2"]
LEFT_OUT = ("start_",)


def copy_of(model, folder, **options):
    save(model, folder / "model", **options)
    return load(folder / "model")


def test_the_trial_of_a_loaded_model_asks_with_indices_as_those_of_texts(tmp_path, monkeypatch):
    # With other ones, loops would be compiled for the trial alone.
    texts = [" ".join(f"word{5 * k + j}" for j in range(5)) for k in range(trial.MAX_DENSE // 4)]
    X = TextFeatures().fit_transform(texts)
    model = LidstoneNB(TREE).fit(X, [TREE.leaves[k % len(TREE.leaves)] for k in range(len(texts))])
    asked = []
    monkeypatch.setattr(trial, "_ask", lambda _, row: asked.append(row))
    copy_of(model, tmp_path)
    assert asked[0].shape == (1, X.shape[1])
    for part in ("indices", "indptr"):
        assert getattr(asked[0], part).dtype == getattr(X, part).dtype


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mmap", [True, False])
def test_models_of_single_labels(name, mmap, tmp_path):
    X, y, _ = problem()
    model = model_of(name).fit(X, y)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model", mmap=mmap)
    same_answers(model, copy, X)
    assert not same(model, copy, without=LEFT_OUT)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SET_NAMES)
def test_models_of_label_sets(name, tmp_path):
    X, _, y = problem()
    model = model_of(name).fit(sparse.csr_array(X), y)
    copy = copy_of(model, tmp_path)
    same_answers(model, copy, sparse.csr_matrix(X))
    assert not same(model, copy, without=LEFT_OUT)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_pickle_works_as_well(name):
    X, y, sets = problem()
    for target in (y, sets) if name in SET_NAMES else (y,):
        model = model_of(name).fit(X, target)
        same_answers(model, pickle.loads(pickle.dumps(model)), X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@every_value(name=NAMES, labels=[[3, 7, 11], ["x", "y", "z"], [2.0, 3.0, 4.0], [True, False]])
def test_labels_of_any_kind_without_a_taxonomy(name, labels, tmp_path):
    X, y, _ = problem(leaves=["0", "1", "2"][: len(labels)])
    y = np.array(labels)[y.astype(int)]
    model = model_of(name, None).fit(X, y)
    copy = copy_of(model, tmp_path)
    assert copy.classes_.dtype == model.classes_.dtype
    same_answers(model, copy, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [n for n in SET_NAMES if n != "MaxMarginMarkovClassifier"])
def test_dags_interior_categories_and_indicators(name, tmp_path):
    X, _, sets = problem(leaves=[*DAG.leaves, "a"])
    table = pd.DataFrame([[int(n in row) for n in DAG.nodes] for row in sets], columns=DAG.nodes)
    frame = pd.DataFrame(X, columns=[f"word {f}" for f in range(X.shape[1])])
    model = model_of(name, DAG).fit(frame, table)
    copy = copy_of(model, tmp_path)
    same_answers(model, copy, frame)
    assert copy.feature_names_in_.tolist() == frame.columns.tolist()
    assert copy.taxonomy_.terminals == model.taxonomy_.terminals
    assert not same(copy.taxonomy, DAG)


@pytest.mark.parametrize("name", ["HierarchicalSVC", "HierarchicalRankingSVC"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "precomputed"])
def test_kernels_keep_their_training_items(name, kernel, tmp_path):
    X, y, _ = problem()
    weights = (np.arange(len(y)) % 5 > 0).astype(float)
    items = X @ X.T if kernel == "precomputed" else X
    model = model_of(name, kernel=kernel, gamma=0.01, tol=0.1).fit(items, y, weights)
    same_answers(model, copy_of(model, tmp_path), items)


def test_kernels_of_sequences(tmp_path):
    model = make_pipeline(
        features.SequenceCodes(max_length=50),
        HierarchicalSVC(TREE, kernel=GappedKernel((1, 2), decay=0.3), random_state=0),
    ).fit(TEXTS[:5], TEXT_LABELS[:5])
    copy = copy_of(model, tmp_path)
    assert not same(copy.decision_function(TEXTS), model.decision_function(TEXTS))


@pytest.mark.parametrize(
    "made",
    [
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        TfidfVectorizer(stop_words=["the", "of"], min_df=2, dtype=np.float32),
        CountVectorizer(analyzer="char", vocabulary={"a": 0, "b": 1}),
        CountVectorizer(stop_words="english", max_features=3),
        HashingVectorizer(n_features=64),
        FeatureUnion(
            [("w", TfidfVectorizer()), ("c", Pipeline([("n", CountVectorizer(binary=True))]))],
            transformer_weights={"w": 2.0},
        ),
        make_pipeline(CountVectorizer(), features.TfidfWeights(sublinear_tf=True), MaxAbsScaler()),
        features.TfidfFeatures((1, 2)),
        features.SpectrumFeatures((2, 3), max_gaps=1, dtype="float32"),
        TextFeatures(min_df=1, characters=(2, 3), max_features=50),
    ],
    ids=lambda made: type(made).__name__,
)
def test_features_in_front_of_a_model(made, tmp_path):
    model = Pipeline([("features", made), ("model", HierarchicalSVC(TREE, random_state=0))])
    model.fit(TEXTS, TEXT_LABELS)
    copy = copy_of(model, tmp_path)
    new = [*TEXTS, "unheard-of black houses"]
    assert not same(copy.decision_function(new), model.decision_function(new))
    assert not same(copy[:-1].transform(new), model[:-1].transform(new))


def test_selected_features(tmp_path):
    X, y, _ = problem()
    model = make_pipeline(features.InformationGainSelector(4), model_of("LidstoneNB")).fit(X, y)
    assert not same(copy_of(model, tmp_path).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "loss",
    [
        losses.weighted_tree(load={"a": 3.0}, miss=2.0),
        1.0 - np.eye(5),
        losses.category_loss("zero_one", TREE),
        losses.category_loss("tree", TREE),
        losses.category_loss(5.0 - 5.0 * np.eye(5), TREE),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_losses_that_are_objects(loss, tmp_path):
    X, y, _ = problem()
    model = HierarchicalSVC(TREE, loss=loss, random_state=0).fit(X, y)
    copy = copy_of(model, tmp_path)
    assert not same(model.loss, copy.loss)
    again = copy.fit(X, y)
    assert (again.coef_ == model.coef_).all()


def test_losses_of_labellings_and_local_features(tmp_path):
    X, _, y = problem()
    options = {
        "loss": losses.labelling_loss(np.linspace(0.5, 2.0, TREE.n_nodes), TREE),
        "local_features": {"a": [0, 1], "b": slice(2, 4), "c": range(4, 5)},
        "cv": KFold(3),
    }
    model = model_of("MaxMarginMarkovClassifier", **options).fit(X, y)
    copy = copy_of(model, tmp_path)
    same_answers(model, copy, X)
    assert copy.local_features == model.local_features
    assert not same(model.edge_coef_, copy.edge_coef_)


@pytest.mark.parametrize(
    "rule", [SizePredictor(0.5), Threshold("example_f1"), CategoryThresholds(), TopK(2), TopK()]
)
def test_decision_rules(rule, tmp_path):
    X, _, y = problem()
    model = HierarchicalRankingSVC(TREE, decision=rule, random_state=0).fit(X, y)
    same_answers(model, copy_of(model, tmp_path), X)


def test_classifiers_of_single_nodes(tmp_path):
    X, _, y = problem()
    estimator = {"a": LogisticRegression(C=0.5), "default": LogisticRegression()}
    model = NodeSVC(TREE, estimator=estimator, random_state=0).fit(X, y)
    copy = copy_of(model, tmp_path)
    same_answers(model, copy, X)
    for node, learned in zip(
        copy.node_estimators_.values(), copy.scorer_.estimators.values(), strict=True
    ):
        assert node is learned


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_calibrated_models(method, tmp_path):
    X, y, sets = problem(n=60)
    for k, target in enumerate((y, sets)):
        model = CalibratedClassifier(model_of("HierarchicalRankingSVC"), method=method)
        model.fit(X, target)
        save(model, tmp_path / str(k))
        copy = load(tmp_path / str(k))
        assert not same(copy.predict_proba(X), model.predict_proba(X))
        assert not same(copy.predict(X), model.predict(X))
        save(model, tmp_path / str(k), prune=0.5)
        smaller = pruned(model, 0.5)
        assert not same(load(tmp_path / str(k)).predict_proba(X), smaller.predict_proba(X))


def test_every_parameter_that_is_a_table(tmp_path):
    X, y, _ = problem()
    models = [
        HierarchicalSVC(TREE, attributes=np.eye(5) + 0.1, random_state=0),
        HierarchicalSVC(TREE, attributes=sparse.csc_matrix(np.eye(5)), random_state=0),
        HierarchicalSVC(TREE, node_weight={"a": 2.0}, C=float("inf"), tol=np.float32(0.1)),
        model_of("CoupledBinarySVC", positive_weight={"a1": 3}, dtype=np.float64),
        model_of("LidstoneNB", priors=dict.fromkeys(TREE.leaves, 0.2)),
        model_of("HierarchicalMixture", inverse_temperature=(0.9, 0.8), max_iter=2),
        model_of("HierarchicalMixture", inverse_temperature="held_out", weight_updates="full"),
        model_of("HierarchicalMixture", background="pooled", held_out="word"),
        model_of("HierarchicalShrinkage", take_out="class", background="pooled"),
    ]
    for k, model in enumerate(models):
        if getattr(model, "C", 1.0) == float("inf"):
            model.fit(np.eye(30, 40), y)
            items = np.eye(30, 40)
        else:
            items, model = X, model.fit(X, y)
        save(model, tmp_path / str(k))
        copy = load(tmp_path / str(k))
        same_answers(model, copy, items)
        assert not same(copy.get_params(), model.get_params())


def test_thresholds_of_counted_f1_and_pooled_words(tmp_path):
    X, _, Y = problem()
    rule = CategoryThresholds(counted=True)
    for name in ("HierarchicalMixture", "HierarchicalShrinkage", "LidstoneNB"):
        model = model_of(name, background="pooled", decision=rule, min_labels=0).fit(X, Y)
        copy = copy_of(model, tmp_path / name)
        same_answers(model, copy, X)
        assert copy.decision == rule
        np.testing.assert_array_equal(copy.scorer_.general, model.scorer_.general)


def test_learning_goes_on_after_loading(tmp_path):
    X, y, _ = problem()
    for name in ("HierarchicalPerceptron", "LidstoneNB"):
        options = {"average": True} if name == "HierarchicalPerceptron" else {"alpha": 0.5}
        model = model_of(name, **options).partial_fit(X[:20], y[:20])
        save(model, tmp_path / name)
        copy = load(tmp_path / name)
        same_answers(model.partial_fit(X[20:], y[20:]), copy.partial_fit(X[20:], y[20:]), X)


def test_what_is_not_fitted_can_be_saved(tmp_path):
    copy = copy_of(HierarchicalSVC(TREE, C=3.0), tmp_path)
    assert copy.C == 3.0
    assert copy.taxonomy == TREE
    assert not hasattr(copy, "classes_")


@pytest.mark.parametrize("taxonomy", [TREE, DAG, Taxonomy.flat("abc"), Taxonomy(nodes=["only"])])
def test_a_taxonomy_alone(taxonomy, tmp_path):
    copy = copy_of(taxonomy.with_terminals([taxonomy.root]), tmp_path)
    assert not same(copy, taxonomy.with_terminals([taxonomy.root]))
    with pytest.raises(ValueError, match="read-only"):
        copy.parent_indices[...] = 0


def test_saving_what_was_loaded_gives_the_same_parts(tmp_path):
    X, _, y = problem()
    model = model_of("NodeSVC").fit(X, y)
    copies = [model]
    for k in range(3):
        save(copies[-1], tmp_path / str(k))
        copies.append(load(tmp_path / str(k)))
    for one, two in pairwise(describe(tmp_path / str(k))["parts"] for k in range(3)):
        assert one == two


@pytest.mark.parametrize("name", ["HierarchicalRLS", "HierarchicalMixture", "HierarchicalSVC"])
def test_what_is_kept_to_save_time_is_not_written(name, tmp_path):
    X, y, _ = problem()
    model = model_of(name).fit(X, y)
    save(model, tmp_path / "before")
    model.predict_paths(X)
    model.decision_function(X)
    save(model, tmp_path / "after")
    assert describe(tmp_path / "before")["parts"] == describe(tmp_path / "after")["parts"]


def test_a_large_model_has_arrays_in_files_of_their_own(tmp_path):
    texts = [f"word{k} word{k + 1} w{k % 7}" for k in range(3000)]
    labels = [TREE.leaves[k % 5] for k in range(3000)]
    pipeline = make_pipeline(TfidfVectorizer(), HierarchicalSVC(TREE, dtype="float64", tol=0.5))
    pipeline.fit(np.repeat(texts, 10), np.repeat(labels, 10))
    weights = np.tile(pipeline[-1].scorer_.W, (8, 1))
    pipeline[-1].scorer_ = replace(pipeline[-1].scorer_, W=weights)
    save(pipeline, tmp_path / "model")
    about = describe(tmp_path / "model")
    assert about["vocabulary"] == len(pipeline[0].vocabulary_)
    inside = next((tmp_path / "model").glob("parts-*"))
    (file,) = inside.glob("*scorer_.W.npy")
    assert (np.load(file) == weights).all()
    (entry,) = (part for part in about["parts"] if part["name"] == file.name)
    assert entry["shape"] == list(weights.shape)
    assert entry["dtype"] == "<f8"
    assert entry["bytes"] == file.stat().st_size
    copy = load(tmp_path / "model")
    assert isinstance(copy[-1].scorer_.W.base, np.memmap)
    assert not isinstance(load(tmp_path / "model", mmap=False)[-1].scorer_.W.base, np.memmap)
    assert copy[0].vocabulary_ == pipeline[0].vocabulary_
    copy[-1].scorer_.W[:] = 0
    assert (np.load(file) == weights).all()
