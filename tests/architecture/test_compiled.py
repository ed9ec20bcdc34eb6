"""Compiled loops stay plain Python, each name has one meaning, and numba has one home."""

import ast
from pathlib import Path

import pytest

import taxonomist.compiled

FOLDER = Path(taxonomist.compiled.__file__).parent
FILES = sorted(
    path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "cache", "jit")
)


def loops(stem):
    """Return the names of the compiled functions of a file."""
    tree = ast.parse((FOLDER / f"{stem}.py").read_text(encoding="utf-8"))
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("compiled" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]


def classes(path):
    """Return the names of the classes of a file that others may use."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return [name for name in found if not name.startswith("_")]


@pytest.mark.parametrize("stem", FILES)
def test_loops_stay_plain_python(stem):
    module = __import__(f"taxonomist.compiled.{stem}", fromlist=["*"])
    for name in loops(stem):
        assert callable(getattr(module, name).py_func)


def test_no_two_classes_share_a_name():
    paths = [*FOLDER.glob("*.py"), *(FOLDER.parent / "solvers").glob("*.py")]
    names = [name for path in paths for name in classes(path)]
    assert sorted(names) == sorted(set(names))


def test_numba_has_one_home():
    package = FOLDER.parent
    users = {
        path.parent.name
        for path in package.rglob("*.py")
        if any(
            line.split()[:2] in (["import", "numba"], ["from", "numba"])
            for line in path.read_text(encoding="utf-8").splitlines()
        )
    }
    assert users == {"compiled"}
