"""Ten thousand categories, half a million documents: time and memory of training and prediction.

Command: TAXONOMIST_DATA=... TAXONOMIST_PEERS=.venv-peers/bin/python python -m benchmarks scale
Every part is recorded apart: python -m benchmarks scale:file,peers,names
Not recorded, with fewer documents: python -m benchmarks.scale file peers --documents 5000
``file`` trains the default model from a CSV file with the command, and predicts another file.
``peers`` and ``HiClass`` compare models of the same vectors, each in a process of its own; HiClass
has a part of its own with few documents, because it takes so long and so much memory.
``documents-1/8`` and the like have parts of the documents or of the categories, and the names of
corpora compare on all their documents. ``names`` trains on the names of all codes of ICD-10-CM with
seventh characters for injuries: the list prints these as a rule, and not as codes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import path_svc, scale_text
from benchmarks.record import save_part
from taxonomist import Taxonomy, datasets
from taxonomist.experiments.work.memory import in_mib

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENTS, PREDICTED, COMPARED = 500_000, 100_000, 50_000
FEW = 3_000
"""Documents for HiClass, whose dense weights take 3.5 GiB for the categories of these."""
SHARES = {"1/8": 0.125, "1/4": 0.25, "1/2": 0.5, "1": 1.0}
GROWING = ("documents", "categories")
CORPORA = {"icd10cm": True, "naics2012": True, "onet-soc": True, "cystic-fibrosis-mesh": False}
SIBLINGS = "PathSVC, siblings"
"""With ``negatives="siblings"``, where the default would train both kinds."""
SEVENTH = {
    "A": "initial encounter for closed fracture",
    "B": "initial encounter for open fracture",
    "D": "subsequent encounter for fracture with routine healing",
    "G": "subsequent encounter for fracture with delayed healing",
    "S": "sequela",
}
RIVALS = (*path_svc.PEERS, "Omikuji")
PARTS = (
    "file",
    "names",
    "peers",
    "HiClass",
    *CORPORA,
    *(f"{what}-{share}" for what in GROWING for share in SHARES),
)


def run_command(*args: object) -> dict[str, Any]:
    """Run ``taxonomist`` in a process of its own; return its time and its peak memory."""
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "taxonomist", *map(str, args)]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(err.decode())
    return {
        "wall": time.perf_counter() - start,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mib": in_mib(usage.ru_maxrss),
        "said": json.loads(out) if "--json" in args else None,
    }


def folder_mib(folder: Path) -> float:
    """Return the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*")) / 2**20


def from_file(n_documents: int) -> dict[str, Any]:
    """Train the default model from a file, and predict a fifth as many documents."""
    world, n_predicted = scale_text.make_world(), min(PREDICTED, n_documents)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data, new, taxonomy = folder / "data.csv", folder / "new.csv", folder / "taxonomy.csv"
        scale_text.write_csv(data, world, n_documents, seed=0)
        scale_text.write_csv(new, world, n_predicted, seed=1)
        world.taxonomy.write(taxonomy)
        model, out = folder / "model", folder / "out.csv"
        options = ("--taxonomy", taxonomy, "--test-size", "0", "--vectors", "off", "--json")
        trained = run_command("train", data, *options, "--out", model)
        found = run_command("predict", model, new, "--out", out, "--no-proba")
        right = agreement(new, out)
        size = folder_mib(model)
    return {
        "documents": n_documents,
        "train": {key: trained[key] for key in ("wall", "cpu", "peak_mib")},
        "predict": {key: found[key] for key in ("wall", "cpu", "peak_mib")},
        "predicted": n_predicted,
        "model_mib": size,
        "accuracy": right,
        "bars": [
            bar("train in 15 minutes", trained["wall"], 900.0),
            bar("train in 6 GB", trained["peak_mib"], 6_000 / 1.048576),
            bar("predict 100,000 in 5 s", found["wall"] * PREDICTED / n_predicted, 5.0),
            bar("model below 1 GB", size, 1_000 / 1.048576),
        ],
    }


def bar(words: str, value: float, limit: float) -> dict[str, Any]:
    """Return a bar, and whether it holds."""
    return {"bar": words, "value": value, "limit": limit, "holds": value <= limit}


def agreement(truth: Path, predicted: Path) -> float:
    """Return the share of rows with the right label."""
    with truth.open(encoding="utf-8") as one, predicted.open(encoding="utf-8") as other:
        pairs = zip(csv.DictReader(one), csv.DictReader(other), strict=True)
        return float(np.mean([a["label"] == b["label"] for a, b in pairs]))


