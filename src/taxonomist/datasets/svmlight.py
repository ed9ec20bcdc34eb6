"""svmlight files: sparse feature vectors with labels."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.files import as_taxonomy, lines, stem
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from taxonomist.datasets.files import FilePath, TaxonomySource

__all__ = ["read_svmlight"]


def read_svmlight(
    path: FilePath,
    taxonomy: TaxonomySource = None,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
) -> Corpus:
    """Read feature vectors, one per line: ``label,label index:value index:value # id``.

    Lines that start with ``#`` are comments.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from; by default a flat one of all labels.
    n_features
        Number of columns; by default determined by the largest index.
    zero_based
        Whether the first feature has the index 0 instead of 1.

    Returns
    -------
    Corpus
        The items, with a sparse feature matrix.

    Raises
    ------
    FormatError
        If there are no items, a line is malformed, or an index is out of range.
    """
    from scipy.sparse import csr_array

    labels: list[tuple[str, ...]] = []
    ids: list[str] = []
    indptr, indices, values = array("q", [0]), array("q"), array("d")
    for place, line in lines(path):
        if line.startswith("#"):
            continue
        vector, _, comment = line.partition("#")
        head, tokens = _split_vector(vector)
        try:
            indices.extend(map(int, tokens[0::2]))
            values.extend(map(float, tokens[1::2]))
        except ValueError as error:
            raise FormatError(f"{place}: a feature is not index:value ({error}).") from None
        if len(indices) != len(values):
            raise FormatError(f"{place}: a feature is not index:value.")
        labels.append(tuple(label for label in head.split(",") if label))
        ids.append(comment.strip())
        indptr.append(len(indices))
    if not labels:
        raise FormatError(f"{path} has no items.")
    positions = np.asarray(indices, dtype=np.intp) - (not zero_based)
    width = int(positions.max(initial=-1)) + 1 if n_features is None else n_features
    if len(positions) and not 0 <= positions.min() <= positions.max() < width:
        raise FormatError(f"{path}: feature indices must be from {int(not zero_based)} to {width}.")
    X = csr_array((np.asarray(values), positions, np.asarray(indptr)), shape=(len(labels), width))
    X.sum_duplicates()
    return Corpus(
        name=stem(path),
        taxonomy=as_taxonomy(path, taxonomy, labels),
        labels=labels,
        X=X,
        ids=ids if all(ids) else None,
    )


def _split_vector(vector: str) -> tuple[str, list[str]]:
    """Return the labels of a line (possibly none), and its indices and values alternating."""
    head, *features = vector.split() or [""]
    if ":" in head:
        head, features = "", [head, *features]
    return head, ":".join(features).split(":") if features else []
