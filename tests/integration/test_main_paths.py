"""The main paths through the package, briefly: what ``make test-lowest`` runs elsewhere."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from taxonomist import (
    CalibratedClassifier,
    CoupledBinarySVC,
    HierarchicalSVC,
    Taxonomy,
    TextClassifier,
    datasets,
    metrics,
    models,
    persistence,
)

CENTRES = {"cat": 0, "dog": 1, "oak": 2, "elm": 3}


@pytest.fixture(scope="module")
def taxonomy():
    return Taxonomy.from_paths(
        ["animal > cat", "animal > dog", "plant > tree > oak", "plant > tree > elm"]
    )


@pytest.fixture(scope="module")
def items():
    """Return counts of words and the category of each item."""
    rng = np.random.default_rng(0)
    y = np.array(list(CENTRES) * 15)
    rates = np.full((4, 4), 0.3) + 4 * np.eye(4)
    return sparse.csr_array(rng.poisson(rates[[CENTRES[label] for label in y]])), y


@pytest.mark.parametrize("kind", models.all_models().values(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("is_single", [True, False], ids=["single", "sets"])
def test_models_learn_answer_and_are_stored(kind, is_single, taxonomy, items, tmp_path):
    X, labels = items
    given = HierarchicalSVC(taxonomy) if kind is CalibratedClassifier else taxonomy
    model = kind(given)
    if not is_single and not model.__sklearn_tags__().classifier_tags.multi_label:
        model = CalibratedClassifier(CoupledBinarySVC(taxonomy))
    y = labels if is_single else [[label] for label in labels.tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    truth = [[label] for label in labels.tolist()]
    deepest = [path if is_single else path[0] for path in model.predict_paths(X) if path]
    right = np.mean([path[-1] == label for path, (label,) in zip(deepest, truth, strict=True)])
    assert right > 0.6
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert again.predict_paths(X) == model.predict_paths(X)


def test_texts(tmp_path):
    corpus = datasets.load("arxiv-sample", labels="primary")
    chosen = [i for i, label in enumerate(corpus.y) if label in ("hep-th", "math.AG", "cs.CV")]
    texts, y = [corpus.texts[i] for i in chosen], [corpus.y[i] for i in chosen]
    model = TextClassifier(corpus.taxonomy, model="svm").fit(texts, y)
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert np.mean(again.predict(texts) == np.array(y, dtype=object)) > 0.8
    assert again.explain(texts[0]).path[-1] in y
    assert again.evaluate(texts, y).measures["accuracy"].estimate > 0.8


def test_labels_of_other_models_are_measured(taxonomy, items):
    X, y = items
    predicted = LinearSVC(random_state=0).fit(X, y).predict(X)
    assert metrics.hierarchical_f1(y, predicted, taxonomy) > 0.7
    assert "accuracy" in metrics.hierarchical_report(y, predicted, taxonomy)


def test_tables_are_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    columns = {"text": ["purrs", "barks", "grows"], "label": ["cat", "dog", "oak"]}
    pandas.DataFrame(columns).to_parquet(tmp_path / "table.parquet")
    pandas.DataFrame(columns).to_csv(tmp_path / "table.csv", index=False)
    for suffix in ("parquet", "csv"):
        corpus = datasets.read(tmp_path / f"table.{suffix}", text="text", labels="label")
        assert list(corpus.texts) == columns["text"], suffix


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_data_frames_are_labels(library, taxonomy, items):
    frames = pytest.importorskip(library)
    X, y = items
    model = HierarchicalSVC(taxonomy, random_state=0).fit(X, frames.Series(y.tolist()))
    assert model.score(X, frames.Series(y.tolist())) > 0.8


@pytest.mark.parametrize("suffix", ["csv", "json", "obo", "ttl"])
def test_taxonomies_are_written_and_read(taxonomy, suffix, tmp_path):
    if suffix == "ttl":
        pytest.importorskip("rdflib")
    taxonomy.write(tmp_path / f"taxonomy.{suffix}")
    again = Taxonomy.read(tmp_path / f"taxonomy.{suffix}")
    assert len(again.leaves) == len(taxonomy.leaves)


def test_results_are_drawn(taxonomy):
    pytest.importorskip("matplotlib").use("agg")
    from taxonomist import plots

    assert plots.tree(taxonomy, {"cat": 0.5, "oak": 1.0}).get_children()
