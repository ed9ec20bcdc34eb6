"""The optimisation of H-M3: losses over time, and the paper's update directions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.microlabels import microlabel_values
from taxonomist.features import TfidfWeights
from taxonomist.losses import labelling_loss
from taxonomist.models import HierarchicalRLS, MaxMarginMarkovClassifier, NodeSVC, TopDownSVC
from taxonomist.plots.axes import new_figure
from taxonomist.solvers import subspace
from taxonomist.solvers.markov_problem import MarkovProblem, labelled_tree
from taxonomist.solvers.problem import FeatureRows
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from taxonomist.experiments.declarations import Results
    from taxonomist.experiments.work.trials import MakeProblem, SplitData
    from taxonomist.solvers.solution import Pass

ORACLES = {"dp": "dynamic", "lp": "linear_program"}
Parameters: TypeAlias = dict[str, Any]
"""Parameters of a model by name."""
RAW: Parameters = {
    "decision": "argmax",
    "cv": 0,
    "min_labels": 0,
    "constant": 0.0,
    "random_state": 0,
    "n_jobs": 1,
}
"""H-M3 as in the paper: no constant feature, and the best labelling without any further rule."""
AS_IN_PAPER: Parameters = {"loss": "hinge", "bias": "free", "random_state": 0}
"""SVM and H-SVM as in the paper: what SVM-light solves."""


def losses_over_time(problem: MakeProblem, *, passes: Sequence[int], repeats: int) -> Result:
    """Stop the paper's algorithm after several numbers of passes, and measure it.

    Parameters
    ----------
    problem
        Loads counts of words; the first split is used.
    passes
        The numbers of passes, ascending.
    repeats
        Number of runs, each with its own seed.

    Returns
    -------
    Result
        Of the first repeat: ``at``, seconds; ``objective``, per cent of the optimum; ``train`` and
        ``test``, the symmetric difference loss. Of each repeat: ``objective_seconds`` until the
        objective is within 2 % of the optimum (or the last pass), ``loss_seconds`` until the test
        loss is within 2 % of its final value, ``share_zero`` of the final marginals;
        ``svm_seconds``, ``hsvm_seconds`` and ``rls_seconds`` of the other methods, and
        ``markov_seconds`` of H-M3 with this library's own solver to a gap of 2 %, all with
        prediction of the test items.
    """
    data = problem()
    parts = _parts(data)
    best = MaxMarginMarkovClassifier(data.taxonomy, tol=5e-3, **RAW).fit(parts[0], parts[2])
    values: dict[str, list[float]] = {}
    for seed in range(repeats):
        curve = _curve(data, parts, passes, seed, best.dual_objective_)
        if seed == 0:
            values |= {name: curve[name] for name in ("at", "objective", "train", "test")}
        at, objective, test = (np.array(curve[name]) for name in ("at", "objective", "test"))
        far = np.flatnonzero(np.abs(test / test[-1] - 1) > 0.02)
        found = {
            "objective_seconds": at[min(int(np.count_nonzero(objective < 98)), len(at) - 1)],
            "loss_seconds": at[far[-1] + 1 if len(far) else 0],
            "share_zero": curve["share_zero"][0],
        }
        for name, value in found.items():
            values.setdefault(name, []).append(float(value))
    return Result(values | _fit_times(data, parts, repeats))


def _curve(
    data: SplitData, parts: Sequence[Any], passes: Sequence[int], seed: int, optimum: float
) -> dict[str, list[float]]:
    """Return seconds, objective and losses after several numbers of passes."""
    X, X_test, y, y_test = parts
    values: dict[str, list[float]] = {name: [] for name in ("at", "objective", "train", "test")}
    for limit in passes:
        given = RAW | {"random_state": seed, "solver": "subspace", "tol": 1e-3, "max_iter": limit}
        model = MaxMarginMarkovClassifier(data.taxonomy, **given).fit(X, y)
        values["at"].append(model.history_[-1].seconds)
        values["objective"].append(100 * model.dual_objective_ / optimum)
        for name, items, truth in (("train", X, y), ("test", X_test, y_test)):
            found = microlabel_values(truth, model.predict_labels(items), data.taxonomy)
            values[name].append(float(found["delta"].mean()))
    n_marginals = len(y) * 4 * (data.taxonomy.n_nodes - 1)
    return values | {"share_zero": [1 - model.history_[-1].n_active / n_marginals]}


def _fit_times(data: SplitData, parts: Sequence[Any], repeats: int) -> dict[str, list[float]]:
    """Return the seconds of training and prediction of the methods, measured alternately."""
    X, X_test, y, _ = parts
    models = {
        "svm": NodeSVC(data.taxonomy, **AS_IN_PAPER),
        "hsvm": TopDownSVC(data.taxonomy, **AS_IN_PAPER),
        "rls": HierarchicalRLS(data.taxonomy),
        "markov": MaxMarginMarkovClassifier(data.taxonomy, tol=0.02, **RAW),
    }
    seconds: dict[str, list[float]] = {f"{name}_seconds": [] for name in models}
    for _ in range(repeats):
        for name, model in models.items():
            started = time.perf_counter()
            model.fit(X, y).predict_labels(X_test)
            seconds[f"{name}_seconds"].append(time.perf_counter() - started)
    return seconds


def climbs(
    problem: MakeProblem,
    *,
    limits: Mapping[str, Sequence[int]],
    tol: float,
    repeats: int,
    most_seconds: float,
) -> Result:
    """Run the paper's algorithm with both ways to find update directions, alternately.

    Parameters
    ----------
    problem
        Loads counts of words; the training items of the first split are used.
    limits
        The iteration limits of ``"dp"``, dynamic programming, and ``"lp"``, linear programs.
    tol
        The relative duality gap at which to stop.
    repeats
        Number of repeats.
    most_seconds
        Time limit of a run.

    Returns
    -------
    Result
        For each run such as ``dp10``, the ``seconds dp10`` by repeat, and of the first repeat
        ``at dp10`` and ``objective dp10``, per cent of the largest dual objective of all.
    """
    data = problem()
    train = data.splits[0][0]
    tree = MarkovProblem(
        items=FeatureRows(_parts(data)[0], np.float64),
        labels=labels.close(
            data.taxonomy, labels.encode_sets(data.taxonomy, [data.y[item] for item in train])
        ),
        costs=np.ones(len(train)),
        tree=labelled_tree(labelling_loss("symmetric_difference", data.taxonomy), "edge", "all"),
    )
    runs = {f"{kind}{limit}": (kind, limit) for kind in limits for limit in limits[kind]}
    _climb(tree, "dp", 1, 0.9, np.inf)  # compiles, which may take longer than the limit
    values: dict[str, list[float]] = {f"seconds {name}": [] for name in runs}
    for repeat in range(repeats):
        for name, (kind, limit) in runs.items():
            history = _climb(tree, kind, limit, tol, most_seconds)
            values[f"seconds {name}"].append(history[-1].seconds)
            if repeat == 0:
                values[f"at {name}"] = [entry.seconds for entry in history]
                values[f"objective {name}"] = [entry.dual for entry in history]
    best = max(values[f"objective {name}"][-1] for name in runs)
    for name in runs:
        values[f"objective {name}"] = [100 * v / best for v in values[f"objective {name}"]]
    return Result(values)


def _climb(
    tree: MarkovProblem, kind: str, limit: int, tol: float, most_seconds: float
) -> list[Pass]:
    options = subspace.SubspaceOptions(
        tol=tol,
        dtype="float64",
        oracle=ORACLES[kind],
        steps_per_example=limit,
        chunk_size=tree.n_items,
    )
    found = subspace.solve(tree, options, lambda entry: entry.seconds > most_seconds)
    return list(found.history)


def _parts(data: SplitData) -> tuple[Any, Any, list[Any], list[Any]]:
    """Return the weighted items of the first split and their labels."""
    train, test = data.splits[0]
    weights = TfidfWeights().fit(data.X[train])
    y, y_test = ([data.y[item] for item in part] for part in (train, test))
    return weights.transform(data.X[train]), weights.transform(data.X[test]), y, y_test


def draw_losses(results: Results, *, cell: str) -> Figure:
    """Draw the objective and the losses over time [RSSS06, Fig. 2]."""
    values = results[cell].values
    figure = new_figure(6, 4)
    axes = figure.subplots()
    axes.plot(values["at"], values["objective"], "k.-", label="objective")
    axes.set_ylabel("objective (% of the optimum)")
    losses = axes.twinx()
    losses.plot(values["at"], values["train"], "C0.--", label="training loss")
    losses.plot(values["at"], values["test"], "C1.--", label="test loss")
    losses.set_ylabel("symmetric difference loss")
    axes.set_xlabel("seconds")
    axes.set_xscale("log")
    handles, names = (a + b for a, b in zip(*_legends(axes, losses), strict=True))
    axes.legend(handles, names, loc="center right")
    axes.grid(alpha=0.3)
    return figure


def draw_climbs(results: Results, *, cell: str, lines: Mapping[str, str]) -> Figure:
    """Draw the objective over time for several runs [RSSS06, Fig. 3]."""
    values = results[cell].values
    figure = new_figure(6, 4)
    axes = figure.subplots()
    for name, shown in lines.items():
        axes.plot(values[f"at {name}"], values[f"objective {name}"], marker=".", label=shown)
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("objective (% of the largest)")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _legends(*axes: Any) -> list[tuple[list[Any], list[str]]]:
    """Return the handles and names of the lines of each axes."""
    return [one.get_legend_handles_labels() for one in axes]
