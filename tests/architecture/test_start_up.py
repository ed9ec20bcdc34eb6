"""What importing and asking for help may load, and how long help may take."""

import subprocess
import sys
import time

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


def test_a_path_model_learns_without_the_package_of_folds():
    code = (
        "import sys; from taxonomist import PathSVC\n"
        "PathSVC(random_state=0).fit([[0, 1], [1, 0]] * 9, ['a', 'b'] * 9)\n"
        "sys.exit('sklearn.model_selection' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_loads_no_library_of_the_layers_below():
    loaded = loaded_by(
        "from taxonomist.cli.app import app\ntry: app(['--help'])\nexcept SystemExit: pass"
    )
    assert not loaded & (HEAVY - {"typer", "rich"}) - {"numpy"}


def test_help_answers_in_under_half_a_second():
    def seconds():
        start = time.perf_counter()
        command = [sys.executable, "-m", "taxonomist", "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "demo" in done.stdout
        return time.perf_counter() - start

    # One of some tries: the others measure what else the machine is doing.
    assert any(seconds() < 0.5 for _ in range(10))


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
