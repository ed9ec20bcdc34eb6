"""What models with a classifier for each node share: the problems of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from taxonomist.inference.limits import Limits
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.learning import Learned, Training
from taxonomist.models.node_margins import TopDownDecision, in_all, parents_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.models.node_margins import MarginScorer
    from taxonomist.models.targets import Targets
    from taxonomist.taxonomy import Taxonomy


class NodeProblem(NamedTuple):
    """The items that a node's classifier learns from, and which of them the node has."""

    code: int
    parents: tuple[int, ...]
    items: Codes
    is_in: Bools


class PerNodeModel(TaxonomyClassifier):
    """A model with a classifier for each node, and decisions from the top down.

    A subclass has the parameter ``min_labels``, and learns the classifiers in ``learn_nodes``.
    Nodes whose items are all in or all out have no classifier, only an answer; neither has a
    virtual root.

    Attributes
    ----------
    is_top_down
        Whether a node learns only from items that all its parents have.
    """

    is_top_down = True
    min_labels: int | None
    node_constants_: dict[Any, bool]

    def learn_nodes(
        self, training: Training, problems: Iterator[NodeProblem], constants: Floats
    ) -> tuple[MarginScorer, dict[str, Any]]:
        """Return a scorer with the classifiers of all nodes that need one, and fitted attributes.

        Parameters
        ----------
        training
            All items.
        problems
            What each node learns from. When they are exhausted, ``constants`` is complete.
        constants
            Margins of nodes without a classifier; NaN for the others.
        """
        raise NotImplementedError

    def learn(self, training: Training, start: Any = None) -> Learned:  # noqa: ARG002
        """Return a classifier for each node; see ``TaxonomyClassifier.learn``."""
        targets = training.targets
        taxonomy = targets.categories.taxonomy
        constants = np.full(taxonomy.n_nodes, np.nan)
        closed = csc_array(targets.close(targets.labels))
        problems = node_problems(taxonomy, closed, training.weights, self.is_top_down)
        scorer, facts = self.learn_nodes(training, _open(problems, constants), constants)
        names, answers = targets.node_names, (constants > 0).tolist()
        without = np.flatnonzero(~np.isnan(constants)).tolist()
        first = int(taxonomy.has_artificial_root)
        found = {names[code]: answers[code] for code in without if code >= first}
        return Learned(scorer, facts | {"node_constants_": found})

    def limits(self, targets: Targets) -> Limits:
        """Return the least number of labels, and that of all categories."""
        n_categories = len(targets.categories)
        if self.min_labels is not None and not 0 <= self.min_labels <= n_categories:
            raise ValueError(
                f"min_labels must be None or from 0 to {n_categories}, the number of categories. "
                f"Got {self.min_labels!r}."
            )
        return Limits(self.min_labels or 0, n_categories)

    def tuning(self, training: Training, held_out: Codes) -> None:
        """Return None: the classifiers themselves decide."""

    @property
    def decider(self) -> TopDownDecision:
        """What turns margins into label sets."""
        return TopDownDecision(self.targets_, self.min_labels)

    def check_rows(self, X: Any, reset: bool) -> Any:
        """Return checked items."""
        return narrow_indices(
            validate_data(
                self,
                X,
                accept_sparse="csr",
                dtype=(np.float64, np.float32),
                ensure_all_finite="allow-nan" if get_tags(self).input_tags.allow_nan else True,
                reset=reset,
            )
        )

    def source_title(self, source: int) -> tuple[str, str]:
        """Return id and display name of a node."""
        return str(self.targets_.node_names[source]), self.taxonomy_.names[source]


def _open(problems: Iterator[NodeProblem], constants: Floats) -> Iterator[NodeProblem]:
    """Yield the problems that need a classifier; write the answers of the others."""
    for problem in problems:
        if problem.is_in.all() and len(problem.items):
            constants[problem.code] = np.inf
        elif not problem.is_in.any():
            constants[problem.code] = -np.inf
        else:
            yield problem


def node_problems(
    taxonomy: Taxonomy, closed: Any, weights: Floats, is_top_down: bool
) -> Iterator[NodeProblem]:
    """Yield what each node learns from; nodes with the same parents follow each other.

    ``closed`` holds label sets closed under ancestors, (n_items, n_nodes) CSC. Items without weight
    are left out. A virtual root has all items, also those without labels.
    """
    everyone = np.flatnonzero(weights)
    if not len(everyone):
        raise ValueError("No item has a weight above 0, so there is nothing to learn.")
    ends = closed.indptr
    members = [
        np.intersect1d(everyone, closed.indices[ends[code] : ends[code + 1]], assume_unique=True)
        for code in range(taxonomy.n_nodes)
    ]
    if taxonomy.has_artificial_root:
        members[0] = everyone
    above = [parents_of(taxonomy, code) for code in range(taxonomy.n_nodes)]
    for code in sorted(range(taxonomy.n_nodes), key=above.__getitem__):
        seen = in_all(members, above[code], everyone) if is_top_down else everyone
        is_in = np.isin(seen, members[code], assume_unique=True)
        yield NodeProblem(code, above[code], seen, is_in)


def narrow_indices(X: Any) -> Any:
    """Return items with 32-bit indices, if they are sparse and fit: liblinear takes no others."""
    if not hasattr(X, "indptr") or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return type(X)((X.data, indices, indptr), shape=X.shape)
