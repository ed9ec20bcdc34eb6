"""Models side by side: a table of measures that marks best and significant results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError, closest
from taxonomist.evaluation import rendering
from taxonomist.evaluation.cross_validation import CrossValidation, collect, deviation, fold_tasks
from taxonomist.evaluation.measures import MEASURES, as_measures
from taxonomist.evaluation.plan import Plan, run
from taxonomist.evaluation.significance import Interval, bootstrap_interval, permutation_test

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import ArrayLike

    from taxonomist._typing import Classifier, Floats, ItemsLike, LabelsLike

# A fixed seed for tests and intervals, so that the same results always give the same table.
_SEED = 0


@dataclass(frozen=True)
class ComparisonCell:
    """One model's result for one measure.

    Attributes
    ----------
    mean, std
        Mean and standard deviation of the values.
    best
        Whether no model has a better mean.
    p_value
        P-value of the paired permutation test against the baseline; None if there was no test.
    """

    mean: float
    std: float
    best: bool
    p_value: float | None

    @property
    def stars(self) -> str:
        """``**`` for p < 0.01, ``*`` for p < 0.05, else nothing."""
        p_value = 1.0 if self.p_value is None else self.p_value
        return "*" * ((p_value < 0.05) + (p_value < 0.01))


class Comparison:
    """A table with a row per model and a column per measure.

    Means and standard deviations are over the given values: for cross-validations, over folds.
    Differences from the baseline are tested, two-sided, on single items if the cross-validations
    kept item values, otherwise on the values in the table. The p-values are not corrected for
    multiple tests.

    Parameters
    ----------
    results
        The cross-validation of each model, or a mapping from measures to values per fold or item.
    baseline
        The model that the others are tested against; by default there are no tests.
    lower_is_better
        The measures for which lower is better; by default taken from the measures themselves,
        with greater is better for unknown names.

    Attributes
    ----------
    models, measures
        The names of rows and columns.
    baseline
        The name of the baseline, or None.
    lower_is_better
        The measures for which lower is better.
    values
        For each model and measure, the values behind the mean.
    cells
        For each model and measure, the :class:`ComparisonCell` of the table.

    Raises
    ------
    LabelError
        If there are no results, models have different measures or, with a baseline, different
        numbers of values or test items, or if the baseline is not among the models.
    """

    def __init__(
        self,
        results: Mapping[str, CrossValidation | Mapping[str, ArrayLike]],
        *,
        baseline: str | None = None,
        lower_is_better: Collection[str] | None = None,
    ) -> None:
        self.values = {model: _values(result) for model, result in results.items()}
        self.models = tuple(self.values)
        self.measures = tuple(next(iter(self.values.values()), ()))
        self.baseline = baseline
        self._check()
        self.lower_is_better = frozenset(
            _known_losses(results) if lower_is_better is None else lower_is_better
        )
        self._pairs = {
            model: {**self.values[model], **getattr(result, "item_values", {})}
            for model, result in results.items()
        }
        self._tested = {m: getattr(result, "test_items", ()) for m, result in results.items()}
        self.cells = {
            model: {measure: self._cell(model, measure) for measure in self.measures}
            for model in self.models
        }

    def pairs(self, model: str, measure: str) -> tuple[Floats, Floats]:
        """Return the paired values of a model and of the baseline.

        Parameters
        ----------
        model, measure
            Names of a row and a column.

        Returns
        -------
        tuple of ndarray
            The model's and the baseline's values, without pairs that contain NaN.

        Raises
        ------
        LabelError
            If there is no baseline, or the two were not measured on the same folds or items.
        """
        if self.baseline is None:
            raise LabelError("There is no baseline to compare with; pass baseline=.")
        ours, theirs = self._tested[model], self._tested[self.baseline]
        if ours and theirs and not all(map(np.array_equal, ours, theirs)):
            raise LabelError(
                f"{model!r} and {self.baseline!r} were tested on different items; "
                "cross-validate both on the same folds."
            )
        a, b = self._pairs[model][measure], self._pairs[self.baseline][measure]
        if a.shape != b.shape:
            given = f"{model!r} has {a.size} values of {measure}, {self.baseline!r} has {b.size}"
            raise LabelError(f"{given}; measure both on the same folds.")
        defined = ~(np.isnan(a) | np.isnan(b))
        return a[defined], b[defined]

    def difference(self, model: str, measure: str, confidence: float = 0.95) -> Interval:
        """Return a bootstrap interval of the difference between a model and the baseline.

        Parameters
        ----------
        model, measure
            Names of a row and a column.
        confidence
            Nominal coverage.

        Returns
        -------
        Interval
            Interval of the mean of the model's minus the baseline's values.

        Raises
        ------
        LabelError
            See :meth:`pairs`.
        ValueError
            If there are fewer than two pairs.
        """
        a, b = self.pairs(model, measure)
        return bootstrap_interval(a - b, confidence=confidence, random_state=_SEED)

    def to_text(self, digits: int = 3) -> str:
        """Return an aligned table; ``>`` marks the best of a column, stars significance.

        Parameters
        ----------
        digits
            Number of decimals.
        """
        return rendering.text(self, digits)

    def to_markdown(self, digits: int = 3) -> str:
        """Return a Markdown table; bold marks the best of a column, stars significance.

        Parameters
        ----------
        digits
            Number of decimals.
        """
        return rendering.markdown(self, digits)

    def to_csv(self) -> str:
        """Return comma-separated values: mean, deviation and p-value of each measure."""
        return rendering.comma_separated(self)

    def to_json(self) -> str:
        """Return the table and the values behind it as JSON; undefined values are null."""
        return rendering.json_document(self)

    def __str__(self) -> str:
        return self.to_text()

    def _check(self) -> None:
        """Raise if the results cannot form a table."""
        if not self.measures:
            raise LabelError("There is nothing to compare; pass at least one model and measure.")
        for model, values in self.values.items():
            if set(values) != set(self.measures):
                first = f"{self.models[0]!r} has {list(self.measures)}"
                raise LabelError(
                    f"The models have different measures: {model!r} has {list(values)}, {first}."
                )
        _check_baseline(self.baseline, self.models)

    def _cell(self, model: str, measure: str) -> ComparisonCell:
        values = self.values[model][measure]
        sign = -1 if measure in self.lower_is_better else 1
        means = [sign * other[measure].mean() for other in self.values.values()]
        top = max((mean for mean in means if not math.isnan(mean)), default=math.nan)
        # Means of the same values in another order may differ by rounding.
        best = math.isclose(sign * values.mean(), top, rel_tol=1e-12)
        p_value = None
        if self.baseline not in (None, model):
            a, b = self.pairs(model, measure)
            p_value = permutation_test(a, b, random_state=_SEED).p_value if a.size else None
        return ComparisonCell(float(values.mean()), float(deviation(values)), best, p_value)


def compare(
    models: Mapping[str, Classifier],
    X: ItemsLike,
    y: LabelsLike,
    plan: Plan,
    *,
    baseline: str | None = None,
) -> Comparison:
    """Cross-validate several models on the same folds and compare them.

    Parameters
    ----------
    models
        scikit-learn classifiers by name.
    X
        The items: a list of texts, an array, a sparse matrix or a data frame.
    y
        Their labels: one per item, label sets, or an indicator matrix.
    plan
        Measures, folds, taxonomy and execution options.
    baseline
        The model that the others are tested against; by default there are no tests.

    Returns
    -------
    Comparison
        The table; ``print`` shows it.

    Raises
    ------
    LabelError
        If the labels do not match the items or the taxonomy or cannot be split, if the baseline
        is not among the models, or if the plan lacks a taxonomy that a measure needs.
    """
    measures = as_measures(plan.measures)
    _check_baseline(baseline, models)
    if plan.taxonomy is None and any(measure.needs_taxonomy for measure in measures):
        needy = next(measure.name for measure in measures if measure.needs_taxonomy)
        message = f"{needy!r} must use the same taxonomy for every model; pass one to the plan."
        raise LabelError(message)
    splits = plan.splits(X, y)
    tasks = chain.from_iterable(
        fold_tasks(f"{name}: ", model, X, y, splits) for name, model in models.items()
    )
    outcomes = run(tasks, len(models) * len(splits), plan)
    results = {
        name: collect(outcomes[i * len(splits) : (i + 1) * len(splits)], measures, splits)
        for i, name in enumerate(models)
    }
    return Comparison(results, baseline=baseline)


def _check_baseline(baseline: str | None, models: Collection[str]) -> None:
    if baseline is not None and baseline not in models:
        hint = closest(baseline, models)
        raise LabelError(f"The baseline {baseline!r} is not among the models.{hint}")


def _values(result: CrossValidation | Mapping[str, ArrayLike]) -> dict[str, Floats]:
    values = result.values if isinstance(result, CrossValidation) else result
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in values.items()}
    for name, array in arrays.items():
        if array.ndim != 1 or array.size == 0:
            message = f"{name} needs one value per fold or item, but has shape {array.shape}."
            raise LabelError(message)
    return arrays


def _known_losses(results: Mapping[str, object]) -> set[str]:
    """Return the names of measures for which lower is known to be better."""
    own = [m for result in results.values() for m in getattr(result, "measures", ())]
    return {m.name for m in [*own, *MEASURES.values()] if not m.greater_is_better}
