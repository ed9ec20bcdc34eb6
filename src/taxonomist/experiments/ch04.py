"""CH04: Cai and Hofmann, Hierarchical document categorization with support vector machines."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from taxonomist.experiments import drawings
from taxonomist.experiments.claims import Better, Ratio
from taxonomist.experiments.declarations import Cell, Entry, Figure, Paper, Result, Settings, Table
from taxonomist.experiments.work.models import joint_svm, with_tfidf
from taxonomist.experiments.work.problems import PATENTS, patents, synthetic
from taxonomist.experiments.work.trials import trial
from taxonomist.features import TfidfWeights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.experiments.work.trials import MakeProblem

REPORTED = ("accuracy", "mean_reciprocal_rank", "taxonomy_loss", "parent_accuracy")
# For each measure: its column header, the factor to the paper's numbers, and their decimals.
SHOWN = {
    "accuracy": ("acc %", 100.0, 1),
    "mean_reciprocal_rank": ("prec %", 100.0, 1),
    "taxonomy_loss": ("Δ-loss", 1.0, 3),
    "parent_accuracy": ("pacc %", 100.0, 1),
}
KINDS = ("flat", "hsvm")

# By number of children, depth and margin: each measure, flat and hierarchical [CH04, Table 1].
SYNTHETIC = {
    (3, 3, 0.001): (68.9, 72.7, 81.7, 84.2, 0.621, 0.505, 80.1, 84.4),
    (3, 3, 0.1): (83.4, 89.9, 90.8, 94.7, 0.351, 0.205, 88.0, 92.9),
    (3, 2, 0.001): (87.1, 90.0, 93.1, 94.6, 0.193, 0.158, 93.6, 94.2),
    (3, 2, 0.1): (97.4, 98.7, 98.7, 99.3, 0.0478, 0.0236, 97.9, 99.0),
    (6, 2, 0.001): (67.5, 69.3, 80.2, 82.0, 0.513, 0.465, 81.1, 84.2),
    (6, 2, 0.1): (85.2, 90.5, 90.9, 94.4, 0.244, 0.15, 90.4, 94.7),
}
SECTIONS = {  # [CH04, Table 2]
    "A": (42.3, 42.9, 51.7, 53.2, 1.24, 1.15, 61.5, 65.0),
    "B": (33.2, 33.8, 41.5, 43.1, 1.54, 1.41, 57.3, 62.2),
    "C": (35.5, 35.1, 44.8, 44.6, 1.32, 1.23, 61.5, 65.6),
    "D": (41.8, 42.8, 52.3, 54.4, 1.20, 1.08, 65.4, 69.1),
    "E": (34.7, 34.3, 44.8, 46.3, 1.38, 1.30, 62.7, 64.2),
    "F": (31.2, 32.4, 40.6, 42.9, 1.47, 1.33, 57.6, 63.3),
    "G": (41.0, 41.2, 50.3, 51.1, 1.32, 1.26, 60.6, 63.0),
    "H": (43.0, 43.1, 54.2, 55.2, 1.12, 1.07, 63.3, 66.2),
}
THREE_EACH = {  # [CH04, Table 3]
    "A": (10.6, 11.7, 17.3, 20.5, 2.12, 1.87, 34.9, 43.2),
    "B": (9.56, 11.3, 14.7, 18.9, 2.25, 1.99, 36.5, 45.6),
    "C": (12.1, 13.3, 18.1, 20.7, 1.90, 1.69, 45.4, 53.0),
    "D": (19.7, 20.5, 27.2, 30.9, 1.71, 1.54, 48.9, 57.3),
    "E": (10.2, 11.4, 17.3, 20.6, 2.01, 1.82, 40.5, 48.3),
    "F": (13.1, 14.5, 19.4, 22.8, 2.02, 1.75, 40.8, 50.5),
    "G": (12.4, 13.6, 18.9, 22.4, 2.09, 1.87, 35.2, 43.5),
    "H": (14.8, 15.7, 22.6, 25.0, 1.81, 1.66, 42.0, 48.0),
}
SWEPT = ("E", "H")
COSTS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
OPTIMISED = ("D", "E", "F", "H")
DRAWN = "F"
SOLVERS = ("greedy", "full")

PATENT_SETTINGS = Settings(
    tolerance="each item's largest violation at most 0.1.",
    features="words of title and abstract, lower-cased, without stop words, that occur in at least "
    "two patents of the section (test patents included); (1 + ln tf) log2 N / N_u by the training "
    "patents, length 1.",
    splits="the corpus's three folds.",
    draws="all patents, once.",
)


def paper(is_quick: bool) -> Paper:
    """Return the experiments of the paper, or a small version of them."""
    few = 150 if is_quick else None
    sections = dict(list(SECTIONS.items())[3:5]) if is_quick else SECTIONS
    costs = (0.1, 1.0) if is_quick else COSTS
    settings = dict(list(SYNTHETIC.items())[3:4]) if is_quick else SYNTHETIC
    points = {
        name: [partial(synthetic, *name, seed, 120 if is_quick else 1000, 5) for seed in seeds]
        for name, seeds in ((name, range(1 if is_quick else 3)) for name in settings)
    }
    samples = range(1 if is_quick else 5)
    whole = {name: [partial(patents, name, n_items=few)] for name in sections}
    threes = {
        name: [partial(patents, name, per_category=3, seed=seed, n_items=few) for seed in samples]
        for name in sections
    }
    swept = [name for name in SWEPT if name in sections]
    cells = [
        *_pairs("synthetic", points, C=math.inf),
        *_pairs("section", whole, "us-patents-ipc", tol=0.1),
        *_pairs("three", threes, "us-patents-ipc", tol=0.1),
    ]
    for cost in costs:
        wanted = {name: whole[name] for name in swept}
        cells += _pairs(f"C={cost:g}", wanted, "us-patents-ipc", C=cost, tol=0.1)
    fitted = {name: partial(patents, name, n_items=few) for name in OPTIMISED[: 2 if few else 4]}
    for solver in SOLVERS:
        work = partial(optimise, *fitted.values(), solver=solver)
        cells.append(Cell(f"optimise/{solver}", work, "us-patents-ipc", is_timed=True))
        one = fitted.get(DRAWN, fitted["D"])
        cells.append(
            Cell(f"history/{solver}", partial(history, one, solver=solver), "us-patents-ipc")
        )
    return Paper(
        key="CH04",
        title="Cai and Hofmann 2004, hierarchical document categorization with SVMs",
        cells=tuple(cells),
        tables=(_table_1(settings), _table_2(sections), _table_3(sections), _optimisers()),
        figures=(_figure_3(swept, costs), _figure_4()),
    )


def optimise(*problems: MakeProblem, solver: str) -> Result:
    """Fit the hierarchical SVM to several problems with one of the papers' own solvers."""
    found: dict[str, list[float]] = {"fit_seconds": [], "active_ratio": [], "ms_per_step": []}
    for number, problem in enumerate((problems[0], *problems)):
        data = problem()
        X = TfidfWeights(sublinear_tf=True).fit_transform(data.X)
        started = time.perf_counter()
        model = joint_svm(data.taxonomy, solver=solver, tol=0.1).fit(X, data.y)
        seconds = time.perf_counter() - started
        if number > 0:  # the first one compiles
            found["fit_seconds"].append(seconds)
            found["active_ratio"].append(float(model.active_ratio_))
            found["ms_per_step"].append(1000 * seconds / (len(data.y) * model.n_iter_))
    return Result(found)


