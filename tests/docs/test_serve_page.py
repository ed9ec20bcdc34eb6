"""The page about the service says the truth: its curl commands are run against the demo."""

from __future__ import annotations

import doctest
import os
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
ROUTES_WITHOUT_EXAMPLE = {"/"}


@pytest.fixture(scope="module")
def commands():
    """Return the commands of the page for curl, and what is shown below them."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = [match["code"] for match in BLOCK.finditer(text) if match["kind"] == "console"]
    found = [
        (match["line"].removeprefix("$ "), match["shown"])
        for block in blocks
        for match in COMMAND.finditer(block)
    ]
    return [(line, shown) for line, shown in found if "curl" in line and "$TOKEN" not in line]


def test_commands(commands, tmp_path):
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
    assert not routes_left_out(schema, commands)


def routes_left_out(schema, commands):
    """Return the routes that the page has no command for."""
    asked = " ".join(line for line, _ in commands)
    found = []
    for path in schema["paths"]:
        parts = [part for part in path.split("/") if part and not part.startswith("{")]
        if path not in ROUTES_WITHOUT_EXAMPLE and parts and f"/{parts[-1]}" not in asked:
            found.append(path)
    return found
