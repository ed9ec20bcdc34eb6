"""Who is calling, and what they may do."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.problems import ProblemError
from taxonomist.server.store.schema import KEY_LENGTH
from taxonomist.server.store.tokens import Role, any_tokens, find_token

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from taxonomist.server.settings import ServiceSettings
    from taxonomist.server.store import EventStore

__all__ = ["COOKIE", "SCREEN_HEADER", "Caller", "Gate", "denied"]

REMEMBER_SECONDS = 5.0
"""How long a token is believed before the store is asked again: revoking takes effect then."""
MOST_REMEMBERED = 10_000
LOCAL_USER = "local"
"""Name of users of a server without tokens."""
ANYBODY = "anonymous"
COOKIE = "taxonomist_session"
"""Cookie with the token of somebody who signed in on the screen."""
SCREEN_HEADER = "x-taxonomist-screen"
"""Header that a request with the cookie needs to change anything. Pages of other sites cannot send
it: browsers first ask this service for permission, which it does not give."""
READING_METHODS = ("GET", "HEAD", "OPTIONS")
OWN_SITE = ("same-origin", "none")
"""What browsers say in ``Sec-Fetch-Site`` about requests of our own page and of the user."""


class Caller(NamedTuple):
    """Who is calling; ``role`` is None without a token where tokens are needed."""

    name: str
    role: Role | None


def denied(caller: Caller, role: Role) -> ProblemError | None:
    """Return an error if a caller may not do what needs a role."""
    if caller.role is None:
        return ProblemError(
            401,
            "Pass a token: Authorization: Bearer <token>.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if caller.role < role:
        return ProblemError(
            403, f"This needs a token with the role '{role.name}'; yours has '{caller.role.name}'."
        )
    return None


class Gate:
    """Finds out who is calling, by tokens in the store.

    Parameters
    ----------
    settings
        Settings of the service.
    store
        The store.
    """

    def __init__(self, settings: ServiceSettings, store: EventStore) -> None:
        self._settings = settings
        self._store = store
        self._known: dict[str, tuple[float, Caller]] = {}
        self._is_known_open = False
        self._known_until = 0.0

    async def caller(self, headers: Headers, address: str, method: str = "GET") -> Caller:
        """Return who is calling.

        Raises
        ------
        ProblemError
            If a token is not valid, or if another site may have sent the request.
        """
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        if scheme and (scheme.lower() != "bearer" or not secret.strip()):
            raise ProblemError(
                401,
                "The Authorization header must be 'Bearer <token>'.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if secret:
            return self._named(await self.owner(secret.strip()), headers, address)
        cookie = _cookie(headers)
        if cookie:
            _check_own_site(headers, method)
            owner = await self._known_owner(cookie)
            if owner is not None:
                return self._named(owner, headers, address)
        if await self._is_open():
            return self._named(Caller(LOCAL_USER, Role.admin), headers, address)
        return Caller(ANYBODY, Role.read if self._settings.is_public else None)

    async def owner(self, secret: str) -> Caller:
        """Return the owner of a token.

        Raises
        ------
        ProblemError
            If the token is not valid.
        """
        found = await self._known_owner(secret)
        if found is None:
            raise ProblemError(
                401,
                "The token is not valid, or was revoked.",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        return found

    async def _known_owner(self, secret: str) -> Caller | None:
        """Return the owner of a token; None if it is not valid."""
        until, caller = self._known.get(secret, (0.0, None))
        if caller is not None and until >= monotonic():
            return caller
        caller = await asyncio.to_thread(self._look_up, secret)
        if caller is None:
            self._known.pop(secret, None)
            return None
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[secret] = (monotonic() + REMEMBER_SECONDS, caller)
        return caller

    def _look_up(self, secret: str) -> Caller | None:
        with self._store.reading() as connection:
            found = find_token(connection, secret)
        return None if found is None else Caller(found.name, found.role)

    async def _is_open(self) -> bool:
        """Return whether no token is needed: there is none, and only this machine can call."""
        if self._settings.needs_token:
            return False
        if self._known_until < monotonic():
            self._is_known_open = not await asyncio.to_thread(self._any_tokens)
            self._known_until = monotonic() + REMEMBER_SECONDS
        return self._is_known_open

    def _any_tokens(self) -> bool:
        with self._store.reading() as connection:
            return any_tokens(connection)

    def _named(self, caller: Caller, headers: Headers, address: str) -> Caller:
        """Return the caller by the name that a trusted proxy gives."""
        header = self._settings.user_header
        if not header or address not in self._settings.proxies:
            return caller
        name = headers.get(header, "").strip()
        if not name:
            return caller
        if len(name) > KEY_LENGTH or not name.isprintable():
            raise ProblemError(400, f"The header {header} has no valid user name.")
        return caller._replace(name=name)


def _cookie(headers: Headers) -> str:
    """Return the token in the cookie; empty if there is none."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _check_own_site(headers: Headers, method: str) -> None:
    """Raise if a change with the cookie may come from a page of another site."""
    if method in READING_METHODS:
        return
    site = headers.get("sec-fetch-site", OWN_SITE[0])
    if SCREEN_HEADER not in headers or site not in OWN_SITE:
        raise ProblemError(
            403,
            f"With the cookie, a change needs the header {SCREEN_HEADER}, which pages of other "
            "sites cannot send. Programs pass a token: Authorization: Bearer <token>.",
        )
