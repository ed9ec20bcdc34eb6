"""From a file to decisions, through the real command, as a person with a spreadsheet would go."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from taxonomist import datasets
from tests.unit.cli.running import arguments, run, run_here

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

TEXTS = ("--text", "title,abstract", "--label", "code")
QUICK = ("--model", "naive_bayes", "--features", "words", "--names", "off")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with some of the bundled corpus as CSV, its taxonomy, and a model."""
    folder = tmp_path_factory.mktemp("story")
    corpus = datasets.load("arxiv-sample", labels="primary")
    corpus.taxonomy.write(folder / "taxonomy.csv")
    groups = ("hep-th", "math.AG", "cs.CV", "q-bio.PE", "astro-ph.GA", "math.CO")
    chosen = [i for i, label in enumerate(corpus.y) if label in groups]
    with (folder / "papers.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "abstract", "code"])
        for i in chosen[::2]:
            title, _, abstract = corpus.texts[i].partition("\n")
            writer.writerow([corpus.ids[i], title, abstract, corpus.y[i]])
    data = [folder / "papers.csv", "--taxonomy", folder / "taxonomy.csv", *TEXTS]
    done = run("train", *data, "--out", folder / "model", "--json")
    assert done.code == 0, done.err
    (folder / "trained.json").write_text(done.out)
    return folder


def test_the_story(home, tmp_path):
    trained = json.loads((home / "trained.json").read_text())
    assert trained["measures"]["accuracy"]["value"] > 0.7
    done = run("predict", home / "model", home / "papers.csv", "--out", tmp_path / "out.csv")
    assert done.code == 0, done.err
    with (
        (home / "papers.csv").open(encoding="utf-8") as given,
        (tmp_path / "out.csv").open() as made,
    ):
        truth, found = list(csv.DictReader(given)), list(csv.DictReader(made))
    assert [row["id"] for row in found] == [row["id"] for row in truth]
    right = [row["label"] == item["code"] for row, item in zip(found, truth, strict=True)]
    assert sum(right) > 0.8 * len(right)
    done = run("report", home / "model", home / "papers.csv", "-o", tmp_path / "r.html", "--quick")
    assert done.code == 0, done.err
    assert f"{trained['test_items']} items" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_pipe_goes_through(home):
    rows = gzip.compress(b'{"id": 1, "title": "Moduli of curves", "abstract": "Schemes."}\n' * 3)
    command = arguments(("predict", home / "model", "-", "--json", "--top", "2"))
    done = subprocess.run(command, input=rows, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["id"] for record in records] == ["1"] * 3
    assert records[0]["labels"] == ["math.AG"]
    assert len(records[0]["top"]) == 2


FAULTS = (
    b"\xef\xbb\xbfid;title;abstract;code\r\n"
    b'1;"Strings; and ""branes""";Text;hep-th\r\n'
    b"2;;;hep-th\r\n"
    b"3;Galaxies;Text;astro-ph.GAA\r\n"
    b"4;Graphs;Text;\r\n"
    b"5;Graphs;Text\r\n"
    b"\r\n"
    b'6;"Two\nlines";Text;math.CO\r\n'
    b"7;Too;many;cells;here\r\n"
)


def test_every_fault_is_named_with_its_line(home, tmp_path):
    (tmp_path / "bad.csv").write_bytes(FAULTS)
    data = [tmp_path / "bad.csv", "-t", home / "taxonomy.csv", *TEXTS, "-o", tmp_path / "model"]
    done = run_here("train", *data)
    assert done.code == 2
    assert done.err.splitlines() == [
        f"taxonomist: {tmp_path / 'bad.csv'}: 1 of 7 rows has no label and is skipped: line 5.",
        f"{tmp_path / 'bad.csv'}: 4 of 7 rows cannot be used.",
        "  line 3: no text in 'title' or 'abstract'.",
        "  line 4: 'astro-ph.GAA' is not a node of the taxonomy. Did you mean 'astro-ph.GA' or "
        "'astro-ph' or 'astro-ph.SR'?",
        "  line 6: 3 cells, but the header has 4.",
        "  line 10: 5 cells, but the header has 4.",
        "Nothing was written. Fix these rows, or skip them with --skip-bad.",
    ]
    assert not (tmp_path / "model").exists()


def wait_until(is_so):
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    raise TimeoutError


def start(*args):
    return subprocess.Popen(arguments(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_killed_while_it_trains(home, tmp_path):
    data = [home / "papers.csv", "-t", home / "taxonomy.csv", *TEXTS, "-o", tmp_path / "model"]
    with start("train", *data, "--words", "3") as process:
        assert process.stdout.readline().startswith(b"items")
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


KILLED = """
import os, signal, sys
from taxonomist.persistence import folder
written = folder.write_parts

def killed(*args):
    written(*args)
    os.kill(os.getpid(), signal.SIGKILL)

folder.write_parts = killed
from taxonomist.cli import main
main()
"""


def test_killed_while_it_saves(home):
    before = run_here("model", "show", home / "model", "--json").out
    data = [home / "papers.csv", "-t", home / "taxonomy.csv", *TEXTS, "-o", home / "model"]
    command = [sys.executable, "-c", KILLED, "train", *map(str, data), *QUICK]
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert run_here("model", "show", home / "model", "--json").out == before
    done = run_here("predict", home / "model", "--text", "moduli of curves", "--json")
    assert json.loads(done.out)["labels"] == ["math.AG"]


def test_interrupted_while_it_predicts(home, tmp_path):
    rows = tmp_path / "rows.csv"
    os.mkfifo(rows)
    out = tmp_path / "out.csv"
    command = ("predict", home / "model", rows, "--format", "csv", "--out", out)
    with start(*command) as process, rows.open("w") as stream:
        stream.write("title,abstract\n" + "Graphs,Colouring of graphs.\n" * 6000)
        stream.flush()
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == [rows]


TOLD = """
import logging
search = logging.getLogger("taxonomist.text.search")
search.setLevel(logging.INFO)
search.addHandler(logging.StreamHandler())
from taxonomist.cli import main
main()
"""
"""The command, which also says on standard error when a candidate has been measured."""


def test_interrupted_while_it_searches(home, tmp_path):
    data = [home / "papers.csv", "-t", home / "taxonomy.csv", *TEXTS, "-o", tmp_path / "model"]
    options = ("--model", "auto", "--budget", "inf", *QUICK[2:])
    command = [sys.executable, "-c", TOLD, "train", *map(str, data), *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        said = next(line for line in process.stderr if line.startswith("Tried "))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert said.startswith("Tried path with C=1: ")
    assert "Tried svm" not in err
    assert "Traceback" not in err
    tried = [line.split("\t") for line in out.splitlines() if "\tinterrupted" in line]
    assert [row[0] for row in tried][-2:] == ["svm", "mixture"]
    assert "used + " in out
    done = run_here("predict", tmp_path / "model", "--text", "moduli of curves", "--json")
    assert json.loads(done.out)["labels"] == ["math.AG"]
