"""scikit-learn's own checks, on the generative models of word counts."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from taxonomist import HierarchicalMixture, HierarchicalShrinkage, LidstoneNB
from taxonomist.inference.label_sets import Threshold

# Chosen where the score is above 0, as some checks expect.
PLAIN = Threshold(value=0.0, calibrated=False)
ESTIMATORS = [
    HierarchicalMixture(),
    HierarchicalShrinkage(),
    LidstoneNB(),
]
VARIANTS = [
    HierarchicalMixture(trust=1.0, discount=0.0, damping=None, length=0.0, path_weights="class"),
    HierarchicalMixture(inverse_temperature=[0.5, 0.8], path_weights="shrunk", held_out=0.3),
    HierarchicalShrinkage(take_out=True, decision=PLAIN, min_labels=0),
    LidstoneNB(alpha=1.0, decision="size"),
]


TUNED = "expects labels where P(c|d) is above 1/2; label sets have a threshold for each category"
NEGATIVE = "gives negative features, though the tags say that they must be counts"
DRAWN = "the share of held-out items is drawn, and not the same for repeated items"


def expected_failures(estimator):
    failures = {
        "check_classifier_multioutput": TUNED,
        "check_decision_proba_consistency": NEGATIVE,
    }
    if getattr(estimator, "held_out", None) is not None:
        failures["check_sample_weight_equivalence_on_dense_data"] = DRAWN
        failures["check_sample_weight_equivalence_on_sparse_data"] = DRAWN
    return failures


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_variants(estimator, check):
    check(estimator)
