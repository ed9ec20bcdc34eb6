"""scikit-learn's own checks, on every public estimator: a new class is tested without an edit."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.estimators import (
    CLASSIFIERS,
    DEFAULTS,
    EXACT_ONES,
    EXPECTED,
    HIDDEN,
    PARAMETERS,
    VARIANTS,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def checks_of(cases):
    """Return the decorator that runs all checks on all estimators."""
    failures = {repr(case.estimator): case.failures for case in cases}
    assert len(failures) == len(cases)
    return parametrize_with_checks(
        [case.estimator for case in cases],
        expected_failed_checks=lambda estimator: failures[repr(estimator)],
    )


@checks_of(DEFAULTS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@checks_of(VARIANTS)
def test_scikit_learn_checks_of_variants(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("case", "check"),
    [
        pytest.param(case, check, id=f"{type(case.estimator).__name__}-{check}")
        for case in EXACT_ONES
        for check in EXPECTED[type(case.estimator)]
        if check not in case.failures
    ],
)
def test_exact_ones_pass_what_defaults_are_excused_from(case, check):
    kind = type(case.estimator)
    getattr(estimator_checks, check)(kind.__name__, clone(case.estimator))


def test_every_classifier_is_found():
    assert len(CLASSIFIERS) >= 14
    assert not HIDDEN
    assert EXPECTED.keys() | PARAMETERS.keys() <= set(CLASSIFIERS)
