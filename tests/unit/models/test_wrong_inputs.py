"""Wrong parameters and values beyond computing are answered by a sentence, in every model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import (
    CalibratedClassifier,
    CoupledBinarySVC,
    HierarchicalPerceptron,
    HierarchicalSVC,
    LidstoneNB,
    NumberedClassifier,
    PathSVC,
    Taxonomy,
    models,
)
from taxonomist.errors import LabelError, ParameterError

TAXONOMY = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("d", "e"), ("d", "f")])
LABELS = np.array(["b", "c", "e", "f"] * 5)
X = np.random.default_rng(0).poisson(0.2 + 5 * np.eye(4)[np.arange(20) % 4]).astype(float)
KINDS = [*models.all_models().values(), NumberedClassifier]


def made(kind, taxonomy=TAXONOMY, **parameters):
    """Return a model; of one that holds another, the parameters are those of the inner one."""
    if kind in (CalibratedClassifier, NumberedClassifier):
        return kind(HierarchicalSVC(taxonomy, **parameters))
    return kind(taxonomy, **parameters)


@pytest.mark.parametrize("C", ["1", None, np.nan, 0, -1.0, True, [1.0], 1j], ids=repr)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_c_is_a_number_above_0(kind, C):
    if not {"C", "model__C"} & made(kind).get_params().keys():
        assert kind.__name__.startswith(("Lidstone", "PLSA", "Threshold", "Hier", "Blended"))
        return
    with pytest.raises(ParameterError, match=r"^C must be a .*number above 0.* Got "):
        made(kind, C=C).fit(X, LABELS)


@pytest.mark.parametrize("taxonomy", ["foo", {"a": ["b"]}, 3], ids=repr)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_taxonomy_is_a_taxonomy(kind, taxonomy):
    with pytest.raises(ParameterError, match=r"taxonomy must be a Taxonomy or None; .* Got "):
        made(kind, taxonomy).fit(X, LABELS)


@pytest.mark.parametrize("value", [1e200, -1e200, 1e19], ids=repr)
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_huge_values_are_refused(kind, form, value):
    large = X.copy()
    large[3, 2] = value
    # Counts must not be negative, which is said first.
    message = "X contains .*too large for .*Scale the features|Negative values"
    with pytest.raises(ValueError, match=message):
        made(kind).fit(form(large), LABELS)


@pytest.mark.parametrize("kind", [HierarchicalSVC, CalibratedClassifier, LidstoneNB])
def test_huge_values_are_refused_in_prediction(kind):
    model = made(kind).fit(X, LABELS)
    for method in ("predict", "decision_function", "predict_topk", "predict_paths"):
        with pytest.raises(ParameterError, match=r"X contains 1e\+200, which is too large"):
            getattr(model, method)(np.full((1, 4), 1e200))


def test_kernel_values_may_be_larger():
    gram = X @ X.T
    model = HierarchicalSVC(TAXONOMY, kernel="precomputed", random_state=0, max_iter=3)
    with pytest.raises(ParameterError, match=r"at most 1e\+36"):
        model.fit(gram * 1e40, LABELS)


def test_partial_fit_refuses_huge_values():
    for model in (HierarchicalPerceptron(TAXONOMY), LidstoneNB(TAXONOMY, alpha=1.0)):
        with pytest.raises(ParameterError, match="too large"):
            model.partial_fit(X * 1e200, LABELS)


def test_large_values_are_still_learned():
    model = CoupledBinarySVC(TAXONOMY, random_state=0).fit(X * 1e15, LABELS)
    assert model.score(X * 1e15, LABELS) > 0.8


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("taxonomy", [None, TAXONOMY])
def test_a_missing_label_is_named(missing, taxonomy):
    y = np.array([*LABELS[:2], missing, *LABELS[3:]], dtype=object)
    with pytest.raises(LabelError, match="y has no label at position 2; remove items without lab"):
        PathSVC(taxonomy).fit(X, y)
