"""The nodes above labels against their definition, on random taxonomies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.metrics import symmetric_difference_loss, taxonomy_loss
from taxonomist.workflow.label_ancestors import LabelAncestors
from tests.strategies import taxonomies


@given(taxonomies(), st.data())
def test_sets_agree_with_their_definition(taxonomy, data):
    sets = st.lists(st.sampled_from(taxonomy.nodes), unique=True, max_size=6)
    one, other = data.draw(sets), data.draw(sets)
    ancestors = LabelAncestors(taxonomy)
    closed = [{x for y in each for x in (y, *taxonomy.ancestors(y))} for each in (one, other)]
    assert [ancestors.closed(one), ancestors.closed(other)] == closed
    virtual = {taxonomy.root} if taxonomy.has_artificial_root else set()
    above = {x for y in one for x in taxonomy.ancestors(y)}
    lowest = [x for x in one if x not in virtual | above]
    assert ancestors.most_specific(one) == lowest
    n = len(closed[0] ^ closed[1])
    assert ancestors.distance(one, other, is_multilabel=True) == n
    assert ancestors.distance(one, other, is_multilabel=False) == n / 2


def test_distances_are_the_losses_of_metrics():
    taxonomy = Taxonomy.from_paths(["a > b > c", "a > d", "e"])
    distance = LabelAncestors(taxonomy).distance
    assert distance(["c"], ["d"], is_multilabel=False) == taxonomy_loss(["c"], ["d"], taxonomy)
    sets = [["c", "e"]], [["d"]]
    expected = symmetric_difference_loss(*sets, taxonomy)
    assert distance(*sets[0], *sets[1], is_multilabel=True) == expected


def test_labels_that_a_taxonomy_has_lost_are_left_out():
    taxonomy = Taxonomy.from_paths(["a > b"])
    assert LabelAncestors(taxonomy).closed(["b", "gone"]) == {"a", "b"}
