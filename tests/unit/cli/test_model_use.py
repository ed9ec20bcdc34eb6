"""The commands that use a trained model."""

import csv
import io
import json

import pytest

from tests.unit.cli.corpus import EDGES, rows, write_csv


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with data, a taxonomy, a model, and one of label sets."""
    from taxonomist.cli.app import app

    folder = tmp_path_factory.mktemp("home")
    (folder / "taxonomy.csv").write_text(EDGES)
    items = rows(120)
    data = write_csv(folder / "data.csv", items)
    for item, other in zip(items[::3], items[1::3], strict=True):
        item["code"] += ";" + other["code"]
        item["text"] += " " + other["text"]
    sets = write_csv(folder / "sets.csv", items)
    write_csv(folder / "new.csv", rows(12, seed=1))
    common = ["-t", folder / "taxonomy.csv", "--text", "title,text", "--label", "code"]
    for path, extra in ((data, []), (sets, ["--separator", ";"])):
        command = ["train", path, *common, *extra, "--out", folder / path.stem]
        app([*map(str, command)], standalone_mode=False)
    return folder


@pytest.fixture
def there(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def table(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_predictions_keep_order_and_ids(call, there):
    done = call("predict", "data", "new.csv")
    assert done.code == 0
    found = table(done.out)
    assert [row["id"] for row in found] == [item["id"] for item in rows(12, seed=1)]
    assert [row["label"] for row in found] == [item["code"] for item in rows(12, seed=1)]
    assert found[0]["name"] == "Cats"
    assert found[0]["path"] == "A > cat"
    assert list(found[0]) == ["id", "label", "name", "path", "probability", "note"]
    assert all(0 < float(row["probability"]) <= 1 for row in found)
    plain = table(call("predict", "data", "new.csv", "--no-proba").out)
    assert list(plain[0]) == ["id", "label", "name", "path", "note"]
    assert [row["label"] for row in plain] == [row["label"] for row in found]


def test_a_table_without_the_columns_of_the_model(call, there, tmp_path):
    (tmp_path / "a.csv").write_text("id,heading\n1,purrs\n")
    advice = "The model was trained on columns of these names; pass yours with --text"
    for command, end in (("predict", "."), ("evaluate", " and --label.")):
        done = call(command, "data", tmp_path / "a.csv")
        assert done.code == 2
        assert f"its columns are 'id', 'heading'. {advice}{end}" in done.err
    for given in (["--text", "headings"], ["--text", "heading", "--id", "key"]):
        assert advice not in call("predict", "data", tmp_path / "a.csv", *given).err


def test_predictions_for_rows_without_ids_have_lines(call, there, tmp_path):
    (tmp_path / "a.csv").write_text('title,text\n"purrs\nwhiskers",\n,barks bone\n')
    found = table(call("predict", "data", tmp_path / "a.csv").out)
    assert [(row["line"], row["label"]) for row in found] == [("2", "cat"), ("4", "dog")]


def test_the_columns_can_be_others(call, there, tmp_path):
    (tmp_path / "a.csv").write_text("key,body\n7,acorn timber\n")
    options = ("--text", "body", "--id", "key")
    done = call("predict", "data", tmp_path / "a.csv", *options)
    (row,) = table(done.out)
    assert (row["id"], row["label"], row["name"], row["path"]) == ("7", "oak", "", "P > oak")
    (tmp_path / "a.csv").write_text("a,b,c\n1,2,3\n")
    done = call("predict", "data", tmp_path / "a.csv", "--text", "a,b,c")
    assert done.code == 2
    assert "3 columns, but the model was trained on 2: title, text." in done.err


def test_all_that_can_be_asked_for(call, there):
    options = ("--top", "2", "--proba", "--explain", "--to", "tsv")
    found = table(call("predict", "data", "new.csv", *options).out, "\t")
    for row in found:
        assert row["label_1"] == row["label"]
        assert float(row["probability_1"]) > float(row["probability_2"])
        # As probabilities of nodes and of categories: those of leaves are the same.
        assert row["probability_1"] == row["probability"]
        assert len(row["words"].split()) == 10


def test_json_lines(call, there):
    done = call("predict", "data", "new.csv", "--json", "--proba")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert len(records) == 12
    assert records[0]["id"] == "doc-0"
    assert records[0]["labels"] == ["cat"]
    assert records[0]["names"] == ["Cats"]
    assert records[0]["paths"] == [["A", "cat"]]
    assert 0 < records[0]["probabilities"][0] <= 1


def test_sure_predictions_are_less_deep(call, there):
    options = ("--confident", "0.8", "--proba")
    for text, labels in (("never heard", []), ("purrs whiskers claws mouse sleeps", ["cat"])):
        sure = json.loads(call("predict", "data", "--text", text, *options, "--json").out)
        assert sure["labels"] == labels
        assert all(chance >= 0.8 for chance in sure["probabilities"])
    assert call("predict", "data", "--text", "never", *options).out.endswith(
        "\n\t\t\t\tno known words\n"
    )
    done = call("predict", "data", "--text", "never", "--confident", "1.5")
    assert done.code == 2
    assert "--confident must be above 0 and below 1. Got 1.5" in done.err


def test_one_text(call, there):
    done = call("predict", "data", "--text", "barks, bone and leash", "--no-proba")
    assert done.out.splitlines() == ["label\tname\tpath\tnote", "dog\tDogs\tA > dog\t"]
    for text, note in (
        ("never heard", "no known words"),
        ("barks like nothing on earth", "far from training"),
        ("barks like bone", ""),
    ):
        found = json.loads(call("predict", "data", "--text", text, "--json").out)
        assert found["note"] == note
    for options, said in (
        (["--text", " "], "--text is empty"),
        ([], "Pass a file with rows, or a text"),
    ):
        done = call("predict", "data", *options)
        assert done.code == 2
        assert said in done.err


def test_label_sets_are_parted(call, there):
    found = table(call("predict", "sets", "sets.csv", "--separator", "|").out)
    codes = [set(row["code"].split(";")) for row in table((there / "sets.csv").read_text())]
    right = [set(row["label"].split("|")) == code for row, code in zip(found, codes, strict=True)]
    assert sum(right) > 100
    assert not {"A", "P", "ROOT"} & {label for row in found for label in row["label"].split("|")}


def test_bad_rows_leave_no_file(call, there, tmp_path):
    items = rows(6, seed=2)
    items[4] |= {"title": "", "text": ""}
    data = write_csv(tmp_path / "a.csv", items)
    out = tmp_path / "out.csv"
    done = call("predict", "data", data, "--out", out)
    assert done.code == 2
    assert "line 6: no text in 'title' or 'text'." in done.err
    assert list(tmp_path.iterdir()) == [data]
    done = call("predict", "data", data, "--out", out, "--skip-bad")
    assert done.code == 0
    assert "Wrote 5 rows" in done.err
    assert [row["id"] for row in table(out.read_text())] == [f"doc-{i}" for i in (0, 1, 2, 3, 5)]


def test_a_pipe_gets_the_blocks_before_a_bad_row(call, there, tmp_path, monkeypatch):
    from taxonomist.workflow import predictions

    monkeypatch.setattr(predictions, "MOST_ITEMS", 2)
    items = rows(6, seed=2)
    items[3] |= {"title": "", "text": ""}
    done = call("predict", "data", write_csv(tmp_path / "a.csv", items))
    assert done.code == 2
    assert [row["id"] for row in table(done.out)] == ["doc-0", "doc-1"]
    assert "Nothing was written" not in done.err
    assert "The predictions for the first 2 rows were written. Fix" in done.err


def test_a_pipe_gets_nothing_if_the_first_block_has_a_bad_row(call, there, tmp_path):
    items = rows(6, seed=2)
    items[3] |= {"title": "", "text": ""}
    done = call("predict", "data", write_csv(tmp_path / "a.csv", items))
    assert (done.code, done.out) == (2, "")
    assert "Nothing was written. Fix" in done.err


def test_a_missing_column_names_the_nearest(call, there, tmp_path):
    (tmp_path / "a.csv").write_text("titel,text\na,b\n")
    done = call("predict", "data", tmp_path / "a.csv")
    assert done.code == 2
    assert "no column 'title'; its columns are 'titel', 'text'. Did you mean 'titel'" in done.err


def test_a_text_in_the_place_of_the_file(call, there):
    done = call("predict", "data", "it purrs")
    assert done.code == 2
    assert "it purrs: there is no such file. Pass a text to classify with --text." in done.err


def test_no_model(call, there):
    for command in (["predict", "taxonomy.csv", "new.csv"], ["model", "show", "nowhere"]):
        done = call(*command)
        assert done.code == 2
        assert "model" in done.err


def test_evaluation_leaves_out_what_was_trained_on(call, there):
    done = call("evaluate", "data", "data.csv", "--json")
    found = json.loads(done.out)
    assert found["n_items"] == 24
    assert "Skipped 96 items that the model was trained on; --all includes them." in done.err
    shown = json.loads(call("model", "show", "data", "--json").out)["facts"]
    assert {name: found["measures"][name] for name in shown["measures"]} == shown["measures"]
    done = call("evaluate", "data", "data.csv", "--all")
    assert "120 items" in done.out
    assert "The model was trained on 96 of these items: the measures are too good." in done.err
    done = call("evaluate", "data", "new.csv", "--nodes")
    assert "12 items" in done.out
    assert "node\tsupport\tpredicted\tprecision\trecall\tf1" in done.out
    assert "\ncat\t3\t" in done.out
    assert done.err == "Next: taxonomist report data new.csv\n"


def test_evaluation_of_label_sets(call, there):
    found = json.loads(call("evaluate", "sets", "sets.csv", "--json").out)
    assert (found["is_multilabel"], found["n_items"]) == (True, 24)


def test_evaluation_refuses_labels_that_are_not_known(call, there, tmp_path):
    items = rows(6, seed=2)
    items[0]["code"] = "ok"
    items[1]["code"] = '["oak", "cat"]'
    data = write_csv(tmp_path / "a.jsonl", items)
    done = call("evaluate", "data", data)
    assert done.code == 2
    assert "line 1: 'ok' is not a node of the taxonomy. Did you mean 'oak'" in done.err
    assert "line 2: 2 labels, but the model predicts one per item." in done.err
    assert json.loads(call("evaluate", "data", data, "--skip-bad", "--json").out)["bad"] == 2


def test_models_are_compared_with_the_flat_one(call, there):
    common = ("-t", "taxonomy.csv", "--text", "title,text", "--label", "code")
    done = call("compare", "data.csv", *common, "--models", "svm,naive_bayes", "--json")
    found = json.loads(done.out)
    assert [model["name"] for model in found["models"]] == ["svm", "naive_bayes", "flat"]
    assert found["baseline"] == "flat"
    assert found["models"][1]["results"]["accuracy"]["p_value"] is not None
    shown = call("compare", "data.csv", *common, "--models", "svm", "--folds", "2")
    assert shown.out.startswith("model")
    assert "against flat" in shown.out
    # Of folds there are two, of items enough.
    assert "2 paired values" in shown.out
    assert "p is 0.5: hierarchical_f1, macro_f1." in shown.out
    marked = call("compare", "data.csv", *common, "--models", "flat", "--markdown")
    assert marked.out.startswith("| model |")
    sets = call("compare", "sets.csv", *common, "--separator", ";", "--models", "svm")
    assert "symmetric_difference_loss" in sets.out
    done = call("compare", "data.csv", *common, "--folds", "121")
    assert (done.code, done.err) == (2, "taxonomist: --folds 121 is more than the 120 items.\n")
    done = call("compare", "data.csv", *common, "--models", "svm,flt")
    assert done.code == 2
    assert "Did you mean 'flat'" in done.err


def test_words_that_decide(call, there, tmp_path):
    text = "acorn and thorn <b>"
    done = call("explain", "data", "--text", text)
    assert done.out.startswith("P > ")
    assert "acorn +" in done.out
    found = json.loads(call("explain", "data", "--text", text, "--category", "oak", "--json").out)
    assert found["category"] == "oak"
    assert found["path"] == ["P", "oak"]
    page = tmp_path / "why.html"
    done = call("explain", "data", "--text", text, "--words", "1", "--html", page)
    assert done.out == ""
    assert "<mark" in page.read_text()
    assert "&lt;b&gt;" in page.read_text()
    done = call("explain", "data", "--text", text, "--category", "oka")
    assert done.code == 2
    assert "Did you mean 'oak'" in done.err
    assert call("explain", "data", "--text", " ").code == 2


def test_a_model_without_probabilities_or_reasons(call, there, tmp_path):
    data = ("data.csv", "--text", "title,text", "--label", "code", "--calibration", "none")
    out = ("--out", tmp_path / "model", "--model", "neighbours")
    assert call("train", *data, *out).code == 0
    assert call("predict", tmp_path / "model", "--text", "acorn timber").code == 0
    for options in (["--proba"], ["--top", "2"], ["--confident", "0.9"]):
        done = call("predict", tmp_path / "model", "--text", "acorn timber", *options)
        assert done.code == 2
        assert "no probabilities: train it with --calibration" in done.err
    for command in (["predict", "--explain"], ["explain"]):
        done = call(command[0], tmp_path / "model", "--text", "acorn", *command[1:])
        assert done.code == 2
        assert "cannot explain its predictions" in done.err
    assert call("report", tmp_path / "model", "data.csv", "-o", tmp_path / "r.html").code == 0
    assert call("model", "show", tmp_path / "model").code == 0


def test_facts_of_other_models_are_shown_as_they_are(call, tmp_path):
    from taxonomist import LidstoneNB
    from taxonomist.persistence import save

    model = LidstoneNB().fit([[1, 0], [0, 1]], ["a", "b"])
    save(model, tmp_path / "model", facts={"measures": {"accuracy": 0.5}, "search": [1, 2]})
    shown = call("model", "show", tmp_path / "model").out
    assert "accuracy 0.5" in shown
    assert "1, 2" in shown
    done = call("predict", tmp_path / "model", "--text", "a")
    assert done.code == 2
    assert "takes vectors and not texts" in done.err


def test_a_text_from_standard_input(call, there, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("acorn timber"))
    assert call("explain", "data", "--text", "-").out.startswith("P > oak")


def test_a_report(call, there, tmp_path):
    page = tmp_path / "report.html"
    done = call("report", "data", "data.csv", "-o", page)
    assert done.code == 0, done.err
    text = page.read_text(encoding="utf-8")
    assert "data on data.csv" in text
    assert "24 items" in text
    assert "Against the flat twin" in text
    assert "Learning curve" in text
    assert "Telling words" in text
    assert "acorn" in text
    assert f"The report is in {page}." in done.err


@pytest.mark.parametrize("model", ["data", "sets"])
def test_a_quick_report_and_one_on_new_items(call, there, tmp_path, model):
    page = tmp_path / "report.html"
    assert call("report", model, f"{model}.csv", "-o", page, "--quick", "--title", "T").code == 0
    assert "Learning curve" not in page.read_text(encoding="utf-8")
    done = call("report", model, "new.csv", "-o", page)
    assert done.code == 0
    assert "Pass the rows that the model was trained with" in done.err


def test_a_report_of_label_sets(call, there, tmp_path):
    page = tmp_path / "report.html"
    done = call("report", "sets", "sets.csv", "-o", page)
    assert done.code == 0, done.err
    assert "Against the flat twin" in page.read_text(encoding="utf-8")


def test_formats_that_help_names_are_those_that_are_read():
    from taxonomist.cli.options import TABLE_FORMATS
    from taxonomist.datasets.table_formats import FORMATS

    assert tuple(FORMATS) == TABLE_FORMATS


def test_an_input_is_never_the_output(call, there, tmp_path):
    data = write_csv(tmp_path / "rows.csv", rows(8, seed=3))
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    before = data.read_text()
    for command in (
        ["predict", "data", data, "--out", data],
        ["predict", "data", data, "--out", link],
        ["report", "data", data, "--out", data],
    ):
        done = call(*command)
        assert done.code == 2
        assert f"--out {command[-1]} is also an input. Pass another path." in done.err
        assert data.read_text() == before
    # A file of the model is no place, either.
    done = call("report", "data", data, "--out", "data")
    assert "--out data is also an input." in done.err
    for name in ("predict", "report"):
        done = call(name, "data", data, "--out", "data/new.csv")
        assert done.code == 2
        assert "--out data/new.csv is inside the input data. Pass another path." in done.err
    assert not (there / "data" / "new.csv").exists()


def test_the_place_is_tried_before_the_work(call, there, monkeypatch, tmp_path):
    from taxonomist import workflow

    monkeypatch.setattr(workflow, "report_content", None)
    done = call("report", "data", "data.csv", "--out", tmp_path / "no" / "r.html")
    assert done.code == 2
    assert f"the folder {tmp_path / 'no'} does not exist." in done.err
    done = call("report", "data", "data.csv", "--out", tmp_path)
    assert f"--out {tmp_path} is a folder. Pass a file." in done.err
    done = call("explain", "data", "--text", "x", "--html", tmp_path / "no" / "w.html")
    assert f"--html {tmp_path / 'no' / 'w.html'}: the folder" in done.err
    assert call("predict", "data", "new.csv", "--out", "/dev/null", "--to", "csv").code == 0


def test_the_next_command_is_named(call, there, tmp_path):
    done = call("predict", "data", "--text", "barks, bone")
    assert done.err == "Next: taxonomist explain data --text 'barks, bone'\n"
    done = call("predict", "data", "--text", "bone " * 100, "--json")
    assert done.err == "Next: taxonomist explain data --text ...\n"
    done = call("predict", "data", "new.csv")
    assert done.err == "Next: taxonomist explain data --text ...\n"
    page = tmp_path / "my report.html"
    done = call("report", "data", "data.csv", "-o", page, "--quick")
    assert done.err.splitlines()[-1] == f"Next: open {page} in a browser."
