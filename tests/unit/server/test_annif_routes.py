"""Annif's REST API, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from taxonomist.server import filing
from taxonomist.server.store.decisions import ConflictError

if TYPE_CHECKING:
    from httpx2 import Response

PROJECT = "/v1/projects/beings"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def is_problem(answer: Response, status: int) -> dict:
    """Check the form of an error and return it."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert set(found) == {"type", "title", "status", "detail"}
    assert found["status"] == status
    return found


def test_api(client):
    found = client.get("/v1/").json()
    assert set(found) == {"title", "version"}


def test_vocabs(client):
    (vocab,) = client.get("/v1/vocabs").json()["vocabs"]
    assert vocab == {"vocab_id": "beings", "languages": ["en"], "size": 8, "loaded": True}


def test_projects(client):
    (project,) = client.get("/v1/projects").json()["projects"]
    assert project == client.get(PROJECT).json()
    time = project.pop("modification_time")
    assert time.endswith("Z")
    assert project == {
        "project_id": "beings",
        "name": "beings",
        "language": "en",
        "backend": {"backend_id": "taxonomist"},
        "vocab": {"vocab_id": "beings", "languages": ["en"], "size": 8, "loaded": True},
        "vocab_language": "en",
        "is_trained": True,
    }


@pytest.mark.parametrize("path", ["", "/suggest", "/suggest-batch", "/learn"])
def test_unknown_project(client, path):
    bodies = {
        "": {},
        "/suggest": {"data": {"text": "x"}},
        "/suggest-batch": {"json": {"documents": []}},
        "/learn": {"json": []},
    }
    method = "POST" if path else "GET"
    answer = client.request(method, f"/v1/projects/none{path}", **bodies[path])
    found = is_problem(answer, 404)
    assert (found["title"], found["detail"]) == ("Project not found", "Project 'none' not found")


def test_suggest(client):
    answer = client.post(f"{PROJECT}/suggest", data={"text": "it purrs, with whiskers"})
    assert answer.headers["content-type"] == "application/json"
    results = answer.json()["results"]
    assert len(results) == 6
    assert set(results[0]) == {"uri", "label", "notation", "score"}
    assert results[0]["uri"] == "cat"
    assert results[0]["label"] == "Cats, felines"
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] < scores[0] <= 1


def test_suggest_limit_and_threshold(client):
    def asked(**fields):
        answer = client.post(f"{PROJECT}/suggest", data={"text": "it barks", **fields})
        return answer.json()["results"]

    assert len(asked(limit=2)) == 2
    assert asked(limit=0) == []
    assert len(asked(limit=1000)) == 6
    assert [each["uri"] for each in asked(threshold=0.5)] == ["dog"]
    assert asked(limit=1, language="en", metadata_title="any", project="x")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"limit": 3},
        {"text": "x", "limit": -1},
        {"text": "x", "limit": "many"},
        {"text": "x", "threshold": 1.5},
        {"text": "x", "threshold": "nan"},
        {"text": "x", "language": "fi"},
        {"text": "a\0b"},
    ],
)
def test_suggest_refuses(client, fields):
    is_problem(client.post(f"{PROJECT}/suggest", data=fields, headers=FORM), 400)


def test_form_must_be_utf_8(client):
    answer = client.post(f"{PROJECT}/suggest", content=b"text=%ff", headers=FORM)
    is_problem(answer, 400)


def test_unsupported_language_is_told_as_annif_does(client):
    answer = client.post(f"{PROJECT}/suggest", data={"text": "x", "language": "fi"})
    assert answer.json()["detail"] == 'language "fi" not supported by vocabulary'


def test_suggest_batch(client):
    documents = [
        {"text": "it barks", "document_id": "one"},
        {"text": "milk and grass", "metadata": {"title": "a farm"}},
    ]
    answer = client.post(f"{PROJECT}/suggest-batch?limit=2", json={"documents": documents})
    first, second = answer.json()
    assert first["document_id"] == "one"
    assert second["document_id"] is None
    assert [first["results"][0]["uri"], second["results"][0]["uri"]] == ["dog", "cow"]
    assert len(first["results"]) == 2
    assert set(first["results"][0]) == {"uri", "label", "notation", "score"}


