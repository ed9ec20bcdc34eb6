"""Taxonomies of 50,000 and 500,000 nodes, and WordNet: CPU seconds and peak memory.

Command: TAXONOMIST_DATA=... python -m benchmarks taxonomy_scale
Bars (one core): 500,000 nodes are read from CSV in 3 s; WordNet's nouns are read in 3 s, their
ancestor matrix takes 2 s, and both stay below 500 MB. Without the corpus, WordNet is left out.

The nodes have names of five words and 8 children each; 2 % of the lower half have a second parent.
Every line is measured in a process of its own: the median time and the largest peak of the rounds.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.record import on_one_core, peak_memory_mib, save
from taxonomist import Taxonomy, datasets
from taxonomist.errors import CorpusNotFoundError
from taxonomist.workflow.taxonomy_facts import counts, findings

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (50_000, 500_000)
SUFFIXES = ("csv", "json", "nt", "ttl", "obo")
ROUNDS = 7


def large_taxonomy(n_nodes: int) -> Taxonomy:
    """Return a taxonomy of this many nodes, the same for every call."""
    rng = random.Random(0)
    ids = [f"C{place:06d}" for place in range(n_nodes)]
    edges = {(ids[(place - 1) // 8], ids[place]): None for place in range(1, n_nodes)}
    for place in rng.sample(range(n_nodes // 2, n_nodes), n_nodes // 50):
        edges[ids[rng.randrange(n_nodes // 10)], ids[place]] = None
    names = {node: f"Category {place} of goods" for place, node in enumerate(ids)}
    return Taxonomy(edges, names=names)


def operations(path: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured on a taxonomy, by name; the taxonomy is read before."""
    taxonomy = Taxonomy.read(path)
    changed = taxonomy.prune(taxonomy.leaves[::2])
    edges = [(taxonomy.nodes[a], taxonomy.nodes[b]) for a, b in taxonomy.edges.tolist()]
    names = dict(taxonomy.raw_names)
    return {
        "build": lambda: Taxonomy(edges, names=names),
        "check": lambda: (counts(taxonomy), findings(taxonomy)),
        "prune": lambda: taxonomy.prune(taxonomy.leaves[::2]),
        "diff": lambda: taxonomy.diff(changed),
        "equal": lambda: taxonomy == taxonomy.truncate(taxonomy.height),
        "ancestor_matrix": taxonomy.ancestor_matrix,
        "text_tree": taxonomy.to_text,
    }


def measure(folder: Path, n_nodes: int, suffix: str, what: str) -> dict[str, float]:
    """Do one thing and return what it took."""
    path = folder / f"{n_nodes}.{suffix}"
    work: Callable[[], object]
    if what == "read":
        work = lambda: Taxonomy.read(path)  # noqa: E731
    elif what == "write":
        taxonomy = large_taxonomy(n_nodes)
        work = lambda: taxonomy.write(path)  # noqa: E731
    else:
        work = operations(path)[what]
    start = process_time()
    work()
    return {"cpu_s": process_time() - start, "peak_memory_mib": peak_memory_mib()}


def measure_wordnet() -> dict[str, float]:
    """Read the hierarchy of WordNet's nouns and return what it took."""
    path = datasets.find("wordnet-semcor") / "wordnet30_noun_hypernyms.csv.gz"
    start = process_time()
    taxonomy = Taxonomy.read(path)
    read = process_time() - start
    start = process_time()
    ancestors = taxonomy.ancestor_matrix()
    return {
        "read_cpu_s": read,
        "ancestor_matrix_cpu_s": process_time() - start,
        "peak_memory_mib": peak_memory_mib(),
        "nodes": taxonomy.n_nodes,
        "ancestor_pairs": int(ancestors.nnz),
    }


def rounds_of(*arguments: object) -> dict[str, float]:
    """Measure in fresh processes on one core; return the median times and the largest peaks."""
    command = [*on_one_core(), sys.executable, "-m", "benchmarks.taxonomy_scale"]
    rounds = []
    for _ in range(ROUNDS):
        done = subprocess.run(
            [*command, *map(str, arguments)], capture_output=True, encoding="utf-8", check=True
        )
        rounds.append(json.loads(done.stdout))
    return {
        key: round((median if key.endswith("_s") else max)(each[key] for each in rounds), 2)
        for key in rounds[0]
    }


def run() -> None:
    """Measure all sizes, formats and operations, and record them."""
    figures: dict[str, object] = {"rounds": ROUNDS}
    with tempfile.TemporaryDirectory() as folder:
        for n_nodes in SIZES:
            found: dict[str, dict[str, float]] = {}
            for suffix in SUFFIXES:
                for what in ("write", "read"):
                    found[f"{what} {suffix}"] = rounds_of(folder, n_nodes, suffix, what)
            names = ("build", "check", "prune", "diff", "equal", "ancestor_matrix", "text_tree")
            for what in names:
                found[what] = rounds_of(folder, n_nodes, "csv", what)
            figures[f"{n_nodes} nodes"] = found
    try:
        datasets.find("wordnet-semcor")
    except CorpusNotFoundError:
        print("WordNet is left out: set TAXONOMIST_DATA")
    else:
        figures["wordnet nouns"] = rounds_of("wordnet")
    print(json.dumps(figures, indent=2))
    print(save("taxonomy_scale", "python -m benchmarks taxonomy_scale", figures))


if __name__ == "__main__":
    if sys.argv[1:] == ["wordnet"]:
        print(json.dumps(measure_wordnet()))
    else:
        given, number, suffix, what = sys.argv[1:]
        print(json.dumps(measure(Path(given), int(number), suffix, what)))
