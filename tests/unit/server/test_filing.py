"""Documents, queue, decisions, export, versions: the whole way, on both databases."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.workflow import read_labelled
from tests.unit.server.corpus import TAXONOMY, WORDS
from tests.unit.server.test_annif_routes import PROJECT, is_problem


@pytest.fixture
def filing(settings, serve, db):
    """Return a client of a server on each database in turn."""
    return serve(replace(settings, db=db))


def add(client, *texts, project=PROJECT):
    documents = [{"text": text, "document_id": f"d{i}"} for i, text in enumerate(texts)]
    answer = client.post(f"{project}/documents", json={"documents": documents})
    assert answer.status_code == 201
    return answer.json()["document_ids"]


def decide(client, document, action, *labels, project=PROJECT, **fields):
    body = {"document_id": document, "action": action, "labels": labels, **fields}
    return client.post(f"{project}/decisions", json=body)


def test_the_whole_way(filing):
    keys = add(filing, "it barks", "milk and grass", "shade of an avenue", "nothing known")
    assert keys == ["d0", "d1", "d2", "d3"]
    queue = filing.get(f"{PROJECT}/queue").json()
    assert queue["total"] == 4
    assert {document["document_id"] for document in queue["documents"]} == set(keys)
    assert sum(branch["n_documents"] for branch in queue["branches"]) == 4
    first = next(each for each in queue["documents"] if each["document_id"] == "d0")
    assert first["offer"]["labels"] == ["dog"]
    assert first["offer"]["paths"] == [["Animals", "Dogs"]]
    assert first["offer"]["branch"] == "animal"
    assert (first["state"], first["event"]) == ("waiting", 0)

    accepted = decide(filing, "d0", "accept", seconds=1.5, version=first["offer"]["version"])
    assert accepted.status_code == 201
    assert accepted.json()["labels"] == ["dog"]
    assert accepted.json()["user"] == "local"
    corrected = decide(filing, "d1", "correct", "Animals > Cats, felines").json()
    assert (corrected["labels"], corrected["offered"]) == (["cat"], ["cow"])
    assert decide(filing, "d2", "too_vague").status_code == 201
    assert decide(filing, "d3", "skip").status_code == 201
    queue = filing.get(f"{PROJECT}/queue").json()
    assert [each["document_id"] for each in queue["documents"]] == ["d3"]

    tree = filing.get(f"{PROJECT}/tree").json()
    assert {node["id"]: node["n_decided"] for node in tree["nodes"]} == {"animal": 2, "plant": 0}
    undone = filing.delete(f"{PROJECT}/decisions/{corrected['event']}").json()
    assert (undone["action"], undone["undoes"]) == ("undo", corrected["event"])
    assert filing.get(f"{PROJECT}/documents/d1").json()["state"] == "waiting"
    is_problem(filing.delete(f"{PROJECT}/decisions/{corrected['event']}"), 409)
    is_problem(filing.delete(f"{PROJECT}/decisions/99999"), 404)
    page = filing.get(f"{PROJECT}/decisions", params={"limit": 2}).json()
    rest = filing.get(f"{PROJECT}/decisions", params={"after": page["next"]}).json()
    actions = [event["action"] for event in page["events"] + rest["events"]]
    assert actions == ["accept", "correct", "too_vague", "skip", "undo"]
    (only,) = filing.get(f"{PROJECT}/decisions", params={"document_id": "d0"}).json()["events"]
    assert only["seconds"] == 1.5


def test_documents_are_known_by_key_or_by_text(filing):
    body = {"documents": [{"text": "it barks"}, {"text": "it barks"}, {"texts": {"text": "moo"}}]}
    first, same, other = filing.post(f"{PROJECT}/documents", json=body).json()["document_ids"]
    assert first == same != other
    again = filing.post(f"{PROJECT}/documents", json=body).json()["document_ids"]
    assert again == [first, same, other]
    page = filing.get(f"{PROJECT}/documents", params={"limit": 1}).json()
    rest = filing.get(f"{PROJECT}/documents", params={"after": page["next"]}).json()
    assert len(page["documents"] + rest["documents"]) == 2
    assert rest["next"] is None
    changed = {"documents": [{"text": "other", "document_id": first}]}
    is_problem(filing.post(f"{PROJECT}/documents", json=changed), 409)
    is_problem(filing.get(f"{PROJECT}/documents/none"), 404)


def test_decisions_that_make_no_sense(filing):
    add(filing, "it barks")
    for fields, status in [
        (("d0", "correct"), 400),
        (("d0", "correct", "unicorn"), 400),
        (("d0", "correct", "cat", "dog"), 400),
        (("d0", "accept", "cat"), 400),
        (("d0", "skip", "cat"), 400),
        (("d0", "applaud"), 400),
        (("none", "skip"), 404),
    ]:
        is_problem(decide(filing, *fields), status)
    is_problem(decide(filing, "d0", "accept", version="nonsense"), 400)
    assert filing.get(f"{PROJECT}/decisions").json()["events"] == []


def test_two_people_and_one_document(filing):
    add(filing, "it barks")
    first = decide(filing, "d0", "accept", expected=0, key="ann-1").json()
    assert decide(filing, "d0", "accept", expected=0, key="ann-1").json() == first
    is_problem(decide(filing, "d0", "correct", "cat", expected=0), 409)
    assert decide(filing, "d0", "correct", "cat", expected=first["event"]).status_code == 201


def test_documents_that_others_have_open(filing):
    add(filing, "it barks", "milk grass")

    def hold(holder, *documents):
        return filing.put(f"{PROJECT}/leases/{holder}", json={"documents": documents})

    def queue(holder):
        page = filing.get(f"{PROJECT}/queue", params={"holder": holder}).json()
        return page["total"], [each["document_id"] for each in page["documents"]]

    assert hold("ann", "d0").json() == {"seconds": 120, "others": []}
    (other,) = hold("bob", "d0", "d1").json()["others"]
    assert (other["document_id"], other["user"]) == ("d0", "local")
    assert (queue("ann"), queue("bob")) == ((2, ["d0"]), (2, ["d1"]))
    # Who has it open decides alone, but nobody is kept from deciding.
    assert decide(filing, "d0", "accept", expected=0).status_code == 201
    is_problem(hold("ann", "none"), 404)
    is_problem(hold("ann", *map(str, range(21))), 400)


def test_export_is_what_train_reads(filing, tmp_path):
    add(filing, "=1+1 it barks", "milk,\ngrass", "none")
    decide(filing, "d0", "accept")
    decide(filing, "d1", "correct", "oak")
    table = filing.get(f"{PROJECT}/export")
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert rows[0]["text"] == "'=1+1 it barks"
    assert [row["label"] for row in rows] == ["dog", "oak"]
    raw = filing.get(f"{PROJECT}/export", params={"raw_cells": True}).text
    assert "\nd0,=1+1 it barks,dog,accept,local," in raw
    lines = filing.get(f"{PROJECT}/export", params={"format": "jsonl"}).text.splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["=1+1 it barks", "milk,\ngrass"]
    for name, text in (("x.csv", raw), ("x.jsonl", "\n".join(lines))):
        (tmp_path / name).write_bytes(text.encode())
        columns = Columns(text="text", labels="label")
        found = read_labelled(TableSource(str(tmp_path / name)), columns, TAXONOMY)
        assert found.texts == [{"text": "=1+1 it barks"}, {"text": "milk,\ngrass"}]
        assert found.labels == [["dog"], ["oak"]]


def test_quality_is_measured_on_the_random_share(settings, serve, db):
    client = serve(replace(settings, random_share=1.0, db=db))
    keys = add(client, *(f"{words} {i}" for i, words in enumerate(WORDS.values())))
    for key in keys[:4]:
        decide(client, key, "accept")
    decide(client, keys[4], "correct", "cat")
    decide(client, keys[5], "skip")
    found = client.get(f"{PROJECT}/metrics").json()
    assert (found["overall"]["n"], found["overall"]["n_right"]) == (5, 4)
    assert found["overall"]["low"] < 0.8 < found["overall"]["high"]
    assert found["versions"] == {found["live"]: found["overall"]}
    tree = client.get(f"{PROJECT}/tree", params={"parent": "animal"}).json()
    quality = {node["id"]: (node["n_decided"], node["quality"]["share"]) for node in tree["nodes"]}
    assert quality == {"cat": (2, 0.5), "dog": (1, 1.0), "cow": (1, 1.0)}
    assert client.get(f"{PROJECT}/documents/{keys[0]}").json()["is_random"]
    version = found["live"]
    same = client.get(f"{PROJECT}/models/{version}/compare").json()
    assert (same["n_texts"], same["old_loss"]) == (5, same["new_loss"])


def test_documents_are_marked_by_chance(settings, serve):
    client = serve(replace(settings, random_share=0.3))
    for start in range(0, 300, 100):
        documents = [{"text": f"barks {i}"} for i in range(start, start + 100)]
        client.post(f"{PROJECT}/documents", json={"documents": documents})
    found = client.get(f"{PROJECT}/documents", params={"limit": 500}).json()["documents"]
    assert 60 <= sum(document["is_random"] for document in found) <= 120


def test_tree_by_page(client):
    first = client.get(f"{PROJECT}/tree", params={"parent": "plant", "limit": 2}).json()
    rest = client.get(f"{PROJECT}/tree", params={"parent": "plant", "offset": 2}).json()
    assert [node["id"] for node in first["nodes"] + rest["nodes"]] == ["oak", "fir", "elm"]
    assert first["total"] == 3
    assert first["parent"]["n_children"] == 3
    assert first["nodes"][0]["path"] == ["plant", "oak"]
    assert first["nodes"][0]["is_category"]
    is_problem(client.get(f"{PROJECT}/tree", params={"parent": "none"}), 404)


def test_search(client):
    found = client.get(f"{PROJECT}/search", params={"q": "ELM"}).json()["nodes"]
    assert [(node["id"], node["names"]) for node in found] == [("elm", ["Plants", "Élm trees"])]
    is_problem(client.get(f"{PROJECT}/search"), 400)


def test_search_by_synonyms(settings, serve, tmp_path):
    (tmp_path / "names.csv").write_text("id,synonym\ncow,Cattle\ncow,Bovines\nnone,Cattle\n")
    client = serve(replace(settings, synonyms={"beings": str(tmp_path / "names.csv")}))
    for word in ("cattle", "bovi"):
        found = client.get(f"{PROJECT}/search", params={"q": word}).json()["nodes"]
        assert [node["id"] for node in found] == ["cow"]


def decided(client, project=PROJECT, text="it barks", **options):
    body = {"documents": [{"text": text}], **options}
    answer = client.post(f"{project}/decide", json=body)
    assert answer.status_code == 200, answer.text
    (found,) = answer.json()["results"]
    return found


def test_decide(client):
    plain = decided(client)
    assert (plain["labels"], plain["paths"]) == (["dog"], [["Animals", "Dogs"]])
    assert [each["label"] for each in plain["top"]][:1] == ["dog"]
    assert 0 < plain["expected_loss"] < 1
    assert decided(client, confident=0.95)["labels"] == ["animal"]
    assert decided(client, confident=0.9999)["labels"] == []
    assert decided(client, level=1)["labels"] == ["animal"]
    assert decided(client, loss="tree")["labels"] == ["dog"]
    # Nothing is known of this text, so no category has a small expected loss.
    assert decided(client, loss="tree", text="xyz")["labels"] == []
    inside = decided(client, branch="plant")
    assert inside["labels"][0] in ("oak", "fir", "elm")
    assert inside["top"][0]["probability"] == pytest.approx(inside["probabilities"][0], abs=1e-5)
    assert sum(each["probability"] for each in inside["top"]) == pytest.approx(1, abs=1e-4)
    assert decided(client, branch="plant", level=1)["labels"] == ["plant"]
    assert decided(client, branch="plant", confident=0.9)["labels"] == ["plant"]
    assert decided(client, branch="dog")["labels"] == ["dog"]
    assert decided(client, branch="animal", loss="tree")["labels"] == ["dog"]
    assert decided(client, top=0)["top"] == []


@pytest.mark.parametrize(
    "options",
    [
        {"branch": "unicorn"},
        {"level": 7},
        {"level": 1, "branch": "dog"},
        {"loss": "tree", "confident": 0.9},
        {"loss": "nonsense"},
        {"confident": 1.0},
        {"documents": []},
        {"documents": [{"text": "a", "texts": {"text": "a"}}]},
        {"documents": [{"texts": {"title": "a"}}]},
        {"documents": [{"text": " "}]},
        {"documents": [{"text": "a"}] * 101},
        {"documents": [{"text": "a\ud800"}]},
        {"surprise": 1},
    ],
)
def test_decide_refuses(client, options):
    body = {"documents": [{"text": "it barks"}], **options}
    content = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    is_problem(client.post(f"{PROJECT}/decide", content=content, headers=headers), 400)


def test_explain(client):
    body = {"document": {"text": "it barks on a leash"}, "words": 2}
    found = client.post(f"{PROJECT}/explain", json=body).json()
    assert (found["category"], found["path"]) == ("dog", ["animal", "dog"])
    assert {word["word"] for word in found["levels"][1]["words"]} == {"barks", "leash"}
    marked = [found["text"][span["start"] : span["end"]] for span in found["spans"]]
    assert "barks" in marked
    other = client.post(f"{PROJECT}/explain", json={**body, "category": "cat"}).json()
    assert other["category"] == "cat"
    is_problem(client.post(f"{PROJECT}/explain", json={**body, "category": "none"}), 400)


def test_explain_a_node_above(client):
    body = {"document": {"text": "it barks, leaves and milk"}, "words": 9}
    whole = client.post(f"{PROJECT}/explain", json={**body, "category": "dog"}).json()
    found = client.post(f"{PROJECT}/explain", json={**body, "category": "animal"}).json()
    assert (found["category"], found["path"]) == ("animal", ["animal"])
    (level,) = found["levels"]
    assert level == whole["levels"][0]
    assert found["score"] == level["value"]
    # The marks are those of this level alone.
    values = {word["word"]: word["value"] for word in level["words"]}
    marked = {found["text"][a["start"] : a["end"]]: a["value"] for a in found["spans"]}
    assert marked == values


def test_label_sets(settings, shared, serve):
    client = serve(replace(settings, models={"sets": str(shared / "sets")}))
    project = "/v1/projects/sets"
    text = "purrs sleeps mouse whiskers barks runs bone leash"
    assert sorted(decided(client, project, text)["labels"]) == ["cat", "dog"]
    assert sorted(decided(client, project, text, branch="animal")["labels"]) == ["cat", "dog"]
    assert decided(client, project, text, branch="plant")["labels"] == []
    assert decided(client, project, text, level=1)["labels"] == ["animal"]
    add(client, text, project=project)
    assert decide(client, "d0", "correct", "dog", "cow", project=project).status_code == 201
    (row,) = client.get(f"{project}/export", params={"format": "jsonl"}).text.splitlines()
    assert json.loads(row)["label"] == ["dog", "cow"]
