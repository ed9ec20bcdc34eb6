"""Rules with thresholds: against trying every threshold."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import expit, logit

from taxonomist.errors import LabelError
from taxonomist.inference import calibration, held_out
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.label_sets import (
    CategoryThresholds,
    Limits,
    Threshold,
    TopK,
    choose,
    label_limits,
)
from taxonomist.inference.tuning import MEASURES, best_expected_f1


def quality(measure, truth, found):
    """Return a measure of two tables of truth values, by its definition."""
    hits, sizes, chosen = ((t).sum(axis=1) for t in (truth & found, truth, found))
    if measure == "micro_f1":
        total = sizes.sum() + chosen.sum()
        return 2 * hits.sum() / total if total else 0.0
    if measure == "subset_accuracy":
        return (truth == found).all(axis=1).mean()
    return np.mean(
        [2 * h / (s + c) if s + c else 1 for h, s, c in zip(hits, sizes, chosen, strict=True)]
    )


def best_by_trying(measure, scores, truth, limits):
    """Return the best quality that one threshold can have, by trying all."""
    found = np.unique(scores)
    tried = [found[0] - 1, *((found[1:] + found[:-1]) / 2), found[-1] + 1]
    return max(quality(measure, truth, choose(scores - t, *limits).toarray()) for t in tried)


@st.composite
def cases(draw):
    """Draw scores with many equal ones, truth, and limits."""
    n_items, n_categories = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    truth = rng.random((n_items, n_categories)) < draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    scores = np.round(rng.normal(size=truth.shape) + truth, draw(st.integers(0, 2)))
    least = draw(st.integers(0, n_categories))
    limits = Limits(least, draw(st.integers(max(least, 1), n_categories)))
    return scores, truth, draw(st.sampled_from([limits, label_limits(csr_array(truth))]))


def one_block(scores):
    return [(np.arange(len(scores)), scores)]


@given(cases(), st.sampled_from(MEASURES))
def test_no_threshold_is_better(case, measure):
    scores, truth, limits = case
    rule = Threshold(measure, calibrated=False).fit(one_block(scores), csr_array(truth), limits)
    found = choose(rule.excess(scores), *limits).toarray()
    best = best_by_trying(measure, scores, truth, limits)
    assert quality(measure, truth, found) == pytest.approx(best, abs=1e-12)


@given(cases(), st.sampled_from(MEASURES))
def test_no_threshold_on_probabilities_is_better(case, measure):
    scores, truth, limits = case
    rule = Threshold(measure).fit(one_block(scores), csr_array(truth), limits)
    log_odds = rule.calibration.log_odds(scores)
    # Values that differ by rounding only may change places when a threshold is subtracted.
    assume((np.diff(np.unique(log_odds)) > 1e-9).all())
    found = choose(log_odds - rule.thresholds, *limits).toarray()
    np.testing.assert_array_equal(found, choose(rule.excess(scores), *limits).toarray())
    best = best_by_trying(measure, log_odds, truth, limits)
    assert quality(measure, truth, found) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_threshold_stays_exact_where_not_all_is_kept(measure, monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.random((50, 20)) < 0.1
    scores = rng.normal(size=truth.shape) + 1.5 * truth
    limits = label_limits(csr_array(truth))
    expected = Threshold(measure, calibrated=False).fit(one_block(scores), csr_array(truth))
    for name, value in (("SAMPLED_PAIRS", 20), ("LISTED_PER_ITEM", 1), ("MIN_LISTED", 1)):
        monkeypatch.setattr(held_out, name, value)
    evidence = EvidenceReader.of(one_block(scores), csr_array(truth), limits).evidence()
    assert len(evidence.items) < scores.size / 1.5
    rule = Threshold(measure, calibrated=False).fit(one_block(scores), csr_array(truth))
    found, best = (choose(r.excess(scores), *limits).toarray() for r in (rule, expected))
    assert quality(measure, truth, found) == pytest.approx(quality(measure, truth, best))


def test_threshold_lies_halfway():
    scores, truth = np.array([[4.0], [3.0], [1.0], [0.0]]), np.array([[1], [1], [0], [0]]) > 0
    for measure in MEASURES:
        rule = Threshold(measure, calibrated=False).fit(one_block(scores), csr_array(truth))
        assert rule.thresholds.tolist() == [2.0]


def test_threshold_between_neighbouring_floats():
    high = np.nextafter(1.0, 2.0)
    scores, truth = np.array([[high], [1.0]]), np.array([[True], [False]])
    rule = Threshold(calibrated=False).fit(one_block(scores), csr_array(truth))
    assert choose(rule.excess(scores), 0, 1).toarray().tolist() == truth.tolist()


def test_limits_are_part_of_the_tuning():
    # Without limits the second item's single category needs a threshold below 0.
    scores = np.array([[3.0, 2.0, -5.0], [-1.0, -3.0, -4.0], [5.0, 0.0, -0.5]])
    truth = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]]) > 0
    rules = [
        Threshold("subset_accuracy", calibrated=False).fit(one_block(scores), csr_array(truth), m)
        for m in ((0, 3), (1, 3))
    ]
    assert rules[0].thresholds[0] < 2 > rules[1].thresholds[0] > 0
    assert (choose(rules[1].excess(scores), 1, 3).toarray() == truth).all()
    by_default = Threshold("subset_accuracy", calibrated=False).fit(
        one_block(scores), csr_array(truth)
    )
    assert by_default.thresholds[0] == rules[1].thresholds[0]


def test_what_the_upper_limit_cuts_off_does_not_count():
    # The first item's second category would pay for the second item's wrong one, if it could.
    scores, truth = np.array([[3.0, 1.0], [2.0, 0.0]]), np.array([[1, 1], [0, 0]]) > 0
    rule = Threshold(calibrated=False).fit(one_block(scores), csr_array(truth), (0, 1))
    assert rule.thresholds[0] == 2.5
    rule = Threshold(calibrated=False).fit(one_block(scores), csr_array(truth), (0, 2))
    assert rule.thresholds[0] == 0.5


def test_equal_scores_leave_all_or_nothing():
    scores = np.zeros((4, 3))
    for truth, expected in ((np.ones((4, 3)), True), (np.zeros((4, 3)), False)):
        for rule in (Threshold(calibrated=False), Threshold(), CategoryThresholds()):
            fitted = rule.fit(one_block(scores), csr_array(truth > 0))
            limits = label_limits(csr_array(truth > 0))
            assert (choose(fitted.excess(scores), *limits).toarray() == expected).all()


def test_a_given_score_needs_no_blocks():
    def explode():
        raise AssertionError
        yield

    labels = csr_array(np.ones((2, 3), dtype=bool))
    rule = Threshold(calibrated=False, value=0.25).fit(explode(), labels)
    np.testing.assert_allclose(rule.excess(np.full((1, 3), 1.0)), 0.75)
    assert TopK(2).fit(explode(), labels) == TopK(2)
    assert TopK().fit(explode(), labels) == TopK(3)


def test_a_given_probability():
    rng = np.random.default_rng(0)
    truth = rng.random((200, 2)) < 0.4
    scores = rng.normal(size=truth.shape) + 2 * truth
    rule = Threshold(value=0.8).fit(one_block(scores), csr_array(truth))
    p = expit(rule.calibration.log_odds(scores))
    np.testing.assert_array_equal(rule.excess(scores) > 0, p > 0.8)
    # The calibration means what it says.
    assert truth[p > 0.8].mean() == pytest.approx(p[p > 0.8].mean(), abs=0.06)


@pytest.mark.parametrize("seed", range(6))
def test_expected_f1_is_the_best_over_all_cuts(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((30, 4)) < [0.5, 0.2, 0.1, 0.0]
    scores = np.round(rng.normal(size=truth.shape) + truth, 1)
    rule = CategoryThresholds(least_f1=1e-9).fit(one_block(scores), csr_array(truth))
    p = expit(rule.calibration.log_odds(scores))
    for c in range(4):
        by_cut = []
        for t in [-1, *p[:, c]]:
            above = p[:, c] > t
            by_cut.append(2 * p[above, c].sum() / (above.sum() + p[:, c].sum()))
        assert expit(rule.thresholds[c]) == pytest.approx(max(by_cut) / 2)
        above = p[:, c] > expit(rule.thresholds[c])
        promised = 2 * p[above, c].sum() / (above.sum() + p[:, c].sum())
        assert promised == pytest.approx(max(by_cut))


def test_expected_f1_counts_weights():
    rng = np.random.default_rng(0)
    truth = rng.random((20, 2)) < 0.4
    scores = rng.normal(size=truth.shape)
    labels = csr_array(truth)
    once = EvidenceReader.of(one_block(scores), labels, Limits(0, 2)).evidence()
    twice = EvidenceReader.of(
        one_block(np.tile(scores, (2, 1))), csr_array(np.tile(truth, (2, 1))), Limits(0, 2)
    ).evidence()
    weighted = once._replace(weights=np.full(len(once.items), 2.0))
    np.testing.assert_allclose(
        best_expected_f1(weighted.scores, weighted), best_expected_f1(twice.scores, twice)
    )


def test_hopeless_categories_are_not_given_to_all(monkeypatch):
    monkeypatch.setattr(calibration, "TYPICAL_ITEMS", 1e-9)
    rng = np.random.default_rng(0)
    truth = np.zeros((500, 2), dtype=bool)
    truth[:250, 0] = truth[::100, 1] = True
    scores = rng.normal(size=truth.shape) + [[3.0, 0.0]] * truth
    fitted = CategoryThresholds().fit(one_block(scores), csr_array(truth))
    assert fitted.thresholds[1] == pytest.approx(logit(0.05))
    assert choose(fitted.excess(scores), 0, 2).toarray()[:, 1].mean() < 0.5
    looser = CategoryThresholds(least_f1=1e-6).fit(one_block(scores), csr_array(truth))
    assert looser.thresholds[1] < fitted.thresholds[1]
    assert looser.thresholds[0] == fitted.thresholds[0]


@pytest.mark.parametrize("rule", [Threshold(), CategoryThresholds(), Threshold(calibrated=False)])
def test_blocks_do_not_matter(rule):
    rng = np.random.default_rng(1)
    truth = rng.random((60, 5)) < 0.3
    scores = rng.normal(size=truth.shape) + truth
    labels = csr_array(truth)
    one = rule.fit(one_block(scores), labels)
    parts = np.array_split(rng.permutation(60), 9)
    other = rule.fit(((items, scores[items].astype(np.float64)) for items in parts), labels)
    np.testing.assert_array_equal(one.excess(scores), other.excess(scores))
    for i in range(60):
        np.testing.assert_array_equal(one.excess(scores[[i]])[0], one.excess(scores)[i])


tables = st.integers(0, 10_000).map(
    lambda seed: np.round(np.random.default_rng(seed).normal(size=(4, 5)), 0)
)


@given(tables, st.integers(1, 5))
def test_the_k_best(scores, k):
    excess = TopK(k).excess(scores)
    for row, found in zip(scores, excess, strict=True):
        best = np.argsort(-row, kind="stable")
        assert set(np.flatnonzero(found > 0)) == set(best[:k])
        # The order stays, so that limits cut where the scores say.
        np.testing.assert_array_equal(np.argsort(-found, kind="stable"), best)


def test_k_is_the_mean_number_of_labels():
    labels = csr_array(np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 0]], dtype=bool))
    assert TopK().fit([], labels).k == 2
    assert TopK().fit([], csr_array((3, 3), dtype=bool)).k == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TopK(0), "k is 0; give at least 1"),
        (lambda: TopK(4).fit([], csr_array((2, 3), dtype=bool)), "k is 4.*only 3 categories"),
        (lambda: TopK().excess([[0.0]]), "does not know its k"),
        (lambda: Threshold("micro-f1"), "measure is 'micro-f1'.*Did you mean 'micro_f1'"),
        (lambda: Threshold(value=0.0), "value is 0.0.*probability between 0 and 1"),
        (lambda: Threshold(value=np.nan, calibrated=False), "value is nan.*a finite score"),
        (lambda: CategoryThresholds(least_f1=0.0), "least_f1 is 0.0"),
        (lambda: CategoryThresholds(least_f1=1.5), "least_f1 is 1.5"),
        (lambda: CategoryThresholds(least_score=0.0), "give a finite score with counted=True"),
        (lambda: CategoryThresholds(counted=True, least_score=np.nan), "least_score is nan"),
    ],
)
def test_parameters_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("rule", [Threshold(), CategoryThresholds(), TopK(1)])
def test_scores_that_are_refused(rule):
    scores = np.arange(6.0).reshape(3, 2)
    fitted = rule.fit(one_block(scores), csr_array(scores > 2))
    for bad in (np.nan, np.inf):
        with pytest.raises(LabelError, match=f"category 1 for item 0 is {bad}"):
            fitted.excess([[0.0, bad]])
