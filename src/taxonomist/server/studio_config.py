"""The labelling interface of a Label Studio project, as far as predictions need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.server.live_model import LiveModel

__all__ = ["StudioConfig"]

CONTROLS = ("Taxonomy", "Choices")
"""Tags that can hold categories."""


class StudioConfig(NamedTuple):
    """Where predictions go and where texts come from.

    Attributes
    ----------
    kind
        ``"taxonomy"`` or ``"choices"``.
    from_name, to_name
        Names of the tags for the categories and for the text.
    field
        Field of a task with the text; empty if it is unknown.
    words
        What the tag calls its categories.
    """

    kind: str = "taxonomy"
    from_name: str = "taxonomy"
    to_name: str = "text"
    field: str = ""
    words: frozenset[str] = frozenset()

    @classmethod
    def read(cls, config: str) -> StudioConfig:
        """Read a labelling interface.

        Raises
        ------
        FormatError
            If it is not XML, or has no tag for categories.
        """
        if not config.strip():
            return cls()
        # Entities have no use here, and can be made to fill the memory.
        if "<!" in config.replace("<!--", ""):
            raise FormatError("The label_config must not have a document type or entities.")
        try:
            root = ElementTree.fromstring(config)
        except ElementTree.ParseError as error:
            raise FormatError(f"The label_config is not valid XML: {error}.") from None
        for tag in root.iter():
            if tag.tag in CONTROLS and tag.get("name") and tag.get("toName"):
                to_name = str(tag.get("toName"))
                sources = (each for each in root.iter() if each.get("name") == to_name)
                value = next((each.get("value", "") for each in sources), "")
                choices = tag.iter("Choice")
                names = (each.get("alias") or each.get("value") or "" for each in choices)
                place = str(tag.get("name")), to_name, value.lstrip("$")
                return cls(tag.tag.lower(), *place, frozenset(names))
        raise FormatError("The label_config has no Taxonomy or Choices tag.")

    def text_of(self, data: Mapping[str, object], columns: Sequence[str]) -> dict[str, str]:
        """Return the text of a task, by column; columns that are fields of the task come first."""
        found = {name: str(data[name]) for name in columns if isinstance(data.get(name), str)}
        if found:
            return {name: found.get(name, "") for name in columns}
        value = data.get(self.field)
        if not isinstance(value, str):
            strings = [each for each in data.values() if isinstance(each, str)]
            value = strings[0] if strings else ""
        return {name: value if name == columns[0] else "" for name in columns}

    def value(self, model: LiveModel, labels: Sequence[str]) -> dict[str, object]:
        """Return labels as the value of a result, by their ids if the tag has these."""
        if self.kind == "choices":
            return {"choices": [self._word(model, label) for label in labels]}
        return {"taxonomy": [self._steps(model, label) for label in labels]}

    def _word(self, model: LiveModel, label: str) -> str:
        return label if label in self.words else model.titles.name(label) or label

    def _steps(self, model: LiveModel, label: str) -> list[str]:
        ids = model.taxonomy.paths(label, limit=1)[0]
        return list(ids if self.words.intersection(ids) else model.titles.path(label))

    @staticmethod
    def labels(results: Sequence[Mapping[str, object]], model: LiveModel) -> list[str]:
        """Return the labels of an annotation as ids.

        Raises
        ------
        UnknownNodeError
            If one is not in the taxonomy.
        """
        found: list[str] = []
        for result in results:
            value = result.get("value")
            if not isinstance(value, dict):
                continue
            paths = value.get("taxonomy") or [[choice] for choice in value.get("choices") or []]
            found += [model.taxonomy.resolve(_path(path)) for path in paths]
        return list(dict.fromkeys(found))


def _path(path: object) -> object:
    """Return a path, or its only step."""
    steps = [str(step) for step in path] if isinstance(path, list) else [str(path)]
    return steps[0] if len(steps) == 1 else steps
