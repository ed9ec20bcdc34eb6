"""CH07: Cai and Hofmann, Exploiting known taxonomies in learning overlapping concepts."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import make_pipeline

from taxonomist.experiments import drawings
from taxonomist.experiments.claims import Better, LargerGain, Ratio
from taxonomist.experiments.declarations import Cell, Entry, Figure, Paper, Result, Settings, Table
from taxonomist.experiments.work.models import ranking_model, with_tfidf
from taxonomist.experiments.work.patent_words import counted_patents, with_unit_length
from taxonomist.experiments.work.problems import (
    PATENTS,
    distinct_folds,
    distinct_samples,
    without_copies,
)
from taxonomist.experiments.work.trials import trial
from taxonomist.models import HierarchicalPerceptron, HierarchicalRankingSVC

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sklearn.pipeline import Pipeline

    from taxonomist.experiments.claims.multiplicity import Rows
    from taxonomist.experiments.work.trials import MakeProblem
    from taxonomist.taxonomy import Taxonomy

# For each measure: its column header, the factor to per cent, and decimals.
SHOWN = {
    "one_accuracy": ("acc %", 100.0, 1),
    "average_precision": ("prec %", 100.0, 1),
    "maximal_loss": ("maximal loss", 1.0, 3),
    "ranking_loss": ("ranking loss %", 100.0, 2),
    "parent_one_accuracy": ("pacc %", 100.0, 1),
}
REPORTED = tuple(SHOWN)
PLAIN, STRUCTURED = REPORTED[:2], REPORTED[2:]
LOWER_IS_BETTER = ("maximal_loss", "ranking_loss")
CALLED = {
    "one_accuracy": "one-accuracy",
    "average_precision": "average precision",
    "maximal_loss": "maximal loss",
    "ranking_loss": "ranking loss",
    "parent_one_accuracy": "parent one-accuracy",
}
KINDS = {"flat": "flat", "hier": "hierarchical"}
# t_v = 1/√depth, where depth counts the nodes at or above a main group without the root (3, the
# library's default) or with it (4); the paper's text allows both.
ROOTED = KINDS | {"rooted": "hierarchical (root counted)"}
PARAMETERS: dict[str, dict[str, object]] = {
    "flat": {"is_flat": True},
    "hier": {},
    "rooted": {"node_weight": 0.5},
}
SVM = partial(ranking_model, kind=HierarchicalRankingSVC, stop="violation", random_state=0)
PERCEPTRON = partial(ranking_model, kind=HierarchicalPerceptron, ridge=0.0)
TIMED = {
    "perceptron": PERCEPTRON,
    "SVM": SVM,
    "SVM by Algorithm 1": partial(SVM, solver="greedy", tol=0.1),
}

SECTIONS = "ABCDEFGH"
FOLDED, SAMPLED = "F", "G"
FITTED = (
    ("E", "perceptron"),
    ("E", "SVM"),
    ("E", "SVM by Algorithm 1"),
    ("A", "perceptron"),
    ("A", "SVM"),
)
SIZES = (1, 2, 3, 5, 8, 12)
NO_NUMBERS = (
    "The text of the paper that we have has lost its numbers, so ours stand alone, and the claims "
    "are those of its words."
)
DATA = f"{PATENTS} A patent's label set is all its main groups of the section. {NO_NUMBERS}"
SETTINGS = "C = 1, counts of stems of unit length, and no bias, as in the paper"

PATENT_SETTINGS = Settings(
    tolerance="each item's largest violation at most 0.01 (the paper's value is lost); perceptrons "
    "run until no training item violates its margin.",
    features="counts of the stems (Porter) of the words of title and abstract without "
    "scikit-learn's stop words (the paper has title and claims, and Lemur's), over the stems of "
    "the training patents, length 1; no tf-idf. Weights t_v = 1/√depth, with depth = 3, the nodes "
    "at or above a main group but the root, or 4, the root counted (columns *rooted*).",
    splits="the corpus's three folds.",
    draws="all patents, once.",
)


def paper(is_quick: bool) -> Paper:
    """Return the experiments of the paper, or a small version of them."""
    few = 150 if is_quick else None
    sections = "DE" if is_quick else SECTIONS
    folded, sampled = "EE" if is_quick else (FOLDED, SAMPLED)
    fitted = FITTED[:3] if is_quick else FITTED
    sizes = (1, 3) if is_quick else SIZES
    n_draws, n_repeats, n_folds = (1, 2, 3) if is_quick else (3, 10, 10)
    whole = {name: partial(counted_patents, name, n_items=few) for name in sections}
    ours = {
        name: [partial(counted_patents, name, is_stemmed=False, n_items=few)] for name in sections
    }
    threes = {
        name: [
            partial(counted_patents, name, per_category=3, seed=seed, n_items=few)
            for seed in range(n_draws)
        ]
        for name in sections
    }
    part = partial(counted_patents, sampled, n_items=few)
    samples = {size: [partial(distinct_samples, part, size, n_repeats)] for size in sizes}
    folds = partial(distinct_folds, partial(counted_patents, folded, n_items=few), n_folds)
    cells = [
        *_pairs("section", {name: [whole[name]] for name in sections}, SVM, kinds=ROOTED),
        *_pairs("ours", ours, SVM, features=with_tfidf),
        *_pairs("three", threes, SVM, kinds=ROOTED),
        *_pairs(
            "perceptron",
            {name: [partial(without_copies, whole[name])] for name in sections},
            PERCEPTRON,
        ),
        *_pairs("sample", samples, SVM, per_item=False),
        *_pairs("folds", {folded: [folds]}, SVM, per_item=False),
    ]
    for section, name in fitted:
        data = partial(without_copies, partial(counted_patents, section, n_items=few))
        for kind in KINDS:
            make = partial(with_unit_length, model=partial(TIMED[name], **PARAMETERS[kind]))
            work = partial(fit_times, data, model=make, n_repeats=2 if is_quick else 3)
            cell = Cell(f"time/{section}/{name}/{kind}", work, "us-patents-ipc", is_timed=True)
            cells.append(cell)
    return Paper(
        key="CH07",
        title="Cai and Hofmann 2007, exploiting known taxonomies in learning overlapping concepts",
        cells=tuple(cells),
        tables=(
            _table_1(sections),
            _ours(sections),
            _table_2(sections),
            _perceptrons(sections),
            _times(fitted),
            _significance(folded, n_folds),
        ),
        figures=(_figure_1(sections), _figure_2(sampled, sizes, n_repeats)),
    )


def fit_times(
    problem: MakeProblem, *, model: Callable[[Taxonomy], Pipeline], n_repeats: int
) -> Result:
    """Fit the last step of a pipeline to the training items of the first fold, several times."""
    data = problem()
    train = data.splits[0][0]
    y = [data.y[item] for item in train]
    seconds = []
    for _ in range(n_repeats + 1):  # the first one compiles
        *features, last = model(data.taxonomy)
        X = make_pipeline(*features).fit_transform(data.X[train])
        started = time.process_time()
        fitted = last.fit(X, y)
        seconds.append(time.process_time() - started)
    found = {"fit_seconds": seconds[1:], "converged": [float(fitted.converged_)]}
    return Result(found | {"n_items": [float(len(y))]})


def _pairs(
    name: str,
    problems: Mapping[Any, Sequence[MakeProblem]],
    model: partial[Any],
    per_item: bool = True,
    kinds: Mapping[str, str] = KINDS,
    features: Callable[..., Pipeline] = with_unit_length,
) -> list[Cell]:
    """Return a flat and one or two hierarchical cells for each problem."""
    cells = []
    for row, parts in problems.items():
        for kind in kinds:
            make = partial(features, model=partial(model, **PARAMETERS[kind]))
            work = partial(trial, *parts, model=make, measures=REPORTED, per_item=per_item)
            cells.append(Cell(f"{name}/{row}/{kind}", work, "us-patents-ipc"))
    return cells


def _entries(name: str, rows: Sequence[str], kinds: Mapping[str, str] = KINDS) -> tuple[Entry, ...]:
    """Return the entries of a table with a column per measure and kind of model."""
    entries = []
    for row in rows:
        for column, measure, digits in (
            ("#cat", "n_categories", 0),
            ("#doc", "n_items", 0),
            ("cat/doc", "n_labels", 2),
        ):
            entries.append(Entry(row, column, f"{name}/{row}/flat", measure, digits=digits))
        for measure, (column, scale, digits) in SHOWN.items():
            for kind in kinds:
                cell = f"{name}/{row}/{kind}"
                entry = Entry(row, f"{column} {kind}", cell, measure, None, digits, scale)
                entries.append(entry)
    return tuple(entries)


def _better(
    text: str, measure: str, pairs: Sequence[tuple[str, str]], rows: Rows = "together"
) -> Better:
    """Return the claim that the first of each pair is better by a measure."""
    lower = measure in LOWER_IS_BETTER
    text = text.format(f"{'lower' if lower else 'higher'} {CALLED[measure]}")
    return Better(text, tuple(pairs), measure, lower=lower, rows=rows)


def _kinds(name: str, rows: Sequence[object], kind: str = "hier") -> list[tuple[str, str]]:
    """Return the pairs of the hierarchical and the flat model."""
    return [(f"{name}/{row}/{kind}", f"{name}/{row}/flat") for row in rows]


def _svm_claims(name: str, sections: str, kinds: Mapping[str, str] = ROOTED) -> tuple[Better, ...]:
    """Return the paper's claims about the SVMs of all sections, for each hierarchical kind."""
    claims: list[Better] = []
    for kind, called in kinds.items():
        if kind == "flat":
            continue
        pairs = _kinds(name, sections, kind)
        every, mostly = f"The {called} SVM has a {{}} in every section.", "mostly has a {}."
        claims += [_better(every, m, pairs, rows="every") for m in STRUCTURED]
        claims += [_better(f"The {called} SVM {mostly}", m, pairs, rows="most") for m in PLAIN]
    return tuple(claims)


