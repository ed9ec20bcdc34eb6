"""Messages of the command line name options, not parameters of the library."""

import re

import pytest

from tests.unit.cli.corpus import EDGES, rows, write_csv


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taxonomy.csv").write_text(EDGES)
    (tmp_path / "taxonomy.xyz").write_text(EDGES)
    (tmp_path / "other.csv").write_text("a,b\nx,y\n")
    (tmp_path / "one.csv").write_text("text,label\nx,y\n")
    write_csv(tmp_path / "data.csv", [*rows(7), rows(8)[-1] | {"title": "Gehölze"}])
    return tmp_path


TRAIN = ["train", "data.csv", "--label", "code", "--out", "model"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["taxonomy", "show", "taxonomy.xyz"], "suffix '.xyz'; pass --format: csv, levels, json"),
        ([*TRAIN, "-t", "taxonomy.xyz"], "suffix '.xyz'; pass --taxonomy-format: csv, levels"),
        (["taxonomy", "convert", "taxonomy.csv", "new.xyz"], "'.xyz'; pass --to: csv, levels"),
        (["taxonomy", "convert", "taxonomy.xyz", "new.csv"], "'.xyz'; pass --format: csv, levels"),
        (
            ["taxonomy", "convert", "taxonomy.csv", "new.csv", "--to", "levels"],
            "Write this taxonomy with --to csv or --to json.",
        ),
        (
            ["taxonomy", "convert", "taxonomy.csv", "new.csv", "--parent", "up"],
            "Choose columns with --parent and --child; one column per level needs --format levels.",
        ),
        (
            ["taxonomy", "show", "other.csv"],
            "Choose columns with --parent and --child of 'taxonomist taxonomy convert'; one column "
            "per level needs --format levels.",
        ),
        (
            [*TRAIN, "-t", "other.csv"],
            "Choose columns with --parent and --child of 'taxonomist taxonomy convert'; one column "
            "per level needs --taxonomy-format levels.",
        ),
        ([*TRAIN, "--calibration", "magic"], "--calibration must be one of auto, temperature,"),
        ([*TRAIN, "--calibration", "magic"], "isotonic, or none. Got 'magic'."),
        ([*TRAIN, "--features", "nix"], "--features must be one of 'auto', 'words', "),
        ([*TRAIN, "--names", "nix"], "--names must be 'auto', 'on', 'off', or a weight"),
        ([*TRAIN, "--measure", "nix"], "taxonomy_loss, micro_f1, macro_f1. Got 'nix'."),
        ([*TRAIN, "--measure", "nix"], "--measure must be one of hierarchical_f1, "),
        ([*TRAIN, "--vectors", "nix"], "--vectors must be"),
        ([*TRAIN, "--encoding", "ascii"], "Name its encoding, such as --encoding cp1252 or"),
        (
            [*TRAIN, "--model", "svm", "--text", "title", "--weights", "1,2"],
            "--weights must be finite",
        ),
        ([*TRAIN, "--model", "PathSVC"], "--model must be 'auto' or one of flat, markov"),
        (["compare", "data.csv", "--models", "svm,auto"], "--models must be some of flat, markov"),
        (["train", "data.csv", "--out", "model"], "Name yours with --label."),
        (["train", "one.csv", "--out", "model"], "one part would be empty. Add items, or"),
        (["train", "one.csv", "--out", "model"], "pass --test-size 0 to hold out none."),
        ([*TRAIN, "--seed", str(2**32)], "--seed"),
        (["compare", "data.csv", "--label", "code", "--seed", str(2**32)], "--seed"),
        (["data", "show", "nothing"], "'taxonomist data list' lists them all."),
        (["model", "show", "data.csv"], "Pass a folder written by 'taxonomist train';"),
    ],
)
def test_messages_speak_of_options(call, command, said):
    done = call(*command)
    assert done.code == 2
    assert said in done.err
    assert not re.search(r"\w=|n_splits|random_state|Looking for", done.err)


def test_notes_speak_of_options(call, folder):
    (folder / "sets.csv").write_text("text,label\nx,a\ny,b\nz,a;b\n")
    done = call("train", "sets.csv", "--out", "model", "--test-size", "0.9")
    assert "If a cell can hold several, pass --separator ';'." in done.err


def test_errors_in_a_taxonomy_speak_of_options(call):
    done = call("taxonomy", "check", "other.csv")
    assert done.code == 1
    assert "one column per level needs --format levels." in done.out
    assert "=" not in done.out
