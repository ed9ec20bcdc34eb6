"""scikit-learn's own checks, on classifiers with calibrated probabilities."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from taxonomist import CoupledBinarySVC, HierarchicalSVC, LidstoneNB, NodeSVC
from taxonomist.models.calibrated import CalibratedClassifier

ESTIMATORS = [
    CalibratedClassifier(HierarchicalSVC(random_state=0)),
    CalibratedClassifier(NodeSVC(random_state=0), method="isotonic", cv=2),
    CalibratedClassifier(LidstoneNB(), cv=2),
]
VARIANTS = [
    CalibratedClassifier(HierarchicalSVC(random_state=0), method="platt", cv=3),
    CalibratedClassifier(CoupledBinarySVC(max_iter=20, cv=2, random_state=0), cv=2),
    CalibratedClassifier(LogisticRegression(), cv=2),
]
FOLDS = "repeats items in place of weights, which then are dealt to other folds"
TUNED = "expects labels where probabilities are above 1/2; the model chooses them by scores"
OTHER = "expects the most probable category, where the model's own has the best score"
NEGATIVE = "gives negative features, though the tags say that they must be counts"


def expected_failures(estimator):
    failures = {
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    }
    if isinstance(estimator.model, (CoupledBinarySVC, LidstoneNB, NodeSVC)):
        failures["check_classifier_multioutput"] = TUNED
    if isinstance(estimator.model, LidstoneNB):
        failures["check_decision_proba_consistency"] = NEGATIVE
    if estimator.method != "temperature":
        failures["check_classifiers_train"] = OTHER
    return failures


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_variants(estimator, check):
    check(estimator)
