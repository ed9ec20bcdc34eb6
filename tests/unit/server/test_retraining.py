"""Learning from decisions, and versions of the model."""

from __future__ import annotations

import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.exc import OperationalError

from taxonomist.errors import ModelFileError
from taxonomist.server import make_app, training_memory, training_process
from taxonomist.server.live_model import LiveModel
from taxonomist.server.store import EventStore
from taxonomist.server.store.jobs import add_job, end_job
from taxonomist.server.training_process import TrainingTask, train_again
from taxonomist.server.training_rows import read_rows
from taxonomist.text import TextClassifier
from taxonomist.workflow.model_comparison import compare_models
from tests.unit.server.corpus import make_model, write_table
from tests.unit.server.test_annif_routes import PROJECT, is_problem
from tests.unit.server.test_filing import add, decide


def ended(client, job):
    for _ in range(600):
        found = client.get(f"{PROJECT}/retrain/{job}").json()
        if found["state"] != "running":
            return found
        time.sleep(0.1)
    raise TimeoutError(found)


def suggested(client, text):
    answer = client.post(f"{PROJECT}/suggest", data={"text": text})
    assert answer.status_code == 200
    return answer.json()["results"][0]["uri"]


def task_of(client, *, force=False):
    """Return a training of a server's project, to be run in this process."""
    service = client.app.state.service
    project = service.projects["beings"]
    with project.store.writing() as connection:
        job = add_job(connection, project.id, "ann")
    return TrainingTask(
        service.settings, project.id, project.live.version, job, "ann", force
    ), service.store


def teach(client, word, label, n=12):
    texts = [f"{word} number{i}" for i in range(n)]
    documents = [{"text": text, "document_id": f"{word}{i}"} for i, text in enumerate(texts)]
    client.post(f"{PROJECT}/documents", json={"documents": documents})
    for document in documents:
        assert decide(client, document["document_id"], "correct", label).status_code == 201


def test_corrections_are_learned_in_a_process_of_its_own(settings, serve):
    client = serve(replace(settings, random_share=0.0))
    teach(client, "meows", "cat")
    before = client.get(f"{PROJECT}/models").json()["live"]
    answer = client.post(f"{PROJECT}/retrain", json={})
    assert answer.status_code == 202
    is_problem(client.post(f"{PROJECT}/retrain", json={}), 409)  # one at a time
    job = answer.json()["job"]
    while client.get(f"{PROJECT}/retrain/{job}").json()["state"] == "running":
        assert suggested(client, "it barks") == "dog"  # requests go on being answered
        time.sleep(0.1)
    found = ended(client, job)
    assert found["state"] == "live", found
    result = found["result"]
    assert (result["n_texts"], result["is_not_worse"]) == (30, True)
    assert result["documents"] == 90 + 12
    for _ in range(100):
        models = client.get(f"{PROJECT}/models").json()
        if models["live"] != before:
            break
        time.sleep(0.1)
    assert models["live"] == result["version"]
    assert [each["reason"] for each in models["releases"]] == [
        "given at the start",
        "retrained, not worse",
    ]
    assert suggested(client, "it meows") == "cat"
    assert [each["job"] for each in client.get(f"{PROJECT}/retrain").json()["jobs"]] == [job]

    back = client.post(f"{PROJECT}/models/{before}/live", json={"reason": "worse in practice"})
    assert back.json()["version"] == before
    assert client.get(f"{PROJECT}/models").json()["live"] == before
    difference = client.get(f"{PROJECT}/models/{result['version']}/compare").json()
    assert (difference["old"], difference["new"]) == (before, result["version"])
    is_problem(client.post(f"{PROJECT}/models/abc/live", json={}), 404)
    is_problem(client.get(f"{PROJECT}/models/abc/compare"), 404)
    is_problem(client.get(f"{PROJECT}/retrain/abc"), 404)


