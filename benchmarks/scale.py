"""Ten thousand categories, half a million documents: time and memory of training and prediction.

Command: TAXONOMIST_DATA=... TAXONOMIST_PEERS=.venv-peers/bin/python python -m benchmarks scale
Some rows only, not recorded: python -m benchmarks.scale file peers growth names --documents 50000
``file`` trains the default model from a CSV file with the command, and predicts another file.
``peers`` compares models of the same vectors, each in a process of its own. ``growth`` has parts of
the documents, and of the categories. ``names`` trains on the names of all codes of ICD-10-CM.
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
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import path_svc, scale_text
from benchmarks.record import save

DOCUMENTS, PREDICTED, COMPARED = 500_000, 100_000, 50_000
PARTS = (0.125, 0.25, 0.5, 1.0)
NAMES = ("file", "peers", "growth", "names")


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
        "peak_mib": usage.ru_maxrss / 1024,
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
    row = path_svc.Row(lambda: problem, {}, {})
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path_svc.write_problem(problem, Path(folder))
        path_svc.run_apart(Path(folder), "compile", row, saves=False)
        for name in who:
            found[name] = path_svc.turn(Path(folder), name, row, problem, saves=True)
            spent = f"{found[name]['fit_wall']:.1f} s, {found[name]['peak_mib']:.0f} MiB"
            print(f"{problem.X.shape[0]:,} documents, {name}: {spent}", flush=True)
    return found


def beside_peers(n_documents: int) -> dict[str, Any]:
    """Compare ``PathSVC`` with the peers that are installed."""
    from taxonomist.experiments.work.peers import installed

    peers = [name for name in path_svc.PEERS if name in installed()]
    found = once(vectors(min(n_documents, COMPARED)), ["PathSVC", *peers])
    ours, bars = found["PathSVC"], []
    for other in peers:
        theirs = found[other]
        ratios = {key: ours[key] / theirs[key] for key in ("fit_wall", "fit_cpu", "peak_mib")}
        bars.append(bar(f"fit at most 1.5 x {other}", ratios["fit_wall"], 1.5))
        bars.append(bar(f"memory at most 2 x {other}", ratios["peak_mib"], 2.0))
        bars.append(bar(f"as accurate as {other}", theirs["exact"], ours["exact"]))
    return found | {"bars": bars}


def growth(n_documents: int) -> dict[str, Any]:
    """Return time and memory for parts of the documents, and of the categories."""
    table = {}
    for what in ("documents", "categories"):
        for part in PARTS:
            n, share = (n_documents * part, 1.0) if what == "documents" else (n_documents, part)
            problem = vectors(round(n), share)
            found = once(problem, ["PathSVC"])["PathSVC"]
            found["own_mib"] = found["peak_mib"] - found["start_mib"]
            table[f"{part:g} of the {what}"] = found | {"nodes": problem.taxonomy.n_nodes}
    bars = []
    for what in ("documents", "categories"):
        rows = [table[f"{part:g} of the {what}"] for part in PARTS]
        for key in ("fit_cpu", "own_mib"):
            ratio = rows[-1][key] / rows[0][key]
            bars.append(bar(f"{key} of 8 times the {what}", ratio, PARTS[-1] / PARTS[0]))
    return table | {"bars": bars}


def names_as_documents(_: int) -> dict[str, Any]:
    """Train on the names of all leaves of ICD-10-CM, one document each."""
    from taxonomist import datasets

    taxonomy = datasets.load("icd10cm").taxonomy
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data, tree = folder / "names.csv", folder / "taxonomy.csv"
        taxonomy.write(tree)
        with data.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(("text", "label"))
            names = ((re.sub(r"\s+", " ", taxonomy.name(leaf)), leaf) for leaf in taxonomy.leaves)
            writer.writerows(names)
        options = ("--taxonomy", tree, "--test-size", "0", "--vectors", "off", "--json")
        found = run_command("train", data, *options, "--out", folder / "model")
    bars = [
        bar("train in 5 minutes", found["wall"], 300.0),
        bar("train in 4 GB", found["peak_mib"], 4_000 / 1.048576),
    ]
    found.pop("said")
    return found | {"categories": len(taxonomy.leaves), "bars": bars}


ROWS = dict(zip(NAMES, (from_file, beside_peers, growth, names_as_documents), strict=True))


def run_rows(names: list[str], n_documents: int) -> dict[str, Any]:
    """Run some rows and print their bars."""
    figures = {}
    for name in names:
        figures[name] = ROWS[name](n_documents)
        for found in figures[name]["bars"]:
            print(f"{name}: {found}", flush=True)
    return figures


def run() -> None:
    """Run all rows and record the figures."""
    figures = run_rows([*NAMES], DOCUMENTS)
    print(save("scale", "python -m benchmarks scale", figures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(NAMES))
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    given = parser.parse_args()
    for row in set(given.rows) - set(NAMES):
        parser.error(f"there is no row {row!r}; there are {', '.join(NAMES)}")
    print(json.dumps(run_rows(given.rows or [*NAMES], given.documents), indent=2))
