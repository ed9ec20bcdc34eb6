import itertools

import numpy as np
import pandas as pd
import pytest

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.taxonomy.cluster import LINKAGES

TERMS = ["wheat", "corn", "crop", "oil", "gas", "barrel"]


def documents():
    """Ten documents for each of four categories in two fields, with words of the field."""
    rates = {"wheat": [5, 1, 3, 0, 0, 0], "corn": [1, 5, 3, 0, 0, 0], "rye": [2, 2, 3, 0, 0, 0]}
    rates |= {"oil": [0, 0, 0, 5, 1, 3], "gas": [0, 0, 0, 1, 5, 3]}
    y = [category for category in rates for _ in range(10)]
    rng = np.random.default_rng(0)
    return np.array([rng.poisson(rates[category]) for category in y]), y


@pytest.mark.parametrize("linkage", LINKAGES)
def test_similar_categories_are_grouped(linkage):
    X, y = documents()
    taxonomy = Taxonomy.from_documents(X, y, 2, linkage=linkage, idf=False)
    assert taxonomy.children("group-1") == ("corn", "rye", "wheat")
    assert taxonomy.children("group-2") == ("gas", "oil")
    assert taxonomy.height == 2


def test_groups_are_named_by_their_terms_and_label_sets_count_for_each():
    X, y = documents()
    sets = [[label] for label in y]
    sets[0] = ["wheat", "corn"]
    taxonomy = Taxonomy.from_documents(X, sets, 2, idf=False, feature_names=TERMS)
    assert set(taxonomy.name("group-2").split(", ")) == {"oil", "gas", "barrel"}


@pytest.mark.parametrize("n_groups", [1, 3, 5])
def test_every_category_is_in_one_group(n_groups):
    X, y = documents()
    taxonomy = Taxonomy.from_documents(X, y, n_groups)
    assert taxonomy.is_tree
    assert len(taxonomy.children(taxonomy.root)) == n_groups
    assert sorted(taxonomy.leaves) == sorted(set(y))


def test_one_category_without_words():
    taxonomy = Taxonomy.from_documents(np.zeros((2, 3)), ["a", "a"], 1)
    assert taxonomy.paths("a") == (("group-1", "a"),)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[1.0], [2.0]], ["a", "b"], {"n_groups": 3}, "n_groups must be from 1 to 2.*Got 3"),
        ([[1.0], [-2.0]], ["a", "b"], {"n_groups": 1}, "finite and not negative"),
        ([[1.0]], ["a", "b"], {"n_groups": 1}, "X has 1 rows, but y has 2"),
        ([[1.0]], ["a"], {"n_groups": 1, "linkage": "x"}, "linkage must be one of"),
        ([[1.0]], [None], {"n_groups": 1}, "no label at position 0"),
        ([[1.0]], np.array([[1, 0]]), {"n_groups": 1}, "y is an indicator matrix"),
    ],
)
def test_bad_input_is_explained(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        Taxonomy.from_documents(X, y, **options)
    assert issubclass(LabelError, ValueError)


def test_ties_still_give_the_number_of_groups():
    taxonomy = Taxonomy.from_documents(np.ones((5, 2)), list("abcde"), 3)
    assert len(taxonomy.children("ROOT")) == 3
    assert sorted(taxonomy.leaves) == list("abcde")


def test_categories_may_be_named_like_groups():
    taxonomy = Taxonomy.from_documents(np.eye(3), ["group-1", "group-2", "c"], 2)
    assert taxonomy.is_tree
    assert taxonomy.height == 2
    assert sorted(taxonomy.leaves) == ["c", "group-1", "group-2"]


def test_labels_may_come_as_a_padded_table():
    y = pd.DataFrame([["a", None], ["b", "a"], ["c", ""]])
    assert Taxonomy.from_documents(np.eye(3), y, 3).leaves == ("a", "b", "c")


def naive_groups(counts, n_groups, linkage, idf):
    """Merge the closest groups, one pair after another, by the definitions."""
    weight = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) if idf else 1.0
    vectors = np.log(1 + counts) * weight
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def apart(a, b):
        if linkage == "ward":
            between = vectors[a].mean(axis=0) - vectors[b].mean(axis=0)
            return len(a) * len(b) / (len(a) + len(b)) * (between @ between)
        pairs = 1 - vectors[a] @ vectors[b].T
        return {"average": pairs.mean, "complete": pairs.max, "single": pairs.min}[linkage]()

    groups = [[code] for code in range(len(counts))]
    while len(groups) > n_groups:
        a, b = min(itertools.combinations(groups, 2), key=lambda pair: apart(*pair))
        groups = [group for group in groups if group not in (a, b)] + [a + b]
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("idf", [True, False])
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("seed", range(3))
def test_groups_agree_with_the_definition(linkage, idf, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 40, (12, 30)) * (rng.random((12, 30)) < 0.6)
    y = [f"c{code:02}" for code in range(12)]
    for n_groups in (2, 4, 7):
        found = Taxonomy.from_documents(counts, y, n_groups, linkage=linkage, idf=idf)
        groups = [found.children(group) for group in found.roots]
        expected = naive_groups(counts, n_groups, linkage, idf)
        assert {frozenset(int(node[1:]) for node in group) for group in groups} == expected
        sizes = [(-len(group), group[0]) for group in groups]
        assert sizes == sorted(sizes), "the largest group first"
