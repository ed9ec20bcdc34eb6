"""NAMES: what the names of categories give a text classifier, with and without documents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from taxonomist.experiments.claims import Better
from taxonomist.experiments.declarations import Cell, Entry, Paper, Settings, Table
from taxonomist.experiments.sources import digest_of_imports
from taxonomist.experiments.work.hidden_categories import few_postings, hidden_trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CORPORA: Mapping[str, Mapping[str, str]] = {
    "icd10cm": {},
    "naics2012": {},
    "onet-soc": {},
    "arxiv": {"labels": "primary"},
}
QUICK = ("naics2012",)
MOST, QUICK_MOST = 4000, 300
SIZES, QUICK_SIZES = (7, 20, 67), (7,)
N_DRAWS, N_TEST = 10, 3000
QUICK_DRAWS, QUICK_TEST = 2, 200
KINDS = ("seen", "hidden")
NAMES = {"without names": "off", "with names": "auto"}
MEASURES = {"exactly right": "exact", "hierarchical F1": "hierarchical_f1"}
CLASSIFIER = "taxonomist.text.classifier"

SETTINGS = Settings(
    tolerance="PathSVC's default.",
    features="chosen by the classifier on held-out training documents; no sentence vectors.",
    splits="30 % of the documents for testing, and all documents of hidden categories.",
    draws="one.",
)
FEW = Settings(
    tolerance="PathSVC's default.",
    features="chosen by the classifier on held-out training postings; no sentence vectors.",
    splits="the drawn postings for training, 3,000 others for testing.",
    draws="ten for each number of postings.",
)


def paper(is_quick: bool) -> Paper:
    """Return the experiments, or a small version of them."""
    names = QUICK if is_quick else tuple(CORPORA)
    sizes = QUICK_SIZES if is_quick else SIZES
    most = QUICK_MOST if is_quick else MOST
    draws = {
        "n_draws": QUICK_DRAWS if is_quick else N_DRAWS,
        "n_test": QUICK_TEST if is_quick else N_TEST,
    }
    sources = digest_of_imports(CLASSIFIER)
    cells = [
        Cell(
            f"{name}/{who}",
            partial(hidden_trial, name, names=given, most=most, **CORPORA[name]),
            name,
            sources=sources,
        )
        for name in names
        for who, given in NAMES.items()
    ]
    cells += [
        Cell(
            f"news/{size}/{who}",
            partial(few_postings, size, names=given, **draws),
            "20newsgroups",
            sources=sources,
        )
        for size in sizes
        for who, given in NAMES.items()
    ]
    return Paper(
        key="NAMES",
        title="Names of categories as training documents",
        cells=tuple(cells),
        tables=(_hidden(names, most), _few(sizes)),
    )


def _hidden(names: Sequence[str], most: int) -> Table:
    entries = [
        Entry(f"{name}, {who}", f"{column}, {kind}", f"{name}/{who}", f"{kind} {measure}")
        for name in names
        for who in NAMES
        for kind in KINDS
        for column, measure in MEASURES.items()
    ]
    without, with_names = NAMES
    claims = [
        Better(
            f"Names raise the {column} on {kind} categories.",
            tuple((f"{name}/{with_names}", f"{name}/{without}") for name in names),
            f"{kind} {measure}",
        )
        for kind in KINDS
        for column, measure in MEASURES.items()
    ]
    return Table(
        number="1",
        title="a tenth of the categories without documents",
        corpus=f"At most {most:,} documents with one label of each corpus; of arXiv, the primary "
        "category. All documents of a tenth of the categories are hidden in training, and tested. "
        "`TextClassifier` with its defaults, but without a limit of time and without sentence "
        "vectors.",
        settings=SETTINGS,
        entries=tuple(entries),
        claims=tuple(claims),
    )


def _few(sizes: Sequence[int]) -> Table:
    entries = [
        Entry(f"{size} postings per group", f"{column}, {who}", f"news/{size}/{who}", measure)
        for size in sizes
        for who in NAMES
        for column, measure in MEASURES.items()
    ]
    without, with_names = NAMES
    claims = [
        Better(
            f"Names raise the share of exactly right postings with {size} postings per group.",
            ((f"news/{size}/{with_names}", f"news/{size}/{without}"),),
            "exact",
        )
        for size in sizes
    ]
    return Table(
        number="2",
        title="15 newsgroups with few postings",
        corpus="`20newsgroups`, the 15 groups of TCPH01: subject and body. `TextClassifier` with "
        "its defaults, but without a limit of time and without sentence vectors.",
        settings=FEW,
        entries=tuple(entries),
        claims=tuple(claims),
    )
