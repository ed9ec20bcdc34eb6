"""Learning from a few more texts gives what a full fit with the same features gives."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from taxonomist import HierarchicalSVC, PathSVC, TextClassifier
from taxonomist.features import TextFeatures
from taxonomist.text.updating import can_update, update
from tests.unit.server.corpus import TAXONOMY, WORDS, text_of


@pytest.fixture(scope="module")
def corpus():
    rng = random.Random(0)
    labels = [list(WORDS)[i % 6] for i in range(90)]
    return [{"title": label[:1], "text": text_of(label, rng)} for label in labels], labels


@pytest.fixture(scope="module", params=["off", 0.3])
def fitted(corpus, request):
    """Return a classifier of the first 80 texts, with and without names."""
    texts, labels = corpus
    model = PathSVC(TAXONOMY, tol=1e-6, max_iter=10_000, random_state=0)
    options = {"features": "words", "weights": [1, 1], "min_df": 1, "vectors": "off"}
    classifier = TextClassifier(TAXONOMY, model=model, names=request.param, **options)
    return classifier.fit(texts[:80], labels[:80])


def test_an_update_is_a_fit_with_the_same_features(fitted, corpus, monkeypatch):
    texts, labels = corpus
    first, known = update(fitted, texts[:80], labels[:80])
    assert first.features_ is fitted.features_
    # Four texts are new, one was taken back, and two have other labels now.
    order = [83, *range(5, 83), 0, 1, 2, 3]
    items, given = [texts[i] for i in order], [labels[i] for i in order]
    given[10], given[20] = "oak", "elm"
    cold, _ = update(fitted, items, given)
    read, starts = [], []
    counts, learn = TextFeatures.counts, PathSVC.learn

    def noted(features, texts):
        read.append(list(texts))
        return counts(features, read[-1])

    def started(model, training, start=None):
        starts.append(start.alpha.toarray())
        return learn(model, training, start)

    monkeypatch.setattr(TextFeatures, "counts", noted)
    monkeypatch.setattr(PathSVC, "learn", started)
    warm, _ = update(first, items, given, None, known)
    monkeypatch.undo()
    assert read[0] == [items[0], *items[76:79]]
    # What is known starts where it was; the new texts and those with other labels start at 0.
    is_known = np.array([i < 80 for i in order])
    is_known[[10, 20]] = False
    before = known.start.alpha.toarray()
    np.testing.assert_array_equal(starts[0][:83][is_known], before[np.array(order)[is_known]])
    np.testing.assert_array_equal(starts[0][83:], before[80:])
    assert not starts[0][:83][~is_known].any()
    X = fitted.features_.transform(texts)
    scores = [each.model_.decision_function(X) for each in (warm, cold)]
    np.testing.assert_allclose(*scores, atol=2e-3)
    if not warm.name_weight_:
        twin = PathSVC(TAXONOMY, tol=1e-6, max_iter=10_000, random_state=0)
        twin.fit(fitted.features_.transform(items), given)
        np.testing.assert_allclose(scores[0], twin.decision_function(X), atol=2e-3)
    assert warm.has_seen(texts).tolist() == [i in order for i in range(90)]
    assert (warm.training_["items"], warm.training_["added"]) == (83, 4)


def test_when_an_update_is_not_possible(fitted, corpus):
    texts, labels = corpus
    assert can_update(fitted, texts[:84])
    assert not can_update(fitted, texts)  # one text in nine is new
    small = {"features": "words", "weights": [1, 1], "names": "off", "vectors": "off"}
    calibrated = TextClassifier(TAXONOMY, calibration="temperature", **small)
    assert not can_update(calibrated.fit(texts[:30], labels[:30]), texts[:30])


def test_the_traits_of_a_model_allow_updates(corpus, monkeypatch):
    texts, labels = corpus
    options = {"features": "words", "names": "off", "vectors": "off", "calibration": None}
    classifier = TextClassifier(TAXONOMY, model="svm", **options).fit(texts, labels)
    assert not can_update(classifier, texts)
    traits = replace(HierarchicalSVC.traits, starts_by_item=True)
    monkeypatch.setattr(HierarchicalSVC, "traits", traits)
    assert can_update(classifier, texts)
