"""Label Studio's protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.server.conftest import make_tokens
from tests.unit.server.test_annif_routes import PROJECT, is_problem

CONFIG = """<View>
  <!-- the text -->
  <Text name="text" value="$body"/>
  <Taxonomy name="category" toName="text"><Choice value="Animals"/></Taxonomy>
</View>"""
CHOICES = CONFIG.replace("Taxonomy", "Choices")


@pytest.fixture
def studio(settings, serve):
    return serve(replace(settings, label_studio="beings"))


def test_it_is_an_option(client):
    is_problem(client.post("/predict", json={"tasks": []}), 404)


def test_setup_and_health(studio):
    body = {"project": "1.2", "schema": CONFIG, "hostname": "http://x", "access_token": "y"}
    version = studio.post("/setup", json=body).json()["model_version"]
    assert version == studio.get("/ready").json()["projects"]["beings"]
    assert studio.get("/health").json()["status"] == "UP"


def test_predict_paths(studio):
    tasks = [{"id": 1, "data": {"body": "it barks", "other": 3}}, {"id": 2, "data": {}}]
    body = {"tasks": tasks, "label_config": CONFIG, "project": "1", "params": {"context": {}}}
    answer = studio.post("/predict", json=body).json()
    first, second = answer["results"]
    assert first["result"] == [
        {
            "from_name": "category",
            "to_name": "text",
            "type": "taxonomy",
            "value": {"taxonomy": [["Animals", "Dogs"]]},
        }
    ]
    assert 0 < first["score"] <= 1
    assert first["model_version"] == answer["model_version"]
    assert second["result"]


def test_only_administrators_start_trainings(settings, serve):
    tokens = make_tokens(settings.db_url)
    studio = serve(replace(settings, label_studio="beings"))
    body = {"action": "START_TRAINING"}
    is_problem(studio.post("/webhook", json=body, headers=tokens["decide"]), 403)
    assert studio.get(f"{PROJECT}/retrain", headers=tokens["read"]).json()["jobs"] == []
    answer = studio.post("/webhook", json=body, headers=tokens["admin"])
    assert (answer.status_code, answer.json()) == (201, {"status": "training"})
    (job,) = studio.get(f"{PROJECT}/retrain", headers=tokens["read"]).json()["jobs"]
    assert job["user"] == "admin"


@pytest.mark.parametrize("attributes", ['value="dog"', 'value="Dogs" alias="dog"'])
def test_predictions_are_ids_where_the_tag_has_ids(studio, attributes):
    choices = f'<Choice value="animal"><Choice {attributes}/></Choice>'
    for tag, value in (("Taxonomy", [["animal", "dog"]]), ("Choices", ["dog"])):
        config = CONFIG.replace('<Choice value="Animals"/>', choices).replace("Taxonomy", tag)
        body = {"tasks": [{"id": 1, "data": {"body": "it barks"}}], "label_config": config}
        (found,) = studio.post("/predict", json=body).json()["results"]
        assert found["result"][0]["value"] == {tag.lower(): value}


def test_predict_choices(studio):
    body = {"tasks": [{"data": {"text": "it barks"}}], "label_config": CHOICES}
    (found,) = studio.post("/predict", json=body).json()["results"]
    assert found["result"][0]["type"] == "choices"
    assert found["result"][0]["value"] == {"choices": ["Dogs"]}


def test_annotations_become_decisions(studio):
    event = {
        "action": "ANNOTATION_CREATED",
        "project": {"id": 1},
        "task": {"id": 1, "data": {"text": "it meows"}},
        "annotation": {
            "result": [{"type": "taxonomy", "value": {"taxonomy": [["Animals", "Cats, felines"]]}}]
        },
    }
    assert studio.post("/webhook", json=event).json() == {"status": "ok"}
    event["annotation"]["result"][0]["value"] = {"taxonomy": [["Animals", "Dogs"]]}
    event["action"] = "ANNOTATION_UPDATED"
    assert studio.post("/webhook", json=event).status_code == 201
    found = studio.get(f"{PROJECT}/decisions").json()["events"]
    assert [each["labels"] for each in found] == [["cat"], ["dog"]]
    for action in ("ANNOTATIONS_DELETED", "PROJECT_UPDATED"):
        answer = studio.post("/webhook", json={"action": action})
        assert answer.json() == {"status": "ignored"}
    event["annotation"]["result"][0]["value"] = {"taxonomy": [["Unicorns"]]}
    is_problem(studio.post("/webhook", json=event), 400)


@pytest.mark.parametrize(
    "config",
    [
        "<View",
        "<View/>",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><View>&b;</View>',
    ],
)
def test_bad_configurations(studio, config):
    body = {"tasks": [], "label_config": config}
    is_problem(studio.post("/predict", json=body), 400)
