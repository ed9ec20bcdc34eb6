"""Rules of the decorator that numba does not check."""

import ast
from pathlib import Path

import pytest

import taxonomist.compiled

NUMBERS = {"None", "int", "float", "bool", "np.uint64", "tuple"}


def without_arrays(tree):
    """Yield the names of the named tuples of a module that hold numbers only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
            fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
            if {ast.unparse(part.annotation) for part in fields} <= NUMBERS:
                yield node.name


def loops():
    """Return the definition of every compiled loop, its options, and what it may return."""
    for path in sorted(Path(taxonomist.compiled.__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        allowed = NUMBERS | set(without_arrays(tree))
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "compiled":
                    options = {word.arg for word in mark.keywords}
                    yield pytest.param(node, options, allowed, id=f"{path.stem}.{node.name}")


@pytest.mark.parametrize(("loop", "options", "allowed"), list(loops()))
def test_loops_return_no_arrays(loop, options, allowed):
    """A loop that counts no references never frees an array that another one returns to it."""
    parts = ast.unparse(loop.returns).replace("[", " ").replace("]", " ").replace(",", " ").split()
    assert set(parts) <= allowed or "copied" in options
