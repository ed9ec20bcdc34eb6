"""A module that is imported when it is used works as if it had been imported at once."""

from __future__ import annotations

import subprocess
import sys

LATE = "from taxonomist.cli.late_import import import_when_used\nimport_when_used('scipy.stats')\n"


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_it_loads_nothing():
    shown = "import sys, scipy.stats, sklearn.base\nprint('scipy.stats._stats_py' in sys.modules)"
    assert run(LATE + shown) == ["False"]


def test_any_use_loads_it():
    for use in (
        "import scipy.stats; print(scipy.stats.norm.cdf(0.0))",
        "import scipy; print(scipy.stats.norm.cdf(0.0))",
        "from scipy.stats import norm; print(norm.cdf(0.0))",
        "from scipy import stats; print(stats.norm.cdf(0.0))",
        "import scipy.stats as s; import scipy.stats.distributions; print(s.norm.cdf(0.0))",
        "import sklearn.isotonic, scipy.stats; print(scipy.stats.norm.cdf(0.0))",
    ):
        assert run(LATE + use) == ["0.5"]


def test_a_module_that_is_there_stays():
    assert run(
        "import scipy.stats\nkept = scipy.stats\n" + LATE + "import scipy.stats\n"
        "print(scipy.stats is kept)"
    ) == ["True"]
