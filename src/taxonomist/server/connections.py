"""Connections of clients: bounds on how slowly and how much they send.

The limits of the service hold for requests that have begun. These hold before: a client that sends
a request byte by byte, or headers without end, would keep a connection, or fill the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:
    from asyncio import BaseTransport, TimerHandle

__all__ = ["BoundedConnection", "allow_many_connections"]

REQUEST_SECONDS = 30.0
"""How long a client may take to send a request."""
MOST_HEAD = 2**16
"""Bytes of a request before its body."""
MOST_UNREAD = 2**24
"""Bytes of a body that come after the answer. Clients that are refused first send all of it."""
MOST_FILES = 2**16
"""Open files and connections that are enough."""
HEAD_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"connection: close\r\ncontent-length: 0\r\n\r\n"
)


class BoundedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that ends if a request does not come in time, or if its head is too long."""

    _timer: TimerHandle | None = None
    _n_bytes = 0

    def connection_made(self, transport: BaseTransport) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        before = self.cycle
        has_body = before is not None and not before.more_body
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self.cycle is not before:
            self._n_bytes = 0
        elif before is None or has_body:
            self._count(len(data), MOST_HEAD)
        elif before.response_complete:
            self._count(len(data), MOST_UNREAD)
        if self.cycle is None or self.cycle.more_body or self.cycle.response_complete:
            self._wait()
        else:
            self._stop_waiting()

    def _count(self, n_bytes: int, most: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > most:
            self.transport.write(HEAD_TOO_LONG)
            self.transport.close()

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()


def allow_many_connections() -> None:
    """Let this process open as many files as the system allows; shells often allow 1,024."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
