"""``taxonomist train`` and ``predict`` on a cluster: many files in, a model and many files out."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from taxonomist import PathSVC, TextClassifier
from tests.unit.cli.running import run_here

WORDS = {"cat": "purrs sleeps", "dog": "barks runs", "oak": "leaves acorns", "fir": "needles cones"}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Write a taxonomy, and rows in three files; return their folder."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "t.csv").write_text("child,parent\ncat,animal\ndog,animal\noak,plant\nfir,plant\n")
    rng = np.random.default_rng(0)
    rows = [
        (f"{words} {' '.join(rng.choice(['it', 'was', 'here', 'big', 'old'], 4))} n{k}", label)
        for k in range(30)
        for label, words in WORDS.items()
    ]
    for number in range(3):
        with (folder / f"part-{number}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([("text", "label"), *rows[number::3]])
    with (folder / "all.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    return folder


def train(cluster, parts, out, *more):
    address = ("--dask", cluster.scheduler_address)
    return run_here(
        "train", parts / "part-*.csv", "-t", parts / "t.csv", "-o", out, *address, *more
    )


@pytest.fixture(scope="module")
def trained(cluster, parts, tmp_path_factory):
    out = tmp_path_factory.mktemp("trained") / "model"
    return train(cluster, parts, out, "--json"), out


def test_the_model_is_that_of_all_rows_that_were_not_held_out(trained, parts):
    result, out = trained
    assert result.code == 0, result.err
    assert "The dashboard of the cluster is at http" in result.err
    said = json.loads(result.out)
    assert said["rows"] == said["train_items"] + said["test_items"] == 120
    assert 5 < said["test_items"] < 50
    model = TextClassifier.load(out)
    assert model.training_["columns"]["text"] == "text"
    with (parts / "all.csv").open() as stream:
        rows = [({"text": row["text"]}, row["label"]) for row in csv.DictReader(stream)]
    used = [row for row in rows if model.has_seen([row[0]])[0]]
    assert len(used) == said["train_items"]
    words = {"vectors": "off", "features": "words", "names": "off"}
    words["model"] = PathSVC(model.taxonomy, random_state=0)
    local = TextClassifier(model.taxonomy, **words).fit(*zip(*used, strict=True))
    texts = [text for text, _ in rows]
    assert model.predict(texts).tolist() == local.predict(texts).tolist()


def test_each_file_has_an_output_and_a_second_run_writes_what_is_missing(
    trained, cluster, parts, tmp_path
):
    model, out = trained[1], tmp_path / "predicted"
    asked = (model, parts / "part-*.csv", "--out", out, "--dask", cluster.scheduler_address)
    result = run_here("predict", *asked)
    assert result.code == 0, result.err
    assert f"Wrote 120 rows to {out}." in result.err
    for number in range(3):
        place = tmp_path / "one.csv"
        assert run_here("predict", model, parts / f"part-{number}.csv", "--out", place).code == 0
        assert (out / f"part-{number}.csv").read_text() == place.read_text()
    (out / "part-1.csv").unlink()
    # A killed worker leaves what it had written.
    (out / ".part-1.csv.1a2b3c4d").write_text("line,label")
    kept = (out / "part-0.csv").stat().st_mtime_ns
    again = run_here("predict", *asked)
    assert "2 of 3 files already have predictions." in again.err
    assert "Wrote 40 rows" in again.err
    assert sorted(path.name for path in out.iterdir()) == [f"part-{k}.csv" for k in range(3)]
    assert (out / "part-0.csv").stat().st_mtime_ns == kept
    assert "3 of 3 files" in run_here("predict", *asked).err


def test_a_bad_row_is_named_and_nothing_is_written(trained, cluster, parts, tmp_path):
    (tmp_path / "part-0.csv").write_text("text,label\npurrs,cat\nbarks,dgo\n")
    asked = ("-t", parts / "t.csv", "--dask", cluster.scheduler_address, "-o", tmp_path / "m")
    result = run_here("train", tmp_path / "part-*.csv", *asked)
    assert result.code == 2
    assert "line 3" in result.err
    assert "'dgo'" in result.err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--final",), "--test-size 0"),
        (("--vectors", "on"), "--vectors is not available"),
        (("--workers", "2"), "either --dask or --workers"),
        (("--model", "nodes"), "On a cluster, model must be"),
    ],
)
def test_what_a_cluster_cannot_do(more, said, cluster, parts, tmp_path):
    result = train(cluster, parts, tmp_path / "m", *more)
    assert result.code in (1, 2)
    assert said in result.err
    assert not (tmp_path / "m").exists()


def test_other_mistakes(trained, cluster, parts, tmp_path):
    address = ("--dask", cluster.scheduler_address)
    result = run_here("train", parts / "none-*.csv", "-t", parts / "t.csv", "-o", "m", *address)
    assert "No file matches" in result.err
    result = run_here("train", parts / "part-*.csv", "-o", tmp_path / "m", *address)
    assert "pass --taxonomy" in result.err
    result = run_here("predict", trained[1], parts / "part-*.csv", *address)
    assert "pass a folder" in result.err
    result = run_here("predict", trained[1], parts / "part-*.csv", "--out", parts, *address)
    assert "contains the inputs" in result.err