def _table_1(sections: str) -> Table:
    return Table(
        number="1",
        title="flat and hierarchical ranking SVM on the sections of the IPC",
        corpus=f"{DATA} The corpus's three folds, {SETTINGS}.",
        settings=PATENT_SETTINGS,
        entries=_entries("section", sections, ROOTED),
        claims=_svm_claims("section", sections),
    )


def _ours(sections: str) -> Table:
    return Table(
        number="1-tf-idf",
        title="the same with our features: tf-idf of words that are not stemmed",
        corpus=f"{DATA} The corpus's three folds, C = 1. These features are ours, not the paper's.",
        settings=replace(
            PATENT_SETTINGS,
            tolerance="each item's largest violation at most 0.01.",
            features="words of title and abstract without stop words, not stemmed; "
            "(1 + ln tf) log2 N / N_u by the training patents, length 1.",
        ),
        entries=_entries("ours", sections),
        claims=_svm_claims("ours", sections, KINDS),
    )


def _table_2(sections: str) -> Table:
    return Table(
        number="2",
        title="the same with three documents per category",
        corpus=f"{DATA} Three patents of each main group, three draws, three folds each; "
        f"{SETTINGS}. A patent with several main groups counts for each, so that frequent ones "
        "can have more than three.",
        settings=replace(
            PATENT_SETTINGS,
            draws="three patents of each main group, three times; tests average "
            "the values of a patent over draws.",
        ),
        entries=_entries("three", sections, ROOTED),
        claims=_svm_claims("three", sections),
    )


