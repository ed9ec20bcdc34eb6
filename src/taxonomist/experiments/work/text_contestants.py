"""Contestants that start from raw texts: ours as it is, and what a skilled user would build.

Peers get tf-idf of words, word pairs and characters within words. What they are tuned by is chosen
by cross-validation on training items, at most ``MOST_TUNED`` of them and in about as much time as
the search of ``TextClassifier`` may take; the model then learns from all. Contestants take texts,
so that the time to make features counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.sparse import csr_array, hstack

from taxonomist.experiments.work import peers
from taxonomist.experiments.work.contestants import Omikuji, PerParentNode
from taxonomist.experiments.work.tuned_sets import AtLeastOne
from taxonomist.features.onnx_encoder import is_installed as has_encoder
from taxonomist.taxonomy import labels
from taxonomist.text import TextClassifier
from taxonomist.text.budget import BUDGET

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from taxonomist._typing import CSR, Codes, LabelsLike
    from taxonomist.taxonomy import Taxonomy

    # scikit-learn has no types, and labels come one by one or in sets.
    Model: TypeAlias = Any
    Labels: TypeAlias = Model

COSTS = (1.0, 3.0, 0.3, 10.0, 0.1)
"""Values of C of linear SVMs, in the order in which they are tried."""
LOGISTIC_COSTS = (10.0, 1.0, 100.0)
"""Values of C of logistic regression, in the order in which they are tried."""
TUNING_S = BUDGET
"""No further value of C is tried after so many seconds of the processor."""
MOST_TUNED = 5000
"""Training items that C is chosen on at most."""
N_FOLDS = 3
MIN_DF = 2


class TextContestant(Protocol):
    """Something that learns from texts and predicts labels."""

    def fit(self, texts: Sequence[str], y: Labels) -> Model:
        """Learn."""

    def predict(self, texts: Sequence[str]) -> Model:
        """Return the label of each text, or its labels."""


class Ours:
    """``TextClassifier`` with its defaults.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.model = TextClassifier(taxonomy)

    def fit(self, texts: Sequence[str], y: Labels) -> Ours:
        """Learn."""
        self.model.fit(texts, y)
        return self

    def predict(self, texts: Sequence[str]) -> LabelsLike:
        """Return the label of each text, or its label set, including ancestors."""
        is_sets = self.model.is_multilabel_
        return self.model.predict_labels(texts) if is_sets else self.model.predict(texts)


class WordsAndCharacters:
    """Tf-idf of words, word pairs, and 3 to 5 characters within words."""

    def __init__(self) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        make = partial(TfidfVectorizer, sublinear_tf=True, min_df=MIN_DF, dtype=np.float32)
        kinds: tuple[dict[str, object], ...] = (
            {"ngram_range": (1, 2)},
            {"analyzer": "char_wb", "ngram_range": (3, 5)},
        )
        self.parts = [make(**kind) for kind in kinds]

    def fit(self, texts: Sequence[str]) -> WordsAndCharacters:
        """Learn the vocabulary and the frequencies."""
        for part in self.parts:
            part.fit(texts)
        return self

    def transform(self, texts: Sequence[str]) -> CSR:
        """Return the features of texts."""
        return csr_array(hstack([part.transform(texts) for part in self.parts], format="csr"))


class MiniLM:
    """Sentence vectors of the built-in encoder."""

    def fit(self, texts: Sequence[str]) -> MiniLM:
        """Learn the mean vector."""
        from taxonomist.features import SentenceVectors

        self.vectors = SentenceVectors().fit(texts)
        return self

    def transform(self, texts: Sequence[str]) -> Model:
        """Return the vectors of texts."""
        return self.vectors.transform(texts)


class Tuned:
    """A model on features of texts, with C chosen by cross-validation.

    Parameters
    ----------
    make
        Makes the unfitted model for a value of C.
    costs
        The values of C, in the order in which they are tried; with a single one, nothing is chosen.
    features
        Makes the features.
    """

    def __init__(
        self,
        make: Callable[[float], Model],
        costs: Sequence[float],
        features: Callable[[], Model] = WordsAndCharacters,
    ) -> None:
        self.make = make
        self.costs = costs
        self.features = features()

    def fit(self, texts: Sequence[str], y: Labels) -> Tuned:
        """Make features, choose C, and learn."""
        X = self.features.fit(texts).transform(texts)
        self.C = self._chosen(X, y) if len(self.costs) > 1 else self.costs[0]
        self.model = self.make(self.C).fit(X, y)
        return self

    def predict(self, texts: Sequence[str]) -> LabelsLike:
        """Return the label of each text, or its labels."""
        found: LabelsLike = self.model.predict(self.features.transform(texts))
        return found

    def _chosen(self, X: Model, y: Labels) -> float:
        """Return the value of C with the most labels right in held-out folds, of those tried."""
        start, scores = time.process_time(), list[float]()
        order = np.random.default_rng(0).permutation(X.shape[0])[:MOST_TUNED]
        folds = [order[fold::N_FOLDS] for fold in range(N_FOLDS)]
        for C in self.costs:
            if scores and time.process_time() - start > TUNING_S:
                break
            parts = (self._right(X, y, np.setdiff1d(order, fold), fold, C) for fold in folds)
            scores.append(sum(parts))
        return self.costs[int(np.argmax(scores))]

    def _right(self, X: Model, y: Labels, train: Codes, test: Codes, C: float) -> float:
        """Return the F1 of labels of a fold; with one label each, the share that is right."""
        found = self.make(C).fit(X[train], [y[i] for i in train]).predict(X[test])
        predicted, true = (list(map(set, labels.as_sets(part))) for part in (found, _of(y, test)))
        both = sum(len(a & b) for a, b in zip(predicted, true, strict=True))
        return 2 * both / sum(len(a) + len(b) for a, b in zip(predicted, true, strict=True))


