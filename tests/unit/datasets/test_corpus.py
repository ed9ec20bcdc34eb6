from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array

from taxonomist.datasets import Corpus
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("c", "d")])


def corpus(**changes: object) -> Corpus:
    fields = {
        "labels": [("b",), ("d",), ("c",)],
        "texts": ["one", "two", "three"],
        "X": csr_array(np.eye(3)),
        "ids": ["1", "2", "3"],
        "split": ["train", "test", "train"],
        "folds": [0, 1, 2],
    }
    return Corpus("toy", TAXONOMY, **(fields | changes))


def test_single_labels() -> None:
    toy = corpus()
    assert len(toy) == 3
    assert not toy.is_multilabel
    assert toy.y.tolist() == ["b", "d", "c"]


def test_a_string_is_one_label() -> None:
    assert corpus(labels=["b", "d", ("c",)]).labels == [("b",), ("d",), ("c",)]


def test_labels_are_distinct_strings() -> None:
    numbered = Taxonomy.from_edges([(0, 1), (0, 2)])
    labels = [1, np.int64(2), ("2", 2), np.array(["1", "1"])]
    toy = Corpus("toy", numbered, labels=labels)
    assert toy.labels == [("1",), ("2",), ("2",), ("1",)]
    assert {type(label) for label in toy.y} == {str}


@pytest.mark.parametrize("label", [None, float("nan"), ""])
def test_missing_labels_are_refused(label: object) -> None:
    with pytest.raises(LabelError, match="labels has no label at position 2"):
        corpus(labels=["b", "b", label])


def test_columns_of_a_data_frame_are_taken_by_position() -> None:
    frame = pd.DataFrame({"text": ["one", "two", "three"], "x": [1, 2, 3]}, index=[2, 0, 1])
    for texts in (frame["text"], pl.Series(frame["text"].tolist())):
        toy = corpus(texts=texts, ids=texts, X=frame[["x"]]).select([0])
        assert toy.texts == toy.ids == ["one"]
        assert toy.X.tolist() == [[1]]
    assert corpus(X=coo_array(np.eye(3))).select([1]).X.toarray().tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("row", [(), ("b", "d")])
def test_y_needs_one_label_per_item(row: tuple[str, ...]) -> None:
    toy = corpus(labels=[("b",), row, ("c",)])
    assert toy.is_multilabel
    with pytest.raises(LabelError, match=rf"1 of 3 items .* first '2' with {len(row)}"):
        _ = toy.y


def test_parts_keep_every_column_aligned() -> None:
    train = corpus().train()
    assert train.labels == [("b",), ("c",)]
    assert train.texts == ["one", "three"]
    assert train.ids == ["1", "3"]
    assert train.folds is not None
    assert train.folds.tolist() == [0, 2]
    assert train.X.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert corpus().test().ids == ["2"]


@pytest.mark.parametrize(
    ("items", "ids"),
    [
        (np.array([True, False, True]), ["1", "3"]),
        ([2, 0], ["3", "1"]),
        (slice(1, None), ["2", "3"]),
        ([], []),
    ],
)
def test_select(items: object, ids: list[str]) -> None:
    chosen = corpus().select(items)
    assert chosen.ids == ids
    assert chosen.split is not None
    assert chosen.split.tolist() == ["test" if item == "2" else "train" for item in ids]


def test_missing_part_or_split() -> None:
    with pytest.raises(LabelError, match=r"no part 'dev'; it has 'train', 'test'"):
        corpus().part("dev")
    with pytest.raises(LabelError, match="no split"):
        corpus(split=None).train()


def test_relabel_keeps_the_labels_that_the_other_taxonomy_has() -> None:
    other = TAXONOMY.subtree("c")
    assert corpus().relabel(other).labels == [(), ("d",), ("c",)]
    assert corpus().relabel(other, [["c"], ["c"], ["d"]]).labels == [("c",), ("c",), ("d",)]


def test_unknown_label_comes_with_the_closest() -> None:
    wide = Taxonomy.flat(["sport", "politics"])
    with pytest.raises(LabelError, match=r"1 of 1 labels .*'sports'\. Did you mean 'sport'"):
        Corpus("toy", wide, labels=["sports"])


@pytest.mark.parametrize("field", ["texts", "ids", "split", "folds"])
def test_lengths_must_agree(field: str) -> None:
    with pytest.raises(LabelError, match=rf"labels for 3 items and {field} for 2"):
        corpus(**{field: [0, 1]})


def test_rows_of_the_features_must_agree() -> None:
    with pytest.raises(LabelError, match="X for 2"):
        corpus(X=np.eye(2))


def test_repeated_ids_are_named() -> None:
    with pytest.raises(LabelError, match="'1'"):
        corpus(ids=["1", "1", "2"])


def test_describe_and_repr() -> None:
    assert corpus().describe() == {
        "name": "toy",
        "items": 3,
        "parts": {"train": 2, "test": 1},
        "features": 3,
        "labels in use": 3,
        "labels per item": 1.0,
        "nodes": 4,
        "leaves": 2,
        "height": 2,
        "is_tree": True,
    }
    assert repr(corpus()) == "<Corpus toy: 3 items (2 train, 1 test), 4 nodes>"


def test_no_items() -> None:
    empty = Corpus("empty", TAXONOMY, labels=[])
    assert len(empty) == 0
    assert empty.describe()["labels per item"] == 0
    assert repr(empty) == "<Corpus empty: 0 items, 4 nodes>"
