"""A model that answers requests. It never changes: another version is another object."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from taxonomist.compiled.jit import sparing_nothing
from taxonomist.datasets.items import Item
from taxonomist.errors import ModelFileError
from taxonomist.persistence import describe
from taxonomist.server.store.documents import Offer
from taxonomist.text import TextClassifier
from taxonomist.workflow.choices import NarrowedChoice, choose, expected_losses, most_probable
from taxonomist.workflow.label_ancestors import LabelAncestors
from taxonomist.workflow.node_titles import NodeTitles
from taxonomist.workflow.predictions import Predictor, Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text.explanation import TextExplanation
    from taxonomist.workflow.predictions import Prediction

__all__ = ["LiveModel", "model_version"]

N_OFFERED = 10
"""Categories that are kept with the offer for a document."""
N_NAMES = 50
"""Names of categories in the first text that a model is asked about."""
VERSION_LENGTH = 12


def model_version(folder: Path) -> str:
    """Return the version of a model: the start of a hash of its manifest."""
    try:
        manifest = (folder / "manifest.json").read_bytes()
    except OSError as error:
        raise ModelFileError(
            f"{folder} is not the folder of a model ({error.strerror}). Make one with "
            "'taxonomist train'."
        ) from error
    return hashlib.sha256(manifest).hexdigest()[:VERSION_LENGTH]


class LiveModel:
    """A loaded classifier of texts, with what requests ask about it.

    Parameters
    ----------
    folder
        The folder of the model.
    is_served
        Whether it answers requests, so that the loops that it needs are compiled now.

    Raises
    ------
    ModelFileError
        If the folder holds no valid model, or one without probabilities.
    """

    def __init__(self, folder: Path, *, is_served: bool = True) -> None:
        self.version = model_version(folder)
        self.folder = folder
        self.classifier = TextClassifier.load(folder)
        if self.classifier.calibration is None:
            raise ModelFileError(
                f"The model in {folder} has no probabilities, which the service needs. Train it "
                "with --calibration auto."
            )
        self.titles = NodeTitles(self.taxonomy)
        self.columns = list(self.classifier.features_.columns_ or ["text"])
        self.created = _created(folder)
        self.categories = frozenset(map(str, self.classifier.classes_.tolist()))
        # A model that cannot answer is found out before it is used.
        text = self.item(" ".join(["text", *islice(self.taxonomy.raw_names.values(), N_NAMES)]))
        with sparing_nothing() if is_served else nullcontext():
            self.offers([text])
        if self.can_explain:
            self.explain(text, 1, None)

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy of the model."""
        return self.classifier.taxonomy_

    @property
    def is_multilabel(self) -> bool:
        """Whether documents have label sets."""
        return self.classifier.is_multilabel_

    def item(self, text: str, metadata: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return a text by column; metadata named like columns fill these."""
        found = {name: (metadata or {}).get(name, "") for name in self.columns}
        place = next((name for name in self.columns if not found[name]), self.columns[0])
        found[place] = f"{found[place]}\n{text}" if found[place] else text
        return found

    def by_column(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return texts with the columns of the model; those that are absent are empty."""
        return {name: texts.get(name, "") for name in self.columns}

    def suggest(self, texts: Sequence[Mapping[str, str]], k: int) -> list[list[tuple[str, float]]]:
        """Return the k most probable categories of each text."""
        if not texts or not k:
            return [[] for _ in texts]
        return most_probable(self.classifier, self.classifier.answer(texts), k)

    def offers(self, texts: Sequence[Mapping[str, str]]) -> list[Offer]:
        """Return what the model offers for each text, with the expected loss."""
        if not texts:
            return []
        classifier = self.classifier
        answers = classifier.answer(texts)
        most_specific = LabelAncestors(self.taxonomy).most_specific
        labels = [*map(most_specific, choose(classifier, answers, _PLAIN))]
        tops = most_probable(classifier, answers, N_OFFERED)
        losses = expected_losses(classifier, answers, labels).tolist()
        return [
            Offer(self.version, found, top, loss, self.branch_of(found or [top[0][0]]))
            for found, top, loss in zip(labels, tops, losses, strict=True)
        ]

    def predict(self, items: Sequence[Item], wanted: Wanted) -> list[Prediction]:
        """Return the predictions for items."""
        return Predictor(self.classifier, wanted).predict(items)

    def explain(self, text: Mapping[str, str], n: int, category: str | None) -> TextExplanation:
        """Return the words for and against a category, or a node above categories."""
        if category is None or category in self.categories:
            return self.classifier.explain(dict(text), n=n, category=category)
        return self._explain_above(dict(text), n, category)

    def _explain_above(self, text: dict[str, str], n: int, node: str) -> TextExplanation:
        """Explain the best category below a node, but only the levels down to the node."""
        (found,) = self.predict([Item(1, None, text)], Wanted(top=1, branch=node))
        n_words = sum(map(len, text.values()))  # a text has no more words than characters
        whole = self.classifier.explain(text, n=n_words, category=found.top[0][0])
        above = {node, *self.taxonomy.ancestors(node)}
        levels = [level for level in whole.levels if level[0] in above]
        totals: Counter[str] = Counter()
        for *_, words in levels:
            totals.update(dict(words))
        return replace(
            whole,
            category=node,
            path=self.taxonomy.paths(node, limit=1)[0],
            probability=None,
            score=sum(value for _, _, value, _ in levels),
            levels=tuple((*level[:3], level[3][:n]) for level in levels),
            totals=totals,
            meaning=(),
        )

    @property
    def can_explain(self) -> bool:
        """Whether the model can say which words decided."""
        return self.classifier.can_explain

    def most_specific(self, labels: Sequence[str]) -> list[str]:
        """Return the labels that are not ancestors of others, without a virtual root."""
        return LabelAncestors(self.taxonomy).most_specific(labels)

    def branch_of(self, labels: Sequence[str]) -> str:
        """Return the top-level node of the first label; empty without labels."""
        if not labels:
            return ""
        path = self.taxonomy.paths(labels[0], limit=1)[0]
        first = 0 if self.taxonomy.has_artificial_root else 1
        return path[min(first, len(path) - 1)]

    def notation(self, node: str) -> str | None:
        """Return the code of a node that also has a name; None for nodes with only one of them."""
        return node if node in self.taxonomy.raw_names and "://" not in node else None


_PLAIN = NarrowedChoice()


def _created(folder: Path) -> datetime:
    found = datetime.fromisoformat(str(describe(folder)["created"]))
    return found if found.tzinfo else found.replace(tzinfo=UTC)
