"""The image: what its files say exists, and its steps work without root and without writing."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
import typer

import taxonomist
from taxonomist.cli.app import app
from tests.unit.server.postgres import free_port

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "how-to" / "serve.md").read_text(encoding="utf-8")
OTHERS = {"--json", "--data-urlencode", "--no-create-home", "--system", "--uid", "--from", "--rm"}
OTHERS |= {"--interval", "--timeout", "--start-period", "--help"}
"""Options of other programs."""
DROP_CAPABILITY = 24


def options():
    commands = typer.main.get_command(app).commands
    chosen = [commands["serve"], *commands["token"].commands.values()]
    return {name for command in chosen for each in command.params for name in each.opts}


@pytest.mark.parametrize("text", [DOCKERFILE, COMPOSE, PAGE], ids=["Dockerfile", "compose", "page"])
def test_options_exist(text):
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - OTHERS <= options()


def test_the_image_is_locked_down():
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001$", last, re.M)
    assert "HEALTHCHECK" in last
    for line in ("read_only: true", 'cap_drop: ["ALL"]', "no-new-privileges:true"):
        assert line in COMPOSE
    assert not re.search(r"PASSWORD: (?!\$)", COMPOSE)


def test_extras_of_the_image_exist():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extra in re.search(r'pip install "\.\[(.*?)\]"', DOCKERFILE)[1].split(","):
        assert re.search(rf"^{extra} = \[", project, re.M)


def drop_capabilities():
    system = ctypes.CDLL(None)
    for capability in range(64):
        system.prctl(DROP_CAPABILITY, capability, 0, 0, 0)


@pytest.fixture
def container(tmp_path):
    """Return a read-only package with compiled loops, as in the image, and a data folder."""
    caches = shutil.ignore_patterns("__pycache__")
    package = Path(taxonomist.__file__).parent
    shutil.copytree(package, tmp_path / "site" / "taxonomist", ignore=caches)
    (tmp_path / "data").mkdir()
    variables = dict(re.findall(r"(NUMBA_CPU_NAME)=(\w+)", DOCKERFILE))
    variables |= {
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "PYTHONPATH": str(tmp_path / "site"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/nonexistent",
    }
    environment = os.environ | variables
    command = [sys.executable, "-m", "taxonomist"]
    for line in re.findall(r"^RUN (taxonomist warm|python -m taxonomist\S+)", DOCKERFILE, re.M):
        step = [*command, "warm"]
        if line.startswith("python"):
            step = [sys.executable, *line.split()[1:], str(tmp_path / "demo")]
        subprocess.run(step, env=environment, check=True, capture_output=True)
    fixed = [path for name in ("site", "numba") for path in (tmp_path / name).rglob("*")]
    for path in [*fixed, tmp_path / "site", tmp_path / "numba"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield tmp_path, environment, command
    for path in (tmp_path, *tmp_path.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_steps_of_the_image(container):
    folder, environment, command = container
    common = {"env": environment, "cwd": folder / "data", "preexec_fn": drop_capabilities}
    state = ("--folder", str(folder / "data"))
    token = subprocess.run(
        [*command, "token", "add", "me", *state],
        check=True,
        capture_output=True,
        text=True,
        **common,
    ).stdout.strip()
    port = free_port()
    log = folder / "data" / "log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [*command, "serve", "--host", "0.0.0.0", "--port", str(port), *state],
            stderr=stream,
            **common,
        )
    try:
        check = re.search(r'\["python", "-c", "(.*?)"\]', DOCKERFILE)[1].replace("8000", str(port))
        for _ in range(1200):
            healthy = subprocess.run(
                [sys.executable, "-c", check], check=False, capture_output=True
            )
            if not healthy.returncode or server.poll() is not None:
                break
            time.sleep(0.2)
        assert not healthy.returncode, log.read_text()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/projects/arxiv/suggest",
            urlencode({"text": "galaxies"}).encode(),
            {"Authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["results"]
    finally:
        server.terminate()
        server.wait()
    assert "Compiling" not in log.read_text()
