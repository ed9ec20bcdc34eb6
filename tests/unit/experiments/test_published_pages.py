"""The pages in the documentation are those that the sources and the stored verdicts make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from taxonomist.experiments import records
from taxonomist.experiments.contents import LISTED
from taxonomist.experiments.declarations import Table
from taxonomist.experiments.reproduction import PAPERS, load_paper, write_overview
from taxonomist.experiments.writing import claims_table, file_name

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "reproduction"
JUDGED = [key for key in PAPERS if records.load(PUBLISHED / key)]
SETTINGS = ("Tolerance", "Features", "Splits", "Draws")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder with the overview that follows from the stored verdicts."""
    out = tmp_path_factory.mktemp("pages")
    for path in PUBLISHED.glob("*/*.json"):
        (out / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, out / path.parent.name)
    write_overview(out)
    return out


def test_every_listed_paper_has_results():
    assert set(LISTED) <= set(JUDGED)


@pytest.mark.parametrize("key", LISTED)
def test_the_contents_of_a_paper(key, written):
    page = f"{key}/index.md"
    assert (PUBLISHED / page).read_text() == (written / page).read_text()


def test_the_page_that_leads_to_all(written):
    # Versions and cores are those of the machine that ran the experiments.
    one, other = (
        [line for line in (folder / "index.md").read_text().splitlines() if "Made by `" not in line]
        for folder in (PUBLISHED, written)
    )
    assert one == other


@pytest.mark.parametrize("key", JUDGED)
def test_verdicts_are_stored_with_the_correction_of_the_whole_paper(key):
    stored = records.load(PUBLISHED / key)
    assert records.corrected(stored) == stored


@pytest.mark.parametrize("key", LISTED)
def test_every_table_and_figure_has_a_page_with_its_settings_and_verdicts(key):
    paper = load_paper(key, is_quick=False)
    stored = {record.name: record for record in records.load(PUBLISHED / key)}
    assert set(stored) == {file_name(part) for part in (*paper.tables, *paper.figures)}
    for part in (*paper.tables, *paper.figures):
        record = stored[file_name(part)]
        assert not record.is_quick
        assert [text for text, _ in record.claims] == [claim.text for claim in part.claims]
        page = (PUBLISHED / key / f"{record.name}.md").read_text()
        for setting in SETTINGS:
            assert f"\n- {setting}: " in page, (record.name, setting)
        if record.claims:
            assert claims_table(record.claims) in page
        assert (PUBLISHED / key / f"{record.name}.csv").is_file()
        if not isinstance(part, Table):
            assert (PUBLISHED / key / f"{record.name}.png").is_file()
