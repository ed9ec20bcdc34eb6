"""The hierarchical mixture straight from TCPH01: dictionaries and loops over every word.

Everything is by node ids and word numbers. An item is (counts of words, labels, weight), counts a
list. The uniform node above the root is called ``UNIFORM``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taxonomist import Taxonomy
from taxonomist.inference.counts import as_counts, equal_shares
from taxonomist.models.targets import Targets
from taxonomist.solvers.word_counts import CountedItems

UNIFORM = "uniform"

TREE = Taxonomy.from_paths(
    ["animal > cat", "animal > dog > hound", "animal > dog > terrier", "plant > oak", "plant > elm"]
)
DAG = Taxonomy.from_edges(
    [
        ("thing", "animal"),
        ("thing", "pet"),
        ("thing", "young"),
        ("animal", "dog"),
        ("animal", "cow"),
        ("pet", "dog"),
        ("pet", "plant"),
        ("dog", "hound"),
        ("dog", "puppy"),
        ("young", "puppy"),
    ]
)
FLAT = Taxonomy.flat(["a", "b", "c"])
TAXONOMIES = {"tree": TREE, "dag": DAG, "flat": FLAT}


class Toy(NamedTuple):
    """Items with counts, labels and weights under a taxonomy."""

    taxonomy: Taxonomy
    X: np.ndarray  # (n_items, n_words)
    y: list[list[str]]
    weights: np.ndarray

    @property
    def targets(self) -> Targets:
        """The label sets."""
        return Targets.from_labels(self.taxonomy, self.y, self.X)

    @property
    def items(self) -> CountedItems:
        """The items as solvers take them."""
        counts = as_counts(self.X.astype(float), "a test")
        return CountedItems(counts, equal_shares(self.targets.labels), self.weights)

    def naive_items(self) -> list[tuple[list[float], list[str], float]]:
        """The items as this file takes them; labels are the most specific ones."""
        leaves = self.taxonomy.leaves
        assert all(label in leaves for labels in self.y for label in labels)
        return [
            (counts.tolist(), labels, weight)
            for counts, labels, weight in zip(self.X, self.y, self.weights, strict=True)
        ]


def make_toy(taxonomy=TREE, *, n_items=12, n_words=7, most=2, seed=0, weighted=True):
    """Return random counts with label sets of leaves; some items lack words or labels."""
    random = np.random.default_rng(seed)
    leaves = list(taxonomy.leaves)
    most = min(most, len(leaves))
    X = random.poisson(0.8, size=(n_items, n_words))
    y = [
        random.choice(leaves, size=random.integers(0, most + 1), replace=False).tolist()
        for _ in range(n_items)
    ]
    y[0] = leaves[:1]
    X[0, 0] = 3
    X[-1] = 0
    weights = random.integers(1, 4, size=n_items).astype(float) if weighted else np.ones(n_items)
    return Toy(taxonomy, X, y, weights)


def path(taxonomy, category):
    """Return the nodes at or above a category."""
    return [*taxonomy.ancestors(category), category]


def category_counts(items, taxonomy):
    """Return n_cw by category and word."""
    n_words = len(items[0][0])
    counts = {c: [0.0] * n_words for c in taxonomy.leaves}
    for row, labels, weight in items:
        for label in labels:
            for w, n in enumerate(row):
                counts[label][w] += weight * n / len(labels)
    return counts


def pooled_words(items, taxonomy, categories):
    """Return the counts of all items' parts in some categories."""
    counts = category_counts(items, taxonomy)
    n_words = len(items[0][0])
    return [sum(counts[c][w] for c in categories) for w in range(n_words)]


def below(taxonomy, node):
    """Return the leaves at or below a node."""
    return [c for c in taxonomy.leaves if node in path(taxonomy, c)]


def normalized(counts):
    """Return counts over their sum; zeros if there are none."""
    total = sum(counts)
    return [n / total if total > 0 else 0.0 for n in counts]


def node_words(items, taxonomy):
    """Return P(w|v), pooled from all that is below [TCPH01, Sec. 3.2.3]."""
    return {
        v: normalized(pooled_words(items, taxonomy, below(taxonomy, v))) for v in taxonomy.nodes
    }


def rest_words(items, taxonomy, category):
    """Return P(w|v) for the path of a category, without what is below the children on it."""
    on_path = path(taxonomy, category)
    found = {}
    for v in on_path:
        inside = set(below(taxonomy, v))
        for child in taxonomy.children(v):
            if child in on_path:
                inside -= set(below(taxonomy, child))
        found[v] = normalized(pooled_words(items, taxonomy, sorted(inside)))
    return found


def other_words(items, taxonomy, category):
    """Return P(w|v) for the path of a category, above it without its own items [TCPH01, Sec. 1]."""
    found = {}
    for v in path(taxonomy, category):
        inside = [c for c in below(taxonomy, v) if c != category or v == category]
        found[v] = normalized(pooled_words(items, taxonomy, inside))
    return found