def test_a_few_corrections_are_learned_from_where_the_last_training_ended(settings, serve):
    client = serve(replace(settings, random_share=0.0))
    folder = Path(client.app.state.service.settings.folder) / "models" / "beings.learned"
    teach(client, "meows", "cat", n=3)
    found = []
    for damage in (None, None, b"damaged"):
        if damage is not None:
            for file in (each for each in folder.rglob("*") if each.is_file()):
                file.write_bytes(damage)
        task, store = task_of(client)
        found.append(run(task, store))
        learned = read_rows(folder)
        assert len(learned.texts) == learned.counts.shape[0] == 93
        assert learned.start.alpha.shape[0] >= 93
    assert [each["kept_features"] for each in found] == [True] * 3
    assert [each["documents"] for each in found] == [93] * 3
    task, store = task_of(client)
    assert run(task._replace(full=True), store)["kept_features"] is False


def run(task, store):
    """Run a training in this process, and return its result."""
    state, result = train_again(task, store)
    with store.writing() as connection:
        end_job(connection, task.job, state, result)
    return result


def test_a_worse_model_goes_live_only_by_force(settings, serve, monkeypatch):
    client = serve(settings)

    def worse(*arguments):
        return compare_models(*arguments)._replace(new_loss=9.0)

    monkeypatch.setattr("taxonomist.server.training_process.compare_models", worse)
    for force, state in ((False, "trained"), (True, "live")):
        task, store = task_of(client, force=force)
        found, result = train_again(task, store)
        assert (found, result["is_not_worse"]) == (state, False)
        with store.writing() as connection:
            from taxonomist.server.store.jobs import end_job

            end_job(connection, task.job, found, result)
    client.app.state.service.projects["beings"].refresh()
    models = client.get(f"{PROJECT}/models").json()
    assert models["releases"][-1]["reason"] == "forced"
    assert len(models["versions"]) == 3


def test_marked_documents_are_measured_on_and_not_learned(settings, serve, db):
    client = serve(replace(settings, random_share=1.0, db=db))
    teach(client, "meows", "cat", n=6)
    task, store = task_of(client)
    _, result = train_again(task, store)
    assert (result["documents"], result["n_texts"]) == (90, 36)


def test_a_decision_replaces_a_row_with_the_same_text(settings, shared, serve):
    client = serve(replace(settings, random_share=0.0, weight=2.0))
    line = (shared / "beings.csv").read_text().splitlines()[1].split(",")
    add(client, line[1])
    decide(client, "d0", "correct", "elm")
    from taxonomist.server.training_process import _items

    task, store = task_of(client)
    items = _items(task, store, LiveModel(Path(settings.models["beings"])))
    assert len(items) == len({item.texts["text"] for item in items})
    (item,) = [item for item in items if item.texts["text"] == line[1]]
    assert (item.labels, item.weight, item.is_held_out) == (["elm"], 2.0, False)


def test_too_few_held_out_documents_do_not_let_a_model_go_live(shared):
    classifier = TextClassifier.load(shared / "beings")
    texts = [{"text": "it barks"}] * 19
    found = compare_models(classifier, classifier, texts, [["dog"]] * 19)
    assert not found.is_not_worse
    assert "Fewer than 20" in str(found.summary()["note"])
    assert not compare_models(classifier, classifier, [], []).is_not_worse


def test_comparison_is_paired(shared):
    classifier = TextClassifier.load(shared / "beings")
    texts = [{"text": "it barks"}, {"text": "milk and grass"}] * 15
    found = compare_models(classifier, classifier, texts, [["dog"], ["oak"]] * 15)
    assert found.is_not_worse
    assert (found.old_loss, found.new_loss, found.error) == (1.0, 1.0, 0.0)
    assert found.new_accuracy == 0.5


def test_without_a_table_there_is_no_training(settings, serve):
    client = serve(replace(settings, tables={}))
    assert (
        "--data beings=FILE"
        in is_problem(client.post(f"{PROJECT}/retrain", json={}), 409)["detail"]
    )


