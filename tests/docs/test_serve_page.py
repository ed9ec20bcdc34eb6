"""The page about the service says the truth: its curl commands are run against the demo."""

from __future__ import annotations

import doctest
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.server.processes import running
from tests.unit.server.skips import curl
from tools.snippets import BLOCK, COMMAND

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "serve.md"
ADDRESS = "localhost:8000"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NOT_RUN = {
    # Only with a token, which the demo that the commands ask does not have.
    ("POST", "/v1/session"),
    # It takes longer than all the others.
    ("POST", "/v1/projects/{project_id}/disputes"),
}
"""Routes whose commands are not run here; they are tested with the other routes."""


@pytest.fixture(scope="module")
def page():
    """Return the commands of the page for curl: whether they run, and what they show."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = [match for match in BLOCK.finditer(text) if match["kind"] == "console"]
    found = [
        (not block["skip"], match["line"].removeprefix("$ "), match["shown"])
        for block in blocks
        for match in COMMAND.finditer(block["code"])
    ]
    return [command for command in found if "curl" in command[1]]


@pytest.fixture(scope="module")
def commands(page):
    """Return the commands that run, and what is shown below them."""
    return [(line, shown) for is_run, line, shown in page if is_run]


def test_commands(page, commands, tmp_path):
    program = curl()
    quiet = f'curl() {{ {program} -sS --fail-with-body --globoff "$@"; }}'
    # No model is given, so this is what newcomers get.
    with running([], tmp_path) as server:
        lines = [quiet, "set -e"]
        for i, (line, _) in enumerate(commands):
            here = line.replace(ADDRESS, server.url.removeprefix("http://"))
            lines += [here, f"printf '\\n=== {i}\\n'"]
        done = subprocess.run(
            ["bash", "-c", "\n".join(lines)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            check=False,
        )
        schema = server.get("/openapi.json")
        # Newcomers have something to file.
        assert server.get("/v1/projects/arxiv/queue")["total"] > 50
        server.stop(signal.SIGTERM)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    answers = done.stdout
    for i, (line, shown) in enumerate(commands):
        answer, _, answers = answers.partition(f"\n=== {i}\n")
        if shown:
            wanted = shown.rstrip("\n") + ("" if shown.rstrip().endswith("...") else "\n")
            same = doctest.OutputChecker().check_output(wanted, answer.strip() + "\n", LOOSE)
            assert same, f"{line}\nshows\n{shown}\nbut prints\n{answer}"
    assert not routes_left_out(schema, [line for _, line, _ in page])
    assert routes_left_out(schema, [line for line, _ in commands]) == NOT_RUN


def routes_left_out(schema, lines):
    """Return the methods and paths that no command asks."""
    asked = {match for line in lines for match in requests_of(line)}
    return {
        (method.upper(), path)
        for path, methods in schema["paths"].items()
        for method in methods
        if not any(
            method.upper() == of and re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), to)
            for of, to in asked
        )
    }


def requests_of(line):
    """Yield the method and the path of each request of a command."""
    for part in line.split("curl ")[1:]:
        given = re.search(r"-X (\w+)", part)
        has_body = re.search(r"--json|--data|-d ", part)
        path = re.search(r"localhost:8000([^?'\s)]*)", part)
        yield given[1] if given else "POST" if has_body else "GET", path[1]
