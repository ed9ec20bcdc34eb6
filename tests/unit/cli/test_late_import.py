"""A module that is imported when it is used works as if it had been imported at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from taxonomist import Taxonomy, TextClassifier
from tests.unit.cli.running import run_here

LATE = "from taxonomist.cli.late_import import import_when_used\nimport_when_used('scipy.stats')\n"


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_it_loads_nothing():
    shown = "import sys, scipy.stats, sklearn.base\nprint('scipy.stats._stats_py' in sys.modules)"
    assert run(LATE + shown) == ["False"]


@pytest.mark.parametrize(
    "use",
    [
        "from scipy import stats; print(stats.norm.cdf(0.0))",
        "import scipy.stats as s; import scipy.stats.distributions; print(s.norm.cdf(0.0))",
        "from scipy.stats import norm; print(norm.cdf(0.0))",
        *(
            pytest.param(use, marks=pytest.mark.slow)
            for use in (
                "import scipy.stats; print(scipy.stats.norm.cdf(0.0))",
                "import scipy; print(scipy.stats.norm.cdf(0.0))",
                "import sklearn.isotonic, scipy.stats; print(scipy.stats.norm.cdf(0.0))",
            )
        ),
    ],
)
def test_any_use_loads_it(use):
    assert run(LATE + use) == ["0.5"]


def test_a_module_that_is_there_stays():
    assert run(
        "import scipy.stats\nkept = scipy.stats\n" + LATE + "import scipy.stats\n"
        "print(scipy.stats is kept)"
    ) == ["True"]


def test_scikit_learn_without_pandas():
    late = "from taxonomist.cli.late_import import import_scikit_learn\nimport_scikit_learn()\n"
    shown = "import sys; print('sklearn.base' in sys.modules, 'pandas' in sys.modules)\n"
    check = "import numpy as np\nfrom sklearn.utils.validation import check_array\n"
    array = "print(check_array([[1.0]]).sum(), 'pandas' in sys.modules)"
    assert run(late + shown + check + array) == ["True", "False", "1.0", "False"]
    pytest.importorskip("pandas")
    frame = "import pandas as pd\nprint(check_array(pd.DataFrame({'a': [2.5]})).sum())"
    assert run(late + check + frame) == ["2.5"]
    kept = "import pandas as kept\n" + late + "import pandas\nprint(pandas is kept)"
    assert run(kept) == ["True"]


SHELL = """
import sys
from taxonomist.cli import main
sys.argv = ["taxonomist", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
SLOW = {
    "numba",
    "pandas",
    "pyarrow",
    "rich.console",
    "scipy.optimize",
    "scipy.stats._stats_py",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "taxonomist.compiled.dispatchers",
    "taxonomist.metrics",
    "taxonomist.models.calibrated",
    "taxonomist.models.hierarchical_svc",
    "taxonomist.text.search",
}
"""Modules that predicting one text does not need."""


ANSWERS = [["--top", "2", "--json"], ["--confident", "0.1"], ["--explain"], []]


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("single", ANSWERS[::2]),
        ("sets", ANSWERS[1::2]),
        *(pytest.param(kind, ANSWERS, marks=pytest.mark.slow) for kind in ("single", "sets")),
    ],
)
def test_one_text_from_the_shell_loads_only_what_it_needs(kind, asked, tmp_path):
    labels = [["cat"], ["dog"], ["oak"]] if kind == "sets" else ["cat", "dog", "oak"]
    taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    texts = ["it purrs", "it barks", "it grows"] * 9
    model = TextClassifier(taxonomy).fit(texts, labels * 9)
    model.record(columns={"text": "text"}).save(tmp_path / "model")
    for options in asked:
        command = ["predict", tmp_path / "model", "--text", "it barks", *options]
        done = subprocess.run(
            [sys.executable, "-c", SHELL, *command], capture_output=True, text=True, check=True
        )
        assert "dog" in done.stdout
        assert not SLOW & set(done.stderr.splitlines()[-1].split())
    expected = model.predict_proba(["it barks"])[0].max()
    shown = run_here("predict", tmp_path / "model", "--text", "it barks").out
    assert f"\t{expected:.4f}\t" in shown
