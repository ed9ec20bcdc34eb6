"""Parts of speech of the words near a target, for the experiments on word senses.

The papers' tagger is not named. This one knows the closed classes of English by their words and the
open ones by their endings; what it cannot tell is a noun.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import DictVectorizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR

CLOSED = {
    "determiner": "a an the this that these those every each some any no all both half another",
    "pronoun": "i you he she it we they me him her us them myself himself herself itself ourselves "
    "themselves who whom whose which what one someone anyone everyone something anything nothing",
    "possessive": "my your his its our their 's",
    "preposition": "of in to for with on at from by about as into like through after over between "
    "out against during without before under around among across behind beyond near since until "
    "upon within along below above toward towards off per via than",
    "conjunction": "and but or nor so yet if because although though while whether unless",
    "modal": "can could may might must shall should will would ca wo",
    "be": "be am is are was were been being 'm 're",
    "have": "have has had having 've",
    "do": "do does did done doing",
    "negation": "not n't never",
    "adverb": "very too also just only even still then there here now again often always more most "
    "less least quite rather almost already soon perhaps however up down away back",
    "number": "two three four five six seven eight nine ten hundred thousand million first second "
    "third",
}
OF_WORD = {word: name for name, words in CLOSED.items() for word in words.split()}
ENDINGS = (
    ("ly", "adverb"),
    ("ing", "gerund"),
    ("ed", "past"),
    ("ous", "adjective"),
    ("ful", "adjective"),
    ("ive", "adjective"),
    ("able", "adjective"),
    ("ible", "adjective"),
    ("al", "adjective"),
    ("ic", "adjective"),
    ("less", "adjective"),
    ("est", "adjective"),
    ("ss", "noun"),
    ("s", "plural"),
)
LEAST_STEM = 3
NEAR = 200
"""Characters on each side of a target in which its neighbours are."""
_TOKEN = re.compile(r"n't|'\w+|\w+(?=n't)|\w+|[^\w\s]")


def word_class(token: str) -> str:
    """Return the part of speech of a word, or the punctuation mark itself; "" for no word."""
    low = token.lower()
    if low in OF_WORD or not low:
        return OF_WORD.get(low, "")
    if low[0].isdigit():
        return "number"
    if not low[0].isalpha():
        return low
    if token[0].isupper():
        return "name"
    for ending, name in ENDINGS:
        if low.endswith(ending) and len(low) >= len(ending) + LEAST_STEM:
            return name
    return "noun"


class PartsOfSpeech(TransformerMixin, BaseEstimator):
    """The parts of speech of a target word and of its neighbours, as binary features.

    Parameters
    ----------
    reach
        Number of neighbours on each side.
    """

    def __init__(self, reach: int = 3) -> None:
        self.reach = reach

    def fit(self, X: Sequence[Sequence[str]], y: object = None) -> PartsOfSpeech:  # noqa: ARG002
        """Learn which parts of speech occur where."""
        self.columns_ = DictVectorizer().fit(map(self._classes, X))
        return self

    def transform(self, X: Sequence[Sequence[str]]) -> CSR:
        """Return the features of passages, as ``ContextFeatures`` takes them."""
        rows: CSR = self.columns_.transform(map(self._classes, X))
        return rows

    def _classes(self, item: Sequence[str]) -> dict[str, str]:
        left, right = _TOKEN.findall(item[0][-NEAR:]), _TOKEN.findall(item[2][:NEAR])
        near = [*([""] * self.reach + left)[-self.reach :], item[1]]
        near += (right + [""] * self.reach)[: self.reach]
        places = range(-self.reach, self.reach + 1)
        return {f"P{place}": word_class(token) for place, token in zip(places, near, strict=True)}
