"""A report with every section, and what a browser makes of a page."""

import shutil
import subprocess
from typing import NamedTuple

import numpy as np
import pytest

from taxonomist.evaluation import Comparison, LearningCurve, assess
from taxonomist.evaluation.measures import MEASURES
from taxonomist.report import write_report
from taxonomist.taxonomy import Taxonomy

EVIL = "<script>alert(1)</script>"
"""What no text may get away with; its first use would stop the browser."""

IMAGE = "<img src=x onerror=\"document.title='broken'\">"

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Trial(NamedTuple):
    model: str
    score: float


def shop():
    """A small taxonomy whose names are not to be trusted."""
    return Taxonomy.from_edges(
        [
            ("garden", "spade"),
            ("garden", EVIL),
            ("kitchen", "pan"),
            ("kitchen", "pot"),
            ("kitchen", "spade & fork"),
        ],
        names={"garden": f"The {IMAGE} garden", "pan": "Pan </script > & co"},
    )


def curve(offset):
    values = np.array([[0.3, 0.4], [0.5, 0.6], [0.7, 0.7]]) + offset
    counts = np.ones((3, 2), dtype=np.intp)
    measures = (MEASURES["accuracy"],)
    return LearningCurve(measures, (1, 4, 16), {"accuracy": values}, counts, values)


def full_report(path, is_multilabel=False):
    """Write a report with all that it can hold."""
    taxonomy = shop()
    truth = [EVIL, "spade", "pan", "pot", "pot", "spade & fork"] * 5
    predicted = ["spade", "spade", EVIL, "pot", "pan", "spade & fork"] * 5
    if is_multilabel:
        truth, predicted = ([[label, "pot"] for label in y] for y in (truth, predicted))
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(len(taxonomy.leaves)), size=len(truth))
    assessment = assess(
        truth,
        predicted,
        taxonomy,
        probabilities=P,
        classes=taxonomy.leaves,
        texts=[f"{EVIL} text {i} {IMAGE}" for i in range(len(truth))],
    )
    flat = Comparison(
        {
            "hierarchical": {"accuracy": np.arange(12) + 0.5, "taxonomy_loss": np.arange(12) + 2.0},
            "flat": {"accuracy": np.arange(12) + 0.1, "taxonomy_loss": np.arange(12) + 1.0},
        },
        baseline="flat",
    )
    write_report(
        path,
        assessment,
        title=f"Shop {EVIL}",
        taxonomy=taxonomy,
        model_facts={
            "model": f"SVM {EVIL}",
            "n_items": 12345,
            "seconds": 1.23456,
            "calibrated": True,
            "measures": {"accuracy": 0.5},
            "search": [Trial("svm", 0.5), {"model": EVIL, "score": 0.4, "chosen": True}],
        },
        learning_curve={"hierarchical": curve(0), "flat": curve(-0.1)},
        flat=flat,
        words={"garden": [(EVIL, 2.5), ("green", 1.0)], "pan": [("iron", 0.5)]},
    )
    return assessment


def browser():
    """The path of a Chromium; a test is skipped where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium on this machine: apt-get install chromium")


def run_browser(folder, *arguments):
    """Run a headless browser with an empty profile and return what it prints."""
    profile = folder / "profile"
    command = [browser(), *FLAGS, f"--user-data-dir={profile}", *arguments]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    return done.stdout.decode("utf-8")
