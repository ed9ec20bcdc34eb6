"""Synthetic documents of 60 words in up to 10,000 leaves under three levels, block by block.

Every node has a topic of its own, and a document draws its words from the topics on its path. Words
and leaves have Zipf-like frequencies. Document number i is the same for every number of documents.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack

from taxonomist import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

N_WORDS = 200_000
N_TOKENS = 60
TOP, MIDDLE, LEAVES = 20, 25, 20
TOPIC_WORDS = (N_WORDS, 4_000, 600, 80)
SHARES = (0.5, 0.15, 0.15, 0.2)
SKEW = 0.8
BLOCK = 10_000


class World(NamedTuple):
    """The taxonomy, and what its documents are drawn from."""

    taxonomy: Taxonomy
    leaves: NDArray[np.object_]
    chances: NDArray[np.float64]  # of leaves
    seeds: NDArray[np.intp]  # of the topics on each leaf's path, (n_leaves, 4)


def make_world(share: float = 1.0) -> World:
    """Return a world with a share of the 10,000 leaves: fewer of them below each node."""
    n_leaves = max(1, round(LEAVES * share))
    codes = [(a, b, c) for a in range(TOP) for b in range(MIDDLE) for c in range(n_leaves)]
    paths = [f"{a:02d} > {a:02d}{b:02d} > {a:02d}{b:02d}{c:02d}" for a, b, c in codes]
    taxonomy = Taxonomy.from_paths(paths, ids="name")
    leaves = np.array([path.rsplit(" > ", 1)[1] for path in paths], dtype=object)
    weights = 1.0 / (1 + np.random.default_rng(0).permutation(len(leaves))) ** SKEW
    seeds = np.array([(0, 1 + a, 100 + 100 * a + b, 10_000 + 10_000 * a + 100 * b + c)
                      for a, b, c in codes])  # fmt: skip
    return World(taxonomy, leaves, weights / weights.sum(), seeds)


def blocks(world: World, n_items: int, seed: int) -> Iterator[tuple[NDArray[np.intp], list[str]]]:
    """Yield the words, (n, 60), and the labels of blocks of documents."""
    for number in range(-(-n_items // BLOCK)):
        rng = np.random.default_rng((seed, number))
        which = rng.choice(len(world.leaves), size=BLOCK, p=world.chances)
        levels = rng.choice(4, size=(BLOCK, N_TOKENS), p=SHARES)
        ranks = _ranks(rng.random((BLOCK, N_TOKENS)), np.array(TOPIC_WORDS)[levels])
        topics = np.take_along_axis(world.seeds[which], levels, axis=1)
        n = min(BLOCK, n_items - number * BLOCK)
        yield _words(topics, ranks)[:n], world.leaves[which[:n]].tolist()


def _ranks(uniform: NDArray[np.float64], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return ranks below each size, with frequencies near those of Zipf's law."""
    power = 1 - SKEW
    found = ((sizes + 2.0) ** power * uniform + 2.0**power * (1 - uniform)) ** (1 / power) - 2.0
    return np.minimum(found.astype(np.intp), sizes - 1)


def _words(topics: NDArray[np.intp], ranks: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the word of each rank of a topic: a fixed number that looks random."""
    mixed = (topics * 2_654_435_761 + ranks * 40_503 + 12_345) % 4_294_967_291
    mixed = (mixed * 69_069 + ranks) % 4_294_967_291
    found = mixed % N_WORDS
    # The topic of all documents has every word once, the most frequent first.
    return np.where(topics == 0, ranks, found)


def counts(world: World, n_items: int, seed: int) -> tuple[csr_matrix, NDArray[np.object_]]:
    """Return word counts and labels of documents."""
    parts, labels = [], []
    for words, found in blocks(world, n_items, seed):
        rows = np.repeat(np.arange(len(words), dtype=np.int32), N_TOKENS)
        places = rows, words.ravel().astype(np.int32)
        ones = np.ones(words.size, np.float32)
        parts.append(csr_matrix((ones, places), shape=(len(words), N_WORDS)))
        labels += found
    return vstack(parts, format="csr"), np.array(labels, dtype=object)


def write_csv(path: Path, world: World, n_items: int, seed: int) -> None:
    """Write documents as a table of texts and labels."""
    names = np.array([f"w{code}" for code in range(N_WORDS)], dtype=object)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("text", "label"))
        for words, labels in blocks(world, n_items, seed):
            texts = map(" ".join, names[words].tolist())
            writer.writerows(zip(texts, labels, strict=True))
