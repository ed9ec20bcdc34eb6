"""Decisions that a user narrows down: to a branch, to a level, to sure nodes, to a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.errors import ParameterError
from taxonomist.inference.stopping import ROUNDING, least_cost_nodes
from taxonomist.losses import weighted_tree

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.text import TextClassifier
    from taxonomist.text.answers import TextAnswers

__all__ = ["NarrowedChoice", "choose", "expected_losses", "most_probable", "node_chances"]


class NarrowedChoice(NamedTuple):
    """How to choose the labels of a text.

    Attributes
    ----------
    confident
        Minimum probability that a label is correct: chooses the deepest node that reaches it.
    branch
        A node: labels are at or below it, and probabilities are those given that the text belongs
        there.
    level
        A depth: labels are not below it. Without ``confident``, a text with one category gets the
        most probable node at this depth.
    loss
        A loss between categories, such as ``"tree"``: chooses the node with the smallest expected
        loss, whatever measure the model was trained for.
    """

    confident: float | None = None
    branch: str | None = None
    level: int | None = None
    loss: str | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether there is a branch or a level."""
        return self.branch is not None or self.level is not None


def choose(
    classifier: TextClassifier, answers: TextAnswers, choice: NarrowedChoice
) -> list[list[str]]:
    """Return the labels of each text.

    Raises
    ------
    ParameterError
        If the options cannot be combined, or there is no node at the level.
    UnknownNodeError
        If the branch is unknown.
    """
    if choice.loss is not None and (choice.confident is not None or choice.level is not None):
        raise ParameterError("A loss cannot be combined with a level or a confidence.")
    rule: dict[str, object] = {}
    if choice.confident is not None:
        rule = {"depth": "confident", "risk": round(1 - choice.confident, 12)}
    elif choice.loss is not None:
        # By its name, the tree loss would keep to what the model was trained for.
        rule = {"cost": weighted_tree() if choice.loss == "tree" else choice.loss}
    if not choice.is_narrow:
        return answers.labels(**rule)  # type: ignore[arg-type]
    allowed = _allowed(classifier, choice)
    if classifier.is_multilabel_:
        nodes = classifier.taxonomy_.nodes
        kept = {nodes[code] for code in np.flatnonzero(allowed).tolist()}
        sets = answers.labels(**rule)  # type: ignore[arg-type]
        return [[label for label in labels if label in kept] for labels in sets]
    codes = _codes(classifier, answers, choice, allowed)
    return [[classifier.taxonomy_.nodes[code]] for code in codes.tolist()]


def _allowed(classifier: TextClassifier, choice: NarrowedChoice) -> Bools:
    """Return which nodes can be labels."""
    taxonomy = classifier.taxonomy_
    allowed: Bools = np.ones(taxonomy.n_nodes, dtype=bool)
    if choice.branch is not None:
        allowed = below(classifier, choice.branch)
    if choice.level is not None:
        allowed = allowed & (taxonomy.depths <= choice.level)
        if not (taxonomy.depths[allowed] == choice.level).any():
            where = "" if choice.branch is None else f" in the branch {choice.branch!r}"
            raise ParameterError(f"There is no node at level {choice.level}{where}.")
    return allowed


def below(classifier: TextClassifier, branch: str) -> Bools:
    """Return which nodes are at or below a node."""
    taxonomy = classifier.taxonomy_
    found: Bools = np.zeros(taxonomy.n_nodes, dtype=bool)
    found[taxonomy.codes([branch, *taxonomy.descendants(branch)])] = True
    return found


