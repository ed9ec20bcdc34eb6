"""Tokens, limits, headers, and attempts to inject."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from dataclasses import replace
from io import StringIO

import pytest

from taxonomist.errors import ModelFileError, ParameterError
from taxonomist.server import ServiceLimits, make_app
from taxonomist.server.logs import set_up_logs
from taxonomist.server.problems import as_problem
from taxonomist.server.rates import RateLimit
from taxonomist.server.running import prepared
from taxonomist.server.store import EventStore
from tests.unit.server.conftest import make_tokens
from tests.unit.server.test_annif_routes import FORM, PROJECT, is_problem
from tests.unit.server.test_filing import add, decide

EVIL = 'x\'); DROP TABLE events; --/../\r\nX-Evil: 1\n\u2028{"level": "fake"} <script>'

READING = [
    ("GET", "/v1/projects", {}),
    ("GET", f"{PROJECT}/tree", {}),
    ("POST", f"{PROJECT}/suggest", {"data": {"text": "it barks"}}),
    ("POST", f"{PROJECT}/decide", {"json": {"documents": [{"text": "it barks"}]}}),
    ("GET", f"{PROJECT}/export", {}),
    ("GET", "/metrics", {}),
]
EXPLAIN = {"document": {"text": "it barks"}}
DECIDING = [
    ("POST", f"{PROJECT}/documents", {"json": {"documents": [{"text": "it barks"}]}}),
    ("POST", f"{PROJECT}/learn", {"json": []}),
    ("POST", f"{PROJECT}/decisions", {"json": {"document_id": "x", "action": "skip"}}),
    ("DELETE", f"{PROJECT}/decisions/1", {}),
    ("PUT", f"{PROJECT}/leases/x", {"json": {"documents": []}}),
]
ADMINISTERING = [
    ("POST", f"{PROJECT}/retrain", {"json": {"force": "maybe"}}),
    ("POST", f"{PROJECT}/models/0123/live", {"json": {}}),
]


@pytest.fixture
def tokens(settings):
    return make_tokens(settings.db_url)


def ask(client, request, headers=None):
    method, path, options = request
    return client.request(method, path, headers=headers, **options)


def test_roles(settings, serve, db):
    tokens = make_tokens(db)
    client = serve(replace(settings, db=db))
    allowed = {"read": READING, "decide": READING + DECIDING}
    allowed["admin"] = allowed["decide"] + ADMINISTERING
    for role, headers in tokens.items():
        for request in READING + DECIDING + ADMINISTERING:
            status = ask(client, request, headers).status_code
            assert (status != 403) == (request in allowed[role]), (role, request)
            assert status != 401


def test_without_a_valid_token(settings, tokens, serve):
    client = serve(settings)
    for request in READING + DECIDING + ADMINISTERING:
        assert ask(client, request).headers["www-authenticate"] == "Bearer"
        for value in ("Bearer tax_wrong", "Basic YTpi", "Bearer", "Bearer "):
            is_problem(ask(client, request, {"Authorization": value}), 401)
    assert client.get("/health").status_code == 200
    assert client.get("/ready").status_code == 200


def test_public_reading(settings, tokens, serve):
    client = serve(replace(settings, is_public=True))
    assert {ask(client, request).status_code for request in READING} == {200}
    for request in DECIDING + ADMINISTERING:
        is_problem(ask(client, request), 403)


def test_a_revoked_token_is_refused(settings, tokens, serve, monkeypatch):
    monkeypatch.setattr("taxonomist.server.access.REMEMBER_SECONDS", 0.0)
    client = serve(settings)
    assert ask(client, READING[0], tokens["read"]).status_code == 200
    from taxonomist.server.store.tokens import revoke_token

    with client.app.state.service.store.writing() as connection:
        assert revoke_token(connection, 1)
    is_problem(ask(client, READING[0], tokens["read"]), 401)


def test_decisions_bear_the_name_of_the_token(settings, tokens, serve):
    client = serve(settings)
    client.headers.update(tokens["decide"])
    add(client, "it barks")
    assert decide(client, "d0", "accept").json()["user"] == "decide"


def test_a_trusted_proxy_says_who_the_user_is(settings, serve):
    settings = replace(settings, user_header="X-Remote-User")
    trusting = serve(replace(settings, proxies=("testclient",)))
    add(trusting, "it barks")
    headers = {"X-Remote-User": "ann@example.org"}
    body = {"document_id": "d0", "action": "accept"}
    path = f"{PROJECT}/decisions"
    assert trusting.post(path, json=body, headers=headers).json()["user"] == "ann@example.org"
    is_problem(trusting.post(path, json=body, headers={"X-Remote-User": "x" * 300}), 400)
    other = serve(settings)
    assert other.post(path, json=body, headers=headers).json()["user"] == "local"


def test_others_are_refused_without_tokens(settings):
    with pytest.raises(ParameterError, match="taxonomist token add"):
        prepared(settings, "0.0.0.0")
    assert prepared(settings, "127.0.0.1").hosts == ("127.0.0.1", "localhost", "::1")
    make_tokens(settings.db_url)
    assert prepared(settings, "0.0.0.0").needs_token


def test_a_public_address_needs_tokens_even_if_all_are_revoked(settings, serve):
    client = serve(replace(settings, needs_token=True))
    is_problem(client.get("/v1/projects"), 401)


def test_other_host_names_are_refused(settings, serve):
    client = serve(replace(settings, hosts=("127.0.0.1", "localhost", "::1")))
    is_problem(client.get("/v1/projects", headers={"Host": "evil.example"}), 421)
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert client.get("/v1/projects", headers={"Host": host}).status_code == 200


def test_bodies_are_limited(settings, serve):
    client = serve(replace(settings, limits=ServiceLimits(body_bytes=1000)))
    is_problem(client.post(f"{PROJECT}/suggest", data={"text": "x" * 2000}), 413)

    def parts():
        for _ in range(20):
            yield b"text=" + b"x" * 100

    is_problem(client.post(f"{PROJECT}/suggest", content=parts(), headers=FORM), 413)


def test_texts_are_limited(settings, serve):
    client = serve(replace(settings, limits=ServiceLimits(text_chars=100)))
    long = "x" * 101
    for request in [
        ("POST", f"{PROJECT}/suggest", {"data": {"text": long}}),
        ("POST", f"{PROJECT}/suggest-batch", {"json": {"documents": [{"text": long}]}}),
        ("POST", f"{PROJECT}/decide", {"json": {"documents": [{"text": long}]}}),
        ("POST", f"{PROJECT}/documents", {"json": {"documents": [{"text": long}]}}),
        ("POST", f"{PROJECT}/learn", {"json": [{"text": long, "subjects": []}]}),
    ]:
        assert "100 characters" in is_problem(ask(client, request), 400)["detail"]


def test_rates_are_limited_by_token(settings, tokens, serve):
    client = serve(replace(settings, limits=ServiceLimits(rate=0.01, burst=3)))
    statuses = [ask(client, READING[0], tokens["read"]).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    answer = ask(client, READING[0], tokens["read"])
    assert int(answer.headers["retry-after"]) > 10
    assert "Slow down" in is_problem(answer, 429)["detail"]
    assert ask(client, READING[0], tokens["admin"]).status_code == 200
    for free in ("/health", "/static/main.js"):
        assert client.get(free, headers=tokens["read"]).status_code == 200


def test_limits_are_on_unless_they_are_switched_off():
    limits, time = ServiceLimits(), [0.0]
    rates = RateLimit(limits.rate, limits.burst, clock=lambda: time[0])
    waits = [rates.take("a script that runs wild") for _ in range(limits.burst + 1)]
    assert (set(waits[:-1]), waits[-1]) == ({0}, 1)
    assert rates.take("somebody else") == 0
    time[0] += 1
    assert rates.take("a script that runs wild") == 0
    assert 0 < limits.seconds <= 60


def test_time_is_limited(settings, serve, monkeypatch):
    client = serve(replace(settings, limits=ServiceLimits(seconds=0.1)))
    kind = type(client.app.state.service.projects["beings"].live)
    go_on = threading.Event()
    for method in ("suggest", "explain"):
        monkeypatch.setattr(kind, method, lambda *_: go_on.wait(60) and [])
    for request in (READING[2], ("POST", f"{PROJECT}/explain", {"json": EXPLAIN})):
        answer = ask(client, request)  # comes while a thread still works on it
        is_problem(answer, 503)
        assert answer.headers["retry-after"]
    go_on.set()
    assert client.get("/health").status_code == 200


def test_an_overloaded_server_says_so_at_once(settings, serve):
    client = serve(replace(settings, limits=ServiceLimits(waiting=0)))
    answer = client.post(f"{PROJECT}/suggest", data={"text": "it barks"})
    is_problem(answer, 503)
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "", "multipart/form-data"])
def test_content_types(client, kind):
    headers = {"Content-Type": kind}
    for path in ("suggest", "decide", "decisions", "retrain"):
        is_problem(client.post(f"{PROJECT}/{path}", content=b"{}", headers=headers), 415)
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = client.post(f"{PROJECT}/decide", content=b"\x1f\x8b", headers=packed)
    assert "compressed" in is_problem(answer, 415)["detail"]
    utf_16 = {"Content-Type": "application/json; charset=utf-16"}
    is_problem(client.post(f"{PROJECT}/decide", content=b"{}", headers=utf_16), 415)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"documents": ' + b"[" * 100_000,
        b'{"documents": [{"text": "a"}], "top": ' + b"9" * 5_000 + b"}",
        b'{"documents": [{"text": "a"}], "confident": NaN}',
        b'{"documents": [{"text": "a"}], "level": 1e999}',
        b'{"documents": [{"text": "\\ud800"}]}',
        b"\xff\xfe",
        b"",
        b"null",
    ],
    ids=range(9),
)
def test_malformed_bodies(client, content):
    headers = {"Content-Type": "application/json"}
    is_problem(client.post(f"{PROJECT}/decide", content=content, headers=headers), 400)


def test_headers_of_all_answers(client):
    answers = [client.get("/health"), client.get("/none"), client.get("/docs")]
    answers.append(client.post(f"{PROJECT}/suggest", content=b"", headers={"Content-Type": "x"}))
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    is_problem(answers[1], 404)
    is_problem(client.put("/health", json={}), 405)


def test_head_is_answered_like_get(client):
    for path in ("/", "/health", "/ready", "/metrics", "/v1/projects", f"{PROJECT}/tree"):
        head, get = client.head(path), client.get(path)
        assert (head.status_code, get.status_code) == (200, 200)
        assert head.headers["content-type"] == get.headers["content-type"]
    assert client.head("/none").status_code == 404
    assert client.head(f"{PROJECT}/decide").status_code == 405


def test_cors_only_for_named_origins(settings, serve):
    client = serve(replace(settings, origins=("https://a.example",)))
    for origin, allowed in (("https://a.example", "https://a.example"), ("https://b", None)):
        answer = client.get("/v1/projects", headers={"Origin": origin})
        assert answer.headers.get("access-control-allow-origin") == allowed


def test_request_ids(client):
    assert client.get("/health", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == (
        "abc-1"
    )
    for given in ("a b", "x" * 65, 'a"b', ""):
        found = client.get("/health", headers={"X-Request-Id": given}).headers["x-request-id"]
        assert len(found) == 16


@pytest.fixture
def log():
    """Return the log as a stream."""
    stream = StringIO()
    names = ("taxonomist.server", "uvicorn.error")
    before = {
        name: (logging.getLogger(name).handlers, logging.getLogger(name).propagate)
        for name in names
    }
    set_up_logs(stream)
    yield stream
    for name, (handlers, propagate) in before.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = handlers, propagate
    logging.getLogger("uvicorn.access").disabled = False


def lines_of(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_logs_are_lines_of_json_without_texts(client, log):
    client.post(f"{PROJECT}/suggest", data={"text": "a secret text"})
    client.get("/v1/projects/a%0Ab%22/tree")
    first, second = lines_of(log)
    assert first["message"] == "request"
    assert first["route"] == "/v1/projects/{project_id}/suggest"
    assert (first["status"], first["method"], first["user"]) == (200, "POST", "local")
    assert second["path"] == '/v1/projects/a\nb"/tree'
    assert "secret" not in log.getvalue()


def test_logs_have_texts_if_asked_for(settings, serve, log):
    client = serve(replace(settings, log_texts=True))
    client.post(f"{PROJECT}/suggest", data={"text": "secret"})
    assert lines_of(log)[-1]["body"] == "text=secret"


def test_a_bug_shows_nothing_to_clients_and_its_place_to_the_log(client, log, monkeypatch):
    def fail(*_):
        raise RuntimeError("a secret text")

    monkeypatch.setattr("taxonomist.server.routes.taxonomy.node_describer", fail)
    found = is_problem(client.get(f"{PROJECT}/tree"), 500)
    assert "secret" not in found["detail"]
    error, request = lines_of(log)
    assert error["error"] == "RuntimeError"
    assert any("taxonomy.py" in place for place in error["at"])
    assert error["request"] in found["detail"]
    assert request["status"] == 500
    assert "secret" not in log.getvalue()


def test_injection(client, log):
    evil = EVIL.replace("\r\n", " ").replace("\n", " ").replace("\u2028", " ")
    body = {"documents": [{"text": EVIL, "document_id": evil}]}
    assert client.post(f"{PROJECT}/documents", json=body).status_code == 201
    from urllib.parse import quote

    found = client.get(f"{PROJECT}/documents/{quote(evil, safe='')}")
    assert found.json()["document_id"] == evil
    listed = client.get(f"{PROJECT}/documents").json()["documents"]
    assert [(each["document_id"], each["texts"]["text"]) for each in listed] == [(evil, EVIL)]
    assert decide(client, evil, "accept", key=evil).status_code == 201
    assert client.get(f"{PROJECT}/search", params={"q": EVIL[:200]}).json() == {"nodes": []}
    assert client.get(f"{PROJECT}/decisions").json()["events"][0]["key"] == evil
    for line in log.getvalue().splitlines():
        assert json.loads(line)["level"] == "info"
    for key in ("a\nb", "a\0b", "", "x" * 201, "a\u2028b"):
        body = {"documents": [{"text": "x", "document_id": key}]}
        is_problem(client.post(f"{PROJECT}/documents", json=body), 400)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/projects/..%2F..%2Fetc%2Fpasswd",
        "/v1/projects/../../etc/passwd",
        f"{PROJECT}/models/..%2F..%2Fetc/compare",
        f"{PROJECT}/retrain/..%2F..%2Fetc",
        "/docs/../../etc/passwd",
    ],
)
def test_paths_lead_nowhere(client, path):
    assert client.get(path).status_code in (400, 404)


def test_a_full_disk_is_told_and_nothing_is_acknowledged(on_sqlite, serve):
    client = serve(on_sqlite)
    add(client, "it barks")
    engine = client.app.state.service.store.engine
    with engine.connect() as connection:
        n_pages = connection.exec_driver_sql("PRAGMA page_count").scalar()

    def limit(dbapi_connection, *_):
        dbapi_connection.execute(f"PRAGMA max_page_count={n_pages + 1}")

    from sqlalchemy import event

    event.listen(engine, "checkout", limit)
    statuses, stored = set(), 0
    for i in range(100):
        status = decide(client, "d0", "skip", key=f"{i}" + "k" * 150).status_code
        statuses.add(status)
        stored += status == 201
    event.remove(engine, "checkout", limit)
    assert statuses == {201, 507}
    events = client.get(f"{PROJECT}/decisions", params={"limit": 1000}).json()["events"]
    assert len(events) == stored


def test_a_full_disk_of_postgresql_is_told_too():
    from psycopg.errors import DiskFull
    from sqlalchemy.exc import OperationalError

    error = DiskFull('could not extend file "base/1/2": No space left on device')
    assert as_problem(OperationalError("insert", {}, error)).status == 507


def test_a_database_that_does_not_answer(client, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def fail(*_):
        raise OperationalError("select", {}, sqlite3.OperationalError("secret path"))

    monkeypatch.setattr("taxonomist.server.routes.documents.list_documents", fail)
    assert "secret" not in is_problem(client.get(f"{PROJECT}/documents"), 503)["detail"]


def test_too_many_for_the_database(settings, serve, monkeypatch):
    limits = {"pool_size": 1, "max_overflow": 0, "pool_timeout": 0.1}
    monkeypatch.setattr("taxonomist.server.store.engine.CONNECTIONS", limits)
    client = serve(settings)
    client.get(f"{PROJECT}/documents")
    with client.app.state.service.store.reading():
        answer = client.get(f"{PROJECT}/documents")
        assert "database" in is_problem(answer, 503)["detail"]
        assert answer.headers["retry-after"]
    assert client.get(f"{PROJECT}/documents").status_code == 200


def test_models_are_checked(tmp_path, settings, shared, monkeypatch):
    import shutil

    shutil.copytree(shared / "beings", tmp_path / "bad")
    part = next(path for path in (tmp_path / "bad").rglob("*.npy") if path.stat().st_size > 200)
    content = bytearray(part.read_bytes())
    content[-1] ^= 255
    part.write_bytes(content)
    closed, close = [], EventStore.close
    monkeypatch.setattr(EventStore, "close", lambda store: (closed.append(store), close(store)))
    for place in (tmp_path / "bad", tmp_path / "none"):
        with pytest.raises(ModelFileError):
            make_app(replace(settings, models={"bad": str(place)}))
    assert len(closed) == 2
