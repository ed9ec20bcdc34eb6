"""TCPH01: Toutanova, Chen, Popat and Hofmann, Text classification in a hierarchical mixture model.

HM and HS run twice: as in the paper, and with the library's defaults. What the paper leaves open is
in ``tcph01_readings``.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from taxonomist.experiments import drawings
from taxonomist.experiments.claims import Better, LargerGain, Ratio
from taxonomist.experiments.claims.agreement import Alike, NoChance
from taxonomist.experiments.declarations import Cell, Entry, Figure, Paper, Table
from taxonomist.experiments.tcph01_readings import news_cell, readings, set_cell
from taxonomist.experiments.work.grouping import GROUP_SETTINGS, grouped
from taxonomist.experiments.work.news import NEWS_SETTINGS, STORY_SETTINGS, reuters
from taxonomist.experiments.work.word_models import KNN_WORDS, SETS, SINGLE, WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.experiments.declarations import Claim

SIZES = (7, 14, 20, 34, 48, 67, 133, 667)
# [TCPH01, Table 3]
NEWSGROUPS = {
    "NB": (0.467, 0.566, 0.607, 0.688, 0.739, 0.749, 0.807, 0.884),
    "PLSA": (0.527, 0.619, 0.663, 0.725, 0.764, 0.764, 0.813, 0.886),
    "HS": (0.533, 0.618, 0.654, 0.727, 0.754, 0.763, 0.814, 0.888),
    "kNN": (0.511, 0.627, 0.650, 0.706, 0.762, 0.780, 0.824, 0.879),
    "HM": (0.585, 0.631, 0.665, 0.728, 0.771, 0.773, 0.814, 0.888),
}
COLUMNS = ("miP", "miR", "miF1", "maP", "maR", "maF1", "acc")
# [TCPH01, Table 4]
REUTERS = {
    "HM": (0.872, 0.771, 0.818, 0.815, 0.408, 0.459, 0.9953),
    "SVM": (0.881, 0.868, 0.875, 0.837, 0.524, 0.554, 0.9966),
    "kNN": (0.790, 0.813, 0.802, 0.759, 0.503, 0.491, 0.9938),
    "HS": (0.849, 0.780, 0.813, 0.765, 0.392, 0.432, 0.9950),
    "NB": (0.825, 0.713, 0.765, 0.763, 0.283, 0.337, 0.9940),
}
GROUP_SIZES = (50, 24, 9, 7)
GROUPS = ("commodities", "financial", "metals", "energy")
LINKAGES = {
    "likelihood": "",
    "ward": "euclidean",
    "average": "cosine",
    "complete": "cosine",
    "single": "cosine",
}
N_DRAWS = 10
POSTINGS = (
    "`20newsgroups`, the paper's 15 groups: subject and body; the other lines of the header are "
    "not in our corpus. Tests are over draws, since with so few postings most depends on which "
    "ones they are."
)
MODELS = (
    '"As in the paper" are HM and HS with counts as they are, path weights of each group by '
    "leaving out one posting at a time, and two EM steps at inverse temperature 1 (the paper's is "
    "not given; table 7-postings has others). Our defaults share path weights, trust them less and "
    "damp counts; they, and PLSA's, were chosen on other draws from these postings."
)
STORIES = (
    "`reuters21578`, ModApte split, 90 categories, 7,770 training and 3,019 test stories (the "
    "paper has one training story less)."
)
SET_MODELS = (
    '"As in the paper" are HM, HS and NB with counts as they are, path weights of each category, '
    "P(d) of pooled unigrams, and for each category the threshold with the best held-out F1; no "
    "label is forced. That thresholds are not below 0, where P(d) is larger than P(d|c), is our "
    "addition; Table 4-choices has plain ones. k-NN and the SVM force no label either. Our "
    "defaults choose thresholds by expected F1 and give each story a label."
)
ALIKE = 0.02
"""The largest difference in accuracy that counts as none; twice that of PLSA and HS there."""
PAPERS_ROW = {name: name for name in NEWSGROUPS} | {
    "HS": "HS as in the paper",
    "HM": "HM as in the paper",
}
OUR_ROW = PAPERS_ROW | {"HS": "HS, our defaults", "HM": "HM, our defaults"}
ROWS = {"the paper's settings": PAPERS_ROW, "our defaults": OUR_ROW}
"""For each kind of settings, the row of our tables for each model of the paper."""
WITHOUT_FILES = ("NB", *(rows[name] for rows in ROWS.values() for name in ("HS", "HM")))


def paper(is_quick: bool) -> Paper:
    """Return the experiments of the paper, or a small version of them."""
    sizes = (7, 14) if is_quick else SIZES
    drawn = {"n_test": 200, "every": 20} if is_quick else {"n_test": 3000}
    n_draws = 2 if is_quick else N_DRAWS
    stories = partial(reuters, every=16) if is_quick else reuters
    files = drawn | {"text": "without files"}
    cells = [
        *(
            news_cell(f"groups/{n}/{k}", m, k, n_draws, drawn)
            for n, m in SINGLE.items()
            for k in sizes
        ),
        *(
            news_cell(f"clean/{name}/{size}", SINGLE[name], size, n_draws, files)
            for name in WITHOUT_FILES
            for size in sizes
        ),
        *(set_cell(f"reuters/{name}", model, stories) for name, model in SETS.items()),
    ]
    for linkage, metric in LINKAGES.items():
        for tfidf in (False, True):
            work = partial(grouped, stories, linkage=linkage, metric=metric, tfidf=tfidf)
            cells.append(Cell(_grouping(linkage, tfidf), work, "reuters21578"))
    open_ones = readings(is_quick, drawn, n_draws, stories)
    return Paper(
        key="TCPH01",
        title="Toutanova, Chen, Popat and Hofmann 2001, text classification in a hierarchical "
        "mixture model for small training sets",
        cells=(*cells, *open_ones.cells),
        tables=(
            _table_3(sizes),
            _table_3_clean(sizes),
            _table_4(),
            _clusters(),
            _contingency(),
            *open_ones.tables,
        ),
        figures=(_figure_1(sizes), _figure_2()),
    )


def _grouping(linkage: str, tfidf: bool) -> str:
    return f"grouping/{linkage}, {'tf-idf' if tfidf else 'counts'}"


def _news_entries(kind: str, names: Sequence[str], sizes: Sequence[int]) -> tuple[Entry, ...]:
    """Return accuracies, with one row per model and one column per number of postings."""
    return tuple(
        Entry(name, str(size), f"{kind}/{name}/{size}", "accuracy", NEWSGROUPS[_base(name)][at])
        for name in names
        for at, size in enumerate(sizes)
    )


def _base(name: str) -> str:
    """Return the name of a model in the paper."""
    return name.split(",")[0].split(" as ")[0]


def _ahead(kind: str, sizes: Sequence[int]) -> list[Better]:
    """Return the claim that HM is ahead of HS, with our and with the paper's settings."""
    return [
        Better(
            f"HM is more accurate than HS, all sizes together ({settings}).",
            tuple((f"{kind}/{row['HM']}/{size}", f"{kind}/{row['HS']}/{size}") for size in sizes),
            "accuracy",
        )
        for settings, row in ROWS.items()
    ]


