"""The negative items that ``PathSVC`` learns texts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.models.path_learning import negatives_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.taxonomy import Taxonomy

__all__ = ["MOST_WEIGHTS", "MOST_WORK", "kind_for_trials", "kind_of_negatives", "used_labels"]

MOST_WORK = 10_000_000_000
"""Nodes times stored values of all documents up to which there are classifiers against siblings and
against all other items; training takes two or three minutes of one core then. Beyond it, they are
against siblings only. The limit of ``PathSVC`` itself is a twentieth of this. With it, richer
features fell back to siblings where words alone did not, and looked worse. With 4,000 training
items of which the rest was held out, word pairs and characters have accuracy and hierarchical F1 of
.429 and .685 with both, and .397 and .668 with siblings, on arxiv; and of .529 and .731, and .517
and .713, on naics2012."""
MOST_WEIGHTS = 500_000_000
"""Nodes with items times features up to which there are both kinds: 2 GB of weights. Classifiers
against all other items have weights of nearly all features. ``PathSVC`` itself allows no more."""
NODES_PER_LABEL = 2
"""Nodes with items for each label that is used, about: few nodes are above many labels."""
MOST_TRIED = 500
"""Nodes up to which trials learn from both kinds. With the 2,210 of naics2012, a trial of 2,400
items with characters would take ten seconds of one core instead of one; the best sets of features
are the same with siblings alone."""
SETS = (list, tuple, set, frozenset)
"""Types of label sets."""


def kind_of_negatives(
    labels: Sequence[object], taxonomy: Taxonomy | None, n_values: float, n_features: int = 0
) -> str:
    """Return the parameter ``negatives`` of ``PathSVC``: both kinds, if that is not too much.

    Parameters
    ----------
    labels
        The labels of the items.
    taxonomy
        The taxonomy; None for a single level.
    n_values
        The number of stored values of all items to train on.
    n_features
        The number of features; 0 if their weights are few, whatever it is.
    """
    n_nodes = _n_nodes(labels, taxonomy)
    if n_nodes * n_features > MOST_WEIGHTS:
        n_used = min(n_nodes, NODES_PER_LABEL * len(used_labels(labels)))
        if n_used * n_features > MOST_WEIGHTS:
            return "siblings"
    return negatives_within(MOST_WORK, n_nodes, n_values)


def kind_for_trials(labels: Sequence[object], taxonomy: Taxonomy | None, n_values: float) -> str:
    """Return the kind for trials: that of all documents, but siblings with very many nodes.

    With many nodes the kind is the same for all trials, so that these can be compared; otherwise
    features are compared as they will be used.

    Parameters
    ----------
    labels, taxonomy, n_values
        As in ``kind_of_negatives``, about all documents.
    """
    if _n_nodes(labels, taxonomy) > MOST_TRIED:
        return "siblings"
    return kind_of_negatives(labels, taxonomy, n_values)


def _n_nodes(labels: Sequence[object], taxonomy: Taxonomy | None) -> int:
    return len(used_labels(labels)) if taxonomy is None else taxonomy.n_nodes


def used_labels(labels: Sequence[object]) -> set[object]:
    """Return the labels of items, each of which has one or several of them."""
    sets = (label if isinstance(label, SETS) else [label] for label in labels)
    return {one for labels in sets for one in labels}
