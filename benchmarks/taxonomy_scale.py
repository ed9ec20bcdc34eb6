"""Reading the WordNet noun hierarchy and its ancestor matrix: seconds and peak memory.

Command: TAXONOMIST_DATA=... python -m benchmarks taxonomy_scale
Bars (one core): read under 3 s, ancestor matrix under 2 s, under 500 MB in all.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from time import perf_counter

from benchmarks.record import on_one_core, peak_memory_mib, save
from taxonomist import Taxonomy, datasets

ROUNDS = 7


def measure() -> dict[str, float]:
    """Read the hierarchy once and return what it took."""
    path = datasets.find("wordnet-semcor") / "wordnet30_noun_hypernyms.csv.gz"
    start = perf_counter()
    taxonomy = Taxonomy.read(path)
    read = perf_counter() - start
    start = perf_counter()
    ancestors = taxonomy.ancestor_matrix()
    return {
        "read_s": read,
        "ancestor_matrix_s": perf_counter() - start,
        "peak_memory_mib": peak_memory_mib(),
        "nodes": taxonomy.n_nodes,
        "ancestor_pairs": int(ancestors.nnz),
    }


def run() -> None:
    """Measure in fresh processes on one core, and record the medians."""
    rounds = []
    for _ in range(ROUNDS):
        command = [sys.executable, "-m", "benchmarks.taxonomy_scale"]
        pinned = [*on_one_core(), *command]
        done = subprocess.run(pinned, capture_output=True, encoding="utf-8", check=True)
        rounds.append(json.loads(done.stdout))
    medians = {key: statistics.median(entry[key] for entry in rounds) for key in rounds[0]}
    worst = {key: max(entry[key] for entry in rounds) for key in rounds[0]}
    figures = {"rounds": ROUNDS, "median": medians, "worst": worst}
    print(json.dumps(figures, indent=2))
    print(save("taxonomy_scale", "python -m benchmarks taxonomy_scale", figures))


if __name__ == "__main__":
    print(json.dumps(measure()))
