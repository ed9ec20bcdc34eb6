"""The report's sections about the model: facts, search, and comparison with the flat twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING

from taxonomist.evaluation.significance import smallest_p_value
from taxonomist.report.html import Html, join, number, table, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist.evaluation.comparison import Comparison

SEARCH = "search"
"""Name of the fact that holds the search: a record per candidate."""

CHOSEN = "chosen"
"""Name of the field of a candidate that says whether it was chosen."""
ROUNDED_TO_ZERO = 0.0005
"""p-values below this would be 0.000 with three decimals."""


def flat_comparison(comparison: Comparison) -> Html:
    """Return the comparison with the baseline: a sentence, and differences with intervals."""
    baseline = comparison.baseline
    others = [model for model in comparison.models if model != baseline]
    pairs = [(model, measure) for model in others for measure in comparison.measures]
    rows = [_difference(comparison, *pair) for pair in pairs]
    signs = [_sign(comparison, *pair) for pair in pairs]
    sentence = tag(
        "p",
        f"Significantly better than the {baseline} model: {signs.count(1)} of {len(rows)}; "
        f"significantly worse: {signs.count(-1)} of {len(rows)} (p < 0.05).",
        class_="lead",
    )
    least = max(smallest_p_value(comparison.pairs(*pair)[0].size) for pair in pairs)
    note = f" With so few pairs, p cannot be below {least:.3g}." if least >= 0.05 else ""
    head = ("Measure", "model", "mean", f"{baseline}", "difference", "95 % interval", "p")
    caption = (
        "On the same folds. Two-sided paired permutation test, not corrected for several "
        f"tests.{note}"
    )
    return join([sentence, table(caption, head, rows)])


def _difference(comparison: Comparison, model: str, measure: str) -> Sequence[object]:
    """Return the row for a model's difference from the baseline."""
    cell = comparison.cells[model][measure]
    base = comparison.cells[str(comparison.baseline)][measure]
    arrow = "lower" if measure in comparison.lower_is_better else "higher"
    ends = "–"
    if comparison.pairs(model, measure)[0].size > 1:
        interval = comparison.difference(model, measure)
        ends = f"{interval.low:+z.3f} to {interval.high:+z.3f}"
    difference = cell.mean - base.mean
    verdict = {1: "better", -1: "worse", 0: ""}[_sign(comparison, model, measure)]
    return (
        join([measure, " ", tag("span", f"{arrow} is better", class_="id")]),
        model,
        number(cell.mean),
        number(base.mean),
        join([tag("span", f"{difference:+z.3f}", class_=verdict or None), f" {verdict}"]),
        ends,
        "< 0.001" if (cell.p_value or 1) < ROUNDED_TO_ZERO else number(cell.p_value),
    )


def _sign(comparison: Comparison, model: str, measure: str) -> int:
    """Return 1 if a model is significantly better than the baseline, -1 if worse, else 0."""
    cell = comparison.cells[model][measure]
    if cell.p_value is None or cell.p_value >= 0.05:
        return 0
    above = cell.mean > comparison.cells[str(comparison.baseline)][measure].mean
    return 1 if above != (measure in comparison.lower_is_better) else -1


def facts(given: Mapping[str, object]) -> Html:
    """Return facts about a model as a list of names and values."""
    entries = [
        tag("div", tag("dt", name.replace("_", " ")), tag("dd", _value(value)))
        for name, value in given.items()
        if name != SEARCH
    ]
    return tag("dl", *entries, class_="facts")


def search(tried: Iterable[object]) -> Html:
    """Return a table with a row per candidate of the search."""
    records = [_record(entry) for entry in tried]
    names = list(dict.fromkeys(name for record in records for name in record if name != CHOSEN))
    rows = []
    for record in records:
        cells = [_value(record.get(name, "–")) for name in names]
        cells[0] += " ✓ chosen" if record.get(CHOSEN) else ""
        rows.append(cells)
    return table("All candidates and their results.", [n.replace("_", " ") for n in names], rows)


def _record(entry: object) -> dict[str, object]:
    """Return a mapping, a dataclass or a named tuple as a dict."""
    if isinstance(entry, Mapping):
        return dict(entry)
    if is_dataclass(entry) and not isinstance(entry, type):
        return asdict(entry)
    return dict(entry._asdict()) if hasattr(entry, "_asdict") else {"candidate": entry}


def _value(value: object) -> str:
    """Format a value for people."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:z.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(entry)}" for name, entry in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    return str(value)
