"""Features of texts and other sequences: words, contexts, substrings, codes, selection."""

from __future__ import annotations

from taxonomist.features.contexts import ContextFeatures
from taxonomist.features.information_gain import InformationGainSelector
from taxonomist.features.letters import AMINO_ACIDS
from taxonomist.features.sequences import SequenceCodes
from taxonomist.features.spectrum import SpectrumFeatures
from taxonomist.features.text_features import TextFeatures
from taxonomist.features.tfidf import TfidfFeatures, TfidfWeights

__all__ = [
    "AMINO_ACIDS",
    "ContextFeatures",
    "InformationGainSelector",
    "SequenceCodes",
    "SpectrumFeatures",
    "TextFeatures",
    "TfidfFeatures",
    "TfidfWeights",
]
