"""Compiled loops call only loops of their own file, since numba's cache watches only that file."""

import ast
from pathlib import Path

import pytest

import taxonomist.compiled

FOLDER = Path(taxonomist.compiled.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "jit"))


def loops(stem):
    """Return the names of the compiled functions of a file, and all names that it uses."""
    tree = ast.parse((FOLDER / f"{stem}.py").read_text(encoding="utf-8"))
    own = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("compiled" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("taxonomist.compiled.")
        for alias in node.names
    }
    return own, imported


@pytest.mark.parametrize("stem", FILES)
def test_loops_are_not_imported_from_other_files(stem):
    _, imported = loops(stem)
    for other in set(FILES) - {stem}:
        assert not imported & loops(other)[0]


@pytest.mark.parametrize("stem", FILES)
def test_loops_stay_plain_python(stem):
    module = __import__(f"taxonomist.compiled.{stem}", fromlist=["*"])
    own, _ = loops(stem)
    for name in own:
        assert callable(getattr(module, name).py_func)


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
