"""Training, measuring, comparing and what a report shows, without the command line."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from taxonomist import Taxonomy, _spill, metrics, workflow
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.errors import FormatError, LabelError, ParameterError
from taxonomist.evaluation.significance import Interval
from taxonomist.features import TextFeatures, token_table
from taxonomist.features.stored_texts import StoredTexts
from taxonomist.text import TextClassifier
from taxonomist.text.search import Trial
from taxonomist.workflow import gains
from taxonomist.workflow.flat_comparison import twins
from taxonomist.workflow.model_columns import as_item, as_model_texts, model_columns
from tests.unit.cli.corpus import EDGES, rows, write_csv

COLUMNS = Columns("title,text", "code")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("workflow")
    (found / "taxonomy.csv").write_text(EDGES)
    write_csv(found / "data.csv", rows(120))
    return found


@pytest.fixture(scope="module")
def source(folder):
    return TableSource(str(folder / "data.csv"))


@pytest.fixture(scope="module")
def labelled(folder, source):
    return workflow.read_labelled(source, COLUMNS, Taxonomy.read(folder / "taxonomy.csv"))


@pytest.fixture(scope="module")
def result(labelled):
    return workflow.train(TextClassifier(labelled.taxonomy, model="svm"), labelled, COLUMNS)


def test_training_prints_nothing_and_tells_its_steps(labelled, capsys):
    steps = []
    classifier = TextClassifier(labelled.taxonomy, model="auto", cv=2)
    found = workflow.train(
        classifier, labelled, COLUMNS, final=True, on_step=lambda *step: steps.append(step)
    )
    assert capsys.readouterr() == ("", "")
    trials = found.classifier.search_
    tried = [step for step in steps if step[0] == "Trying models"]
    assert {step[2] for step in tried} == {len(trials)}
    for k, name in enumerate(("path", "flat", "svm", "mixture")):
        notes = [step[3] for step in tried if step[1] == k]
        assert notes[0].startswith(f"timing {name}, at most ")
        assert re.match(rf"{name}, C=1, about \d+ s, at most ", notes[1])
        assert all(note.endswith(" left") for note in notes)
    best = trials[0]
    assert any(step[0] == "Features: words" for step in steps)
    assert any(step[0].startswith("Names with weight ") for step in steps)
    chosen = ("Trying models", "Features", "Names")
    rest = [step for step in steps if not step[0].startswith(chosen)]
    assert rest[0][:3] == (f"Training {best.model}, C={best.C:g}", 0, None)
    assert re.fullmatch(r"about \d+ s", rest[0][3])
    twin = [] if best.model == "flat" else [("Training without the taxonomy", 0, None)]
    assert rest[1:] == [("Measuring", 0, None), *twin, ("Training on all items", 0, None)]
    assert (found.n_train, found.n_test) == (120, 24)
    assert found.classifier is not classifier
    assert not classifier.training_.get("measures")
    facts = found.classifier.training_
    assert facts["measures"] == found.measures
    assert (facts["final"], facts["test_items"], facts["items"]) == (True, 24, 120)
    assert found.classifier.has_seen(labelled.texts).all()


def test_what_is_saved_is_what_was_recorded(result, labelled, tmp_path):
    result.classifier.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.training_["measures"] == result.measures
    assert model_columns(again) == COLUMNS
    seen = again.has_seen(labelled.texts)
    assert (int(seen.sum()), len(seen)) == (96, 120)


def test_held_out_texts_are_tokenised_and_scored_once(labelled, monkeypatch):
    split, asked = [], []
    answer, table = TextClassifier.answer, TextFeatures._table

    def answered(classifier, texts):
        asked.append(len(texts))
        return answer(classifier, texts)

    def tabulated(features, texts):
        texts = list(texts)
        split.append(len(texts))
        return table(features, texts)

    monkeypatch.setattr(TextClassifier, "answer", answered)
    monkeypatch.setattr(TextFeatures, "_table", tabulated)
    classifier = TextClassifier(labelled.taxonomy, model="svm", features="words", names="off")
    found = workflow.train(classifier, labelled, COLUMNS)
    assert "hierarchical_f1" in found.classifier.training_["taxonomy_gain"]
    # The classifier and its twin each split the 96 training texts.
    assert split == [96, 24, 96]
    assert asked == [24, 24]


@pytest.mark.parametrize("model", ["path", "mixture"])
def test_training_says_what_the_taxonomy_adds(labelled, model, monkeypatch):
    classifier = TextClassifier(labelled.taxonomy, model=model)
    found = workflow.train(classifier, labelled, COLUMNS).classifier
    gain = found.training_["taxonomy_gain"]
    assert gain["said"].startswith("The taxonomy, against the same model without it: hierarchical")
    is_test = ~found.has_seen(labelled.texts)
    items = {kind: labelled.take(np.flatnonzero(is_test == kind)) for kind in (False, True)}
    twin = found.flat_twin().fit(items[False].texts, items[False].targets)
    assert twin.model == model
    texts, truth = items[True].texts, items[True].targets
    values = [
        metrics.hierarchical_f1(truth, one.predict(texts), labelled.taxonomy)
        for one in (found, twin)
    ]
    assert gain["hierarchical_f1"]["estimate"] == pytest.approx(values[0] - values[1])
    assert gain["hierarchical_f1"]["low"] <= gain["hierarchical_f1"]["high"]
    assert "accuracy" in gain
    monkeypatch.setattr(gains, "MOST_SECONDS", 0.0)
    slow = workflow.train(TextClassifier(labelled.taxonomy, model=model), labelled, COLUMNS)
    assert set(slow.classifier.training_["taxonomy_gain"]) == {"said"}
    flat = workflow.train(TextClassifier(labelled.taxonomy, model="flat"), labelled, COLUMNS)
    assert "taxonomy_gain" not in flat.classifier.training_


def test_a_gain_on_one_held_out_item_has_no_interval(labelled):
    few, classifier = labelled.take(np.arange(8)), TextClassifier(labelled.taxonomy)
    found = workflow.train(classifier, few, COLUMNS, test_size=0.1)
    assert found.n_test == 1
    gain = found.classifier.training_["taxonomy_gain"]
    json.dumps(gain, allow_nan=False)
    assert gain["accuracy"]["low"] is None
    assert gain["said"].endswith("Too few items are held out to tell whether this is noise.")
    assert "nan" not in gain["said"]


def test_a_gain_of_zero_has_no_sign():
    said = gains._said({"accuracy": Interval(-1e-4, 1e-4, -1e-5)})
    assert "accuracy +0.000 [+0.000, +0.000]. This is within the noise." in said


def test_a_share_that_is_none(labelled):
    with pytest.raises(ParameterError, match="test_size must be at least 0 and below 1. Got 1"):
        workflow.train(TextClassifier(), labelled, COLUMNS, test_size=1)


def classifier_with(training, columns=None):
    features = SimpleNamespace(columns_=columns)
    return SimpleNamespace(training_=training, features_=features)


def test_columns_of_a_model():
    old = {
        "text": "title,text",
        "label": "code",
        "id": "key",
        "separator": ";",
        "path_separator": "/",
    }
    found = model_columns(classifier_with({"columns": old}))
    assert found == Columns("title,text", "code", label_sep=";", path_sep="/")
    assert model_columns(classifier_with({}, ["a", "b"])) == Columns("a,b")
    assert model_columns(classifier_with({})) == Columns("text")
    two = classifier_with({}, ["a", "b"])
    assert as_item(two, "x") == {"a": "x"}
    assert as_model_texts(two, [{"u": "x"}]) == [{"a": "x"}]
    with pytest.raises(FormatError, match="3 columns, but the model was trained on 2: a, b"):
        as_model_texts(two, [{"u": "", "v": "", "w": ""}])


def test_items_that_were_trained_on_are_found(result, source):
    found = workflow.read_to_measure(result.classifier, source, {"text": None})
    assert found.n_seen == 96
    assert len(found.measured()) == 24
    assert not found.is_seen[found.measured()].any()
    assert len(found.measured(include_seen=True)) == 120
    everything = found._replace(is_seen=np.ones(120, dtype=bool))
    with pytest.raises(LabelError, match="trained on all 120 items"):
        everything.measured()


def test_models_are_compared_on_texts_that_are_tokenised_once(labelled, monkeypatch):
    passes = []
    count = TextFeatures._table
    monkeypatch.setattr(
        TextFeatures, "_table", lambda self, *given: passes.append(1) or count(self, *given)
    )
    steps = []
    table = workflow.compare(
        labelled, ["svm", "nodes"], n_folds=2, on_step=lambda *step: steps.append(step)
    )
    assert table.models == ("svm", "nodes", "flat")
    assert len(passes) == 1
    assert steps[:2] == [("Counting words", 0, None), ("Comparing", 0, 6)]
    assert steps[-1] == ("Comparing", 6, 6)


def test_a_report_tokenises_once(result, source, monkeypatch, tmp_path):
    measured = workflow.read_to_measure(result.classifier, source, {})
    passes = []
    count = TextFeatures._table
    monkeypatch.setattr(
        TextFeatures, "_table", lambda self, *given: passes.append(1) or count(self, *given)
    )
    steps = []
    content = workflow.report_content(
        result.classifier, measured, on_step=lambda *step: steps.append(step)
    )
    assert len(passes) == 1
    names = ["Measuring", "Collecting words", "Comparing with the flat twin"]
    names += ["Learning curve of svm", "Learning curve of flat"]
    assert list(dict.fromkeys(step[0] for step in steps)) == names
    # Each step that trains says its total before the first fit.
    first = {step[0]: step for step in reversed(steps)}
    assert all(first[name][1] == 0 and first[name][2] for name in names[2:])
    assert content.note == ""
    assert content.assessment.n_items == 24
    assert content.flat is not None
    assert list(content.curves) == ["svm", "flat"]
    assert content.facts["test_items"] == 24
    assert "cat" in content.words
    page = content.write(tmp_path / "r.html", "Title")
    assert "Against the flat twin" in page.read_text(encoding="utf-8")
    quick = workflow.report_content(result.classifier, measured, quick=True)
    assert (quick.flat, quick.curves, quick.note) == (None, {}, "")
    assert quick.assessment.measures == content.assessment.measures
    every = workflow.report_content(result.classifier, measured, include_seen=True)
    assert every.assessment.n_items == 120
    none_seen = measured._replace(is_seen=np.zeros(120, dtype=bool))
    few = workflow.report_content(result.classifier, none_seen)
    assert "Pass the rows that the model was trained with" in few.note


def twins_of(labelled, model, **options):
    classifier = TextClassifier(labelled.taxonomy, model=model, **options)
    return twins(classifier.fit(labelled.texts, labelled.targets))


def test_the_flat_twin_of_a_mixture_is_a_mixture(labelled):
    found = twins_of(labelled, "mixture", calibration=None)
    assert list(found) == ["mixture", "flat"]
    assert found["flat"].model == "mixture"
    # The names of categories are training documents of the twin, too.
    assert found["flat"].taxonomy.height == 1
    fitted = found["flat"].fit(labelled.texts, labelled.targets)
    assert type(fitted.model_).__name__ == "HierarchicalMixture"


def test_twins_have_the_cost_that_was_given_after_a_search(labelled):
    classifier = TextClassifier(labelled.taxonomy, model="auto", C=7.0, cv=2)
    classifier.fit(labelled.texts, labelled.targets)
    classifier.search_ = [Trial("svm", 0.3, 0.0, 0.0)]
    assert [twin.C for twin in twins(classifier).values()] == [7.0, 7.0]


def test_a_flat_model_stands_beside_one_with_the_taxonomy(labelled):
    found = twins_of(labelled, "flat", calibration="platt")
    assert list(found) == ["svm", "flat"]
    assert found["svm"].model == "svm"
    assert [twin.calibration for twin in found.values()] == [None, None]


def table_as(path, suffix):
    """Write the rows of the tests in a format."""
    items = rows(120)
    path = path.with_suffix(suffix)
    if suffix == ".csv":
        write_csv(path, items)
    elif suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(item)}\n" for item in items), encoding="utf-8")
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(items), path)
    return TableSource(str(path))


def trained_on(source, taxonomy, out):
    """Return the bytes of a saved model, its measures, and the kind of its texts."""
    labelled = workflow.read_labelled(source, COLUMNS, taxonomy)
    classifier = TextClassifier(taxonomy, features="words 1-2 + characters", vectors="off")
    result = workflow.train(classifier, labelled, COLUMNS, final=True)
    result.classifier.training_ = {}  # these have times
    result.classifier.model_.fit_seconds_ = 0.0
    result.classifier.save(out)
    (parts,) = out.glob("parts-*")
    content = {path.name: path.read_bytes() for path in parts.iterdir()}
    return content, result.measures, type(labelled.texts)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_little_memory_gives_the_same_model_and_measures(folder, tmp_path, monkeypatch, suffix):
    taxonomy = Taxonomy.read(folder / "taxonomy.csv")
    source = table_as(tmp_path / "data", suffix)
    wanted = trained_on(source, taxonomy, tmp_path / "one")
    monkeypatch.setenv(_spill.VARIABLE, "1e-8")
    monkeypatch.setattr(_spill, "BLOCK_BYTES", 256)
    monkeypatch.setattr(token_table, "BLOCK_BYTES", 64)
    monkeypatch.setattr(token_table, "TOKENS_AT_ONCE", 16)
    found = trained_on(source, taxonomy, tmp_path / "two")
    assert found[:2] == wanted[:2]
    assert (wanted[2], found[2]) == (list, StoredTexts)
