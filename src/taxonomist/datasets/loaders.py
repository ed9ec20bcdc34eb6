"""Load the folder of a named corpus as a ``Corpus``, with one function per kind of folder.

Each function takes the folder and the options of its catalogue entry.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.datasets.arff import read_arff
from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.files import open_text
from taxonomist.datasets.svmlight import read_svmlight
from taxonomist.datasets.tables import UNUSED, read_jsonl
from taxonomist.errors import CorpusNotFoundError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RCV1_TERMS = 47_236


def documents(
    folder: Path,
    docs: str = "docs.jsonl.gz",
    taxonomy: str = "taxonomy.csv",
    names: str | None = None,
    **columns: Any,
) -> Corpus:
    """Load documents in JSON lines with an edge list."""
    known = Taxonomy.read(folder / taxonomy, name=names)
    return read_jsonl(folder / docs, known, strict=True, **columns)


def taxonomy_only(folder: Path, taxonomy: str, names: str | None = None) -> Corpus:
    """Load a taxonomy without items."""
    return Corpus(folder.name, Taxonomy.read(folder / taxonomy, name=names), labels=[], texts=[])


def arxiv(folder: Path, labels: str) -> Corpus:
    """Load arXiv papers with all their categories, or only the primary one."""
    column = "labels" if labels == "all" else "primary"
    return documents(folder, text=("title", "abstract"), labels=column)


def cystic_fibrosis(folder: Path, labels: str) -> Corpus:
    """Load MEDLINE records with all their headings, or only the major ones."""
    return documents(
        folder,
        taxonomy="taxonomy.csv.gz",
        text=("title", "abstract"),
        labels="labels" if labels == "all" else "major",
    )


def makupalat(folder: Path, language: str) -> Corpus:
    """Load web site descriptions with class names in one language."""
    return documents(folder, names=f"name_{language}")


def skos_vocabulary(folder: Path, vocabulary: str) -> Corpus:
    """Load one of the thesauri."""
    files = {"stw": "stw-9.06-edges.csv.gz", "eurovoc": "eurovoc-2021-06-04-edges.csv.gz"}
    return taxonomy_only(folder, files[vocabulary])


def newsgroups(folder: Path, tree: str) -> Corpus:
    """Load the subject and body of postings; other headers would reveal the group."""
    taxonomy = Taxonomy.read(folder / f"taxonomy_{tree}.tsv")
    corpus = read_jsonl(
        folder / "docs.jsonl.gz",
        text=("subject", "body"),
        labels="group",
        split="bydate",
        strict=True,
    )
    inside = np.array([label in taxonomy for (label,) in corpus.labels])
    return corpus.select(inside).relabel(taxonomy)


def enzymes(folder: Path, set: str) -> Corpus:
    """Load protein sequences; the tree is pruned to the labels in use."""
    docs = {"sample": "enzyme_paper_size.jsonl.gz", "all": "enzyme_all.jsonl.gz"}
    return _pruned(documents(folder, docs[set]))


def patents(folder: Path, level: str, labels: str, section: str) -> Corpus:
    """Load patents labelled by their IPC symbols, cut at a level, in one section or in all."""
    column = "main" if labels == "main" else "ipc"
    corpus = read_jsonl(
        folder / "docs.jsonl.gz", text=("title", "abstract"), labels=column, strict=True
    )
    symbols = [_ipc_nodes(row, level) for row in corpus.labels]
    corpus = corpus.relabel(Taxonomy.read(folder / "taxonomy.tsv"), symbols)
    if section != "all":
        inside = [symbols[0].startswith(section) for symbols in corpus.labels]
        corpus = corpus.relabel(corpus.taxonomy.subtree(section)).select(np.array(inside))
    return _pruned(corpus)


def _ipc_nodes(symbols: Iterable[str], level: str) -> list[str]:
    """Cut IPC symbols such as ``D06F 39/08`` at a level."""
    length = {"class": 3, "subclass": 4, "maingroup": None}[level]
    return list(dict.fromkeys(symbol.partition("/")[0][:length] for symbol in symbols))


def semcor(folder: Path) -> Corpus:
    """Load sentences labelled with the synsets of their nouns."""
    with open_text(folder / "wordnet30_noun_synsets.csv.gz") as stream:
        names = {row["synset"]: row["words"].replace("|", ", ") for row in csv.DictReader(stream)}
    taxonomy = Taxonomy.read(folder / "wordnet30_noun_hypernyms.csv.gz")
    rows = _objects(folder / "semcor_nouns.jsonl.gz")
    return Corpus(
        folder.name,
        taxonomy.rename(names=names),
        labels=[
            tuple(dict.fromkeys(synset for *_, tags in row["nouns"] for synset in tags))
            for row in rows
        ],
        texts=[row["text"] for row in rows],
        ids=[row["id"] for row in rows],
    )


def rcv1(folder: Path, subset: str) -> Corpus:
    """Load the vectors, or the fixed split of those in CCAT with the labels below it."""
    with open_text(folder / "labels.tsv") as stream:
        topics = {row["index"]: row["topic"] for row in csv.DictReader(stream, delimiter="\t")}
    numbered = read_svmlight(folder / "vectors.svm.gz", n_features=RCV1_TERMS)
    topic_sets = [[topics[label] for label in row] for row in numbered.labels]
    corpus = numbered.relabel(Taxonomy.read(folder / "taxonomy.tsv"), topic_sets)
    if subset == "all":
        return corpus
    with open_text(folder / "ccat_2500_5000.tsv") as stream:
        part = {row["id"]: row["split"] for row in csv.DictReader(stream, delimiter="\t")}
    split = np.array([part.get(item, UNUSED) for item in corpus.ids or ()], dtype=object)
    inside = split != UNUSED
    return replace(
        corpus.select(inside).relabel(corpus.taxonomy.subtree("CCAT")), split=split[inside]
    )


def rcv1_whole(folder: Path, part: str) -> Corpus:
    """Load the vectors of the whole collection or of one part of its split."""
    from scipy.sparse import vstack

    taxonomy = Taxonomy.read(folder / "taxonomy.tsv")
    names = ["train", "test"] if part == "all" else [part]
    parts = [
        read_svmlight(folder / f"{name}.svm.gz", taxonomy, n_features=RCV1_TERMS) for name in names
    ]
    return Corpus(
        folder.name,
        taxonomy,
        labels=[row for corpus in parts for row in corpus.labels],
        X=vstack([corpus.X for corpus in parts], format="csr"),
        ids=[item for corpus in parts for item in corpus.ids or ()],
        split=np.repeat(np.array(names, dtype=object), [len(corpus) for corpus in parts]),
    )


def wipo_alpha(folder: Path) -> Corpus:
    """Load the vectors of section D."""
    with open_text(folder / "features.csv.gz") as stream:
        rows = list(csv.reader(stream))[1:]
    ids, split, _, _, labels, *features = zip(*rows, strict=True)
    return Corpus(
        folder.name,
        Taxonomy.read(folder / "taxonomy.tsv"),
        labels=list(labels),
        X=np.array(features, dtype=np.float64).T.copy(),
        ids=ids,
        split=np.array(split, dtype=object),
    )


def enron(folder: Path) -> Corpus:
    """Load e-mails as binary word vectors; columns are the words in alphabetical order."""
    from scipy.sparse import csr_array

    rows = _objects(folder / "docs.jsonl.gz")
    vocabulary = sorted({word for row in rows for word in row["words"]})
    column = {word: position for position, word in enumerate(vocabulary)}
    indices = np.array([column[word] for row in rows for word in sorted(row["words"])])
    indptr = np.cumsum([0, *(len(row["words"]) for row in rows)])
    return Corpus(
        folder.name,
        Taxonomy.read(folder / "taxonomy.tsv"),
        labels=[row["labels"] for row in rows],
        X=csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), len(vocabulary))),
        ids=[row["id"] for row in rows],
        split=np.array([row["split"] for row in rows], dtype=object),
    )


def hmc(folder: Path, set: str) -> Corpus:
    """Load the parts of an ARFF set; all parts share one taxonomy."""
    parts = {}
    for path in sorted(folder.glob(f"{set}[._]*.arff.gz")):
        part = path.name[len(set) + 1 :].partition(".")[0].lower()
        parts["train" if part == "trainvalid" else part] = read_arff(path)
    if "train" not in parts:
        raise CorpusNotFoundError(
            f"{folder} lacks the files of {set}, such as {set}.train.arff.gz."
        )
    order = [part for part in ("train", "valid", "test") if part in parts]
    return Corpus(
        folder.name,
        parts["train"].taxonomy,
        labels=[row for part in order for row in parts[part].labels],
        X=np.concatenate([parts[part].X for part in order]),
        split=np.repeat(np.array(order, dtype=object), [len(parts[part]) for part in order]),
    )


def _objects(path: Path) -> list[dict[str, Any]]:
    with open_text(path) as stream:
        return [json.loads(line) for line in stream]


def _pruned(corpus: Corpus) -> Corpus:
    """Prune the taxonomy to the labels in use and their ancestors."""
    used = dict.fromkeys(label for row in corpus.labels for label in row)
    return corpus.relabel(corpus.taxonomy.prune(used))