def word_given_class(words, weights, w, n_words):
    """Return P(w|c) for the weights of one category [TCPH01, Eq. 1]."""
    return sum(
        weight * (1 / n_words if v == UNIFORM else words[v][w]) for v, weight in weights.items()
    )


def log_likelihood(items, taxonomy, words, weights):
    """Return Σ over items, labels, words of n log P(w|c) [TCPH01, Eq. 3, 4]."""
    total = 0.0
    for row, labels, weight in items:
        for label in labels:
            for w, n in enumerate(row):
                if n:
                    p = word_given_class(words, weights[label], w, len(row))
                    total += weight * n / len(labels) * math.log(p)
    return total


def em_step(items, taxonomy, words, weights, beta=1.0):
    """Return P(w|v) after one tempered step [TCPH01, Eq. 5, 6]."""
    counts = category_counts(items, taxonomy)
    n_words = len(items[0][0])
    expected = {v: [0.0] * n_words for v in taxonomy.nodes}
    for c in taxonomy.leaves:
        for w in range(n_words):
            if counts[c][w] == 0:
                continue
            joint = {
                v: (weight * (1 / n_words if v == UNIFORM else words[v][w])) ** beta
                for v, weight in weights[c].items()
            }
            for v in joint:
                if v != UNIFORM:
                    expected[v][w] += counts[c][w] * joint[v] / sum(joint.values())
    return {v: normalized(expected[v]) if sum(expected[v]) else words[v] for v in expected}


def without(items, i):
    """Return the items without one copy of item i."""
    row, labels, weight = items[i]
    rest = [item for j, item in enumerate(items) if j != i]
    return rest if weight <= 1 else [*rest, (row, labels, weight - 1)]


def left_out_steps(items, taxonomy, words, weights, beta=1.0):
    """Return P(w|v) after one step, without each item in turn; zeros where nothing is left.

    Responsibilities are those of all items; the words of the left-out item are not counted.
    """
    found = []
    for i in range(len(items)):
        rest = without(items, i)
        nothing = {v: [0.0] * len(items[0][0]) for v in taxonomy.nodes}
        if not rest:
            found.append(nothing)
            continue
        after, counts = (
            em_step(rest, taxonomy, words, weights, beta),
            category_counts(rest, taxonomy),
        )
        found.append(
            {
                v: after[v] if _expects(counts, v, taxonomy, words, weights) else nothing[v]
                for v in taxonomy.nodes
            }
        )
    return found


def _expects(counts, node, taxonomy, words, weights):
    """Return whether a node can have made a word of the counted items."""
    return any(
        n and weights[c].get(node, 0.0) * words[node][w] > 0
        for c in below(taxonomy, node)
        for w, n in enumerate(counts[c])
    )


def weight_step(items, taxonomy, left_out, weights):
    """Return P(v|c) after one step from left-out items [TCPH01, Eq. 5, 7]."""
    expected = {c: dict.fromkeys(by_node, 0.0) for c, by_node in weights.items()}
    for i, (row, labels, weight) in enumerate(items):
        for c in labels:
            if not can_tell(items, taxonomy, i, c):
                continue
            for w, n in enumerate(row):
                joint = {
                    v: p * (1 / len(row) if v == UNIFORM else left_out[i][v][w])
                    for v, p in weights[c].items()
                }
                total = sum(joint.values())
                if n and total > 0:
                    for v, part in joint.items():
                        expected[c][v] += weight * n / len(labels) * part / total
    return {
        c: {v: n / sum(by_node.values()) for v, n in by_node.items()}
        if sum(by_node.values())
        else weights[c]
        for c, by_node in expected.items()
    }


def can_tell(items, taxonomy, i, category):
    """Return whether all nodes above a category that have words still have some without item i."""
    before, after = node_words(items, taxonomy), None
    rest = without(items, i)
    if rest:
        after = node_words(rest, taxonomy)
    return all(
        not any(before[v]) or (after is not None and any(after[v]))
        for v in path(taxonomy, category)
    )


def even_weights(taxonomy, has_uniform=True):
    """Return the same weight for all nodes of a path."""
    weights = {}
    for c in taxonomy.leaves:
        nodes = path(taxonomy, c) + [UNIFORM] * has_uniform
        weights[c] = dict.fromkeys(nodes, 1 / len(nodes))
    return weights


def random_weights(taxonomy, random, has_uniform=True):
    """Return weights drawn at random for each path."""
    weights = {}
    for c in taxonomy.leaves:
        nodes = path(taxonomy, c) + [UNIFORM] * has_uniform
        weights[c] = dict(zip(nodes, random.dirichlet(np.ones(len(nodes))).tolist(), strict=True))
    return weights


def as_matrix(weights, taxonomy):
    """Return weights as models take them, (n_categories, n_nodes + 1)."""
    columns = {v: k for k, v in enumerate([*taxonomy.nodes, UNIFORM])}
    matrix = np.zeros((len(taxonomy.leaves), len(columns)))
    for row, c in zip(matrix, taxonomy.leaves, strict=True):
        for v, weight in weights[c].items():
            row[columns[v]] = weight
    return matrix
