import copy
import itertools
import pickle
import time

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
        for near in (taxonomy.parents(node), taxonomy.ancestors(node)):
            assert sorted(taxonomy.codes(near)) == taxonomy.codes(near).tolist()


def test_the_ancestor_matrix_of_a_broom():
    stick = [(f"s{i}", f"s{i + 1}") for i in range(50)]
    broom = Taxonomy.from_edges([*stick, *((f"s{50}", f"leaf{i}") for i in range(200))])
    counts = np.diff(broom.ancestor_matrix().indptr)
    assert counts.tolist() == [*range(1, 52), *[52] * 200]


def test_ancestors_that_are_met_on_many_paths_count_once():
    layers = [
        (f"{side}{i}", f"{other}{i + 1}") for i in range(22) for side in "ab" for other in "ab"
    ]
    lattice = Taxonomy.from_edges([("r", "a0"), ("r", "b0"), *layers])
    start = time.process_time()
    assert lattice.ancestor_matrix().nnz == 1 + sum(2 * (2 + 2 * i) for i in range(23))
    assert len(lattice.paths("a22", limit=3)) == 3
    assert time.process_time() - start < 0.5, "there are four million paths to a22"


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
    for twin in (
        pickle.loads(pickle.dumps(taxonomy)),
        copy.copy(taxonomy),
        copy.deepcopy(taxonomy),
    ):
        assert twin == taxonomy
        assert twin.nodes == taxonomy.nodes
        assert not twin.child_indices.flags.writeable


def test_different_taxonomies_are_not_equal():
    taxonomy = Taxonomy.from_edges([("a", "b"), ("a", "c")])
    assert taxonomy != Taxonomy.from_edges([("a", "b"), ("b", "c")])
    assert taxonomy != Taxonomy.from_edges([("a", "b"), ("a", "c")], names={"b": "B"})
    assert taxonomy != Taxonomy.from_edges([("a", "b")])
    assert taxonomy != "a"
    assert Taxonomy(nodes=["a"]) != Taxonomy(nodes=["b"])


def test_an_artificial_root_is_left_out_of_paths():
    taxonomy = Taxonomy.from_edges([("ROOT", "A"), ("A", "a"), ("ROOT", "a")])
    assert taxonomy.paths("a") == (("a",), ("A", "a"))
    assert taxonomy.paths("ROOT") == (("ROOT",),)


def test_paths_and_common_ancestors_are_in_the_order_of_the_codes():
    taxonomy = Taxonomy.from_edges([("r", "b"), ("r", "a"), ("a", "x"), ("b", "x"), ("x", "y")])
    assert taxonomy.paths("x") == (("r", "b", "x"), ("r", "a", "x"))
    chain = Taxonomy.from_edges([(f"n{i}", f"n{i + 1}") for i in range(20)])
    assert chain.common_ancestors("n20", "n19") == chain.nodes[:20]


def test_names_and_membership():
    taxonomy = Taxonomy.from_edges([("a", "b")], names={"b": "Bee", "a": "a"})
    assert taxonomy.names == ("a", "Bee")
    assert taxonomy.name("b") == "Bee"
    assert dict(taxonomy.raw_names) == {"b": "Bee"}
    assert "b" in taxonomy
    assert "Bee" not in taxonomy
    assert 3 not in taxonomy
    assert ["b"] not in taxonomy
    assert len(taxonomy) == taxonomy.n_nodes == 2


def test_unknown_ids_come_with_the_closest():
    taxonomy = Taxonomy.flat(["sport", "economy"])
    with pytest.raises(UnknownNodeError, match=r"^'sprot' is not a node.*Did you mean 'sport'\?$"):
        taxonomy.parents("sprot")
    with pytest.raises(KeyError):
        taxonomy.code(None)


