from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from taxonomist.datasets import read, read_arff
from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from pathlib import Path

HEADER = """% a comment
@RELATION 'toy'

@ATTRIBUTE 'a b'  numeric
@attribute c\t{x, 'y'}
@ATTRIBUTE class hierarchical {classes}

@DATA
"""


def written(tmp_path: Path, rows: str, classes: str = "2,1,1/1,1/2") -> Path:
    path = tmp_path / "toy.arff"
    path.write_text(HEADER.replace("{classes}", classes) + rows, encoding="utf-8")
    return path


def test_tree_paths_nominal_and_missing_values(tmp_path: Path) -> None:
    corpus = read(written(tmp_path, "0.5,x,1/1@2\n%\n?,'y',1\n1e2,?,1/2\n"))
    assert corpus.taxonomy == Taxonomy.from_edges(
        [("ROOT", "2"), ("ROOT", "1"), ("1", "1/1"), ("1", "1/2")]
    )
    assert corpus.labels == [("1/1", "2"), ("1",), ("1/2",)]
    nan = np.nan
    expected = [[0.5, 1, 0], [nan, 0, 1], [100, nan, nan]]
    np.testing.assert_array_equal(corpus.X, expected)


def test_dag_edges(tmp_path: Path) -> None:
    path = written(tmp_path, "0,x,C@D\n", classes="root/A,root/B,A/C,B/C,B/D,B/D")
    corpus = read_arff(path)
    assert corpus.taxonomy.root == "root"
    assert set(corpus.taxonomy.parents("C")) == {"A", "B"}
    assert corpus.labels == [("C", "D")]


def test_sparse_rows(tmp_path: Path) -> None:
    corpus = read_arff(written(tmp_path, "{0 3, 1 y, 2 1/1@1/2}\n{2 1}\n"))
    np.testing.assert_array_equal(corpus.X, [[3, 0, 1], [0, 1, 0]])
    assert corpus.labels == [("1/1", "1/2"), ("1",)]


def test_own_taxonomy(tmp_path: Path) -> None:
    taxonomy = Taxonomy.flat(["1", "2"])
    assert read_arff(written(tmp_path, "0,x,1\n"), taxonomy).taxonomy is taxonomy


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "has no rows"),
        ("1,x\n", "line 9: got 2 cells for 3 attributes"),
        (",x,1\n", "line 9: a value is not in its attribute's domain"),
        ("one,x,1\n", "line 9: a value is not in its attribute's domain"),
        ("1,z,1\n", "line 9: a value is not in its attribute's domain"),
        ("{5 1}\n", "line 9: a sparse cell must be 'index value'"),
    ],
)
def test_faulty_rows(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_arff(written(tmp_path, rows))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("@attribute a numeric\n@data\n1\n", "the last attribute must be 'class hierarchical"),
        ("@attribute a\n", "line 1: an attribute needs a name and a domain"),
        (
            "@attribute a date\n@attribute c hierarchical 1\n",
            "line 1: an attribute must be numeric, nominal or hierarchical",
        ),
    ],
)
def test_faulty_headers(tmp_path: Path, header: str, message: str) -> None:
    path = tmp_path / "toy.arff"
    path.write_text(header, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_arff(path)
