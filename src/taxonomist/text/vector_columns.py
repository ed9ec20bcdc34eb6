"""Sentence vectors beside the words of a text classifier: whether, which and how much."""

from __future__ import annotations

import logging
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from sklearn.base import clone

from taxonomist.errors import ParameterError, closest
from taxonomist.features import SentenceVectors
from taxonomist.features.encoders import BUILT_IN
from taxonomist.features.stored_texts import StoredTexts
from taxonomist.text.budget import Budget
from taxonomist.text.joined_columns import join
from taxonomist.text.models import choice_of
from taxonomist.text.vector_weight import WeightTrial, try_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Reals, TextLike
    from taxonomist.features import TextFeatures
    from taxonomist.features.encoders import EncoderLike
    from taxonomist.text.search import SearchStep
    from taxonomist.text.vector_weight import WeightProblem

__all__ = [
    "VECTORS",
    "ChosenVectors",
    "check_vectors",
    "choose_vectors",
    "wanted_vectors",
    "whole_texts",
]

logger = logging.getLogger(__name__)

VECTORS = ("auto", "on", "off")
"""Words for the parameter ``vectors``."""
WORDS_DO = "words alone do as well on held-out items"
N_TIMED = 32
"""Texts that are encoded to find out how long all will take."""


class ChosenVectors(NamedTuple):
    """The sentence vectors of the training items.

    Attributes
    ----------
    vectors
        The fitted transformer; None if the vectors are not used.
    weight
        The weight beside words.
    rows
        The vectors of the training items; None if they are not used.
    names
        The vectors of the names; None if there are none, or if they are not used.
    trials
        The weights that were tried, best first.
    note
        Why the vectors are not used; empty if they are.
    """

    vectors: SentenceVectors | None
    weight: float
    rows: NDArray[np.float32] | None
    names: Reals | None
    trials: list[WeightTrial]
    note: str = ""

    def beside(self, words: CSR) -> CSR:
        """Return the words of the training items, with the vectors beside them if they are used."""
        return words if self.rows is None else join(words, self.rows, self.weight)

    @property
    def facts(self) -> dict[str, object]:
        """The choice as plain data."""
        return {
            "encoder": None if self.vectors is None else self.vectors.fingerprint_,
            "weight": self.weight,
            "trials": [dict(trial._asdict()) for trial in self.trials],
            "said": self._said,
        }

    @property
    def _said(self) -> str:
        """A sentence about the choice."""
        if self.note:
            return f"Sentence vectors are not used: {self.note}."
        said = f"Sentence vectors have the weight {self.weight:g} beside words"
        found = {trial.weight: trial.likelihood for trial in self.trials}
        if 0.0 not in found:
            return f"{said}."
        return (
            f"{said}: log-likelihood of a held-out item {found[self.weight]:.2f}, with words alone "
            f"{found[0.0]:.2f}."
        )


def check_vectors(given: object) -> None:
    """Raise if the parameter ``vectors`` of a classifier is invalid."""
    is_known = isinstance(given, SentenceVectors | PathLike) or callable(given)
    if not is_known and not isinstance(given, str):
        raise ParameterError(
            f"vectors must be 'auto', 'on', 'off', a SentenceVectors, a folder with an encoder, or "
            f"a function from a list of strings to an array. Got {given!r}."
        )
    if isinstance(given, str) and given not in (*VECTORS, BUILT_IN):
        from pathlib import Path

        if not Path(given).expanduser().is_dir():
            raise ParameterError(
                "vectors must be 'auto', 'on', 'off', or a folder with an encoder. Got "
                f"{given!r}.{closest(given, VECTORS)}"
            )


