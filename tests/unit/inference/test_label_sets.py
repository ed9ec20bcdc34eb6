"""Decision rules by name, and what each is good for."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist.inference.label_sets import (
    RULES,
    CategoryThresholds,
    SizePredictor,
    Threshold,
    TopK,
    choose,
    decision_rule,
    label_limits,
)


def test_words_stand_for_rules():
    words = {
        "size": SizePredictor(),
        "threshold": Threshold("micro_f1"),
        "category_thresholds": CategoryThresholds(),
        "top_k": TopK(None),
    }
    assert {word: decision_rule(word) for word in RULES} == words


def test_a_rule_stands_for_itself():
    rule = Threshold("example_f1", value=0.3)
    assert decision_rule(rule) is rule


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ("treshold", "decision is 'treshold'.*Did you mean 'threshold'"),
        ("best", "give 'size', 'threshold', 'category_thresholds', 'top_k' or an instance"),
        (0.5, "decision is 0.5"),
        (None, "decision is None"),
        (Threshold, r"Did you mean Threshold\(\)"),
        (dict, "<class 'dict'>"),
    ],
)
def test_other_words_are_refused(decision, message):
    with pytest.raises(ValueError, match=message):
        decision_rule(decision)


def corpus(seed):
    """Return scores whose scale differs by category, and truth with rare categories."""
    rng = np.random.default_rng(seed)
    share = np.array([0.4, 0.3, 0.1, 0.05, 0.03, 0.02, 0.01, 0.01])
    truth = rng.random((3000, 8)) < share
    truth[np.arange(3000), rng.choice(8, 3000, p=share / share.sum())] = True
    noise = rng.normal(size=truth.shape)
    scale, shift = rng.uniform(0.3, 3, 8), rng.uniform(-2, 2, 8)
    return (2.2 * truth + noise) * scale + shift, truth


def measured(rule, tune, test):
    """Return micro-F1, macro-F1 and subset accuracy of a rule tuned on one corpus."""
    labels = csr_array(tune[1])
    limits = label_limits(labels)
    items = np.array_split(np.arange(len(tune[0])), 5)
    fitted = rule.fit(((part, tune[0][part]) for part in items), labels, limits)
    found, truth = choose(fitted.excess(test[0]), *limits).toarray(), test[1]
    hits, sizes = (found & truth).sum(axis=0), found.sum(axis=0) + truth.sum(axis=0)
    macro = (2 * hits / sizes).mean()
    return 2 * hits.sum() / sizes.sum(), macro, (found == truth).all(axis=1).mean()


def test_each_rule_serves_its_measure():
    scores, truth = corpus(0)
    tune, test = (scores[:1500], truth[:1500]), (scores[1500:], truth[1500:])
    rules = {
        "micro": Threshold(),
        "macro": CategoryThresholds(),
        "subset": Threshold("subset_accuracy"),
        "raw": Threshold(calibrated=False),
        "top": TopK(),
        "sign": Threshold(calibrated=False, value=0.0),
    }
    results = {name: measured(rule, tune, test) for name, rule in rules.items()}
    for place, name in enumerate(("micro", "macro", "subset")):
        best = max(result[place] for result in results.values())
        assert results[name][place] > best - 0.005
        assert results[name][place] > results["raw"][place] + 0.02


@pytest.mark.parametrize("word", RULES)
def test_fitted_rules_can_be_stored(word):
    scores, truth = corpus(1)
    fitted = decision_rule(word).fit([(np.arange(3000), scores)], csr_array(truth))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.excess(scores[:9]), fitted.excess(scores[:9]))


@pytest.mark.parametrize("word", RULES)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (5, 3)])
def test_small_corpora(word, share, shape):
    rng = np.random.default_rng(0)
    truth, scores = rng.random(shape) < share, rng.normal(size=shape)
    labels = csr_array(truth)
    limits = label_limits(labels)
    fitted = decision_rule(word).fit([(np.arange(shape[0]), scores)], labels, limits)
    sizes = choose(fitted.excess(scores), *limits).sum(axis=1)
    assert (sizes >= limits.least).all()
    assert (sizes <= limits.most).all()


@pytest.mark.parametrize("word", RULES)
def test_scores_of_single_precision(word):
    scores, truth = corpus(2)
    single = scores.astype(np.float32)
    blocks = [[(np.arange(3000), s)] for s in (single, single.astype(np.float64))]
    one, other = (decision_rule(word).fit(b, csr_array(truth)).excess(single) for b in blocks)
    np.testing.assert_array_equal(one, other)
