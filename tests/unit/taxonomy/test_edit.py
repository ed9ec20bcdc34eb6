import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.errors import TaxonomyError, UnknownNodeError
from tests.strategies import taxonomies


def edge_set(taxonomy):
    return {(taxonomy.nodes[p], taxonomy.nodes[c]) for p, c in taxonomy.edges.tolist()}


def induced(taxonomy, keep):
    return {(p, c) for p, c in edge_set(taxonomy) if {p, c} <= keep}


@given(taxonomies(named=True), st.data())
def test_subtree_holds_what_is_below(taxonomy, data):
    node = data.draw(st.sampled_from(taxonomy.nodes))
    part = taxonomy.subtree(node)
    assert part.root == node
    assert set(part) == {node, *taxonomy.descendants(node)}
    assert edge_set(part) == induced(taxonomy, set(part))
    assert all(part.name(n) == taxonomy.name(n) for n in part)


@given(taxonomies(), st.data())
def test_prune_keeps_what_leads_to_the_labels(taxonomy, data):
    kept = data.draw(st.lists(st.sampled_from(taxonomy.nodes), min_size=1))
    part = taxonomy.prune(kept)
    assert set(part) == set(kept).union(*(taxonomy.ancestors(node) for node in kept))
    assert edge_set(part) == induced(taxonomy, set(part))


@given(taxonomies(), st.integers(0, 12))
def test_truncate_keeps_the_upper_levels(taxonomy, depth):
    part = taxonomy.truncate(depth)
    assert set(part) == {node for node in taxonomy if taxonomy.depth(node) <= depth}
    assert part.height == min(depth, taxonomy.height)


@given(taxonomies())
def test_collapse_chains_leaves_no_single_child(taxonomy):
    part = taxonomy.collapse_chains()
    assert part.root == taxonomy.root
    assert set(part.leaves) == set(taxonomy.leaves)
    assert all(len(part.children(node)) != 1 for node in part.nodes[1:])
    for node in part:
        assert set(part.ancestors(node)) == set(taxonomy.ancestors(node)) & set(part)


def test_collapse_chains_keeps_what_it_is_told_to():
    chain = Taxonomy.from_edges([("r", "a"), ("a", "b"), ("b", "c"), ("r", "d")])
    assert chain.collapse_chains().nodes == ("r", "c", "d")
    assert chain.collapse_chains(keep=["b"]).nodes == ("r", "b", "c", "d")


@given(taxonomies(), st.data())
def test_terminals_and_the_way_back(taxonomy, data):
    wanted = data.draw(st.lists(st.sampled_from(taxonomy.nodes), unique=True))
    expanded = taxonomy.with_terminals(wanted)
    interior = {node for node in wanted if taxonomy.children(node)}
    assert set(expanded.terminals.values()) == interior
    for terminal, node in expanded.terminals.items():
        assert expanded.parents(terminal) == (node,)
        assert terminal in expanded.leaves
        assert expanded.name(terminal) == taxonomy.name(node)
    assert expanded.without_terminals() == taxonomy
    assert not expanded.without_terminals().terminals


def test_terminal_ids_do_not_collide():
    taxonomy = Taxonomy.from_edges([("a", "b"), ("a", "a [self]")])
    assert dict(taxonomy.with_terminals(["a"]).terminals) == {"a [self]'": "a"}


def test_rename_changes_ids_and_names():
    taxonomy = Taxonomy.from_edges([("a", "b"), ("a", "c")], names={"b": "Bee"})
    renamed = taxonomy.rename({"b": "x", "c": "b"}, names={"a": "Aye"})
    assert renamed.children("a") == ("x", "b")
    assert dict(renamed.raw_names) == {"x": "Bee", "a": "Aye"}
    with pytest.raises(TaxonomyError, match="two nodes would have the id 'c'"):
        taxonomy.rename({"b": "c"})
    for taken in ("c", " c "):
        with pytest.raises(TaxonomyError, match="two nodes would have the id 'c'"):
            taxonomy.rename({"a": taken})
    with pytest.raises(UnknownNodeError, match="'zz'"):
        taxonomy.rename({"zz": "y"})
    with pytest.raises(UnknownNodeError, match="'zz'"):
        taxonomy.rename(names={"zz": "y"})
    assert taxonomy.rename({"b": 7}).children("a") == ("7", "c")
    assert taxonomy.rename(names={"b": ""}).name("b") == "b"


