import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from taxonomist import Taxonomy
from taxonomist.datasets.bad_rows import BadRowsError
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.items import Item
from taxonomist.datasets.table_file import TableSource
from taxonomist.errors import ParameterError
from taxonomist.workflow import predictions
from taxonomist.workflow.prediction_rows import as_cells, as_record, headings
from taxonomist.workflow.predictions import (
    MOST_ITEMS,
    MOST_PROBABILITIES,
    Predictor,
    Wanted,
    predict_table,
)

TAXONOMY = Taxonomy.from_edges(
    [("animal", "cat"), ("animal", "dog"), ("plant", "oak")], {"cat": "Cats"}
)


COLUMNS = Columns("text", None)
SHARES = {"": 0.0, "few cat": 0.49, "half cat": 0.5}
"""Fractions of known words; all others are 1."""


class Answers:
    """Says of a text the labels that it holds, surely."""

    def __init__(self, texts):
        self.texts = texts

    def labels(self, *, depth=None, risk=None):
        if depth is None:
            return [text["text"].split() for text in self.texts]
        assert depth == "confident"
        assert risk == 0.1
        return [["animal"] if text["text"] else [TAXONOMY.root] for text in self.texts]

    def node_proba(self):
        return np.tile(np.arange(TAXONOMY.n_nodes) / 10, (len(self.texts), 1))

    def topk(self, k):
        k = min(k, 3)
        shape = (len(self.texts), 1)
        return np.tile(Classifier.classes_[:k], shape), np.tile([0.5, 0.3, 0.2][:k], shape)

    def known_share(self):
        return np.array([SHARES.get(text["text"], 1.0) for text in self.texts])

    def explanations(self, n, categories):
        assert len(categories) == len(self.texts)
        return [
            SimpleNamespace(words=[("meow", 0.5, one), ("the", -0.25, "animal"), ("a", 0.1, "x")])
            for one in categories
        ]


class Classifier:
    """Answers each block of texts once."""

    taxonomy_ = TAXONOMY
    calibration = "temperature"
    can_explain = True
    features_ = SimpleNamespace(columns_=None, count=list)
    classes_ = np.array(["cat", "dog", "oak"], dtype=object)

    def __init__(self):
        self.n_asked = 0

    def answer(self, texts):
        self.n_asked += 1
        return Answers(texts)


def decided(*texts, **wanted):
    classifier = Classifier()
    predictor = Predictor(classifier, Wanted(**wanted))
    found = predictor.predict([Item(k, None, {"text": text}) for k, text in enumerate(texts, 2)])
    assert classifier.n_asked == 1
    return found


def test_labels_are_the_most_specific_with_their_paths():
    single, several, none = decided("cat", "animal cat plant dog", "")
    assert single.labels == ["cat"]
    assert single.names == ["Cats"]
    assert single.paths == [("animal", "cat")]
    assert several.labels == ["cat", "plant", "dog"]
    assert several.names == ["Cats", "", ""]
    assert (none.labels, none.names, none.paths) == ([], [], [])
    assert (single.probabilities, single.top, single.words) == ([], [], [])


def test_a_text_that_says_nothing_has_a_note(monkeypatch):
    monkeypatch.setattr(Answers, "labels", lambda self: [["cat"]] * len(self.texts))
    found = decided("", "few cat", "half cat", "cat")
    assert [one.note for one in found] == ["no known words", "far from training", "", ""]


def test_a_virtual_root_is_no_label():
    found = decided("x", "", confident=0.9)
    assert [one.labels for one in found] == [["animal"], []]


def test_a_root_that_is_a_category_is_a_label():
    classifier = Classifier()
    classifier.taxonomy_ = Taxonomy.from_edges([("top", "a")])
    (found,) = Predictor(classifier, Wanted()).predict([Item(2, None, {"text": "top"})])
    assert found.labels == ["top"]


def test_probabilities_are_those_of_the_labels():
    (found,) = decided("oak dog", proba=True)
    assert found.probabilities == [TAXONOMY.code("oak") / 10, TAXONOMY.code("dog") / 10]


def test_top_categories_and_words():
    (found,) = decided("dog", top=2, words=2)
    assert found.top == [("cat", "Cats", 0.5), ("dog", "", 0.3)]
    assert found.words == [("meow", 0.5, "dog"), ("the", -0.25, "animal")]