def history(problem: MakeProblem, *, solver: str) -> Result:
    """Return the dual objective and the active ratio after each pass of a fit [CH04, Eq. 41]."""
    data = problem()
    X = TfidfWeights(sublinear_tf=True).fit_transform(data.X)
    model = joint_svm(data.taxonomy, solver=solver, tol=0.1).fit(X, data.y)
    n_duals = len(data.y) * (len(model.classes_) - 1)
    return Result(
        {
            "objective": [float(entry.dual) for entry in model.history_],
            "active": [entry.n_active / n_duals for entry in model.history_],
        }
    )


def _pairs(
    kind: str,
    problems: Mapping[Any, Sequence[MakeProblem]],
    corpus: str = "",
    **parameters: Any,
) -> list[Cell]:
    """Return a flat and a hierarchical SVM cell for each problem."""
    cells = []
    for name, parts in problems.items():
        for model in KINDS:
            make = partial(joint_svm, is_flat=model == "flat", **parameters)
            if corpus:
                make = partial(with_tfidf, model=make)
            work = partial(trial, *parts, model=make, measures=REPORTED)
            cells.append(Cell(f"{kind}/{name}/{model}", work, corpus))
    return cells


def _entries(kind: str, numbers: Mapping[Any, Sequence[float]]) -> tuple[Entry, ...]:
    """Return the entries of a table with two columns per measure."""
    entries = []
    for name, row in numbers.items():
        head = str(name) if isinstance(name, str) else "{} children, depth {}, ρ {}".format(*name)
        for column, measure in (("#cat", "n_categories"), ("#doc", "n_items")):
            entries.append(Entry(head, column, f"{kind}/{name}/flat", measure, digits=0))
        for position, measure in enumerate(REPORTED):
            column, scale, digits = SHOWN[measure]
            for offset, model in enumerate(KINDS):
                cell, given = f"{kind}/{name}/{model}", row[2 * position + offset]
                entry = Entry(head, f"{column} {model}", cell, measure, given, digits, scale)
                entries.append(entry)
    return tuple(entries)


def _better(
    kind: str, names: Sequence[Any], everywhere: Sequence[str] = REPORTED
) -> tuple[Better, ...]:
    """Return, by measure, the claim that the hierarchical SVM is better in every or most rows."""
    pairs = tuple((f"{kind}/{name}/hsvm", f"{kind}/{name}/flat") for name in names)
    return tuple(
        Better(
            f"The hierarchical SVM has the better {SHOWN[measure][0].split()[0]} in "
            f"{'every row' if measure in everywhere else 'most rows'}.",
            pairs,
            measure,
            lower=measure == "taxonomy_loss",
            rows="every" if measure in everywhere else "most",
        )
        for measure in REPORTED
    )


