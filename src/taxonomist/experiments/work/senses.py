"""Word senses: passages with a target word, whose senses are the candidate answers.

Several senses of a passage may be right. A model is trained on the first one, and an answer is
judged by the most favourable one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from taxonomist import datasets
from taxonomist.datasets.files import open_text
from taxonomist.evaluation import Measure
from taxonomist.experiments.work.trials import SplitData
from taxonomist.features import ContextFeatures
from taxonomist.metrics import taxonomy_loss
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Classifier, Objects

SENSEVAL = "senseval2-english-lexical-sample"


@lru_cache(maxsize=1)
def word_senses(n_targets: int | None = None) -> SplitData:
    """Return passages around nouns with their senses, in the split of Senseval-2.

    Items are in the form that ``ContextFeatures`` takes, including the lemma; passages without a
    sense are left out. ``n_targets`` keeps only the first nouns.
    """
    with open_text(datasets.find(SENSEVAL) / "nouns.jsonl.gz") as stream:
        rows = [row for row in map(json.loads, stream) if row["labels"]]
    lemmas = sorted({row["lemma"] for row in rows})[:n_targets]
    rows = [row for row in rows if row["lemma"] in lemmas]
    ids = [f"{SENSEVAL}/{number}" for number in range(len(rows))]
    X = [(row["left"], row["head"], row["right"], row["lemma"]) for row in rows]
    y = [tuple(row["labels"]) for row in rows]
    is_test = np.array([row["split"] == "test" for row in rows])
    taxonomy = datasets.load(SENSEVAL).taxonomy.prune({sense for senses in y for sense in senses})
    split = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    return SplitData(X, y, taxonomy, [split], ids)


class AmongSenses(BaseEstimator):
    """A model that answers with senses seen in training passages with the same lemma.

    Parameters
    ----------
    model
        Takes passages, and has ``decision_function`` or ``predict_log_proba``.
    """

    def __init__(self, model: Classifier) -> None:
        self.model = model

    def fit(self, X: Sequence[Any], y: Sequence[Sequence[str]]) -> AmongSenses:
        """Train on passages and the first sense of each."""
        first = [senses[0] for senses in y]
        self.model_ = clone(self.model).fit(X, first)
        self.classes_ = np.asarray(self.model_.classes_)
        columns = {sense: column for column, sense in enumerate(self.classes_.tolist())}
        self.candidates_: dict[str, set[int]] = defaultdict(set)
        for (*_, lemma), sense in zip(X, first, strict=True):
            self.candidates_[lemma].add(columns[sense])
        return self

    def predict(self, X: Sequence[Any]) -> Objects:
        """Return the candidate with the highest score for each passage."""
        scored = hasattr(self.model_, "decision_function")
        scores = (self.model_.decision_function if scored else self.model_.predict_log_proba)(X)
        # With two classes, a decision is one number, in favour of the second.
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else np.asarray(scores)
        best = []
        for row, (*_, lemma) in zip(scores, X, strict=True):
            among = sorted(self.candidates_[lemma])
            best.append(among[int(np.argmax(row[among]))])
        return self.classes_[best]


def sense_model(taxonomy: Taxonomy, model: Callable[[Taxonomy], Classifier]) -> AmongSenses:
    """Return a model of passages that chooses among the senses of the target word."""
    return AmongSenses(make_pipeline(ContextFeatures(), model(taxonomy)))


def shuffled(taxonomy: Taxonomy, model: Callable[[Taxonomy], Classifier], seed: int) -> Any:
    """Return a model for a taxonomy whose categories are randomly permuted."""
    places = np.random.default_rng(seed).permutation(taxonomy.leaves).tolist()
    moved = dict(zip(taxonomy.leaves, places, strict=True))
    edges = [
        (parent, moved.get(node, node))
        for node in taxonomy.nodes
        for parent in taxonomy.parents(node)
    ]
    return model(Taxonomy.from_edges(edges))


def is_right(senses: Sequence[Sequence[str]], answers: Sequence[str]) -> float:
    """Return the fraction of answers that are one of the right senses."""
    right = (answer in some for some, answer in zip(senses, answers, strict=True))
    return float(np.mean([*right]))


def least_loss(
    senses: Sequence[Sequence[str]], answers: Sequence[str], taxonomy: Taxonomy, levels: str
) -> float:
    """Return the mean loss against the nearest right sense.

    ``levels`` is ``"all"`` for the loss with costs of 1/2 at each node, or ``"above"`` for the same
    without the costs of the senses themselves.
    """
    losses = []
    for some, answer in zip(senses, answers, strict=True):
        every = [taxonomy_loss([sense], [answer], taxonomy) for sense in some]
        wrong = [float(levels == "above" and sense != answer) for sense in some]
        losses.append(min(np.subtract(every, wrong)))
    return float(np.mean(losses))


SENSE_MEASURES = (
    Measure("accuracy", is_right, needs_taxonomy=False, mean_over_items=True),
    Measure("taxonomy_loss", partial(least_loss, levels="all"), mean_over_items=True),
    Measure("supersense_loss", partial(least_loss, levels="above"), mean_over_items=True),
)
