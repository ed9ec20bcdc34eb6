import numpy as np
import pandas as pd
import polars as pl
import pytest

from taxonomist import Taxonomy
from taxonomist.errors import TaxonomyError


def edges_of(taxonomy):
    return {(taxonomy.nodes[p], taxonomy.nodes[c]) for p, c in taxonomy.edges.tolist()}


def test_all_builders_give_the_same_taxonomy():
    expected = Taxonomy.from_edges([("A", "B"), ("B", "C"), ("A", "D")])
    assert Taxonomy.from_parents({"A": None, "B": "A", "C": ["B"], "D": "A"}) == expected
    assert Taxonomy.from_paths(["A > B > C", "A>D"]) == expected
    assert Taxonomy.from_paths([("A", "B", "C"), ("A", "D")]) == expected
    assert Taxonomy.from_paths(["A/B/C", "A/D"], sep="/") == expected
    assert Taxonomy.from_nested({"A": {"B": ["C"], "D": None}}) == expected
    assert Taxonomy.from_nested({"A": [{"B": {"C": {}}}, "D"]}) == expected
    assert expected.root == "A"
    assert expected.roots == ("A",)


def test_several_roots_are_joined_under_the_documented_root():
    taxonomy = Taxonomy.from_edges([("A", "a"), ("B", "b")])
    assert taxonomy.root == "ROOT"
    assert taxonomy.roots == ("A", "B")
    assert edges_of(taxonomy) == {("ROOT", "A"), ("ROOT", "B"), ("A", "a"), ("B", "b")}


@pytest.mark.parametrize("root", ["ROOT", "root", "Root"])
def test_a_given_root_of_that_name_takes_up_the_other_tops(root):
    taxonomy = Taxonomy.from_edges([(root, "A"), ("B", "b")])
    assert taxonomy.root == root
    assert taxonomy.roots == ("A", "B")


def test_of_two_roots_of_that_name_the_first_joins():
    assert Taxonomy(nodes=["Root", "ROOT"]).nodes == ("Root", "ROOT")


def test_a_node_named_root_with_parents_cannot_join_others():
    with pytest.raises(TaxonomyError, match="'A', 'B'.*'ROOT'.*is taken"):
        Taxonomy.from_edges([("A", "ROOT"), ("B", "b")])


def test_order_of_siblings_is_the_order_of_the_input():
    taxonomy = Taxonomy.from_edges([("r", "z"), ("r", "a"), ("z", "m"), ("a", "k")])
    assert taxonomy.nodes == ("r", "z", "m", "a", "k")
    assert taxonomy.children("r") == ("z", "a")
    assert Taxonomy.flat(["z", "a", "z"]).leaves == ("z", "a")


def test_one_node_is_a_taxonomy():
    taxonomy = Taxonomy(nodes=["only"])
    assert (taxonomy.root, taxonomy.leaves, taxonomy.height) == ("only", ("only",), 0)
    assert taxonomy.ancestor_matrix().toarray().tolist() == [[True]]


def test_the_same_name_under_different_parents():
    paths = ["Phones > Other", "Cameras > Other", "Cameras > Lenses"]
    auto = Taxonomy.from_paths(paths)
    assert set(auto.leaves) == {"Phones > Other", "Cameras > Other", "Lenses"}
    assert auto.name("Phones > Other") == "Other"
    by_path = Taxonomy.from_paths(paths, ids="path")
    assert "Cameras > Lenses" in by_path
    merged = Taxonomy.from_paths(paths, ids="name")
    assert merged.parents("Other") == ("Phones", "Cameras")


def test_integers_are_read_as_ids():
    assert Taxonomy.flat([3, 1]).leaves == ("3", "1")
    assert Taxonomy.from_edges([(1, 11)]).nodes == ("1", "11")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "cycle: 'a' -> 'b' -> 'c' -> 'a'"),
        ([("r", "a"), ("a", "b"), ("b", "c"), ("c", "b")], "cycle: 'b' -> 'c' -> 'b'"),
        ([("r", "x"), ("a", "b"), ("b", "a"), ("b", "x")], "cycle: 'a' -> 'b' -> 'a'"),
        ([("a", "a")], "'a' is given as its own parent"),
        ([("a", "b"), ("a", "b")], "edge 'a' -> 'b' is given twice"),
        ([("a", "")], "id is empty"),
        ([("a", None)], "got None of type NoneType"),
        ([("a", 1.5)], "got 1.5 of type float"),
        ([("a", True)], "got True of type bool"),
        ([("a", "b", "c")], r"pair \(parent, child\); got \('a', 'b', 'c'\)"),
        (["ab"], r"pair \(parent, child\); got 'ab'"),
        ([None], r"pair \(parent, child\); got None"),
        ([], "at least one node"),
    ],
)
def test_what_is_no_taxonomy_says_why(edges, message):
    with pytest.raises(TaxonomyError, match=message):
        Taxonomy.from_edges(edges)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Taxonomy.flat([]), "at least one label"),
        (lambda: Taxonomy.flat(["ROOT", "a"]), "'ROOT' is the id of the root"),
        (lambda: Taxonomy.from_paths("A > B"), r"pass \['A > B'\]"),
        (lambda: Taxonomy.from_paths([3]), "string or a sequence of components; got 3"),
        (lambda: Taxonomy.from_nested({"A": ["B", ["C"]]}), "Below 'A'.*of type list"),
        (lambda: Taxonomy.from_nested(3), "At the top.*got 3"),
        (lambda: Taxonomy.from_paths(["A > > C"]), "Level 2 of the path 'A > > C' is empty"),
        (lambda: Taxonomy.from_paths([""]), "path is empty"),
        (lambda: Taxonomy.from_paths(["A"], ids="other"), "'auto', 'name' or 'path'. Got 'other'"),
        (lambda: Taxonomy.from_paths([("A", "B"), ("A > B",)], ids="path"), "same id"),
        (lambda: Taxonomy.from_nested({"A": 3}), "Below 'A'.*got 3"),
        (lambda: Taxonomy([("a", "b")], names={"bb": "B"}), "name is given for 'bb'.*'b'"),
    ],
)
def test_builders_explain_bad_input(build, message):
    with pytest.raises(TaxonomyError, match=message):
        build()


