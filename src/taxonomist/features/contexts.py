"""``ContextFeatures``: the context of a word in a passage, for word sense disambiguation."""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from taxonomist.errors import ParameterError
from taxonomist.features.letters import Unit, split_items
from taxonomist.features.parameters import check_whole
from taxonomist.features.spectrum import unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sklearn.utils import Tags

    from taxonomist._typing import CSR, LabelsLike, Objects

COLLOCATIONS = (
    *((place, place) for place in range(-3, 4)),
    *((-2, -1), (-1, 1), (1, 2), (-3, -1), (-2, 1), (-1, 2), (1, 3)),
)
"""The target word, three neighbours on each side, and phrases of two and three of them."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_TARGET = "_"


class _Context(NamedTuple):
    """A target word and the tokens around it."""

    left: Sequence[str]
    target: str
    right: Sequence[str]
    lemma: str

    def at(self, place: int) -> str:
        """Return the token ``place`` positions after the target; "" outside the passage."""
        if place == 0:
            return _TARGET
        side, index = (self.right, place - 1) if place > 0 else (self.left[::-1], -place - 1)
        return side[index] if index < len(side) else ""


class ContextFeatures(TransformerMixin, BaseEstimator):
    """Collocations of a target word, and the bag of words around it.

    These are the usual features of word sense disambiguation, without parts of speech: words at
    given positions around the target, phrases of such words, and the words that occur anywhere in
    the passage. All features are binary before normalization.

    An item is a triple: the passage before the target, the target word, and the passage after it.
    Both passages are strings or lists of tokens. An optional fourth entry is the lemma shared by
    the forms of the target; the default is the target in lower case.

    Parameters
    ----------
    collocations
        Pairs of the first and last position of a phrase, relative to the target. ``(-1, -1)`` is
        the word before it, ``(-2, 1)`` the two words before it and the one after it. Phrases
        contain ``_`` in place of the target, so different targets can share a phrase; ``(0, 0)``
        is the target itself, in lower case. Positions outside the passage are empty.
    window
        Number of tokens before and after the target that enter the bag of words; None for all, 0
        for no bag. Tokens without a letter or digit are left out.
    min_df
        Drop collocations and words that occur in fewer training items.
    lemma_weight
        Value of the lemma feature, which is not normalized; 0 for none. With larger values, linear
        models confuse senses of different lemmas less often.
    normalize
        Whether to scale the collocations and the bag of words of each item to length 1 (empty ones
        stay 0).
    unit
        How to split strings: ``"token"``, words and single punctuation marks in lower case; or
        ``"char"``, ``"word"`` or a function, as in ``SpectrumFeatures``.

    Attributes
    ----------
    names_
        Names of the columns: collocations, words of the bag, lemmas, each sorted.

    Examples
    --------
    >>> from taxonomist.features import ContextFeatures
    >>> features = ContextFeatures([(-1, -1), (-1, 1)], min_df=1, normalize=False)
    >>> passages = [("They left the", "bar", "at two."), ("He has raised the", "bars", "", "bar")]
    >>> features.fit_transform(passages).toarray()[1].astype(int)
    array([1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1])
    >>> features.get_feature_names_out().tolist()[:5]
    ['(-1, -1) the', '(-1, 1) the _ ', '(-1, 1) the _ at', 'word at', 'word has']
    """

    def __init__(
        self,
        collocations: Any = COLLOCATIONS,
        *,
        window: int | None = None,
        min_df: int = 2,
        lemma_weight: float = 1.0,
        normalize: bool = True,
        unit: Unit = "token",
    ) -> None:
        self.collocations = collocations
        self.window = window
        self.min_df = min_df
        self.lemma_weight = lemma_weight
        self.normalize = normalize
        self.unit = unit

    def fit(self, X: Iterable[object], y: LabelsLike | None = None) -> ContextFeatures:
        """Learn the collocations, words and lemmas.

        Parameters
        ----------
        X
            Items: triples of the passage before the target, the target, and the passage after it,
            optionally with the lemma.
        y
            Ignored; present for API consistency.

        Returns
        -------
        ContextFeatures
            The transformer itself.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Iterable[object], y: object = None) -> CSR:  # noqa: ARG002
        """Learn the features and return those of the items.

        Parameters
        ----------
        X
            Items, as in ``fit``.
        y
            Ignored; present for API consistency.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        least = check_whole("min_df", self.min_df, 1)
        found = self._found(X)
        kept = [
            sorted(name for name, count in Counter(chain.from_iterable(rows)).items() if count >= n)
            for rows, n in zip(found, (least, least, 1), strict=True)
        ]
        if not any(kept):
            raise ParameterError(
                f"No feature occurs in {least} or more of the {len(found[0])} items. "
                "Pass more items, or a smaller min_df."
            )
        self._columns = [{name: place for place, name in enumerate(names)} for names in kept]
        self.names_ = np.array([*chain.from_iterable(kept)], dtype=object)
        return self._rows(found)

    def transform(self, X: Iterable[object]) -> CSR:
        """Return the features of items, ignoring those that ``fit`` did not see.

        Parameters
        ----------
        X
            Items, as in ``fit``.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        check_is_fitted(self)
        return self._rows(self._found(X))

    def get_feature_names_out(self, input_features: object = None) -> Objects:  # noqa: ARG002
        """Return the names of the features in column order.

        Parameters
        ----------
        input_features
            Ignored; present for API consistency.

        Returns
        -------
        ndarray of str, shape (n_features,)
        """
        check_is_fitted(self)
        return self.names_

    def _found(self, X: Iterable[object]) -> list[list[set[str]]]:
        """Return the names of the collocations, the words and the lemma of each item."""
        spans = _check_spans(self.collocations)
        window = None if self.window is None else check_whole("window", self.window, 0)
        if not 0 <= self.lemma_weight < np.inf:
            message = f"lemma_weight must be finite and at least 0. Got {self.lemma_weight!r}."
            raise ParameterError(message)
        contexts = _contexts(X, _tokens if self.unit == "token" else self.unit)
        return [
            [{_phrase(context, *span) for span in spans} for context in contexts],
            [_bag(context, window) for context in contexts],
            [{f"lemma {context.lemma}"} if self.lemma_weight else set() for context in contexts],
        ]

    def _rows(self, found: list[list[set[str]]]) -> CSR:
        """Return features as rows, with the three kinds side by side."""
        from scipy.sparse import csr_array, hstack

        parts = [_ones(rows, columns) for rows, columns in zip(found, self._columns, strict=True)]
        if self.normalize:
            parts[:2] = [unit_rows(part) if part.nnz else part for part in parts[:2]]
        parts[2].data *= self.lemma_weight
        return csr_array(hstack(parts, format="csr"))

    def __sklearn_tags__(self) -> Tags:
        """Declare that items are not a 2-d array."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _tokens(text: str) -> list[str]:
    """Split a text into words and punctuation marks, in lower case."""
    return _TOKEN.findall(text.lower())


def _contexts(X: Iterable[object], unit: Unit) -> list[_Context]:
    if isinstance(X, str | bytes):
        raise TypeError("Items must be a collection of triples. Got one string.")
    items = [_checked(item, i) for i, item in enumerate(X)]
    left, right = (split_items([item[side] for item in items], unit) for side in (0, 2))
    return [
        _Context(before, item[1].lower(), after, (item[3] if len(item) > 3 else item[1]).lower())
        for before, item, after in zip(left, items, right, strict=True)
    ]


def _checked(item: Any, i: int) -> Sequence[Any]:
    is_list = not isinstance(item, str | bytes) and hasattr(item, "__len__")
    if is_list and len(item) in (3, 4) and all(isinstance(word, str) for word in item[1::2]):
        return list(item)
    raise TypeError(
        f"Item {i} is {reprlib.repr(item)}, but items must be triples of the passage before the "
        "target word, the word, and the passage after it, optionally with its lemma."
    )


def _check_spans(collocations: Any) -> list[tuple[int, int]]:
    """Return the distinct collocations as pairs of integers."""
    try:
        spans = [(int(first), int(last)) for first, last in collocations]
    except (TypeError, ValueError):
        spans = [(1, 0)]
    if any(first > last for first, last in spans):
        message = "collocations must be pairs of positions, the first not after the last."
        raise ParameterError(f"{message} Got {collocations!r}.")
    return list(dict.fromkeys(spans))


def _phrase(context: _Context, first: int, last: int) -> str:
    tokens = [context.at(place) for place in range(first, last + 1)]
    return f"({first}, {last}) {' '.join([context.target] if first == last == 0 else tokens)}"


def _bag(context: _Context, window: int | None) -> set[str]:
    """Return the names of the words within the window around the target."""
    n_left = len(context.left) if window is None else window
    near = [*context.left[max(len(context.left) - n_left, 0) :], *context.right[:window]]
    return {f"word {token}" for token in near if any(map(str.isalnum, token))}


def _ones(rows: Iterable[set[str]], columns: dict[str, int]) -> CSR:
    """Return the known features of items as a matrix of ones."""
    from scipy.sparse import csr_array

    known = [sorted(columns[name] for name in row if name in columns) for row in rows]
    ends = np.cumsum([0, *map(len, known)])
    indices = np.fromiter(chain.from_iterable(known), dtype=np.int32, count=ends[-1])
    parts = np.ones(ends[-1]), indices, ends.astype(np.int32)
    return csr_array(parts, shape=(len(known), len(columns)))
