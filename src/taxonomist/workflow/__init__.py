"""Train, apply, measure and compare text classifiers: the work behind the commands and the service.

``labelled`` reads labelled items. ``training`` trains and measures a classifier, on items that
``holding_out`` chooses. ``predictions`` labels the rows of a table. ``measured_items`` finds the
rows that a model was not trained on and measures the model on them. ``comparison`` compares models
by cross-validation, ``model_comparison`` two versions of a model, and ``reporting`` collects the
content of a report. ``label_ancestors`` answers questions about label sets. Nothing here prints:
functions return notes and report progress to a callback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names

if TYPE_CHECKING:
    from taxonomist.workflow.comparison import compare
    from taxonomist.workflow.labelled import Labelled, read_labelled
    from taxonomist.workflow.measured_items import MeasuredItems, evaluate, read_to_measure
    from taxonomist.workflow.predictions import Prediction, Predictor, Wanted, predict_table
    from taxonomist.workflow.reporting import ReportContent, report_content
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

__getattr__ = lazy_names(
    __name__,
    {
        "Labelled": "labelled",
        "MeasuredItems": "measured_items",
        "Prediction": "predictions",
        "Predictor": "predictions",
        "ReportContent": "reporting",
        "TrainingResult": "training",
        "Wanted": "predictions",
        "compare": "comparison",
        "evaluate": "measured_items",
        "predict_table": "predictions",
        "read_labelled": "labelled",
        "read_to_measure": "measured_items",
        "report_content": "reporting",
        "train": "training",
    },
)