def test_a_long_chain_does_not_exhaust_the_stack():
    chain = Taxonomy.from_edges([(f"n{i}", f"n{i + 1}") for i in range(5000)])
    assert chain.height == 5000
    assert len(chain.ancestors("n5000")) == 5000


def test_a_long_cycle_is_shown_in_part():
    edges = [(f"n{i}", f"n{(i + 1) % 20_000}") for i in range(20_000)]
    with pytest.raises(
        TaxonomyError, match=r"'n0' -> 'n1' .* -> \(19961 more\) -> .*-> 'n0'\."
    ) as e:
        Taxonomy.from_edges(edges)
    assert str(e.value).count("->") == 40


def test_a_cycle_below_which_there_are_other_nodes_is_found_among_them():
    edges = [("r", "x"), ("b", "a"), ("c", "b"), ("d", "c"), ("b", "d"), ("a", "x")]
    with pytest.raises(TaxonomyError, match="cycle: 'b' -> 'd' -> 'c' -> 'b'"):
        Taxonomy.from_edges(edges)


TABLE = {"parent": ["r", "r"], "child": ["a", "b"]}


@pytest.mark.parametrize(
    "edges",
    [
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE, dtype="category"),
        pl.DataFrame(TABLE),
        np.array([["r", "a"], ["r", "b"]]),
        (pair for pair in [("r", "a"), ["r", "b"]]),
    ],
    ids=lambda edges: type(edges).__name__,
)
def test_edges_in_many_forms(edges):
    taxonomy = Taxonomy.from_edges(edges)
    assert edges_of(taxonomy) == {("r", "a"), ("r", "b")}
    assert {type(node) for node in taxonomy} == {str}


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, ""])
def test_what_is_missing_in_a_table_is_nothing(nothing):
    expected = Taxonomy.from_edges([("A", "B")])
    assert Taxonomy.from_parents({"A": nothing, "B": "A"}) == expected
    assert Taxonomy.from_paths([("A", "B", nothing), ("A", nothing)]) == expected
    assert Taxonomy.from_edges([("A", "B")], names={"B": nothing}) == expected


def test_parents_and_paths_from_data_frames():
    parents = pd.Series({2: 1, 3: 1, 1: None}).astype("Int64")
    assert Taxonomy.from_parents(parents) == Taxonomy.from_edges([(1, 2), (1, 3)])
    assert Taxonomy.from_parents({2: np.int64(1)}) == Taxonomy.from_edges([(1, 2)])
    levels = {"first": ["A", "A"], "second": [None, "B"]}
    for frame in (pd.DataFrame(levels), pd.DataFrame(levels, dtype="string"), pl.DataFrame(levels)):
        assert Taxonomy.from_paths(frame) == Taxonomy.from_edges([("A", "B")])


def test_names_by_any_id_and_of_any_type():
    taxonomy = Taxonomy.from_edges([(1, 11)], names={1: np.str_("One"), " 11 ": 2024})
    assert taxonomy.names == ("One", "2024")
    assert {type(name) for name in taxonomy.names} == {str}
    assert Taxonomy.from_edges([(1, 11)], names=pd.Series({1: "One"})).names == ("One", "11")


def test_deep_paths_and_dicts():
    depth = 3000
    nested = {}
    for level in reversed(range(depth)):
        nested = {f"n{level}": nested}
    chain = Taxonomy.from_nested(nested)
    assert chain == Taxonomy.from_paths([[f"n{level}" for level in range(depth)]])
    assert chain.paths(f"n{depth - 1}") == (tuple(f"n{level}" for level in range(depth)),)


def test_nested_keeps_the_order_of_siblings():
    taxonomy = Taxonomy.from_nested({"r": {"z": ["q", {"p": ["o"]}], "a": "b"}})
    assert taxonomy.nodes == ("r", "z", "q", "p", "o", "a", "b")
