"""The stemmer against its published vocabulary and the examples of the paper."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from taxonomist.features import porter_stem

# Every tenth word of the vocabulary that is published with the algorithm, with its stem: porter/voc
# and output of snowball-data, (c) 2001 Martin Porter, 2004, 2005 Richard Boulton, BSD licence.
VOCABULARY = Path(__file__).with_name("porter_vocabulary.txt.gz")


def test_the_published_vocabulary() -> None:
    with gzip.open(VOCABULARY, "rt", encoding="utf-8") as lines:
        pairs = [tuple(line.split()) for line in lines]
    assert len(pairs) == 4261
    assert [(word, porter_stem(word)) for word, _ in pairs] == pairs


@pytest.mark.parametrize(
    ("step", "pairs"),
    [
        ("1a", "caresses caress ponies poni ties ti caress caress cats cat"),
        ("1b", "feed feed agreed agre plastered plaster bled bled motoring motor sing sing"),
        ("1b, restored", "conflated conflat troubled troubl sized size hopping hop tanned tan"),
        ("1b, double", "falling fall hissing hiss fizzed fizz failing fail filing file"),
        ("1c", "happy happi sky sky"),
        ("2", "relational relat conditional condit valenci valenc digitizer digit vietnamization "
         "vietnam operator oper callousness callous sensibiliti sensibl"),
        ("3", "triplicate triplic formative form formalize formal electrical electr hopeful hope"),
        ("4", "revival reviv allowance allow adjustable adjust replacement replac adoption adopt "
         "homologous homolog effective effect bowdlerize bowdler"),
        ("5", "probate probat rate rate cease ceas controll control roll roll"),
        ("several", "generalizations gener oscillators oscil"),
        ("none", "a a by by"),
    ],
)  # fmt: skip
def test_the_examples_of_the_paper(step: str, pairs: str) -> None:
    words = pairs.split()
    assert [porter_stem(word) for word in words[::2]] == words[1::2], step
