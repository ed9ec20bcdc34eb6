"""The models that texts can be classified by, by the names that their traits give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taxonomist.errors import ParameterError, closest
from taxonomist.models import all_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.taxonomy import Taxonomy


@dataclass(frozen=True)
class Choice:
    """A model that can be chosen by name.

    Attributes
    ----------
    single, sets
        The class for one category per item, and for label sets.
    options, set_options
        Parameters that make the classes this choice.
    """

    single: type[Any]
    sets: type[Any]
    options: Mapping[str, Any]
    set_options: Mapping[str, Any]

    @property
    def has_cost(self) -> bool:
        """Whether it has the parameter C."""
        return "C" in self.single().get_params(deep=False)

    @property
    def counts(self) -> bool:
        """Whether it takes counts of words; others take tf-idf."""
        return bool(self.single.traits.takes_counts)

    @property
    def needs_tree(self) -> bool:
        """Whether a DAG is refused."""
        return bool(self.single.traits.needs_tree)


def _choices() -> dict[str, Choice]:
    """Return the choices that the traits of all models name."""
    kinds: list[Any] = list(all_models().values())
    single = {name: kind for kind in kinds for name in kind.traits.single}
    sets = {name: kind for kind in kinds for name in kind.traits.sets}
    return {
        name: Choice(kind, sets[name], kind.traits.single[name], sets[name].traits.sets[name])
        for name, kind in sorted(single.items())
    }


MODELS = _choices()
"""Models by the word that stands for them."""


def choice_of(name: str) -> Choice:
    """Return what a name stands for; raise if it is unknown."""
    if name not in MODELS:
        hint = closest(name, list(MODELS))
        known = ", ".join(MODELS)
        raise ParameterError(f"model must be 'auto' or one of {known}. Got {name!r}.{hint}")
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
