"""Saving and loading text classifiers."""

from __future__ import annotations

from copy import copy
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from taxonomist import persistence
from taxonomist.errors import ModelFileError
from taxonomist.text.measure import MEASURE
from taxonomist.text.questions import TextQuestions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.features.encoders import EncoderLike
    from taxonomist.text.measure import MeasureLike

__all__ = ["TextFiles"]


class TextFiles(TextQuestions):
    """Methods that save and load text classifiers."""

    vectors: object
    measure: MeasureLike
    model_: Any
    training_: dict[str, Any]

    def save(
        self,
        path: str | PathLike[str],
        *,
        facts: Mapping[str, object] | None = None,
        prune: float | None = None,
    ) -> None:
        """Write the classifier to a folder, without pickle; see ``taxonomist.persistence.save``.

        Parameters
        ----------
        path
            The folder. An existing model is replaced atomically.
        facts
            Facts by name, stored with ``training_``.
        prune
            Fraction of the weights to drop; ``pruning_cost`` returns the effect on measures.
        """
        check_is_fitted(self, "model_")
        known = {**self.training_, **(facts or {})}
        persistence.save(self, path, facts=known, prune=prune)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, mmap: bool = True, encoder: EncoderLike | None = None
    ) -> Self:
        """Load a classifier from a folder; see ``taxonomist.persistence.load``.

        Parameters
        ----------
        path
            The folder.
        mmap
            Whether to map arrays into memory instead of reading them.
        encoder
            The function that the classifier was trained with as ``vectors``, or another place of
            the same encoder. Files hold no functions.

        Raises
        ------
        ModelFileError
            If the folder holds another kind of model, or one whose encoder is missing or another
            one.
        MissingExtraError
            If the packages that run its encoder are not installed.
        """
        found = persistence.load(path, mmap=mmap)
        if not isinstance(found, cls):
            raise ModelFileError(
                f"{path} holds a {type(found).__name__}, which takes vectors and not texts. Load "
                "it with taxonomist.persistence.load."
            )
        vectors = getattr(found, "vectors_", None)
        if vectors is not None:
            if encoder is not None:
                vectors.encoder = encoder
            vectors.check_encoder()
        return found

    def file_state(self) -> dict[str, object]:
        """Return the state to save: all attributes, without functions."""
        state = dict(vars(self))
        if callable(self.measure):
            state["measure"] = MEASURE
        if callable(self.vectors):
            state["vectors"] = "on"
        elif isinstance(self.vectors, PathLike):
            state["vectors"] = fspath(self.vectors)
        return state

    def pruning_cost(self, share: float, texts: Any, labels: Any = None) -> dict[str, float]:
        """Return how much dropping weights changes the measures on held-out texts.

        Parameters
        ----------
        share
            Fraction of the weights to drop, as in ``save``.
        texts, labels
            As in ``evaluate``; items that the model was not trained on.

        Returns
        -------
        dict
            Change of each measure, after pruning minus before.
        """
        smaller = copy(self)
        smaller.model_ = persistence.pruned(self.model_, share)
        before, after = (model.evaluate(texts, labels) for model in (self, smaller))
        return {
            name: after.measures[name].estimate - before.measures[name].estimate
            for name in before.measures
        }