def _table_3(sizes: Sequence[int]) -> Table:
    least, most = sizes[0], sizes[-1]
    claims: list[Claim] = []
    for settings, row in ROWS.items():
        few = {name: f"groups/{row[name]}/{least}" for name in NEWSGROUPS}
        many = {name: f"groups/{row[name]}/{most}" for name in NEWSGROUPS}
        start = f"With {least} postings per group HM"
        claims += [
            *(
                Better(
                    f"{start} is more accurate than {name} ({settings}).",
                    ((few["HM"], few[name]),),
                    "accuracy",
                )
                for name in ("NB", "PLSA", "kNN", "HS")
            ),
            *(
                Ratio(
                    f"{start} has {share} % fewer errors than {name} ({settings}).",
                    few[name],
                    few["HM"],
                    "zero_one_loss",
                    100 / (100 - share),
                )
                for name, share in (("HS", 11), ("NB", 22))
            ),
            LargerGain(
                f"The advantage of HM over NB is less striking with more postings ({settings}).",
                (few["HM"], few["NB"]),
                (many["HM"], many["NB"]),
                "accuracy",
            ),
            Alike(
                f"All methods are alike, within {ALIKE:g}, with {most} postings per group "
                f"({settings}).",
                tuple(combinations(many.values(), 2)),
                "accuracy",
                ALIKE,
            ),
        ]
    return Table(
        number="3",
        title="accuracy on 15 newsgroups by number of training postings per group",
        corpus=f"{POSTINGS} {MODELS}",
        settings=NEWS_SETTINGS,
        entries=_news_entries("groups", list(SINGLE), sizes),
        claims=(*claims, *_ahead("groups", sizes)),
    )


