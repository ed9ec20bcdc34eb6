"""The training problem of ``MaxMarginMarkovClassifier`` on trees and on DAGs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.models.markov_checks import split_of
from taxonomist.solvers.markov_graph import GraphProblem, labelled_dag, labelling_tree
from taxonomist.solvers.markov_problem import MarkovProblem, labelled_tree

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.compiled.graph_arrays import LabelledDag
    from taxonomist.losses import LabellingLoss
    from taxonomist.models.max_margin_markov_classifier import MaxMarginMarkovClassifier
    from taxonomist.solvers.problem import Items


def markov_problem(
    model: MaxMarginMarkovClassifier,
    loss: LabellingLoss,
    items: Items,
    labels: CSR,
    costs: Floats,
    owner: Codes,
) -> MarkovProblem | GraphProblem:
    """Return the training problem of a model, on a tree or on a DAG.

    Parameters
    ----------
    model
        The model, for its parameters.
    loss
        The loss between labellings of its taxonomy.
    items, labels, costs, owner
        As in ``MarkovProblem``.
    """
    if loss.taxonomy.is_tree:
        train_on = "all" if model.train_on == "auto" else model.train_on
        features = "path" if model.features == "path" else "edge"
        tree = labelled_tree(loss, features, train_on, split_of(model))
        return MarkovProblem(items, labels, costs, tree, model.slack, owner)
    check_dag(model)
    dag = _dag(model, loss)
    return GraphProblem(items, labels, costs, dag, model.slack, owner, split_of(model))


def check_dag(model: MaxMarginMarkovClassifier) -> None:
    """Raise if the model has parameters that only trees support."""
    if np.isinf(model.C) or model.features == "additive":
        given = "A hard margin (C=inf)" if np.isinf(model.C) else "features='additive'"
        raise ParameterError(
            f"{given} needs a tree, but a node of this taxonomy has several parents: use another, "
            "or taxonomy.spanning_tree()."
        )
    if model.slack == "edge" and model.features == "path":
        raise ParameterError(
            "slack='edge' with features='path' needs a tree, but a node of this taxonomy has "
            "several parents: use features='edge', or taxonomy.spanning_tree()."
        )


def _dag(model: MaxMarginMarkovClassifier, loss: LabellingLoss) -> LabelledDag:
    """Return the DAG with the labellings that the truth is compared with.

    By default, they are all labellings if the worst of them can be found exactly. It can if there
    is a small junction tree, or if each edge has a slack of its own.
    """
    dag = labelled_dag(loss, model.features, "all")
    is_narrow = model.slack == "edge" or labelling_tree(dag) is not None
    if model.train_on == "all" and model.features == "path" and not is_narrow:
        raise ParameterError(
            "features='path' with train_on='all' needs a tree or a DAG with a small junction tree, "
            "which this taxonomy does not have: use train_on='consistent'."
        )
    is_closed = model.train_on == "consistent" or (model.train_on == "auto" and not is_narrow)
    return dag._replace(is_closed=is_closed)
