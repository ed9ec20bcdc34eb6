"""Pruning of linear models: set small weights to 0, so that they need not be stored."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.inference.scorers import NoWeightsError

if TYPE_CHECKING:
    from taxonomist._typing import Reals


def pruned(model: Any, share: float = 0.0, *, below: float = 0.0) -> Any:
    """Return a copy of a model with its smallest weights set to 0.

    The size of a weight is only a rough guide to its effect on predictions: compare both models on
    held-out items. ``save(..., prune=...)`` stores a pruned model in less space.

    Parameters
    ----------
    model
        A fitted model that is linear in its features, or one that contains such models, such as a
        pipeline. Kernel models have no feature weights.
    share
        Share of the nonzero weights to set to 0 in each weight array, smallest first.
    below
        Weights with an absolute value below this are also set to 0.

    Returns
    -------
    Any
        A model of the same class. Unchanged parts are shared with the given model. The certificate
        (objective, duality gap) is still that of the given model.

    Raises
    ------
    ValueError
        If the model has no feature weights, or if ``share`` is not in [0, 1).
    """
    if not 0 <= share < 1:
        raise ParameterError(
            f"The share of weights to prune must be at least 0 and below 1. Got {share!r}."
        )
    if not below >= 0:
        raise ParameterError(f"below must be at least 0. Got {below!r}.")
    pruner = _Pruner(share, below)
    found = pruner.of(model)
    if not pruner.has_weights:
        raise ParameterError(
            f"{type(model).__name__} has no feature weights to prune: it is not linear or not "
            "fitted."
        )
    return found


class _Pruner:
    """Copies a model and its nested models wherever weights are pruned."""

    def __init__(self, share: float, below: float) -> None:
        self.has_weights = False
        self._share = share
        self._below = below
        self._met: dict[int, tuple[Any, Any]] = {}

    def of(self, value: object) -> Any:
        """Return the value, or a copy with pruned weights if it has weights."""
        if not isinstance(value, list | tuple | dict) and not hasattr(value, "get_params"):
            return value
        if id(value) not in self._met:
            self._met[id(value)] = value, self._copied(value)
        return self._met[id(value)][1]

    def _copied(self, value: object) -> Any:
        """Return a copy if anything changes, else the value itself."""
        if isinstance(value, dict):
            entries = {key: self.of(entry) for key, entry in value.items()}
            is_same = all(entries[key] is value[key] for key in value)
            return value if is_same else entries
        if isinstance(value, list | tuple):
            if hasattr(value, "_fields"):
                return value
            items = [self.of(entry) for entry in value]
            is_same = all(new is old for new, old in zip(items, value, strict=True))
            return value if is_same else type(value)(items)
        return self._model(value)

    def _model(self, model: Any) -> Any:
        """Return a model with pruned weights and pruned nested models."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        if hasattr(model, "pruned"):
            try:
                found = model.pruned(self._table)
            except NoWeightsError:
                return model
            self.has_weights = True
            return found
        changed = {name: self.of(member) for name, member in vars(model).items()}
        changed = {name: new for name, new in changed.items() if new is not getattr(model, name)}
        if isinstance(model, LinearSVC | LogisticRegression) and hasattr(model, "coef_"):
            self.has_weights = True
            changed["coef_"] = self._table(model.coef_)
        if not changed:
            return model
        result = copy(model)
        result.__dict__.update(changed)
        return result

    def _table(self, weights: Reals) -> Reals:
        """Return an array of weights with the smallest set to 0."""
        size = np.abs(weights)
        least = self._below
        positive = size[size > 0]
        if len(positive):
            k = int(self._share * len(positive))
            least = max(least, float(np.partition(positive, k)[k]))
        return np.where(size < least, weights.dtype.type(0), weights)
