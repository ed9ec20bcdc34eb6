import pytest

from taxonomist import Taxonomy
from taxonomist.workflow.node_titles import NodeTitles

CODES = [("1", "11"), ("11", "111"), ("2", "21")]


def titles(taxonomy, node):
    found = NodeTitles(taxonomy)
    return found.name(node), found.path(node)


def test_paths_of_named_codes_are_names():
    names = {"1": "Crops", "11": "Grain", "111": "Oats", "2": "Mines", "21": "Coal"}
    assert titles(Taxonomy.from_edges(CODES, names), "111") == ("Oats", ("Crops", "Grain", "Oats"))


def test_codes_and_names_are_not_mixed():
    some = Taxonomy.from_edges(CODES, {"1": "Crops", "111": "Oats"})
    assert titles(some, "111") == ("Oats", ("1", "11", "111"))
    assert titles(some, "11") == ("", ("1", "11"))


def test_ids_without_names_are_names():
    plain = Taxonomy.from_edges(CODES)
    assert titles(plain, "111") == ("111", ("1", "11", "111"))


@pytest.mark.parametrize("ids", ["auto", "path"])
@pytest.mark.parametrize("sep", [" > ", "/", "::"])
def test_a_path_does_not_repeat_the_ids_above(ids, sep):
    paths = [("Pets", "Other", "Old"), ("Farm", "Other"), ("Farm", "Cow")]
    taxonomy = Taxonomy.from_paths([sep.join(path) for path in paths], sep=sep, ids=ids)
    glue = f" {sep.strip()} "
    assert titles(taxonomy, glue.join(("Farm", "Other"))) == ("Other", ("Farm", "Other"))
    deep = "Old" if ids == "auto" else glue.join(paths[0])
    assert titles(taxonomy, deep) == ("Old", ("Pets", "Other", "Old"))


def test_a_code_that_ends_in_its_name_is_a_code():
    taxonomy = Taxonomy.from_edges(
        [("ex:Top", "ex:Cats"), ("ex:Top", "ex:Dogs")], {"ex:Cats": "Cats"}
    )
    assert titles(taxonomy, "ex:Cats") == ("Cats", ("ex:Top", "ex:Cats"))
    assert titles(taxonomy, "ex:Dogs") == ("", ("ex:Top", "ex:Dogs"))