def test_the_closest_among_very_many_is_found_fast():
    words = ("home", "garden", "phone", "camera", "music", "sport", "office", "parts", "other")
    paths = itertools.product(words, repeat=5)
    taxonomy = Taxonomy.flat(" & ".join(path) for path in paths)
    start = time.process_time()
    with pytest.raises(UnknownNodeError, match="mean 'sport & music & office & parts & home'"):
        taxonomy.code("sport & musik & office & parts & home")
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        (("Animals", "Cat"), r" Did you mean 'Cats'\?"),
        ("Plant > Roses", r" Did you mean 'Plants'\?"),
        ("ROOT > Animals > cats", r" Did you mean 'Cats'\?"),
        (("Animals", "Cats", "Persian"), ""),
    ],
)
def test_the_first_unknown_step_of_a_path_comes_with_the_closest_name_there(label, hint):
    edges = [("ROOT", "a"), ("ROOT", "p"), ("a", "c"), ("p", "r")]
    names = {"a": "Animals", "p": "Plants", "c": "Cats", "r": "Roses"}
    taxonomy = Taxonomy.from_edges(edges, names=names)
    with pytest.raises(UnknownNodeError, match=rf" is not a node of the taxonomy\.{hint}$"):
        taxonomy.resolve(label)


@pytest.mark.parametrize(
    "label", ["Z", "A > B > Z", "A>B>Z", ("A", "B", "Z"), ["A", "Bee", "Z"], "ROOT > A > B > Z"]
)
def test_resolve_accepts_ids_and_paths(label):
    taxonomy = Taxonomy.from_edges([("ROOT", "A"), ("A", "B"), ("B", "Z")], names={"B": "Bee"})
    assert taxonomy.resolve(label) == "Z"


def test_resolve_refuses_what_is_not_there_or_not_unique():
    taxonomy = Taxonomy.from_edges([("A", "b1"), ("A", "b2")], names={"b1": "B", "b2": "B"})
    with pytest.raises(UnknownNodeError, match="leads to 2 nodes"):
        taxonomy.resolve("A > B")
    with pytest.raises(UnknownNodeError, match="not a node"):
        taxonomy.resolve("A > C")
    for nowhere in ((), ("B",), ("A", "A"), ("ROOT", "A"), True, 1.0, None):
        with pytest.raises(UnknownNodeError, match="not a node"):
            taxonomy.resolve(nowhere)
    assert Taxonomy.flat([11, 12]).resolve(np.int64(11)) == "11"
    assert type(taxonomy.resolve(np.str_(" b1 "))) is str
    assert Taxonomy.flat("ab").resolve(("ROOT",)) == "ROOT"


@given(taxonomies(named=True))
def test_every_path_of_names_leads_to_its_node(taxonomy):
    for node in taxonomy:
        for path in taxonomy.paths(node):
            for parts in (path, tuple(map(taxonomy.name, path))):
                meant = {
                    other
                    for other in taxonomy
                    for way in taxonomy.paths(other)
                    if len(way) == len(parts)
                    and all(
                        part in (n, taxonomy.name(n)) for n, part in zip(way, parts, strict=True)
                    )
                }
                if len(meant) == 1:
                    assert taxonomy.resolve(parts) == node
                else:
                    with pytest.raises(UnknownNodeError, match=f"leads to {len(meant)} nodes"):
                        taxonomy.resolve(parts)


def test_a_taxonomy_is_immutable():
    taxonomy = Taxonomy.flat("ab")
    with pytest.raises(AttributeError, match="immutable"):
        taxonomy.nodes = ()
    with pytest.raises(AttributeError, match="immutable"):
        del taxonomy.nodes
    ancestors = taxonomy.ancestor_matrix()
    for array in (
        *(taxonomy.parent_indptr, taxonomy.parent_indices),
        *(taxonomy.child_indptr, taxonomy.child_indices),
        *(taxonomy.topological_order, taxonomy.edges, taxonomy.is_leaf, taxonomy.depths),
        *(ancestors.data, ancestors.indices, ancestors.indptr),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
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


def test_a_subclass_stays_one_through_changes_and_pickles():
    class Vocabulary(Taxonomy):
        pass

    vocabulary = Vocabulary.flat("ab")
    assert type(vocabulary.prune(["a"])) is Vocabulary
    assert type(vocabulary.rename({"a": "c"})) is Vocabulary
    assert type(copy.copy(vocabulary)) is Vocabulary
    assert vocabulary == Taxonomy.flat("ab")
