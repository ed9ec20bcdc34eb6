"""The words with the largest weights for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    try:
        weights = model.node_coef_
    except AttributeError:
        return {}
    terms = classifier.features_.terms_
    found: dict[str, list[tuple[str, float]]] = {}
    for code, node in enumerate(model.taxonomy_.nodes):
        if node not in classifier.taxonomy_ or code >= weights.shape[0]:
            continue
        row = np.asarray(weights[code].todense() if hasattr(weights, "todense") else weights[code])
        row = row.ravel()[: len(terms)]
        best = np.argsort(-row)[:N_WORDS]
        words = [(str(terms[k]), float(row[k])) for k in best if row[k] > 0]
        if words:
            found[node] = words
    return found
