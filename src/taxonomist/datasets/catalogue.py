"""The named corpora: description, source, licence, files, and how to load each.

Except for ``arxiv-sample``, the data are not part of Taxonomist; ``taxonomist.datasets.named``
finds them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from taxonomist.datasets import loaders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taxonomist.datasets.corpus import Corpus

__all__ = ["ENTRIES", "CatalogueEntry"]


@dataclass(frozen=True)
class CatalogueEntry:
    """One named corpus.

    Parameters
    ----------
    name
        Name of the corpus and of its folder.
    size
        Number of items and of nodes that ``load`` returns by default.
    description
        One-line description.
    source
        Where to get the corpus.
    licence
        Terms of use, in short.
    files
        Content of each file in the folder, by name or pattern.
    load
        Function that loads the folder.
    options
        Allowed values of each option, the default first.
    """

    name: str
    size: tuple[int, int]
    description: str
    source: str
    licence: str
    files: Mapping[str, str]
    load: Callable[..., Corpus]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


EDGES = "edge list parent, child, name"
ARXIV = "https://github.com/staeiou/arxiv_archive (doi:10.5281/zenodo.1463242)"
RESEARCH = "no stated licence; distributed for research"

YEAST = ("cellcycle", "derisi", "eisen", "gasch1", "gasch2", "pheno", "seq", "spo")
HMC_SETS = (
    *(f"{name}_{scheme}" for name in YEAST for scheme in ("FUN", "GO")),
    *("church_FUN", "Diatoms", "Enron_corr", "ImCLEF07A", "ImCLEF07D"),
)

ENTRIES = (
    CatalogueEntry(
        name="arxiv-sample",
        size=(6_795, 169),
        description="Titles and abstracts of arXiv papers, at most 45 per primary category",
        source=ARXIV,
        licence="CC0 1.0",
        files={"docs.jsonl.gz": "JSON lines", "taxonomy.csv": EDGES},
        load=loaders.arxiv,
        options={"labels": ("all", "primary")},
    ),
    CatalogueEntry(
        name="20newsgroups",
        size=(19_997, 39),
        description="Usenet postings of 20 newsgroups; subject and body only",
        source="https://github.com/guifigueiroa/20newsgroup",
        licence=RESEARCH,
        files={
            "docs.jsonl.gz": "JSON lines: id, group, bydate, subject, body",
            "taxonomy_15.tsv": f"{EDGES}: the 15 groups of TCPH01",
            "taxonomy_20.tsv": f"{EDGES}: the dots of the 20 names",
        },
        load=loaders.newsgroups,
        options={"tree": ("20", "15")},
    ),
    CatalogueEntry(
        name="reuters21578",
        size=(10_789, 95),
        description="Newswire stories of 1987, ModApte split, 90 topics in four clusters",
        source="https://github.com/colibri17/TextCategorization, folder reuters21578",
        licence="copyright Reuters Ltd.; for research only",
        files={
            "docs.jsonl.gz": "JSON lines: id, split, title, body, labels",
            "taxonomy.tsv": EDGES,
        },
        load=partial(loaders.documents, taxonomy="taxonomy.tsv", text=("title", "body")),
    ),
    CatalogueEntry(
        name="rcv1-subset",
        size=(27_709, 104),
        description="Term vectors of Reuters Corpus Volume 1 stories with their topics",
        source="https://github.com/fcharte/mldr.datasets, additional-data/rcv1sub*.rda",
        licence="LYRL2004 appendices, for research; no Reuters text",
        files={
            "vectors.svm.gz": "svmlight: label,label index:value # id",
            "labels.tsv": "index, topic",
            "taxonomy.tsv": EDGES,
            "ccat_2500_5000.tsv": "id, split of a part of CCAT",
        },
        load=loaders.rcv1,
        options={"subset": ("all", "ccat")},
    ),
    CatalogueEntry(
        name="rcv1",
        size=(804_414, 104),
        description="Term vectors of all RCV1-v2 stories with their topics, LYRL2004 split",
        source="https://www.jmlr.org/papers/volume5/lewis04a, appendices 8 and 13",
        licence="LYRL2004 appendices, for research; no Reuters text",
        files={
            "train.svm.gz": "svmlight: topic,topic index:value # id",
            "test.svm.gz": "the same",
            "taxonomy.tsv": EDGES,
        },
        load=loaders.rcv1_whole,
        options={"part": ("all", "train", "test")},
    ),
    CatalogueEntry(
        name="wipo-alpha-d-lsa",
        size=(1_710, 86),
        description="WIPO-alpha patents of section D as 100-dimensional LSA vectors",
        source="https://github.com/ermlickw/AIT690, folder PatentPredictionProject",
        licence=RESEARCH,
        files={
            "features.csv.gz": "id, split, class, subclass, label, f00 ... f99",
            "taxonomy.tsv": EDGES,
        },
        load=loaders.wipo_alpha,
    ),
    CatalogueEntry(
        name="us-patents-ipc",
        size=(12_428, 3_135),
        description="Titles and abstracts of US patents with their IPC symbols, three folds",
        source="https://github.com/LucasLopesSI/PatentClassifierData",
        licence="no stated licence; US patent text is mostly free of copyright",
        files={
            "docs.jsonl.gz": "JSON lines: id, title, abstract, main, ipc, fold",
            "taxonomy.tsv": EDGES,
        },
        load=loaders.patents,
        options={
            "level": ("maingroup", "subclass", "class"),
            "labels": ("main", "all"),
            "section": ("all", *"ABCDEFGH"),
        },
    ),
    CatalogueEntry(
        name="senseval2-english-lexical-sample",
        size=(5_266, 285),
        description="Passages around 29 nouns with their WordNet senses under supersenses",
        source="https://github.com/gitpan/Text-SenseClusters, folder samples/Data",
        licence="released for research; passages belong to their owners; WordNet licence",
        files={
            "nouns.jsonl.gz": "JSON lines: id, split, left, head, right, labels",
            "taxonomy_nouns.csv": EDGES,
        },
        load=partial(
            loaders.documents,
            docs="nouns.jsonl.gz",
            taxonomy="taxonomy_nouns.csv",
            text=("left", "head", "right"),
        ),
    ),
    CatalogueEntry(
        name="enzyme-ec",
        size=(9_455, 277),
        description="Protein sequences with the first three levels of their EC numbers",
        source="https://github.com/tttianhao/CLEAN, app/data (UniProtKB), and others",
        licence="CC BY 4.0 (UniProtKB, ENZYME) and CC0 (PDB)",
        files={
            "enzyme_paper_size.jsonl.gz": "JSON lines: id, text, labels, split",
            "enzyme_all.jsonl.gz": "JSON lines: id, text, labels",
            "taxonomy.csv": EDGES,
        },
        load=loaders.enzymes,
        options={"set": ("sample", "all")},
    ),
    CatalogueEntry(
        name="wordnet-semcor",
        size=(20_138, 82_116),
        description="SemCor sentences with the WordNet 3.0 synsets of their nouns",
        source="https://github.com/rubenIzquierdo/wsd_corpora, folder semcor3.0; WordNet 3.0",
        licence="WordNet licence",
        files={
            "semcor_nouns.jsonl.gz": "JSON lines: id, text, nouns [position, lemma, synsets]",
            "wordnet30_noun_hypernyms.csv.gz": "edge list parent, child",
            "wordnet30_noun_synsets.csv.gz": "synset, words",
        },
        load=loaders.semcor,
    ),
    CatalogueEntry(
        name="arxiv",
        size=(30_083, 169),
        description="Titles and abstracts of arXiv papers, at most 200 per primary category",
        source=ARXIV,
        licence="CC0 1.0",
        files={
            "docs.jsonl.gz": "JSON lines: id, title, abstract, primary, labels, split",
            "taxonomy.csv": EDGES,
        },
        load=loaders.arxiv,
        options={"labels": ("all", "primary")},
    ),
    CatalogueEntry(
        name="arxiv-acm",
        size=(19_154, 328),
        description="Titles and abstracts of arXiv papers with the ACM classes of 1998",
        source=ARXIV,
        licence="CC0 1.0",
        files={
            "docs.jsonl.gz": "JSON lines: id, title, abstract, labels, split",
            "taxonomy.csv": EDGES,
        },
        load=partial(loaders.documents, text=("title", "abstract")),
    ),
    CatalogueEntry(
        name="biotools-edam",
        size=(19_528, 798),
        description="Descriptions of bioinformatics tools with EDAM topics and operations",
        source="https://github.com/bio-tools/content and github.com/edamontology/edamontology",
        licence="CC BY 4.0 (bio.tools), CC BY-SA 4.0 (EDAM)",
        files={
            "docs.jsonl.gz": "JSON lines: id, name, text, labels, split",
            "taxonomy.csv": EDGES,
        },
        load=partial(loaders.documents, text=("name", "text")),
    ),
    CatalogueEntry(
        name="debian-debtags",
        size=(30_300, 678),
        description="Descriptions of Debian packages with their Debtags",
        source="https://deb.debian.org/debian, bookworm main: Packages and Translation-en",
        licence="terms of the packages (free software); Debtags GPL-2",
        files={
            "docs.jsonl.gz": "JSON lines: id, title, text, labels, split",
            "taxonomy.csv": EDGES,
        },
        load=partial(loaders.documents, text=("title", "text")),
    ),
    CatalogueEntry(
        name="hmc-funcat-go",
        size=(3_757, 500),
        description="Benchmark sets of hierarchical multi-label classification, dense features",
        source="https://github.com/EGiunchiglia/C-HMCNN, folder HMC_data",
        licence="published for research by DTAI, KU Leuven",
        files={"*.arff.gz": "the ARFF files as published, gzip'd"},
        load=loaders.hmc,
        options={"set": HMC_SETS},
    ),
    CatalogueEntry(
        name="icd10cm",
        size=(13_549, 47_201),
        description="Inclusion terms of ICD-10-CM with their diagnosis codes",
        source="https://pypi.org/project/simple-icd-10-cm 1.5.0 (CDC/NCHS tabular list)",
        licence="free to use in the United States; ICD-10 copyright WHO",
        files={"docs.jsonl.gz": "JSON lines: id, text, labels, split", "taxonomy.csv.gz": EDGES},
        load=partial(loaders.documents, taxonomy="taxonomy.csv.gz"),
    ),
    CatalogueEntry(
        name="onet-soc",
        size=(63_158, 1_598),
        description="Job titles, tasks and descriptions with O*NET-SOC occupations",
        source="https://www.onetcenter.org/database.html, O*NET 27.0",
        licence="CC BY 4.0 (U.S. Department of Labor, ETA)",
        files={"docs.jsonl.gz": "JSON lines: id, text, labels, split", "taxonomy.csv": EDGES},
        load=loaders.documents,
    ),
    CatalogueEntry(
        name="naics2012",
        size=(20_722, 2_210),
        description="Index entries and descriptions of NAICS 2012 with their industries",
        source="https://github.com/codeforamerica/naics-api, folder data",
        licence="public domain (US Census Bureau)",
        files={"docs.jsonl.gz": "JSON lines: id, text, labels, split", "taxonomy.csv": EDGES},
        load=loaders.documents,
    ),
    CatalogueEntry(
        name="makupalat-ykl",
        size=(16_135, 2_407),
        description="Finnish descriptions of web sites with public library classes",
        source="https://github.com/NatLibFi/Annif-corpora, fulltext/makupalat and vocab",
        licence="CC0 1.0 (YKL); texts without stated licence",
        files={
            "docs.jsonl.gz": "JSON lines: id, text, labels, split",
            "taxonomy.csv": "edge list parent, child, name_fi, name_en, name_sv",
        },
        load=loaders.makupalat,
        options={"language": ("fi", "en", "sv")},
    ),
    CatalogueEntry(
        name="skos-vocabularies",
        size=(0, 6_245),
        description="The STW and EuroVoc thesauri; no items",
        source="https://github.com/NatLibFi/Annif-tutorial and benoitdavidfr/eurovoc",
        licence="ODbL 1.0 (STW); reuse with source named (EuroVoc)",
        files={"stw-9.06-edges.csv.gz": EDGES, "eurovoc-2021-06-04-edges.csv.gz": EDGES},
        load=loaders.skos_vocabulary,
        options={"vocabulary": ("stw", "eurovoc")},
    ),
    CatalogueEntry(
        name="cystic-fibrosis-mesh",
        size=(1_239, 29_079),
        description="MEDLINE records on cystic fibrosis with MeSH 2019 headings",
        source="https://github.com/maxjf1/sistemas-ir, folder data; MeSH trees of the NLM",
        licence="free test collection for research; MeSH courtesy of the NLM",
        files={
            "docs.jsonl.gz": "JSON lines: id, title, abstract, labels, major, split",
            "taxonomy.csv.gz": "edge list parent, child",
        },
        load=loaders.cystic_fibrosis,
        options={"labels": ("all", "major")},
    ),
    CatalogueEntry(
        name="trec-question",
        size=(5_952, 57),
        description="Questions with 6 coarse and 50 fine answer types",
        source="https://github.com/tstuessi/question-type, folder data",
        licence=RESEARCH,
        files={"docs.jsonl.gz": "JSON lines: id, text, labels, split", "taxonomy.csv": EDGES},
        load=loaders.documents,
    ),
    CatalogueEntry(
        name="wos-1000",
        size=(1_000, 145),
        description="Abstracts of the first 1,000 papers of WOS-46985 by domain and area",
        source="https://github.com/harouzie/kltn, folder data/wos (doi:10.17632/9rw3vkcfy4)",
        licence="abstracts belong to the publishers; for research",
        files={"docs.jsonl.gz": "JSON lines: id, text, labels, split", "taxonomy.csv": EDGES},
        load=loaders.documents,
    ),
    CatalogueEntry(
        name="enron-ucb",
        size=(1_702, 58),
        description="Enron e-mails as sets of words with 53 labels under four headings",
        source="https://github.com/tsoumakas/mulan, folder data/multi-label/enron",
        licence="carried under GPL 3; no stated terms of the annotation",
        files={"docs.jsonl.gz": "JSON lines: id, split, words, labels", "taxonomy.tsv": EDGES},
        load=loaders.enron,
    ),
    CatalogueEntry(
        name="ipc-scheme",
        size=(0, 8_332),
        description="The International Patent Classification 2022.01 to main groups; no items",
        source="https://github.com/ZoeYou/Patent-Classification-2022, data/ipc-sections",
        licence="published by WIPO; no stated terms",
        files={"taxonomy.tsv.gz": "edge list parent, child, level, title"},
        load=partial(loaders.taxonomy_only, taxonomy="taxonomy.tsv.gz", names="title"),
    ),
    CatalogueEntry(
        name="cpc-section-d",
        size=(0, 5_685),
        description="Section D of the Cooperative Patent Classification 2019.08; no items",
        source="https://github.com/juliusgeo/CPC-Patent-Classifier, legacy/CPCSchemeXML201908",
        licence="published by EPO and USPTO; no stated terms",
        files={"taxonomy.tsv.gz": "edge list parent, child, level, title"},
        load=partial(loaders.taxonomy_only, taxonomy="taxonomy.tsv.gz", names="title"),
    ),
)
