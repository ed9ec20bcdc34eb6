"""Contestants: models of ours and of other packages with a common interface."""

from __future__ import annotations

import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from taxonomist.experiments.work.models import joint_svm
from taxonomist.models import HierarchicalRankingSVC, MaxMarginMarkovClassifier, PathSVC
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from taxonomist._typing import CSR, LabelsLike
    from taxonomist.taxonomy import Taxonomy

HELD_OUT = 0.2
"""Fraction of training items used to choose a threshold for packages that return only scores."""


class Contestant(Protocol):
    """Learns from items with one label each, or with label sets, and predicts the same form."""

    def fit(self, X: CSR, y: Any) -> Any:
        """Learn."""

    def predict(self, X: CSR) -> LabelsLike:
        """Return the label or the label set of each item."""


class SetModel:
    """One of our models for label sets, which predicts lists of labels.

    Parameters
    ----------
    model
        The model.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: CSR, y: LabelsLike) -> SetModel:
        """Learn."""
        self.model.fit(X, y)
        return self

    def predict(self, X: CSR) -> Any:
        """Return the label set of each item, including ancestors."""
        return self.model.predict_labels(X)


class PathModel:
    """PathSVC with its defaults, for one label per item and for label sets.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.model = PathSVC(taxonomy, random_state=0, n_jobs=1)

    def fit(self, X: CSR, y: LabelsLike) -> PathModel:
        """Learn."""
        self.is_sets = labels.is_label_sets(y)
        self.model.fit(X, y)
        return self

    def predict(self, X: CSR) -> LabelsLike:
        """Return the label of each item, or its label set, including ancestors."""
        return self.model.predict_labels(X) if self.is_sets else self.model.predict(X)


class OneVsRest:
    """One scikit-learn linear SVM per category, for label sets."""

    def __init__(self, _: Taxonomy) -> None:
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.preprocessing import MultiLabelBinarizer
        from sklearn.svm import LinearSVC

        self.model = OneVsRestClassifier(LinearSVC())
        self.columns = MultiLabelBinarizer(sparse_output=True)

    def fit(self, X: CSR, y: Sequence[Sequence[str]]) -> OneVsRest:
        """Learn."""
        self.model.fit(X, self.columns.fit_transform(y))
        return self

    def predict(self, X: CSR) -> Any:
        """Return the label set of each item."""
        return self.columns.inverse_transform(self.model.predict(X))


class PerParentNode:
    """HiClass with a linear SVM at each parent node.

    Parameters
    ----------
    taxonomy
        A tree, which HiClass learns from paths.
    n_threads
        Number of processes.
    """

    def __init__(self, taxonomy: Taxonomy, n_threads: int = 1) -> None:
        from hiclass import LocalClassifierPerParentNode
        from sklearn.svm import LinearSVC

        self.model = LocalClassifierPerParentNode(LinearSVC(), n_jobs=n_threads)
        self.taxonomy = taxonomy

    def fit(self, X: CSR, y: Sequence[str]) -> PerParentNode:
        """Learn from one column of labels per level, empty below an item's label.

        HiClass always continues to a leaf, so interior nodes used as labels get their own leaf.
        """
        is_leaf = self.taxonomy.is_leaf[self.taxonomy.codes(y)]
        paths = {
            label: (*self.taxonomy.paths(label, limit=1)[0], *([] if leaf else [label]))
            for label, leaf in zip(y, is_leaf, strict=True)
        }
        height = max(map(len, paths.values()))
        rows = [(*paths[label], *[""] * (height - len(paths[label]))) for label in y]
        self.model.fit(X, np.array(rows, dtype=object))
        return self

    def predict(self, X: CSR) -> LabelsLike:
        """Return the last label on the path of each item."""
        rows = self.model.predict(X).tolist()
        return np.array([[node for node in row if node][-1] for row in rows], dtype=object)