def test_terminals_stay_with_what_they_stand_for():
    tree = Taxonomy.from_edges([("r", "a"), ("a", "b")])
    expanded = tree.with_terminals(["a"]).with_terminals(["r"])
    assert dict(expanded.terminals) == {"a [self]": "a", "r [self]": "r"}
    assert expanded.without_terminals() == tree
    assert dict(expanded.subtree("a").terminals) == {"a [self]": "a"}
    assert not expanded.subtree("a [self]").terminals
    assert pickle.loads(pickle.dumps(expanded)).terminals == expanded.terminals


def test_terminals_are_renamed_too():
    expanded = Taxonomy.from_edges([("a", "b")]).with_terminals(["a"])
    renamed = expanded.rename({"a": "x", "a [self]": "y"})
    assert dict(renamed.terminals) == {"y": "x"}
    assert renamed.without_terminals() == Taxonomy.from_edges([("x", "b")])


def test_diff_tells_added_removed_moved_and_renamed():
    old = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("a", "gone")])
    new = Taxonomy.from_edges(
        [("r", "a"), ("r", "b"), ("b", "x"), ("b", "fresh")], names={"a": "Aye"}
    )
    change = old.diff(new)
    assert change.added == ("fresh",)
    assert change.removed == ("gone",)
    assert change.moved == {"x": (("a",), ("b",))}
    assert change.renamed == {"a": ("a", "Aye")}
    assert str(change) == "+ fresh\n- gone\n> x: a -> b\n~ a: 'a' -> 'Aye'"
    assert change
    assert not old.diff(old)
    assert str(old.diff(old)) == "no difference"


def test_diff_does_not_depend_on_order():
    edges = [("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")]
    assert not Taxonomy.from_edges(edges).diff(Taxonomy.from_edges(edges[::-1]))


@given(taxonomies(), taxonomies())
def test_diff_is_empty_exactly_for_equal_taxonomies(a, b):
    assert bool(a.diff(b)) == (a != b)


def test_changes_refuse_what_makes_no_sense():
    taxonomy = Taxonomy.flat("ab")
    with pytest.raises(ValueError, match="depth must be 0 or more"):
        taxonomy.truncate(-1)
    with pytest.raises(TaxonomyError, match="at least one label"):
        taxonomy.prune([])
    with pytest.raises(UnknownNodeError, match="'x'"):
        taxonomy.subtree("x")


def test_spanning_tree_keeps_the_deepest_parent_or_the_one_that_is_named():
    dag = Taxonomy.from_edges(
        [("r", "a"), ("r", "b"), ("a", "x"), ("x", "deep"), ("b", "deep"), ("a", "y"), ("b", "y")],
        names={"deep": "Deep"},
    )
    tree = dag.spanning_tree()
    assert tree.is_tree
    assert set(tree.nodes) == set(dag.nodes)
    assert tree.parents("deep") == ("x",)
    assert tree.parents("y") == ("a",)
    assert tree.name("deep") == "Deep"
    assert dag.spanning_tree({"y": "b"}).parents("y") == ("b",)
    assert tree.spanning_tree() == tree
    with pytest.raises(TaxonomyError, match="'r' is not a parent of 'y'; its parents are 'a', 'b'"):
        dag.spanning_tree({"y": "r"})


@given(taxonomies(named=True), taxonomies(named=True), st.integers(0, 12))
def test_differences_and_equality_are_those_of_a_comparison_node_by_node(old, new, shift):
    renamed = {f"n{code}": f"n{code + shift}" for code in range(new.n_nodes)}
    new = new.rename(renamed)
    found = old.diff(new)
    shared = [node for node in old.nodes if node in new]
    assert found.added == tuple(node for node in new.nodes if node not in old)
    assert found.removed == tuple(node for node in old.nodes if node not in new)
    parents = {node: (old.parents(node), new.parents(node)) for node in shared}
    assert list(found.moved.items()) == [
        (node, pair) for node, pair in parents.items() if {*pair[0]} != {*pair[1]}
    ]
    names = {node: (old.name(node), new.name(node)) for node in shared}
    assert list(found.renamed.items()) == [
        (node, pair) for node, pair in names.items() if pair[0] != pair[1]
    ]
    assert (old == new) == (not found)
    assert old != new or hash(old) == hash(new)
