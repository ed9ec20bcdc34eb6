"""Every named corpus has the counts that its README states; nodes there leave the root out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from taxonomist import datasets

Parts = dict[str, int]
Load = Callable[..., datasets.Corpus]

# name, options, items, parts, labels in use, nodes below the root, height
COUNTS = [
    ("20newsgroups", {}, 19997, {"train": 11314, "test": 7532, "unused": 1151}, 20, 38, 5),
    ("20newsgroups", {"tree": "15"}, 14997, {}, 15, 20, 2),
    ("reuters21578", {}, 10789, {"train": 7770, "test": 3019}, 90, 94, 2),
    ("rcv1-subset", {}, 27709, {}, 102, 103, 4),
    ("rcv1-subset", {"subset": "ccat"}, 7500, {"train": 2500, "test": 5000}, 34, 33, 3),
    ("rcv1", {}, 804414, {"train": 23149, "test": 781265}, 103, 103, 4),
    ("wipo-alpha-d-lsa", {}, 1710, {"train": 1352, "test": 358}, 57, 85, 4),
    ("us-patents-ipc", {}, 12428, {}, 2484, 8 + 120 + 522 + 2484, 4),
    ("us-patents-ipc", {"labels": "all"}, 12428, {}, 4011, 8 + 132 + 608 + 4011, 4),
    ("us-patents-ipc", {"level": "class"}, 12428, {}, 120, 8 + 120, 2),
    ("us-patents-ipc", {"section": "D"}, 228, {}, 65, 100, 3),
    (
        "senseval2-english-lexical-sample",
        {},
        *(5266, {"train": 3512, "test": 1754}, 258, 26 + 258, 2),
    ),
    ("enzyme-ec", {}, 9455, {"train": 7700, "test": 1755}, 204, 276, 3),
    ("enzyme-ec", {"set": "all"}, 11189, {}, 234, 312, 3),
    ("wordnet-semcor", {}, 20138, {}, 13125, 82115, 20),
    ("arxiv", {}, 30083, {"train": 24050, "test": 6033}, 152, 168, 3),
    ("arxiv-acm", {}, 19154, {"train": 15274, "test": 3880}, 311, 327, 3),
    ("biotools-edam", {}, 19528, {"train": 15699, "test": 3829}, 770, 797, 8),
    ("debian-debtags", {}, 30300, {"train": 24282, "test": 6018}, 593, 677, 3),
    ("icd10cm", {}, 13549, {"train": 10738, "test": 2811}, 7223, 47200, 7),
    ("onet-soc", {}, 63158, {"train": 50607, "test": 12551}, 1016, 1597, 5),
    ("naics2012", {}, 20722, {"train": 16910, "test": 3812}, 1469, 2209, 5),
    (
        "makupalat-ykl",
        {"language": "en"},
        *(16135, {"train": 15200, "validation": 398, "test": 537}, 1208, 2406, 7),
    ),
    ("skos-vocabularies", {"vocabulary": "stw"}, 0, {}, 0, 6244, 13),
    ("skos-vocabularies", {"vocabulary": "eurovoc"}, 0, {}, 0, 7465, 8),
    ("cystic-fibrosis-mesh", {}, 1239, {"train": 993, "test": 246}, 1807, 29078, 17),
    ("cystic-fibrosis-mesh", {"labels": "major"}, 1239, {}, 702, 29078, 17),
    ("trec-question", {}, 5952, {"train": 5452, "test": 500}, 50, 56, 2),
    ("wos-1000", {}, 1000, {"train": 809, "test": 191}, 132, 144, 2),
    ("enron-ucb", {}, 1702, {"train": 1123, "test": 579}, 53, 57, 2),
    ("ipc-scheme", {}, 0, {}, 0, 8331, 4),
    ("cpc-section-d", {}, 0, {}, 0, 5684, 11),
]

# set, train, valid, test, classes (nodes below the root)
HMC_COUNTS = [
    ("cellcycle_FUN", 1628, 848, 1281, 499),
    ("church_FUN", 1630, 844, 1281, 499),
    ("derisi_FUN", 1608, 842, 1275, 499),
    ("eisen_FUN", 1058, 529, 837, 461),
    ("gasch1_FUN", 1634, 846, 1284, 499),
    ("gasch2_FUN", 1639, 849, 1291, 499),
    ("pheno_FUN", 656, 353, 582, 455),
    ("seq_FUN", 1701, 879, 1339, 499),
    ("spo_FUN", 1600, 837, 1266, 499),
    ("cellcycle_GO", 1625, 848, 1278, 4125),
    ("derisi_GO", 1605, 842, 1272, 4119),
    ("eisen_GO", 1055, 528, 835, 3573),
    ("gasch1_GO", 1631, 846, 1281, 4125),
    ("gasch2_GO", 1636, 849, 1288, 4131),
    ("pheno_GO", 653, 352, 581, 3127),
    ("seq_GO", 1692, 876, 1332, 4133),
    ("spo_GO", 1597, 837, 1263, 4119),
    ("Enron_corr", 988, 0, 660, 56),
    ("Diatoms", 2065, 0, 1054, 398),
    ("ImCLEF07A", 10000, 0, 1006, 96),
    ("ImCLEF07D", 10000, 0, 1006, 46),
]


@pytest.mark.parametrize(
    ("name", "options", "items", "parts", "labels", "nodes", "height"),
    COUNTS,
    ids=["-".join([name, *options.values()]) for name, options, *_ in COUNTS],
)
def test_counts(
    name: str,
    options: dict[str, str],
    items: int,
    parts: Parts,
    labels: int,
    nodes: int,
    height: int,
    load_corpus: Load,
) -> None:
    corpus = load_corpus(name, **options)
    found = corpus.describe()
    assert found["items"] == items
    assert parts in ({}, found["parts"])
    assert found["labels in use"] == labels
    assert found["nodes"] == nodes + 1
    assert found["height"] == height
    assert corpus.name.partition("/")[0] == name
    assert corpus.licence
    assert corpus.source.startswith("https://")


@pytest.mark.parametrize(("name", "train", "valid", "test", "classes"), HMC_COUNTS)
def test_hmc_counts(
    name: str, train: int, valid: int, test: int, classes: int, load_corpus: Load
) -> None:
    corpus = load_corpus("hmc-funcat-go", set=name)
    assert corpus.name == f"hmc-funcat-go/{name}"
    assert corpus.split is not None
    assert Counter(corpus.split) == Counter(train=train, valid=valid, test=test)
    assert corpus.taxonomy.n_nodes == classes + 1
    assert corpus.taxonomy.is_tree is not name.endswith("_GO")


def test_every_named_corpus_is_counted() -> None:
    counted = {name for name, *_ in COUNTS} | {"hmc-funcat-go", "arxiv-sample"}
    assert counted == set(datasets.names())
    assert {name for name, *_ in HMC_COUNTS} == set(datasets.info("hmc-funcat-go").options["set"])


def test_the_catalogue_tells_the_sizes() -> None:
    # The first row of a name is its default.
    counted = {name: (items, nodes + 1) for name, _, items, _, _, nodes, _ in reversed(COUNTS)}
    counted["hmc-funcat-go"] = (1628 + 848 + 1281, 500)
    counted["arxiv-sample"] = (6795, 169)
    assert {name: datasets.info(name).size for name in datasets.names()} == counted


def test_folds_of_the_patents(load_corpus: Load) -> None:
    corpus = load_corpus("us-patents-ipc")
    assert corpus.folds is not None
    assert Counter(corpus.folds.tolist()) == {0: 4134, 1: 4072, 2: 4222}


def test_newsgroup_texts_hold_no_headers(load_corpus: Load) -> None:
    corpus = load_corpus("20newsgroups")
    assert corpus.texts is not None
    assert corpus.texts[0].startswith("Alt.Atheism FAQ: Atheist Resources\n")
    assert "Newsgroups: alt.atheism" not in corpus.texts[0]


def test_rcv1_vectors_have_unit_length(load_corpus: Load) -> None:
    X = load_corpus("rcv1-subset", subset="ccat").X
    assert X.shape[1] == 47236
    assert abs((X**2).sum(axis=1) - 1).max() < 1e-5


def test_names_of_synsets(load_corpus: Load) -> None:
    assert load_corpus("wordnet-semcor").taxonomy.name("00001740-n") == "entity"
