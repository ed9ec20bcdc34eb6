"""What models of word counts show: the words of nodes, the weights on paths, and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from taxonomist.models.explanation import Explanation, NodePart
from taxonomist.models.scored_sets import ScoredSets
from taxonomist.models.scoring import column_of

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.word_scores import WordScores
    from taxonomist.solvers.path_weights import PathWeights
    from taxonomist.solvers.word_counts import Sources
    from taxonomist.taxonomy import Taxonomy

UNIFORM = "(uniform)"
"""What the node above the root is called in explanations."""

PRIOR = "(prior)"
"""What P(c) is called there."""


class WordReasons(ScoredSets):
    """A model whose categories mix the words of sources.

    Its ``fit`` sets ``_sources``, ``_source_nodes`` (the node of each), ``_words`` (P(w|v)),
    ``_weights`` (P(v|c)), ``_word_scores``, ``_is_single`` and ``class_log_prior_``.
    """

    classes_: Any
    taxonomy_: Taxonomy
    class_log_prior_: Floats
    n_features_in_: int
    _sources: Sources
    _source_nodes: Codes
    _words: CSR
    _weights: PathWeights
    _word_scores: WordScores
    _is_single: bool

    @property
    def node_word_proba_(self) -> CSR:
        """P(w|v): the words of each node of ``taxonomy_``, (n_nodes, n_features) CSR."""
        check_is_fitted(self)
        if len(self._source_nodes) > len(np.unique(self._source_nodes)):
            raise AttributeError(
                "With take_out=True a node has other words for each of its children; fit with "
                "take_out=False to see the words of nodes."
            )
        return self._words

    @property
    def node_word_log_proba_(self) -> Floats:
        """Logarithms of P(w|v), dense, (n_nodes, n_features): -inf where a node lacks a word."""
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.node_word_proba_.toarray())
        return logarithms

    @property
    def path_weights_(self) -> CSR:
        """P(v|c), (n_classes, n_nodes + 1) CSR: a column for each node, and the uniform one."""
        check_is_fitted(self)
        paths, n_nodes = self._sources.paths, self.taxonomy_.n_nodes
        category = np.repeat(np.arange(paths.shape[0]), np.diff(paths.indptr))
        rows = np.append(category, np.arange(paths.shape[0]))
        columns = np.append(self._source_nodes[paths.indices], np.full(paths.shape[0], n_nodes))
        data = np.concatenate(self._weights)
        return csr_array((data, (rows, columns)), shape=(paths.shape[0], n_nodes + 1))

    def top_words(self, node: Any, n: int = 10, feature_names: Any = None) -> list[Any]:
        """Return the most probable words of a node.

        Parameters
        ----------
        node
            Id of a node of ``taxonomy_``, or a class.
        n
            How many at most.
        feature_names
            Names of the features; by default those seen in ``fit``, or their numbers.

        Returns
        -------
        list of (str, float)
            Words and P(w|v), the most probable first.
        """
        words = self.node_word_proba_
        if isinstance(node, str) and node in self.taxonomy_:
            code = self.taxonomy_.code(node)
        else:
            c = column_of(self.classes_, node)
            code = int(self._sources.paths.indices[self._sources.paths.indptr[c + 1] - 1])
        start, end = words.indptr[code : code + 2]
        order = np.argsort(-words.data[start:end], kind="stable")[:n] + start
        title = self._feature_titles(feature_names)
        return [(title(words.indices[k]), float(words.data[k])) for k in order.tolist()]

    def explain(
        self,
        x: Any,
        n: int = 10,
        *,
        category: Any = None,
        against: Any = None,
        feature_names: Any = None,
    ) -> Explanation:
        """Return what each node on the path adds to a score, and its strongest words.

        A word adds n (log P(w|c) - log P(w)), which the nodes share out as they may have made it:
        in proportion to P(v|c) P(w|v).

        Parameters
        ----------
        x
            One item: a row, as in ``decision_function``.
        n
            Words to show at each node.
        category
            The category to explain; by default the one with the best score.
        against
            Another category: the difference of the two scores is explained then.
        feature_names
            Names of the features; by default those seen in ``fit``, or their numbers.

        Returns
        -------
        Explanation
            Parts that add up to the score (difference): P(c) first if it counts, then the nodes on
            the path, then the uniform node.
        """
        is_row = hasattr(x, "indptr") or np.ndim(x) == 2
        row = self._checked(x if is_row else np.reshape(x, (1, -1)))
        if row.shape[0] != 1:
            raise ValueError(f"explain takes one item. Got {row.shape[0]}.")
        if category is None:
            c = int(self._scores(row)[0].argmax())
        else:
            c = column_of(self.classes_, category)
        counts = self._damped(row)
        shares = self._shares_of_nodes(counts, c)
        if against is not None:
            other = self._shares_of_nodes(counts, column_of(self.classes_, against))
            empty = np.zeros(counts.nnz)
            shares = {
                v: shares.get(v, empty) - other.get(v, empty) for v in sorted({*shares, *other})
            }
        parts = [self._part(v, shares[v], counts, n, feature_names) for v in sorted(shares)]
        if self._is_single:
            logs = self.class_log_prior_
            prior = logs[c] - (0 if against is None else logs[column_of(self.classes_, against)])
            parts.insert(0, NodePart(PRIOR, PRIOR, float(prior)))
        return Explanation(self.classes_[c], against, sum(part.value for part in parts), parts)

    def _shares_of_nodes(self, counts: CSR, c: int) -> dict[int, Floats]:
        """Return what each node on the path of c adds, word by word; the uniform one is last."""
        paths, words = self._sources.paths, counts.indices
        slots = slice(*paths.indptr[c : c + 2])
        sources = paths.indices[slots]
        joint = self._words[sources][:, words].toarray() * self._weights.slots[slots][:, None]
        joint = np.vstack([joint, np.full(counts.nnz, self._weights.uniform[c])])
        joint[-1] /= self.n_features_in_
        mixed = joint.sum(axis=0)
        # What the path cannot make is charged to the category itself.
        joint[-2, mixed == 0] = 1.0
        unit = csr_array((np.ones(counts.nnz), words, np.arange(counts.nnz + 1)))
        unit.resize((counts.nnz, self.n_features_in_))
        ratios = self._word_scores.of(unit)[:, c]
        values = joint / joint.sum(axis=0)
        with np.errstate(invalid="ignore"):
            values = np.where(values > 0, values * ratios * counts.data, 0.0)
        nodes = [*self._source_nodes[sources].tolist(), self.taxonomy_.n_nodes]
        return dict(zip(nodes, values, strict=True))

    def _part(self, v: int, shares: Floats, counts: CSR, n: int, names: Any) -> NodePart:
        """Return what a node adds, with its strongest words."""
        order = np.argsort(-np.abs(shares), kind="stable")[:n].tolist()
        title = self._feature_titles(names)
        features = tuple((title(counts.indices[k]), float(shares[k])) for k in order if shares[k])
        rest = float(np.delete(shares, order).sum())
        value = float(shares.sum())
        if v == self.taxonomy_.n_nodes:
            return NodePart(UNIFORM, UNIFORM, value, features, rest)
        node = self.taxonomy_.nodes[v]
        node = self.taxonomy_.terminals.get(node, node)
        return NodePart(node, self.taxonomy_.names[v], value, features, rest)

    def _feature_titles(self, feature_names: Any) -> Any:
        """Return the function from a feature's number to its name."""
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        return str if names is None else lambda f: str(names[f])

    def _damped(self, X: CSR) -> CSR:
        """Return counts as the model takes them."""
        raise NotImplementedError
