"""What a report shows: measures, facts of the training, telling words, and the flat twin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taxonomist.report import write_report
from taxonomist.workflow.flat_comparison import TwinItems, compare_twins, twin_curves
from taxonomist.workflow.steps import silent
from taxonomist.workflow.telling_words import telling_words

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from taxonomist.evaluation import Assessment, Comparison, LearningCurve
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.measured_items import MeasuredItems
    from taxonomist.workflow.steps import OnStep

__all__ = ["ReportContent", "report_content"]

FACTS = ("items", "test_items", "features", "model", "seconds", "final")
"""Facts of the training that are shown."""
FEWEST = 20
"""Items below which nothing is compared."""
TOO_FEW = (
    "Too few of these items were trained on, or held out, for a learning curve and a flat "
    "twin: give the rows that the model was trained with."
)


class ReportContent(NamedTuple):
    """What a report shows.

    Attributes
    ----------
    assessment
        How good the classifier is.
    taxonomy
        Its taxonomy.
    facts
        Facts of the training, and what was tried.
    words
        Telling words of nodes.
    curves
        Learning curves by model; empty if nothing was trained.
    flat
        The comparison with the flat twin; None if nothing was trained.
    note
        Why nothing was trained although it was asked for; empty if it was.
    """

    assessment: Assessment
    taxonomy: Taxonomy
    facts: dict[str, Any]
    words: dict[str, list[tuple[str, float]]]
    curves: dict[str, LearningCurve]
    flat: Comparison | None
    note: str = ""

    def write(self, path: str | PathLike[str], title: str) -> Path:
        """Write the page; a file of that name is replaced when all is written."""
        return write_report(
            path,
            self.assessment,
            title=title,
            taxonomy=self.taxonomy,
            model_facts=self.facts,
            learning_curve=self.curves or None,
            flat=self.flat,
            words=self.words,
        )


def report_content(
    classifier: TextClassifier,
    measured: MeasuredItems,
    *,
    include_seen: bool = False,
    quick: bool = False,
    on_step: OnStep = silent,
) -> ReportContent:
    """Return what a report shows.

    Parameters
    ----------
    classifier
        The classifier.
    measured
        Labelled items, of which the classifier may have seen some.
    include_seen
        Whether to measure on items that the classifier was trained on, too; nothing is trained
        then.
    quick
        Whether to train nothing: no learning curve, no flat twin.
    on_step
        Called with the number of models that were fitted.

    Raises
    ------
    LabelError
        If no item is new to the classifier, and seen ones do not count.
    """
    items = measured.items
    chosen = measured.measured(include_seen)
    # All that follows uses these counts, so that texts are tokenised once.
    texts = classifier.features_.count(items.texts)
    assessment = classifier.evaluate(texts[chosen], [items.labels[i] for i in chosen])
    found = ReportContent(
        assessment, classifier.taxonomy_, _facts(classifier), telling_words(classifier), {}, None
    )
    if quick or include_seen:
        return found
    if min(measured.n_seen, len(chosen)) < FEWEST:
        return found._replace(note=TOO_FEW)
    targets = items.labels if classifier.is_multilabel_ else [label for (label,) in items.labels]
    parts = TwinItems(texts, targets, measured.is_seen)
    flat = compare_twins(classifier, parts, on_step)
    return found._replace(flat=flat, curves=twin_curves(classifier, parts, on_step))


def _facts(classifier: TextClassifier) -> dict[str, Any]:
    """Return what is told of the training."""
    known = {name: classifier.training_[name] for name in FACTS if name in classifier.training_}
    trials = [
        {**trial._asdict(), "chosen": place == 0} for place, trial in enumerate(classifier.search_)
    ]
    return {**known, "search": trials}
