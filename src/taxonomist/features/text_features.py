"""``TextFeatures``: words and character n-grams of texts in any script, weighted by tf-idf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from taxonomist._spill import mapped
from taxonomist.errors import ParameterError
from taxonomist.features.count_rows import side_by_side
from taxonomist.features.counted_texts import CountedTexts
from taxonomist.features.stored_texts import kept_texts
from taxonomist.features.term_table import TermTable
from taxonomist.features.terms import respelled
from taxonomist.features.text_items import as_text, column_weights, peek
from taxonomist.features.token_table import TokenTable
from taxonomist.features.weighing import weighed
from taxonomist.features.word_terms import WordTerms

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats, Objects, TextLike
    from taxonomist.features.token_table import TermBlock
    from taxonomist.features.word_terms import KnownTerms

Lengths = tuple[int, int] | None
"""Lengths of words, or of character n-grams; None for none."""
MANY_ITEMS = 5000
"""Items from which on ``min_df="auto"`` drops words that only one of them has. With 1,800 items of
each of seven corpora, one split each, keeping them gains .4 (reuters21578, arxiv-sample) to 2.5
points (naics2012) of hierarchical F1."""
MOST_TERMS = 2**21
"""Terms that are kept at most if ``max_features`` is None, which bounds memory."""


class TextFeatures(TransformerMixin, BaseEstimator):
    """Words and character n-grams of texts, weighted by tf-idf, as unit vectors.

    Words are runs of two or more letters, digits and underscores, or single digits, with folded
    case and in Unicode's compatibility form (NFKC): "ﬁsh" with a ligature is "fish". In scripts
    without spaces between words, the terms are pairs of neighbouring characters instead. A count n
    becomes log(1 + n), times ln((1 + N) / (1 + N_u)) + 1 for a term that occurs in N_u of N
    training items.

    Parameters
    ----------
    words
        The smallest and largest number of words in a term, or None for no word terms.
    characters
        The smallest and largest number of characters in a term, or None for no such terms. N-grams
        lie within words, including the spaces around them. They are useful for short texts,
        compounds and misspellings. In scripts without spaces, they are single characters.
    min_df
        Drop terms that occur in fewer training items, unless no term would remain. ``"auto"`` is 1
        for words and 2 for character n-grams, and 2 for all with 5,000 training items or more.
    max_features
        Maximum number of terms; the most frequent are kept. None for 2²¹.
    weights
        Weight of each column if items have several texts: numbers in column order, or a mapping
        from column names. None for 1 each.
    character_weight
        Scale the words of an item to length 1 and its character n-grams to this length, before all
        are scaled to length 1. None scales them together, which gives n-grams most of the weight
        because they are many.

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
    term_table_
        The terms as one text, in features that were loaded from a file.
    folds_case_
        Whether terms have folded case; features of old files lack it, with terms in lower case.

    Examples
    --------
    >>> from taxonomist.features import TextFeatures
    >>> features = TextFeatures(min_df=1, weights={"title": 3, "text": 1})
    >>> X = features.fit_transform([{"title": "Black holes", "text": "They shine, 事象の地平面."}])
    >>> features.get_feature_names_out().tolist()[:4]
    ['black', 'holes', 'shine', 'they']
    """

    file_version = 3

    term_table_: TermTable

    def __init__(
        self,
        *,
        words: tuple[int, int] | None = (1, 1),
        characters: tuple[int, int] | None = None,
        min_df: int | str = 2,
        max_features: int | None = None,
        weights: Any = None,
        character_weight: float | None = None,
    ) -> None:
        self.words = words
        self.characters = characters
        self.min_df = min_df
        self.max_features = max_features
        self.weights = weights
        self.character_weight = character_weight

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
        return self.fit_table(self.tabulate(texts))

    def tabulate(self, texts: Iterable[TextLike]) -> TokenTable:
        """Learn the columns of items, and return their words for ``fit_table``."""
        if isinstance(texts, CountedTexts):
            self.learn_columns(texts.blank)
            return self._checked_table(texts)
        first, items = peek(texts)
        self.learn_columns(first)
        return self._table(items)

    def fit_table(self, table: TokenTable, n_documents: int | None = None) -> CSR:
        """Learn the terms and their frequencies from words, and return the counts of the items.

        Parameters
        ----------
        table
            The words of the items, as those of ``count``.
        n_documents
            The first items, from which inverse document frequencies are learned; all by default.
        """
        blocks = self._blocks(table)
        n_having = np.concatenate([block.n_having for block in blocks])
        if not len(n_having):
            raise ParameterError("No text contains a word; there is nothing to learn from.")
        n_grams = len(blocks[-1].n_having) if self.characters else 0
        kept = self._kept(n_having, table.n_items, n_grams)
        starts = np.cumsum([0, *(len(block.n_having) for block in blocks)])
        chosen = [kept[(kept >= a) & (kept < b)] - a for a, b in pairwise(starts)]
        names = [block.names(some) for block, some in zip(blocks, chosen, strict=True)]
        terms = np.array([*chain.from_iterable(names)], dtype=object)
        place = np.full(len(n_having), -1)
        place[kept] = self._learn_terms(terms, n_having[kept], table.n_items)
        places = np.split(place, starts[1:-1])
        counts = side_by_side(
            [block.counts(here, len(kept)) for block, here in zip(blocks, places, strict=True)]
        )
        if n_documents is not None:
            indices = counts.indices[: counts.indptr[n_documents]]
            found = np.bincount(indices, minlength=len(kept))
            self.idf_ = _inverse(found, n_documents)
        return counts

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
        counter.learn_columns(first)
        found: dict[str, int] = {}
        for n_having, names, _ in counter._blocks(counter._table(texts)):
            found.update(zip(names(np.arange(len(n_having))), n_having.tolist(), strict=True))
        return found

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
        self.learn_columns(first)
        n_having: Codes = np.fromiter(frequencies.values(), np.intp, len(frequencies))
        if not len(n_having):
            raise ParameterError("No text contains a word; there is nothing to learn from.")
        names = np.array(list(frequencies), dtype=object)
        # Character n-grams, which are in quotes, come last, as in ``fit_counts``.
        is_gram = np.fromiter((name.startswith('"') for name in names), bool, len(names))
        order = np.argsort(is_gram, kind="stable")
        names, n_having = names[order], n_having[order]
        kept = self._kept(n_having, n_items, int(is_gram.sum()))
        self._learn_terms(names[kept], n_having[kept], n_items)
        return self

    def _learn_terms(self, names: Objects, n_having: Codes, n_items: int) -> Codes:
        """Learn the terms and their weights; return the columns of the given terms."""
        order: Codes = np.argsort(names, kind="stable")
        self.terms_ = names[order]
        for name in ("vocabulary_", "_word_terms"):
            self.__dict__.pop(name, None)
        self.idf_ = _inverse(n_having[order], n_items)
        self.folds_case_ = True
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.arange(len(order))
        return places

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
        if isinstance(texts, CountedTexts):
            self._checked_table(texts)
            return texts.known(*self._known_arguments)
        return self._table(texts).known(*self._known_arguments)

    def count(self, texts: Iterable[TextLike]) -> CountedTexts:
        """Split texts into words once, for any number of fits to subsets of them.

        Unless the features are fitted, the first item determines the columns of all items.

        Parameters
        ----------
        texts
            As in ``fit_counts``. The result keeps them.

        Returns
        -------
        CountedTexts
            Can be indexed like an array, and passed to all methods instead of texts.
        """
        given = kept_texts(texts)
        counter = self
        if not hasattr(self, "idf_"):
            counter = TextFeatures(**self.get_params())
            counter.learn_columns(given[0] if given else None)
        return CountedTexts(given, counter._table(given), counter.columns_)

    def known_share(self, texts: Iterable[Any]) -> Floats:
        """Return the fraction of each item's terms that are features, (n_items,); 0 if no terms.

        With words, single words count; with words and character n-grams, it is the mean of both
        fractions. Terms count as often as they occur, times the weights of their columns.
        """
        counted = texts if isinstance(texts, CountedTexts) else self.count(texts)
        table, terms = self._checked_table(counted), self._terms_of_words
        words = (1, 1) if self.words and self.words[0] == 1 else self.words
        kinds: list[tuple[Lengths, Lengths]] = [(words, None)] if words else []
        kinds += [(None, self.characters)] if self.characters else []
        weights = self.column_weights_
        sums, n_kinds = np.zeros((2, len(counted)))
        for kind in kinds:
            known = counted.known(*kind, weights, terms).sum(axis=1)
            totals = table.totals(*kind, weights)
            sums += np.asarray(known).ravel() / np.maximum(totals, np.finfo(float).tiny)
            n_kinds += totals > 0
        return sums / np.maximum(n_kinds, 1)

    def weigh(self, counts: CSR) -> CSR:
        """Weight counts by tf-idf and scale the rows to length 1."""
        # Classifiers of old files lack the attribute.
        weight = getattr(self, "character_weight", None)
        if weight is None or not (self.words and self.characters):
            return mapped(counts, partial(weighed, idf=self.idf_))
        # Quotes come before all letters and digits, so that n-grams are the first terms.
        n_grams = int(np.searchsorted(self.terms_, "#"))
        return mapped(counts, partial(weighed, idf=self.idf_, n_grams=n_grams, gram_weight=weight))

    def get_feature_names_out(self, input_features: object = None) -> Objects:  # noqa: ARG002
        """Return the terms in column order; character n-grams are in quotes."""
        check_is_fitted(self, "idf_")
        terms: Objects = self.terms_
        return terms

    def learn_columns(self, first: TextLike | None) -> None:
        """Learn the columns and their weights from the first item."""
        if not self.words and not self.characters:
            raise ParameterError("words and characters are both None; pass at least one of them.")
        self.columns_ = list(first) if isinstance(first, Mapping) else None
        self.column_weights_ = column_weights(self.weights, first)

    def _checked_table(self, counted: CountedTexts) -> TokenTable:
        """Return the words of texts; raise if these have other columns."""
        n_columns = len(self.column_weights_)
        if counted.columns != self.columns_ or counted.table.n_columns != n_columns:
            raise ParameterError(
                f"The texts have the columns {counted.columns or counted.table.n_columns}, but "
                f"these features use {self.columns_ or n_columns}; count them again."
            )
        return counted.table

    def _table(self, items: Iterable[TextLike]) -> TokenTable:
        """Return the words of items."""
        texts = (self._values(item, number) for number, item in enumerate(items))
        return TokenTable.of(texts, len(self.column_weights_))

    def _blocks(self, table: TokenTable) -> list[TermBlock]:
        """Return the terms of each kind."""
        least, most = self.words or (1, 0)
        blocks = [table.ngrams(n, self.column_weights_) for n in range(least, most + 1)]
        if self.characters:
            blocks.append(table.characters(*self.characters, self.column_weights_))
        return blocks

    @property
    def _known_arguments(self) -> tuple[Lengths, Lengths, list[float], WordTerms]:
        """What ``known`` needs to count the terms that are features."""
        return self.words, self.characters, self.column_weights_, self._terms_of_words

    @cached_property
    def terms_(self) -> Objects:
        """The terms, which features from files read when they need them."""
        return self.term_table_.terms()

    @cached_property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.terms_.tolist())}

    def file_state(self) -> dict[str, object]:
        """Return the state to save, with the terms as one text."""
        left_out = "terms_", "vocabulary_", "_word_terms"
        state = {key: x for key, x in vars(self).items() if key not in left_out}
        if "terms_" in vars(self):
            state["term_table_"] = TermTable.of(self.terms_.tolist())
        return state

    @property
    def _terms_of_words(self) -> WordTerms:
        """The terms that words are or have."""
        if self._word_terms.characters != self.characters:
            del self._word_terms
        return self._word_terms

    @cached_property
    def _word_terms(self) -> WordTerms:
        return WordTerms(self._known_terms, self.characters)

    @property
    def _known_terms(self) -> KnownTerms:
        """The columns of terms, in the spelling of words."""
        # Features of old files have terms in lower case, which is not always the folded one.
        if hasattr(self, "folds_case_"):
            return self.vocabulary_ if "terms_" in vars(self) else self.term_table_
        return {respelled(term): column for term, column in self.vocabulary_.items()}

    def parts(self, item: object, number: int = 0) -> list[tuple[float, str]]:
        """Return the texts of an item with their weights."""
        pairs = zip(self.column_weights_, self._values(item, number), strict=True)
        return [(weight, text) for weight, text in pairs if weight]

    def _values(self, item: object, number: int) -> list[str]:
        """Return the texts of an item in column order."""
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
        return [as_text(value, number) for value in values]

    def _kept(self, n_having: Codes, n_items: int, n_grams: int) -> Codes:
        """Return the terms that are frequent enough, given how many items have each.

        Character n-grams are the last terms.
        """
        least = np.full(len(n_having), 2 if self.min_df == "auto" else self.min_df)
        if self.min_df == "auto" and n_items < MANY_ITEMS:
            least[: len(least) - n_grams] = 1
        kept = np.flatnonzero(n_having >= least)
        if not len(kept):
            kept = np.arange(len(n_having))
        most = MOST_TERMS if self.max_features is None else self.max_features
        if len(kept) > most:
            order = np.argsort(-n_having[kept], kind="stable")
            kept = np.sort(kept[order[:most]])
        return kept


def _inverse(n_having: Codes, n_items: int) -> Floats:
    """Return the inverse document frequencies of terms."""
    found: Floats = np.log((1 + n_items) / (1 + n_having)) + 1
    return found