class Omikuji:
    """Omikuji with its defaults; predicts labels with a score above a threshold.

    The threshold maximises micro F1 on held-out training items; the model is then fitted to all.

    Parameters
    ----------
    n_threads
        Number of threads.
    """

    def __init__(self, _: Taxonomy | None, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self.columns: list[str] = []
        self.threshold = 0.0

    def fit(self, X: CSR, y: Sequence[Sequence[str]]) -> Omikuji:
        """Choose the threshold, and learn."""
        X = csr_array(X)
        self.columns = sorted({label for row in y for label in row})
        self.most = max(map(len, y))
        order = np.random.default_rng(0).permutation(len(y))
        held_out, rest = np.split(order, [max(1, round(HELD_OUT * len(y)))])
        self._learn(X[rest], [y[item] for item in rest])
        ranked = zip(held_out, self.ranked(X[held_out]), strict=True)
        found = [(score, label in y[item]) for item, row in ranked for label, score in row]
        scores, are_right = zip(*found, strict=True)
        self.threshold = best_threshold(scores, are_right, sum(len(y[i]) for i in held_out))
        self._learn(X, y)
        return self

    def learn_best(self, X: CSR, y: Sequence[Sequence[str]]) -> None:
        """Learn without a threshold, for the best label of each item."""
        self.columns, self.most = sorted({label for row in y for label in row}), 1
        self._learn(csr_array(X), y)

    def predict(self, X: CSR) -> list[list[str]]:
        """Return the label set of each item."""
        ranked = self.ranked(csr_array(X))
        return [[label for label, score in row if score >= self.threshold] for row in ranked]

    def _learn(self, X: CSR, y: Sequence[Sequence[str]]) -> None:
        """Write the items to a file, the only input that Omikuji reads, and learn from it."""
        import omikuji

        place = {label: position for position, label in enumerate(self.columns)}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "items.txt"
            with file.open("w", encoding="ascii") as stream:
                stream.write(f"{X.shape[0]} {X.shape[1]} {len(place)}\n")
                for row, given in zip(_pairs(X), y, strict=True):
                    told = ",".join(str(place[label]) for label in given)
                    # Omikuji rejects a line without features.
                    known = " ".join(f"{j}:{x:.7g}" for j, x in row or [(0, 0.0)])
                    stream.write(f"{told} {known}\n")
            self.model = omikuji.Model.train_on_data(str(file), n_threads=self.n_threads)
        self.model.init_prediction_thread_pool(self.n_threads)

    def ranked(self, X: CSR) -> Iterator[list[tuple[str, float]]]:
        """Yield the best labels of each item with their scores."""
        for row in _pairs(X):
            found = self.model.predict(row, top_k=self.most)
            yield [(self.columns[label], score) for label, score in found]


def _pairs(X: CSR) -> Iterator[list[tuple[int, float]]]:
    """Yield the non-zero features of each row."""
    indices, data = X.indices.tolist(), X.data.tolist()
    for start, end in pairwise(X.indptr.tolist()):
        yield list(zip(indices[start:end], data[start:end], strict=True))


def best_threshold(scores: Sequence[float], are_right: Sequence[bool], n_true: int) -> float:
    """Return the score threshold with the largest micro F1.

    Parameters
    ----------
    scores
        The scores of candidate labels.
    are_right
        Whether each is a label of its item.
    n_true
        The number of labels of all items.

    Returns
    -------
    float
        One of the scores.
    """
    order = np.argsort(np.negative(scores), kind="stable")
    n_right = np.cumsum(np.asarray(are_right)[order])
    f1 = 2 * n_right / (np.arange(1, len(order) + 1) + n_true)
    return float(scores[order[np.argmax(f1)]])


def _linear_svc(_: Taxonomy) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC()


def _ranking_svm(taxonomy: Taxonomy) -> SetModel:
    return SetModel(HierarchicalRankingSVC(taxonomy, random_state=0, n_jobs=1))


def _markov_tree(taxonomy: Taxonomy) -> SetModel:
    return SetModel(MaxMarginMarkovClassifier(taxonomy, random_state=0, n_jobs=1))


SINGLE: dict[str, Callable[[Taxonomy], Contestant]] = {
    "HierarchicalSVC": joint_svm,
    "flat twin": partial(joint_svm, is_flat=True),
    "one-vs-rest": _linear_svc,
    "HiClass": PerParentNode,
    "PathSVC": PathModel,
}
"""Contestants for one label per item, by name."""
SETS: dict[str, Callable[[Taxonomy], Contestant]] = {
    "HierarchicalRankingSVC": _ranking_svm,
    "MaxMarginMarkovClassifier": _markov_tree,
    "one-vs-rest sets": OneVsRest,
    "Omikuji": Omikuji,
    "PathSVC": PathModel,
}
"""Contestants for label sets, by name."""
