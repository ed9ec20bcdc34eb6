"""BEYOND: our models against other packages on all corpora, and where a taxonomy helps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from taxonomist.experiments.claims import Better
from taxonomist.experiments.claims.gains import Trend, draw_gains
from taxonomist.experiments.claims.rivals import AtLeastAsGood, contestant_of
from taxonomist.experiments.declarations import Cell, Entry, Figure, Paper, Settings, Table
from taxonomist.experiments.sources import digest_of_imports
from taxonomist.experiments.work import peers
from taxonomist.experiments.work.contestants import SETS, SINGLE
from taxonomist.experiments.work.contests import contest, fitted
from taxonomist.experiments.work.corpora import divided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taxonomist.experiments.claims.gains import Pair
    from taxonomist.experiments.work.trials import SplitData

Most: TypeAlias = "Mapping[bool, tuple[int, int]]"
"""Maximum numbers of training and test items, by whether items have one label each."""


@dataclass(frozen=True)
class Data:
    """A corpus: labels per item, shape, maximum number of training items, and options."""

    corpus: str
    is_single: bool = True
    is_tree: bool = True
    limit: int = 4000
    options: Mapping[str, str | int] = field(default_factory=dict)


CORPORA = {
    "20newsgroups": Data("20newsgroups"),
    "trec-question": Data("trec-question"),
    "wos-1000": Data("wos-1000"),
    "senseval2 nouns": Data("senseval2-english-lexical-sample"),
    "wipo-alpha-d-lsa": Data("wipo-alpha-d-lsa"),
    "enzyme-ec": Data("enzyme-ec", options={"letters": 3}),
    "diatoms": Data("hmc-funcat-go", options={"set": "Diatoms"}),
    "arxiv, primary": Data("arxiv", is_tree=False, options={"labels": "primary"}),
    "us-patents, subclasses": Data("us-patents-ipc", options={"level": "subclass"}),
    "us-patents, main groups": Data("us-patents-ipc", limit=2500),
    "naics2012": Data("naics2012"),
    "onet-soc": Data("onet-soc"),
    "makupalat-ykl": Data("makupalat-ykl"),
    "icd10cm": Data("icd10cm"),
    "reuters21578": Data("reuters21578", is_single=False),
    "rcv1-subset": Data("rcv1-subset", is_single=False),
    "enron-ucb": Data("enron-ucb", is_single=False),
    "arxiv-acm": Data("arxiv-acm", is_single=False),
    "debian-debtags": Data("debian-debtags", is_single=False),
    "biotools-edam": Data("biotools-edam", is_single=False, is_tree=False),
    "cystic-fibrosis-mesh": Data("cystic-fibrosis-mesh", is_single=False, is_tree=False),
}
QUICK = ("trec-question", "wipo-alpha-d-lsa", "enron-ucb")
MOST: Most = {True: (4000, 2000), False: (2000, 1000)}
QUICK_MOST: Most = {True: (150, 80), False: (60, 40)}
SAMPLED = (
    "trec-question",
    "wipo-alpha-d-lsa",
    "diatoms",
    "arxiv, primary",
    "us-patents, subclasses",
)
PER_CATEGORY = (1, 2, 4, 8, 16)
NEED_A_TREE = ("HiClass",)
PEER_MODULES = {"HiClass": "hiclass", "Omikuji": "omikuji"}
OURS, TWIN = "HierarchicalSVC", "flat twin"
PATHS, PATHS_MODULE = "PathSVC", "taxonomist.models.path_svc"
COMPARED = {"hierarchical F1": False, "taxonomy loss": True}
"""Measures by which PathSVC is compared with the others, and whether lower is better."""

SHOWN = {
    "hierarchical F1": ("hierarchical_f1", 3),
    "macro F1": ("macro_f1", 3),
    "taxonomy loss": ("taxonomy_loss", 3),
    "exactly right": ("exact", 3),
    "fit s": ("fit_seconds", 2),
    "predict s": ("predict_seconds", 2),
    "peak MiB": ("peak_mib", 0),
}
MADE = (
    "The split is the corpus's own, else its first fold or a stratified fifth. Of more than "
    "{0[0]:,} training or {0[1]:,} test items so many are drawn, with label sets {1[0]:,} and "
    "{1[1]:,}; of main groups of patents 2,500 training items. All "
    "contestants have the same features, made from the training items: tf-idf of words "
    "(of sequences of 3 letters for `enzyme-ec`); numeric features are standardised. Taxonomies "
    "are cut to the nodes at or above labels in use. In corpora with one label per item the few "
    "items with several are left out."
)

COMMON = Settings(
    tolerance="each package's default.",
    features="as above, learnt from the training items alone.",
    splits="one split of each corpus, as above.",
    draws="one.",
)


def paper(is_quick: bool) -> Paper:
    """Return the experiments, or a small version of them."""
    most = QUICK_MOST if is_quick else MOST
    names = QUICK if is_quick else tuple(CORPORA)
    repeats = 1 if is_quick else 3
    cells = [_contest(name, who, most, repeats) for name in names for who in contestants(name)]
    sampled = [name for name in SAMPLED if name in names]
    counts = PER_CATEGORY[1:3] if is_quick else PER_CATEGORY
    cells += [
        _sample(name, count, who, most, 1 if is_quick else 2)
        for name in sampled
        for count in counts
        for who in (OURS, TWIN)
    ]
    single = [name for name in names if CORPORA[name].is_single]
    return Paper(
        key="BEYOND",
        title="Beyond the papers: our models beside other packages on all corpora",
        cells=tuple(cells),
        tables=(_contests(names, most), _pays(single, most), _rivals(names, most)),
        figures=(_over_corpora(single, most), _over_samples(sampled, counts, most)),
        notes=tuple(left_out()),
    )


def contestants(name: str) -> list[str]:
    """Return the contestants, without those that need a tree or a missing package."""
    data = CORPORA[name]
    return [
        who
        for who in (*(SINGLE if data.is_single else SETS), *peers.installed())
        if (data.is_tree or who not in NEED_A_TREE)
        and (who not in PEER_MODULES or find_spec(PEER_MODULES[who]) is not None)
    ]


def left_out() -> Iterator[str]:
    """Yield a sentence about each contestant that is not installed."""
    for who, module in PEER_MODULES.items():
        if find_spec(module) is None:
            yield f"{who} is not installed and takes no part: pip install 'taxonomist[bench]'."
    for who in peers.PEERS:
        if who not in peers.installed():
            yield (
                f"{who} is not installed and takes no part: set {peers.VARIABLE} to the Python of "
                "an environment with libpecos and napkinxc."
            )


def _divided(name: str, most: Most, **sample: int) -> partial[SplitData]:
    data = CORPORA[name]
    n_train, n_test = most[data.is_single]
    sizes = {"n_train": min(n_train, data.limit), "n_test": n_test, "is_single": data.is_single}
    return partial(divided, data.corpus, **sizes, **sample, **data.options)


def _contest(name: str, who: str, most: Most, repeats: int) -> Cell:
    work = partial(contest, _divided(name, most), contestant=who, repeats=repeats)
    sources = digest_of_imports(PATHS_MODULE) if who == PATHS else ""
    return Cell(f"{name}/{who}", work, CORPORA[name].corpus, is_timed=True, sources=sources)


def _sample(name: str, count: int, who: str, most: Most, n_draws: int) -> Cell:
    draws = [_divided(name, most, per_category=count, seed=seed) for seed in range(n_draws)]
    work = partial(fitted, *draws, contestant=who)
    return Cell(f"sample/{name}/{count}/{who}", work, CORPORA[name].corpus)


def _pairs(names: Sequence[str], ours: str, other: str) -> tuple[Pair, ...]:
    """Return the pairs of cells of two contestants on the corpora where both take part."""
    return tuple(
        (f"{name}/{ours}", f"{name}/{other}")
        for name in names
        if {ours, other} <= set(contestants(name))
    )


def _better(names: Sequence[str], ours: str, other: str) -> list[Better]:
    """Return the claims that one model of ours is better than another model by each measure."""
    pairs = _pairs(names, ours, other)
    measures = {"hierarchical F1": False, "macro F1": False, "taxonomy loss": True}
    return [
        Better(
            f"{ours} has a better {measure} than {other.removesuffix(' sets')}.",
            pairs,
            SHOWN[measure][0],
            lower=lower,
        )
        for measure, lower in measures.items()
        if pairs
    ]


def _contests(names: Sequence[str], most: Most) -> Table:
    entries = [
        Entry(
            f"{name}: {who.removesuffix(' sets')}", column, f"{name}/{who}", measure, None, digits
        )
        for name in names
        for who in contestants(name)
        for column, (measure, digits) in SHOWN.items()
    ]
    claims = [
        claim
        for ours, others in (
            (OURS, ("one-vs-rest", "HiClass", TWIN)),
            ("HierarchicalRankingSVC", ("one-vs-rest sets", "Omikuji")),
            ("MaxMarginMarkovClassifier", ("one-vs-rest sets", "Omikuji")),
        )
        for other in others
        for claim in _better(names, ours, other)
    ]
    return Table(
        number="1",
        title="our models beside one-vs-rest, HiClass, Omikuji, PECOS and napkinXC",
        corpus=f"{len(names)} corpora. {MADE.format(most[True], most[False])} Taxonomy loss is "
        "half the symmetric difference of closed label sets where items have one label, all of it "
        "where they have several; macro F1 is over the categories of the test items. Every "
        "contestant has its package's defaults, one thread and a process of its own; seconds are "
        "the processor's, means of up to 3 repeats; memory is "
        "the most that process held, data and interpreter included. One-vs-rest is scikit-learn's "
        "`LinearSVC`; HiClass has it at each parent node, and needs a tree and one label. "
        "Omikuji, PECOS's linear model and napkinXC (hierarchical softmax, or a probabilistic "
        "label tree with label sets) make trees of labels of their own. Their thresholds for label "
        "sets are chosen on a fifth of the training items, within their time to fit, as the "
        "decision rules of our models are by cross-validation. PECOS and napkinXC run in an "
        "environment without this package, whose modules take part of the memory of the others."
        + "".join(f" {note}" for note in left_out()),
        settings=COMMON,
        entries=tuple(entries),
        claims=tuple(claims),
    )


def _rivals(names: Sequence[str], most: Most) -> Table:
    rows = {
        name: (f"{name}/{PATHS}", tuple(f"{name}/{w}" for w in contestants(name) if w != PATHS))
        for name in names
    }
    entries = [
        Entry(
            f"{name}: {whom}", column, ours, SHOWN[column][0], lower=COMPARED[column], versus=versus
        )
        for name, (ours, others) in rows.items()
        for whom, versus in [("best other", others), *((contestant_of(o), (o,)) for o in others)]
        for column in COMPARED
    ]
    claims = [
        AtLeastAsGood(
            f"{PATHS} is at least as good as every other contestant on four of five corpora: "
            f"{' and '.join(columns)}.",
            rows,
            {SHOWN[column][0]: COMPARED[column] for column in columns},
        )
        for columns in (("hierarchical F1",), ("taxonomy loss",), tuple(COMPARED))
    ]
    return Table(
        number="3",
        title="PathSVC beside every other contestant",
        corpus=f"As in Table 1. {MADE.format(most[True], most[False])} Numbers are by how much "
        "PathSVC is better, positive for a higher F1 and for a lower loss, with 95 % bootstrap "
        "intervals of the difference over test items. *Best other* is the best of the other "
        "contestants by that measure on the test items, which favours it. PathSVC has its "
        "defaults on all corpora." + "".join(f" {note}" for note in left_out()),
        settings=COMMON,
        entries=tuple(entries),
        claims=tuple(claims),
    )


def _pays(names: Sequence[str], most: Most) -> Table:
    sizes = {
        "items": ("n_items", 0),
        "categories": ("n_categories", 0),
        "items per category": ("per_category", 1),
        "depth": ("depth", 1),
    }
    entries = [
        Entry(name, column, f"{name}/{OURS}", measure, None, digits)
        for name in names
        for column, (measure, digits) in sizes.items()
    ] + [
        Entry(name, f"{column} {who}", f"{name}/{cell}", SHOWN[column][0], None, 3)
        for name in names
        for column in ("taxonomy loss", "exactly right")
        for who, cell in (("flat", TWIN), ("hierarchical", OURS))
    ]
    each = [
        Better(f"{name}: the taxonomy lowers the loss.", (pair,), "taxonomy_loss", lower=True)
        for name, pair in zip(names, _pairs(names, OURS, TWIN), strict=True)
    ]
    return Table(
        number="2",
        title="what the taxonomy gives: HierarchicalSVC and its flat twin",
        corpus=f"The corpora with one label per item. {MADE.format(most[True], most[False])}",
        settings=COMMON,
        entries=tuple(entries),
        claims=(*each, *_trends(_pairs(names, OURS, TWIN))),
    )


def _trends(pairs: tuple[Pair, ...]) -> tuple[Trend, ...]:
    """Return the claims about what the gain correlates with."""
    return tuple(
        Trend(f"The gain in loss {words}.", (pairs,), "taxonomy_loss", over, grows)
        for words, over, grows in (
            ("is larger where there are fewer items per category", "per_category", False),
            ("is larger in deeper taxonomies", "depth", True),
            ("is larger with more categories", "n_categories", True),
        )
    )


def _over_corpora(names: Sequence[str], most: Most) -> Figure:
    pairs = _pairs(names, OURS, TWIN)
    over = {"per_category": "training items per category", "depth": "mean depth of labels"}
    groups = {name: [pair] for name, pair in zip(names, pairs, strict=True)}
    return Figure(
        number="1",
        title="share of the flat twin's taxonomy loss that the taxonomy saves, by corpus",
        corpus=f"As in Table 2. {MADE.format(most[True], most[False])}",
        settings=COMMON,
        draw=partial(draw_gains, groups=groups, loss="taxonomy_loss", over=over),
        drawn=tuple(name for pair in pairs for name in pair),
    )


def _over_samples(names: Sequence[str], counts: Sequence[int], most: Most) -> Figure:
    groups = {
        name: [
            (f"sample/{name}/{count}/{OURS}", f"sample/{name}/{count}/{TWIN}") for count in counts
        ]
        for name in names
    }
    few, many = counts[0], counts[-1]
    return Figure(
        number="2",
        title="share of the loss that the taxonomy saves with few items of each category",
        corpus=f"At most {', '.join(map(str, counts))} items of each category, drawn from the "
        f"training items; all test items. {MADE.format(most[True], most[False])}",
        settings=replace(
            COMMON, draws="two of each size; tests average the values of an item over draws."
        ),
        draw=partial(
            draw_gains,
            groups=groups,
            loss="taxonomy_loss",
            over={"per_category": "training items per category"},
        ),
        drawn=tuple(name for group in groups.values() for pair in group for name in pair),
        claims=(
            Trend(
                "In the same corpus, the gain is larger with fewer items per category.",
                tuple(map(tuple, groups.values())),
                "taxonomy_loss",
                "per_category",
                grows=False,
            ),
            *(
                Better(
                    f"With {count} items per category the taxonomy lowers the loss.",
                    tuple(group[counts.index(count)] for group in groups.values()),
                    "taxonomy_loss",
                    lower=True,
                )
                for count in (few, many)
            ),
        ),
    )
