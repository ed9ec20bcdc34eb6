"""``PathAnswers``: the predictions of ``PathSVC``, which has probabilities of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from taxonomist._threads import n_threads
from taxonomist.errors import ParameterError
from taxonomist.inference.node_probabilities import sum_of_categories
from taxonomist.inference.path_scorer import PathScorer
from taxonomist.models.answers import Answers
from taxonomist.models.probable_answers import ProbableAnswers

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Floats, MatrixLike, Objects
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.path_svc import PathSVC


class PathSearch(NamedTuple):
    """The result of ``PathSVC.search``.

    Attributes
    ----------
    labels
        The labels of each item, best first, (n_items, k); None where fewer were found.
    scores
        Their scores, as in ``decision_function``; -inf where fewer were found.
    is_exact
        Whether the answer is certainly the one of scoring all categories, (n_items,).
    """

    labels: Objects
    scores: Floats
    is_exact: Bools


class PathAnswers(ProbableAnswers, Answers):
    """All predictions for a block of items, which are scored once.

    Parameters
    ----------
    model
        The fitted model.
    scored
        The items.
    """

    def __init__(self, model: PathSVC, scored: Scored) -> None:
        ProbableAnswers.__init__(self, model.targets_)
        self._model = model
        self._scored = scored
        self._plain = Answers(model, scored)

    @cached_property
    def categories(self) -> Floats:
        """Category probabilities."""
        return np.vstack([self._model.probabilities(part) for part in self._scored.blocks()])

    @cached_property
    def of_nodes(self) -> Floats:
        """Probabilities that items belong at or below every node."""
        if self._targets.is_single:
            return sum_of_categories(self._taxonomy, self._targets.nodes, self.categories)
        scorer = cast("NodeScorer", self._scored.scorer)
        parts = [scorer.node_probabilities(part.raw) for part in self._scored.blocks()]
        return np.vstack(parts)

    def topk(self, k: int = 5) -> tuple[Objects, Floats]:
        """Return the k best categories of each item, and their scores."""
        return self._plain.topk(k)

    def explain(self, item: int = 0, n: int = 10, **options: Any) -> Any:
        """Explain a score of one item; see ``explain`` of the model."""
        return self._plain.explain(item, n, **options)

    def wrapped(self, question: str) -> Answers:  # noqa: ARG002
        """Return the plain predictions."""
        return self._plain


def searched(model: PathSVC, X: MatrixLike, k: int, beam: int | None) -> PathSearch:
    """Search for the k best categories of each item from the top; see ``PathSVC.search``."""
    scorer = model.scorer_
    is_possible = isinstance(scorer, PathScorer) and not scorer.has_typical
    if not (is_possible and model.taxonomy_.is_tree):
        raise ParameterError(
            "search needs single labels, a taxonomy that is a tree, and complement=False; use "
            "predict_topk."
        )
    if not 1 <= k <= len(model.classes_):
        raise ParameterError(f"k must be between 1 and {len(model.classes_)}. Got {k}.")
    rows = model.checked_rows(X, reset=False)
    found = replace(cast("PathScorer", scorer), beam=beam)
    columns, scores, is_exact = found.search(rows, k, n_threads(model.n_jobs))
    labels = model.classes_.astype(object)[columns]
    labels[columns < 0] = None
    return PathSearch(labels, scores, is_exact)
