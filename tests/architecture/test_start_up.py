"""What importing and asking for help may load, and how long help may take."""

import subprocess
import sys

import pytest

HEAVY = {"numba", "sklearn", "scipy", "matplotlib", "rdflib", "pandas", "networkx", "typer", "rich"}


def loaded_by(code):
    script = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_import_loads_nothing_heavy():
    assert not loaded_by("import taxonomist") & HEAVY


def test_the_taxonomy_loads_nothing_heavy():
    loaded = loaded_by("from taxonomist import Taxonomy; Taxonomy.flat('ab').to_text()")
    assert not loaded & HEAVY


def test_help_loads_no_library_of_the_layers_below():
    loaded = loaded_by(
        "from taxonomist.cli.app import app\ntry: app(['--help'])\nexcept SystemExit: pass"
    )
    assert not loaded & (HEAVY - {"typer", "rich"}) - {"numpy"}


@pytest.mark.skipif(sys.platform == "win32", reason="no times of other processes")
def test_help_answers_in_under_half_a_second():
    def seconds():
        # Of the processor: how busy the machine is does not count.
        import resource

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "taxonomist", "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "demo" in done.stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.5


@pytest.mark.parametrize(
    "name",
    [
        "CalibratedClassifier",
        "CoupledBinarySVC",
        "HierarchicalMixture",
        "HierarchicalPerceptron",
        "HierarchicalRLS",
        "HierarchicalRankingSVC",
        "HierarchicalSVC",
        "HierarchicalShrinkage",
        "LidstoneNB",
        "MaxMarginMarkovClassifier",
        "NodeSVC",
        "PLSAClassifier",
        "Taxonomy",
        "TextClassifier",
        "ThresholdedKNN",
        "TopDownSVC",
        "datasets",
        "evaluation",
        "features",
        "kernels",
        "losses",
        "metrics",
        "persistence",
        "plots",
        "report",
    ],
)
def test_public_names_are_exported(name):
    import taxonomist

    assert getattr(taxonomist, name)
    assert name in taxonomist.__all__
    assert name in dir(taxonomist)


def test_an_unknown_name_is_an_attribute_error():
    import taxonomist

    with pytest.raises(AttributeError, match="no attribute 'Taxonomi'"):
        _ = taxonomist.Taxonomi