def _perceptrons(sections: str) -> Table:
    pairs = _kinds("perceptron", sections)
    rivals = [(f"section/{s}/{kind}", f"perceptron/{s}/{kind}") for s in sections for kind in KINDS]
    return Table(
        number="perceptron",
        title="flat and hierarchical perceptron on the sections of the IPC",
        corpus=f"{DATA} The corpus's three folds, counts of stems of unit length, margin 1 (the "
        "paper's value is lost), run until all training patents are satisfied. Of patents with the "
        "same stems only the first is trained on, here but not with the SVMs; all are tested.",
        settings=PATENT_SETTINGS,
        entries=_entries("perceptron", sections),
        claims=(
            *(
                _better(
                    "The hierarchical perceptron mostly has a {} than the flat one.",
                    m,
                    pairs,
                    rows="most",
                )
                for m in STRUCTURED
            ),
            *(
                _better("The SVM has a {} than the perceptron of its kind.", m, rivals)
                for m in PLAIN
            ),
        ),
    )


def _times(fitted: Sequence[tuple[str, str]]) -> Table:
    return Table(
        number="times",
        title="seconds to fit perceptrons and SVMs",
        corpus=f"{DATA} The training patents of the first fold, without those that have the same "
        "stems as another. The SVM stops at a violation of 0.01 with the library's own solver, and "
        "at 0.1 with the paper's Algorithm 1. Seconds are the processor's, on one thread.",
        settings=replace(
            PATENT_SETTINGS,
            tolerance="each item's largest violation at most 0.01; by Algorithm 1 at most 0.1.",
            splits="the training part of the first of the corpus's three folds.",
            draws="three repeats.",
        ),
        entries=tuple(
            Entry(
                f"{section}, {name}",
                f"{kind} seconds",
                f"time/{section}/{name}/{kind}",
                "fit_seconds",
            )
            for section, name in fitted
            for kind in KINDS
        ),
        claims=tuple(
            Ratio(
                f"In section {section} the {called} perceptron takes less time than the {called} "
                f"{name}.",
                f"time/{section}/{name}/{kind}",
                f"time/{section}/perceptron/{kind}",
                "fit_seconds",
                1.0,
            )
            for section, name in fitted
            if name != "perceptron"
            for kind, called in KINDS.items()
        ),
    )


