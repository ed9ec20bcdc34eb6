"""Verdicts as data, corrected within a paper."""

from __future__ import annotations

from taxonomist.experiments import records
from taxonomist.experiments.declarations import Judgement
from taxonomist.experiments.records import Record
from taxonomist.experiments.writing import claims_table


def record(name, *judgements):
    claims = tuple((f"claim {n}", made) for n, made in enumerate(judgements))
    return Record("P", name, name, claims, seconds=1.0)


def test_verdicts_are_corrected_for_all_claims_of_the_paper():
    found = records.corrected(
        [
            record("table-1", Judgement("yes", "", 0.01), Judgement("yes", "", 0.03)),
            record("figure-1", Judgement("no", "", 0.001), Judgement("yes", "interval")),
            record("figure-2", Judgement("within noise", "", 0.4)),
        ]
    )
    verdicts = [[made.corrected for _, made in one.claims] for one in found]
    # Corrected p-values are 0.03, 0.06 and 0.004; the interval stays as it is.
    assert verdicts == [["yes", "within noise"], ["no", None], ["within noise"]]
    assert [made.verdict for _, made in found[0].claims] == ["yes", "yes"]


def test_pages_that_were_written_before_are_corrected_with_later_ones(tmp_path):
    for name, p_value in (("table-1", 0.04), ("table-2", 0.03)):
        one = record(name, Judgement("yes", "because", p_value))
        page = f"# {name}\n\n## Claims\n\n{claims_table(one.claims)}\n\n## What we found\n\nIt.\n"
        (tmp_path / f"{name}.md").write_text(page)
        records.save(tmp_path, one)
        records.correct(tmp_path)
        if name == "table-1":
            assert "**yes** | yes | because |" in (tmp_path / "table-1.md").read_text()
    text = (tmp_path / "table-1.md").read_text()
    assert "**yes** | within noise | because |" in text
    assert text.endswith("\n\n## What we found\n\nIt.\n")
    assert text.count("## Claims") == text.count("claim 0") == 1
    assert records.load(tmp_path)[0].claims[0][1].corrected == "within noise"


def test_records_of_an_earlier_version_can_be_read(tmp_path):
    (tmp_path / "table-1.json").write_text(
        '{"paper": "P", "name": "table-1", "title": "t", "missing": [], "seconds": 2.0,'
        '"claims": [["c", {"verdict": "yes", "because": "b"}]]}'
    )
    (found,) = records.load(tmp_path)
    assert found.claims == (("c", Judgement("yes", "b")),)
