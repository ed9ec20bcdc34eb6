import numpy as np
import pytest

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.taxonomy.cluster import LINKAGES

TERMS = ["wheat", "corn", "crop", "oil", "gas", "barrel"]
RNG = np.random.default_rng(0)


def documents():
    """Ten documents for each of four categories in two fields, with words of the field."""
    rates = {"wheat": [5, 1, 3, 0, 0, 0], "corn": [1, 5, 3, 0, 0, 0], "rye": [2, 2, 3, 0, 0, 0]}
    rates |= {"oil": [0, 0, 0, 5, 1, 3], "gas": [0, 0, 0, 1, 5, 3]}
    y = [category for category in rates for _ in range(10)]
    return np.array([RNG.poisson(rates[category]) for category in y]), y


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
    ],
)
def test_bad_input_is_explained(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        Taxonomy.from_documents(X, y, **options)
    assert issubclass(LabelError, ValueError)
