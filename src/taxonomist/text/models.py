"""The models for text classification, by the names given in their traits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from taxonomist.errors import ParameterError, closest
from taxonomist.models import all_models
from taxonomist.text.measure import MEASURE, decision_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text.measure import MeasureLike


@dataclass(frozen=True)
class Choice:
    """A model that can be chosen by name.

    Attributes
    ----------
    single, sets
        The class for one category per item, and for label sets.
    options, set_options
        Parameters of the two classes for this choice.
    """

    single: type[Any]
    sets: type[Any]
    options: Mapping[str, object]
    set_options: Mapping[str, object]

    @property
    def has_cost(self) -> bool:
        """Whether the model has the parameter C."""
        return "C" in self.single().get_params(deep=False)

    @property
    def counts(self) -> bool:
        """Whether the model takes word counts instead of tf-idf."""
        return bool(self.single.traits.takes_counts)

    @property
    def needs_tree(self) -> bool:
        """Whether the model needs a tree and cannot use a DAG."""
        return bool(self.single.traits.needs_tree)


class Choices(Mapping[str, Choice]):
    """The models by name, from the traits of all models, which are imported on first use."""

    @cached_property
    def _known(self) -> dict[str, Choice]:
        kinds: list[Any] = list(all_models().values())
        single = {name: kind for kind in kinds for name in kind.traits.single}
        sets = {name: kind for kind in kinds for name in kind.traits.sets}
        return {
            name: Choice(kind, sets[name], kind.traits.single[name], sets[name].traits.sets[name])
            for name, kind in sorted(single.items())
        }

    def __getitem__(self, name: str) -> Choice:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


MODELS = Choices()
"""Models by name."""
BLEND = " + "
"""Stands between the names of models whose scores are averaged."""
DEFAULT_MODEL = "path"
"""The model that is used unless another one is given."""


def members_of(name: str) -> list[str]:
    """Return the names of the models that a name such as ``"path + svm"`` blends."""
    return name.split(BLEND)


def choice_of(name: str) -> Choice:
    """Return the model with a name, or the first of a blend; raise if the name is unknown."""
    name = members_of(name)[0]
    if name not in MODELS:
        hint = closest(name, list(MODELS))
        known = ", ".join(MODELS)
        raise ParameterError(f"model must be 'auto' or one of {known}. Got {name!r}.{hint}")
    return MODELS[name]


def make_model(
    name: str,
    taxonomy: Taxonomy | None,
    *,
    is_multilabel: bool,
    C: float = 1.0,
    measure: MeasureLike = MEASURE,
    **options: Any,
) -> Any:
    """Return an unfitted model.

    Parameters
    ----------
    name
        One of ``MODELS``, or several such as ``"path + svm"``, whose scores are averaged.
    taxonomy
        The taxonomy of the labels; None for a single level.
    is_multilabel
        Whether items have label sets.
    C
        Regularisation parameter; ignored if the model does not have it.
    measure
        What decisions are made for, if the model has a choice.
    **options
        Further parameters of the model; those that it does not have are ignored.
    """
    if BLEND in name:
        from taxonomist.models import BlendedClassifier

        given = {"is_multilabel": is_multilabel, "C": C, "measure": measure, **options}
        members = [make_model(member, taxonomy, **given) for member in members_of(name)]
        return BlendedClassifier(taxonomy, models=members)
    choice = choice_of(name)
    made = (choice.sets if is_multilabel else choice.single)(taxonomy)
    fixed = dict(choice.set_options if is_multilabel else choice.options)
    known = made.get_params(deep=False)
    fixed |= decision_for(measure, made, is_sets=is_multilabel)
    found = {key: value for key, value in options.items() if key in known}
    return made.set_params(**{**fixed, **({"C": C} if choice.has_cost else {}), **found})
