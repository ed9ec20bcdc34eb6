"""``TextClassifier``, the models it can use, and explanations of its predictions."""

from __future__ import annotations

from taxonomist.text.answers import TextAnswers
from taxonomist.text.classifier import TextClassifier
from taxonomist.text.explanation import TextExplanation
from taxonomist.text.models import MODELS, make_model

__all__ = ["MODELS", "TextAnswers", "TextClassifier", "TextExplanation", "make_model"]