def test_a_training_that_fails_says_why(settings, serve, tmp_path, monkeypatch):
    client = serve(replace(settings, tables={"beings": str(tmp_path / "none.csv")}))
    task, _ = task_of(client)
    given = {**task._asdict(), "settings": task.settings.to_json()}
    monkeypatch.setattr("sys.stdin", StringIO(json.dumps(given)))
    monkeypatch.setattr("os.nice", lambda _: 0)
    training_process.main()
    found = client.get(f"{PROJECT}/retrain/{task.job}").json()
    assert found["state"] == "failed"
    assert "none.csv" in found["result"]["error"]


def test_a_training_with_too_little_memory_says_so_and_requests_are_answered(settings, serve):
    client = serve(replace(settings, memory_mib=300))
    found = ended(client, client.post(f"{PROJECT}/retrain", json={}).json()["job"])
    assert found["state"] == "failed"
    assert "--training-mib" in found["result"]["error"]
    assert suggested(client, "it barks") == "dog"


def test_a_training_may_use_half_of_the_memory(tmp_path, monkeypatch):
    limits = []
    monkeypatch.setattr("resource.setrlimit", lambda _, pair: limits.append(pair))
    for given in ("max", "1000000"):
        (tmp_path / "limit").write_text(given)
        monkeypatch.setattr(training_memory, "CONTAINER_LIMIT", tmp_path / "limit")
        training_memory.limit_memory(0)
    training_memory.limit_memory(7)
    assert limits[0][0] > 2**28
    assert limits[1:] == [(500_000, 500_000), (7 * 2**20, 7 * 2**20)]


@pytest.mark.parametrize("cause", [MemoryError(), RuntimeError("can't start new thread")])
def test_errors_that_memory_caused_are_told_as_such(cause):
    error = ModelFileError("damaged")
    error.__cause__ = cause
    assert "--training-mib" in training_process._told(error)
    assert training_process._told(ModelFileError("damaged")) == "damaged"
    assert training_process._told(KeyError("a bug")) is None


def test_a_training_that_dies_is_noticed(settings, serve):
    client = serve(settings)
    job = client.post(f"{PROJECT}/retrain", json={}).json()["job"]
    running = client.app.state.service.trainings
    ((process, _),) = running._running.values()
    process.kill()
    found = ended(client, job)
    assert found["state"] == "failed"
    assert found["result"]["error"].startswith("It was ended by signal 9.")
    assert "--training-mib" in found["result"]["error"]


def test_a_training_is_over_even_if_the_store_does_not_answer(settings, serve, monkeypatch):
    trainings = serve(settings).app.state.service.trainings

    def fail():
        raise OperationalError("select", {}, OSError())

    monkeypatch.setattr(trainings._store, "writing", fail)
    process = SimpleNamespace(communicate=lambda task: None, returncode=1)
    trainings._running["job"] = (process, None)
    trainings._watch("job", process, "{}")
    assert not trainings._running


def test_the_newest_version_wins_over_a_slower_older_one(settings, serve, monkeypatch):
    project = serve(settings).app.state.service.projects["beings"]
    wanted, live = iter(["a1"]), project.live

    def load(version):
        time.sleep(0.5 if version == "a1" else 0)
        return SimpleNamespace(version=version)

    monkeypatch.setattr("taxonomist.server.projects.live_version", lambda *_: next(wanted, "a2"))
    monkeypatch.setattr(project, "load", load)
    with ThreadPoolExecutor(2) as pool:
        older = pool.submit(project.refresh)
        time.sleep(0.1)
        newer = pool.submit(project.refresh)
        assert older.result()
        assert newer.result()
    assert project.live.version == "a2"
    monkeypatch.undo()
    project.live = live


def test_trainings_end_with_the_server(settings, serve):
    client = serve(settings)
    client.post(f"{PROJECT}/retrain", json={})
    ((process, _),) = client.app.state.service.trainings._running.values()
    client.app.state.service.trainings.stop()
    assert process.poll() is not None


