from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from taxonomist.datasets import read, read_svmlight
from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from pathlib import Path


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "vectors.svm"
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_vectors_and_ids(tmp_path: Path) -> None:
    path = written(tmp_path, "b,c 1:0.5 4:2 # one\nb # two\n\n 2:1 # three\n")
    corpus = read(path)
    assert corpus.labels == [("b", "c"), ("b",), ()]
    assert corpus.ids == ["one", "two", "three"]
    assert corpus.X.toarray().tolist() == [[0.5, 0, 0, 2], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_width_and_base(tmp_path: Path) -> None:
    path = written(tmp_path, "b 0:1 2:3\n")
    corpus = read_svmlight(path, n_features=5, zero_based=True)
    assert corpus.X.toarray().tolist() == [[1, 0, 3, 0, 0]]
    assert corpus.ids is None


def test_features_come_in_any_order_and_add_up(tmp_path: Path) -> None:
    X = read_svmlight(written(tmp_path, "b 4:1 1:2 1:3\n")).X
    assert X.indices.tolist() == [0, 3]
    assert X.data.tolist() == [5, 1]


def test_lines_of_comment(tmp_path: Path) -> None:
    corpus = read_svmlight(written(tmp_path, "# made by hand\n#\nb 1:1\n"))
    assert corpus.labels == [("b",)]


def test_no_items(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="has no items"):
        read_svmlight(written(tmp_path, "# nothing\n"), Taxonomy.flat(["b"]))


def test_agrees_with_scikit_learn(tmp_path: Path) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 7)) * (rng.random((20, 7)) < 0.3)
    path = tmp_path / "vectors.svm"
    datasets.dump_svmlight_file(X, np.arange(20), str(path), zero_based=False, comment="20 rows")
    assert np.allclose(read_svmlight(path, n_features=7).X.toarray(), X)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b 1:x", "line 1: a feature is not index:value"),
        ("b 1:2:3", "line 1: a feature is not index:value"),
        ("b 1.5:2", "line 1: a feature is not index:value"),
        ("b 7", "line 1: a feature is not index:value"),
        ("b 0:1", "must be from 1 to"),
        ("b 9:1", "must be from 1 to 3"),
    ],
)
def test_faulty_lines(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_svmlight(written(tmp_path, line + "\n"), n_features=3)


def test_no_labels_at_all(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="give the taxonomy"):
        read_svmlight(written(tmp_path, "1:2\n"))
