"""A model beside its flat twin."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from taxonomist import HierarchicalSVC, Taxonomy, datasets, evaluation
from taxonomist.errors import LabelError

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])


def test_a_twin_keeps_all_but_the_taxonomy():
    model = HierarchicalSVC(TREE, C=3.0, loss="tree", node_weight="unit")
    twin = evaluation.flat_twin(model)
    assert (twin.attributes, twin.loss) == ("flat", "zero_one")
    assert (twin.C, twin.node_weight, twin.taxonomy) == (3.0, "unit", TREE)
    assert model.attributes == "taxonomy"


def test_a_twin_of_a_pipeline():
    model = make_pipeline(StandardScaler(), HierarchicalSVC(TREE, loss="tree"))
    twin = evaluation.flat_twin(model)
    assert twin[-1].attributes == "flat"
    assert twin[-1].loss == "zero_one"


def test_a_model_without_taxonomy_has_no_twin():
    with pytest.raises(LabelError, match="GaussianNB has neither attributes nor a taxonomy"):
        evaluation.flat_twin(GaussianNB())


def test_the_table_has_both_and_tests_against_the_flat_one():
    data = datasets.make_taxonomy_data(200, depth=2, random_state=0)
    plan = evaluation.Plan(measures=["accuracy", "taxonomy_loss"], taxonomy=data.taxonomy, cv=3)
    table = evaluation.compare_flat(HierarchicalSVC(data.taxonomy), data.X, data.y, plan)
    assert table.models == ("hierarchical", "flat")
    assert table.baseline == "flat"
    interval = table.difference("hierarchical", "taxonomy_loss")
    assert np.isfinite([interval.low, interval.high]).all()
