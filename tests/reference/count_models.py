"""Items for models of word counts, and the probabilities that these learn."""

from __future__ import annotations

import numpy as np

from tests.reference import mixture as naive
from tests.reference.mixture import TREE


def make_items(taxonomy=TREE, n_items=60, n_words=25, seed=0, most=1):
    """Return counts of words that depend on all nodes above the labels, and labels."""
    random = np.random.default_rng(seed)
    words = {v: random.dirichlet(np.full(n_words, 0.1)) for v in taxonomy.nodes}
    X, y = [], []
    for _ in range(n_items):
        labels = random.choice(taxonomy.leaves, size=random.integers(1, most + 1), replace=False)
        nodes = [v for label in labels for v in naive.path(taxonomy, label)]
        X.append(sum(random.multinomial(6, words[v]) for v in nodes))
        y.append(labels.tolist())
    return np.array(X), y if most > 1 else [labels[0] for labels in y]


def word_probabilities(model):
    """Return P(w|c), (n_classes, n_words)."""
    return model.scorer_.word_scores.word_probabilities(slice(0, model.n_features_in_))