def _table_3_clean(sizes: Sequence[int]) -> Table:
    return Table(
        number="3-without-files",
        title="the same without the lines of encoded files",
        corpus=f"{POSTINGS} Lines of 40 characters or more without a blank are left out: programs "
        f"and pictures that were posted as text. {MODELS}",
        settings=NEWS_SETTINGS,
        entries=_news_entries("clean", WITHOUT_FILES, sizes),
        claims=(
            Better(
                "Naive Bayes is more accurate without them at the largest size.",
                ((f"clean/NB/{sizes[-1]}", f"groups/NB/{sizes[-1]}"),),
                "accuracy",
            ),
            *_ahead("clean", sizes),
        ),
    )


def _table_4() -> Table:
    entries = [
        Entry(name, column, f"reuters/{name}", column, given, 4 if column == "acc" else 3)
        for name in SETS
        for column, given in zip(COLUMNS, REUTERS[_base(name)], strict=True)
    ]
    entries += [
        Entry(name, "categories predicted", f"reuters/{name}", "n_predicted", digits=0)
        for name in SETS
    ]
    knn = f"kNN, {KNN_WORDS:,} words"
    paper, ours = "as in the paper", ", our defaults"
    claims: list[Claim] = []
    for column in ("miF1", "maF1"):
        claims += [
            Better(f"HM is better than {other}, {settings} ({column}).", pairs, column)
            for other in ("HS", "NB")
            for settings, pairs in (
                ("the paper's settings", _reuters(f"HM {paper}", f"{other} {paper}")),
                ("our defaults", _reuters(f"HM{ours}", f"{other}{ours}")),
            )
        ]
        claims += [
            Better(
                f"The SVM is better than {_base(other)}, with each number of words ({column}).",
                tuple((f"reuters/SVM, {n:,} words", f"reuters/{other}") for n in WORDS),
                column,
                rows="every",
            )
            for other in (f"HM {paper}", knn, f"HS {paper}", f"NB {paper}")
        ]
    others = [name for name in SETS if name.startswith("kNN") and name != knn]
    best = f"k-NN is better with {KNN_WORDS:,} words than with any other number (miF1)."
    claims.append(Better(best, _reuters(knn, *others), "miF1", rows="every"))
    return Table(
        number="4",
        title="label sets of Reuters-21578",
        corpus=f"{STORIES} {SET_MODELS}",
        settings=STORY_SETTINGS,
        entries=tuple(entries),
        claims=tuple(claims),
    )


