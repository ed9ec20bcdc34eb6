"""Spectra of 7,700 proteins, beside scikit-learn's ``CountVectorizer``, and the gapped kernel.

Command: TAXONOMIST_DATA=... python -m benchmarks string_kernels
Bar: the length-4 spectrum takes seconds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from time import perf_counter
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.record import on_one_core, peak_memory_mib, save
from taxonomist import datasets
from taxonomist.features import SequenceCodes, SpectrumFeatures
from taxonomist.kernels import GappedKernel

ROUNDS = 7
PAIRED = 100
"""Proteins whose Gram matrix is computed."""


def seconds(function: Any, *arguments: Any) -> float:
    start = perf_counter()
    function(*arguments)
    return perf_counter() - start


def spectrum_figures(texts: list[str], lengths: tuple[int, int]) -> dict[str, float]:
    """Return the times of both, and of ours as a share of theirs."""
    ours = SpectrumFeatures(lengths, normalize=False)
    theirs = CountVectorizer(analyzer="char", ngram_range=lengths, lowercase=False)
    fit, fit_theirs = (seconds(one.fit_transform, texts) for one in (ours, theirs))
    transform, transform_theirs = (seconds(one.transform, texts) for one in (ours, theirs))
    return {
        "fit_transform_s": fit,
        "transform_s": transform,
        "fit_transform_ratio": fit / fit_theirs,
        "transform_ratio": transform / transform_theirs,
    }


def kernel_figures(texts: list[str]) -> dict[str, float]:
    """Return what a pair takes in one thread, and the first call, which loads what is compiled."""
    codes = SequenceCodes().fit_transform(texts)
    kernel = GappedKernel(4, n_jobs=1)
    first = seconds(kernel, codes[:2])
    n_pairs = len(texts) * (len(texts) + 1) / 2
    return {"pair_us": 1e6 * seconds(kernel, codes) / n_pairs, "first_call_s": first}


def measure() -> dict[str, float]:
    """Measure all once and return what it took."""
    texts = list(datasets.load("enzyme-ec").train().texts)
    figures = {"items": len(texts), "letters": sum(map(len, texts))}
    parts = {
        "length_4": spectrum_figures(texts, (4, 4)),
        "lengths_1_to_4": spectrum_figures(texts, (1, 4)),
        "gapped_kernel_4": kernel_figures(texts[:PAIRED]),
    }
    for name, part in parts.items():
        figures |= {f"{name}_{key}": value for key, value in part.items()}
    gapped = SpectrumFeatures(4, max_gaps=2)
    figures["length_4_max_gaps_2_fit_transform_s"] = seconds(gapped.fit_transform, texts)
    return figures | {"peak_memory_mib": peak_memory_mib()}


def run() -> None:
    """Measure in fresh processes on one core, and record the medians."""
    rounds = []
    for _ in range(ROUNDS):
        command = [sys.executable, "-m", "benchmarks.string_kernels"]
        pinned = [*on_one_core(), *command]
        done = subprocess.run(pinned, capture_output=True, encoding="utf-8", check=True)
        rounds.append(json.loads(done.stdout))
    medians = {key: statistics.median(entry[key] for entry in rounds) for key in rounds[0]}
    worst = {key: max(entry[key] for entry in rounds) for key in rounds[0]}
    figures = {"rounds": ROUNDS, "median": medians, "worst": worst}
    print(json.dumps(figures, indent=2))
    print(save("string_kernels", "python -m benchmarks string_kernels", figures))


if __name__ == "__main__":
    print(json.dumps(measure()))
