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
