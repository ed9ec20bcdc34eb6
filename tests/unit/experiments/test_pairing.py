"""Tests use the averages that tables show, and count an item once."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.experiments.claims import Better
from taxonomist.experiments.claims.pairing import paired, shares, together
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.trials import identified, joined_results


def cell(folds, ids=None):
    """Return a cell with the given values of items in each fold."""
    runs = np.repeat(np.arange(len(folds)), [len(fold) for fold in folds]).tolist()
    items = [float(value) for fold in folds for value in fold]
    found = {} if ids is None else {"item_ids": {"m": list(ids)}}
    means = [float(np.mean(fold)) for fold in folds]
    return Result({"m": means}, {"m": items}, item_runs={"m": runs}, **found)


def test_items_are_weighted_as_the_table_weights_their_folds():
    # The table shows the mean over folds, 0.5; three of four items have the value 1.
    found = shares(cell([[1, 1, 1], [0]], "abcd"), "m")
    assert found.mean == pytest.approx(0.5)
    by_item = dict(zip(found.ids, found.values / 4, strict=True))
    assert by_item == pytest.approx({"a": 1 / 6, "b": 1 / 6, "c": 1 / 6, "d": 0})


def test_a_verdict_follows_the_average_of_the_table():
    # Nearly all items are worse, but they are in one of ten folds, and the table says better.
    rng = np.random.default_rng(0)
    folds = [rng.normal(1, 0.5, 4) for _ in range(9)] + [rng.normal(-1, 0.5, 300)]
    zeros = [np.zeros(len(fold)) for fold in folds]
    ids = [f"i{n}" for n in range(sum(map(len, folds)))]
    found = {"a": cell(folds, ids), "b": cell(zeros, ids)}
    assert np.mean(found["a"].items["m"]) < -0.5 < 0 < np.mean(found["a"].values["m"])
    judgement = Better("a > b", (("a", "b"),), "m").judge(found)
    assert judgement.verdict == "yes"
    assert judgement.because.startswith(f"better by {np.mean(found['a'].values['m']):.3g} ")


def test_items_whose_mean_is_not_what_the_table_shows_are_refused():
    result = Result({"m": [0.5, 0.0]}, {"m": [1.0, 1.0, 0.0]})
    with pytest.raises(ValueError, match=r"cell x: .*m is 0.666667, but a table shows 0.25"):
        shares(result, "m", "cell x")


def test_an_item_of_several_draws_counts_once():
    # Twenty items with noisy gains, drawn fifty times each with the same outcome.
    rng = np.random.default_rng(1)
    gain, ids = rng.normal(0.2, 1, 20), [f"i{n}" for n in range(20)]
    once = {"a": cell([gain], ids), "b": cell([0 * gain], ids)}
    often = {name: joined_results([result] * 50) for name, result in once.items()}
    claim = Better("a > b", (("a", "b"),), "m")
    assert len(often["a"].items["m"]) == 1000
    assert claim.judge(often) == claim.judge(once)
    unknown = {name: Result(result.values, result.items) for name, result in often.items()}
    assert claim.judge(once).verdict == "within noise"
    assert claim.judge(unknown).verdict == "yes"  # what identities prevent


def test_draws_of_an_item_are_averaged():
    ids = ["x", "y", "y", "z"]
    found = shares(cell([[1, 3], [5, 0]], ids), "m")
    assert found.ids == ("x", "y", "z")
    np.testing.assert_allclose(found.values / 3, [1 / 4, (3 + 5) / 4, 0])


def test_rows_have_the_same_weight_whatever_their_size():
    found = {
        "a": cell([[1.0] * 2], ["p", "q"]),
        "b": cell([[0.0] * 2], ["p", "q"]),
        "c": cell([[0.0] * 98], map(str, range(98))),
        "d": cell([[0.5] * 98], map(str, range(98))),
    }
    parts = [paired(found, *pair, "m") for pair in (("a", "b"), ("c", "d"))]
    assert together(parts).mean == pytest.approx(0.25)
    assert together(parts).values.size == 100
    # Items that both rows have are added up.
    same = [paired(found, "a", "b", "m"), paired(found, "b", "a", "m")]
    assert together(same).values.tolist() == [0.0, 0.0]


def test_different_items_cannot_be_paired():
    found = {"a": cell([[1, 2]], "xy"), "b": cell([[1, 2]], "xz"), "c": cell([[1, 2, 3]])}
    with pytest.raises(ValueError, match="a and b do not have the same items"):
        paired(found, "a", "b", "m")
    with pytest.raises(ValueError, match="a and c do not have the same items: 2 and 3"):
        paired(found, "a", "c", "m")


def test_rows_without_identities_are_not_tested_together():
    found = {"a": cell([[1, 2]]), "b": cell([[0, 0]])}
    claim = Better("", (("a", "b"),) * 2, "m")
    with pytest.raises(ValueError, match="only if results have item_ids"):
        claim.judge(found)


def test_the_identities_of_test_items():
    plain = Result({}, {"m": [1.0, 2.0, 3.0]})
    found = identified(plain, "abcd", [np.array([3, 1]), np.array([0])])
    assert found.item_ids == {"m": ["d", "b", "a"]}
    assert found.item_runs == {"m": [0, 0, 1]}
    assert identified(plain, None, [np.array([1, 2, 3])]).item_ids == {}


def test_joined_results_keep_folds_apart():
    joined = joined_results([cell([[1, 1, 1], [0]], "abcd"), cell([[4, 2]], "ax")])
    assert joined.item_runs["m"] == [0, 0, 0, 1, 2, 2]
    assert joined.item_ids["m"] == list("abcdax")
    assert shares(joined, "m").mean == pytest.approx((1 + 0 + 3) / 3)
