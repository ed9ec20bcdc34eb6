"""Compare models by cross-validation on the same folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.evaluation import Comparison, Plan
from taxonomist.evaluation import compare as compare_models
from taxonomist.features import TextFeatures
from taxonomist.text import TextClassifier
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.evaluation.plan import Progress
    from taxonomist.workflow.labelled import Labelled
    from taxonomist.workflow.steps import OnStep

__all__ = ["COMPARED", "FLAT", "compare", "told"]

FLAT = "flat"
"""Name of the baseline."""
COMPARING = "Comparing"
"""Name of the step."""
COMPARED = {
    False: ("accuracy", "taxonomy_loss", "hierarchical_f1", "macro_f1"),
    True: ("zero_one_loss", "symmetric_difference_loss", "hierarchical_f1", "macro_f1"),
}
"""Measures to compare, by whether items have label sets."""


def told(on_step: OnStep, step: str) -> Progress:
    """Return a callback for evaluations that passes their progress to ``on_step``."""
    return lambda done, total, _: on_step(step, done, total)


def compare(
    labelled: Labelled,
    models: Sequence[str],
    *,
    C: float = 1.0,
    n_folds: int = 3,
    random_state: int = 0,
    on_step: OnStep = silent,
) -> Comparison:
    """Cross-validate models and compare them with the flat model, which ignores the taxonomy.

    Parameters
    ----------
    labelled
        The items.
    models
        Names from ``taxonomist.text.MODELS``; ``"flat"`` is always included.
    C
        Regularisation parameter.
    n_folds
        Number of folds.
    random_state
        Random seed.
    on_step
        Called with each step, and with the number of models fitted so far.
    """
    plan = Plan(
        measures=COMPARED[labelled.is_multilabel],
        taxonomy=labelled.taxonomy,
        cv=n_folds,
        per_item=True,
        random_state=random_state,
        callback=told(on_step, COMPARING),
    )
    candidates = {
        name: TextClassifier(
            labelled.taxonomy,
            model=name,
            C=C,
            calibration=None,
            random_state=random_state,
            vectors="off",
            features="words",
            min_df=2,
            names="off",
        )
        for name in dict.fromkeys([*models, FLAT])
    }
    on_step("Counting words", 0, None)
    texts = TextFeatures().count(labelled.texts)
    on_step(COMPARING, 0, len(candidates) * n_folds)
    return compare_models(candidates, texts, labelled.targets, plan, baseline=FLAT)