def _reuters(first: str, *others: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of a model and others on Reuters."""
    return tuple((f"reuters/{first}", f"reuters/{other}") for other in others)


def _clusters() -> Table:
    names = {
        f"{linkage} {metric}".strip() + (", tf-idf" if tfidf else ", counts"): (linkage, tfidf)
        for tfidf in (False, True)
        for linkage, metric in LINKAGES.items()
    }
    entries = [
        Entry(row, column, _grouping(*name), measure, given, digits)
        for row, name in names.items()
        for column, measure, given, digits in (
            ("adjusted Rand index", "rand", None, 3),
            ("p", "p_value", None, 4),
            *((f"size {n}", f"size {n}", size, 0) for n, size in enumerate(GROUP_SIZES, 1)),
        )
    ]
    return Table(
        number="clusters",
        title="90 categories in four groups by agglomerative clustering (section 3.1.2)",
        corpus=f"{STORIES} Categories are the sums of the word counts of their training stories; "
        "the groups are compared with the paper's Table 2.",
        settings=GROUP_SETTINGS,
        entries=tuple(entries),
        claims=tuple(
            NoChance(
                f"The groups agree with the paper's beyond chance ({row}).",
                _grouping(*name),
                "rand",
            )
            for row, name in names.items()
            if not name[1]
        ),
    )


def _contingency() -> Table:
    return Table(
        number="cluster-members",
        title="which of the paper's groups our groups are made of",
        corpus=f"{STORIES} Groups merged so that least likelihood is lost.",
        settings=GROUP_SETTINGS,
        entries=tuple(
            Entry(group, f"{name} {n}", _grouping("likelihood", tfidf), f"{group} {n}", digits=0)
            for group in GROUPS
            for name, tfidf in (("counts", False), ("tf-idf", True))
            for n in range(1, len(GROUPS) + 1)
        ),
    )


def _figure_1(sizes: Sequence[int]) -> Figure:
    shown = [size for size in sizes if size <= 67]
    lines = {name: [f"groups/{name}/{size}" for size in shown] for name in SINGLE}
    claims: list[Claim] = []
    for settings, row in ROWS.items():
        weak = tuple(
            (f"groups/{row[name]}/{size}", f"groups/NB/{size}")
            for size in shown
            if size > 10
            for name in ("PLSA", "HS", "HM")
        )
        similar = tuple((f"groups/PLSA/{size}", f"groups/{row['HS']}/{size}") for size in sizes)
        claims += [
            Better(
                "Naive Bayes is weaker than PLSA, HS and HM with 10 to 100 postings per group "
                f"({settings}).",
                weak,
                "accuracy",
                rows="every",
            ),
            Alike(
                f"PLSA and HS are alike, within {ALIKE:g}, at all sizes ({settings} of HS).",
                similar,
                "accuracy",
                ALIKE,
            ),
        ]
    return Figure(
        number="1",
        title="accuracy on 15 newsgroups by number of training postings per group",
        corpus=f"{POSTINGS} {MODELS}",
        settings=NEWS_SETTINGS,
        draw=partial(
            drawings.curves,
            lines=lines,
            x=tuple(shown),
            measures={"accuracy": "accuracy"},
            label="training postings per group",
        ),
        drawn=tuple(name for line in lines.values() for name in line),
        claims=tuple(claims),
    )


def _figure_2() -> Figure:
    names = [
        f"{model}{how}" for how in (" as in the paper", ", our defaults") for model in ("HM", "HS")
    ]
    return Figure(
        number="2",
        title="F1 of small categories of Reuters-21578 by number of training stories",
        corpus=f"{STORIES} {SET_MODELS} Mean F1 of the categories with up to 10 training stories, "
        "11 to 20, ...",
        settings=STORY_SETTINGS,
        draw=partial(
            drawings.binned,
            cells={name: f"reuters/{name}" for name in names},
            width=10,
            most=100,
            measure="F1",
            over="training documents",
        ),
        drawn=tuple(f"reuters/{name}" for name in names),
        claims=tuple(
            Better(
                f"HM is better than HS on categories with at most {most} training stories "
                f"({settings}).",
                _reuters(row["HM"], row["HS"]),
                f"f1_{most}",
            )
            for settings, row in ROWS.items()
            for most in (10, 100)
        ),
    )
