"""Classifiers from the names of categories, without a document."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.errors import LabelError
from taxonomist.features import onnx_encoder
from taxonomist.text.names import NAME_WEIGHT, name_documents

EDGES = [("ROOT", "A"), ("A", "a1"), ("A", "a2"), ("ROOT", "P"), ("P", "p.oak_tree")]
NAMES = {"A": "Animals", "a1": "Cats", "a2": "Dogs", "P": "Plants"}
TAXONOMY = Taxonomy.from_edges(EDGES, names=NAMES)
TOPICS = {
    "animals": 0,
    "plants": 1,
    **dict.fromkeys(("cats", "kitten", "purrs"), 2),
    **dict.fromkeys(("dogs", "puppy", "barks"), 3),
    **dict.fromkeys(("oak", "acorns", "tree"), 4),
}


def topics(texts):
    """Encode a text by the topics of its words."""
    rows = np.full((len(texts), 5), 0.05)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            if word in TOPICS:
                row[TOPICS[word]] += 1
    return rows


def test_names_and_paths_are_the_documents():
    texts, labels = name_documents(TAXONOMY)
    assert labels == ["a1", "a1", "a2", "a2", "p.oak_tree", "p.oak_tree"]
    assert texts[:4] == ["Cats", "Animals Cats", "Dogs", "Animals Dogs"]
    assert texts[4:] == ["p oak tree", "Plants p oak tree"]


MODEL = TextClassifier(TAXONOMY, vectors=topics).fit([], [])


def test_texts_are_filed_by_what_names_mean():
    texts = ["the kitten purrs", "a puppy barks", "acorns", "Dogs"]
    assert MODEL.predict(texts).tolist() == ["a1", "a2", "p.oak_tree", "a2"]
    assert MODEL.predict_paths(texts[:1]) == [("A", "a1")]
    chances = MODEL.predict_proba(texts)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert MODEL.predict_topk(texts, 2)[0].shape == (4, 2)
    assert MODEL.predict_node_proba(texts).shape == (4, TAXONOMY.n_nodes)
    assert MODEL.predict(["kitten puppy"], depth="confident").tolist() == ["A"]
    assert not MODEL.has_seen(texts).any()
    assert MODEL.evaluate(texts, ["a1", "a2", "p.oak_tree", "a2"]).measures


def test_scores_are_cosines_of_words_and_vectors():
    """The naive twin: cosines with the mean of the two documents of each category."""
    texts, _ = name_documents(TAXONOMY)

    def rows(given):
        vectors = topics(given) / np.linalg.norm(topics(given), axis=1, keepdims=True)
        words = MODEL.features_.transform(given).toarray()
        return np.hstack([words, NAME_WEIGHT * vectors])

    def unit(matrix):
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    asked = ["the kitten purrs", "Dogs and oak"]
    means = unit(rows(texts)).reshape(3, 2, -1).mean(axis=1)
    wanted = unit(rows(asked)) @ unit(means).T
    found = MODEL.model_.decision_function(MODEL._vectors(asked))
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_explanations_sum_to_the_score():
    found = MODEL.explain("Dogs and oak", category="a2")
    score = MODEL.model_.decision_function(MODEL._vectors(["Dogs and oak"]))[0, 1]
    assert found.score == pytest.approx(score)
    assert sum(value for _, _, value, _ in found.levels) == pytest.approx(score)


def test_it_is_saved_and_loaded(tmp_path):
    MODEL.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model", encoder=topics)
    texts = ["the kitten purrs", "a puppy barks"]
    assert np.array_equal(again.predict_proba(texts), MODEL.predict_proba(texts))


def test_texts_without_labels_are_not_forgotten():
    with pytest.raises(LabelError, match="Got 1 texts without labels"):
        TextClassifier(TAXONOMY, vectors=topics).fit(["a text"], [])


def test_without_vectors_or_taxonomy_there_is_nothing_to_learn(monkeypatch):
    monkeypatch.setattr(onnx_encoder, "is_installed", lambda: False)
    for model in (
        TextClassifier(TAXONOMY, vectors="off"),
        TextClassifier(TAXONOMY),
        TextClassifier(vectors=topics),
    ):
        with pytest.raises(LabelError, match=r"no items to learn from.*taxonomist\[vectors\]"):
            model.fit([], [])


@pytest.mark.usefixtures("need_minilm")
def test_the_built_in_encoder_knows_what_names_mean():
    model = TextClassifier(TAXONOMY).fit([], [])
    texts = ["my kitten meows", "the terrier fetched a stick", "it has leaves and acorns"]
    assert model.predict(texts).tolist() == ["a1", "a2", "p.oak_tree"]
    found = model.explain(texts[0])
    assert "kitten" in {word for level in found.meaning for word in level}