def _table_1(settings: Mapping[Any, Sequence[float]]) -> Table:
    return Table(
        number="1",
        title="flat and hierarchical SVM on synthetic data",
        corpus="points drawn as in section 6.3: 1,000 points, 20 features, 5 folds, hard margin; "
        "three draws of each setting. The paper does not say how its points were distributed.",
        settings=Settings(
            tolerance="each item's largest violation at most 0.01.",
            features="the 20 coordinates of the points.",
            splits="five stratified folds.",
            draws="three for each row, each with its own tree and points.",
        ),
        entries=_entries("synthetic", settings),
        claims=_better("synthetic", list(settings)),
    )


def _table_2(sections: Mapping[str, Sequence[float]]) -> Table:
    return Table(
        number="2",
        title="flat and hierarchical SVM on the sections of the IPC",
        corpus=f"{PATENTS} The corpus's three folds, C = 1.",
        settings=PATENT_SETTINGS,
        entries=_entries("section", sections),
        claims=_better("section", list(sections), everywhere=("taxonomy_loss",)),
    )


def _table_3(sections: Mapping[str, Sequence[float]]) -> Table:
    numbers = {name: THREE_EACH[name] for name in sections}
    return Table(
        number="3",
        title="the same with three documents per category",
        corpus=f"{PATENTS} Three patents of each main group, five draws, three folds, C = 1.",
        settings=replace(
            PATENT_SETTINGS,
            draws="three patents of each main group, five times; tests average "
            "the values of a patent over draws.",
        ),
        entries=_entries("three", numbers),
        claims=_better("three", list(sections)),
    )


def _optimisers() -> Table:
    rows = {"greedy": ("active set", 2200, 4.6), "full": ("all variables of an item", 42200, 4.9)}
    entries = []
    for solver, (row, seconds, active) in rows.items():
        cell = f"optimise/{solver}"
        entries += [
            Entry(row, "seconds", cell, "fit_seconds", seconds, 2),
            Entry(row, "active %", cell, "active_ratio", active, 1, 100.0),
            Entry(row, "milliseconds a step", cell, "ms_per_step", digits=2),
        ]
    slower = "Without an active set learning takes 19 times as long."
    sparser = "The active set gives the sparser solution."
    pair = "optimise/full", "optimise/greedy"
    return Table(
        number="solvers",
        title="Algorithm 1 with and without an active set (section 6.4, last paragraph)",
        corpus=f"{PATENTS} Sections {', '.join(OPTIMISED)}, all patents, ε = 0.1; the paper's are "
        "those of its section D.",
        settings=replace(PATENT_SETTINGS, splits="none: fitted to all patents of a section."),
        entries=tuple(entries),
        claims=(
            Ratio(slower, *pair, "fit_seconds", 19.0),
            Ratio(sparser, *pair, "active_ratio", 1.0),
        ),
    )


def _figure_3(swept: Sequence[str], costs: Sequence[float]) -> Figure:
    names = {
        f"{section}, {model}": [f"C={cost:g}/{section}/{model}" for cost in costs]
        for section in swept
        for model in KINDS
    }
    measures = {"accuracy": "accuracy", "taxonomy_loss": "Δ-loss"}
    pairs = tuple(
        (f"C={cost:g}/{section}/hsvm", f"C={cost:g}/{section}/flat")
        for section in swept
        for cost in costs
    )
    best = tuple(
        (f"C=1/{section}/hsvm", f"C={cost:g}/{section}/hsvm")
        for section in swept
        for cost in costs
        if cost != 1
    )
    return Figure(
        number="3",
        title="accuracy and Δ-loss for varying C",
        corpus=f"{PATENTS} Sections {' and '.join(swept)}, three folds.",
        settings=PATENT_SETTINGS,
        draw=partial(drawings.curves, lines=names, x=tuple(costs), measures=measures, label="C"),
        drawn=tuple(name for line in names.values() for name in line),
        claims=(
            Better(
                "The hierarchical SVM has the lower Δ-loss for every C.",
                pairs,
                "taxonomy_loss",
                lower=True,
                rows="every",
            ),
            Better("C = 1 is a good choice: no other C is more accurate.", best, "accuracy"),
        ),
    )


def _figure_4() -> Figure:
    return Figure(
        number="4",
        title="dual objective and active ratio of Algorithm 1",
        corpus=f"{PATENTS} Section {DRAWN}, all patents, ε = 0.1.",
        settings=replace(PATENT_SETTINGS, splits="none: fitted to all patents of the section."),
        draw=partial(
            drawings.histories,
            cells={"active set": "history/greedy", "all variables": "history/full"},
            measures={"objective": "dual objective", "active": "active ratio"},
            label="passes (as many steps as patents)",
        ),
        drawn=("history/greedy", "history/full"),
    )
