"""No room uses private attributes of others, or asks for classes of models."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import taxonomist
from taxonomist.models import all_models

PACKAGE = Path(taxonomist.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# Named tuples give their methods private names, so that these are no fields.
NAMED_TUPLES = {"_asdict", "_replace", "_fields", "_make"}
OWN = {"self", "cls"}
ALLOWED = {
    "loop._cache",  # numba has no public way to give a loop a cache of its own
    "self.dispatcher._numba_type_",  # numba's name for it
    "graph._set",  # unpickling makes a graph without its constructor
}


def private_attributes(tree):
    """Yield lines and names of private attributes of other objects."""
    owners = {}
    for scope in ast.walk(tree):
        if isinstance(scope, ast.ClassDef):
            for node in ast.walk(scope):
                owners[node] = scope.name
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
            continue
        if node.attr.startswith("__") or node.attr in NAMED_TUPLES:
            continue
        if isinstance(node.value, ast.Name) and (node.value.id in OWN or node in owners):
            # Itself, or another object of the same class, which is no stranger.
            continue
        if ast.unparse(node.value) != "super()":
            yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_private_attributes_of_others(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [use for use in private_attributes(tree) if use[1] not in ALLOWED]
    assert not found


def classes_asked_for(tree):
    """Yield the names of the classes that objects are compared with: isinstance(), type() is."""
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if is_call and node.func.id in ("isinstance", "issubclass") and len(node.args) == 2:
            yield from names_in(node.args[1])
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(ast.unparse(side).startswith("type(") for side in sides):
                yield from (name for side in sides for name in names_in(side))


def names_in(tree):
    return [part.id for part in ast.walk(tree) if isinstance(part, ast.Name)]


def test_comparisons_with_classes_are_found():
    source = "isinstance(a, A | B); type(c.d) is not C; E == type(f); f == g"
    assert {"A", "B", "C", "E"} <= set(classes_asked_for(ast.parse(source)))
    assert "g" not in classes_asked_for(ast.parse(source))


def test_no_room_asks_for_a_class_of_models():
    models = {name: kind.__module__ for name, kind in all_models().items()}
    asked = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in FILES
        for name in classes_asked_for(ast.parse(path.read_text(encoding="utf-8")))
        if name in models
    }
    allowed = {
        (home.removeprefix("taxonomist.").replace(".", "/") + ".py", name)
        for name, home in models.items()
    }
    assert not asked - allowed
