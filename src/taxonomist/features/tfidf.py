"""Counts weighted by inverse document frequency, as RSSS06 and TCPH01 define it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from taxonomist.features.spectrum import SubstringFeatures, unit_rows

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from sklearn.utils import Tags

    from taxonomist._typing import CSR, Floats, MatrixLike
    from taxonomist.features.letters import Alphabet, Unit


class TfidfWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply counts by log2 N / N_u, for corpora given as counts.

    N is the number of training items and N_u the number of those that have feature u
    [RSSS06, Sec. 2.2]. A feature that occurs in all training items, or in none, has weight 0.
    scikit-learn's ``TfidfTransformer`` uses 1 + ln N / N_u or a smoothed form of it instead.

    Parameters
    ----------
    normalize
        Whether to scale items to length 1; items whose weights are all 0 stay 0.
    sublinear_tf
        Whether to replace a count tf above 0 by 1 + ln tf first [TCPH01, Sec. 3.2.5].

    Attributes
    ----------
    idf_
        (n_features,): log2 N / N_u.

    Examples
    --------
    >>> from taxonomist.features import TfidfWeights
    >>> weights = TfidfWeights(normalize=False)
    >>> weights.fit_transform([[1, 2, 0], [3, 0, 1]]).toarray()
    array([[0., 2., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, *, normalize: bool = True, sublinear_tf: bool = False) -> None:
        self.normalize = normalize
        self.sublinear_tf = sublinear_tf

    def fit(self, X: MatrixLike, y: object = None) -> TfidfWeights:  # noqa: ARG002
        """Learn the weights of features.

        Parameters
        ----------
        X
            Counts, dense or sparse, (n_items, n_features).
        y
            Ignored; present for API consistency.

        Returns
        -------
        TfidfWeights
            The transformer itself.
        """
        self.idf_ = inverse_frequencies(self._validate(X, reset=True))
        return self

    def transform(self, X: MatrixLike) -> CSR:
        """Return weighted counts.

        Parameters
        ----------
        X
            Counts, dense or sparse, (n_items, n_features).

        Returns
        -------
        csr_array, shape (n_items, n_features)
        """
        check_is_fitted(self)
        counts = self._validate(X, reset=False).copy()
        if self.sublinear_tf:
            dampen(counts)
        return weigh(counts, self.idf_, self.normalize)

    def _validate(self, X: MatrixLike, reset: bool) -> CSR:
        from scipy.sparse import csr_array

        types = (np.float64, np.float32)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=types, ensure_non_negative=True, reset=reset
        )
        return csr_array(X)

    def __sklearn_tags__(self) -> Tags:
        """Declare support for sparse, non-negative input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class TfidfFeatures(SubstringFeatures):
    """Words of an item, weighted by log2 N / N_u: the bag of words of RSSS06.

    The feature of a word u is its number of occurrences in the item times log2 N / N_u, where N_u
    of N training items contain the word [RSSS06, Sec. 2.2]. A word that occurs in all of them has
    weight 0. Words are not stemmed, and no stop words are removed.
    ``SpectrumFeatures(1, unit="word")`` gives the unweighted counts.

    Parameters
    ----------
    lengths
        The smallest and largest number of words in a feature, or one number.
    unit
        How to split strings: ``"word"``, runs of letters, digits and underscores in lower case;
        ``"syllable"``, the syllables of these words; ``"char"``; or a function from a string to a
        list of letters. Items that are lists are not split.
    alphabet
        The words that count; None for all words of the training items.
    outside
        How to treat words outside a given alphabet: ``"error"``, or ``"skip"`` to ignore them.
        Without a given alphabet, new words are skipped.
    normalize
        Whether to scale items to length 1; items whose weights are all 0 stay 0.
    dtype
        Dtype of the values, ``"float32"`` or ``"float64"``.

    Attributes
    ----------
    letters_
        The words, sorted.
    idf_
        (n_features,): log2 N / N_u.

    Examples
    --------
    >>> from taxonomist.features import TfidfFeatures
    >>> words = TfidfFeatures(normalize=False)
    >>> words.fit_transform(["The cat, the dog", "the cat"]).toarray()
    array([[0., 1., 0.],
           [0., 0., 0.]])
    >>> words.get_feature_names_out().tolist()
    ['cat', 'dog', 'the']
    """

    def __init__(
        self,
        lengths: int | tuple[int, int] = (1, 1),
        *,
        unit: Unit = "word",
        alphabet: Alphabet | None = None,
        outside: str = "error",
        normalize: bool = True,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.lengths = lengths
        self.unit = unit
        self.alphabet = alphabet
        self.outside = outside
        self.normalize = normalize
        self.dtype = dtype

    def _learn_weights(self, counts: CSR) -> None:
        self.idf_ = inverse_frequencies(counts)

    def _finished(self, counts: CSR) -> CSR:
        return weigh(counts, self.idf_, self.normalize)


def inverse_frequencies(counts: CSR, sample_weight: Floats | None = None) -> Floats:
    """Return log2 N / N_u for every column u, and 0 for empty columns [RSSS06, Sec. 2.2].

    With item weights, which must be positive, N and N_u are sums of weights.
    """
    presence = counts != 0
    total, n_having = counts.shape[0], presence.sum(axis=0)
    having = n_having
    if sample_weight is not None:
        total, having = sample_weight.sum(), presence.T @ sample_weight
    idf: Floats = np.log2(total / np.where(n_having > 0, having, 1.0))
    # Set exact zeros: sums of weights in another order may differ by rounding.
    idf[(n_having == 0) | (n_having == counts.shape[0])] = 0.0
    return idf


def dampen(counts: CSR) -> None:
    """Replace counts tf above 0 by 1 + ln tf, in place [TCPH01, Sec. 3.2.5]."""
    counts.eliminate_zeros()
    counts.data[:] = 1.0 + np.log(counts.data)


def weigh(counts: CSR, weights: Floats, is_normalized: bool) -> CSR:
    """Multiply counts by column weights, in place, and scale rows to length 1 if asked."""
    counts.data *= weights[counts.indices]
    counts.eliminate_zeros()
    return unit_rows(counts) if is_normalized else counts
