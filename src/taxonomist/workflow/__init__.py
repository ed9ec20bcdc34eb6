"""What people do with a classifier of texts: the work behind the commands and the service.

``labelled`` reads labelled items, ``training`` trains and measures a classifier (``holding_out``
draws the items to measure it on), ``predictions`` gives rows their labels, ``measured_items`` finds
the rows that a model has not seen and measures it on them, ``comparison`` puts models side by side,
and ``report_content`` gathers what a report shows. Nothing here prints; notes are returned, and
progress is told to a callback.
"""

from __future__ import annotations

from taxonomist.workflow.comparison import compare
from taxonomist.workflow.labelled import Labelled, read_labelled
from taxonomist.workflow.measured_items import MeasuredItems, evaluate, read_to_measure
from taxonomist.workflow.predictions import Prediction, Predictor, Wanted, predict_table
from taxonomist.workflow.report_content import ReportContent, report_content
from taxonomist.workflow.training import TrainingResult, train

__all__ = [
    "Labelled",
    "MeasuredItems",
    "Prediction",
    "Predictor",
    "ReportContent",
    "TrainingResult",
    "Wanted",
    "compare",
    "evaluate",
    "predict_table",
    "read_labelled",
    "read_to_measure",
    "report_content",
    "train",
]
