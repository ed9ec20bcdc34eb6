"""The words with the largest weights for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from taxonomist.text import TextClassifier

__all__ = ["telling_words"]

N_WORDS = 8
"""Number of words per node."""


def telling_words(classifier: TextClassifier) -> dict[str, list[tuple[str, float]]]:
    """Return the words with the largest weights for each node; empty without node weights."""
    model = classifier.model_
    model = getattr(model, "model_", model)
    terms = classifier.features_.terms_
    found = {
        node: [(str(terms[k]), weight) for k, weight in features]
        for node, features in _top_features(model, len(terms)).items()
        if node in classifier.taxonomy_
    }
    return {node: words for node, words in found.items() if words}


def _top_features(model: Any, n_terms: int) -> dict[str, list[tuple[int, float]]]:
    """Return the features with the largest positive weights for each node."""
    if hasattr(model, "top_features"):
        found: dict[str, list[tuple[int, float]]] = model.top_features(N_WORDS)
        return found
    try:
        weights = model.node_coef_
    except AttributeError:
        return {}
    return {
        node: _largest(weights[[code]], n_terms)
        for code, node in enumerate(model.taxonomy_.nodes[: weights.shape[0]])
    }


def _largest(row: Any, n_terms: int) -> list[tuple[int, float]]:
    """Return the columns and values of the largest positive values of a row."""
    # Behind the words there may be a constant feature.
    values = np.asarray(row.todense() if hasattr(row, "todense") else row).ravel()[:n_terms]
    best = np.argsort(-values)[:N_WORDS].tolist()
    return [(k, float(values[k])) for k in best if values[k] > 0]
