"""Measures: functions of the truth, of predictions or scores, and of a taxonomy.

``single`` covers items with one category, ``ranking`` the order of categories by score,
``labelling`` and ``sets`` predicted label sets, ``curves`` scores of all nodes, and
``reliability`` their probabilities. ``report`` prints a table of measures, and ``scorers`` makes
them available to scikit-learn.

The truth is the first argument, as in scikit-learn. Label sets are sequences of ids per item or
indicator matrices; labels and scores may be sparse.
"""

from __future__ import annotations

from taxonomist.metrics._inputs import item_values
from taxonomist.metrics.curves import au_prc, node_scores
from taxonomist.metrics.labelling import (
    hierarchical_loss,
    set_loss,
    symmetric_difference_loss,
    zero_one_loss,
)
from taxonomist.metrics.ranking import (
    average_precision,
    f1_at_k,
    maximal_loss,
    misordering_loss,
    ndcg_at_k,
    one_accuracy,
    parent_one_accuracy,
    precision_at_k,
    ranking_loss,
)
from taxonomist.metrics.reliability import (
    LevelReliability,
    Reliability,
    ReliabilityBin,
    reliability,
)
from taxonomist.metrics.report import hierarchical_report
from taxonomist.metrics.scorers import SCORERS, TaxonomyScorer, scorer
from taxonomist.metrics.sets import (
    PRF,
    hierarchical_f1,
    hierarchical_precision,
    hierarchical_recall,
    precision_recall_f1,
    precision_recall_f1_per_level,
)
from taxonomist.metrics.single import (
    accuracy,
    mean_reciprocal_rank,
    parent_accuracy,
    taxonomy_loss,
)

__all__ = [
    "PRF",
    "SCORERS",
    "LevelReliability",
    "Reliability",
    "ReliabilityBin",
    "TaxonomyScorer",
    "accuracy",
    "au_prc",
    "average_precision",
    "f1_at_k",
    "hierarchical_f1",
    "hierarchical_loss",
    "hierarchical_precision",
    "hierarchical_recall",
    "hierarchical_report",
    "item_values",
    "maximal_loss",
    "mean_reciprocal_rank",
    "misordering_loss",
    "ndcg_at_k",
    "node_scores",
    "one_accuracy",
    "parent_accuracy",
    "parent_one_accuracy",
    "precision_at_k",
    "precision_recall_f1",
    "precision_recall_f1_per_level",
    "ranking_loss",
    "reliability",
    "scorer",
    "set_loss",
    "symmetric_difference_loss",
    "taxonomy_loss",
    "zero_one_loss",
]
