"""Conversion of models from older file versions.

Version 1 stored all attributes of models, including private ones. This module converts them to
scorers, targets and starts. Weights in blocks were sorted by feature then. Up to version 2, text
features had a list of terms and a dictionary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.block_scores import spread
from taxonomist.errors import ModelFileError
from taxonomist.features.term_table import TermTable
from taxonomist.inference.block_weights import BlockWeights
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.inference.row_maps import FeatureMap, GramMap, KernelMap
from taxonomist.inference.word_scorer import WordScorer
from taxonomist.models.coupled_binary_svc import BinaryStart
from taxonomist.models.hierarchical_rls import LeastSquaresScorer
from taxonomist.models.joint import JointStart
from taxonomist.models.markov_decisions import GainScorer
from taxonomist.models.node_svc import ClassifierScorer
from taxonomist.models.plsa_classifier import ShareScorer
from taxonomist.models.targets import Targets
from taxonomist.models.thresholded_knn import VoteScorer
from taxonomist.models.word_model import CountStart

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Integers, Reals
    from taxonomist.inference.row_maps import RowMap

    State = dict[str, Any]


class FeatureTable(NamedTuple):
    """Weights of blocks of columns, sorted by feature: ``BlockTable`` in files of version 1.

    Segment t holds the weights of one feature in all columns of ``block[t]``, from
    ``values[start[t]]`` on; those of feature f are numbered from ``indptr[f]`` on.
    """

    indptr: Codes
    block: Integers
    start: Codes
    first: Codes
    values: Reals
    bias: Reals


def upgraded(name: str, state: State, version: int) -> State:
    """Convert the state of a model to the present version.

    Parameters
    ----------
    name
        The name of the class.
    state
        The attributes in an older version. An unfitted model has parameters only.
    version
        This version.
    """
    if name == "BlockWeights":
        return vars(_block_weights(state["table"]))
    current = _from_version_1(name, state) if version == 1 else state
    return _with_term_table(current) if name == "TextFeatures" else current


def _from_version_1(name: str, state: State) -> State:
    """Convert the state of a model from version 1 to version 2."""
    renamed = _RENAMED.get(name, {})
    result = {renamed.get(key, key): value for key, value in state.items()}
    result = {key: value for key, value in result.items() if not key.startswith("_")}
    if name in _SCORERS and "classes_" in state:
        targets = state.get("_targets") or _single_targets(state)
        make_scorer, make_start = _SCORERS[name]
        result["targets_"] = targets
        result["taxonomy_"] = targets.categories.taxonomy
        result["scorer_"] = make_scorer(state, targets)
        result["start_"] = make_start(state)
        for key in ("node_coef_", "node_estimators_"):
            result.pop(key, None)
    return result


_RENAMED = {
    "CalibratedClassifier": {"_has_label": "has_label_", "_targets": "targets_"},
    "TextClassifier": {"_takes_counts": "takes_counts_"},
    "TextFeatures": {"_weights": "column_weights_", "_vocabulary": "vocabulary_"},
}


def _with_term_table(state: State) -> State:
    """Return the state of text features with their terms as one text, as in version 3."""
    kept = {key: state[key] for key in state if key not in ("terms_", "vocabulary_")}
    if "terms_" in state:
        terms = state["terms_"].tolist()
        if state["vocabulary_"] != {term: column for column, term in enumerate(terms)}:
            raise ModelFileError("The model is damaged: its vocabulary does not fit its terms.")
        kept["term_table_"] = TermTable.of(terms)
    return kept


def _block_weights(table: FeatureTable) -> BlockWeights:
    """Return the same weights, sorted by block."""
    n_features, widths = len(table.indptr) - 1, np.diff(table.first)
    features = np.repeat(np.arange(n_features, dtype=np.int32), np.diff(table.indptr))
    order = np.argsort(table.block, kind="stable")
    blocks = table.block[order]
    values = table.values[spread(table.start[order], widths[blocks])]
    return BlockWeights.join(n_features, features[order], blocks, values, widths, table.bias)


def _single_targets(state: State) -> Targets:
    """Return the targets of a model with one label per item."""
    categories = state["_categories"]
    nothing = csr_array((0, len(categories)), dtype=bool)
    is_flat = state["taxonomy"] is None
    return Targets(categories, nothing, state["classes_"], is_single=True, is_flat=is_flat)


def _rows(state: State) -> RowMap:
    if state["kernel"] == "linear":
        return FeatureMap()
    if state["kernel"] == "precomputed":
        return GramMap(state["_support_items"], state["_n_train"])
    return KernelMap(state["_kernel"], state["_X_fit"])


def _linear(state: State, _: Targets) -> LinearScorer:
    return LinearScorer(state["_W"], state["_attributes"], _rows(state))


def _markov(state: State, targets: Targets) -> GainScorer:
    return GainScorer(
        state["_W"],
        state["_attributes"],
        _rows(state),
        state["_edge_W"],
        state["_tree"],
        state["_codes"],
        targets.is_single,
    )


def _words(state: State, targets: Targets) -> WordScorer:
    return WordScorer(
        state["_sources"].paths,
        state["_source_nodes"],
        state["_words"],
        state["_weights"].slots,
        state["_weights"].uniform,
        state["_word_scores"].priors,
        state["damping"],
        state["length"],
        state["reference_length_"],
        targets.is_single,
        targets.categories.expanded.n_nodes,
    )


def _shares(state: State, _: Targets) -> ShareScorer:
    return ShareScorer(state["_words"], state["fold_max_iter"], state["tol"])


def _votes(state: State, _: Targets) -> VoteScorer:
    return VoteScorer(
        state["_by_feature"],
        state["_labels"],
        state["_weights"],
        state.get("idf_"),
        state["n_neighbors"],
        state["decision_"],
    )


def _classifiers(state: State, targets: Targets) -> ClassifierScorer:
    return ClassifierScorer(
        targets.categories.taxonomy,
        targets.nodes,
        state["_constants"],
        state["_learned"],
        state["_support"],
    )


def _least_squares(state: State, targets: Targets) -> LeastSquaresScorer:
    return LeastSquaresScorer(
        targets.categories.taxonomy,
        targets.nodes,
        state["_constants"],
        state["node_coef_"],
        state["_systems"],
        state["C"],
    )


def _joint_start(state: State) -> JointStart | None:
    return JointStart(state["_duals"], state["classes_"]) if state["warm_start"] else None


def _binary_start(state: State) -> BinaryStart | None:
    return BinaryStart(state["_alpha"], state["classes_"]) if state["warm_start"] else None


def _markov_start(state: State) -> Any:
    return state["_start"] if state["warm_start"] else None


def _counts(state: State) -> CountStart | None:
    return CountStart(state["_pooled"], state["_n_items"]) if "_pooled" in state else None


def _nowhere(_: State) -> None:
    return None


_SCORERS: dict[str, tuple[Callable[[State, Targets], Any], Callable[[State], object]]] = {
    "HierarchicalSVC": (_linear, _joint_start),
    "HierarchicalRankingSVC": (_linear, _joint_start),
    "CoupledBinarySVC": (_linear, _binary_start),
    "HierarchicalPerceptron": (_linear, lambda state: state["_solution"]),
    "MaxMarginMarkovClassifier": (_markov, _markov_start),
    "HierarchicalMixture": (_words, _counts),
    "HierarchicalShrinkage": (_words, _counts),
    "LidstoneNB": (_words, _counts),
    "PLSAClassifier": (_shares, _nowhere),
    "ThresholdedKNN": (_votes, _nowhere),
    "NodeSVC": (_classifiers, _nowhere),
    "TopDownSVC": (_classifiers, _nowhere),
    "HierarchicalRLS": (_least_squares, _nowhere),
}
