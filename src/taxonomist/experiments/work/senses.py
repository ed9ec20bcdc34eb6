"""Word senses: passages with a target word, whose senses are the candidate answers.

Several senses of a passage may be right. A model is trained on the first one, and an answer is
judged by the most favourable one.
"""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from taxonomist import datasets
from taxonomist.datasets.files import open_text
from taxonomist.evaluation import Measure
from taxonomist.experiments.work.trials import SplitData
from taxonomist.metrics import taxonomy_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.taxonomy import Taxonomy

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
