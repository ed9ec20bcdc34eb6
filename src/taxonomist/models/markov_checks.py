"""Which parameters of ``MaxMarginMarkovClassifier`` go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from taxonomist.compiled.markov_arrays import EVERYWHERE
from taxonomist.errors import ParameterError, closest, some

if TYPE_CHECKING:
    from taxonomist._typing import Codes
    from taxonomist.taxonomy import Taxonomy

SUBSPACE_OPTIONS = ("oracle", "working_set", "chunk_size", "steps_per_example")
"""Options of the subspace solver that ``solver_options`` may have."""


class MarkovParameters(Protocol):
    """The parameters that are checked against each other."""

    C: float
    slack: str
    edge_loss: str
    features: str
    train_on: str
    solver: str
    local_features: object
    solver_options: object


def check_markov(model: MarkovParameters) -> None:
    """Raise if parameters do not go together.

    Raises
    ------
    ParameterError
        For the first combination that makes no sense.
    """
    if np.isinf(model.C):
        _check_hard(model)
    if model.features == "additive":
        _check_additive(model)
    _check_options(model)


def _check_hard(model: MarkovParameters) -> None:
    """Raise if a hard margin is impossible or has no solver."""
    if model.slack != "example":
        raise ParameterError(
            f"A hard margin, C=inf, has no slack variables. Got slack={model.slack!r}; use "
            "'example'."
        )
    if model.features == "path" and model.train_on != "consistent":
        raise ParameterError(
            "With features='path', a node that is positive below a negative one does not change "
            "the score, so no hard margin exists: use train_on='consistent', or a finite C."
        )
    if model.solver == "subspace":
        raise ParameterError("solver='subspace' needs a finite C; use 'sequential' for C=inf.")


def _check_additive(model: MarkovParameters) -> None:
    """Raise if additive features are impossible or have no solver."""
    if not model.local_features:
        raise ParameterError(
            "features='additive' shares the weights among all edges, so each node needs features "
            "of its own: give local_features."
        )
    if model.slack != "example":
        raise ParameterError(
            f"features='additive' needs slack='example', because edges share their weights. Got "
            f"{model.slack!r}."
        )
    if model.solver == "subspace":
        raise ParameterError(
            "solver='subspace' has a block of weights for each edge or path: "
            "use 'sequential' with features='additive'."
        )


def _check_options(model: MarkovParameters) -> None:
    """Raise if ``solver_options`` is not a mapping of options of the subspace solver."""
    given = model.solver_options
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"solver_options must be a mapping, such as {{'chunk_size': 1000}}. Got {given!r}."
        )
    for name in given:
        if name not in SUBSPACE_OPTIONS:
            raise ParameterError(
                f"solver_options has no {name!r}; choose from {some(SUBSPACE_OPTIONS)}."
                f"{closest(str(name), SUBSPACE_OPTIONS)}"
            )
    if given and model.solver != "subspace":
        raise ParameterError(
            f"solver_options are those of solver='subspace'. Got solver={model.solver!r}."
        )


def split_of(model: MarkovParameters) -> str:
    """Return how the loss is split over edges; without slacks of edges, the sum is all there is."""
    return model.edge_loss if model.slack == "edge" else "upper"


def shared_rows(taxonomy: Taxonomy, owner: Codes) -> Codes:
    """Return the row of the weights that all edges share for each column of X.

    The first columns of all nodes share a row, the second ones another, and so on. Each global
    column has a row of its own after these.

    Raises
    ------
    ParameterError
        If a node below the root has no local features, or more or fewer than another.
    """
    counts = np.bincount(owner[owner != EVERYWHERE], minlength=taxonomy.n_nodes)[1:]
    if counts.min() != counts.max():
        few, many = (1 + int(at) for at in (counts.argmin(), counts.argmax()))
        raise ParameterError(
            "features='additive' needs as many local features for every node below the root, but "
            f"{taxonomy.nodes[few]!r} has {counts[few - 1]} and {taxonomy.nodes[many]!r} has "
            f"{counts[many - 1]}."
        )
    shared = np.empty(len(owner), dtype=np.intp)
    for j in range(1, taxonomy.n_nodes):
        shared[owner == j] = np.arange(counts[0])
    everywhere = owner == EVERYWHERE
    shared[everywhere] = counts[0] + np.arange(everywhere.sum())
    return shared
