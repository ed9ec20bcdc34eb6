"""What turns texts into sentence vectors: the built-in encoder, a folder, or any function."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np

from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from taxonomist._typing import Codes, Reals

__all__ = [
    "BUILT_IN",
    "EncoderLike",
    "EncoderOptions",
    "FunctionEncoder",
    "TextEncoder",
    "TokenVectors",
    "checked_rows",
    "make_encoder",
]

BUILT_IN = "minilm"
"""Name of the built-in encoder."""

EncoderLike: TypeAlias = "str | PathLike[str] | Callable[[list[str]], ArrayLike]"
"""An encoder as users pass it: a name, a folder, or a function."""


class EncoderOptions(NamedTuple):
    """How texts are encoded; see ``SentenceVectors``.

    Attributes
    ----------
    tokens
        The number of tokens of a window.
    n_windows
        The number of windows that are read at most.
    batch_size
        The largest number of texts of a batch.
    n_threads
        The number of threads.
    """

    tokens: int = 128
    n_windows: int = 1
    batch_size: int = 64
    n_threads: int = 1


class TokenVectors(NamedTuple):
    """The parts of a text's vector.

    Attributes
    ----------
    starts, ends
        The place of each token in the text, (n_tokens,). Both are 0 for tokens that the encoder
        adds.
    values
        The part of each token, (n_tokens, n_features). The parts sum to the vector.
    """

    starts: Codes
    ends: Codes
    values: NDArray[np.float64]


class TextEncoder(Protocol):
    """What ``SentenceVectors`` asks an encoder for."""

    @property
    def fingerprint(self) -> str | None:
        """What identifies the vectors, such as a hash of the weights; None if unknown."""

    def encode(self, texts: Sequence[str]) -> Reals:
        """Return the vectors of texts, (n_items, n_features)."""

    def token_vectors(self, text: str) -> TokenVectors | None:
        """Return the parts of a text's vector; None if the encoder has no tokens."""


class FunctionEncoder:
    """An encoder that calls a function with a list of strings.

    Parameters
    ----------
    function
        Returns an array with one row per text. If it has an attribute ``fingerprint``, a string
        that changes whenever the vectors do, vectors are cached.
    options
        ``batch_size`` is the largest number of texts per call.
    """

    def __init__(self, function: Callable[[list[str]], ArrayLike], options: EncoderOptions) -> None:
        self._function = function
        self._size = options.batch_size

    @property
    def fingerprint(self) -> str | None:
        """What the function says about itself."""
        found = getattr(self._function, "fingerprint", None)
        return found if isinstance(found, str) else None

    def encode(self, texts: Sequence[str]) -> Reals:
        """Return the vectors of texts, which are passed on in batches of similar length."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows = np.empty((len(texts), 0), dtype=np.float32)
        for first in range(0, len(order), self._size):
            batch = order[first : first + self._size]
            found = checked_rows(self._function([texts[i] for i in batch]), len(batch))
            if not first:
                rows = np.empty((len(texts), found.shape[1]), dtype=np.float32)
            if found.shape[1] != rows.shape[1]:
                raise ParameterError(
                    f"The encoder returned vectors of {found.shape[1]} numbers after vectors of "
                    f"{rows.shape[1]}; all must have the same length."
                )
            rows[batch] = found
        return rows

    def token_vectors(self, text: str) -> None:  # noqa: ARG002
        """Return None: a function has no tokens."""
        return


def checked_rows(found: object, n_texts: int) -> NDArray[np.float32]:
    """Return the vectors of an encoder in single precision.

    Raises
    ------
    ParameterError
        If it is not a matrix of finite numbers with one row per text.
    """
    try:
        rows = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"The encoder must return an array of numbers. Got {type(found).__name__}: {error}."
        ) from error
    if rows.ndim != 2 or len(rows) != n_texts or not rows.shape[1]:
        raise ParameterError(
            f"The encoder returned an array of shape {rows.shape} for {n_texts} texts; it must "
            "return one row per text."
        )
    is_bad = ~np.isfinite(rows).all(axis=1)
    if is_bad.any():
        raise ParameterError(
            f"The encoder returned NaN or infinity for {is_bad.sum()} of {n_texts} texts."
        )
    return rows


def make_encoder(encoder: object, options: EncoderOptions) -> TextEncoder:
    """Return the encoder that a user means.

    Parameters
    ----------
    encoder
        ``"minilm"``, a folder, or a function from a list of strings to an array.
    options
        How texts are encoded.

    Raises
    ------
    ParameterError
        If it is none of these, or if a folder lacks a file.
    MissingExtraError
        If the packages that run the built-in encoder or a folder's are not installed.
    """
    if isinstance(encoder, str | PathLike):
        from taxonomist.features import onnx_encoder

        if encoder == BUILT_IN:
            return onnx_encoder.built_in(options)
        return onnx_encoder.of_folder(encoder, options)
    if callable(encoder):
        return FunctionEncoder(encoder, options)
    raise ParameterError(
        f"encoder must be {BUILT_IN!r}, a folder with model.onnx, or a function from a list of "
        f"strings to an array. Got {encoder!r}."
    )
