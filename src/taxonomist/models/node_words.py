"""``NodeWords``: the words of nodes and their weights on paths, for word models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from taxonomist.inference.word_scorer import PRIOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Objects
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy

UNIFORM_TITLE = "(uniform)"
"""The name of the uniform node in explanations."""

PRIOR_TITLE = "(prior)"
"""The name of P(c) in explanations."""


class NodeWords:
    """Mixin of models with a ``WordScorer``, whose categories mix the words of nodes.

    Rows and columns of nodes are in the order of ``taxonomy_.nodes``, followed by one for each
    category that is an inner node, for the items that have this node as their label.
    """

    classes_: Objects
    taxonomy_: Taxonomy
    targets_: Targets
    scorer_: Any  # a WordScorer

    @property
    def node_word_proba_(self) -> CSR:
        """P(w|v), the word probabilities of each node, (n_nodes, n_features) CSR."""
        check_is_fitted(self)
        nodes = self.scorer_.source_nodes
        if len(nodes) > len(np.unique(nodes)):
            raise AttributeError(
                "With take_out a node has different words for each category or child below it; fit "
                "with take_out=False to see the words of nodes."
            )
        order = word_nodes(self.targets_)
        is_same = np.array_equal(order, np.arange(len(order)))
        words: CSR = self.scorer_.words if is_same else self.scorer_.words[order]
        return words

    @property
    def node_word_log_proba_(self) -> Floats:
        """The logarithm of P(w|v), (n_nodes, n_features), dense; -inf if a node lacks a word."""
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.node_word_proba_.toarray())
        return logarithms

    @property
    def path_weights_(self) -> CSR:
        """P(v|c), (n_classes, n_nodes + 1) CSR, with the uniform node in the last column."""
        check_is_fitted(self)
        scorer, order = self.scorer_, word_nodes(self.targets_)
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        n_categories = scorer.paths.shape[0]
        category = np.repeat(np.arange(n_categories), np.diff(scorer.paths.indptr))
        rows = np.append(category, np.arange(n_categories))
        nodes = place[scorer.source_nodes[scorer.paths.indices]]
        columns = np.append(nodes, np.full(n_categories, len(order)))
        data = np.concatenate([scorer.slots, scorer.uniform])
        return csr_array((data, (rows, columns)), shape=(n_categories, len(order) + 1))

    def top_words(
        self, node: object, n: int = 10, feature_names: Sequence[str] | None = None
    ) -> list[Any]:
        """Return the most probable words of a node.

        Parameters
        ----------
        node
            Id of a node of ``taxonomy_``, or a class.
        n
            The maximum number of words.
        feature_names
            Names of the features. None uses the names seen in ``fit``, or column numbers.

        Returns
        -------
        list of (str, float)
            Words and P(w|v), most probable first.
        """
        words = self.node_word_proba_
        if not self.targets_.is_flat and str(node) in self.taxonomy_:
            code = self.taxonomy_.code(str(node))
        else:
            code = int(self.targets_.nodes[self.targets_.column(node)])
        start, end = words.indptr[code : code + 2]
        order = np.argsort(-words.data[start:end], kind="stable")[:n] + start
        title = self.feature_titles(feature_names)  # type: ignore[attr-defined]
        return [(title(words.indices[k]), float(words.data[k])) for k in order.tolist()]

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and display name of a node, the prior or the uniform node."""
        if source == PRIOR:
            return PRIOR_TITLE, PRIOR_TITLE
        if source == self.scorer_.uniform_node:
            return UNIFORM_TITLE, UNIFORM_TITLE
        expanded = self.targets_.categories.expanded
        node = expanded.nodes[source]
        return expanded.terminals.get(node, node), expanded.names[source]


def word_nodes(targets: Targets) -> Codes:
    """Return the nodes of word models, as codes of the expanded taxonomy.

    The nodes of the given taxonomy come first, then the leaves that represent categories that are
    inner nodes.
    """
    categories = targets.categories
    given = categories.expanded.codes(categories.taxonomy.nodes)
    is_inner = ~categories.taxonomy.is_leaf[targets.nodes]
    return np.concatenate([given, categories.codes[is_inner]]).astype(np.intp)
