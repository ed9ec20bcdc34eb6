"""Rules of the decorator that numba does not check."""

import ast
from pathlib import Path

import pytest

import taxonomist.compiled

NUMBERS = {"None", "int", "float", "bool", "np.uint64", "tuple"}


def loops():
    """Return file and definition of every compiled loop, and the options of its decorator."""
    for path in sorted(Path(taxonomist.compiled.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "compiled":
                    options = {word.arg for word in mark.keywords}
                    yield pytest.param(node, options, id=f"{path.stem}.{node.name}")


@pytest.mark.parametrize(("loop", "options"), list(loops()))
def test_loops_return_no_arrays(loop, options):
    """A loop that counts no references never frees an array that another one returns to it."""
    parts = ast.unparse(loop.returns).replace("[", " ").replace("]", " ").replace(",", " ").split()
    assert set(parts) <= NUMBERS or "copied" in options
