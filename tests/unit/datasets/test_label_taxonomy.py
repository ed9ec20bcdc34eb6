import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.label_reader import LabelReader
from taxonomist.datasets.label_taxonomy import label_taxonomy
from taxonomist.errors import FormatError, ParameterError

LEVELS = Columns(labels=("a", "b"))


def built(labels, columns=LEVELS):
    return label_taxonomy("data.csv", {label: k for k, label in enumerate(labels, 2)}, columns)


def test_what_a_taxonomy_is_built_from():
    assert built([("A", "B")]).origin == "levels"
    assert built([("A", "B"), "C"], Columns(labels="x")).origin == "paths"
    assert built(["A", "B"], Columns(labels="x")) == (Taxonomy.flat("AB"), "labels", "")
    with pytest.raises(FormatError, match="holds no labels"):
        built([])


def test_a_name_in_several_places_is_kept_apart_and_told_of():
    found = built([("A", "X"), ("B", "X"), ("A", "Y"), ("C", "X")])
    assert found.taxonomy.paths("B > X") == (("B", "B > X"),)
    assert found.taxonomy.name("B > X") == "X"
    assert found.note == (
        "1 name is in several places and kept apart by its path: 'X' (lines 2, 3 and 1 more)."
    )
    same_row = built([("A", "A"), ("A", "B")]).note
    assert same_row == "1 name is in several places and kept apart by its path: 'A' (line 2)."
    several = built([(top, name) for name in "abcdefg" for top in "XY"]).note
    assert several.startswith("7 names are in several places and kept apart by their paths: 'a'")
    assert several.endswith("'e' (lines 10, 11) and 2 more.")


def test_labels_that_differ_only_in_case_or_spaces_are_told_of():
    def note(labels):
        return label_taxonomy("data.csv", labels, Columns()).note

    said = "Labels that differ only in case or spaces are different categories: "
    assert note({"Bug": 2, "bug": 3, "A  b": 4, "a b": 5, "c": 6}) == (
        f"{said}'Bug' (line 2) and 'bug' (line 3); 'A  b' (line 4) and 'a b' (line 5)."
    )
    # What is below them is written in one way, but in two places.
    levels = note({("Garden", "Rakes"): 2, ("GARDEN", "Rakes"): 3})
    assert levels.startswith(f"{said}'Garden' (line 2) and 'GARDEN' (line 3).\n1 name is in")
    assert note({"a": 1, "b": 2, ("x", "a"): 3}).startswith("1 name is in")


def test_words_for_missing_values_are_told_of():
    def note(labels):
        return label_taxonomy("data.csv", labels, Columns()).note

    assert note({"NaN": 2, "a": 3, "n/a": 9}) == (
        "These labels are categories: 'NaN' (line 2), 'n/a' (line 9). If a label is missing there, "
        "leave its cell empty."
    )
    assert note({("A", "-"): 2, ("A", "B"): 3}).startswith("This label is a category: '-' (line 2)")
    assert not note({"nation": 2, "none of them": 3})


def test_a_label_that_looks_like_several_is_told_of():
    note = label_taxonomy("data.csv", {"a": 2, "b;c": 3, "a; b": 4, "b": 5}, Columns()).note
    assert note.startswith("'a; b' (line 4) is taken as one label. If a cell can hold several, pas")
    assert note.endswith("pass label_sep=';'.")


def test_paths_that_read_the_same_name_their_lines():
    with pytest.raises(FormatError, match=r"lines 2 and 4: the levels \['A > B'\] and \['A', 'B'"):
        built([("A > B",), ("C", "B"), ("A", "B")])


@pytest.mark.parametrize(
    ("lengths", "codes", "paths"),
    [
        ([2, 3, 4], ["111", "1111", "21"], ["11 > 111 > 1111", "21"]),
        (
            [1, 3, 4],
            ["A01B 1/00", "A01B 1/02", "B60"],
            ["A > A01 > A01B > A01B 1/00", "A > A01 > A01B > A01B 1/02", "B > B60"],
        ),
        # A prefix that ends in a space is the same as the one without it.
        ([4, 5], ["A01B 1/00", "A01B"], ["A01B > A01B 1/00"]),
        # A code that is too short for a prefix is below the shorter ones.
        ([1, 3], ["A0", "A01", "A012"], ["A > A0", "A > A01 > A012"]),
        # With prefixes, a code is never a path.
        ([1], ["A > B"], ["A|A > B"]),
    ],
)
def test_prefixes_of_codes(lengths, codes, paths):
    found = built(codes, Columns(labels="x", code_prefixes=lengths))
    sep = "|" if "|" in paths[0] else " > "
    assert found == (Taxonomy.from_paths(paths, sep=sep, ids="name"), "codes", "")


@given(
    codes=st.lists(st.text("AB 1/", min_size=1).map(str.strip).filter(bool), min_size=1),
    lengths=st.sets(st.integers(1, 8), min_size=1).map(sorted),
)
def test_prefixes_make_a_tree_in_which_every_code_is_a_node(codes, lengths):
    taxonomy = built(codes, Columns(labels="x", code_prefixes=lengths)).taxonomy
    assert taxonomy.is_tree
    for code in codes:
        above = [node for node in taxonomy.ancestors(code) if node != "ROOT"]
        cut = dict.fromkeys(code[:n].rstrip() for n in lengths)
        assert above == [prefix for prefix in cut if prefix != code]


@pytest.mark.parametrize("lengths", [[0, 2], [2, 2], [3, 2], [-1]])
def test_prefixes_that_make_no_sense(lengths):
    with pytest.raises(ParameterError, match="increasing positive integers"):
        built(["A"], Columns(labels="x", code_prefixes=lengths))


STEPS = st.text("AB>", min_size=1, max_size=3)


@given(paths=st.lists(st.lists(STEPS, min_size=1, max_size=3).map(tuple), min_size=1))
def test_every_label_is_found_again_where_it_was(paths):
    try:
        taxonomy = built(paths).taxonomy
    except FormatError:
        return
    reader = LabelReader(taxonomy)
    for path in paths:
        (node,) = reader.nodes((path,))
        (found,) = taxonomy.paths(node)
        assert tuple(map(taxonomy.name, found)) == path
