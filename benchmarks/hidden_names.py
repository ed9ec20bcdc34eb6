"""Categories with a name but without documents: words and sentence vectors, with and without names.

Command: TAXONOMIST_DATA=... python -m benchmarks hidden_names
Needs the extra ``vectors``, which ``.venv-vectors`` of ``make test-vectors`` has. The protocol is
that of ``taxonomist reproduce NAMES``: all documents of a tenth of the categories are hidden in
training, and at most 4,000 documents are used. The parts are corpora.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.record import save_part
from taxonomist.features.onnx_encoder import is_installed

CORPORA: dict[str, dict[str, str]] = {
    "20newsgroups": {"tree": "15"},
    "arxiv-sample": {"labels": "primary"},
    "icd10cm": {},
    "naics2012": {},
    "onet-soc": {},
}
PARTS = tuple(CORPORA)
MOST = 4000
WAYS = {
    "words": {"names": "off", "vectors": "off"},
    "words and names": {"names": "auto", "vectors": "off"},
    "words and vectors": {"names": "off", "vectors": "on"},
    "words, vectors and names": {"names": "auto", "vectors": "on"},
}
MEASURES = ("seen exact", "seen hierarchical_f1", "hidden exact", "hidden hierarchical_f1")


def measure(name: str) -> dict[str, Any]:
    """Return the measures of seen and hidden categories of a corpus in all ways."""
    from taxonomist.experiments.work.hidden_categories import hidden_trial

    warnings.simplefilter("ignore")
    table: dict[str, Any] = {}
    for way, given in WAYS.items():
        start = time.process_time()
        values = hidden_trial(name, most=MOST, **given, **CORPORA[name]).values
        table[way] = {key: float(np.mean(values[key])) for key in MEASURES}
        table[way]["seconds"] = time.process_time() - start
        print(name, way, {key: round(value, 3) for key, value in table[way].items()}, flush=True)
    return table


def run(parts: list[str] | None = None) -> None:
    """Measure the corpora, and record the figures."""
    if not is_installed():
        print("The extra 'vectors' is not installed.")
        return
    for part in parts or PARTS:
        print(save_part("hidden_names", part, measure(part)))
