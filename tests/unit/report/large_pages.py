"""A report of 50,000 nodes with names, words and confusions."""

import numpy as np

from taxonomist.evaluation import assess
from taxonomist.report import write_report
from taxonomist.taxonomy import Taxonomy

N_NODES = 50_000
"""Number of nodes but the root."""


def write_large_report(path):
    """Write the report; return its taxonomy, its assessment and its words."""
    rng = np.random.default_rng(0)
    syllables = np.array([a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an")])
    words = np.array(["".join(rng.choice(syllables, 3)) for _ in range(5000)])
    chosen = words[(5000 * rng.random((N_NODES, 5)) ** 2).astype(int)]
    ids = [f"K{place:05}" for place in range(N_NODES)]
    edges = [(ids[place // 12], ids[place]) for place in range(12, N_NODES)]
    names = {node: " ".join(row) for node, row in zip(ids, chosen, strict=True)}
    taxonomy = Taxonomy(edges, names=names, nodes=ids)
    leaves = np.array(taxonomy.leaves)
    truth, predicted = rng.integers(len(leaves), size=(2, 20_000))
    predicted = np.where(rng.random(20_000) < 0.5, truth, predicted)
    assessment = assess(leaves[truth], leaves[predicted], taxonomy)
    telling = {
        node: [(str(word), 1.0) for word in row]
        for node, row in zip(ids, words[rng.integers(5000, size=(N_NODES, 12))], strict=True)
    }
    write_report(path, assessment, title="Large", taxonomy=taxonomy, words=telling)
    return taxonomy, assessment, telling