def vectors(n_documents: int, share: float = 1.0) -> path_svc.Problem:
    """Return tf-idf vectors of documents, and a fifth as many to predict."""
    from sklearn.feature_extraction.text import TfidfTransformer

    world = scale_text.make_world(share)
    (X, y), (X_test, y_test) = (
        scale_text.counts(world, n, seed) for seed, n in enumerate((n_documents, n_documents // 5))
    )
    weigh = TfidfTransformer(sublinear_tf=True).fit(X)
    return path_svc.Problem(weigh.transform(X), y, weigh.transform(X_test), y_test, world.taxonomy)


def once(problem: path_svc.Problem, who: list[str]) -> dict[str, Any]:
    """Let contestants learn and predict once, each in a process of its own."""
    rows = {name: path_svc.Row(lambda: problem, {}, {}) for name in who}
    rows[SIBLINGS] = path_svc.Row(lambda: problem, {}, {}, ours={"negatives": "siblings"})
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        path_svc.write_problem(problem, folder)
        path_svc.run_apart(folder, "compile", rows[who[0]], saves=False)
        for name in who:
            package = name.partition(",")[0]
            found[name] = path_svc.turn(folder, package, rows[name], problem, saves=True)
            spent = f"{found[name]['fit_wall']:.1f} s, {found[name]['peak_mib']:.0f} MiB"
            print(f"{problem.X.shape[0]:,} documents, {name}: {spent}", flush=True)
    return found


def beside(
    problem: path_svc.Problem, ours: Sequence[str], rivals: Sequence[str], limit: float
) -> dict[str, Any]:
    """Compare ``PathSVC`` with others, those that are installed."""
    from taxonomist.experiments.work.peers import installed

    rivals = [name for name in rivals if name not in path_svc.PEERS or name in installed()]
    found = once(problem, [*ours, *rivals])
    bars = []
    for name, other in product(ours, rivals):
        own, theirs = found[name], found[other]
        for key, most in (("fit_wall", limit), ("fit_cpu", limit), ("peak_mib", 2.0)):
            words = f"{name}: {key} at most {most:g} x {other}"
            bars.append(bar(words, own[key] / theirs[key], most))
        # A smaller value is better.
        bars += [
            bar(f"{name}: 1 - {key} at most that of {other}", 1 - own[key], 1 - theirs[key])
            for key in ("exact", "hierarchical_f1")
        ]
    sizes = {"documents": problem.X.shape[0], "nodes": problem.taxonomy.n_nodes}
    return sizes | found | {"bars": bars}


def growth(what: str, share: float, n_documents: int) -> dict[str, Any]:
    """Return time and memory for a part of the documents, or of the categories."""
    by_documents = what == "documents"
    n = round(n_documents * share) if by_documents else n_documents
    problem = vectors(n, 1.0 if by_documents else share)
    found = once(problem, ["PathSVC"])["PathSVC"]
    found["own_mib"] = found["peak_mib"] - found["start_mib"]
    sizes = {"documents": n, "nodes": problem.taxonomy.n_nodes}
    return found | sizes | {"bars": []}


def growth_bars(parts: dict[str, Any]) -> dict[str, Any]:
    """Return by how much time and memory grow from an eighth to all, of what is recorded."""
    bars = []
    for what in GROWING:
        least, most = (parts.get(f"{what}-{share}") for share in ("1/8", "1"))
        if least and most:
            bars += [
                bar(f"{key} of 8 times the {what}", most[key] / least[key], 8.0)
                for key in ("fit_cpu", "fit_wall", "own_mib")
            ]
    return {"bars": bars}


def all_codes() -> Taxonomy:
    """Return the tree of ICD-10-CM with seventh characters: some 98,000 nodes."""
    tree = datasets.load("icd10cm").taxonomy
    names = {node: re.sub(r"\s+", " ", tree.name(node)) for node in tree.nodes}
    edges = [(tree.nodes[a], tree.nodes[b]) for a, b in tree.edges.tolist()]
    for leaf in tree.leaves:
        for character, words in SEVENTH.items() if leaf[0] in "ST" else ():
            edges.append((leaf, leaf + character))
            names[leaf + character] = f"{names[leaf]}, {words}"
    return Taxonomy(edges, names=names)


def names_as_documents() -> dict[str, Any]:
    """Train on the names of all nodes of ICD-10-CM, one document each."""
    taxonomy = all_codes()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data, tree = folder / "names.csv", folder / "taxonomy.csv"
        taxonomy.write(tree)
        with data.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(("text", "label"))
            writer.writerows((taxonomy.name(node), node) for node in taxonomy.nodes[1:])
        options = ("--taxonomy", tree, "--test-size", "0", "--vectors", "off", "--json")
        found = run_command("train", data, *options, "--out", folder / "model")
    bars = [
        bar("train in 5 minutes", found["wall"], 300.0),
        bar("train in 4 GB", found["peak_mib"], 4_000 / 1.048576),
    ]
    found.pop("said")
    return found | {"categories": taxonomy.n_nodes - 1, "bars": bars}


def measure(part: str, n_documents: int) -> dict[str, Any]:
    """Measure one part."""
    if part == "file":
        return from_file(n_documents)
    if part == "names":
        return names_as_documents()
    if part == "peers":
        return beside(vectors(min(n_documents, COMPARED)), ["PathSVC"], RIVALS, 1.5)
    if part == "HiClass":
        return beside(vectors(min(n_documents, FEW)), ["PathSVC"], [part], 1.5)
    if part in CORPORA:
        problem = path_svc.named(part, is_single=CORPORA[part])
        return beside(problem, ["PathSVC", SIBLINGS], RIVALS, 1.0)
    what, _, share = part.partition("-")
    return growth(what, SHARES[share], n_documents)


def run(parts: Sequence[str] = PARTS) -> None:
    """Measure some parts, print their bars, and record each."""
    for part in parts:
        figures = measure(part, DOCUMENTS)
        for found in figures["bars"]:
            print(f"{part}: {found}", flush=True)
        print(save_part("scale", part, figures, growth_bars), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("parts", nargs="+", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    given = parser.parse_args()
    for part in set(given.parts) - set(PARTS):
        parser.error(f"there is no part {part!r}; there are {', '.join(PARTS)}")
    print(json.dumps({part: measure(part, given.documents) for part in given.parts}, indent=2))
