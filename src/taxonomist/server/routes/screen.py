"""The screen: one page for people, and its scripts and styles.

The page holds no data, so it needs no token: its scripts ask the other routes, which do.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import Response

from taxonomist.server.problems import problem

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

router = APIRouter(include_in_schema=False)

# Trusted types turn every attempt to make HTML from a text into an error.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PAGE = "index.html"
ASKED = "no-cache"
"""Browsers ask each time whether the page has changed; the page names the files of its release."""
FOREVER = "public, max-age=31536000, immutable"
TOKENS = "tokens.css"
"""The colours and sizes, which the screen shares with the HTML report."""


class StaticFile(NamedTuple):
    """A file of the screen."""

    body: bytes
    kind: str
    tag: str


@cache
def release() -> str:
    """Return a hash of all files of the screen, which their addresses have in the page."""
    return _tag("".join(each.tag for each in _read_files().values()).encode()).strip('"')


@cache
def static_files() -> dict[str, StaticFile]:
    """Return all files of the screen by their paths below ``/static``."""
    found = dict(_read_files())
    page = found[PAGE].body.replace(b'="static/', f'="static/{release()}/'.encode())
    found[PAGE] = found[PAGE]._replace(body=page, tag=_tag(page))
    return found


@cache
def _read_files() -> dict[str, StaticFile]:
    found: dict[str, StaticFile] = {}
    for path, place in [
        *_walk("", files("taxonomist.server") / "static"),
        (TOKENS, files("taxonomist.report") / TOKENS),
    ]:
        kind = KINDS.get(PurePosixPath(path).suffix)
        if kind is not None:
            body = place.read_bytes()
            found[path] = StaticFile(body, kind, _tag(body))
    return found


def _tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'


def _walk(path: str, folder: Traversable) -> list[tuple[str, Traversable]]:
    found = []
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        place = f"{path}{each.name}"
        found += _walk(f"{place}/", each) if each.is_dir() else [(place, each)]
    return found


@router.get("/")
async def home(request: Request) -> Response:
    """Show the screen."""
    return _respond(request, static_files()[PAGE])


@router.get("/static/{path:path}")
async def static(request: Request, path: str) -> Response:
    """Return a script or a style of the screen; one whose address has a release never changes."""
    rest = path.removeprefix(f"{release()}/")
    found = static_files().get(rest)
    if found is None:
        raise problem(404, "There is no such file.")
    return _respond(request, found, cached=ASKED if rest == path else FOREVER)


def _respond(request: Request, found: StaticFile, cached: str = ASKED) -> Response:
    headers = {
        "ETag": found.tag,
        "Cache-Control": cached,
        "Content-Security-Policy": POLICY,
    }
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.kind, headers=headers)
