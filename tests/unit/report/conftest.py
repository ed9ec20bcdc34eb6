"""A large report, which is written once."""

import pytest

from tests.unit.report.large_pages import write_large_report


@pytest.fixture(scope="session")
def large_report(tmp_path_factory):
    """The folder of a report of 50,000 nodes, its taxonomy, its assessment and its words."""
    folder = tmp_path_factory.mktemp("large")
    return folder, *write_large_report(folder / "report.html")