def test_suggest_batch_is_the_same_as_suggest(client):
    one = client.post(f"{PROJECT}/suggest", data={"text": "it barks"}).json()["results"]
    documents = [{"text": text} for text in ("needles", "it barks", "milk")]
    batch = client.post(f"{PROJECT}/suggest-batch", json={"documents": documents}).json()
    assert batch[1]["results"] == one


def test_at_most_32_documents(client):
    for n_documents, status in ((32, 200), (33, 400)):
        documents = [{"text": "it barks"}] * n_documents
        answer = client.post(f"{PROJECT}/suggest-batch", json={"documents": documents})
        assert answer.status_code == status
    assert client.post(f"{PROJECT}/suggest-batch", json={"documents": []}).json() == []


def test_learn(client):
    documents = [
        {"text": "says nothing", "subjects": [{"uri": "cat", "label": "Cats"}]},
        {"text": "without subjects"},
        {"subjects": [{"uri": "cat"}]},
    ]
    answer = client.post(f"{PROJECT}/learn", json=documents)
    assert (answer.status_code, answer.content) == (204, b"")
    (event,) = client.get(f"{PROJECT}/decisions").json()["events"]
    assert (event["action"], event["labels"]) == ("correct", ["cat"])


def test_learn_refuses_unknown_subjects_and_stores_nothing(client):
    documents = [
        {"text": "fine", "subjects": [{"uri": "cat"}]},
        {"text": "wrong", "subjects": [{"uri": "unicorn"}]},
    ]
    assert "unicorn" in is_problem(client.post(f"{PROJECT}/learn", json=documents), 400)["detail"]
    assert client.get(f"{PROJECT}/documents").json()["documents"] == []


def test_learn_stores_all_documents_or_none(settings, serve, db, monkeypatch):
    client = serve(replace(settings, db=db))
    texts = ["needles", "it barks", "milk"]
    documents = [{"text": text, "subjects": [{"uri": "cat"}]} for text in texts]
    verdicts, decide = [], filing._decide

    def fail_at_last(connection, project, verdict, user):
        verdicts.append(verdict.key)
        if len(verdicts) == len(texts):
            raise ConflictError("no")
        return decide(connection, project, verdict, user)

    monkeypatch.setattr(filing, "_decide", fail_at_last)
    is_problem(client.post(f"{PROJECT}/learn", json=documents), 409)
    assert verdicts == sorted(verdicts)
    assert client.get(f"{PROJECT}/documents").json()["documents"] == []
    monkeypatch.undo()
    assert client.post(f"{PROJECT}/learn", json=documents).status_code == 204
    assert len(client.get(f"{PROJECT}/decisions").json()["events"]) == len(texts)


def test_of_equal_texts_the_last_subject_is_learned(client):
    documents = [{"text": "it barks", "subjects": [{"uri": label}]} for label in ("cat", "dog")]
    assert client.post(f"{PROJECT}/learn", json=documents).status_code == 204
    (document,) = client.get(f"{PROJECT}/documents").json()["documents"]
    assert document["labels"] == ["dog"]


def test_detect_language(client):
    question = {"text": "Der Hund und die Katze sind auf dem Dach.", "languages": ["en", "de"]}
    results = client.post("/v1/detect-language", json=question).json()["results"]
    assert [result["language"] for result in results] == ["de", "en", None]
    assert results[0]["score"] > 0.4


@pytest.mark.parametrize("text", ["", "12 34 ..."])
def test_a_text_without_words_has_no_language(client, text):
    question = {"text": text, "languages": ["en", "de"]}
    results = client.post("/v1/detect-language", json=question).json()["results"]
    assert results == [{"language": None, "score": 1.0}]


@pytest.mark.parametrize("languages", [[], ["en"] * 6, ["e"], ["engl"], ["xx"]])
def test_detect_language_refuses(client, languages):
    is_problem(client.post("/v1/detect-language", json={"text": "x", "languages": languages}), 400)


def test_text_goes_into_a_column_that_metadata_leave_free(client):
    model = client.app.state.service.projects["beings"].live
    assert model.item("a", {"text": "b", "other": "c"}) == {"text": "b\na"}
    assert model.item("a") == {"text": "a"}
