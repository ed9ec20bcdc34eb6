"""Download a file over HTTP: resume where it broke off, verify it, and write it atomically."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from taxonomist._files import move_into_place
from taxonomist.errors import DownloadError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Remote", "Report", "download"]

Report: TypeAlias = Callable[[str, int, int | None], None]
"""Progress callback: the step, the amount done, and the total amount if known."""

CHUNK_BYTES = 1 << 16
MAX_ATTEMPTS = 3
"""Consecutive failed attempts without new bytes before giving up on an address."""
TIMEOUT_S = 30.0
RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP status codes after which the same request may succeed."""
CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
USER_AGENT = "taxonomist (https://pypi.org/project/taxonomist)"
# Some archives reject the default user agent of Python's library.


@dataclass(frozen=True)
class Remote:
    """A file on the web.

    Parameters
    ----------
    file
        Name of the file.
    urls
        Addresses of the same file; each is tried if the previous ones fail.
    sha256
        SHA-256 of the file, or None if none is published.
    """

    file: str
    urls: tuple[str, ...]
    sha256: str | None


class _BrokenOffError(Exception):
    """The connection failed or ended early; another attempt may succeed."""


def download(
    remote: Remote, folder: Path, report: Report | None = None, pause_s: float = 1.0
) -> Path:
    """Return the path of the file in a folder, downloading it if necessary.

    Received bytes are kept in ``<file>.part`` until the file is complete and verified, so a later
    call resumes from there.

    Parameters
    ----------
    remote
        The file.
    folder
        Target folder, which must exist.
    report
        Called with the file's name, the bytes received and the total bytes.
    pause_s
        Seconds before the second attempt; doubled before each further one.

    Raises
    ------
    DownloadError
        If no address provides the file, or its checksum is wrong.
    """
    path, part = folder / remote.file, folder / f"{remote.file}.part"
    if path.exists() and _is_right(path, remote.sha256):
        return path
    errors = []
    for url in remote.urls:
        try:
            _complete(url, part, report, pause_s)
            _check(url, part, remote.sha256)
        except DownloadError as error:
            errors.append(str(error))
        else:
            move_into_place(part, path)
            return path
    raise DownloadError(" ".join(errors))


def _complete(url: str, part: Path, report: Report | None, pause_s: float) -> None:
    """Receive until the file is complete, resuming after broken connections."""
    failures = 0
    while True:
        before = _size(part)
        try:
            _receive(url, part, report)
            return
        except _BrokenOffError as error:
            failures = 1 if _size(part) > before else failures + 1
            if failures == MAX_ATTEMPTS:
                kept = f" The {_size(part):,} bytes received so far are kept; try again later."
                raise DownloadError(f"{url}: {error}.{kept if _size(part) else ''}") from error
        time.sleep(pause_s * 2 ** (failures - 1))


def _receive(url: str, part: Path, report: Report | None) -> None:
    """Request the missing bytes once, and append them."""
    have = _size(part)
    request = Request(url, headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    with _answer(request) as response:
        start, total = _extent(url, response, have)
        if response.status == 416:
            if total == have:
                return
            part.unlink()
            raise _BrokenOffError("the server now has a different file than before")
        with part.open("r+b" if start else "wb") as stream:
            done = stream.seek(start)
            stream.truncate()
            while chunk := _read(response):
                stream.write(chunk)
                done += len(chunk)
                if report:
                    report(part.name.removesuffix(".part"), done, total)
    if total is not None and done != total:
        raise _BrokenOffError(f"the connection ended after {done:,} of {total:,} bytes")


def _answer(request: Request) -> Any:
    """Open the request; permanent failures raise ``DownloadError``."""
    try:
        return urlopen(request, timeout=TIMEOUT_S)
    except HTTPError as error:
        if error.code == 416:
            # Nothing is left to send, or the partial file is longer than the remote one.
            return error
        message = f"the server answered {error.code} {error.reason}"
        if error.code in RETRYABLE:
            raise _BrokenOffError(message) from error
        raise DownloadError(f"{request.full_url}: {message}.") from error
    except (OSError, HTTPException) as error:
        raise _BrokenOffError(str(getattr(error, "reason", error)) or "no answer") from error


def _read(response: Any) -> bytes:
    try:
        chunk: bytes = response.read(CHUNK_BYTES)
    except (OSError, HTTPException) as error:
        raise _BrokenOffError(f"the connection broke off ({error})") from error
    return chunk


def _extent(url: str, response: Any, have: int) -> tuple[int, int | None]:
    """Return where in the file a response starts, and the length of the file if known."""
    # Local files, which urllib also opens, have no status.
    status = response.status or 200
    if status == 200:
        length = response.headers.get("Content-Length")
        return 0, int(length) if length else None
    extent = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
    total = int(extent[2]) if extent and extent[2] != "*" else None
    if status == 416:
        return have, total
    if status == 206 and extent and extent[1] and int(extent[1]) <= have:
        return int(extent[1]), total
    raise DownloadError(f"{url}: the server did not return the file (status {status}).")


def _size(path: Path) -> int:
    """Return the size of a file in bytes, or 0 if it does not exist."""
    return path.stat().st_size if path.exists() else 0


def _is_right(path: Path, sha256: str | None) -> bool:
    """Return whether a file has the expected checksum, if one is known."""
    return sha256 is None or _sha256(path) == sha256.lower()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check(url: str, part: Path, sha256: str | None) -> None:
    """Remove a file with the wrong checksum, and raise."""
    if not _is_right(part, sha256):
        found = _sha256(part)
        part.unlink()
        raise DownloadError(
            f"{url}: the file has the SHA-256 {found}, but {sha256} was expected; "
            "it was removed. The address may hold a different edition or a web page."
        )
