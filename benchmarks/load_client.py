"""A load client: many connections, one request at a time on each, in one process.

``python -m benchmarks.load_client`` reads its task as JSON from standard input and prints what it
measured as JSON. It writes ready-made bytes and looks only at the status line and the length of
answers, so that it takes as little as possible from the machine that it shares with the server.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np


class LoadTask(NamedTuple):
    """What to do.

    Attributes
    ----------
    port
        Port of the server.
    requests
        File with the requests, as a JSON list of strings in Latin-1.
    connections
        Number of connections.
    seconds
        How long to ask.
    rate
        Requests per second, evenly spaced; 0 to ask again as soon as an answer came.
    """

    port: int
    requests: str
    connections: int
    seconds: float
    rate: float = 0.0


class Connection(asyncio.Protocol):
    """A connection that asks, and hands itself back when the answer is there."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.buffer = b""
        self.start = 0.0
        self.is_busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def ask(self, request: bytes, start: float) -> None:
        self.start = start
        self.is_busy = True
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        place = head.lower().find(b"content-length: ")
        length = int(head[place + 16 :].split(b"\r", 1)[0])
        if len(body) >= length:
            self.buffer = b""
            self.is_busy = False
            self.load.answered(self, head[9:12] == b"200")

    def connection_lost(self, _: Exception | None) -> None:
        if self.is_busy:
            self.is_busy = False
            self.load.n_lost += 1


class Load:
    """Asks on all connections until the time is over."""

    def __init__(self, task: LoadTask) -> None:
        self.task = task
        texts = json.loads(Path(task.requests).read_text(encoding="utf-8"))
        self.requests = [text.encode("latin-1") for text in texts]
        self.times: list[float] = []
        self.n_errors = self.n_lost = self.n_asked = self.n_late = 0
        self.free: list[Connection] = []
        self.end = 0.0

    def answered(self, connection: Connection, is_good: bool) -> None:
        now = time.perf_counter()
        self.times.append(now - connection.start)
        self.n_errors += not is_good
        if self.task.rate:
            self.free.append(connection)
        elif now < self.end:
            self.ask(connection, now)

    def ask(self, connection: Connection, start: float) -> None:
        connection.ask(self.requests[self.n_asked % len(self.requests)], start)
        self.n_asked += 1

    async def run(self) -> dict[str, object]:
        loop = asyncio.get_running_loop()
        for start in range(0, self.task.connections, 100):
            n_new = min(100, self.task.connections - start)
            made = await asyncio.gather(
                *(
                    loop.create_connection(lambda: Connection(self), "127.0.0.1", self.task.port)
                    for _ in range(n_new)
                )
            )
            self.free += [protocol for _, protocol in made]
        begin, cpu = time.perf_counter(), time.process_time()
        self.end = begin + self.task.seconds
        if self.task.rate:
            await self._paced(begin)
        else:
            everyone, self.free = self.free, []
            for connection in everyone:
                self.ask(connection, time.perf_counter())
            await asyncio.sleep(self.task.seconds)
        while len(self.times) + self.n_lost < self.n_asked and time.perf_counter() < self.end + 30:
            await asyncio.sleep(0.01)
        return self.figures(time.perf_counter() - begin, time.process_time() - cpu)

    async def _paced(self, begin: float) -> None:
        """Ask at a constant rate; the time of an answer counts from when it was due."""
        n_due = int(self.task.rate * self.task.seconds)
        for i in range(n_due):
            due = begin + i / self.task.rate
            wait = due - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            while not self.free:
                self.n_late += 1
                await asyncio.sleep(0.001)
            self.ask(self.free.pop(), due)

    def figures(self, seconds: float, cpu: float) -> dict[str, object]:
        found = np.array(self.times) * 1000
        shares = {"p50_ms": 50, "p90_ms": 90, "p99_ms": 99, "p99.9_ms": 99.9, "max_ms": 100}
        return {
            "connections": self.task.connections,
            "seconds": round(seconds, 2),
            "requests": len(self.times),
            "requests_per_second": round(len(self.times) / seconds, 1),
            "errors": self.n_errors,
            "lost": self.n_lost + self.n_asked - len(self.times) - self.n_lost,
            **{name: round(float(np.percentile(found, q)), 2) for name, q in shares.items()},
            "client_cpu_ms_per_request": round(1000 * cpu / max(1, len(self.times)), 3),
        }


def main() -> None:
    """Run the task on standard input."""
    load = Load(LoadTask(**json.load(sys.stdin)))
    try:
        import uvloop

        found = uvloop.run(load.run())
    except ImportError:
        found = asyncio.run(load.run())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
