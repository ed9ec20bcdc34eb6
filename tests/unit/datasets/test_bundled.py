from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxonomist import datasets

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

ROOT = Path(__file__).parents[3]


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("tool", ROOT / "tools/make_bundled_corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_loads_without_any_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAXONOMIST_DATA", raising=False)
    corpus = datasets.load("arxiv-sample")
    assert len(corpus) >= 3000
    assert all(corpus.texts or ())
    assert corpus.is_multilabel
    assert corpus.licence == "CC0 1.0"
    assert corpus.describe()["height"] == 3
    assert len(corpus.train()) == 5439
    assert len(corpus.test()) == 1356


def test_primary_labels_are_among_all_labels() -> None:
    primary, every = datasets.load("arxiv-sample", labels="primary"), datasets.load("arxiv-sample")
    assert all(one in all_ for one, all_ in zip(primary.y, every.labels, strict=True))
    assert len(set(primary.y)) >= 100


def test_fits_the_wheel_and_carries_its_terms() -> None:
    folder = datasets.find("arxiv-sample")
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 2_500_000
    terms = (folder / "LICENSE").read_text(encoding="utf-8")
    for part in ("CC0", "arXiv.org", "10.5281/zenodo.1463242"):
        assert part in terms


def test_is_what_the_tool_draws(data_folder: Callable[[str], Path]) -> None:
    source = data_folder("arxiv")
    groups = tool().by_primary(source / "docs.jsonl.gz")
    drawn = [document["id"] for group in groups for document in group[:45]]
    assert datasets.load("arxiv-sample").ids == drawn


def test_tool_keeps_the_largest_sample_within_the_budget(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundled = datasets.find("arxiv-sample")
    module = tool()
    groups = module.by_primary(bundled / "docs.jsonl.gz")
    monkeypatch.setattr(module, "BUDGET", len(module.compress(groups, 2)))
    module.main(bundled, tmp_path)
    assert "at most 2 per category" in capsys.readouterr().out
    assert (tmp_path / "docs.jsonl.gz").read_bytes() == module.compress(groups, 2)
    assert (tmp_path / "taxonomy.csv").read_bytes() == (bundled / "taxonomy.csv").read_bytes()