def test_a_task_survives_its_way(settings):
    task = {"project": "p", "version": "v", "job": "j", "user": "u", "force": True}
    found = TrainingTask.read(json.dumps({**task, "settings": settings.to_json()}))
    assert found.settings == settings
    assert found.force


@pytest.fixture
def copied(shared, tmp_path):
    shutil.copytree(shared / "beings", tmp_path / "beings")
    return tmp_path / "beings"


def test_a_retrained_model_is_live_after_a_restart(settings, serve):
    first = serve(settings)
    task, store = task_of(first)
    _, result = train_again(task, store)
    assert serve(settings).get(f"{PROJECT}/models").json()["live"] == result["version"]
    shutil.rmtree(Path(settings.folder) / "models" / "beings" / task.job)
    given = serve(settings).get("/ready").json()["projects"]["beings"]
    assert given != result["version"]  # its folder is gone, so the given one answers


def test_a_new_folder_goes_live_and_an_old_one_that_moved_is_found(
    settings, serve, copied, tmp_path
):
    first = serve(replace(settings, models={"beings": str(copied)}))
    before = first.get("/ready").json()["projects"]["beings"]
    copied.rename(tmp_path / "moved")
    moved = serve(replace(settings, models={"beings": str(tmp_path / "moved")}))
    assert moved.get("/ready").json()["projects"]["beings"] == before
    table = write_table(tmp_path / "other.csv", 60)
    other = make_model(tmp_path / "other", table)
    found = serve(replace(settings, models={"beings": str(other)}))
    assert found.get("/ready").json()["projects"]["beings"] != before


def test_a_server_that_stops_waits_for_whoever_asks_the_store(settings, serve, monkeypatch):
    began, order, close = threading.Event(), [], EventStore.close

    def refresh(_):
        began.set()
        time.sleep(0.2)
        order.append("asked")

    def closed(store):
        order.append("closed")
        close(store)

    monkeypatch.setattr("taxonomist.server.service.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("taxonomist.server.projects.Project.refresh", refresh)
    with TestClient(make_app(settings)):
        assert began.wait(10)
        monkeypatch.setattr(EventStore, "close", closed)
    time.sleep(0.3)
    assert order[-1] == "closed"


def test_waiting_documents_are_scored_again_by_a_new_model(settings, serve, db):
    client = serve(replace(settings, db=db))
    add(client, "it barks")
    task, store = task_of(client)
    _, result = train_again(task, store)
    assert client.app.state.service.projects["beings"].refresh()
    (document,) = client.get(f"{PROJECT}/queue").json()["documents"]
    assert document["offer"]["version"] == result["version"]


def test_no_request_sees_half_a_model(settings, serve, tmp_path):
    client = serve(settings)
    project = client.app.state.service.projects["beings"]
    other = make_model(tmp_path / "other", write_table(tmp_path / "other.csv", 60))
    models = [project.live, LiveModel(other)]
    texts = ["it barks", "milk and grass"]
    alone = [[model.suggest([model.item(text)], 6)[0] for text in texts] for model in models]
    assert alone[0] != alone[1]
    ended = threading.Event()

    def swap():
        while not ended.is_set():
            project.live = models[project.live is models[0]]
            time.sleep(0.0005)

    def ask(i):
        answer = client.post(f"{PROJECT}/suggest", data={"text": texts[i % 2]})
        found = [(row["uri"], row["score"]) for row in answer.json()["results"]]
        return any(found == each[i % 2] for each in alone)

    swapping = threading.Thread(target=swap)
    swapping.start()
    with ThreadPoolExecutor(8) as pool:
        right = list(pool.map(ask, range(200)))
    ended.set()
    swapping.join()
    assert all(right)


def test_stores_of_two_servers_see_the_same(settings, serve):
    client = serve(settings)
    other = EventStore(settings.db_url)
    add(client, "it barks")
    from taxonomist.server.store.documents import find_document

    with other.reading() as connection:
        assert find_document(connection, "beings", "d0") is not None
    other.close()
