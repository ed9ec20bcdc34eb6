"""What the first commands compile, with an empty cache, when the default model is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

WATCH = """
import json, sys, time
from numba.core import event

class Watch(event.Listener):
    depth, start, seconds, loops = 0, 0.0, 0.0, []

    def on_start(self, event):
        if self.depth == 0:
            self.start = time.process_time()
        self.depth += 1

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.start
            self.loops.append(event.data["dispatcher"].py_func.__name__)

watch = Watch()
event.register("numba:compile", watch)
from taxonomist.cli.app import app
app(json.loads(sys.argv[1]), standalone_mode=False)
print(json.dumps([watch.seconds, watch.loops]), file=sys.stderr)
"""

LOOPS = {"solve_jobs", "score_blocks", "choose_categories"}


def compiled_by(cache, *arguments):
    """Run a command with a cache of loops; return the CPU seconds of compiling, and the loops."""
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", WATCH, json.dumps([*map(str, arguments)])]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    seconds, loops = json.loads(done.stderr.splitlines()[-1])
    return seconds, loops


def training(tmp_path, kind):
    """Write a small table and a taxonomy; return the command that trains a model on them."""
    labels = ["cat", "dog", "oak"] if kind == "single" else ["cat;oak", "dog", "oak"]
    own = ["purrs", "barks", "grows"]
    # More features than Newton's method is used for.
    words = [" ".join(f"w{d}x{k // d}" for d in (3, 4, 5, 6, 7, 8)) for k in range(143)]
    rows = [f"{k},{own[k % 3]} {words[k]},{labels[k % 3]}" for k in range(143)]
    (tmp_path / "data.csv").write_text("\n".join(["id,text,label", *rows]))
    (tmp_path / "taxonomy.csv").write_text("parent,child\nanimal,cat\nanimal,dog\nplant,oak\n")
    train = ["train", tmp_path / "data.csv", "-t", tmp_path / "taxonomy.csv", "--separator", ";"]
    return [*train, "--out", tmp_path / "model"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["single", "sets"])
def test_a_first_training_compiles_for_less_than_five_seconds(kind, tmp_path):
    seconds, _ = compiled_by(tmp_path / "cache", *training(tmp_path, kind))
    assert seconds < 5


@pytest.mark.parametrize("kind", [pytest.param("single", marks=pytest.mark.slow), "sets"])
def test_a_first_training_compiles_few_loops_and_a_first_prediction_fewer(kind, tmp_path):
    train = training(tmp_path, kind)
    _, loops = compiled_by(tmp_path / "cache", *train)
    assert "solve_jobs" in loops
    assert len(loops) == len(set(loops) & LOOPS)
    assert compiled_by(tmp_path / "cache", *train) == (0.0, [])
    predict = ["predict", tmp_path / "model", "--text", "it purrs", "--top", "1"]
    assert compiled_by(tmp_path / "cache", *predict) == (0.0, [])
    # One text needs no loop.
    assert compiled_by(tmp_path / "other", *predict) == (0.0, [])
    rows = tmp_path / "data.csv"
    seconds, loops = compiled_by(tmp_path / "other", "predict", tmp_path / "model", rows)
    assert set(loops) <= {"score_blocks", "path_scores", "choose_categories"}
    assert seconds < 2
