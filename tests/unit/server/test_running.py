"""The server as a process: it starts, stops, dies and shares."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.unit.cli.running import run_here as run
from tests.unit.server.postgres import free_port
from tests.unit.server.processes import RunningServer, running
from tests.unit.server.test_annif_routes import PROJECT
from tests.waiting import wait_for


def suggest(server, text="it barks", token=None):
    body = urllib.parse.urlencode({"text": text}).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"{server.url}{PROJECT}/suggest", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["results"]


def decision_loop(server, n_writes, acknowledged, start=0):
    """Write decisions one after another until the server is gone."""
    for i in range(start, start + n_writes):
        body = {"document_id": "d", "action": "skip", "key": f"k{i}"}
        try:
            acknowledged.append(server.post(f"{PROJECT}/decisions", body)["event"])
        except (urllib.error.URLError, ConnectionError, OSError, ValueError):
            return


def kill_while_writing(arguments, folder, n_writes, kill_after):
    """Kill a server while it writes; return the acknowledged events of this run."""
    server = RunningServer([*arguments, "--folder", folder / "state"], folder / "log")
    server.wait()
    documents = {"documents": [{"text": "it barks", "document_id": "d"}]}
    server.post(f"{PROJECT}/documents", documents)
    acknowledged: list[int] = []
    start = len(all_events(server))
    writer = threading.Thread(
        target=decision_loop, args=(server, n_writes, acknowledged, 10_000 * start)
    )
    writer.start()
    while len(acknowledged) < kill_after and writer.is_alive():
        time.sleep(0.001)
    server.stop(signal.SIGKILL)
    writer.join()
    return acknowledged


def all_events(server):
    found, after = set(), 0
    while True:
        page = server.get(f"{PROJECT}/decisions?limit=1000&after={after}")
        found |= {event["event"] for event in page["events"]}
        if page["next"] is None:
            return found
        after = page["next"]


def check_kills(arguments, folder, n_kills, n_writes):
    acknowledged: list[int] = []
    for i in range(n_kills):
        kill_after = 5 + (37 * i) % (n_writes - 5)
        acknowledged += kill_while_writing(arguments, folder, n_writes, kill_after)
    with running(arguments, folder) as server:
        found = all_events(server)
    assert len(acknowledged) >= 5 * n_kills
    assert set(acknowledged) <= found
    assert len(found) <= len(acknowledged) + n_kills  # at most one was not acknowledged each time


def test_killed_servers_lose_nothing_that_was_acknowledged(shared, tmp_path, db):
    check_kills([shared / "beings", "--db", db], tmp_path, 1, 40)


@pytest.mark.slow
def test_servers_killed_again_and_again_lose_nothing(shared, tmp_path, db):
    check_kills([shared / "beings", "--db", db], tmp_path, 20, 200)


def test_stopping_finishes_what_was_accepted_and_tokens_work(shared, tmp_path):
    state = ("--folder", tmp_path / "state")
    code, token, note = run("token", "add", "ann", "--role", "read", *state)
    assert (code, token.startswith("tax_")) == (0, True)
    assert "cannot be shown again" in note
    token = token.strip()
    with running([shared / "beings", "--host", "127.0.0.1"], tmp_path) as server:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            suggest(server)
        with ThreadPoolExecutor(20) as pool:
            texts = ["it barks " + "common word " * 2000 + str(i) for i in range(20)]
            asked = [pool.submit(suggest, server, text, token) for text in texts]
            while not any(future.done() for future in asked):
                time.sleep(0.001)
            code = server.stop()
            answers = [future.exception() or future.result() for future in asked]
        assert code in (0, -signal.SIGTERM)
    asked_for = "/v1/projects/{project_id}/suggest"
    statuses = [line["status"] for line in server.lines if line.get("route") == asked_for]
    assert set(statuses) <= {200, 401}
    n_answered = sum(isinstance(answer, list) for answer in answers)
    assert n_answered == statuses.count(200) > 0  # whatever was accepted was answered
    rows = run("token", "list", "--json", *state)[1]
    assert [row["name"] for row in json.loads(rows)] == ["ann"]
    assert run("token", "revoke", "1", *state)[0] == 0
    assert run("token", "revoke", "1", *state)[0] == 2
    assert "ann" in run("token", "list", *state)[1]


def count(server):
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        text = answer.read().decode()
    line = 'taxonomist_requests_total{method="POST",route="/v1/projects/{project_id}/suggest"'
    found = re.search(re.escape(f'{line},status="200"}} ') + r"(\d+)", text)
    return int(found[1]) if found else 0


def test_processes_share_the_work(server):
    before = count(server)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: suggest(server), range(12)))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0]["uri"] == "dog"
    # Whichever process is asked; a request is counted when its answer is sent.
    wait_for(lambda: count(server) == before + 12)
    server.post(f"{PROJECT}/documents", {"documents": [{"text": "x", "document_id": "shared"}]})
    for _ in range(4):
        assert server.get(f"{PROJECT}/documents/shared")["document_id"] == "shared"


@pytest.mark.slow
def test_processes_end_with_the_server_that_started_them(shared, tmp_path):
    with running([shared / "beings", "--processes", "2"], tmp_path) as server:
        server.stop(signal.SIGKILL)
        for _ in range(300):
            try:
                server.get("/health")
            except (urllib.error.URLError, ConnectionError):
                break
            time.sleep(0.1)
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            server.get("/health")


def test_other_addresses_need_tokens(shared, tmp_path):
    where = ("--host", "0.0.0.0", "--port", free_port(), "--folder", tmp_path)
    code, _, message = run("serve", shared / "beings", *where)
    assert code == 2
    assert "taxonomist token add" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "not the folder of a model"),
        (["a=x", "a=y"], "given twice"),
        (["a b=x"], "letters, digits"),
        (["--data", "x"], "PROJECT=FILE"),
        (["a=x", "--data", "b=y"], "has no model"),
        (["a=x", "--db", "mysql://x"], "sqlite:///file"),
    ],
)
def test_wrong_arguments(tmp_path, arguments, message):
    where = ("--port", free_port(), "--folder", tmp_path / "state")
    code, _, found = run("serve", *arguments, *where)
    assert code == 2, found
    assert message in found
    assert "Serving" not in found


def test_a_taken_port_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        # Told before the model of the demo is made.
        code, _, message = run("serve", "--port", port, "--folder", tmp_path / "state")
    assert code == 2
    assert message.startswith(f"taxonomist: The service cannot listen on 127.0.0.1:{port} (Addr")
    assert message.endswith("Pass another --port, or stop what runs there.\n")
    assert not (tmp_path / "state").exists()
