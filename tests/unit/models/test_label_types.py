"""Labels come out in the type in which they went in, from every model and through files."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import (
    BlendedClassifier,
    CalibratedClassifier,
    CoupledBinarySVC,
    HierarchicalMixture,
    HierarchicalSVC,
    Taxonomy,
    TextClassifier,
    evaluation,
    metrics,
    models,
    persistence,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CODES = np.array([111, 112, 221, 222])
EDGES = [("11", "111"), ("11", "112"), ("22", "221"), ("22", "222"), ("22", "223")]
TAXONOMY = Taxonomy.from_edges(EDGES)
KINDS = list(models.all_models().values())
SET_KINDS = [
    kind
    for kind in KINDS
    if kind is not CalibratedClassifier and kind().__sklearn_tags__().classifier_tags.multi_label
]


@pytest.fixture(scope="module")
def items():
    """Return counts of words and the number of each item's category."""
    numbers = np.arange(40) % 4
    rates = 0.2 + 5 * np.eye(4)[numbers]
    return np.random.default_rng(0).poisson(rates).astype(float), numbers


def made(kind, taxonomy):
    given = HierarchicalSVC(taxonomy) if kind is CalibratedClassifier else taxonomy
    return kind(given)


def types_of(nested):
    """Return the types of the labels in nested lists and arrays."""
    if isinstance(nested, np.ndarray):
        nested = nested.tolist()
    if isinstance(nested, (list, tuple)):
        return {kind for part in nested for kind in types_of(part)}
    return {type(nested)}


def everything(model, X):
    """Return the labels of all answers."""
    found = {
        "classes_": model.classes_,
        "predict_labels": model.predict_labels(X),
        "predict_paths": model.predict_paths(X),
        "predict_topk": model.predict_topk(X, 2)[0],
    }
    if model.targets_.is_single:
        found["predict"] = model.predict(X)
    if hasattr(model, "explain"):
        found["explain"] = [model.explain(X[:1]).category]
    if isinstance(model, CalibratedClassifier):
        found["confident"] = model.predict_labels(X, depth="confident", risk=0.3)
        found["confident paths"] = model.predict_paths(X, depth="confident", risk=0.3)
    return found


def assert_types(answers, kind):
    """Check that the labels of all answers have one type."""
    assert {name for name, labels in answers.items() if types_of(labels) != {kind}} == set()


def texts_of(nested):
    """Return nested labels as strings."""
    if isinstance(nested, np.ndarray):
        nested = nested.tolist()
    if isinstance(nested, (list, tuple)):
        return [texts_of(part) for part in nested]
    return str(nested)


