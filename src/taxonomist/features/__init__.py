"""Features of texts and other sequences: words, meaning, contexts, substrings and selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names
from taxonomist.features.contexts import ContextFeatures
from taxonomist.features.letters import AMINO_ACIDS
from taxonomist.features.porter import porter_stem
from taxonomist.features.sentence_vectors import SentenceVectors
from taxonomist.features.sequences import SequenceCodes
from taxonomist.features.spectrum import SpectrumFeatures
from taxonomist.features.text_features import TextFeatures
from taxonomist.features.tfidf import TfidfFeatures, TfidfWeights

if TYPE_CHECKING:
    from taxonomist.features.information_gain import InformationGainSelector

__all__ = [
    "AMINO_ACIDS",
    "ContextFeatures",
    "InformationGainSelector",
    "SentenceVectors",
    "SequenceCodes",
    "SpectrumFeatures",
    "TextFeatures",
    "TfidfFeatures",
    "TfidfWeights",
    "porter_stem",
]

# Its base class takes long to import.
__getattr__ = lazy_names(__name__, {"InformationGainSelector": "information_gain"})
