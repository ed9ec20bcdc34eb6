"""The figures of evaluations hold the numbers that they are given."""

import math

import numpy as np
import pytest

from taxonomist import plots
from taxonomist.errors import LabelError
from taxonomist.evaluation import CrossValidation, LearningCurve, assess
from taxonomist.evaluation.measures import MEASURES
from taxonomist.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2", "b > b3", "c"])
TRUTH = ["a1", "a2", "b1", "b2", "b3", "a1", "c"]
PREDICTED = ["a1", "a1", "b1", "b1", "a1", "a1", "c"]


@pytest.fixture
def found():
    return assess(TRUTH, PREDICTED, TAXONOMY)


@pytest.fixture
def perfect():
    return assess(TRUTH, TRUTH, TAXONOMY)


def curve(values, sizes=(4, 1, 16)):
    measures = (MEASURES["accuracy"], MEASURES["taxonomy_loss"])
    values = np.asarray(values, dtype=float)
    named = {"accuracy": values, "taxonomy_loss": 1 - values}
    return LearningCurve(measures, sizes, named, np.ones(values.shape, dtype=int), values)


def band(collection):
    """The lowest and the highest value of a band at each place."""
    points = collection.get_paths()[0].vertices
    places = sorted(set(points[:, 0]))
    return [
        (points[points[:, 0] == x, 1].min(), points[points[:, 0] == x, 1].max()) for x in places
    ]


def test_learning_curves_have_lines_and_bands_in_order_of_size(tmp_path):
    values = [[0.5, 0.7], [0.2, 0.4], [0.8, 0.8]]
    figure = plots.learning_curves({"one": curve(values), "two": curve(values)}, "taxonomy_loss")
    (axes,) = figure.axes
    first, second = axes.lines
    assert [first.get_label(), second.get_label()] == ["one", "two"]
    assert list(first.get_xdata()) == [1, 4, 16]
    assert first.get_ydata() == pytest.approx([0.7, 0.4, 0.2])
    std = np.std([[0.2, 0.4], [0.5, 0.7], [0.8, 0.8]], axis=1, ddof=1)
    mean = np.array([0.7, 0.4, 0.2])
    low, high = np.transpose(band(axes.collections[0]))
    assert low == pytest.approx(mean - std)
    assert high == pytest.approx(mean + std)
    assert axes.get_xscale() == "log"
    assert axes.get_ylabel() == "taxonomy loss"
    assert axes.get_legend() is not None
    figure.savefig(tmp_path / "curve.png")


def test_a_single_curve_shows_its_first_measure():
    (axes,) = plots.learning_curves(curve([[0.5], [0.2], [0.8]])).axes
    assert axes.get_ylabel() == "accuracy"
    assert axes.lines[0].get_ydata() == pytest.approx([0.2, 0.5, 0.8])
    assert axes.get_legend() is None


def test_a_measure_that_was_not_taken_is_named():
    with pytest.raises(ValueError, match="'acuracy' was not measured. Did you mean 'accuracy'"):
        plots.learning_curves(curve([[0.5], [0.2], [0.8]]), "acuracy")
    with pytest.raises(LabelError, match="nothing to draw"):
        plots.learning_curves({})


def test_bars_per_level_have_intervals(found, perfect):
    (axes,) = plots.per_level({"found": found, "perfect": perfect}).axes
    ours, theirs = (axes.containers[i] for i in (1, 3))
    assert [bar.get_height() for bar in ours] == [level.f1.estimate for level in found.levels]
    assert [bar.get_height() for bar in theirs] == [1, 1]
    ends = [segment[:, 1] for segment in axes.containers[0].lines[2][0].get_segments()]
    expected = [(level.f1.low, level.f1.high) for level in found.levels]
    assert np.array(ends) == pytest.approx(np.array(expected))
    places = [bar.get_x() + bar.get_width() / 2 for bar in [*ours, *theirs]]
    assert places == pytest.approx([0.8, 1.8, 1.2, 2.2])


