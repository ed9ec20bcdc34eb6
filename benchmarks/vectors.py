"""Sentence vectors: how fast texts are encoded, and what tokens and windows cost.

Command: python -m benchmarks vectors
Needs the extra ``vectors``, which ``.venv-vectors`` of ``make test-vectors`` has. Texts are made of
common English words. Seconds of the processor and of the clock are for as many threads as there are
cores, the cache is off, and the encoder is loaded before. The bar is 10,000 texts of 60 words in
150 s on 2 cores.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.record import save
from taxonomist.features.onnx_encoder import is_installed

LENGTHS = {3: 600, 12: 400, 60: 200, 180: 100}
"""Number of texts by number of words."""
OPTIONS: dict[str, dict[str, Any]] = {
    "first 128 tokens": {},
    "first 64 tokens": {"tokens": 64},
    "mean of windows of 128": {"windows": "mean"},
}
BATCH_TOKENS = (64, 128, 256, 512, 2048)
ROUNDS = 3
BAR_TEXTS, BAR_WORDS, BAR_SECONDS = 10_000, 60, 150


def texts_of(n_words: int, n_texts: int) -> list[str]:
    """Return texts of some length out of common words, which differ in their number by a third."""
    import gzip

    from taxonomist.features.onnx_encoder import VOCABULARY

    words = gzip.decompress(VOCABULARY.read_bytes()).decode().splitlines()[2000:8000]
    words = [word for word in words if word.isalpha()]
    rng = np.random.default_rng(n_words)
    sizes = rng.integers(max(1, n_words * 2 // 3), n_words * 4 // 3 + 1, size=n_texts)
    return [" ".join(rng.choice(words, size)) for size in sizes]


def best_seconds(encoder: Any, texts: list[str]) -> dict[str, float]:
    """Return the least seconds of the processor and of the clock out of some rounds."""
    found = []
    for _ in range(ROUNDS):
        start, work = time.perf_counter(), time.process_time()
        encoder.encode(texts)
        found.append((time.process_time() - work, time.perf_counter() - start))
    return {"processor_s": min(cpu for cpu, _ in found), "clock_s": min(s for _, s in found)}


def rates() -> dict[str, Any]:
    """Return texts a second of the processor, by options and length."""
    from taxonomist.features import SentenceVectors

    table: dict[str, Any] = {}
    for title, options in OPTIONS.items():
        vectors = SentenceVectors(cache=None, **options)
        encoder = vectors._encoder()
        encoder.encode(["a"])
        for n_words, n_texts in LENGTHS.items():
            times = best_seconds(encoder, texts_of(n_words, n_texts))
            row = {"texts": n_texts, **times, "texts_per_core_s": n_texts / times["processor_s"]}
            table.setdefault(title, {})[str(n_words)] = row
            print(f"{title:24} {n_words:4} words {row['texts_per_core_s']:7.1f} a core second")
    return table


def batches() -> dict[str, Any]:
    """Return texts a second of the processor by the number of tokens in a batch."""
    from taxonomist.features import SentenceVectors, onnx_encoder

    usual, table = onnx_encoder.TOKENS_PER_BATCH, {}
    encoder, texts = SentenceVectors(cache=None, batch_size=4096)._encoder(), texts_of(12, 400)
    for n_tokens in BATCH_TOKENS:
        onnx_encoder.TOKENS_PER_BATCH = n_tokens
        table[str(n_tokens)] = len(texts) / best_seconds(encoder, texts)["processor_s"]
        print(f"batches of {n_tokens:5} tokens    {table[str(n_tokens)]:7.1f} a core second")
    onnx_encoder.TOKENS_PER_BATCH = usual
    return table


def bar() -> dict[str, float]:
    """Return the seconds of the bar's texts."""
    from taxonomist.features import SentenceVectors

    texts = texts_of(BAR_WORDS, BAR_TEXTS)
    encoder = SentenceVectors(cache=None)._encoder()
    encoder.encode(texts[:8])
    start, work = time.perf_counter(), time.process_time()
    encoder.encode(texts)
    cpu, clock = time.process_time() - work, time.perf_counter() - start
    found = {"bar_s": BAR_SECONDS, "clock_s": clock, "processor_s": cpu}
    print(
        f"10,000 texts of 60 words: {found['clock_s']:.0f} s by the clock, "
        f"{cpu:.0f} s of the processor (bar: {BAR_SECONDS} s on 2 cores)"
    )
    return found


def run() -> None:
    """Measure, and record the figures."""
    if not is_installed():
        print("The extra 'vectors' is not installed.")
        return
    figures = {"rates": rates(), "tokens_per_batch": batches(), "bar": bar()}
    print(save("vectors", "python -m benchmarks vectors", figures))
