"""What guards all routes: limits, access, headers, request ids, logs and measures."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from taxonomist.server.problems import ProblemError, as_problem, problem
from taxonomist.server.rates import RateLimit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from taxonomist.server.access import Gate
    from taxonomist.server.monitoring import Monitor
    from taxonomist.server.settings import ServiceSettings

__all__ = ["CALLER", "Guard"]

CALLER = "taxonomist.caller"
"""Where the scope of a request holds its ``Caller``."""
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
FORM_ROUTE = "/suggest"
"""How the paths of routes end that take a form, as in Annif; all others take JSON."""
OPEN_ROUTES = ("/health", "/ready")
"""Routes that need no token and have no limit of rate."""
SCREEN_FILES = "/static/"
"""Path of the screen's files. A browser fetches dozens at once, so the rate limit ignores them."""
SAFETY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers of all answers that do not have their own."""
GONE = 499
"""Status in the log of a request whose client went away."""
MOST_LOGGED = 2_000
"""Bytes of a body in the log, if texts are logged at all."""

logger = logging.getLogger(__name__)


class Guard:
    """Middleware around all routes.

    Parameters
    ----------
    app
        The app.
    settings, gate, monitor
        Settings, access and measures of the service.
    """

    def __init__(
        self, app: ASGIApp, settings: ServiceSettings, gate: Gate, monitor: Monitor
    ) -> None:
        self._app = app
        self._settings = settings
        self._gate = gate
        self._monitor = monitor
        limits = settings.limits
        self._rates = RateLimit(limits.rate / max(1, settings.processes), limits.burst)
        self._n_running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Request(scope, receive, send, self._settings)
        start = perf_counter()
        self._monitor.begin()
        self._n_running += 1
        try:
            await self._answer_in_time(request)
        except ClientDisconnect:
            request.status = GONE
        except Exception as error:
            found = as_problem(error)
            if found is None:
                logger.exception("error", extra={"request": request.id})
                found = ProblemError(
                    500, f"An internal error occurred. The log has it as request {request.id}."
                )
            await request.refuse(found)
        finally:
            self._n_running -= 1
            seconds = perf_counter() - start
            self._monitor.end(request.method, request.route, request.status, seconds)
            request.log(seconds)

    async def _answer_in_time(self, request: _Request) -> None:
        """Answer a request; give up if no answer has begun in time, also if a thread works on."""
        answer = asyncio.get_running_loop().create_task(self._answer(request))
        try:
            await asyncio.wait((answer,), timeout=self._settings.limits.seconds)
            if answer.done() or request.status:
                await answer
                return
        except asyncio.CancelledError:
            answer.cancel()
            raise
        request.is_open = False
        answer.add_done_callback(_note_end)
        answer.cancel()
        raise problem(503, "The request took too long.")

    async def _answer(self, request: _Request) -> None:
        request.check()
        if request.path not in OPEN_ROUTES:
            if self._n_running > self._settings.limits.waiting:
                raise problem(503, "Too many requests are waiting. Try again later.")
            caller = await self._gate.caller(request.headers, request.address, request.method)
            request.scope[CALLER] = caller
            request.user = caller.name
            key = f"{caller.name}" if caller.role is not None else f"@{request.address}"
            wait = 0 if request.path.startswith(SCREEN_FILES) else self._rates.take(key)
            if wait:
                raise ProblemError(
                    429, "Too many requests. Slow down.", headers={"Retry-After": str(wait)}
                )
        await self._app(request.scope, request.receive, request.send)


class _Request:
    """A request with its id, its limits and the status of its answer."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, settings: ServiceSettings
    ) -> None:
        self.method: str = scope["method"]
        # Monitors ask with HEAD. The server leaves out the body, by its own copy of the scope.
        self.scope = {**scope, "method": "GET"} if self.method == "HEAD" else scope
        self.headers = Headers(scope=scope)
        self.path: str = scope["path"]
        self.address: str = scope["client"][0] if scope.get("client") else ""
        self.user = ""
        self.status = 0
        self.is_open = True
        given = self.headers.get("x-request-id", "")
        self.id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        self._receive = receive
        self._send = send
        self._settings = settings
        self._n_bytes = 0
        self._logged = b""

    @property
    def route(self) -> str:
        """The pattern of the route, which has no ids in it."""
        found = self.scope.get("route")
        return str(getattr(found, "path", "unknown"))

    def check(self) -> None:
        """Raise if the host, the length or the type of the body is not allowed."""
        hosts = self._settings.hosts
        if hosts and _host(self.headers.get("host", "")) not in hosts:
            raise ProblemError(421, "This server does not answer to this host name.")
        length = self.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._settings.limits.body_bytes:
            raise self._too_large()
        if self.method in ("POST", "PUT", "PATCH"):
            kind, _, rest = self.headers.get("content-type", "").partition(";")
            is_form = self.path.endswith(FORM_ROUTE)
            wanted = "application/x-www-form-urlencoded" if is_form else "application/json"
            charset = rest.strip().lower().removeprefix("charset=").strip('"')
            if kind.strip().lower() != wanted or (rest and charset not in ("utf-8", "utf8")):
                raise ProblemError(415, f"The Content-Type must be {wanted}, in UTF-8.")
            if self.headers.get("content-encoding", "identity").lower() != "identity":
                raise ProblemError(415, "The body is compressed. Send it as it is.")

    def _too_large(self) -> ProblemError:
        most = self._settings.limits.body_bytes
        return ProblemError(413, f"The body must have at most {most:,} bytes.")

    async def receive(self) -> Message:
        """Return the next part of the body, and count its bytes."""
        message = await self._receive()
        body = message.get("body", b"")
        self._n_bytes += len(body)
        if self._n_bytes > self._settings.limits.body_bytes:
            raise self._too_large()
        if self._settings.log_texts:
            self._logged = (self._logged + body)[:MOST_LOGGED]
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that all answers have."""
        if not self.is_open:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = message["headers"]
            names = {name for name, _ in given}
            safe = (pair for pair in SAFETY if pair[0] not in names)
            message["headers"] = [*given, (b"x-request-id", self.id.encode("ascii")), *safe]
        await self._send(message)

    async def refuse(self, error: ProblemError) -> None:
        """Answer with an error, unless the answer has begun."""
        self.is_open = True
        if not self.status:
            await error.response()(self.scope, self._receive, self.send)
        self.is_open = False

    def log(self, seconds: float) -> None:
        """Log the request, without its texts unless they are asked for."""
        facts: dict[str, object] = {
            "request": self.id,
            "method": self.method,
            "path": self.path[:200],
            "route": self.route,
            "status": self.status,
            "ms": round(1000 * seconds, 1),
            "user": self.user,
            "address": self.address,
            "bytes": self._n_bytes,
        }
        if self._logged:
            facts["body"] = self._logged.decode(errors="replace")
        logger.info("request", extra=facts)


def _note_end(answer: asyncio.Task[None]) -> None:
    """Record how an answer ended that no client waits for any more."""
    if not answer.cancelled() and answer.exception() is not None:
        logger.info("request ended after it was given up")


def _host(given: str) -> str:
    """Return the name in a Host header, without the port."""
    if given.startswith("["):
        return given[1:].partition("]")[0].lower()
    return given.partition(":")[0].lower()
