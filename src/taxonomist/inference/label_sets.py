"""Label sets from scores: decision rules by name, and the choice of labels within limits.

>>> import numpy as np
>>> from scipy.sparse import csr_array
>>> from taxonomist.inference.label_sets import choose, decision_rule, label_limits
>>> labels = csr_array(np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=bool))
>>> held_out = np.array([[2.0, 0.1, 0.2], [0.3, 1.5, 1.1], [1.8, 0.0, 0.4], [0.2, 1.9, 0.6]])
>>> limits = label_limits(labels)
>>> rule = decision_rule("threshold").fit([(np.arange(4), held_out)], labels, limits)
>>> choose(rule.excess([[0.1, 0.2, 0.0], [0.0, 2.1, 1.7]]), *limits).toarray().astype(int)
array([[0, 1, 0],
       [0, 1, 1]])
"""

from __future__ import annotations

from typing import Any, TypeAlias

from taxonomist.errors import ParameterError, closest
from taxonomist.inference.limits import Limits, choose, label_limits
from taxonomist.inference.rules import CategoryThresholds, FittedRule, Rule, Threshold, TopK
from taxonomist.inference.size_predictor import SizePredictor

__all__ = [
    "RULES",
    "CategoryThresholds",
    "FittedRule",
    "Limits",
    "Rule",
    "SizePredictor",
    "Threshold",
    "TopK",
    "choose",
    "decision_rule",
    "label_limits",
]

DecisionLike: TypeAlias = str | Rule
"""A decision rule by name, or an instance of a rule."""

RULES: dict[str, type[Rule]] = {
    "size": SizePredictor,
    "threshold": Threshold,
    "category_thresholds": CategoryThresholds,
    "top_k": TopK,
}
"""Decision rules by name."""


def decision_rule(decision: Any) -> Rule:
    """Return a decision rule by name, or the given rule.

    Parameters
    ----------
    decision
        ``"size"`` (``SizePredictor``), ``"threshold"`` (``Threshold``, tuned for micro-F1),
        ``"category_thresholds"`` (``CategoryThresholds``), ``"top_k"`` (``TopK`` with the mean
        number of labels as k), or an instance of a rule.

    Returns
    -------
    Rule
        The rule, not fitted yet.

    Raises
    ------
    ValueError
        If the rule is unknown.
    """
    if isinstance(decision, Rule):
        return decision
    known = ", ".join(map(repr, RULES))
    message = f"decision is {decision!r}; give {known} or an instance of a rule."
    if not isinstance(decision, str):
        is_class = isinstance(decision, type) and issubclass(decision, Rule)
        hint = f" Did you mean {decision.__name__}()?" if is_class else ""
        raise ParameterError(f"{message}{hint}")
    if decision not in RULES:
        raise ParameterError(f"{message}{closest(decision, RULES)}")
    return RULES[decision]()
