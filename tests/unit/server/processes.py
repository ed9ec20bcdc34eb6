"""A server in a process of its own, started by the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from tests.unit.server.postgres import free_port

WAIT_SECONDS = 120


class RunningServer:
    """A server, its address and its log."""

    def __init__(self, arguments, log, environment=None, port=None):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.headers = {}
        self.log_file = log
        self._stream = log.open("ab")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "taxonomist",
                "serve",
                *map(str, arguments),
                "--port",
                str(self.port),
            ],
            stderr=self._stream,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )

    def wait(self):
        for _ in range(10 * WAIT_SECONDS):
            if self.process.poll() is not None:
                raise RuntimeError(self.log_file.read_text())
            try:
                if self.get("/health")["status"] == "UP":
                    return self
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise TimeoutError(self.log_file.read_text())

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers=self.headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def post(self, path, body):
        headers = {"Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def stop(self, number=signal.SIGTERM):
        """Stop the server, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(60)
        finally:
            self._stream.close()

    @property
    def lines(self):
        """The lines of the log that are JSON."""
        lines = self.log_file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def running(arguments, folder, **options):
    """Yield a server that answers."""
    server = RunningServer([*arguments, "--folder", folder / "state"], folder / "log", **options)
    try:
        yield server.wait()
    finally:
        if server.process.poll() is None:
            server.stop()  # a server that is killed leaves its processes behind
