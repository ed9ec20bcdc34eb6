"""scikit-learn's own checks for transformers of texts: those that need no matrix."""

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks as checks

from taxonomist.features import (
    ContextFeatures,
    SentenceVectors,
    SequenceCodes,
    SpectrumFeatures,
    TfidfFeatures,
)

TEXT_CHECKS = [
    checks.check_estimator_cloneable,
    checks.check_estimator_repr,
    checks.check_estimator_tags_renamed,
    checks.check_get_params_invariance,
    checks.check_no_attributes_set_in_init,
    checks.check_parameters_default_constructible,
    checks.check_set_params,
    checks.check_valid_tag_types,
    checks.check_do_not_raise_errors_in_init_or_set_params,
    checks.check_mixin_order,
]


@pytest.mark.parametrize("check", TEXT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "estimator",
    [SpectrumFeatures(), TfidfFeatures(), SequenceCodes(), ContextFeatures(), SentenceVectors()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_texts(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize(
    "estimator",
    [SpectrumFeatures(2), TfidfFeatures(), ContextFeatures([]), SentenceVectors()],
    ids=str,
)
def test_an_unfitted_transformer_says_so(estimator):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        estimator.transform(["a b"])
    with pytest.raises(NotFittedError):
        estimator.get_feature_names_out()


@pytest.mark.parametrize(
    "estimator", [SpectrumFeatures(2), TfidfFeatures(), SequenceCodes()], ids=str
)
def test_fit_is_idempotent_and_leaves_items_alone(estimator):
    items = ["the cat", "cat", ["a", "b"]]
    first = clone(estimator).fit(items)
    again = clone(estimator).fit(["something else"]).fit(items, y=[0, 1, 1])
    assert items == ["the cat", "cat", ["a", "b"]]
    assert (first.transform(items) != again.transform(items)).nnz == 0
    assert (first.transform(items) != clone(estimator).fit_transform(items)).nnz == 0
