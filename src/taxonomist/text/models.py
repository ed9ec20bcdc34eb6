"""The models that texts can be classified by, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taxonomist.errors import closest
from taxonomist.models import (
    CoupledBinarySVC,
    HierarchicalMixture,
    HierarchicalPerceptron,
    HierarchicalRankingSVC,
    HierarchicalShrinkage,
    HierarchicalSVC,
    LidstoneNB,
    MaxMarginMarkovClassifier,
    NodeSVC,
    ThresholdedKNN,
    TopDownSVC,
)

if TYPE_CHECKING:
    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True)
class Choice:
    """A model that can be chosen by name.

    Attributes
    ----------
    single, sets
        The class for one category per item, and for label sets.
    options
        Parameters that make the class this choice.
    set_options
        Those of the class for label sets.
    has_cost
        Whether it has the parameter C.
    counts
        Whether it takes counts of words; others take tf-idf.
    needs_tree
        Whether a DAG is refused.
    """

    single: type[Any]
    sets: type[Any]
    options: tuple[tuple[str, Any], ...] = ()
    set_options: tuple[tuple[str, Any], ...] = ()
    has_cost: bool = True
    counts: bool = False
    needs_tree: bool = False


FLAT = (("attributes", "flat"),)
MODELS = {
    "svm": Choice(HierarchicalSVC, CoupledBinarySVC, set_options=(("constant", 1.0),)),
    "flat": Choice(
        HierarchicalSVC,
        CoupledBinarySVC,
        (*FLAT, ("loss", "zero_one")),
        (*FLAT, ("constant", 1.0)),
    ),
    "ranking": Choice(
        HierarchicalRankingSVC, HierarchicalRankingSVC, set_options=(("slack", "pair"),)
    ),
    "markov": Choice(MaxMarginMarkovClassifier, MaxMarginMarkovClassifier, needs_tree=True),
    "perceptron": Choice(
        HierarchicalPerceptron,
        HierarchicalPerceptron,
        (("ridge", 1.0), ("average", True)),
        (("ridge", 1.0), ("average", True)),
        has_cost=False,
    ),
    "nodes": Choice(NodeSVC, NodeSVC, set_options=(("min_labels", 1),)),
    "top_down": Choice(TopDownSVC, TopDownSVC, set_options=(("min_labels", 1),)),
    "mixture": Choice(HierarchicalMixture, HierarchicalMixture, has_cost=False, counts=True),
    "shrinkage": Choice(HierarchicalShrinkage, HierarchicalShrinkage, has_cost=False, counts=True),
    "naive_bayes": Choice(LidstoneNB, LidstoneNB, has_cost=False, counts=True),
    "neighbours": Choice(
        ThresholdedKNN, ThresholdedKNN, (("tfidf", False),), (("tfidf", False),), has_cost=False
    ),
}
"""Models by the word that stands for them."""


def choice_of(name: str) -> Choice:
    """Return what a name stands for, or refuse it."""
    if name not in MODELS:
        hint = closest(name, list(MODELS))
        raise ValueError(f"model must be 'auto' or one of {', '.join(MODELS)}. Got {name!r}.{hint}")
    return MODELS[name]


def make_model(
    name: str, taxonomy: Taxonomy | None, *, is_multilabel: bool, C: float = 1.0, **options: Any
) -> Any:
    """Return an unfitted model.

    Parameters
    ----------
    name
        One of ``MODELS``.
    taxonomy
        The taxonomy of the labels; None for none.
    is_multilabel
        Whether items have label sets.
    C
        Cost of slack, where the model has it.
    **options
        Further parameters of the model; those that it does not have are left out.
    """
    choice = choice_of(name)
    made = (choice.sets if is_multilabel else choice.single)(taxonomy)
    fixed = dict(choice.set_options if is_multilabel else choice.options)
    known = made.get_params(deep=False)
    found = {key: value for key, value in options.items() if key in known}
    return made.set_params(**fixed, **({"C": C} if choice.has_cost else {}), **found)
