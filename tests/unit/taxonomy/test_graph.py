import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.errors import UnknownNodeError
from tests.strategies import taxonomies


def parents_of(taxonomy):
    above = {node: set() for node in taxonomy}
    for parent, child in taxonomy.edges.tolist():
        above[taxonomy.nodes[child]].add(taxonomy.nodes[parent])
    return above


def naive_ancestors(above, node):
    return above[node].union(*(naive_ancestors(above, parent) for parent in above[node]))


@given(taxonomies(max_nodes=15))
def test_codes_are_a_topological_order(taxonomy):
    assert (taxonomy.edges[:, 0] < taxonomy.edges[:, 1]).all()
    assert taxonomy.code(taxonomy.root) == 0
    assert taxonomy.topological_order.tolist() == list(range(taxonomy.n_nodes))


@given(taxonomies(max_nodes=15, trees_only=True))
def test_subtrees_of_a_tree_are_runs_of_codes(taxonomy):
    assert taxonomy.is_tree
    for node in taxonomy:
        below = sorted(taxonomy.codes([node, *taxonomy.descendants(node)]).tolist())
        assert below == list(range(below[0], below[0] + len(below)))


@given(taxonomies(max_nodes=15))
def test_ancestors_agree_with_the_definition(taxonomy):
    above = parents_of(taxonomy)
    matrix = taxonomy.ancestor_matrix().toarray()
    for code, node in enumerate(taxonomy):
        expected = naive_ancestors(above, node)
        assert set(taxonomy.ancestors(node)) == expected
        assert set(np.array(taxonomy.nodes)[matrix[code]]) == expected | {node}
        assert set(taxonomy.parents(node)) == above[node]


@given(taxonomies())
def test_ancestors_and_descendants_are_inverse(taxonomy):
    for a in taxonomy:
        for b in taxonomy:
            assert (a in taxonomy.ancestors(b)) == (b in taxonomy.descendants(a))
            assert (a in taxonomy.parents(b)) == (b in taxonomy.children(a))


@given(taxonomies(max_nodes=9))
def test_distance_is_a_metric(taxonomy):
    distance = {(a, b): taxonomy.distance(a, b) for a in taxonomy for b in taxonomy}
    for a in taxonomy:
        for b in taxonomy:
            assert distance[a, b] == distance[b, a]
            assert (distance[a, b] == 0) == (a == b)
            assert all(distance[a, b] <= distance[a, c] + distance[c, b] for c in taxonomy)


@given(taxonomies(trees_only=True))
def test_distance_on_a_tree_is_the_length_of_the_path(taxonomy):
    for a in taxonomy:
        for b in taxonomy:
            deepest = max(map(taxonomy.depth, taxonomy.common_ancestors(a, b)))
            assert taxonomy.distance(a, b) == taxonomy.depth(a) + taxonomy.depth(b) - 2 * deepest


@given(taxonomies())
def test_paths_are_all_the_ways_down(taxonomy):
    def ways(node):
        above = [p for p in taxonomy.parents(node) if p not in (None, taxonomy.root)]
        ends = [way for parent in above for way in ways(parent)]
        if taxonomy.root in taxonomy.parents(node):
            ends.append((taxonomy.root,))
        return [(*way, node) for way in ends] if ends else [(node,)]

    for node in taxonomy:
        paths = taxonomy.paths(node)
        assert sorted(paths) == sorted(ways(node))
        assert max(map(len, paths)) == taxonomy.depth(node) + 1
        assert taxonomy.paths(node, limit=1) == paths[:1]


@given(taxonomies())
def test_levels_leaves_and_siblings(taxonomy):
    levels = [taxonomy.level(depth) for depth in range(taxonomy.height + 1)]
    assert sorted(node for level in levels for node in level) == sorted(taxonomy)
    assert set(taxonomy.leaves) == {n for n in taxonomy if not taxonomy.children(n)}
    for node in taxonomy:
        expected = {n for n in taxonomy if set(taxonomy.parents(n)) & set(taxonomy.parents(node))}
        assert set(taxonomy.siblings(node)) == expected - {node}


