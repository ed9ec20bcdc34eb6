"""The convergence of a solver: objectives and active variables over passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxonomist.errors import ParameterError, import_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def convergence(model: Any, x: str = "passes") -> Figure:
    """Draw objectives and the fraction of active dual variables over passes [CH04, Fig. 4].

    Parameters
    ----------
    model
        A fitted model with a ``history_``, such as ``HierarchicalSVC``.
    x
        The horizontal axis: ``"passes"`` or ``"seconds"``.

    Returns
    -------
    matplotlib.figure.Figure
        The upper plot shows the primal and dual objectives, with hollow marks for estimated
        primal values. The lower plot shows the fraction of positive dual variables
        [CH04, Eq. 41].
    """
    if x not in ("passes", "seconds"):
        raise ParameterError(f"x must be 'passes' or 'seconds'. Got {x!r}.")
    figure: Figure = import_extra("matplotlib.figure", "plot").Figure(
        figsize=(6, 6), layout="constrained"
    )
    history = model.history_
    at = list(range(1, len(history) + 1)) if x == "passes" else [p.seconds for p in history]
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(at, [p.dual for p in history], marker=".", label="dual")
    (line,) = upper.plot(at, [p.primal for p in history], label="primal")
    for exact, fill in ((True, "full"), (False, "none")):
        chosen = [(t, p.primal) for t, p in zip(at, history, strict=True) if p.is_exact == exact]
        if chosen:
            upper.plot(*zip(*chosen, strict=True), "o", color=line.get_color(), fillstyle=fill)
    upper.set_ylabel("objective")
    upper.legend()
    variables = history[-1].n_active / model.active_ratio_ if model.active_ratio_ else 1.0
    lower.plot(at, [p.n_active / variables for p in history], marker=".")
    lower.set_ylabel("active dual variables")
    lower.yaxis.set_major_formatter("{x:.1%}")
    lower.set_xlabel("pass" if x == "passes" else "seconds")
    return figure
