import numpy as np
import pytest
from hypothesis import given

from taxonomist import Taxonomy
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.models.attributes import class_attributes, node_weights
from taxonomist.taxonomy import Categories
from tests.strategies import taxonomies

RAGGED = Taxonomy.from_edges([("r", "a"), ("a", "b"), ("b", "c"), ("b", "d"), ("r", "e")])


def categories(taxonomy, y=()):
    return Categories.from_labels(taxonomy, list(y))


@pytest.mark.equation("CH04:20")
@given(taxonomies())
def test_taxonomy_attributes_are_node_weights_at_and_above(taxonomy):
    found = categories(taxonomy, taxonomy.nodes[1:])
    expanded = found.expanded
    v = node_weights(found, "depth")
    matrix = class_attributes(found, "taxonomy", "depth").toarray()
    assert matrix.shape == (len(found), expanded.n_nodes - 1)
    for row, code in zip(matrix, found.codes, strict=True):
        node = expanded.nodes[code]
        above = expanded.codes([node, *expanded.ancestors(node)])
        expected = np.zeros(expanded.n_nodes)
        expected[above] = v[above]
        assert (row == expected[1:]).all()


@pytest.mark.equation("CH04:35")
def test_depth_weights_count_the_nodes_of_the_longest_path_but_the_root():
    assert node_weights(categories(RAGGED), "depth")[1:] == pytest.approx(1 / np.sqrt(3))
    flat = categories(Taxonomy.flat("ab"))
    assert (class_attributes(flat, "taxonomy", "depth").toarray() == np.eye(2)).all()


@given(taxonomies(max_nodes=15))
def test_normalized_weights_give_every_category_the_same_norm(taxonomy):
    found = categories(taxonomy)
    matrix = class_attributes(found, "taxonomy", "normalized").toarray()
    assert (matrix**2).sum(axis=1) == pytest.approx(1.0)
    assert (matrix >= 0).all()


def test_normalized_weights_are_even_where_all_paths_are_of_one_length():
    taxonomy = Taxonomy.from_paths(["a > b > c", "a > d > e"])
    weights = node_weights(categories(taxonomy), "normalized")
    assert weights[1:] ** 2 == pytest.approx(0.5)  # the root a carries none
    assert weights[0] == 0


def test_other_node_weights():
    found = categories(RAGGED)
    assert (node_weights(found, "unit") == 1).all()
    assert (node_weights(found, 0.5) == 0.5).all()
    assert node_weights(found, {"b": 3.0})[RAGGED.code("b")] == 3
    assert node_weights(found, {"b": 3.0}).sum() == 3 + RAGGED.n_nodes - 1


def test_given_attributes_are_taken_as_they_are():
    found = categories(RAGGED)
    given_matrix = np.arange(6.0).reshape(3, 2)
    assert (class_attributes(found, given_matrix, "depth").toarray() == given_matrix).all()
    assert (class_attributes(found, "flat", "depth").toarray() == np.eye(3)).all()


@pytest.mark.parametrize(
    ("attributes", "node_weight", "error", "message"),
    [
        ("tree", "depth", ValueError, "'taxonomy', 'flat' or a matrix. Got 'tree'"),
        ("taxonomy", "deep", ValueError, "depth, unit, normalized.*Got 'deep'"),
        ("taxonomy", -1.0, ValueError, "finite and nonnegative"),
        ("taxonomy", {"z": 1.0}, UnknownNodeError, "'z' is not a node"),
        (np.ones((2, 2)), "depth", LabelError, "2 rows, but there are 3 categories"),
        (np.full((3, 1), np.nan), "depth", LabelError, "NaN"),
    ],
)
def test_bad_attributes_are_explained(attributes, node_weight, error, message):
    with pytest.raises(error, match=message):
        class_attributes(categories(RAGGED), attributes, node_weight)
