import pytest

from taxonomist.experiments import sources


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a small package in which digests are taken."""
    folder = tmp_path / "package"
    (folder / "inner").mkdir(parents=True)
    texts = {
        "__init__.py": "",
        "model.py": (
            "import numpy\nfrom package.inner import name\nfrom typing import TYPE_CHECKING\n"
            "def late():\n    from package.inner import solver\n"
            "if TYPE_CHECKING:\n    from package import typing_only\n"
        ),
        "typing_only.py": "",
        "other.py": "import package.model\n",
        "inner/__init__.py": "from package.inner.part import name\n",
        "inner/part.py": "import package.model\nname = 1\n",
        "inner/solver.py": "",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(sources, "PACKAGE", folder)
    sources.digest_of_imports.cache_clear()
    yield folder
    sources.digest_of_imports.cache_clear()


def digest():
    sources.digest_of_imports.cache_clear()
    return sources.digest_of_imports("package.model")


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("model.py", True),
        ("inner/__init__.py", True),
        ("inner/part.py", True),
        ("inner/solver.py", True),
        ("other.py", False),
        ("typing_only.py", False),
    ],
)
def test_a_digest_depends_on_what_is_imported(package, file, counts):
    before = digest()
    assert digest() == before
    with (package / file).open("a") as stream:
        stream.write("# changed\n")
    assert (digest() != before) == counts


def test_the_sources_of_path_svc():
    found = {path.name for path in sources._closure("taxonomist.models.path_svc")}
    assert {"path_svc.py", "node_svms.py", "path_scorer.py", "base.py"} <= found
    # Other models, and what runs experiments, are no part of it.
    assert not {"hierarchical_svc.py", "beyond.py", "contestants.py"} & found