class Elsewhere:
    """A peer in an environment of its own, which learns when it is asked to predict.

    Parameters
    ----------
    name
        Its name in ``peers.PEERS``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.features = WordsAndCharacters()

    def fit(self, texts: Sequence[str], y: Labels) -> Elsewhere:
        """Make features, and keep them with the labels."""
        self.X, self.y = self.features.fit(texts).transform(texts), y
        return self

    def predict(self, texts: Sequence[str]) -> LabelsLike:
        """Learn, and return the label of each text, or its labels."""
        run = peers.run_peer(self.name, self.X, self.y, self.features.transform(texts))
        self.seconds = {name: float(np.sum(values)) for name, values in run.seconds.items()}
        return run.predicted


class OneLabelOmikuji:
    """Omikuji for one label per item: the best one.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, which Omikuji does not use.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.inside = Omikuji(taxonomy)

    def fit(self, X: CSR, y: Sequence[str]) -> OneLabelOmikuji:
        """Learn."""
        self.inside.learn_best(X, [[label] for label in y])
        return self

    def predict(self, X: CSR) -> list[str]:
        """Return the best label of each item."""
        return [row[0][0] for row in self.inside.ranked(X)]


def _of(y: Labels, items: Codes) -> list[object]:
    return [y[item] for item in items.tolist()]


def _svm(C: float) -> Model:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C)


def _logistic(C: float) -> Model:
    """Return one logistic regression per category, which thousands of them allow."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    # The tolerance of liblinear itself; with scikit-learn's, a large C takes hours.
    return OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear", tol=0.01))


def _dense_logistic(C: float) -> Model:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, max_iter=300)


def _hiclass(C: float, taxonomy: Taxonomy) -> Model:
    made = PerParentNode(taxonomy)
    made.model.local_classifier = _svm(C)
    return made


Make = Callable[["Taxonomy"], TextContestant]
OURS = "TextClassifier"
LINEAR = ("LinearSVC, C chosen", "logistic regression, C chosen")
SINGLE: dict[str, Make] = {
    OURS: Ours,
    LINEAR[0]: lambda _: Tuned(_svm, COSTS),
    LINEAR[1]: lambda _: Tuned(_logistic, LOGISTIC_COSTS),
    "HiClass, C chosen": lambda taxonomy: Tuned(partial(_hiclass, taxonomy=taxonomy), COSTS[:3]),
    "Omikuji": lambda taxonomy: Tuned(lambda _: OneLabelOmikuji(taxonomy), (1.0,)),
    "PECOS": lambda _: Elsewhere("PECOS"),
    "napkinXC": lambda _: Elsewhere("napkinXC"),
    "MiniLM + logistic regression": lambda _: Tuned(_dense_logistic, LOGISTIC_COSTS, MiniLM),
}
"""Contestants for one label per item, by name."""
SETS: dict[str, Make] = {
    OURS: Ours,
    LINEAR[0]: lambda _: Tuned(lambda C: AtLeastOne(_svm(C)), COSTS),
    LINEAR[1]: lambda _: Tuned(lambda C: AtLeastOne(_logistic(C).estimator), LOGISTIC_COSTS),
    "Omikuji": lambda taxonomy: Tuned(lambda _: Omikuji(taxonomy), (1.0,)),
    "PECOS": lambda _: Elsewhere("PECOS"),
    "napkinXC": lambda _: Elsewhere("napkinXC"),
    "MiniLM + logistic regression": lambda _: Tuned(
        lambda C: AtLeastOne(_dense_logistic(C)), LOGISTIC_COSTS, MiniLM
    ),
}
"""Contestants for label sets, by name."""
MODULES = {"HiClass, C chosen": "hiclass", "Omikuji": "omikuji"}


def is_installed(name: str) -> bool:
    """Return whether the packages of a contestant are installed."""
    if name in peers.PEERS:
        return name in peers.installed()
    if name.startswith("MiniLM"):
        return has_encoder()
    return name not in MODULES or find_spec(MODULES[name]) is not None
