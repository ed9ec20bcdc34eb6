"""Smaller linear models: weights of little size are set to 0, and need not be stored."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from taxonomist.inference.scorers import NoWeightsError


def pruned(model: Any, share: float = 0.0, *, below: float = 0.0) -> Any:
    """Return a copy of a model without its smallest weights.

    Which weights matter little for predictions the size of the weights tells only roughly: compare
    the two models on items that neither has seen. ``save(..., prune=...)`` stores such a model in
    less room.

    Parameters
    ----------
    model
        A fitted model that is linear in its features, or one that is made of such models, like a
        pipeline. With a kernel there are no weights of features.
    share
        Share of the weights that become 0, the smallest first, in each table of weights; those that
        are 0 already do not count.
    below
        Weights of less than this size become 0, too.

    Returns
    -------
    Any
        A model of the same class. What does not change is shared with the given one. Its
        certificate is that of the given one.

    Raises
    ------
    ValueError
        If there are no such weights, or the share is not from 0 to 1.
    """
    if not 0 <= share < 1:
        raise ValueError(f"The share of weights to prune must be from 0 up to 1. Got {share!r}.")
    if not below >= 0:
        raise ValueError(f"below must be a number from 0 on. Got {below!r}.")
    pruner = _Pruner(share, below)
    found = pruner.of(model)
    if not pruner.has_weights:
        raise ValueError(
            f"{type(model).__name__} has no weights of features to prune: it is not linear, or not "
            "fitted."
        )
    return found


class _Pruner:
    """Copies a model, and what it is made of, where there are weights."""

    def __init__(self, share: float, below: float) -> None:
        self.has_weights = False
        self._share = share
        self._below = below
        self._met: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """Return a value, with pruned weights if it has some."""
        if not isinstance(value, list | tuple | dict) and not hasattr(value, "get_params"):
            return value
        if id(value) not in self._met:
            self._met[id(value)] = value, self._copied(value)
        return self._met[id(value)][1]

    def _copied(self, value: Any) -> Any:
        """Return a copy if something changes in it, else the value itself."""
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
        """Return a model with pruned weights of its own, and with pruned models inside."""
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

    def _table(self, weights: Any) -> Any:
        """Return a table of weights without the smallest."""
        size = np.abs(weights)
        least = self._below
        positive = size[size > 0]
        if len(positive):
            k = int(self._share * len(positive))
            least = max(least, float(np.partition(positive, k)[k]))
        return np.where(size < least, weights.dtype.type(0), weights)
