"""Syllables by spelling, and as units of substrings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.errors import ParameterError
from taxonomist.features import SequenceCodes, SpectrumFeatures, TfidfFeatures
from taxonomist.features.syllables import syllables


@pytest.mark.parametrize(
    "split",
    [
        *("cat", "late", "ta-ble", "mon-ster", "win-ter", "ta-xo-no-my", "clas-si-fi-ca-tion"),
        *("que-stion", "e-qual", "be-yond", "yes", "hap-py", "chil-dren", "a-gri-cul-ture"),
        *("con-struct", "ex-tra", "the", "me", "é-té", "ü-ber", "ka-tha-ri-na", "shm", "x1"),
    ],
)
def test_words(split):
    assert "-".join(syllables(split.replace("-", ""))) == split


@given(st.text())
def test_nothing_is_lost(word):
    parts = syllables(word)
    assert "".join(parts) == word
    assert all(parts) or not word


def test_syllables_are_a_unit():
    spectrum = SpectrumFeatures(1, unit="syllable", normalize=False)
    X = spectrum.fit_transform(["Monster, monster!", "winter"])
    assert spectrum.get_feature_names_out().tolist() == ["mon", "ster", "ter", "win"]
    assert X.toarray().tolist() == [[2, 2, 0, 0], [0, 0, 1, 1]]
    pairs = SpectrumFeatures(2, unit="syllable").fit(["a monster"])
    assert pairs.get_feature_names_out().tolist() == ["a mon", "mon ster"]
    assert TfidfFeatures(unit="syllable").fit_transform(["monster", "winter"]).shape == (2, 4)
    assert SequenceCodes(unit="syllable", max_length=5).fit_transform(["monster"]).nnz == 2


def test_unknown_units_are_refused():
    with pytest.raises(ParameterError, match="Did you mean 'syllable'"):
        SpectrumFeatures(unit="syllables").fit(["a"])
