"""The models that a text classifier knows by name."""

from __future__ import annotations

import pytest

from taxonomist import Taxonomy
from taxonomist.text.models import DEFAULT_MODEL, MODELS, make_model

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])


@pytest.mark.parametrize("is_multilabel", [False, True])
def test_every_model_that_has_a_cost_gets_the_given_one(is_multilabel):
    with_cost = [name for name, choice in MODELS.items() if choice.has_cost]
    assert {DEFAULT_MODEL, "nodes", "svm", "flat"} <= set(with_cost)
    for name in with_cost:
        made = make_model(name, TREE, is_multilabel=is_multilabel, C=10.0)
        assert made.get_params(deep=False)["C"] == 10.0


def test_a_blend_passes_parameters_on_to_the_models_that_have_them():
    made = make_model("path + svm", TREE, is_multilabel=False, C=10.0, negatives="siblings")
    path, svm = made.models
    assert (path.C, path.negatives, svm.C) == (10.0, "siblings", 10.0)
