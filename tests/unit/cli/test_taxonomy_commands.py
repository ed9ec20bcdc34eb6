from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxonomist import Taxonomy
from tests.unit.cli.running import run

EDGES = """parent,child,name
,A,Animals
A,C,Cats
A,D,Dogs
D,T,Terriers
D,P,Poodles
"""
NEW = """parent,child,name
,A,Animals
A,C,Cats
A,D,All dogs
A,P,Poodles
C,S,Siamese
"""
ODD = """parent,child,name
a,b,One
a,c,one
b,d,
c,d,
d,e,
,alone,
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the taxonomies into the current folder."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "old.csv": EDGES,
        "new.csv": NEW,
        "odd.csv": ODD,
        "cycle.csv": "parent,child\na,b\nb,a\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_show_draws_what_the_library_draws(call, files):
    assert call("taxonomy", "show", "old.csv") == (0, f"{Taxonomy.read('old.csv')}\n", "")


def test_show_has_limits(call, files):
    done = call("taxonomy", "show", "old.csv", "--depth", 1, "--children", 1)
    assert done.out == "A  Animals\n├── C  Cats\n└── … 1 more\n"


@pytest.mark.parametrize("node", ["D", "Animals > Dogs"])
def test_show_below_a_node(call, files, node):
    done = call("taxonomy", "show", "old.csv", "--below", node)
    assert done.out == "D  Dogs\n├── T  Terriers\n└── P  Poodles\n"


def test_show_below_an_unknown_node(call, files):
    done = call("taxonomy", "show", "old.csv", "--below", "Dgos")
    assert (done.code, done.out) == (2, "")
    assert "'Dgos'" in done.err


def test_shown_json_can_be_read_back(call, files):
    (files / "two.csv").write_text("parent,child\na,b\na,c\nb,c\nc,d\n", encoding="utf-8")
    for name in ("old.csv", "odd.csv", "two.csv"):
        done = call("taxonomy", "show", name, "--json")
        (files / "back.json").write_text(done.out, encoding="utf-8")
        back = Taxonomy.read("back.json")
        taxonomy = Taxonomy.read(name)
        assert set(back.nodes) == set(taxonomy.nodes)
        assert all(set(back.parents(n)) == set(taxonomy.parents(n)) for n in back.nodes)
        assert all(back.name(n) == taxonomy.name(n) for n in back.nodes)


def test_shown_json_keeps_to_the_limits(call, files):
    done = call("taxonomy", "show", "old.csv", "--json", "--depth", 1, "--children", 1)
    assert json.loads(done.out)["nodes"] == [
        {"id": "A", "name": "Animals", "parents": [], "hidden": 1},
        {"id": "C", "name": "Cats", "parents": ["A"], "hidden": 0},
    ]
    done = call("taxonomy", "show", "old.csv", "--json", "--depth", 1)
    assert [node["hidden"] for node in json.loads(done.out)["nodes"]] == [0, 0, 2]
    done = call("taxonomy", "show", "old.csv", "--json", "--depth", 0)
    assert len(json.loads(done.out)["nodes"]) == 1


def test_a_limit_below_zero_is_refused(call, files):
    assert call("taxonomy", "show", "old.csv", "--depth", -1).code == 2


def test_check_finds_nothing_in_a_clean_tree(call, files):
    done = call("taxonomy", "check", "old.csv", "--strict")
    assert done.code == 0
    facts = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert facts == {
        "file": "old.csv",
        "ok": "yes",
        "nodes": "5",
        "leaves": "3",
        "edges": "4",
        "tops": "1",
        "height": "2",
        "tree": "yes",
        "named": "5",
    }


def test_check_finds_what_may_be_meant(call, files):
    done = call("taxonomy", "check", "odd.csv", "--json")
    assert (done.code, done.err) == (0, "")
    facts = json.loads(done.out)
    assert facts["ok"]
    assert facts["error"] is None
    assert facts["tree"] is False
    assert facts["several_parents"] == ["d"]
    assert facts["chains"] == ["b", "c", "d"]
    assert facts["alone"] == ["alone"]
    assert facts["shared_names"] == {"One": ["b", "c"]}
    assert call("taxonomy", "check", "odd.csv", "--strict").code == 1


def test_check_finds_twins(call, files):
    rows = "r,Café\nr,Cafe\u0301\nr,ﬁsh\nCafé,fish\nr,dog\n"
    (files / "twins.csv").write_text(f"parent,child\n{rows}", encoding="utf-8")
    done = call("taxonomy", "check", "twins.csv")
    assert "2 ids that differ only in how their characters are written (Unicode): " in done.out
    assert "Café ('Caf\\xe9', 'Cafe\\u0301'); fish (" in done.out
    found = json.loads(call("taxonomy", "check", "twins.csv", "--json").out)
    assert sorted(found["twins"]["fish"]) == ["fish", "ﬁsh"]
    assert call("taxonomy", "check", "twins.csv", "--strict").code == 1
    # What is composed differently is one node; what is only similar stays apart.
    shown = call("taxonomy", "stats", "twins.csv", "--json")
    assert json.loads(shown.out)["nodes"] == 5


def test_a_root_with_a_single_child_is_no_chain(call, files):
    (files / "one.csv").write_text("parent,child\na,b\nb,c\nb,d\n", encoding="utf-8")
    assert json.loads(call("taxonomy", "check", "one.csv", "--json").out)["chains"] == []


def test_check_lists_the_first_of_many(call, files):
    rows = "".join(f"a,x{i}\nx{i},y{i}\n" for i in range(12))
    (files / "many.csv").write_text(f"parent,child\n{rows}", encoding="utf-8")
    done = call("taxonomy", "check", "many.csv")
    shown = "; ".join(f"x{i}" for i in range(10))
    assert f"12 inner nodes with a single child: {shown}; and 2 more\n" in done.out
    assert "names" not in done.out


def test_check_reports_a_cycle_by_its_nodes(call, files):
    done = call("taxonomy", "check", "cycle.csv")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("error: cycle.csv: The edges form a cycle: 'a' -> 'b' -> 'a'.")
    done = call("taxonomy", "check", "cycle.csv", "--json")
    assert done.code == 1
    facts = json.loads(done.out)
    assert facts["ok"] is False
    assert "'a' -> 'b' -> 'a'" in facts["error"]


def test_check_names_the_line_of_a_bad_row(call, files):
    (files / "bad.csv").write_text("parent,child\na,b\na,b,c\n", encoding="utf-8")
    done = call("taxonomy", "check", "bad.csv")
    assert done.code == 1
    assert "line 3" in done.out


def test_a_missing_file_is_bad_input(call, files):
    for command in ("show", "check", "stats"):
        done = call("taxonomy", command, "nix.csv")
        assert done == (2, "", "taxonomist: nix.csv: No such file or directory.\n")


@pytest.mark.parametrize("target", ["t.json", "t.tsv", "t.ttl", "t.obo", "t.jsonld", "t.csv.gz"])
def test_convert_goes_by_the_suffix(call, files, target):
    done = call("taxonomy", "convert", "old.csv", target)
    assert done == (0, "", f"Wrote 5 nodes to {target}.\n")
    assert Taxonomy.read(target) == Taxonomy.read("old.csv")


def test_convert_goes_by_the_given_formats(call, files):
    (files / "levels.txt").write_text("section,class\nFarm,Rice\nMine,\n", encoding="utf-8")
    done = call(
        "taxonomy", "convert", "levels.txt", "out", "--from", "levels", "--to", "json", "--json"
    )
    assert json.loads(done.out)["nodes"] == 4
    assert Taxonomy.read("out", "json").roots == ("Farm", "Mine")


def test_convert_does_not_replace_what_it_reads(call, files):
    before = (files / "old.csv").read_bytes()
    done = call("taxonomy", "convert", "old.csv", "./old.csv")
    said = "taxonomist: the target old.csv is also an input. Pass another path.\n"
    assert done == (2, "", said)
    assert (files / "old.csv").read_bytes() == before


def test_convert_takes_columns(call, files):
    (files / "codes.txt").write_text("code;part of;title\nA1;A;Rice\n", encoding="utf-8")
    options = ("--parent", "part of", "--child", "code", "--name", "title")
    assert call("taxonomy", "convert", "codes.txt", "t.json", *options).code == 0
    assert Taxonomy.read("t.json").name("A1") == "Rice"
    done = call("taxonomy", "convert", "t.json", "u.json", "--from", "json", "--name", "title")
    assert done.code == 2
    assert "--name: the format 'json' has no such columns" in done.err


def test_a_conversion_that_fails_leaves_the_target(call, files):
    (files / "t.csv").write_text("mine", encoding="utf-8")
    assert call("taxonomy", "convert", "cycle.csv", "t.csv").code == 2
    done = call("taxonomy", "convert", "odd.csv", "t.csv", "--to", "levels")
    assert done.code == 2
    assert "a table of levels holds only trees" in done.err
    assert (files / "t.csv").read_text() == "mine"
    assert {path.name for path in files.iterdir() if path.name.startswith(("t", "."))} == {"t.csv"}


def test_an_unknown_suffix_or_format(call, files):
    done = call("taxonomy", "convert", "old.csv", "t.xyz")
    assert done.code == 2
    assert "no format has the suffix '.xyz'" in done.err
    done = call("taxonomy", "show", "old.csv", "--format", "jsn")
    assert done.code == 2
    assert "Did you mean 'json'" in done.err


def test_diff(call, files):
    done = call("taxonomy", "diff", "old.csv", "new.csv")
    assert done == (
        0,
        "+ S\n- T\n> P: D -> A\n~ D: 'Dogs' -> 'All dogs'\n",
        "",
    )
    done = call("taxonomy", "diff", "old.csv", "new.csv", "--json", "--exit-code")
    assert done.code == 1
    assert json.loads(done.out) == {
        "same": False,
        "added": ["S"],
        "removed": ["T"],
        "moved": {"P": {"from": ["D"], "to": ["A"]}},
        "renamed": {"D": {"from": "Dogs", "to": "All dogs"}},
    }


def test_diff_of_a_file_with_itself(call, files):
    assert call("taxonomy", "diff", "old.csv", "old.csv", "--exit-code") == (
        0,
        "no difference\n",
        "",
    )
    assert json.loads(call("taxonomy", "diff", "old.csv", "old.csv", "--json").out)["same"] is True


def test_stats(call, files):
    facts = json.loads(call("taxonomy", "stats", "odd.csv", "--json").out)
    assert facts["nodes"] == 7
    assert facts["depths"] == [
        {"depth": 0, "nodes": 1, "leaves": 0},
        {"depth": 1, "nodes": 2, "leaves": 1},
        {"depth": 2, "nodes": 2, "leaves": 0},
        {"depth": 3, "nodes": 1, "leaves": 0},
        {"depth": 4, "nodes": 1, "leaves": 1},
    ]
    assert facts["branching"] == {"mean": 1.4, "median": 1.0, "max": 2, "widest": "ROOT"}
    done = call("taxonomy", "stats", "odd.csv")
    assert "children of inner nodes  mean 1.4, median 1, max 2 (ROOT)" in done.out
    assert done.out.endswith("depth\tnodes\tleaves\n0\t1\t0\n1\t2\t1\n2\t2\t0\n3\t1\t0\n4\t1\t1\n")


def test_stats_of_a_single_node(call, files):
    (files / "one.csv").write_text("parent,child\n,a\n", encoding="utf-8")
    facts = json.loads(call("taxonomy", "stats", "one.csv", "--json").out)
    assert facts["branching"] == {"mean": 0.0, "median": 0.0, "max": 0, "widest": "a"}
    assert json.loads(call("taxonomy", "check", "one.csv", "--json").out)["alone"] == []
    assert call("taxonomy", "show", "one.csv").out == "a\n"


def test_the_real_command(files):
    done = run("taxonomy", "convert", "old.csv", "t.json")
    assert (done.code, done.out) == (0, "")
    assert json.loads(run("taxonomy", "stats", "t.json", "--json").out)["nodes"] == 5
    assert run("taxonomy", "show", "t.json").out == f"{Taxonomy.read('old.csv')}\n"
    done = run("taxonomy", "check", "cycle.csv")
    assert (done.code, done.err) == (1, "")
    done = run("taxonomy", "diff", "old.csv", "nix.csv")
    assert done == (2, "", "taxonomist: nix.csv: No such file or directory.\n")


def test_a_cycle_can_be_broken(call, files):
    done = call("taxonomy", "show", "cycle.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("Or pass --cycles break to leave out edges.\n")
    done = call("taxonomy", "show", "cycle.csv", "--cycles", "break")
    note = "Left out 1 of 2 edges to break cycles: 'b -> a'.\n"
    assert done == (0, "a\n└── b\n", note)


def test_a_spreadsheet_with_another_encoding(call, files):
    Path("umlauts.csv").write_bytes("parent,child\nKüche,Töpfe\n".encode("cp1252"))
    note = "umlauts.csv is not UTF-8; it is read as cp1252.\n"
    assert call("taxonomy", "show", "umlauts.csv") == (0, "Küche\n└── Töpfe\n", note)
    done = call("taxonomy", "check", "umlauts.csv", "--strict")
    assert (done.code, done.err) == (0, note)


def test_check_lists_the_edges_left_out(call, files):
    done = call("taxonomy", "check", "cycle.csv", "--cycles", "break")
    assert done.code == 0
    assert "1 edges left out: b -> a\n" in done.out
    done = call("taxonomy", "check", "cycle.csv", "--cycles", "break", "--json", "--strict")
    assert done.code == 1
    assert json.loads(done.out)["left_out"] == [["b", "a"]]


@pytest.mark.parametrize(
    "command",
    [["convert", "cycle.csv", "t.json"], ["diff", "cycle.csv", "old.csv"], ["stats", "cycle.csv"]],
)
def test_all_commands_can_break_cycles(call, files, command):
    assert call("taxonomy", *command).code == 2
    done = call("taxonomy", *command, "--cycles", "break")
    assert done.code == 0
    assert "'b -> a'" in done.err


def test_concepts_outside_a_file(call, files):
    (files / "t.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . <urn:a> a skos:Concept ; "
        "skos:broader <urn:b> .",
        encoding="utf-8",
    )
    done = call("taxonomy", "show", "t.ttl")
    assert (done.code, done.out) == (0, "urn:a\n")
    assert done.err.endswith("'urn:b'. To make them nodes, pass --outside keep.\n")
    done = call("taxonomy", "show", "t.ttl", "--outside", "keep")
    assert done == (0, "urn:b\n└── urn:a\n", "")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--cycles", "cut"], "--cycles must be 'error' or 'break'. Got 'cut'."),
        (["--outside", "yes"], "--outside must be 'drop' or 'keep'. Got 'yes'."),
        (["--outside", "keep"], "old.csv: the format 'csv' has no option 'outside'."),
        (
            ["--cycles", "break", "--format", "levels"],
            "old.csv: the format 'levels' has no option 'cycles'.",
        ),
    ],
)
def test_wrong_ways_of_reading(call, files, options, sentence):
    done = call("taxonomy", "show", "old.csv", *options)
    assert (done.code, done.out, done.err) == (2, "", f"taxonomist: {sentence}\n")
