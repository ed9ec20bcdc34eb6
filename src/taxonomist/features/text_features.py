"""``TextFeatures``: words and character n-grams of texts in any script, weighted by tf-idf."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from taxonomist.errors import ParameterError, some
from taxonomist.features.counted_texts import CountedTexts, Tokenisation, csr_of
from taxonomist.features.spectrum import unit_rows
from taxonomist.features.terms import terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Codes, Floats, Objects, TextLike


class TextFeatures(TransformerMixin, BaseEstimator):
    """Words and character n-grams of texts, weighted by tf-idf, as unit vectors.

    Words are runs of two or more letters, digits and underscores, or single digits, in lower case
    and in Unicode's compatibility form (NFKC): "ﬁsh" with a ligature is "fish". In scripts without
    spaces between words, the terms are pairs of neighbouring characters instead. A count n becomes
    log(1 + n), times ln((1 + N) / (1 + N_u)) + 1 for a term that occurs in N_u of N training items.

    Parameters
    ----------
    words
        The smallest and largest number of words in a term, or None for no word terms.
    characters
        The smallest and largest number of characters in a term, or None for no such terms. N-grams
        lie within words, including the spaces around them. They are useful for short texts,
        compounds and misspellings.
    min_df
        Drop terms that occur in fewer training items, unless no term would remain.
    max_features
        Maximum number of terms; the most frequent are kept. None for no limit.
    weights
        Weight of each column if items have several texts: numbers in column order, or a mapping
        from column names. None for 1 each.

    Attributes
    ----------
    columns_
        Names of the columns if items are mappings, otherwise None.
    column_weights_
        The weight of each column.
    terms_, idf_
        Terms in column order, and their inverse document frequencies, (n_features,).
    vocabulary_
        The column of each term.

    Examples
    --------
    >>> from taxonomist.features import TextFeatures
    >>> features = TextFeatures(min_df=1, weights={"title": 3, "text": 1})
    >>> X = features.fit_transform([{"title": "Black holes", "text": "They shine, 事象の地平面."}])
    >>> features.get_feature_names_out().tolist()[:4]
    ['black', 'holes', 'shine', 'they']
    """

    file_version = 2

    def __init__(
        self,
        *,
        words: tuple[int, int] | None = (1, 1),
        characters: tuple[int, int] | None = None,
        min_df: int = 2,
        max_features: int | None = None,
        weights: Any = None,
    ) -> None:
        self.words = words
        self.characters = characters
        self.min_df = min_df
        self.max_features = max_features
        self.weights = weights

    def fit(self, texts: Iterable[TextLike], y: object = None) -> TextFeatures:  # noqa: ARG002
        """Learn the terms and their inverse document frequencies; see ``fit_counts``."""
        self.fit_counts(texts)
        return self

    def fit_transform(self, texts: Iterable[TextLike], y: object = None) -> CSR:  # noqa: ARG002
        """Learn the terms and their frequencies, and return the vectors of the items.

        Parameters
        ----------
        texts
            As in ``fit_counts``.
        y
            Ignored; present for API consistency.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        return self.weigh(self.fit_counts(texts))

    def fit_counts(self, texts: Iterable[TextLike]) -> CSR:
        """Learn the terms and their frequencies, and return the counts of the items.

        Parameters
        ----------
        texts
            One text per item, or several: a sequence of strings, or a mapping from column names to
            strings. Texts are read once and not kept. Empty texts and None have no terms. The
            result of ``count`` is accepted too.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        if isinstance(texts, CountedTexts):
            self._learn_columns(texts.blank)
            self._check_tokenised(texts)
            counts, names = texts.growing()
        else:
            first, items = _peek(texts)
            self._learn_columns(first)
            counts, names = self._grown(items)
        n_having = np.bincount(counts.indices, minlength=counts.shape[1])
        return csr_array(counts[:, self._learn_terms(names, n_having, counts.shape[0])])

    def frequencies(self, texts: Iterable[TextLike], first: TextLike | None) -> dict[str, int]:
        """Return how many items have each term, with terms in order of first appearance.

        Parameters
        ----------
        texts
            As in ``fit_counts``, some of the training items.
        first
            The first of all training items, which determines the columns.
        """
        counter = TextFeatures(**self.get_params())
        counter._learn_columns(first)
        counts, names = counter._grown(texts)
        n_having = np.bincount(counts.indices, minlength=counts.shape[1])
        return dict(zip(names.tolist(), n_having.tolist(), strict=True))

    def fit_frequencies(
        self, frequencies: Mapping[str, int], n_items: int, first: TextLike | None
    ) -> TextFeatures:
        """Learn the terms and their weights from the frequencies of all training items.

        Parameters
        ----------
        frequencies
            The sums of ``frequencies`` of all parts of the items; terms are in order of first
            appearance.
        n_items
            The number of training items.
        first
            The first of all training items.
        """
        self._learn_columns(first)
        n_having: Codes = np.fromiter(frequencies.values(), np.intp, len(frequencies))
        self._learn_terms(np.array(list(frequencies), dtype=object), n_having, n_items)
        return self

    def _learn_terms(self, names: Objects, n_having: Codes, n_items: int) -> Codes:
        """Learn the terms and their weights; return which of the given terms these are."""
        if not len(names):
            raise ParameterError("No text contains a word; there is nothing to learn from.")
        kept = self._kept(n_having)
        chosen: Codes = kept[np.argsort(names[kept], kind="stable")]
        self.terms_ = names[chosen]
        self.vocabulary_ = {term: column for column, term in enumerate(self.terms_.tolist())}
        self.idf_ = np.log((1 + n_items) / (1 + n_having[chosen])) + 1
        return chosen

    def transform(self, texts: Iterable[TextLike]) -> CSR:
        """Return the vectors of items, ignoring unknown terms.

        Parameters
        ----------
        texts
            As in ``fit_counts``.

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        return self.weigh(self.counts(texts))

    def counts(self, texts: Iterable[TextLike]) -> CSR:
        """Return the term counts of items, multiplied by the weights of their columns."""
        check_is_fitted(self, "idf_")
        known = self.vocabulary_
        if isinstance(texts, CountedTexts):
            self._check_tokenised(texts)
            return texts.known(known)
        return self._counted(texts, known, known.get)

    def count(self, texts: Iterable[TextLike]) -> CountedTexts:
        """Tokenise texts once, for any number of fits to subsets of them.

        Unless the features are fitted, the first item determines the columns of all items.

        Parameters
        ----------
        texts
            As in ``fit_counts``. The result keeps them in memory.

        Returns
        -------
        CountedTexts
            Can be indexed like an array, and passed to all methods instead of texts.
        """
        given = list(texts if isinstance(texts, CountedTexts) else _peek(texts)[1])
        counter = self
        if not hasattr(self, "idf_"):
            counter = TextFeatures(**self.get_params())
            counter._learn_columns(given[0] if given else None)
        counts, names = counter._grown(given)
        return CountedTexts(given, counts, names, counter._tokenisation)

    def known_share(self, texts: Iterable[Any]) -> Floats:
        """Return the fraction of each item's terms that are features, (n_items,); 0 if no terms.

        Terms count as often as they occur, times the weights of their columns.
        """
        counted = texts if isinstance(texts, CountedTexts) else self.count(texts)
        known = np.asarray(self.counts(counted).sum(axis=1)).ravel()
        return known / np.maximum(counted.totals, np.finfo(float).tiny)

    def weigh(self, counts: CSR) -> CSR:
        """Weight counts by tf-idf and scale the rows to length 1."""
        counts = csr_array(
            (np.log1p(counts.data) * self.idf_[counts.indices], counts.indices, counts.indptr),
            shape=counts.shape,
        )
        return csr_array(unit_rows(counts))

    def get_feature_names_out(self, input_features: object = None) -> Objects:  # noqa: ARG002
        """Return the terms in column order; character n-grams are in quotes."""
        check_is_fitted(self, "idf_")
        terms: Objects = self.terms_
        return terms

    def _learn_columns(self, first: TextLike | None) -> None:
        """Learn the columns and their weights from the first item."""
        if not self.words and not self.characters:
            raise ParameterError("words and characters are both None; pass at least one of them.")
        self.columns_ = list(first) if isinstance(first, Mapping) else None
        self.column_weights_ = self._column_weights(first)

    @property
    def _tokenisation(self) -> Tokenisation:
        return Tokenisation(
            words=tuple(self.words) if self.words else None,
            characters=tuple(self.characters) if self.characters else None,
            columns=None if self.columns_ is None else tuple(self.columns_),
            weights=tuple(self.column_weights_),
        )

    def _check_tokenised(self, counted: CountedTexts) -> None:
        """Raise if the texts were tokenised with other parameters."""
        if counted.tokenisation != self._tokenisation:
            raise ParameterError(
                f"The texts were counted with {counted.tokenisation}, but these features use "
                f"{self._tokenisation}; count them again."
            )

    def _grown(self, items: Iterable[TextLike]) -> tuple[CSR, Any]:
        """Return the term counts of items, and the terms in order of first appearance."""
        growing: defaultdict[str, int] = defaultdict()
        growing.default_factory = growing.__len__
        counts = self._counted(items, growing, growing.__getitem__)
        return counts, np.array(list(growing), dtype=object)

    def _counted(
        self,
        items: Iterable[TextLike],
        vocabulary: dict[str, int],
        column_of: Callable[[str], int | None],
    ) -> CSR:
        """Count the terms of items, multiplied by the weights of their columns."""
        columns, values, ends = array("q"), array("d"), array("q", [0])
        for number, item in enumerate(items):
            counts: dict[int, float] = {}
            for weight, text in self.parts(item, number):
                for term in terms(text, self.words, self.characters):
                    column = column_of(term)
                    if column is not None:
                        counts[column] = counts.get(column, 0.0) + weight
            columns.extend(counts)
            values.extend(counts.values())
            ends.append(len(columns))
        indices, indptr = np.frombuffer(columns, "q"), np.frombuffer(ends, "q")
        return csr_of(indices, np.frombuffer(values), indptr, len(vocabulary))

    def parts(self, item: object, number: int = 0) -> list[tuple[float, str]]:
        """Return the texts of an item with their weights."""
        if isinstance(item, Mapping):
            values = [item.get(column) for column in self.columns_ or item]
        elif isinstance(item, str) or not isinstance(item, Iterable):
            values = [item]
        else:
            values = list(item)
        if len(values) != len(self.column_weights_):
            raise ParameterError(
                f"Item {number} has {len(values)} texts, but the first training item has "
                f"{len(self.column_weights_)}; pass the same columns for each item."
            )
        pairs = zip(self.column_weights_, values, strict=True)
        return [(weight, _as_text(value, number)) for weight, value in pairs if weight]

    def _column_weights(self, first: Any) -> list[float]:
        is_one = first is None or isinstance(first, str) or not isinstance(first, Iterable)
        n_columns = 1 if is_one else len(first)
        if isinstance(self.weights, Mapping):
            unknown = [name for name in self.weights if name not in (self.columns_ or ())]
            if unknown:
                have = some(self.columns_ or ["(one text without a name)"])
                raise ParameterError(f"weights has {some(unknown)}, but the columns are {have}.")
            found = [float(self.weights.get(name, 1.0)) for name in self.columns_ or ()]
        else:
            found = [1.0] * n_columns if self.weights is None else [*map(float, self.weights)]
        if len(found) != n_columns or not all(0 <= weight < np.inf for weight in found):
            raise ParameterError(
                f"weights must be {n_columns} finite numbers of at least 0, one for each column of "
                f"texts. Got {self.weights!r}."
            )
        return found

    def _kept(self, n_having: Codes) -> Codes:
        """Return the terms that are frequent enough, given how many items have each."""
        kept = np.flatnonzero(n_having >= self.min_df)
        if not len(kept):
            kept = np.arange(len(n_having))
        if self.max_features is not None and len(kept) > self.max_features:
            order = np.argsort(-n_having[kept], kind="stable")
            kept = np.sort(kept[order[: self.max_features]])
        return kept


def _peek(texts: Iterable[TextLike]) -> tuple[TextLike | None, Iterator[TextLike]]:
    """Return the first item (None if there is none) and an iterator over all items."""
    if isinstance(texts, (str, Mapping)):
        raise TypeError("texts must be a sequence with one entry per item, not a single text.")
    items = iter(texts)
    try:
        first = next(items)
    except StopIteration:
        return None, iter(())
    return first, chain([first], items)


def _as_text(value: object, number: int) -> str:
    """Return a text; None and NaN become empty."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    raise TypeError(f"Item {number} is not a text but {type(value).__name__}: {value!r}.")