def _significance(section: str, n_folds: int) -> Table:
    return Table(
        number="significance",
        title=f"paired permutation test over {n_folds} folds",
        corpus=f"{DATA} Section {section}, the middle one by size, without patents that have the "
        f"same stems as another, in {n_folds} stratified folds; {SETTINGS}. Tests are over folds.",
        settings=replace(PATENT_SETTINGS, splits=f"{n_folds} stratified folds."),
        entries=tuple(
            Entry(row, kind, f"folds/{section}/{kind}", measure, None, digits, scale)
            for measure, (row, scale, digits) in SHOWN.items()
            for kind in KINDS
        ),
        claims=tuple(
            _better("The hierarchical SVM has a significantly {}.", m, _kinds("folds", section))
            for m in REPORTED
        ),
    )


def _figure_1(sections: str) -> Figure:
    kinds = {
        f"{KINDS[kind]} {called}": [f"{name}/{section}/{kind}" for section in sections]
        for name, called in (("perceptron", "perceptron"), ("section", "SVM"))
        for kind in KINDS
    }
    measures = {name: CALLED[name] for name in PLAIN}
    return Figure(
        number="1",
        title="flat and hierarchical perceptron, beside the SVMs",
        corpus=f"{DATA} As in the tables of perceptrons and SVMs; whiskers are deviations over "
        "folds.",
        settings=PATENT_SETTINGS,
        draw=partial(drawings.bars, groups=tuple(sections), kinds=kinds, measures=measures),
        drawn=tuple(name for line in kinds.values() for name in line),
        claims=tuple(
            _better(
                "The hierarchical perceptron mostly has a {} than the flat one.",
                measure,
                _kinds("perceptron", sections),
                rows="most",
            )
            for measure in measures
        ),
    )


def _figure_2(section: str, sizes: Sequence[int], n_repeats: int) -> Figure:
    lines = {f"{KINDS[kind]} SVM": [f"sample/{n}/{kind}" for n in sizes] for kind in KINDS}
    few, many = (_kinds("sample", [size])[0] for size in (sizes[0], sizes[-1]))
    return Figure(
        number="2",
        title="flat and hierarchical SVM by number of training documents per category",
        corpus=f"{DATA} Section {section}, the one with most patents per main group, without "
        "patents that have the same stems as another; so many are drawn of each main group, all "
        f"others are tested, {n_repeats} times. {SETTINGS}. Bands are one standard deviation.",
        settings=replace(
            PATENT_SETTINGS,
            splits="the drawn patents for training, all others for testing.",
            draws=f"{n_repeats} for each number of patents.",
        ),
        draw=partial(
            drawings.curves,
            lines=lines,
            x=tuple(sizes),
            measures={name: CALLED[name] for name in REPORTED if name != "maximal_loss"},
            label="training documents per category",
        ),
        drawn=tuple(name for line in lines.values() for name in line),
        claims=(
            *(
                _better(
                    "The hierarchical SVM has a {} for every number of documents.",
                    measure,
                    _kinds("sample", sizes),
                    rows="every",
                )
                for measure in REPORTED
            ),
            *(
                LargerGain(
                    f"The gain in {CALLED[measure]} is larger with {sizes[0]} document per "
                    f"category than with {sizes[-1]}.",
                    few,
                    many,
                    measure,
                    lower=measure in LOWER_IS_BETTER,
                )
                for measure in REPORTED
            ),
        ),
    )