def _codes(
    classifier: TextClassifier, answers: TextAnswers, choice: NarrowedChoice, allowed: Bools
) -> Codes:
    """Return the node of each text with one category."""
    taxonomy = classifier.taxonomy_
    masses = _given(classifier, answers.node_proba(), choice.branch)
    if choice.confident is not None:
        sure = allowed & (masses >= choice.confident - ROUNDING)
        depth = np.where(sure, taxonomy.depths, -1)
        return _largest(masses, sure & (depth == depth.max(axis=1, keepdims=True)))
    if choice.level is not None:
        return _largest(masses, allowed & (taxonomy.depths == choice.level))
    top = taxonomy.code(str(choice.branch))
    categories = taxonomy.codes(classifier.classes_.tolist())
    if not allowed[categories].any():
        return np.full(len(masses), top)
    chances = np.where(allowed[categories], answers.proba(), 0.0)
    if choice.loss is None:
        return np.asarray(categories[_largest(chances, allowed[categories])])
    totals = chances.sum(axis=1, keepdims=True)
    chances = np.divide(chances, totals, out=chances, where=totals > 0)
    best = least_cost_nodes(choice.loss, taxonomy, categories, chances, masses)
    return np.where(allowed[best], best, top)


def _largest(values: Floats, candidates: Bools) -> Codes:
    """Return the column of the largest value of each row among the candidates."""
    found: Codes = np.where(candidates, values, -1.0).argmax(axis=1)
    return found


def _given(classifier: TextClassifier, masses: Floats, branch: str | None) -> Floats:
    """Return node probabilities given that a text belongs to a branch."""
    if branch is None:
        return masses
    taxonomy = classifier.taxonomy_
    code = taxonomy.code(branch)
    total = masses[:, [code]]
    inside = np.where(below(classifier, branch), masses, 0.0)
    found = np.divide(inside, total, out=np.zeros_like(inside), where=total > 0)
    found[:, taxonomy.codes([branch, *taxonomy.ancestors(branch)])] = 1.0
    return found


def node_chances(
    classifier: TextClassifier, answers: TextAnswers, branch: str | None = None
) -> Floats:
    """Return the probability of every node, (n_items, n_nodes).

    With a branch and one category per text, it is the probability given that the text belongs
    there.
    """
    masses = answers.node_proba()
    if branch is None or classifier.is_multilabel_:
        return masses
    return _given(classifier, masses, branch)


def most_probable(
    classifier: TextClassifier, answers: TextAnswers, k: int, branch: str | None = None
) -> list[list[tuple[str, float]]]:
    """Return the k most probable categories of each text, those of a branch if one is given."""
    if branch is None:
        ids, chances = answers.topk(k)
        return [
            list(zip(map(str, row), values, strict=True))
            for row, values in zip(ids, chances.tolist(), strict=True)
        ]
    classes = classifier.classes_
    inside = np.flatnonzero(below(classifier, branch)[classifier.taxonomy_.codes(classes.tolist())])
    chances = answers.proba()[:, inside]
    totals = answers.node_proba()[:, [classifier.taxonomy_.code(branch)]]
    if not classifier.is_multilabel_:
        chances = np.divide(chances, totals, out=np.zeros_like(chances), where=totals > 0)
    best = np.argsort(-chances, axis=1, kind="stable")[:, :k]
    return [
        [(str(classes[inside[column]]), float(row[column])) for column in order]
        for row, order in zip(chances, best.tolist(), strict=True)
    ]


def expected_losses(
    classifier: TextClassifier, answers: TextAnswers, labels: list[list[str]]
) -> Floats:
    """Return the expected loss of the labels of each text, (n_items,).

    For one category it is the tree loss, half the number of nodes above or equal to exactly one of
    the two; for label sets, the number of nodes that are in exactly one of the two.
    """
    taxonomy = classifier.taxonomy_
    masses = answers.node_proba()
    above = taxonomy.ancestor_matrix()
    found = masses.sum(axis=1)
    for i, chosen in enumerate(labels):
        codes = np.unique(above[taxonomy.codes(chosen)].indices)
        found[i] += (1 - 2 * masses[i, codes]).sum()
    # The root is certain, whether or not it is written into the labels.
    found -= np.where([not chosen for chosen in labels], masses[:, 0], 0.0)
    scale = 1.0 if classifier.is_multilabel_ else 0.5
    losses: Floats = np.maximum(found, 0.0) * scale
    return losses
