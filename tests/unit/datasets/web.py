"""A small web server for tests of downloads: it knows ranges, and misbehaves on demand."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Site:
    """What the server has, how it answers next, and what it was asked.

    A fault is a status to answer with; ``("drop", n)`` to close the connection after n bytes;
    ``("hang", n)`` to send n bytes and wait; ``"no range"``, ``"no length"``; ``"later"`` or
    ``"earlier"``, a range that does not start at the wanted place.
    """

    files: dict[str, bytes]
    faults: list[Any] = field(default_factory=list)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)
    hanging: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    site: Site

    def log_message(self, *_: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        site, wanted = self.site, self.headers.get("Range")
        site.asked.append((self.path, wanted))
        site.agents.append(self.headers.get("User-Agent", ""))
        fault = site.faults.pop(0) if site.faults else None
        if isinstance(fault, int):
            self.send_error(fault)
        elif self.path not in site.files:
            self.send_error(404)
        else:
            self.send_file(site.files[self.path], wanted, fault)

    def send_file(self, data: bytes, wanted: str | None, fault: Any) -> None:
        start = int(wanted[len("bytes=") : -1]) if wanted and fault != "no range" else 0
        start += {"later": 1, "earlier": -5}.get(fault, 0)
        if wanted and start >= len(data):
            body = b"<html>nothing is left of this file</html>"
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(data)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if fault != "no length":
            self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        kind, length = fault if isinstance(fault, tuple) else (None, None)
        self.wfile.write(data[start:][:length])
        self.wfile.flush()
        if kind == "hang":
            self.site.hanging.set()
            self.site.closing.wait(60)


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Site]:
    """Serve files, by path, at the address that the site has."""
    site = Site({f"/{path}": data for path, data in files.items()})
    handler = type("SiteHandler", (Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