@pytest.mark.parametrize("taxonomy", [TAXONOMY, None], ids=["taxonomy", "flat"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_integers_stay_integers(kind, taxonomy, items, tmp_path):
    X, numbers = items
    y = CODES[numbers]
    model = made(kind, taxonomy).fit(X, y)
    found = everything(model, X)
    assert_types(found, int)
    assert model.classes_.dtype.kind == model.predict(X).dtype.kind == "i"
    assert model.score(X, y) == np.mean(model.predict(X) == y) > 0.6
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert [types_of(labels) for labels in everything(again, X).values()] == [{int}] * len(found)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_strings_stay_strings_and_mean_the_same(kind, items):
    X, numbers = items
    integers = made(kind, TAXONOMY).set_params(**seed(kind)).fit(X, CODES[numbers])
    strings = made(kind, TAXONOMY).set_params(**seed(kind)).fit(X, CODES[numbers].astype(str))
    found = everything(strings, X)
    assert_types(found, str)
    assert strings.classes_.dtype == object
    for name, labels in everything(integers, X).items():
        assert texts_of(labels) == texts_of(found[name]), name


def seed(kind):
    """Return the parameters that make two fits equal."""
    names = {"random_state": 0, "model__random_state": 0}
    known = made(kind, None).get_params()
    return {name: value for name, value in names.items() if name in known}


@pytest.mark.parametrize("taxonomy", [TAXONOMY, None], ids=["taxonomy", "flat"])
@pytest.mark.parametrize("kind", SET_KINDS, ids=lambda kind: kind.__name__)
def test_integers_in_sets_stay_integers(kind, taxonomy, items, tmp_path):
    X, numbers = items
    y = [[label] for label in CODES[numbers].tolist()]
    y[0] = [111, 112]
    model = kind(taxonomy).fit(X, y)
    found = everything(model, X)
    assert_types(found, int)
    assert 0 <= model.score(X, y) <= 1
    persistence.save(model, tmp_path / "model")
    again = everything(persistence.load(tmp_path / "model"), X)
    assert texts_of(again["predict_paths"]) == texts_of(found["predict_paths"])
    assert_types(again, int)


def test_calibrated_sets_of_integers(items):
    X, numbers = items
    y = [[label] for label in CODES[numbers].tolist()]
    model = CalibratedClassifier(CoupledBinarySVC(TAXONOMY, random_state=0)).fit(X, y)
    found = everything(model, X)
    assert_types(found, int)


def test_ids_that_are_no_integers_stay_strings(items):
    """One rule for every id: those that are written like an integer are integers."""
    X, numbers = items
    named = Taxonomy.from_edges(
        [("A", "111"), ("A", "112"), ("B", "221"), ("B", "222"), ("B", "07")]
    )
    model = HierarchicalSVC(named, random_state=0).fit(X, CODES[numbers])
    assert model.classes_.tolist() == [111, 112, 221, 222, "07"]
    assert model.predict_paths(X)[0] == ("A", 111)
    assert model.score(X, CODES[numbers]) > 0.8


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_integers(library, items):
    X, numbers = items
    module = pytest.importorskip(library)
    make = module.array if library == "pyarrow" else module.Series
    model = HierarchicalSVC(TAXONOMY, random_state=0).fit(X, make(CODES[numbers].tolist()))
    assert types_of(model.predict(X)) == {int}


def test_integer_columns_of_an_indicator(items):
    pandas = pytest.importorskip("pandas")
    X, numbers = items
    y = pandas.DataFrame(np.eye(4, dtype=int)[numbers], columns=CODES.tolist())
    model = CoupledBinarySVC(TAXONOMY, random_state=0).fit(X, y)
    assert types_of(model.predict_labels(X)) == {int}
    assert model.classes_.tolist() == [111, 112, 221, 222, 223]


def test_integers_beyond_64_bits(items):
    X, numbers = items
    y = [10**30 + n for n in numbers.tolist()]
    model = HierarchicalSVC(Taxonomy.flat(sorted(set(y))), random_state=0).fit(X, y)
    assert set(model.predict(X).tolist()) == set(y)


def test_labels_are_named_by_integer_or_id(items):
    X, numbers = items
    y = CODES[numbers]
    model = HierarchicalSVC(TAXONOMY, random_state=0).fit(X, y)
    assert model.explain(X[0], category=111) == model.explain(X[0], category="111")
    ids = [111, 112, 221, 222, 223]
    found = [
        HierarchicalMixture(TAXONOMY, priors=dict.fromkeys(keys, 1.0)).fit(X, y).predict_proba(X)
        for keys in (ids, map(str, ids))
    ]
    assert np.array_equal(*found)
    found = [
        CoupledBinarySVC(TAXONOMY, positive_weight={key: 3.0}, random_state=0)
        .fit(X, y)
        .decision_function(X)
        for key in (111, "111")
    ]
    assert np.array_equal(*found)


def test_partial_fit_keeps_integers(items):
    X, numbers = items
    y = CODES[numbers]
    model = models.HierarchicalPerceptron(TAXONOMY).partial_fit(X[:20], y[:20])
    model.partial_fit(X[20:], y[20:])
    assert types_of(model.predict(X)) == {int}


def test_score_takes_every_way_to_name_a_label(items):
    X, numbers = items
    y = CODES[numbers]
    model = HierarchicalSVC(TAXONOMY, random_state=0).fit(X, y)
    paths = [f"{label // 10} > {label}" for label in y.tolist()]
    assert model.score(X, y) == model.score(X, y.astype(str)) == model.score(X, paths) > 0.8


def test_blends_and_cross_validation(items):
    from sklearn.model_selection import cross_val_score

    X, numbers = items
    y = CODES[numbers]
    for scoring in (None, "accuracy", "f1_macro", metrics.scorer("neg_taxonomy_loss")):
        found = cross_val_score(HierarchicalSVC(TAXONOMY), X, y, cv=3, scoring=scoring)
        assert np.isfinite(found).all(), scoring
    assert BlendedClassifier(TAXONOMY).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("is_single", [True, False], ids=["single", "sets"])
def test_evaluation_of_integers_is_that_of_strings(items, is_single):
    X, numbers = items
    y = CODES[numbers]
    found = []
    for labels in (y.tolist(), y.astype(str).tolist()):
        given = labels if is_single else [[label] for label in labels]
        model = CoupledBinarySVC(TAXONOMY, random_state=0)
        measures = ["accuracy", "hierarchical_f1"] if is_single else ["hierarchical_f1"]
        plan = evaluation.Plan(measures=measures, cv=3, taxonomy=TAXONOMY)
        found.append(evaluation.cross_validate(model, X, given, plan).mean)
    first, second = found
    assert first == second


@pytest.mark.parametrize("taxonomy", [TAXONOMY, None], ids=["taxonomy", "flat"])
@pytest.mark.parametrize("model", ["auto", "svm"])
def test_texts_with_integers(taxonomy, model, tmp_path):
    words = {
        111: "purrs and sleeps",
        112: "barks and runs",
        221: "has leaves",
        222: "grows needles",
    }
    y = list(words) * 6
    texts = [words[label] for label in y]
    classifier = TextClassifier(taxonomy, model=model).fit(texts, y)
    classifier.save(tmp_path / "model")
    for one in (classifier, TextClassifier.load(tmp_path / "model")):
        assert one.predict(texts).tolist() == y
        for found in (
            one.classes_,
            one.predict_labels(texts),
            one.predict_paths(texts),
            one.predict_topk(texts, 2)[0],
            one.predict(texts, depth="confident"),
            one.explain(texts[0]).path,
            one.explain(texts[0]).category,
        ):
            assert types_of(found) == {int}
        assert "111" in str(one.explain(texts[0]))
        assert "111" in one.explain(texts[0]).to_html()
        assert one.evaluate(texts, y).measures["accuracy"].estimate == 1.0
    sets = TextClassifier(taxonomy, model="svm").fit(
        texts, [*[[label] for label in y[:-1]], [111, 222]]
    )
    assert types_of(sets.predict_labels(texts)) == {int}
