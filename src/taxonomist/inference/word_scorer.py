"""``WordScorer``: how much more likely the words of items are under a category than in general."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from taxonomist.inference.counts import damped
from taxonomist.inference.scorers import DenseScorer, ScorePart, strongest
from taxonomist.inference.word_scores import WordScores

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats

SCORES_AT_A_TIME = 2**24
"""Scores held at a time, 128 MiB; with many categories each block makes the logarithms of all words
anew."""

PRIOR = -1
"""The source of P(c) in explanations."""


@dataclass(frozen=True, eq=False)
class WordScorer(DenseScorer):
    """log P(d|c) - log P(d), where P(w|c) mixes the words of the sources on the path of c.

    Attributes
    ----------
    paths
        The sources of each category, (n_categories, n_sources) boolean CSR.
    source_nodes
        The node of each source, in the taxonomy in which all categories are leaves.
    words
        P(w|v), (n_sources, n_words) CSR.
    slots, uniform
        P(v|c) in the order of ``paths``, and the weight of the uniform node, (n_categories,).
    priors
        P(c), above 0.
    damping, length, reference
        How counts are damped; see ``damped``.
    is_single
        Whether items have one category; then log P(c) is added.
    uniform_node
        What stands for the uniform node in explanations.
    """

    paths: CSR
    source_nodes: Codes
    words: CSR
    slots: Floats
    uniform: Floats
    priors: Floats
    damping: str | None
    length: float
    reference: float
    is_single: bool
    uniform_node: int

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return len(self.priors)

    @property
    def block_size(self) -> int:
        """How many items to score at a time when not all scores are kept."""
        return max(1, SCORES_AT_A_TIME // self.n_categories)

    @cached_property
    def log_priors(self) -> Floats:
        """The logarithms of P(c)."""
        return np.log(self.priors)

    @cached_property
    def word_scores(self) -> WordScores:
        """What scores damped counts."""
        weights = csr_array((self.slots, self.paths.indices, self.paths.indptr), self.paths.shape)
        return WordScores(weights, self.uniform, self.words, self.priors)

    def damped(self, X: CSR) -> CSR:
        """Return counts as the model takes them."""
        return damped(X, self.damping, self.length, self.reference)

    def raw(self, X: Any, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return log P(d|c) - log P(d), with one label per item also + log P(c)."""
        scores = self.word_scores.of(self.damped(X))
        return scores + self.log_priors if self.is_single else scores

    # Explanations -----------------------------------------------------------------------------

    def explain(self, row: Any, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return what each node adds; see ``Explains``.

        A word adds n (log P(w|c) - log P(w)), which the nodes share out as they may have made it:
        in proportion to P(v|c) P(w|v). P(c) comes first if it counts, the uniform node last.
        """
        counts = self.damped(row)
        shares = self._shares(counts, category)
        if against is not None:
            other, empty = self._shares(counts, against), np.zeros(counts.nnz)
            shares = {
                v: shares.get(v, empty) - other.get(v, empty) for v in sorted({*shares, *other})
            }
        parts = [
            ScorePart(v, float(shares[v].sum()), *strongest(shares[v], counts.indices, n))
            for v in sorted(shares)
        ]
        if self.is_single:
            prior = self.log_priors[category] - (0 if against is None else self.log_priors[against])
            parts.insert(0, ScorePart(PRIOR, float(prior)))
        return parts

    def _shares(self, counts: CSR, c: int) -> dict[int, Floats]:
        """Return what each node on the path of c adds, word by word; the uniform one is last."""
        words, n_words = counts.indices, self.words.shape[1]
        slots = slice(*self.paths.indptr[c : c + 2])
        sources = self.paths.indices[slots]
        joint = self.words[sources][:, words].toarray() * self.slots[slots][:, None]
        joint = np.vstack([joint, np.full(counts.nnz, self.uniform[c])])
        joint[-1] /= n_words
        mixed = joint.sum(axis=0)
        # What the path cannot make is charged to the category itself.
        joint[-2, mixed == 0] = 1.0
        unit = csr_array((np.ones(counts.nnz), words, np.arange(counts.nnz + 1)))
        unit.resize((counts.nnz, n_words))
        ratios = self.word_scores.of(unit)[:, c]
        values = joint / joint.sum(axis=0)
        with np.errstate(invalid="ignore"):
            values = np.where(values > 0, values * ratios * counts.data, 0.0)
        nodes = [*self.source_nodes[sources].tolist(), self.uniform_node]
        return dict(zip(nodes, values, strict=True))
