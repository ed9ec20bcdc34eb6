"""Clients of Annif, and Annif itself, use a running server as they use Annif's."""

from __future__ import annotations

import os
import subprocess

import pytest
from annif_client import AnnifClient

from tests.unit.server.corpus import WORDS
from tests.unit.server.skips import annif_command

PROJECTS = """
[ours]
name=Ours
language=en
backend=http
vocab=beings
limit=3
endpoint={url}/v1/projects/beings/suggest
"""


@pytest.fixture
def annif():
    """Return the command of Annif."""
    return annif_command()


def test_annif_client(server):
    client = AnnifClient(f"{server.url}/v1/")
    assert set(client.api_info) == {"title", "version"}
    assert [project["project_id"] for project in client.projects] == ["beings"]
    assert client.get_project("beings")["is_trained"] is True
    results = client.suggest("beings", "it purrs and sleeps", limit=2, threshold=0.01)
    assert results[0]["uri"] == "cat"
    documents = [{"text": "it barks", "document_id": "doc-1"}]
    (batch,) = client.suggest_batch("beings", documents, limit=1)
    assert (batch["document_id"], batch["results"][0]["uri"]) == ("doc-1", "dog")
    taught = [{"text": "it meows", "subjects": [{"uri": "cat", "label": "Cats"}]}]
    assert client.learn("beings", taught).status_code == 204
    languages = client.detect_language("the dog and the cat", ["en", "fi"])["results"]
    assert languages[0]["language"] == "en"
    with pytest.raises(ValueError, match="Project 'none' not found"):
        client.suggest("none", "text")


def test_annif_uses_us_as_its_http_backend(server, annif, tmp_path):
    def run(*arguments, text=""):
        done = subprocess.run(
            [annif, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )
        return done.stdout

    (tmp_path / "projects.cfg").write_text(PROJECTS.format(url=server.url))
    (tmp_path / "vocab.tsv").write_text("".join(f"<{label}>\t{label}\n" for label in WORDS))
    run("load-vocab", "beings", "vocab.tsv", "--language", "en")
    rows = [line.split("\t") for line in run("suggest", "ours", text="it barks").splitlines()]
    assert [row[0] for row in rows[:1]] == ["<dog>"]
    assert len(rows) == 3
    (shown,) = [line for line in run("list-projects").splitlines() if line.startswith("ours")]
    assert "True" in shown
