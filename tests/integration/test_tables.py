"""Three tables as people have them, from the file to the report, through the installed command."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from taxonomist import Taxonomy, TextClassifier, datasets
from tests.unit.cli.running import Result
from tests.unit.datasets.workbooks import write_workbook

ROOT = Path(__file__).resolve().parents[2]
MOST_COMMANDS = 4
CHOSEN = ("hep-th", "math.AG", "cs.CV")


class Shell:
    """Runs the installed command in a folder, and counts how often."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_commands = 0

    def __call__(self, line: str) -> Result:
        script = shutil.which("taxonomist", path=str(Path(sys.executable).parent))
        assert script, "the command is not installed beside this Python"
        self.n_commands += 1
        done = subprocess.run(
            [script, *shlex.split(line)],
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shell(tmp_path):
    made = Shell(tmp_path)
    yield made
    assert made.n_commands <= MOST_COMMANDS


def write_csv(path, rows, encoding="utf-8", **options):
    with path.open("w", newline="", encoding=encoding) as stream:
        csv.writer(stream, **options).writerows(rows)


def read_csv(path):
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def report(shell, line):
    """Run ``report`` and return its page."""
    shell(line)
    page = re.search(r"\S+\.html", line).group()
    return (shell.folder / page).read_text(encoding="utf-8")


def row_sum(done):
    """Return the rows read and the terms that they are the sum of."""
    total, terms = re.search(r"Rows: ([\d,]+) read = (.*)\.", done.out).groups()
    return int(total.replace(",", "")), {
        words: int(count.replace(",", ""))
        for count, words in (term.split(" ", 1) for term in terms.split(" + "))
    }


def papers(labels):
    """Return the title, the abstract and the labels of some bundled papers, and the taxonomy."""
    corpus = datasets.load("arxiv-sample", labels=labels)
    chosen = [i for i, found in enumerate(corpus.labels) if found[0] in CHOSEN]
    return [
        (*corpus.texts[i].partition("\n")[::2], corpus.labels[i]) for i in chosen
    ], corpus.taxonomy


def readme_story():
    """Return the commands of the opening story of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## From a spreadsheet.*?```console\n(.*?)```", text, re.S).group(1)
    return [line.removeprefix("$ taxonomist ") for line in block.splitlines()]


def test_levels_in_columns_as_in_the_readme(shell, tmp_path):
    rows, taxonomy = papers("primary")
    table = []
    for title, abstract, (label,) in rows:
        names = [taxonomy.name(node) for node in taxonomy.paths(label)[0]]
        table.append([title, abstract, *names, *[""] * (3 - len(names))])
    gaps = [["No level", "at all", "", "", ""]] * 2
    write_csv(
        tmp_path / "papers.csv",
        [["title", "abstract", "area", "field", "subject"], *table, *gaps],
    )
    write_csv(tmp_path / "new.csv", [["title", "abstract"], ["Moduli of curves", "Schemes."]])
    train, predict, make_report = readme_story()
    done = shell(train)
    assert "taxonomy            built from the levels in the columns" in done.out
    assert "2 of 137 rows have no label and are skipped: lines 137, 138." in done.err
    assert row_sum(done) == (137, {"used": 108, "held out": 27, "without label": 2})
    model = TextClassifier.load(tmp_path / "papers-model")
    assert model.taxonomy_ == Taxonomy.from_paths([[x for x in row[2:] if x] for row in table])
    shell(predict)
    (filed,) = read_csv(tmp_path / "filed.csv")
    assert "Algebraic Geometry" in filed["path"]
    assert "27 items" in report(shell, make_report)


def test_label_sets_with_gaps(shell, tmp_path):
    rows, taxonomy = papers("all")
    taxonomy.write(tmp_path / "subjects.csv")
    table = [
        [k, title, abstract, "" if k % 10 == 0 else "; ".join(labels)]
        for k, (title, abstract, labels) in enumerate(rows[::2])
    ]
    table[7][0] = table[3][0]
    write_csv(tmp_path / "papers.csv", [["id", "title", "abstract", "codes"], *table])
    common = "papers.csv -t subjects.csv --text title,abstract --label codes --separator ';'"
    done = shell(f"train {common} --empty-is-none --out model")
    assert "1 id occurs more than once: '3' in lines 5, 9." in done.err
    n_empty = sum(not row[3] for row in table)
    assert re.search(rf"items with no categories +{n_empty}\b", done.out)
    total, terms = row_sum(done)
    assert total == sum(terms.values()) == len(table)
    assert set(terms) == {"used", "held out"}
    shell("predict model papers.csv --out filed.csv")
    filed = read_csv(tmp_path / "filed.csv")
    assert len(filed) == len(table)
    assert any(";" in row["label"] for row in filed)
    assert f"{terms['held out']} items" in report(
        shell, "report model papers.csv -o r.html --quick"
    )
    done = shell(f"train {common} --model naive_bayes --features words --names off --out other")
    assert row_sum(done)[1]["without label"] == n_empty


GOODS = {
    ("Küche", "Töpfe & Pfannen"): "Bratpfanne Stahl Griff Deckel Töpfe kochen spülmaschinenfest",
    ("Küche", "Sonstiges"): "Schüssel Löffel rühren Messbecher Küchenwaage Müsli",
    ("Garten", "Geräte"): "Spaten Schaufel Rechen Stiel Erde Gärtner graben",
    ("Garten", "Sonstiges"): "Übertopf Blumenerde Gießkanne Rosendünger blühen",
    ("Bücher", ""): "Roman Verlag Seiten Erzählung gebunden Übersetzung",
}
HEADER = ["Artikel-Nr.", "Bezeichnung", "Größe", "Preis (€)", "Warengruppe", "Untergruppe"]


def goods(n_rows):
    rows = []
    for k in range(n_rows):
        group, words = list(GOODS.items())[k % len(GOODS)]
        words = words.split()
        text = " ".join(words[(k + j * (1 + k % 3)) % len(words)] for j in range(4)) + f" {k}"
        rows.append([1000 + k, text, f"{k / 4:.2f}".replace(".", ","), k + 0.5, *group])
    return rows


def test_a_german_excel_export(shell, tmp_path):
    pytest.importorskip("python_calamine")
    rows = goods(120)
    write_workbook(
        tmp_path / "Artikel.xlsx",
        Artikel=[[], HEADER, *rows],
        Hinweise=[["Nur für den internen Gebrauch"]],
    )
    new = [[*row[:3], f"{row[3]:.2f}".replace(".", ",")] for row in goods(5)]
    write_csv(tmp_path / "neu.csv", [HEADER[:4], *new], encoding="cp1252", delimiter=";")
    done = shell(
        "train Artikel.xlsx --text Bezeichnung,Größe --label Warengruppe,Untergruppe --out Modell"
    )
    assert "Artikel.xlsx has 2 sheets; the first one, 'Artikel', is read." in done.err
    assert "1 name is in several places and kept apart by its path: 'Sonstiges'" in done.err
    assert row_sum(done) == (120, {"used": 96, "held out": 24})
    done = shell("predict Modell neu.csv --id Artikel-Nr. --out abgelegt.csv")
    assert "neu.csv is not UTF-8; it is read as cp1252." in done.err
    filed = read_csv(tmp_path / "abgelegt.csv")
    assert [row["id"] for row in filed] == ["1000", "1001", "1002", "1003", "1004"]
    found = [row["path"].split(" > ")[-1] for row in filed]
    assert found == ["Töpfe & Pfannen", "Sonstiges", "Geräte", "Sonstiges", "Bücher"]
    page = report(shell, "report Modell Artikel.xlsx -o Bericht.html --quick")
    assert "24 items" in page
    assert "Töpfe" in page
