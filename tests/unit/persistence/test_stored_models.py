"""Model folders that earlier versions wrote are read, and answer as they did then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from taxonomist import TextClassifier, persistence
from taxonomist.models import all_models

STORED = Path(__file__).parent / "stored"
FOLDERS = sorted(
    path.parent.relative_to(STORED) for path in STORED.glob("version-*/*/manifest.json")
)


def expected(folder):
    return json.loads((STORED / folder.parent / "expected.json").read_text())[folder.name]


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_stored_models_answer_as_they_did(folder):
    then = expected(folder)
    model = persistence.load(STORED / folder)
    items = then.get("texts") or np.array(then["items"])
    assert model.predict_labels(items) == then["predict_labels"]
    for question in ("decision_function", "predict_proba"):
        if question in then:
            np.testing.assert_allclose(getattr(model, question)(items), then[question], rtol=1e-6)


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_stored_models_are_saved_in_the_present_form(folder, tmp_path):
    then = expected(folder)
    model = persistence.load(STORED / folder)
    persistence.save(model, tmp_path / "again")
    again = persistence.load(tmp_path / "again")
    items = then.get("texts") or np.array(then["items"])
    assert again.predict_labels(items) == then["predict_labels"]


def test_there_is_a_stored_model_of_every_class():
    """A class that changes its state gets a new folder, and the old ones stay."""
    names = {path.name.partition("-")[0] for path in FOLDERS if path.parent.name != "version-1"}
    assert {*all_models(), "TextClassifier"} <= names


def test_a_text_classifier_is_loaded_by_either_function():
    path = STORED / "version-1" / "TextClassifier"
    one, two = TextClassifier.load(path), persistence.load(path)
    assert type(one) is type(two) is TextClassifier
