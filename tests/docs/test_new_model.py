"""A model that the recipe makes needs its own file and one line of the table, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import taxonomist

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "new-model.md"
LINE = '    "CentroidClassifier": "centroid_classifier",\n'
USE = """
import taxonomist
from pathlib import Path
from taxonomist import CentroidClassifier, Taxonomy, TextClassifier, persistence
from taxonomist.text.models import MODELS

assert "CentroidClassifier" in taxonomist.__all__
assert MODELS["centroid"].single is MODELS["centroid"].sets is CentroidClassifier
taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
texts = ["purrs and sleeps", "barks and runs", "has leaves and acorns"] * 4
labels = ["cat", "dog", "oak"] * 4
model = TextClassifier(taxonomy, model="centroid").fit(texts, labels)
model.save(Path("model"))
again = persistence.load(Path("model"))
assert again.predict_paths(["it barks"]) == [("animal", "dog")]
assert (again.predict_proba(texts) == model.predict_proba(texts)).all()

# What the service, reports and clusters ask of models.
from taxonomist.errors import ParameterError
from taxonomist.text.updating import can_update
from taxonomist.workflow import Predictor, Wanted
from taxonomist.workflow.telling_words import telling_words

assert not model.can_explain and telling_words(model) == {}
assert not can_update(model, texts)
assert model.refit(texts, labels).predict_paths(["it barks"]) == [("animal", "dog")]
assert model.flat_twin().fit(texts, labels).predict(["it barks"]).tolist() == ["dog"]
both = TextClassifier(taxonomy, model="centroid + path").fit(texts, labels)
assert both.score(texts, labels) == 1
try:
    Predictor(model, Wanted(words=3))
except ParameterError as error:
    message = str(error)
assert "cannot explain" in message
"""


def code():
    """Return the model of the page."""
    return re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S).group(1)


def test_a_model_takes_about_forty_lines():
    lines = [line for line in code().splitlines() if line.strip()]
    assert "def learn" in code()
    assert len(lines) <= 40


def test_a_file_and_a_line_make_a_model(tmp_path):
    package = tmp_path / "taxonomist"
    ignored = shutil.ignore_patterns("__pycache__", "bundled")
    shutil.copytree(Path(taxonomist.__file__).parent, package, ignore=ignored)
    (package / "models" / "centroid_classifier.py").write_text(code(), encoding="utf-8")
    table = package / "models" / "__init__.py"
    text = table.read_text(encoding="utf-8")
    at = text.index('    "BlendedClassifier": ')
    table.write_text(text[:at] + LINE + text[at:], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
