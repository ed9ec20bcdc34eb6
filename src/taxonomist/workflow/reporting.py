"""The content of a report: measures, training facts, telling words, and the flat twin."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taxonomist.report import write_report
from taxonomist.workflow.flat_comparison import TwinItems, compare_twins, twin_curves
from taxonomist.workflow.labelled import targets_of
from taxonomist.workflow.steps import silent
from taxonomist.workflow.telling_words import telling_words
from taxonomist.workflow.training import findings

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
"""Training facts to show."""
FEWEST = 20
"""Minimum number of training items and of held-out items for a comparison."""
TOO_FEW = (
    "Too few training or held-out items for a learning curve and a comparison with the flat "
    "twin. Pass the rows that the model was trained with."
)


class ReportContent(NamedTuple):
    """The content of a report.

    Attributes
    ----------
    assessment
        Measures of the classifier.
    taxonomy
        Its taxonomy.
    facts
        Training facts, and the models tried.
    words
        Telling words of nodes.
    curves
        Learning curves by model; empty if none were computed.
    flat
        The comparison with the flat twin; None if it was not computed.
    note
        Reason why the curves and the comparison are missing although they were requested;
        otherwise empty.
    """

    assessment: Assessment
    taxonomy: Taxonomy
    facts: dict[str, object]
    words: dict[str, list[tuple[str, float]]]
    curves: dict[str, LearningCurve]
    flat: Comparison | None
    note: str = ""

    def write(self, path: str | PathLike[str], title: str) -> Path:
        """Write the page; an existing file is replaced only after a complete write."""
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
    """Collect the content of a report.

    Parameters
    ----------
    classifier
        The classifier.
    measured
        Labelled items, which may include items that the classifier was trained on.
    include_seen
        Whether to include the items that the classifier was trained on in the measures. If True,
        there is no learning curve and no flat twin.
    quick
        Whether to leave out the learning curve and the flat twin, which need training.
    on_step
        Called with each step, and with the number of models fitted so far.

    Raises
    ------
    LabelError
        If the classifier was trained on all items and ``include_seen`` is False.
    """
    items = measured.items
    chosen = measured.measured(include_seen)
    on_step("Measuring", 0, None)
    # Everything below uses these counts, so that texts are tokenised only once.
    texts = classifier.features_.count(items.texts)
    assessment = classifier.evaluate(texts[chosen], [items.labels[i] for i in chosen])
    on_step("Collecting words", 0, None)
    found = ReportContent(
        assessment, classifier.taxonomy_, _facts(classifier), telling_words(classifier), {}, None
    )
    if quick or include_seen:
        return found
    if min(measured.n_seen, len(chosen)) < FEWEST:
        return found._replace(note=TOO_FEW)
    targets = targets_of(items.labels, is_multilabel=classifier.is_multilabel_)
    parts = TwinItems(texts, targets, measured.is_seen)
    flat = compare_twins(classifier, parts, on_step)
    return found._replace(flat=flat, curves=twin_curves(classifier, parts, on_step))


def _facts(classifier: TextClassifier) -> dict[str, object]:
    known = {name: classifier.training_[name] for name in FACTS if name in classifier.training_}
    features = known.get("features")
    if isinstance(features, dict):
        known["features"] = features["terms"]
    trials = [
        {**trial._asdict(), "chosen": place == 0} for place, trial in enumerate(classifier.search_)
    ]
    said = {
        name: fact["said"]
        for name, fact in findings(classifier).items()
        # Without numbers it says that this report measures the gain.
        if name != "taxonomy_gain" or len(fact) > 1
    }
    return {**known, **said, "search": trials}
