"""Trial of a loaded model: a question about one blank item, before anyone else asks."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Matrix

__all__ = ["try_out"]

MAX_DENSE = 4096
"""Maximum number of features of a dense item. A longer one would read all the weights."""

FITTED = frozenset(("classes_", "model_", "scorer_", "targets_"))
"""Attributes that a model of this library has if it is fitted."""

N_FEATURES: dict[str, Callable[[Any], int]] = {
    "BlendScorer": lambda scorer: scorer.members[0].n_features_in_,
    "GainScorer": lambda scorer: _linear_features(scorer),
    "LeastSquaresScorer": lambda scorer: scorer.weights.shape[1],
    "LinearScorer": lambda scorer: _linear_features(scorer),
    "ShareScorer": lambda scorer: scorer.words.shape[0],
    "VoteScorer": lambda scorer: scorer.by_feature.shape[0],
    "WordScorer": lambda scorer: scorer.words.shape[1],
}
"""The number of features that scorers take, by the name of the class."""


def try_out(model: Any) -> None:
    """Ask a fitted model of this library for a prediction, and raise if it cannot answer.

    Raises
    ------
    ModelFileError
        If the model lacks something that it needs for a prediction.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if not hasattr(type(model), "predict_labels") or FITTED.isdisjoint(vars(model)):
                return
            if hasattr(type(model), "has_seen"):
                _try_texts(model)
            else:
                _try_rows(model)
        except ModelFileError:
            raise
        except Exception as error:  # whatever a wrong attribute leads to
            raise ModelFileError(
                f"The model is damaged: {type(model).__name__} cannot predict "
                f"({type(error).__name__}: {error})."
            ) from error


def _try_texts(model: Any) -> None:
    features, inner = model.features_, model.model_
    vectors = getattr(model, "vectors_", None)
    n_features = len(features.idf_) + (0 if vectors is None else len(vectors.centre_))
    if inner.n_features_in_ != n_features:
        raise ModelFileError(
            f"The model is damaged: it takes {inner.n_features_in_} features, but its texts have "
            f"{n_features}."
        )
    _try_rows(inner)
    if vectors is not None:
        # The encoder may be missing, which ``TextClassifier.load`` says.
        return
    # The terms of old files are there, those of others are not read yet.
    is_read = "terms_" in vars(features)
    text = " ".join(features.terms_[:3] if is_read else features.term_table_.first(3))
    _ask(model, [[text] * len(features.column_weights_)])


def _ask(model: Any, items: object) -> None:
    if type(model.taxonomy_).__name__ != "Taxonomy":
        raise ModelFileError(f"The model is damaged: {type(model).__name__} has no taxonomy.")
    model.predict(items)
    model.predict_paths(items)


def _try_rows(model: Any) -> None:
    inner = getattr(model, "model_", model)
    is_foreign = "model_" in vars(model) and "scorer_" not in vars(inner)
    if is_foreign and not getattr(inner, "n_features_in_", np.inf) <= MAX_DENSE:
        # A pipeline may take texts, or refuse sparse items.
        return
    n_features = int(model.n_features_in_)
    if n_features <= MAX_DENSE:
        row: Matrix = np.ones((1, n_features))
    else:
        # Indices of 32 bits, as those of texts: loops are not compiled for the trial alone.
        last, ends = (np.array(part, dtype=np.int32) for part in ([n_features - 1], [0, 1]))
        row = csr_array((np.ones(1), last, ends), shape=(1, n_features))
    _check_sizes(inner, row)
    _ask(model, row)


def _check_sizes(model: Any, row: Matrix) -> None:
    """Raise if the numbers of features and categories of a model do not agree."""
    if "scorer_" not in vars(model):
        return
    scorer, n_categories = model.scorer_, len(model.targets_.categories)
    count = N_FEATURES.get(type(scorer).__name__)
    is_same = count is None or count(scorer) == model.check_rows(row, reset=False).shape[1]
    is_same &= model.taxonomy_.nodes == model.targets_.categories.taxonomy.nodes
    if not is_same or model.classes_.shape != (n_categories,):
        raise ModelFileError(
            f"The model is damaged: the sizes of {type(model).__name__} and its "
            f"{type(scorer).__name__} do not agree."
        )


def _linear_features(scorer: Any) -> int:
    rows = scorer.rows
    if rows.is_linear:
        return int(scorer.W.shape[0])
    return int(rows.n_train if hasattr(rows, "n_train") else rows.items.shape[1])
