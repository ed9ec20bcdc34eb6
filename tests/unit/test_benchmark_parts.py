"""Benchmarks that record each part with its own circumstances."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import __main__ as command
from benchmarks import gene_functions, markov_dags, record, svm_speed, tolerances


def test_a_part_is_written_beside_others_and_the_summary_is_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    path = record.save_part("one", "a", {"n": 1}, lambda parts: sum(p["n"] for p in parts.values()))
    first = json.loads(path.read_text(encoding="utf-8"))["parts"]["a"]
    record.save_part("one", "b", {"n": 2}, lambda parts: sum(p["n"] for p in parts.values()))
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["parts"]["a"] == first
    assert first["command"] == "python -m benchmarks one:a"
    assert {"commit", "machine", "python", "packages", "figures"} <= first.keys()
    assert found["parts"]["b"]["figures"] == {"n": 2}
    assert found["summary"] == 3


def test_named_parts_are_run_and_unknown_ones_refused(monkeypatch):
    runs = []
    monkeypatch.setattr(tolerances, "run", lambda *parts: runs.append(parts))
    for word in ("tolerances:HierarchicalSVC,CoupledBinarySVC", "tolerances"):
        monkeypatch.setattr(sys, "argv", ["benchmarks", word])
        command.main()
    assert runs == [(["HierarchicalSVC", "CoupledBinarySVC"],), ()]
    for word, message in (
        ("tolerances:other", "tolerances has no part 'other'. Its parts: HierarchicalSVC, "),
        ("mixture_speed:other", "mixture_speed has no part 'other'. Its parts: none."),
        ("other", "There is no benchmark 'other'."),
    ):
        monkeypatch.setattr(sys, "argv", ["benchmarks", word])
        with pytest.raises(SystemExit, match=message):
            command.main()
    assert len(runs) == 2


@pytest.mark.parametrize("benchmark", [gene_functions, markov_dags, svm_speed, tolerances])
def test_every_part_is_recorded_with_its_commit(benchmark):
    name = benchmark.__name__.rpartition(".")[2]
    found = json.loads((record.RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    assert sorted(found["parts"]) == sorted(benchmark.PARTS)
    assert all(part["commit"] for part in found["parts"].values())