@pytest.mark.parametrize("measure", ["precision", "recall"])
def test_other_measures_have_bars_alone(found, measure):
    (axes,) = plots.per_level(found, measure).axes
    (bars,) = axes.containers
    expected = [getattr(level, measure) for level in found.levels]
    assert [bar.get_height() for bar in bars] == expected
    assert axes.get_ylabel() == measure
    with pytest.raises(ValueError, match="'support' was not measured"):
        plots.per_level(found, "support")


def test_distances_are_shares_of_items(found, perfect):
    (axes,) = plots.confusion_by_distance({"found": found, "perfect": perfect}).axes
    ours, theirs = axes.containers
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "2", "4"]
    assert [bar.get_height() for bar in ours] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert [bar.get_height() for bar in theirs] == [1, 0, 0]


def boxes(axes):
    """Left, right, top and bottom of the boxes of a tree: coloured ones, then grey ones."""
    return [
        [
            (*np.round(path.vertices[:2, 0], 6), path.vertices[0, 1], path.vertices[2, 1])
            for path in collection.get_paths()
        ]
        for collection in axes.collections
    ]


def test_the_tree_has_a_box_per_node_below_its_parent(found, tmp_path):
    figure = plots.tree(TAXONOMY, found)
    axes, scale = figure.axes
    coloured, grey = boxes(axes)
    third, sixth = round(1 / 3, 6), round(1 / 6, 6)
    assert grey == []
    # Preorder: a, a1, a2, b, b1, b2, b3, c; an artificial root is not drawn.
    assert coloured[0] == (0, third, 1, 2)
    assert coloured[1] == (0, sixth, 2, 3)
    assert coloured[3] == (third, round(5 / 6, 6), 1, 2)
    assert coloured[7] == (round(5 / 6, 6), 1, 1, 2)
    assert list(axes.collections[0].get_array()) == [node.f1 for node in found.nodes]
    assert axes.collections[0].get_clim() == (0, 1)
    assert {text.get_text() for text in axes.texts} == set(TAXONOMY.nodes[1:])
    assert scale.get_ylabel() == "f1"
    figure.savefig(tmp_path / "tree.png")


def test_nodes_without_a_number_are_grey_and_sizes_are_widths():
    values = {"a": 2.0, "b": 5.0, "b1": math.nan}
    figure = plots.tree(TAXONOMY, values, sizes={"a1": 3, "b1": 1}, measure="items", max_depth=1)
    axes = figure.axes[0]
    coloured, grey = boxes(axes)
    assert coloured == [(0, 0.75, 1, 2), (0.75, 1, 1, 2)]
    assert grey == []
    assert axes.collections[0].get_clim() == (2, 5)
    _, grey = boxes(plots.tree(TAXONOMY, values).axes[0])
    assert len(grey) == 6


def test_a_node_with_several_parents_is_drawn_once():
    taxonomy = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    coloured, grey = boxes(plots.tree(taxonomy, {"x": 0.5}).axes[0])
    assert len(coloured) == 1
    assert len(grey) == 4


@pytest.mark.parametrize("sizes", [{"a1": -1, "b1": 2}, {"a1": math.inf}, {}])
def test_sizes_that_make_no_picture_are_refused(found, sizes):
    with pytest.raises(LabelError, match="sizes must be finite"):
        plots.tree(TAXONOMY, found, sizes=sizes)


def validation(values):
    measures, values, none = (MEASURES["accuracy"],), np.array(values), np.zeros(len(values))
    return CrossValidation(measures, {"accuracy": values}, {}, None, (), none, none)


def test_a_sweep_over_c_has_lines_and_bands():
    sweep = {10.0: validation([0.7, 0.9]), 0.1: validation([0.4, 0.6]), 1.0: validation([0.8, 0.8])}
    (axes,) = plots.c_sweep({"svm": sweep, "flat": sweep}).axes
    line = axes.lines[0]
    assert list(line.get_xdata()) == [0.1, 1, 10]
    assert line.get_ydata() == pytest.approx([0.5, 0.8, 0.8])
    std = math.sqrt(0.02)
    low, high = np.transpose(band(axes.collections[0]))
    assert high - low == pytest.approx([2 * std, 0, 2 * std])
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "C"
    (single,) = plots.c_sweep(sweep).axes
    assert single.lines[0].get_ydata() == pytest.approx([0.5, 0.8, 0.8])
    assert single.get_legend() is None
