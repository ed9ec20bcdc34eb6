"""``WordScorer``: log-likelihood ratios of the words of items, per category."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.inference.counts import damped
from taxonomist.inference.scorers import DenseScorer, ScorePart, strongest
from taxonomist.inference.word_scores import WordScores

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats

WORD_SCORES_AT_A_TIME = 2**24
"""Scores held in memory at a time, 128 MiB.

Larger than for other scorers: with many categories, every block recomputes the logarithms of all
words."""

PRIOR = -1
"""The source number of P(c) in explanations."""


@dataclass(frozen=True, eq=False)
class WordScorer(DenseScorer):
    """log P(d|c) - log P(d), where P(w|c) mixes the sources on the path of c.

    Attributes
    ----------
    paths
        The sources of each category, (n_categories, n_sources) boolean CSR.
    source_nodes
        The node of each source, in the expanded taxonomy whose leaves are the categories.
    words
        P(w|v), (n_sources, n_words) CSR.
    slots, uniform
        P(v|c) in the order of ``paths``, and the weight of the uniform node, (n_categories,).
    priors
        P(c), all positive.
    damping, length, reference
        Damping of counts; see ``taxonomist.inference.counts.damped``.
    is_single
        Whether every item has exactly one category. If so, log P(c) is added to the scores.
    uniform_node
        The source number of the uniform node in explanations.
    general
        P(w) of P(d), (n_words,). None mixes the categories, Σ_c P(c) P(w|c).
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
    general: Floats | None = None

    @property
    def n_categories(self) -> int:  # type: ignore[override]
        """The number of categories."""
        return len(self.priors)

    @property
    def block_size(self) -> int:
        """The number of items to score per block if not all scores are kept."""
        return max(1, WORD_SCORES_AT_A_TIME // self.n_categories)

    @cached_property
    def log_priors(self) -> Floats:
        """The logarithms of P(c)."""
        return np.log(self.priors)

    @cached_property
    def word_scores(self) -> WordScores:
        """The scores of words, computed from damped counts."""
        weights = csr_array((self.slots, self.paths.indices, self.paths.indptr), self.paths.shape)
        return WordScores(weights, self.uniform, self.words, self.priors, self.general)

    def damped(self, X: CSR) -> CSR:
        """Return the damped counts that the model scores."""
        return damped(X, self.damping, self.length, self.reference)

    def raw(self, X: CSR, n_threads: int = 1) -> Floats:  # noqa: ARG002
        """Return log P(d|c) - log P(d), plus log P(c) if every item has one label."""
        scores = self.word_scores.of(self.damped(X))
        return scores + self.log_priors if self.is_single else scores

    # Explanations -----------------------------------------------------------------------------

    def explain(self, row: CSR, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the contribution of each node; see ``Explains``.

        A word with count n adds n (log P(w|c) - log P(w)). This is divided among the nodes in
        proportion to P(v|c) P(w|v), the probability that the node generated the word. P(c) comes
        first if it is part of the score; the uniform node comes last.
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
        """Return the contributions by word of each node on the path of c, the uniform node last."""
        words, n_words = counts.indices, self.words.shape[1]
        slots = slice(*self.paths.indptr[c : c + 2])
        sources = self.paths.indices[slots]
        joint = self.words[sources][:, words].toarray() * self.slots[slots][:, None]
        joint = np.vstack([joint, np.full(counts.nnz, self.uniform[c])])
        joint[-1] /= n_words
        mixed = joint.sum(axis=0)
        # Words with probability 0 under all nodes are attributed to the category itself.
        joint[-2, mixed == 0] = 1.0
        unit = csr_array(
            (np.ones(counts.nnz), words, np.arange(counts.nnz + 1)), (counts.nnz, n_words)
        )
        ratios = self.word_scores.of(unit)[:, c]
        values = joint / joint.sum(axis=0)
        with np.errstate(invalid="ignore"):
            values = np.where(values > 0, values * ratios * counts.data, 0.0)
        nodes = [*self.source_nodes[sources].tolist(), self.uniform_node]
        return dict(zip(nodes, values, strict=True))
