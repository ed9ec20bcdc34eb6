"""CONTEST: ``TextClassifier`` as it is against what a skilled user would build, from raw texts.

The corpora are split once, below. ``GUIDING`` ones may be looked at when features, models and their
defaults are chosen; ``KEPT`` ones are run once, when the choices are made. When the split was
written down, parts of the training items of all ``KEPT`` corpora but ``cystic-fibrosis-mesh`` had
been used to judge probabilities, blends or decisions, and BEYOND had shown figures of other
features on the test items of all corpora.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from taxonomist.experiments.claims.ranks import FirstRank, WithinTime
from taxonomist.experiments.claims.rivals import AtLeastAsGood, contestant_of
from taxonomist.experiments.declarations import Cell, Entry, IsFinished, Paper, Settings, Table
from taxonomist.experiments.sources import digest_of_imports
from taxonomist.experiments.work.text_contestants import (
    LINEAR,
    OURS,
    SETS,
    SINGLE,
    TUNING_S,
    is_installed,
)
from taxonomist.experiments.work.text_contests import LIMIT_S, raw_texts, text_contest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True)
class TextData:
    """A corpus with texts: labels per item, whether it is a tree, and options."""

    corpus: str
    is_single: bool = True
    is_tree: bool = True
    options: Mapping[str, str] = field(default_factory=dict)


GUIDING = {
    "trec-question": TextData("trec-question"),
    "reuters21578": TextData("reuters21578", is_single=False),
    "onet-soc": TextData("onet-soc"),
    "20newsgroups": TextData("20newsgroups"),
    "arxiv-acm": TextData("arxiv-acm", is_single=False),
    "biotools-edam": TextData("biotools-edam", is_single=False, is_tree=False),
    "naics2012": TextData("naics2012"),
    "arxiv, primary": TextData("arxiv", is_tree=False, options={"labels": "primary"}),
    "icd10cm": TextData("icd10cm"),
}
"""Corpora that may guide choices, about in the order of the work that they are."""
KEPT = {
    "wos-1000": TextData("wos-1000"),
    "senseval2 nouns": TextData("senseval2-english-lexical-sample"),
    "us-patents, subclasses": TextData("us-patents-ipc", options={"level": "subclass"}),
    "makupalat-ykl": TextData("makupalat-ykl"),
    "debian-debtags": TextData("debian-debtags", is_single=False),
    "cystic-fibrosis-mesh": TextData("cystic-fibrosis-mesh", is_single=False, is_tree=False),
}
"""Corpora that are looked at once, at the end."""
CORPORA = GUIDING | KEPT
QUICK = ("trec-question", "reuters21578")
MOST, QUICK_MOST = (20_000, 5_000), (150, 80)
"""Maximum numbers of training and test items."""
NEED_A_TREE = ("HiClass, C chosen",)
TIMES = 3.0
"""Our time may be this many times that of the slowest tuned linear peer."""
OURS_MODULE = "taxonomist.text.classifier"
SHOWN = {
    "hierarchical F1": ("hierarchical_f1", 3),
    "accuracy": ("exact", 3),
    "macro F1": ("macro_f1", 3),
    "taxonomy loss": ("taxonomy_loss", 3),
    "CPU s": ("cpu_seconds", 1),
    "wall s": ("wall_seconds", 1),
}
JUDGED = {"hierarchical_f1": False, "exact": False}
"""Measures that decide, and whether lower is better."""
SETTINGS = Settings(
    tolerance="each package's default; 0.01 for logistic regression.",
    features="each contestant's own, learnt from the texts of the training items alone.",
    splits="one split of each corpus: its own, else its first fold or a stratified fifth.",
    draws="one.",
)


def paper(is_quick: bool, is_finished: IsFinished = lambda _: True) -> Paper:
    """Return the contest, or a small version of it.

    Parameters
    ----------
    is_quick
        Whether to return the small version.
    is_finished
        Which cells tables can show; tables have the corpora whose cells all are among them.
    """
    most = QUICK_MOST if is_quick else MOST
    parts = {
        "1": ("corpora that may guide choices", GUIDING),
        "2": ("corpora that were looked at once, at the end", KEPT),
    }
    names = QUICK if is_quick else tuple(CORPORA)
    cells = {name: [_cell(name, who, most) for who in contestants(name)] for name in names}
    tables = []
    for number, (title, corpora) in parts.items():
        wanted = [name for name in names if name in corpora]
        if used := [name for name in wanted if all(map(is_finished, cells[name]))]:
            missing = [name for name in wanted if name not in used]
            tables.append(_table(number, title, used, missing, most))
    return Paper(
        key="CONTEST",
        title="A contest from raw texts: TextClassifier as it is beside tuned peers",
        cells=tuple(cell for row in cells.values() for cell in row),
        tables=tuple(tables),
        notes=tuple(left_out()),
        part=partial(paper, is_quick),
    )


def contestants(name: str) -> list[str]:
    """Return who takes part, without those that need a tree or a missing package."""
    data = CORPORA[name]
    return [
        who
        for who in (SINGLE if data.is_single else SETS)
        if (data.is_tree or who not in NEED_A_TREE) and is_installed(who)
    ]


def left_out() -> Iterator[str]:
    """Yield a sentence about each contestant that is not installed."""
    for who in SINGLE:
        if not is_installed(who):
            yield f"{who.partition(',')[0]} is not installed and takes no part."


def _cell(name: str, who: str, most: tuple[int, int]) -> Cell:
    data = CORPORA[name]
    sizes = {"is_single": data.is_single, "n_train": most[0], "n_test": most[1]}
    work = partial(
        text_contest, partial(raw_texts, data.corpus, **sizes, **data.options), contestant=who
    )
    sources = digest_of_imports(OURS_MODULE) if who == OURS else ""
    return Cell(f"{name}/{who}", work, data.corpus, is_timed=True, sources=sources)


def _table(
    number: str, title: str, names: Sequence[str], missing: Sequence[str], most: tuple[int, int]
) -> Table:
    rows = {
        name: (f"{name}/{OURS}", tuple(f"{name}/{w}" for w in contestants(name) if w != OURS))
        for name in names
    }
    entries = [
        Entry(f"{name}: {who}", column, f"{name}/{who}", measure, None, digits)
        for name in names
        for who in contestants(name)
        for column, (measure, digits) in SHOWN.items()
    ]
    entries += [
        Entry(f"{name}: ahead of {whom}", column, ours, SHOWN[column][0], versus=versus)
        for name, (ours, others) in rows.items()
        for whom, versus in [
            ("the best other", others),
            *((contestant_of(other), (other,)) for other in others),
        ]
        for column in ("hierarchical F1", "accuracy")
    ]
    return Table(
        number=number,
        title=f"from raw texts, {title}" + _share(names, missing),
        corpus=_missing(names, missing)
        + f"Corpora with at most {most[0]:,} training and {most[1]:,} test "
        "items. TextClassifier has its defaults, on all corpora"
        + _vectors()
        + "Peers have tf-idf of words, word "
        "pairs and 3 to 5 characters within words; C of linear models is chosen by "
        "cross-validation on at most 5,000 training items; after "
        f"{TUNING_S:.0f} s of the processor, which are as many as TextClassifier has for its "
        "search, no further value is tried. A contestant that has no answer after "
        f"{LIMIT_S} s of the processor is ended and counts as wrong everywhere: 0.000. With "
        "label sets, linear peers give every item at least one label, and the thresholds of "
        "Omikuji, PECOS and napkinXC are chosen on a fifth of the training items. Times are of "
        "learning and predicting, features included. Accuracy is that of whole label sets where "
        "items have several labels. Rows *ahead of* have differences with 95 % bootstrap "
        "intervals over test items." + "".join(f" {note}" for note in left_out()),
        settings=SETTINGS,
        entries=tuple(entries),
        claims=_claims(rows),
    )


def _share(names: Sequence[str], missing: Sequence[str]) -> str:
    """Return how many corpora a title says have been run; nothing if all have."""
    return f" ({len(names)} of {len(names) + len(missing)} run)" if missing else ""


def _missing(names: Sequence[str], missing: Sequence[str]) -> str:
    """Return what a table that lacks corpora says first."""
    if not missing:
        return ""
    n = len(names) + len(missing)
    return (
        f"**Of {n} corpora, {len(names)} {'has' if len(names) == 1 else 'have'} been run, and the "
        f"claims below are about no others.** Missing: {'; '.join(missing)}. "
    )


def _vectors() -> str:
    """Return whether the defaults have sentence vectors here."""
    if is_installed("MiniLM"):
        return ", and the extra vectors, so that it chooses whether sentence vectors help. "
    return "; without the extra vectors, it uses words alone. "


def _claims(
    rows: Mapping[str, tuple[str, tuple[str, ...]]],
) -> tuple[AtLeastAsGood | FirstRank | WithinTime, ...]:
    """Return the claims of a table; its rows have our cell and those of the others."""
    linear = {
        name: (ours, tuple(other for other in others if contestant_of(other) in LINEAR))
        for name, (ours, others) in rows.items()
    }
    return (
        AtLeastAsGood(
            f"{OURS} is at least as good as every other contestant on four of five corpora: "
            "hierarchical F1 and accuracy.",
            rows,
            JUDGED,
        ),
        FirstRank(f"{OURS} has the best mean rank by hierarchical F1.", rows, "hierarchical_f1"),
        FirstRank(f"{OURS} has the best mean rank by accuracy.", rows, "exact"),
        WithinTime(
            f"{OURS} takes at most {TIMES:g} times as long as the slowest tuned linear peer.",
            linear,
            "cpu_seconds",
            TIMES,
        ),
    )
