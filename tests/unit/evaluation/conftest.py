from __future__ import annotations

import numpy as np
import pytest

from taxonomist.taxonomy import Taxonomy


@pytest.fixture
def taxonomy():
    return Taxonomy.from_parents(
        {"a": None, "b": None, "a1": "a", "a2": "a", "b1": "b", "b2": "b"},
    )


@pytest.fixture
def texts(taxonomy):
    """Sixty noisy documents, their words drawn from those of the category and of its parent."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a1", "a2", "b1", "b2"], 15)
    X = [" ".join(rng.choice([label, label, label[0], "a1", "b1", "a2"], 4)) for label in y]
    return X, y
