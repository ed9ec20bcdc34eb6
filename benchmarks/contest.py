"""Contestants that take turns at a problem, each in a process of its own."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path


def run_apart(benchmark: str, file: str, contestant: str, with_quality: bool) -> dict[str, Any]:
    """Measure in a process of its own: a benchmark called with these arguments prints JSON."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", file, contestant]
    done = subprocess.run(
        [*command, str(int(with_quality))], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def take_turns(
    benchmark: str, problem: dict[str, Any], plan: dict[str, int], folder: Path
) -> dict[str, Any]:
    """Let the contestants of a problem take turns for their rounds, and sum up.

    Quality is measured in the first round only. With a contestant ``"one_vs_rest"``, times are
    compared with its own of the same round.
    """
    name = problem["name"]
    file = str(folder / f"{name}.joblib")
    joblib.dump(problem, file)
    rng = np.random.default_rng(0)
    results: dict[str, list[dict[str, Any]]] = {contestant: [] for contestant in plan}
    for number in range(max(plan.values())):
        turn = [contestant for contestant, rounds in plan.items() if number < rounds]
        for contestant in rng.permutation(turn).tolist():
            found = run_apart(benchmark, file, contestant, with_quality=number == 0)
            results[contestant].append(found)
            print(f"{name:16} {contestant:18} {found['fit_s']:8.2f} s", flush=True)
    summary: dict[str, Any] = {
        "items": problem["X"].shape[0],
        "features": problem["X"].shape[1],
        "nodes": problem["taxonomy"].n_nodes,
    }
    baseline = results.get("one_vs_rest")
    for contestant, runs in results.items():
        times = [run["fit_s"] for run in runs]
        summary[contestant] = runs[0] | {
            "fit_s": statistics.median(times),
            "rounds": len(runs),
        }
        if baseline:
            ratios = [a["fit_s"] / b["fit_s"] for a, b in zip(runs, baseline, strict=False)]
            summary[contestant]["over_one_vs_rest"] = statistics.median(ratios)
    return summary
