"""Values by document of the measures that choices go by."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import Taxonomy, TextClassifier
from taxonomist.taxonomy.labels import close, encode_sets, most_specific
from taxonomist.text.measure import MEASURES, in_words
from taxonomist.text.measure_scores import score_of
from taxonomist.text.trial_values import values_by_document

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2", "c"])


def labels(seed, n=60, *, is_sets):
    """Return labels, alone or in sets."""
    rng = np.random.default_rng(seed)
    leaves = np.array(TREE.leaves, dtype=object)
    if not is_sets:
        return rng.choice(leaves, n).tolist()
    return [rng.choice(leaves, rng.integers(1, 4), replace=False).tolist() for _ in range(n)]


def pair(y, *, is_sets):
    """Return the nodes of labels without the root, and the most specific ones."""
    closed = close(TREE, encode_sets(TREE, y if is_sets else [[label] for label in y]))
    return csr_array(closed)[:, 1:], most_specific(TREE, closed)


@pytest.mark.parametrize("is_sets", [False, True])
@pytest.mark.parametrize("measure", list(MEASURES))
def test_the_mean_is_the_measure(measure, is_sets):
    truth, found = (labels(seed, is_sets=is_sets) for seed in (0, 1))
    found[:30] = truth[:30]
    pairs = (pair(y, is_sets=is_sets) for y in (truth, found))
    values = values_by_document(measure, *pairs, is_single=not is_sets)
    assert values.shape == (60,)
    expected = score_of(measure, truth, found, TREE, is_sets)
    if measure == "hierarchical_f1":
        # It is the mean over documents, which all count the same, however many nodes they have.
        each = [
            score_of(measure, [a], [b], TREE, is_sets) for a, b in zip(truth, found, strict=True)
        ]
        expected = np.mean(each)
    assert values.mean() == pytest.approx(expected)
    same = values_by_document(measure, *[pair(truth, is_sets=is_sets)] * 2, is_single=not is_sets)
    assert np.allclose(same, 0.0 if measure == "taxonomy_loss" else 1.0)


@pytest.mark.parametrize("measure", [*MEASURES, lambda model, X, y: model.score(X, y)])
def test_choices_go_by_the_measure(measure, monkeypatch):
    asked = []

    def values(which, *pairs, **options):
        asked.append(which)
        return values_by_document(which, *pairs, **options)

    monkeypatch.setattr("taxonomist.text.held_out_trials.values_by_document", values)
    texts = [f"word{label} more{k % 7}" for k, label in enumerate(labels(0, is_sets=False))]
    y = labels(0, is_sets=False)
    y[::9] = y[1::9] + ["c"] * (len(y[::9]) - len(y[1::9]))
    model = TextClassifier(TREE, measure=measure, vectors="off").fit(texts, y)
    assert set(asked) == {measure if isinstance(measure, str) else "hierarchical_f1"}
    said = model.training_["names"]["said"]
    assert f"{in_words(measure)} of held-out documents" in said


def test_the_weight_of_rarity_goes_by_the_measure():
    y = ["a1"] * 40 + ["b1"] * 40
    texts = ["x"] * 80
    for measure, decision in (("accuracy", "subset"), ("micro_f1", "subset")):
        model = TextClassifier(TREE, measure=measure, vectors="off", features="words")
        assert model.fit(texts, y).model_.decision == decision
