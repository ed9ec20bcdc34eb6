"""The picture of the house is the import contract; files are short, words have one meaning."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import taxonomist

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(taxonomist.__file__).parent
MOST_LINES = 450
MOST_LINES_WITH_ANY = 475
VAGUE = {"BLOCK", "DEFAULT", "CELLS", "SIZE"}


def layers():
    """Return the rooms of each layer of the contract, from the top."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (rule,) = contract["tool"]["importlinter"]["contracts"]
    found = [re.findall(r"\w+", layer) for layer in rule["layers"]]
    return [sorted(rooms) for rooms in found if rooms != ["__main__"]]


def picture():
    """Return the rooms of each line of the picture."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = re.search(r"## The house.*?```\n(.*?)```", text, re.S).group(1)
    return [sorted(re.findall(r"\w+", line.split("  ")[0])) for line in drawn.splitlines()]


def test_the_picture_is_the_contract():
    assert picture() == layers()


def test_rooms_of_the_contract_are_folders_or_files():
    for room in {room for rooms in layers() for room in rooms}:
        assert (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file()


def test_the_walks_name_files_that_are_there():
    """The ways of a row and of a request, below the picture."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, *walks = re.findall(r"```\n(.*?)```", text.partition("## The house")[2], re.S)
    named = {name for walk in walks for name in re.findall(r"\b\w+(?:/\w+)+", walk)}
    assert len(named) > 15
    missing = {name for name in named if not list(PACKAGE.glob(f"{name}*"))}
    assert not missing


def test_benchmarks_and_tools_import_what_is_there():
    """Nothing else runs them all, so that a module that moves would break them unseen."""
    imports = [
        (path.name, node.module, each.name)
        for path in [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("taxonomist")
        for each in node.names
    ]
    assert imports
    assert not [each for each in imports if not is_there(*each[1:])]


def is_there(module, name):
    if find_spec(module) is None:
        return False
    found = import_module(module)
    return hasattr(found, name) or find_spec(f"{module}.{name}") is not None


def test_no_file_is_long():
    long = {
        path.relative_to(PACKAGE).as_posix(): n_lines
        for path in PACKAGE.rglob("*.py")
        if (n_lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert not long


def test_few_lines_are_annotated_with_any():
    """``taxonomist._typing`` names what rooms exchange; ``object`` is for what can be anything."""
    found = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id == "Any"
    }
    assert len(found) <= MOST_LINES_WITH_ANY, "\n".join(sorted(found))


def test_words_have_one_meaning():
    """A name stands for one class, and no constant has a name that fits any constant."""
    classes: dict[str, list[str]] = {}
    vague = []
    for path in PACKAGE.rglob("*.py"):
        text, home = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix()
        for name in re.findall(r"^class ([A-Z]\w+)", text, re.M):
            classes.setdefault(name, []).append(home)
        vague += [(home, name) for name in re.findall(r"^([A-Z_]+)(?:: .*)? = ", text, re.M)]
    assert not {name: homes for name, homes in classes.items() if len(homes) > 1}
    assert not [(home, name) for home, name in vague if name in VAGUE]


def test_scorers_and_models_share_no_file_name():
    stems = [
        {path.stem for path in (PACKAGE / room).glob("*.py")} for room in ("inference", "models")
    ]
    assert stems[0] & stems[1] == {"__init__"}