def wanted_vectors(given: object, model: object, n_jobs: int | None) -> SentenceVectors | None:
    """Return the unfitted transformer to try beside words; None for words alone.

    Parameters
    ----------
    given, model, n_jobs
        The parameters ``vectors``, ``model`` and ``n_jobs`` of the classifier.

    Raises
    ------
    ParameterError
        If the model takes word counts, and vectors are asked for.
    """
    if isinstance(given, str) and given == "off":
        return None
    is_auto = isinstance(given, str) and given == "auto"
    if _takes_counts(model):
        if is_auto:
            return None
        raise ParameterError(
            f"The model {model!r} takes word counts and cannot use sentence vectors. Use another "
            "model, such as 'path', or vectors='off'."
        )
    if is_auto:
        from taxonomist.features.onnx_encoder import is_installed

        if not is_installed():
            return None
    if isinstance(given, SentenceVectors):
        copied: SentenceVectors = clone(given)
        return copied
    is_built_in = isinstance(given, str) and given in ("auto", "on")
    encoder = BUILT_IN if is_built_in else cast("EncoderLike", given)
    return SentenceVectors(encoder, n_jobs=n_jobs)


def choose_vectors(
    vectors: SentenceVectors,
    features: TextFeatures,
    items: Iterable[TextLike],
    problem: WeightProblem,
    *,
    seconds: float | None,
    weight: float | None = None,
    callback: Callable[[SearchStep], object] | None = None,
) -> ChosenVectors:
    """Encode the training texts, and choose the weight of their vectors.

    Parameters
    ----------
    vectors
        The unfitted transformer.
    features
        The fitted features of words, which know the columns.
    items
        The training texts.
    problem
        The items that weights are tried on, still without their vectors.
    seconds
        How long encoding and choosing may take; None for no limit.
    weight
        The weight, if it is known.
    callback
        Called with each step.
    """
    from taxonomist.text.search import SearchStep

    def on_step(what: str) -> None:
        if callback is not None:
            callback(SearchStep(0, 0, what, None, budget.left))

    budget, names = Budget(seconds), problem.names
    if budget.is_limited and isinstance(items, StoredTexts):
        return no_vectors("the texts do not fit into memory")
    texts = whole_texts(features, items)
    everything = [*texts, *(() if names is None else names.texts)]
    if budget.is_limited:
        on_step("timing the encoder")
        expected = _encoding_seconds(vectors, everything, budget)
        if expected > budget.left:
            note = (
                f"encoding {len(everything):,} texts would take about {expected:.0f} s, and "
                f"{seconds:g} s are allowed"
            )
            logger.info("Sentence vectors are left out: %s.", note)
            return no_vectors(note)
    on_step("encoding texts")
    encoded = vectors.encode(
        everything, lambda done, total: on_step(f"encoding texts, {done} of {total}")
    )
    rows = vectors.fit_encoded(encoded[: len(texts)])
    if names is not None:
        names = names._replace(rows=vectors.centred(encoded[len(texts) :]))
    trials: list[WeightTrial] = []
    if weight is None:
        weight, trials = try_weights(
            problem._replace(rows=rows, names=names),
            lambda: not budget.left,
            lambda each: on_step(f"vectors with weight {each:g}"),
        )
    if not weight:
        is_cut = len(trials) == 1
        note = "no time was left to choose their weight" if is_cut else WORDS_DO
        return ChosenVectors(None, 0.0, None, None, trials, note)
    return ChosenVectors(vectors, weight, rows, None if names is None else names.rows, trials)


def no_vectors(note: str) -> ChosenVectors:
    """Return the choice of words alone, for a reason."""
    return ChosenVectors(None, 0.0, None, None, [], note)


def whole_texts(features: TextFeatures, texts: Iterable[TextLike]) -> list[str]:
    """Return the texts of each item as one, without columns of weight 0."""
    return ["\n".join(part for _, part in features.parts(item, i)) for i, item in enumerate(texts)]


def _encoding_seconds(vectors: SentenceVectors, texts: Sequence[str], budget: Budget) -> float:
    """Return how long encoding will take, by encoding some of the texts."""
    missing = vectors.missing(texts)
    if not missing:
        return 0.0
    some = np.random.default_rng(0).permutation(len(missing))[:N_TIMED].tolist()
    # The first call loads the encoder.
    vectors.encode([missing[some[0]]])
    start = budget.clock()
    vectors.encode([missing[k] for k in some])
    return (budget.clock() - start) * len(missing) / max(1, len(some) - 1)


def _takes_counts(model: object) -> bool:
    """Return whether a model takes word counts; the search tries both kinds."""
    if isinstance(model, str):
        return model != "auto" and choice_of(model).counts
    return bool(getattr(getattr(model, "traits", None), "takes_counts", False))
