"""The routes that the screen needs: files, sessions, samples, track record, disputes, nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxonomist.server.routes.screen import release, static_files
from taxonomist.server.store.jobs import add_job
from taxonomist.server.table_check import check_table
from taxonomist.server.training_process import TrainingTask
from tests.unit.server.conftest import make_tokens
from tests.unit.server.corpus import WORDS
from tests.unit.server.test_annif_routes import PROJECT, is_problem
from tests.unit.server.test_filing import add, decide

MOST_BYTES = 250_000
SCREEN = {"X-Taxonomist-Screen": "1"}


@pytest.fixture
def filing(settings, serve, db):
    """Return a client of a server on each database in turn, all of whose documents are marked."""
    return serve(replace(settings, db=db, random_share=1.0))


@pytest.fixture
def unmarked(settings, serve, db):
    return serve(replace(settings, db=db, random_share=0.0))


def test_files_are_small_and_complete(client):
    found = static_files()
    assert sum(len(each.body) for each in found.values()) < MOST_BYTES
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "'unsafe" not in page.headers["content-security-policy"]
    assert "<script>" not in page.text
    scripts = [path for path in found if path.endswith(".js")]
    # None waits for another one, and none is asked for again before it changes.
    assert all(f'"static/{release()}/{path}"' in page.text for path in scripts)
    assert '="static/main.js"' not in page.text
    kept = client.get(f"/static/{release()}/main.js")
    assert kept.content == found["main.js"].body
    assert "immutable" in kept.headers["cache-control"]
    assert client.get("/static/0123456789abcdef/main.js").status_code == 404
    for path, each in found.items():
        answer = client.get(f"/static/{path}")
        assert answer.content == each.body
        assert answer.headers["cache-control"] == "no-cache"
        again = client.get(f"/static/{path}", headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
    for path in ("none.js", "../access.py", "%2e%2e/access.py", "types.d.ts", ""):
        assert client.get(f"/static/{path}").status_code == 404


def test_the_page_needs_no_token_but_the_routes_do(settings, serve):
    make_tokens(settings.db_url)
    client = serve(settings)
    assert client.get("/").status_code == 200
    session = client.get("/v1/session").json()
    assert (session["role"], session["projects"]) == (None, [])
    is_problem(client.get(f"{PROJECT}/queue"), 401)


def test_sign_in_and_out(settings, serve):
    tokens = make_tokens(settings.db_url)
    client = serve(settings)
    is_problem(client.post("/v1/session", json={"token": "tax_wrong"}), 401)
    secret = tokens["decide"]["Authorization"].removeprefix("Bearer ")
    answer = client.post("/v1/session", json={"token": secret})
    assert answer.json()["user"] == "decide"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    session = client.get("/v1/session").json()
    assert (session["role"], session["has_cookie"]) == ("decide", True)
    (project,) = session["projects"]
    assert (project["columns"], project["depth"], project["n_categories"]) == (["text"], 2, 6)
    assert client.get(f"{PROJECT}/queue").status_code == 200
    client.delete("/v1/session", headers=SCREEN)
    is_problem(client.get(f"{PROJECT}/queue"), 401)


def test_other_sites_cannot_use_the_cookie(settings, serve):
    tokens = make_tokens(settings.db_url)
    client = serve(settings)
    secret = tokens["admin"]["Authorization"].removeprefix("Bearer ")
    client.post("/v1/session", json={"token": secret})
    body = {"documents": [{"text": "it barks"}]}
    path = f"{PROJECT}/documents"
    assert "X-Taxonomist-Screen".lower() in is_problem(client.post(path, json=body), 403)["detail"]
    for site in ("cross-site", "same-site"):
        headers = {**SCREEN, "Sec-Fetch-Site": site}
        is_problem(client.post(path, json=body, headers=headers), 403)
    headers = {**SCREEN, "Sec-Fetch-Site": "same-origin"}
    assert client.post(path, json=body, headers=headers).status_code == 201
    # A header with a token is no cookie: other sites do not have it.
    assert client.post(path, json=body, headers=tokens["admin"]).status_code == 201


def test_a_cookie_with_a_revoked_token_is_no_token(settings, serve):
    make_tokens(settings.db_url)
    client = serve(settings)
    client.cookies.set("taxonomist_session", "tax_wrong")
    assert client.get("/").status_code == 200
    assert client.get("/v1/session").json()["role"] is None
    is_problem(client.get(f"{PROJECT}/queue"), 401)


def test_queue_by_date_and_by_words(filing):
    add(filing, "It BARKS loudly", "milk", "it bàrks twice")
    queue = filing.get(f"{PROJECT}/queue", params={"order": "newest"}).json()
    assert [each["document_id"] for each in queue["documents"]] == ["d2", "d1", "d0"]
    queue = filing.get(f"{PROJECT}/queue", params={"order": "oldest", "q": "barks it"}).json()
    assert [each["document_id"] for each in queue["documents"]] == ["d0", "d2"]
    best = queue["documents"][0]["offer"]["alternatives"][0]
    assert (best["path"], best["path_names"]) == (["animal", "dog"], ["Animals", "Dogs"])


def test_progress_and_history(filing):
    add(filing, "it barks", "milk and grass")
    decide(filing, "d0", "correct", "cat")
    decide(filing, "d1", "skip")
    since = {"since": "2000-01-01T00:00:00Z"}
    found = filing.get(f"{PROJECT}/progress", params=since).json()
    assert (found["n_decided"], found["n_waiting"]) == (1, 1)
    assert found["users"] == [{"user": "local", "n_decided": 1}]
    later = {"since": "2100-01-01T00:00:00Z"}
    assert filing.get(f"{PROJECT}/progress", params=later).json()["n_decided"] == 0

    path = f"{PROJECT}/decisions"
    for route in (f"{PROJECT}/progress", path):
        # In UTC, this is before the first year.
        answer = filing.get(route, params={"since": "0001-01-01T01:00:00+08:01"})
        assert answer.status_code == 400
        assert "between the years 1 and 9999" in answer.json()["detail"]
    page = filing.get(path, params={"newest_first": True, "limit": 1}).json()
    assert [each["action"] for each in page["events"]] == ["skip"]
    page = filing.get(path, params={"newest_first": True, "after": page["next"]}).json()
    assert [each["action"] for each in page["events"]] == ["correct"]
    assert page["names"] == {"cat": "Cats, felines", "dog": "Dogs"}
    for params, n in (
        ({"action": "skip"}, 1),
        ({"user": "bob"}, 0),
        ({"document_id": "d0", "user": "local"}, 1),
        (later, 0),
    ):
        assert len(filing.get(path, params=params).json()["events"]) == n


def sure(label, n):
    return [f"{WORDS[label]} {WORDS[label]} number {i}" for i in range(n)]


def test_many_at_once(unmarked):
    add(unmarked, *sure("dog", 30), "common word")
    question = {"probability": 0.6}
    found = unmarked.post(f"{PROJECT}/bulk-sample", json=question).json()
    assert found["n_documents"] == 30
    sample = [each["document_id"] for each in found["sample"]]
    assert len(sample) == 10
    body = {**question, "version": found["version"], "sample": sample}
    path = f"{PROJECT}/bulk-accept"
    is_problem(unmarked.post(path, json=body), 409)
    for document in sample:
        decide(unmarked, document, "accept")
    is_problem(unmarked.post(path, json={**body, "version": "0123"}), 409)
    done = unmarked.post(path, json=body).json()
    assert (done["n_accepted"], done["n_left"]) == (20, 0)
    assert done["sample"]["n_right"] == 10
    events = unmarked.get(f"{PROJECT}/decisions").json()["events"]
    assert len(events) == 30
    assert all(each["labels"] == ["dog"] for each in events)
    undone = unmarked.delete(f"{path}/{done['batch']}").json()
    assert undone == {"n_undone": 20}
    assert unmarked.get(f"{PROJECT}/queue").json()["total"] == 21


def test_a_bad_sample_stops_it(unmarked):
    add(unmarked, *sure("dog", 20))
    found = unmarked.post(f"{PROJECT}/bulk-sample", json={"probability": 0.6}).json()
    sample = [each["document_id"] for each in found["sample"]]
    for document in sample:
        decide(unmarked, document, "correct", "cat")
    body = {"probability": 0.6, "version": found["version"], "sample": sample}
    error = is_problem(unmarked.post(f"{PROJECT}/bulk-accept", json=body), 409)
    assert "0 of 10" in error["detail"]


def test_the_random_share_is_never_accepted_unseen(filing):
    add(filing, *sure("dog", 5))
    found = filing.post(f"{PROJECT}/bulk-sample", json={"probability": 0.6}).json()
    assert found["n_documents"] == 0


def test_track_record(filing):
    add(filing, *sure("dog", 6), *sure("oak", 6))
    for i in range(12):
        decide(filing, f"d{i}", "accept")
    decide(filing, "d0", "correct", "cat")
    found = filing.get(f"{PROJECT}/quality").json()
    assert (found["overall"]["n"], found["overall"]["n_right"]) == (12, 11)
    assert (found["decided"], found["corrected"]) == (12, 1)
    (confusion,) = found["confusions"]
    assert (confusion["offered_names"], confusion["chosen_names"]) == (["Dogs"], ["Cats, felines"])
    assert confusion["distance"] == 1.0
    assert found["distances"] == [{"distance": 1.0, "n": 1}]
    assert sum(each["right"]["n"] for each in found["periods"]) == 12
    assert sum(each["right"]["n"] for each in found["reliability"]) == 12
    assert found["moved"] is None


def test_disputes(filing):
    add(filing, *sure("dog", 3))
    decide(filing, "d0", "accept")
    decide(filing, "d1", "correct", "oak")
    decide(filing, "d2", "correct", "animal")  # careful, no mistake
    found = filing.get(f"{PROJECT}/disputes").json()
    (dispute,) = found["disputes"]
    assert dispute["document_id"] == "d1"
    assert (dispute["label_names"], dispute["offered_names"]) == (["Oaks"], ["Dogs"])
    assert dispute["offered_probability"] > dispute["chosen_probability"]
    decide(filing, "d1", "correct", "oak", key="check:1")
    assert filing.get(f"{PROJECT}/disputes").json()["total"] == 0


def test_wrong_rows_of_the_training_table(settings, serve, shared, tmp_path, db):
    rows = (shared / "beings.csv").read_text().splitlines()
    wrong = [f"x{i},{WORDS['dog']} {WORDS['dog']} bone,oak" for i in range(2)]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join([*rows, *wrong]) + "\n")
    client = serve(replace(settings, tables={"beings": str(table)}, db=db))
    project = client.app.state.service.projects["beings"]
    with project.store.writing() as connection:
        job = add_job(connection, "beings", "ann", "check")
    given = client.app.state.service.settings
    task = TrainingTask(given, "beings", project.live.version, job, "ann", False, "check")
    state, result = check_table(task, project.store)
    assert state == "checked"
    assert result["n_rows"] == len(rows) - 1 + 2
    found = client.get(f"{PROJECT}/disputes").json()
    assert found["total"] == result["n_doubts"]
    assert all(each["is_row"] for each in found["disputes"])
    (first,) = [each for each in found["disputes"] if "leash bone" in each["texts"]["text"]]
    assert (first["label_names"], first["offered_names"]) == (["Oaks"], ["Dogs"])
    document = {"document_id": first["document_id"], "texts": first["texts"]}
    client.post(f"{PROJECT}/documents", json={"documents": [document]})
    decide(client, first["document_id"], "correct", "dog", key="check:1")
    keys = [each["document_id"] for each in client.get(f"{PROJECT}/disputes").json()["disputes"]]
    assert first["document_id"] not in keys


def test_texts_of_the_training_are_not_marked(filing, shared):
    rows = (shared / "beings.csv").read_text().splitlines()[1:]
    texts = [row.split(",")[1] for row in rows]
    add(filing, *texts[:80], "nobody has seen this")
    documents = filing.get(f"{PROJECT}/documents", params={"limit": 100}).json()["documents"]
    marked = {each["document_id"] for each in documents if each["is_random"]}
    seen = filing.app.state.service.projects["beings"].live.classifier.has_seen(texts[:80])
    assert seen.any()
    assert marked == {f"d{i}" for i, is_seen in enumerate([*seen, False]) if not is_seen}


def test_a_check_needs_a_table(settings, serve):
    client = serve(replace(settings, tables={}))
    is_problem(client.post(f"{PROJECT}/disputes", json={}), 409)


def test_nodes(settings, serve, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text(
        "id,synonym,note\ndog,Hounds,All that bark.\ndog,Puppies,\ncat,,Purring ones.\n"
    )
    client = serve(replace(settings, synonyms={"beings": str(names)}))
    add(client, *sure("dog", 2))
    decide(client, "d0", "correct", "cat")
    found = client.get(f"{PROJECT}/nodes/dog").json()
    assert (found["synonyms"], found["note"]) == (["Hounds", "Puppies"], "All that bark.")
    assert {word["word"] for word in found["words"]} & set(WORDS["dog"].split())
    assert [(each["document_id"], each["is_decided"]) for each in found["examples"]] == [
        ("d1", False)
    ]
    assert [each["chosen"] for each in found["confusions"]] == [["cat"]]
    found = client.get(f"{PROJECT}/nodes/animal").json()
    assert [each["document_id"] for each in found["examples"]] == ["d0"]
    assert not found["confusions"]  # both are animals
    found = client.get(f"{PROJECT}/nodes", params={"id": ["dog", "none", "plant"]}).json()
    assert [node["id"] for node in found["nodes"]] == ["dog", "plant"]
    is_problem(client.get(f"{PROJECT}/nodes/none"), 404)


def test_the_page_of_a_child(client):
    found = client.get(f"{PROJECT}/tree", params={"parent": "animal", "child": "cow", "limit": 1})
    page = found.json()
    assert [node["id"] for node in page["nodes"]] == ["cow"]
    assert page["offset"] == [each["id"] for each in children(client)].index("cow")


def children(client):
    return client.get(f"{PROJECT}/tree", params={"parent": "animal"}).json()["nodes"]
