"""Compare a model with its flat twin to see whether the taxonomy helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from taxonomist.errors import LabelError
from taxonomist.evaluation.comparison import Comparison, compare

if TYPE_CHECKING:
    from taxonomist._typing import Classifier, ItemsLike, LabelsLike
    from taxonomist.evaluation.plan import Plan


def flat_twin(model: Classifier) -> Any:
    """Return an unfitted copy of a model that ignores the taxonomy.

    Parameters
    ----------
    model
        A Taxonomist model, or a pipeline that contains one.

    Returns
    -------
    Any
        The copy with ``attributes="flat"`` and ``loss="zero_one"`` [CH07], or without a taxonomy
        if the model does not have these parameters.

    Raises
    ------
    LabelError
        If the model has no parameter that refers to a taxonomy.
    """
    twin = clone(model)
    names = twin.get_params()
    for parameter, flat in (
        ("attributes", {"attributes": "flat", "loss": "zero_one"}),
        ("taxonomy", {"taxonomy": None}),
    ):
        for name in names:
            head, _, last = name.rpartition(parameter)
            if last == "" and parameter in name and (head == "" or head.endswith("__")):
                known = {f"{head}{key}": value for key, value in flat.items()}
                return twin.set_params(**{k: v for k, v in known.items() if k in names})
    raise LabelError(
        f"{type(model).__name__} has neither attributes nor a taxonomy, so it has no flat twin."
    )


def compare_flat(model: Classifier, X: ItemsLike, y: LabelsLike, plan: Plan) -> Comparison:
    """Cross-validate a model and its flat twin on the same folds.

    Parameters
    ----------
    model
        A Taxonomist model, or a pipeline that contains one.
    X, y
        The items and their labels, as ``compare`` takes them.
    plan
        Measures, folds, taxonomy and execution options.

    Returns
    -------
    Comparison
        Rows ``"hierarchical"`` and ``"flat"`` (the baseline); ``difference`` gives intervals.
    """
    models = {"hierarchical": model, "flat": flat_twin(model)}
    return compare(models, X, y, plan, baseline="flat")