@given(taxonomies(), st.randoms())
def test_equality_does_not_depend_on_order(taxonomy, random):
    edges = [(taxonomy.nodes[p], taxonomy.nodes[c]) for p, c in taxonomy.edges.tolist()]
    random.shuffle(edges)
    other = Taxonomy.from_edges(edges)
    assert other == taxonomy
    assert hash(other) == hash(taxonomy)
    assert pickle.loads(pickle.dumps(taxonomy)) == taxonomy


def test_different_taxonomies_are_not_equal():
    taxonomy = Taxonomy.from_edges([("a", "b"), ("a", "c")])
    assert taxonomy != Taxonomy.from_edges([("a", "b"), ("b", "c")])
    assert taxonomy != Taxonomy.from_edges([("a", "b"), ("a", "c")], names={"b": "B"})
    assert taxonomy != Taxonomy.from_edges([("a", "b")])
    assert taxonomy != "a"


def test_an_artificial_root_is_left_out_of_paths():
    taxonomy = Taxonomy.from_edges([("ROOT", "A"), ("A", "a"), ("ROOT", "a")])
    assert taxonomy.paths("a") == (("a",), ("A", "a"))
    assert taxonomy.paths("ROOT") == (("ROOT",),)


def test_names_and_membership():
    taxonomy = Taxonomy.from_edges([("a", "b")], names={"b": "Bee", "a": "a"})
    assert taxonomy.names == ("a", "Bee")
    assert taxonomy.name("b") == "Bee"
    assert dict(taxonomy.raw_names) == {"b": "Bee"}
    assert "b" in taxonomy
    assert "Bee" not in taxonomy
    assert 3 not in taxonomy
    assert len(taxonomy) == taxonomy.n_nodes == 2


def test_unknown_ids_come_with_the_closest():
    taxonomy = Taxonomy.flat(["sport", "economy"])
    with pytest.raises(UnknownNodeError, match=r"^'sprot' is not a node.*Did you mean 'sport'\?$"):
        taxonomy.parents("sprot")
    with pytest.raises(KeyError):
        taxonomy.code(None)


@pytest.mark.parametrize(
    "label", ["Z", "A > B > Z", "A>B>Z", ("A", "B", "Z"), ["A", "Bee", "Z"], "ROOT > A > B > Z"]
)
def test_resolve_accepts_ids_and_paths(label):
    taxonomy = Taxonomy.from_edges([("ROOT", "A"), ("A", "B"), ("B", "Z")], names={"B": "Bee"})
    assert taxonomy.resolve(label) == "Z"


def test_resolve_refuses_what_is_not_there_or_not_unique():
    taxonomy = Taxonomy.from_edges([("A", "b1"), ("A", "b2")], names={"b1": "B", "b2": "B"})
    with pytest.raises(UnknownNodeError, match="means 2 nodes"):
        taxonomy.resolve("A > B")
    with pytest.raises(UnknownNodeError, match="not a node"):
        taxonomy.resolve("A > C")
    assert Taxonomy.flat([11, 12]).resolve(np.int64(11)) == "11"


def test_a_taxonomy_is_immutable():
    taxonomy = Taxonomy.flat("ab")
    with pytest.raises(AttributeError, match="immutable"):
        taxonomy.nodes = ()
    with pytest.raises(AttributeError, match="immutable"):
        del taxonomy.nodes
    with pytest.raises(ValueError, match="read-only"):
        taxonomy.child_indices[0] = 1
    with pytest.raises(TypeError):
        taxonomy.raw_names["a"] = "A"


def test_paths_need_a_sensible_limit():
    with pytest.raises(ValueError, match="limit must be at least 1"):
        Taxonomy.flat("ab").paths("a", limit=0)


def test_wordnet_has_the_documented_shape(data_folder):
    path = data_folder("wordnet-semcor") / "wordnet30_noun_hypernyms.csv.gz"
    nouns = Taxonomy.read(path)
    assert nouns.n_nodes == 82_116  # the synsets and ROOT
    assert len(nouns.edges) == 84_428
    assert len(nouns.leaves) == 64_958
    assert nouns.height == 20
    assert int((np.diff(nouns.parent_indptr) > 1).sum()) == 2_213
    ancestors = nouns.ancestor_matrix()
    for code in range(0, nouns.n_nodes, 7919):
        row = ancestors.indices[ancestors.indptr[code] : ancestors.indptr[code + 1]]
        node = nouns.nodes[code]
        assert sorted(row) == sorted(nouns.codes([node, *nouns.ancestors(node)]))
