"""A synthetic text corpus with a three-level taxonomy of 1,000 leaves.

Every node has a topic of its own: a few words with Zipf weights. A document belongs to a leaf,
drawn from a skewed distribution, and draws its words from the topics on its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer

from taxonomist import Taxonomy

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_WORDS = 20_000
TOPIC_WORDS = {0: N_WORDS, 1: 1_000, 2: 300, 3: 60}
SHARES = {0: 0.5, 1: 0.15, 2: 0.15, 3: 0.2}
TOKENS = 82


def make(n_items: int, seed: int = 0) -> tuple[Any, NDArray[np.object_], Taxonomy]:
    """Return tf-idf rows (about 76 non-zeros each), leaf ids, and the taxonomy."""
    counts, y, taxonomy = draw_words(n_items, seed)
    rows = np.repeat(np.arange(n_items), TOKENS)
    ones = np.ones(counts.size)
    # liblinear takes 32-bit indices only.
    places = rows.astype(np.int32), counts.ravel().astype(np.int32)
    X = csr_matrix((ones, places), shape=(n_items, N_WORDS))
    return TfidfTransformer(sublinear_tf=True).fit_transform(X), y, taxonomy


def draw_words(
    n_items: int, seed: int = 0, *, n_children: int = 10, n_tokens: int = TOKENS
) -> tuple[NDArray[np.intp], NDArray[np.object_], Taxonomy]:
    """Return the codes of each document's words, leaf ids, and the taxonomy.

    There are 100 nodes of depth two with ``n_children`` leaves each.
    """
    world = np.random.default_rng(0)
    lowest = range(n_children)
    paths = [f"{a} > {a}{b} > {a}{b}{c}" for a in range(10) for b in range(10) for c in lowest]
    taxonomy = Taxonomy.from_paths(paths, ids="name")
    topics = {node: _topic(world, taxonomy.depth(node)) for node in taxonomy.nodes}
    leaves = np.array(taxonomy.leaves, dtype=object)
    weights = 1.0 / (1 + world.permutation(len(leaves))) ** 0.8
    rng = np.random.default_rng(seed + 1)
    y = rng.choice(leaves, size=n_items, p=weights / weights.sum())
    order = np.argsort(y, kind="stable")
    words = np.empty((n_items, n_tokens), dtype=np.intp)
    chosen, starts = np.unique(y[order], return_index=True)
    for leaf, items in zip(chosen, np.split(order, starts[1:]), strict=True):
        shape = len(items), n_tokens
        words[items] = _draw(rng, topics, [*taxonomy.ancestors(leaf), leaf], shape)
    return words, y, taxonomy


def _topic(rng: np.random.Generator, depth: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the words of a topic and their probabilities."""
    size = TOPIC_WORDS[depth]
    words = rng.permutation(N_WORDS)[:size]
    weights = 1.0 / (2.0 + np.arange(size)) ** 0.8
    return words, weights / weights.sum()


def _draw(
    rng: np.random.Generator, topics: dict[str, Any], path: list[str], shape: tuple[int, int]
) -> NDArray[np.intp]:
    """Return the words of some documents of one leaf."""
    level = rng.choice(len(path), size=shape, p=[SHARES[d] for d in range(len(path))])
    drawn = np.empty(level.shape, dtype=np.intp)
    for depth, node in enumerate(path):
        words, p = topics[node]
        drawn[level == depth] = rng.choice(words, size=int((level == depth).sum()), p=p)
    return drawn
