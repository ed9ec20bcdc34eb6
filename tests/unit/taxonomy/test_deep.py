"""A chain of 10,000 levels: no operation is recursive."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from taxonomist.errors import FormatError, TaxonomyWarning
from taxonomist.taxonomy import Taxonomy

DEPTH = 10_000
IDS = [f"n{level}" for level in range(DEPTH)]


@pytest.fixture(scope="module")
def chain():
    return Taxonomy(itertools.pairwise(IDS), names={"n5": "Five"})


def test_it_is_built_in_any_way(chain):
    assert chain.nodes == tuple(IDS)
    edges = list(itertools.pairwise(IDS))[::-1]
    plain = chain.rename(names={"n5": "n5"})
    assert Taxonomy.from_edges(edges) == plain
    with pytest.warns(TaxonomyWarning, match="Left out 1 of 10,000 edges"):
        assert Taxonomy.from_edges([*edges, ("n9999", "n0")], cycles="break") == plain
    assert Taxonomy.from_parents(dict(zip(IDS[1:], IDS[:-1], strict=True))) == plain
    assert Taxonomy.from_paths([IDS], ids="name") == plain


def test_it_is_asked(chain):
    assert chain.height == DEPTH - 1
    assert chain.ancestors("n9999") == tuple(IDS[:-1])
    assert chain.descendants("n0") == tuple(IDS[1:])
    assert chain.common_ancestors("n9999", "n7")[-1] == "n7"
    assert chain.distance("n9999", "n0") == DEPTH - 1
    assert chain.paths("n9999") == (tuple(IDS),)
    assert chain.resolve(IDS) == "n9999"
    assert chain.truncate(3000).ancestor_matrix().nnz == 3001 * 3002 // 2


def test_it_is_changed(chain):
    assert chain.subtree("n9000").n_nodes == 1000
    assert chain.prune(["n5000"]).nodes == tuple(IDS[:5001])
    assert chain.truncate(7000).height == 7000
    assert chain.collapse_chains().nodes == ("n0", "n9999")
    assert chain.spanning_tree() == chain
    widened = chain.with_terminals(IDS[5:8])
    assert widened.without_terminals() == chain
    assert chain.rename({"n3": "three"}).diff(chain).removed == ("three",)
    assert not chain.diff(copy.deepcopy(chain))


def test_it_is_drawn(chain):
    assert chain.to_text().count("\n") == DEPTH - 1
    assert chain.to_html().count("<details") == DEPTH - 1
    assert str(chain).startswith("n0\n")


def test_it_is_pickled_and_hashed(chain):
    assert pickle.loads(pickle.dumps(chain)) == chain
    assert hash(chain) == hash(copy.copy(chain))
    assert np.array_equal(chain.depths, np.arange(DEPTH))


@pytest.mark.parametrize("suffix", ["csv", "json", "obo", "nt", "ttl"])
def test_it_is_written_and_read(chain, tmp_path, suffix):
    if suffix in ("nt", "ttl"):
        pytest.importorskip("pyoxigraph")
    path = tmp_path / f"chain.{suffix}"
    chain.write(path)
    assert Taxonomy.read(path) == chain


def test_nesting_is_refused_with_a_sentence(chain, tmp_path):
    path = tmp_path / "chain.json"
    with pytest.raises(FormatError, match="too deep for nesting; use nested=False"):
        chain.write(path, nested=True)
    path.write_text('{"id":"a","children":[' * DEPTH + "]}" * DEPTH)
    with pytest.raises(FormatError, match="nested too deeply; use a list of edges"):
        Taxonomy.read(path)
