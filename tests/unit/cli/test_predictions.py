import csv
import gzip
import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from taxonomist import Taxonomy
from taxonomist.cli.items import Item
from taxonomist.cli.predictions import (
    BLOCK,
    BLOCK_CELLS,
    Decider,
    Wanted,
    as_cells,
    as_record,
    blocks,
    headings,
)
from taxonomist.cli.writers import format_of, json_lines, open_output, table_rows
from taxonomist.errors import FormatError

TAXONOMY = Taxonomy.from_edges(
    [("animal", "cat"), ("animal", "dog"), ("plant", "oak")], {"cat": "Cats"}
)


class Classifier:
    """Says of a text the labels that it holds, surely."""

    taxonomy_ = TAXONOMY
    calibration = "temperature"
    model_ = SimpleNamespace(explain=None)
    features_ = SimpleNamespace(columns_=None)
    classes_ = np.array(["cat", "dog", "oak"], dtype=object)

    def predict_labels(self, texts):
        return [text["text"].split() for text in texts]

    def predict(self, texts, *, depth, risk):
        assert depth == "confident"
        assert risk == 0.1
        return ["animal" if text["text"] else TAXONOMY.root for text in texts]

    def predict_node_proba(self, texts):
        return np.tile(np.arange(TAXONOMY.n_nodes) / 10, (len(texts), 1))

    def predict_topk(self, texts, k):
        k = min(k, 3)
        return np.tile(self.classes_[:k], (len(texts), 1)), np.tile(
            [0.5, 0.3, 0.2][:k], (len(texts), 1)
        )

    def explain(self, text, n, category):
        words = [("meow", 0.5, category), ("the", -0.25, "animal"), ("a", 0.125, "animal")]
        return SimpleNamespace(words=words)


def decided(*texts, **wanted):
    decider = Decider(Classifier(), Wanted(**wanted))
    return decider.decide([Item(k, None, {"text": text}) for k, text in enumerate(texts, 2)])


def test_labels_are_the_most_specific_with_their_paths():
    single, several, none = decided("cat", "animal cat plant dog", "")
    assert single.labels == ["cat"]
    assert single.paths == [("animal", "Cats")]
    assert several.labels == ["cat", "plant", "dog"]
    assert (none.labels, none.paths) == ([], [])
    assert (single.probabilities, single.top, single.words) == ([], [], [])


def test_a_root_that_only_joins_is_no_label():
    found = decided("x", "", confident=0.9)
    assert [one.labels for one in found] == [["animal"], []]


def test_a_root_that_is_a_category_is_a_label():
    classifier = Classifier()
    classifier.taxonomy_ = Taxonomy.from_edges([("top", "a")])
    (found,) = Decider(classifier, Wanted()).decide([Item(2, None, {"text": "top"})])
    assert found.labels == ["top"]


def test_probabilities_are_those_of_the_labels():
    (found,) = decided("oak dog", proba=True)
    assert found.probabilities == [TAXONOMY.code("oak") / 10, TAXONOMY.code("dog") / 10]


def test_top_categories_and_words():
    (found,) = decided("dog", top=2, words=2)
    assert found.top == [("cat", 0.5), ("dog", 0.3)]
    assert found.words == [("meow", 0.5, "dog"), ("the", -0.25, "animal")]


def test_blocks_are_small_enough_for_probabilities():
    assert Decider(Classifier(), Wanted()).block_size == BLOCK
    classifier = Classifier()
    classifier.taxonomy_ = Taxonomy.flat(map(str, range(BLOCK_CELLS // 100)))
    assert Decider(classifier, Wanted()).block_size == BLOCK
    for wanted in (Wanted(proba=True), Wanted(top=1), Wanted(confident=0.9)):
        assert Decider(classifier, wanted).block_size == 99


def test_blocks():
    assert list(blocks(iter("abcde"), 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(blocks(iter(""), 2)) == []


WANTED = Wanted(top=4, proba=True, words=2, separator="|")


def test_cells():
    (found,) = decided("oak cat", **WANTED._asdict())
    names = headings("id", WANTED)
    cells = dict(zip(names, as_cells("k", found, WANTED), strict=True))
    assert cells == {
        "id": "k",
        "label": "oak|cat",
        "path": "plant > oak|animal > Cats",
        "probability": "0.5000|0.2000",
        "label_1": "cat",
        "probability_1": "0.5000",
        "label_2": "dog",
        "probability_2": "0.3000",
        "label_3": "oak",
        "probability_3": "0.2000",
        "label_4": "",
        "probability_4": "",
        "words": "meow +0.50 the -0.25",
    }
    assert headings("line", Wanted()) == ["line", "label", "path"]
    assert as_cells(7, found, Wanted()) == [7, "oak;cat", "plant > oak;animal > Cats"]


def test_records():
    (found,) = decided("oak", **WANTED._asdict())
    record = json.loads(json.dumps(as_record({"id": "k"}, found, WANTED)))
    assert record["labels"] == ["oak"]
    assert record["paths"] == [["plant", "oak"]]
    assert record["probabilities"] == [0.5]
    assert record["top"][1] == {"label": "dog", "probability": 0.3}
    assert record["words"][0] == {"word": "meow", "value": 0.5, "node": "oak"}
    assert list(as_record({}, found, Wanted())) == ["labels", "paths"]


def test_formats_to_write(tmp_path):
    assert format_of(None, None) == "csv"
    assert format_of(tmp_path / "A.TSV.gz", None) == "tsv"
    assert format_of(tmp_path / "a.ndjson", None) == "jsonl"
    assert format_of(tmp_path / "a.csv", "jsonl") == "jsonl"
    with pytest.raises(FormatError, match="the suffix says no format"):
        format_of(tmp_path / "a.xls", None)
    with pytest.raises(FormatError, match="--to must be one of csv, tsv, jsonl. Got 'xls'"):
        format_of(None, "xls")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_file_is_complete_or_not_there(tmp_path, name):
    path = tmp_path / name

    def interrupted():
        with open_output(path) as stream:
            stream.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())
    path.write_text("old")
    with open_output(path) as stream:
        stream.write("né\n")
        assert path.read_text() == "old"
    data = path.read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data).decode() == "né\n"
    assert list(tmp_path.iterdir()) == [path]


def test_output_to_a_pipe_and_to_what_is_no_file(capsys, tmp_path):
    with open_output(None) as stream:
        stream.write("x")
    assert capsys.readouterr().out == "x"
    if sys.platform != "win32":
        from pathlib import Path

        with open_output(Path("/dev/null")) as stream:
            stream.write("x")


def test_rows_and_lines():
    stream = io.StringIO()
    write = table_rows(stream, "tsv")
    write(["a", 'b "c"\td'])
    assert next(csv.reader(io.StringIO(stream.getvalue()), delimiter="\t")) == ["a", 'b "c"\td']
    stream = io.StringIO()
    write = json_lines(stream)
    write({"a": "né\n"})
    write({})
    assert stream.getvalue() == '{"a": "né\\n"}\n{}\n'
