"""The words with the largest weights for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.text import TextClassifier

__all__ = ["telling_words"]

N_WORDS = 8
"""Number of words per node."""


def telling_words(classifier: TextClassifier) -> dict[str, list[tuple[str, float]]]:
    """Return the words with the largest weights for each node; empty without node weights."""
    model = classifier.model_
    model = getattr(model, "model_", model)
    terms, vectors = classifier.features_.terms_, classifier.used_vectors
    n_vectors = 0 if vectors is None else len(vectors.centre_)
    top = _top_features(model, len(terms), n_vectors)
    found = {
        node: [(str(terms[k]), weight) for k, weight in features]
        for node, features in top.items()
        if node in classifier.taxonomy_
    }
    return {node: words for node, words in found.items() if words}


def _top_features(model: Any, n_terms: int, n_vectors: int) -> dict[str, list[tuple[int, float]]]:
    """Return the words with the largest positive weights for each node."""
    if hasattr(model, "top_features"):
        top: dict[str, list[tuple[int, float]]] = model.top_features(N_WORDS + n_vectors)
        words = {node: [pair for pair in pairs if pair[0] < n_terms] for node, pairs in top.items()}
        return {node: pairs[:N_WORDS] for node, pairs in words.items()}
    try:
        weights = model.node_coef_
    except AttributeError:
        return {}
    found = {}
    for code, node in enumerate(model.taxonomy_.nodes[: weights.shape[0]]):
        row = weights[[code]]
        # Behind the words there may be sentence vectors and a constant feature.
        values = np.ravel(row.toarray() if hasattr(row, "toarray") else row)[:n_terms]
        found[node] = _largest(values)
    return found


def _largest(values: Floats) -> list[tuple[int, float]]:
    """Return the places and values of the largest positive values."""
    best = np.argsort(-values)[:N_WORDS].tolist()
    return [(k, float(values[k])) for k in best if values[k] > 0]
