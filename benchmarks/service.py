"""The service under load: requests a second, times, errors, memory.

Command: python -m benchmarks service (on Linux)
Clients and server share this machine. The model ``default`` is what ``TextClassifier`` makes of the
bundled corpus by default: words and character n-grams, 151 categories. ``words`` is the demo of the
service, which learns from words alone so that it starts in seconds. Every text has 200 words.
``scoring`` is what one core does without HTTP, in batches of 64 and one by one. Then the server is
asked ``suggest``: as fast as it answers on 64 connections, at half the bar's load on 64
connections, and, with the default model, for a minute on 1,000 connections, while its memory is
watched.
Seconds of CPU per request do not depend on who else uses the machine; requests per second do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from benchmarks.record import save

if TYPE_CHECKING:
    from collections.abc import Sequence

N_WORDS = 200
N_TEXTS = 500
BAR_REQUESTS = 1_000
"""Requests per second that the service must reach."""
BAR_P99_MS = 100.0
MANY = 1_000
MINUTE = 60.0
SERVERS = (("default", 1), ("default", 2), ("words", 1))
"""The model and the number of processes of each server that is measured."""


def texts() -> list[str]:
    """Return texts of exactly 200 words."""
    from taxonomist import datasets

    words = " ".join(datasets.load("arxiv-sample", labels="primary").test().texts).split()
    return [" ".join(words[i * N_WORDS : (i + 1) * N_WORDS]) for i in range(N_TEXTS)]


def request_of(text: str) -> str:
    """Return the bytes of a request to suggest."""
    body = urlencode({"text": text, "limit": 10})
    return (
        "POST /v1/projects/arxiv/suggest HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        f"{body}"
    )


def scoring(model: Path, given: Sequence[str]) -> dict[str, float]:
    """Return texts per second of CPU without HTTP."""
    from taxonomist.server.live_model import LiveModel

    live = LiveModel(model)
    items = [live.item(text) for text in given]
    found = {}
    for size in (1, 64):
        blocks = [items[i : i + size] for i in range(0, 256, size)]
        live.suggest(blocks[0], 10)
        best = 0.0
        for _ in range(3):
            start = time.process_time()
            for block in blocks:
                live.suggest(block, 10)
            best = max(best, len(blocks) * size / (time.process_time() - start))
        found[f"texts_per_cpu_second_in_batches_of_{size}"] = round(best)
    return found


class Server:
    """A server in a process of its own, whose memory and CPU can be seen."""

    def __init__(self, model: Path, folder: Path, processes: int) -> None:
        folder.mkdir()
        self.port = 8600 + processes
        self.log = (folder / "log").open("wb")
        command = [sys.executable, "-m", "taxonomist", "serve", f"arxiv={model}"]
        options = ["--port", self.port, "--folder", folder / "state", "--processes", processes]
        options += ["--rate", 0]
        self.process = subprocess.Popen([*command, *map(str, options)], stderr=self.log)
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ready") as answer:
                    answer.read()
                    break
            except OSError:
                time.sleep(0.1)

    def _processes(self) -> list[int]:
        """Return the process and its children."""
        place = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = place.read_text(encoding="ascii")
        return [self.process.pid, *map(int, children.split())]

    def cpu(self) -> float:
        """Return the seconds of CPU so far."""
        ticks = 0
        for number in self._processes():
            line = Path(f"/proc/{number}/stat").read_text(encoding="ascii")
            fields = line.rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        """Return the memory that the processes do not share with files, in MiB."""
        pages = 0
        for number in self._processes():
            fields = Path(f"/proc/{number}/statm").read_text(encoding="ascii").split()
            pages += int(fields[1]) - int(fields[2])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.close()


def ask(server: Server, requests: Path, connections: int, seconds: float, rate: float = 0.0):
    """Run the load client beside the server."""
    task = {
        "port": server.port,
        "requests": str(requests),
        "connections": connections,
        "seconds": seconds,
        "rate": rate,
    }
    before = server.cpu()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load_client"],
        input=json.dumps(task),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found = json.loads(done.stdout)
    found["server_cpu_ms_per_request"] = round(
        1000 * (server.cpu() - before) / max(1, found["requests"]), 3
    )
    return found


def measure(server: Server, requests: Path, *, has_many: bool) -> dict[str, object]:
    """Measure a running server, with many connections if wanted."""
    ask(server, requests, 16, 3.0)
    found: dict[str, object] = {"fastest": ask(server, requests, 64, 15.0)}
    found["half_load"] = ask(server, requests, 64, 15.0, BAR_REQUESTS / 2)
    if not has_many:
        return found
    # Buffers and pools of so many connections are filled before memory is compared.
    ask(server, requests, MANY, 10.0)
    before = server.memory_mib()
    found["many_connections"] = ask(server, requests, MANY, MINUTE)
    found["memory_mib"] = [round(before, 1), round(server.memory_mib(), 1)]
    return found


def models(folder: Path) -> dict[str, Path]:
    """Train the models and return their folders."""
    from taxonomist.server import demo_model
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.labelled import read_labelled
    from taxonomist.workflow.training import train

    table = demo_model.demo_table()
    taxonomy = Taxonomy.read(table.with_name("taxonomy.csv"))
    columns = demo_model.COLUMNS
    labelled = read_labelled(demo_model.TableSource(str(table)), columns, taxonomy)
    place = folder / "default"
    train(TextClassifier(taxonomy), labelled, columns).classifier.save(place)
    return {"default": place, "words": demo_model.make_demo(folder)}


def run() -> None:
    """Measure all servers, and record the figures."""
    if sys.platform != "linux":
        sys.exit("The CPU and the memory of a server are read from /proc, which only Linux has.")
    given = texts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = models(folder)
        figures: dict[str, dict[str, object]] = {
            kind: {"scoring": scoring(place, given)} for kind, place in found.items()
        }
        print(json.dumps(figures))
        requests = folder / "requests.json"
        requests.write_text(json.dumps([request_of(text) for text in given]), encoding="utf-8")
        for kind, processes in SERVERS:
            server = Server(found[kind], folder / f"{kind}-{processes}", processes)
            try:
                measured = measure(server, requests, has_many=kind == "default")
            finally:
                server.stop()
            figures[kind][f"processes_{processes}"] = measured
            print(kind, processes, json.dumps(measured, indent=1))
    bars = {"requests_per_second": BAR_REQUESTS, "p99_ms_at_half_load": BAR_P99_MS, "errors": 0}
    save("service", "python -m benchmarks service", {"bars": bars, **figures})