def test_blocks_are_small_enough_for_probabilities():
    assert Predictor(Classifier(), Wanted()).block_size == MOST_ITEMS
    classifier = Classifier()
    classifier.taxonomy_ = Taxonomy.flat(map(str, range(MOST_PROBABILITIES // 100)))
    assert Predictor(classifier, Wanted()).block_size == MOST_ITEMS
    for wanted in (Wanted(proba=True), Wanted(top=1), Wanted(confident=0.9)):
        assert Predictor(classifier, wanted).block_size == 99


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,text\na,cat\nb,dog\nc,\nd,oak\ne,cat\n")
    return TableSource(str(path))


def predicted(source, *, skip_bad=False, columns=COLUMNS):
    steps = []
    predictor = Predictor(Classifier(), Wanted())
    found = []
    with predict_table(
        predictor, source, columns, skip_bad=skip_bad, on_step=lambda *step: steps.append(step)
    ) as table:
        try:
            for item, prediction in table:
                found.append((item.id, *prediction.labels))
        except BadRowsError as error:
            return found, steps, str(error)
        return found, steps, table.note


def test_a_table_is_predicted_block_by_block(rows, monkeypatch):
    monkeypatch.setattr(predictions, "MOST_ITEMS", 2)
    found, steps, note = predicted(rows, skip_bad=True)
    assert found == [("a", "cat"), ("b", "dog"), ("d", "oak"), ("e", "cat")]
    assert steps == [("Classifying", 2, None), ("Classifying", 4, None)]
    assert "line 4: no text in 'text'" in note


def test_a_block_of_long_texts_is_small(rows, monkeypatch):
    monkeypatch.setattr(predictions, "MOST_CHARACTERS", 6)
    found, steps, _ = predicted(rows, skip_bad=True)
    assert [label for _, label in found] == ["cat", "dog", "oak", "cat"]
    assert steps == [("Classifying", 2, None), ("Classifying", 4, None)]


def test_a_block_is_predicted_while_the_one_before_is_written(rows, monkeypatch):
    monkeypatch.setattr(predictions, "MOST_ITEMS", 1)
    predictor, begun = Predictor(Classifier(), Wanted()), [threading.Event() for _ in range(4)]
    waiting, predict = iter(begun), predictor.predict
    predictor.predict = lambda items: (next(waiting).set(), predict(items))[1]
    with predict_table(predictor, rows, COLUMNS, skip_bad=True) as table:
        for k, _ in enumerate(table):
            assert begun[min(k + 1, 3)].wait(10)


def test_an_error_in_a_prediction_ends_it(rows, monkeypatch):
    predictor = Predictor(Classifier(), Wanted())
    monkeypatch.setattr(predictor, "predict", lambda _: 1 / 0)
    with (
        pytest.raises(ZeroDivisionError),
        predict_table(predictor, rows, COLUMNS, skip_bad=True) as table,
    ):
        list(table)


def test_a_bad_row_ends_it_after_the_blocks_before(rows, monkeypatch):
    monkeypatch.setattr(predictions, "MOST_ITEMS", 2)
    found, _, error = predicted(rows)
    assert found == [("a", "cat"), ("b", "dog")]
    assert error.endswith("Fix these rows, or skip them with skip_bad=True.")


def test_labels_of_rows_are_not_read(rows):
    assert len(predicted(rows, skip_bad=True, columns=Columns("text", "code"))[0]) == 4


def test_what_a_model_cannot_do():
    classifier = Classifier()
    classifier.calibration = None
    with pytest.raises(ParameterError, match="no probabilities"):
        Predictor(classifier, Wanted(top=1))
    classifier.can_explain = False
    with pytest.raises(ParameterError, match="cannot explain its predictions"):
        Predictor(classifier, Wanted(words=1))


WANTED = Wanted(top=4, proba=True, words=2)


def test_cells():
    (found,) = decided("oak cat", **WANTED._asdict())
    names = headings("id", WANTED)
    cells = dict(zip(names, as_cells("k", found, WANTED, "|"), strict=True))
    assert cells == {
        "id": "k",
        "label": "oak|cat",
        "name": "|Cats",
        "path": "plant > oak|animal > cat",
        "probability": "0.5000|0.2000",
        "note": "",
        "label_1": "cat",
        "name_1": "Cats",
        "probability_1": "0.5000",
        "label_2": "dog",
        "name_2": "",
        "probability_2": "0.3000",
        "label_3": "oak",
        "name_3": "",
        "probability_3": "0.2000",
        "label_4": "",
        "name_4": "",
        "probability_4": "",
        "words": "meow +0.50 the -0.25",
    }
    assert headings("line", Wanted()) == ["line", "label", "name", "path", "note"]
    assert as_cells(7, found, Wanted()) == [7, "oak;cat", ";Cats", "plant > oak;animal > cat", ""]


def test_records():
    (found,) = decided("oak", **WANTED._asdict())
    record = json.loads(json.dumps(as_record({"id": "k"}, found, WANTED)))
    assert record["labels"] == ["oak"]
    assert record["paths"] == [["plant", "oak"]]
    assert record["probabilities"] == [0.5]
    assert record["names"] == [""]
    assert record["note"] == ""
    assert record["top"][0] == {"label": "cat", "name": "Cats", "probability": 0.5}
    assert record["words"][0] == {"word": "meow", "value": 0.5, "node": "oak"}
    assert list(as_record({}, found, Wanted())) == ["labels", "names", "paths", "note"]
