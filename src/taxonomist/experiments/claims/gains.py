"""Relative gains of one model over another, and their correlation with properties of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.stats import rankdata

from taxonomist.experiments.claims.pairing import SEED, paired, shares
from taxonomist.experiments.declarations import LEVEL, Judgement
from taxonomist.plots.axes import new_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from taxonomist._typing import Floats
    from taxonomist.experiments.declarations import Results, Verdict

Pair: TypeAlias = tuple[str, str]
"""Names of the cell that is claimed to have the lower loss, and of the one it is compared with."""
N_PERMUTATIONS = 10_000
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def relative_gain(results: Results, pair: Pair, loss: str) -> tuple[float, float, float]:
    """Return the fraction of a loss that the first of two cells saves.

    Parameters
    ----------
    results
        The results; both cells have the loss for the same items.
    pair
        The two cells.
    loss
        The measure.

    Returns
    -------
    tuple of float
        One minus the ratio of the losses, and the ends of its 95 % bootstrap interval over items.
    """
    saved = paired(results, pair[1], pair[0], loss)
    scale = shares(results[pair[1]], loss, pair[1]).mean or 1.0
    low, high = saved.interval()
    return saved.mean / scale, low / scale, high / scale


@dataclass(frozen=True)
class Trend:
    """The claim that the relative gain grows, or shrinks, with a property of the data.

    The rank correlation of gain and property is computed in each group and averaged; a permutation
    test shuffles the gains within groups.

    Attributes
    ----------
    text
        The claim in words.
    groups
        Pairs of cells; only pairs of the same group are compared.
    loss
        The measure of the relative gain.
    over
        The property: a value of the first cell of a pair.
    grows
        Whether the gain is claimed to grow with the property, rather than to shrink.
    """

    text: str
    groups: tuple[tuple[Pair, ...], ...]
    loss: str
    over: str
    grows: bool

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(dict.fromkeys(n for group in self.groups for pair in group for n in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by a permutation test of the mean rank correlation."""
        ranks = [self._ranks(results, group) for group in self.groups]
        rng = np.random.default_rng(SEED)
        found = np.mean([x @ gain for x, gain in ranks])
        drawn = np.mean(
            [rng.permuted(np.tile(gain, (N_PERMUTATIONS, 1)), axis=1) @ x for x, gain in ranks],
            axis=0,
        )
        p_value = (1 + np.sum(np.abs(drawn) >= np.abs(found) - 1e-12)) / (1 + N_PERMUTATIONS)
        verdict: Verdict = "within noise"
        if p_value < LEVEL:
            verdict = "yes" if (found > 0) == self.grows else "no"
        n_pairs = sum(map(len, self.groups))
        because = f"rank correlation {found:.2f} over {n_pairs} pairs, p = {p_value:.2g}"
        return Judgement(verdict, because, float(p_value))

    def _ranks(self, results: Results, group: Sequence[Pair]) -> tuple[Floats, Floats]:
        """Return the ranks of property and gain, centred and of unit length."""
        at = [float(np.mean(results[pair[0]].values[self.over])) for pair in group]
        gain = [relative_gain(results, pair, self.loss)[0] for pair in group]
        return _unit_ranks(at), _unit_ranks(gain)


def _unit_ranks(values: Sequence[float]) -> Floats:
    """Return ranks, centred and of unit length; zeros if all values are equal."""
    ranks = rankdata(values)
    ranks -= ranks.mean()
    return np.asarray(ranks / (np.linalg.norm(ranks) or 1.0))


def draw_gains(
    results: Results,
    *,
    groups: Mapping[str, Sequence[Pair]],
    loss: str,
    over: Mapping[str, str],
) -> Figure:
    """Draw relative gains over properties of the data.

    Parameters
    ----------
    results
        The results.
    groups
        Pairs of cells by name; a line joins the pairs of a group, and a single pair is labelled.
    loss
        The measure of the relative gain.
    over
        The properties, side by side, with their names; the first has a logarithmic axis.

    Returns
    -------
    matplotlib.figure.Figure
        One plot per property, with 95 % intervals.
    """
    figure = new_figure(6.5 * len(over), 4.5)
    plots = figure.subplots(1, len(over), sharey=True, squeeze=False)[0]
    for axes, (measure, shown) in zip(plots, over.items(), strict=True):
        for name, pairs in groups.items():
            at = [float(np.mean(results[pair[0]].values[measure])) for pair in pairs]
            gain, low, high = 100 * np.transpose([relative_gain(results, p, loss) for p in pairs])
            bars = np.array([gain - low, high - gain])
            axes.errorbar(at, gain, bars, marker="o", capsize=2, linewidth=1, label=name)
            if len(pairs) == 1:
                axes.annotate(name, (at[0], gain[0]), (4, 4), textcoords="offset points", size=7)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.margins(x=0.15)  # room for the names
        axes.set_xlabel(shown)
        axes.grid(alpha=0.3)
    plots[0].set_xscale("log")
    low, high = plots[0].get_xlim()
    plots[0].set_xticks([at for at in TICKS if low <= at <= high], minor=False)
    plots[0].minorticks_off()
    plots[0].xaxis.set_major_formatter("{x:g}")
    plots[0].set_ylabel("loss saved by the taxonomy, %")
    if any(len(pairs) > 1 for pairs in groups.values()):
        figure.legend(loc="outside right center")
    return figure
