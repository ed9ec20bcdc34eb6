"""scikit-learn's own checks, on every public estimator: a new class is tested without an edit."""

from __future__ import annotations

import os
import re
from functools import cache, partial

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from tests.contract.estimators import (
    CLASSIFIERS,
    DEFAULTS,
    EXACT_ONES,
    EXPECTED,
    HIDDEN,
    LONG_CHECKS,
    PARAMETERS,
    SHORTER,
    SHORTER_ONES,
    VARIANTS,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def applies(estimator, check):
    """Whether a check has something to check; scikit-learn would skip it if not."""
    name = check.func.__name__
    if "array_api" in name:
        return "SCIPY_ARRAY_API" in os.environ
    return not name.endswith("_predict_proba") or hasattr(estimator, "predict_proba")


@cache
def title(value):
    """Return the name of an estimator or of a check."""
    if not isinstance(value, partial):
        return re.sub(r"\s", "", repr(value))
    options = ",".join(f"{key}={option}" for key, option in value.keywords.items())
    return value.func.__name__ + (f"({options})" if options else "")


def all_checks(cases):
    """Return all checks of all estimators that apply."""
    return [
        one
        for case in cases
        for one in estimator_checks.estimator_checks_generator(
            case.estimator, mark="xfail", expected_failed_checks=case.failures
        )
        if applies(*getattr(one, "values", one))
    ]


def takes_long(one):
    """Whether a check takes long with the defaults of the estimator."""
    estimator, check = getattr(one, "values", one)
    return type(estimator) in SHORTER and check.func.__name__ in LONG_CHECKS


def is_repeated(one):
    """Whether a check is made again with float32: items in memory that cannot be written to."""
    check = getattr(one, "values", one)[1]
    return title(check) == "check_classifiers_train(readonly_memmap=True)"


def parametrized(found):
    return pytest.mark.parametrize(("estimator", "check"), found, ids=title)


@parametrized([one for one in all_checks(DEFAULTS) if not (takes_long(one) or is_repeated(one))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrized([one for one in all_checks(SHORTER_ONES) if takes_long(one)])
def test_scikit_learn_checks_with_fewer_passes(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrized([one for one in all_checks(DEFAULTS) if takes_long(one) or is_repeated(one)])
def test_scikit_learn_checks_that_take_long(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrized(all_checks(VARIANTS))
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
    assert EXPECTED.keys() | PARAMETERS.keys() | SHORTER.keys() <= set(CLASSIFIERS)
