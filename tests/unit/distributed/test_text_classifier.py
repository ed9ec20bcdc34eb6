"""DaskTextClassifier: vocabulary, document frequencies and model of all texts, to the last bit."""

from __future__ import annotations

import dask
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from taxonomist import PathSVC, TextClassifier, datasets
from taxonomist.distributed import DaskTextClassifier
from taxonomist.distributed.engine import LocalEngine
from taxonomist.distributed.text_parts import add_frequencies
from taxonomist.errors import ParameterError
from taxonomist.features import TextFeatures
from tests.unit.distributed.problems import assert_same, cut


@pytest.fixture(scope="module")
def corpus():
    found = datasets.load("arxiv-sample")
    texts, labels = list(found.texts)[:150], [list(item) for item in found.labels][:150]
    return found.taxonomy, texts, [item[0] for item in labels]


ENDS = (0, 60, 60, 100, 150)
WORDS = {"features": "words", "names": "off"}
"""What a cluster does, where nothing is chosen."""


def plain(taxonomy):
    """Return the model of a cluster, which has no typical features."""
    return PathSVC(taxonomy, random_state=0)


def in_parts(model, texts, labels):
    """Fit a model to parts, in this process."""
    blocks = [cut(texts, ENDS), cut(labels, ENDS), cut(None, ENDS)]
    return model._fit_local(LocalEngine(), blocks, model._unfitted())


def assert_same_features(one, other):
    assert one.terms_.tolist() == other.terms_.tolist()
    assert one.vocabulary_ == other.vocabulary_
    np.testing.assert_array_equal(one.idf_, other.idf_)


@pytest.mark.parametrize(
    "options", [{}, {"max_features": 100}, {"words": (1, 2), "min_df": 1}, {"characters": (3, 4)}]
)
def test_same_vocabulary_and_model(corpus, options):
    taxonomy, texts, labels = corpus
    local = TextClassifier(taxonomy, model=plain(taxonomy), **WORDS, **options).fit(texts, labels)
    other = in_parts(DaskTextClassifier(taxonomy, **options), texts, labels)
    assert_same_features(local.features_, other.features_)
    assert_same(local.model_, other.model_)
    np.testing.assert_array_equal(local.seen_, other.seen_)
    assert other.predict_paths(texts) == local.predict_paths(texts)


def test_same_with_label_sets_and_columns(corpus):
    taxonomy, texts, labels = corpus
    items = [{"title": text[:20], "body": text[20:]} for text in texts]
    sets = [[label] if k % 3 else [label, labels[0]] for k, label in enumerate(labels)]
    local = TextClassifier(taxonomy, weights={"title": 2.0}, **WORDS).fit(items, sets)
    other = in_parts(DaskTextClassifier(taxonomy, weights={"title": 2.0}), items, sets)
    assert_same_features(local.features_, other.features_)
    assert_same(local.model_, other.model_)


def test_frequencies_keep_the_order_of_first_appearance():
    features = TextFeatures()
    parts = [features.frequencies(texts, "") for texts in (["bb aa"], ["cc aa aa"], [])]
    assert list(add_frequencies(parts).items()) == [("bb", 1), ("aa", 2), ("cc", 1)]


def test_other_models(corpus):
    taxonomy, texts, labels = corpus
    with pytest.raises(ParameterError, match="model must be 'path'.* Got 'auto'"):
        in_parts(DaskTextClassifier(taxonomy, model="auto"), texts, labels)
    with pytest.raises(ParameterError, match="needs calibration=None"):
        in_parts(DaskTextClassifier(taxonomy, model="svm"), texts, labels)
    found = in_parts(DaskTextClassifier(taxonomy, model="svm", calibration=None), texts, labels)
    assert found.model_.duality_gap_ <= 0.01


def test_on_a_cluster(corpus, client, tmp_path):
    taxonomy, texts, labels = corpus
    local = TextClassifier(taxonomy, model=plain(taxonomy), **WORDS).fit(texts, labels)
    frame = dd.from_pandas(pd.DataFrame({"text": texts, "label": labels}), npartitions=3)
    model = DaskTextClassifier(taxonomy, client=client).fit(frame, "label")
    assert_same_features(local.features_, model.features_)
    assert_same(local.model_, model.to_local().model_)
    bag = db.from_delayed([dask.delayed(list)(part) for part in cut(texts, ENDS)])
    assert model.predict(bag).compute().tolist() == local.predict(texts).tolist()
    assert model.predict_paths(frame["text"]).compute() == local.predict_paths(texts)
    np.testing.assert_array_equal(model.predict_proba(bag).compute(), local.predict_proba(texts))
    assert model.score(frame["text"], frame["label"]) == pytest.approx(local.score(texts, labels))
    model.to_local().save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").predict(texts[:3]).tolist() == (
        local.predict(texts[:3]).tolist()
    )
    with pytest.raises(ParameterError, match="no data frame with such a column"):
        model.fit(bag, "label")
