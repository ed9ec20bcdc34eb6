"""The command line end to end: start-up, training, documents a second, and memory.

Command: python -m benchmarks command_line
Every command runs in a process of its own, as users run it. Documents have 100 words, there are
500 categories below two further levels. ``train`` reads 10,000 of them from CSV; ``predict`` reads
growing numbers of rows, the last a million, and its peak memory must not grow with them. The
slope between two sizes is the speed without start-up.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.record import save
from benchmarks.synthetic_text import draw_words

if TYPE_CHECKING:
    from collections.abc import Iterator

N_TRAIN = 10_000
N_TOKENS = 100
N_CHILDREN = 5
SIZES = (20_000, 100_000, 1_000_000)
BLOCK = 20_000
ROUNDS = 5

# Runs the command and reports the most memory that it held.
MEASURED = """
import sys
from taxonomist.cli import main
try:
    main()
finally:
    from taxonomist.experiments.work.memory import peak_mib
    print(peak_mib(), file=sys.stderr)
"""


def run_command(*arguments: str) -> tuple[float, float, str]:
    """Return the seconds, the peak memory in MiB, and the output of a command."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    seconds = perf_counter() - start
    if done.returncode:
        sys.exit(done.stderr)
    return seconds, float(done.stderr.splitlines()[-1]), done.stdout


def write_rows(path: Path, n_items: int, seed: int) -> None:
    """Write documents as CSV, a block at a time."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "code"])
        for first in range(0, n_items, BLOCK):
            for number, (text, leaf) in enumerate(_documents(min(BLOCK, n_items - first), seed)):
                writer.writerow([first + number, text, leaf])
            seed += 1


def _documents(n_items: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield texts and leaves."""
    words, leaves, _ = draw_words(n_items, seed, n_children=N_CHILDREN, n_tokens=N_TOKENS)
    for row, leaf in zip(words.tolist(), leaves.tolist(), strict=True):
        yield " ".join(f"w{code}" for code in row), leaf


def measure_training(folder: Path) -> dict[str, Any]:
    """Train on documents with one model and with a search."""
    _, _, taxonomy = draw_words(1, n_children=N_CHILDREN)
    taxonomy.write(folder / "taxonomy.csv")
    write_rows(folder / "train.csv", N_TRAIN, seed=0)
    found: dict[str, Any] = {}
    for model in ("svm", "auto"):
        data = [str(folder / "train.csv"), "--taxonomy", str(folder / "taxonomy.csv")]
        options = ["--label", "code", "--out", str(folder / model), "--model", model, "--json"]
        seconds, memory, output = run_command("train", *data, *options)
        measures = json.loads(output)["measures"]
        found[model] = {
            "seconds": seconds,
            "peak_memory_mib": memory,
            "hierarchical_f1": measures["hierarchical_f1"]["value"],
        }
        print(model, json.dumps(found[model]), flush=True)
    return found


def measure_prediction(folder: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Predict growing numbers of rows from CSV to CSV."""
    found: dict[str, Any] = {}
    for size in sizes:
        rows = folder / "rows.csv"
        write_rows(rows, size, seed=1000)
        data = ["predict", str(folder / "svm"), str(rows), "--out", str(folder / "out.csv")]
        seconds, memory, _ = run_command(*data)
        found[str(size)] = {
            "seconds": seconds,
            "documents_per_second": size / seconds,
            "peak_memory_mib": memory,
        }
        print(size, json.dumps(found[str(size)]), flush=True)
        os.remove(rows)
    return found


def run(sizes: tuple[int, ...] = SIZES) -> None:
    """Measure all and record the figures."""
    help_seconds = [run_command("--help")[0] for _ in range(ROUNDS)]
    figures: dict[str, Any] = {"help_seconds": statistics.median(help_seconds)}
    with tempfile.TemporaryDirectory() as folder:
        figures["train"] = measure_training(Path(folder))
        figures["predict"] = measure_prediction(Path(folder), sizes)
    print(save("command_line", "python -m benchmarks command_line", figures))
