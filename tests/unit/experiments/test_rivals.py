import numpy as np
import pytest

from taxonomist.experiments.claims.rivals import AtLeastAsGood, best_of, contestant_of, lead
from taxonomist.experiments.declarations import Result


def result(f1, loss, seed=0, noise=0.0):
    """Return a cell with these averages over 40 items, which vary by chance."""
    rng = np.random.default_rng(seed)
    drawn = noise * rng.normal(size=(2, 40))
    drawn -= drawn.mean(axis=1, keepdims=True)
    items = {"f1": (f1 + drawn[0]).tolist(), "loss": (loss + drawn[1]).tolist()}
    return Result({"f1": [f1], "loss": [loss]}, items)


def results_of(**cells):
    return {name.replace("_", "/"): result(*values) for name, values in cells.items()}


def claim(results, measures, share=0.5):
    rows = {}
    for name in results:
        corpus = name.partition("/")[0]
        others = tuple(n for n in results if n.startswith(f"{corpus}/") and n != f"{corpus}/ours")
        rows[corpus] = (f"{corpus}/ours", others)
    return AtLeastAsGood("", rows, measures, share)


def test_leads_are_positive_where_the_first_is_better():
    results = results_of(a_ours=(0.8, 1.0), a_x=(0.7, 1.5))
    assert lead(results, "a/ours", "a/x", "f1", lower=False).mean == pytest.approx(0.1)
    assert lead(results, "a/ours", "a/x", "loss", lower=True).mean == pytest.approx(0.5)


def test_the_best_other_depends_on_the_measure():
    results = results_of(a_ours=(0.8, 1.0), a_x=(0.7, 1.5), a_y=(0.6, 1.2), a_z=(0.7, 1.3))
    others = ["a/x", "a/y", "a/z"]
    assert best_of(results, "a/ours", others, "f1", lower=False) == "a/z"
    assert best_of(results, "a/ours", others, "loss", lower=True) == "a/y"


def test_rows_count_where_no_other_is_better():
    results = results_of(
        a_ours=(0.8, 1.0),
        a_x=(0.8, 1.0),
        b_ours=(0.8, 1.0),
        b_x=(0.7, 0.9),
        c_ours=(0.8, 1.0),
        c_x=(0.9, 0.8),
        c_y=(0.95, 1.2),
    )
    by_f1 = claim(results, {"f1": False}, share=0.6).judge(results)
    assert by_f1.verdict == "yes"
    assert by_f1.rows == "in 2 of 3 rows"
    assert by_f1.because.endswith("in 2 within the interval; behind in c (y f1 0.15)")
    assert by_f1.p_value is None
    both = claim(results, {"f1": False, "loss": True}, share=0.6).judge(results)
    assert both.verdict == "no"
    assert both.because == (
        "in 1 of 3 rows by value (33%), in 1 within the interval; behind in b (x loss 0.1), "
        "c (y f1 0.15, x loss 0.2)"
    )


def test_differences_within_the_interval_are_noise():
    results = {"a/ours": result(0.8, 1, 1, noise=0.5), "a/x": result(0.81, 1, 2, noise=0.5)}
    made = claim(results, {"f1": False}).judge(results)
    assert made.verdict == "within noise"
    assert made.because.startswith("in 0 of 1 rows by value (0%), in 1 within the interval")


def test_one_significantly_better_rival_is_enough():
    # The noisy one has the larger lead, but only the other one's is certain.
    results = {
        "a/ours": result(0.8, 1),
        "a/noisy": result(0.9, 1, noise=3.0),
        "a/sure": result(0.85, 1),
    }
    made = claim(results, {"f1": False}).judge(results)
    assert made.verdict == "no"
    assert "(noisy f1 0.1)" in made.because


def test_cells_of_a_claim():
    results = results_of(a_ours=(1, 0), a_x=(1, 0), a_y=(1, 0))
    assert claim(results, {"f1": False}).cells == ("a/ours", "a/x", "a/y")


def test_contestants_of_cells():
    assert contestant_of("us-patents, main groups/one-vs-rest") == "one-vs-rest"
    assert contestant_of("enron-ucb/one-vs-rest sets") == "one-vs-rest"
