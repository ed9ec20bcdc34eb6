"""A digest of the sources behind a model, so that its stored results expire when it changes."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).resolve().parents[1]


@cache
def digest_of_imports(name: str) -> str:
    """Return a digest of a module of this package and of all modules that it imports from it.

    Parameters
    ----------
    name
        The module, such as ``"taxonomist.models.path_svc"``.

    Returns
    -------
    str
        The same for the same sources. Imports for type checkers only do not count.
    """
    digest = hashlib.sha256()
    for path in sorted(_closure(name)):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _closure(name: str) -> set[Path]:
    """Return the files of a module and of everything that it imports from this package."""
    found: set[Path] = set()
    waiting = [_file_of(name)]
    while waiting:
        path = waiting.pop()
        if path is not None and path not in found:
            found.add(path)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            waiting += [_file_of(imported) for imported in _imports(tree)]
    return found


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a source imports, of modules or of what is in them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from _imports(node)


def _file_of(name: str) -> Path | None:
    """Return the file of a module of this package, or None if it is none."""
    package, _, rest = name.partition(".")
    if package != PACKAGE.name:
        return None
    path = PACKAGE.joinpath(*rest.split(".")) if rest else PACKAGE
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)
