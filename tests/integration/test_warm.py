"""``taxonomist warm`` compiles what commands need later."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TRAIN = """
import sys
from taxonomist.compiled import compiling
from taxonomist import datasets
from taxonomist.text import MODELS, TextClassifier
compiling.watch.is_announced = True
for labels in ("primary", "all"):
    corpus = datasets.load("arxiv-sample", labels=labels)
    texts, sets, taxonomy = corpus.texts[::50], corpus.labels[::50], corpus.taxonomy.spanning_tree()
    for name in MODELS:
        folder = f"{sys.argv[1]}/{labels}-{name}"
        model = TextClassifier(taxonomy, model=name).fit(texts, sets)
        model.answer(texts[:2]).topk(2)
        model.save(folder)
        TextClassifier.load(folder).answer(texts[:2]).topk(2)
print(compiling.watch.seconds)
"""


@pytest.mark.slow
def test_after_warm_nothing_is_compiled(tmp_path):
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "taxonomist", "warm"]
    first, second = (
        subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    )
    assert first.splitlines()[-1].startswith("Compiled in ")
    assert second.splitlines()[-1] == "Everything was compiled."
    train = [sys.executable, "-c", TRAIN, tmp_path]
    done = subprocess.run(train, env=settings, capture_output=True, text=True, check=True)
    assert float(done.stdout) == 0.0
