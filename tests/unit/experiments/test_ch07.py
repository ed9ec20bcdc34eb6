"""What CH07 adds: problems without copies, the claim of a larger gain, and timed fits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import HierarchicalPerceptron, Taxonomy
from taxonomist.experiments import drawings
from taxonomist.experiments.ch07 import PARAMETERS, fit_times, paper
from taxonomist.experiments.claims import LargerGain
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.models import ranking_model
from taxonomist.experiments.work.patent_words import with_unit_length
from taxonomist.experiments.work.problems import (
    distinct_folds,
    distinct_samples,
    first_copies,
    without_copies,
)
from taxonomist.experiments.work.trials import SplitData

ANIMALS = Taxonomy.from_paths(["pet > cat", "pet > dog", "wild > wolf"])
ROWS = np.array([[1, 0, 2], [0, 1, 0], [1, 0, 2], [1, 0, 1], [0, 1, 0], [0, 0, 3], [2, 2, 0]])
LABELS = [["cat"], ["dog"], ["dog"], ["cat", "dog"], ["wolf"], ["wolf"], ["dog", "wolf"]]


def animals() -> SplitData:
    """Seven items of which the third and the fifth are copies with other labels."""
    splits = [(np.array([0, 1, 2, 3, 4]), np.array([5, 6])), (np.array([4, 5, 6]), np.arange(4))]
    return SplitData(csr_array(ROWS.astype(float)), LABELS, ANIMALS, splits)


def test_first_copies_knows_rows_by_their_values_in_any_stored_form() -> None:
    assert first_copies(csr_array(ROWS)).tolist() == [0, 1, 3, 5, 6]
    # The same row twice: once with its columns in reverse and one of them in two parts.
    twice = csr_array(([2.0, 1.0, 0.5, 2.0, 0.5], [2, 0, 0, 2, 0], [0, 2, 5]), shape=(2, 3))
    assert first_copies(twice).tolist() == [0]
    assert twice.indices.tolist() == [2, 0, 0, 2, 0]
    # The same values in other columns, and the same columns with other values, are no copies.
    assert first_copies(csr_array([[1, 0], [0, 1], [0, 2], [0, 0], [0, 0]])).tolist() == [
        0,
        1,
        2,
        3,
    ]


def test_without_copies_leaves_them_out_of_training_only() -> None:
    found = without_copies(animals)
    assert [train.tolist() for train, _ in found.splits] == [[0, 1, 3], [5, 6]]
    assert [test.tolist() for _, test in found.splits] == [[5, 6], [0, 1, 2, 3]]
    assert found.y is LABELS
    assert found.X.shape == ROWS.shape


def test_distinct_folds_test_each_first_copy_once() -> None:
    found = distinct_folds(animals, 2)
    assert found.X.toarray().tolist() == ROWS[[0, 1, 3, 5, 6]].tolist()
    assert found.y == [LABELS[item] for item in (0, 1, 3, 5, 6)]
    tested = np.concatenate([test for _, test in found.splits])
    assert sorted(tested.tolist()) == list(range(5))
    assert len(found.splits) == 2


def test_distinct_samples_train_on_few_and_test_on_all_others() -> None:
    found = distinct_samples(animals, 1, 4)
    assert len(found.y) == found.X.shape[0] == 5
    assert len(found.splits) == 4
    for train, test in found.splits:
        assert sorted([*train, *test]) == list(range(5))
        assert {label for item in train for label in found.y[item]} == {"cat", "dog", "wolf"}
    assert len({tuple(train.tolist()) for train, _ in found.splits}) > 1


def results(**gains: list[float]) -> dict[str, Result]:
    """Cells with gains over a cell of zeros."""
    cells = {name: Result({"accuracy": gain}) for name, gain in gains.items()}
    return cells | {"zero": Result({"accuracy": [0.0] * 8})}


@pytest.mark.parametrize(
    ("larger", "lower", "verdict"),
    [(0.5, False, "yes"), (0.5, True, "no"), (0.1, False, "within noise"), (-1.0, False, "no")],
)
def test_a_larger_gain_is_one_that_the_repeats_show(
    larger: float, lower: bool, verdict: str
) -> None:
    wave = [0.01, -0.01] * 4
    found = results(few=[larger + w for w in wave], many=[0.1 - w for w in wave])
    claim = LargerGain("?", ("few", "zero"), ("many", "zero"), "accuracy", lower=lower)
    assert claim.cells == ("few", "zero", "many", "zero")
    judgement = claim.judge(found)
    assert judgement.verdict == verdict
    sign = -1 if lower else 1
    assert f"{sign * larger:.3g} against {sign * 0.1:.3g}" in judgement.because


def test_fit_times_are_those_of_repeats_after_the_first() -> None:
    model = partial(with_unit_length, model=partial(ranking_model, kind=HierarchicalPerceptron))
    found = fit_times(partial(without_copies, animals), model=model, n_repeats=3)
    assert len(found.values["fit_seconds"]) == 3
    assert min(found.values["fit_seconds"]) > 0
    assert found.values["n_items"] == [3.0]
    assert found.values["converged"] == [1.0]


def test_the_flat_form_of_a_ranking_model_ignores_the_taxonomy() -> None:
    flat = ranking_model(ANIMALS, HierarchicalPerceptron, is_flat=True, margin=2.0)
    assert (flat.attributes, flat.loss, flat.margin) == ("flat", "zero_one", 2.0)
    own = ranking_model(ANIMALS, HierarchicalPerceptron)
    assert (own.attributes, own.loss, own.decision) == ("taxonomy", "tree", "top_k")


def test_bars_stand_in_groups() -> None:
    pytest.importorskip("matplotlib")
    found = {
        name: Result({"m": [value, value + 1]})
        for name, value in zip("abcd", range(4), strict=True)
    }
    kinds = {"flat": ["a", "b"], "hier": ["c", "d"]}
    figure = drawings.bars(found, groups=("E", "F"), kinds=kinds, measures={"m": "measure"})
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [0.5, 1.5, 2.5, 3.5]
    middles = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
    np.testing.assert_allclose(middles, [-0.2, 0.8, 0.2, 1.2])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["E", "F"]


@pytest.mark.parametrize("is_quick", [False, True])
def test_cells_have_keys_of_their_own(is_quick: bool) -> None:
    cells = paper(is_quick).cells
    assert len({cell.key for cell in cells}) == len(cells)


def test_the_root_is_counted_where_the_table_says_so() -> None:
    """Main groups of a section have three nodes at or above them, and four with the root."""
    rooted = ranking_model(ANIMALS, HierarchicalPerceptron, **PARAMETERS["rooted"])
    assert rooted.node_weight == 1 / np.sqrt(4)
    assert (
        ranking_model(ANIMALS, HierarchicalPerceptron, **PARAMETERS["hier"]).node_weight == "depth"
    )
    for table in paper(is_quick=True).tables:
        if table.number in ("1", "2"):
            kinds = {entry.cell.rpartition("/")[2] for entry in table.entries}
            assert kinds == {"flat", "hier", "rooted"}
