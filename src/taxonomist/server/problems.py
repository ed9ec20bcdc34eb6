"""Errors as ``application/problem+json``, as in RFC 9457 and in Annif."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.exceptions import HTTPException

from taxonomist.errors import TaxonomistError, UnknownNodeError
from taxonomist.server.batching import OverloadedError
from taxonomist.server.store.decisions import ConflictError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.requests import Request

__all__ = ["MEDIA_TYPE", "Problem", "ProblemError", "add_handlers", "problem", "responses"]

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "1"
"""When to try again if the server is overloaded."""
MOST_SHOWN = 3
"""How many mistakes of a request to list."""


class Problem(BaseModel):
    """An error."""

    type: str = Field(default="about:blank", description="Kind of the problem.")
    title: str = Field(description="Name of the problem.")
    status: int = Field(description="HTTP status.")
    detail: str = Field(description="What is wrong, and what to do.")


class ProblemError(Exception):
    """An error with a status, a title and a sentence for the client."""

    def __init__(
        self, status: int, detail: str, title: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.title = title or HTTPStatus(status).phrase
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the response to send."""
        body = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        return Response(json.dumps(body), self.status, self.headers, MEDIA_TYPE)


def problem(status: int, detail: str, title: str = "") -> ProblemError:
    """Return an error to raise."""
    headers = {"Retry-After": RETRY_SECONDS} if status in (429, 503) else None
    return ProblemError(status, detail, title, headers)


def responses(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Return what OpenAPI says about the errors of a route."""
    common = (400, 401, 403, 404, 413, 415, 429, 503)
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in sorted({*common, *statuses})
    }


def as_problem(error: Exception) -> ProblemError | None:
    """Return what to tell the client about an error; None for bugs."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, RequestValidationError):
        return problem(400, _mistakes(error))
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase
        detail = error.detail if isinstance(error.detail, str) else phrase
        return ProblemError(error.status_code, detail, headers=error.headers)
    if isinstance(error, OverloadedError):
        return problem(503, str(error), "Service unavailable")
    if isinstance(error, ConflictError):
        return problem(409, str(error))
    if isinstance(error, IntegrityError):
        return problem(409, "Somebody else stored the same at the same time. Try again.")
    if isinstance(error, DBAPIError):
        return _database_problem(error)
    if isinstance(error, NoConnectionError):
        return problem(503, "Too many requests use the database. Try again later.")
    if isinstance(error, UnknownNodeError):
        return problem(400, str(error.args[0]))
    return problem(400, str(error)) if isinstance(error, TaxonomistError) else None


def _database_problem(error: DBAPIError) -> ProblemError | None:
    """Say that nothing was stored, and why as far as clients may know."""
    if re.search(r"disk is full|No space left|disk full", str(error.orig)):
        return problem(507, "The disk of the server is full. Nothing was stored.")
    if isinstance(error, OperationalError):
        return problem(503, "The database does not answer. Nothing was stored.")
    return None


def _mistakes(error: RequestValidationError) -> str:
    """Describe what is wrong with a request, without repeating its texts."""
    found = error.errors()
    shown = [
        f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}"
        for each in found[:MOST_SHOWN]
    ]
    more = len(found) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown)[:1000]


async def _respond(_: Request, error: Exception) -> Response:
    found = as_problem(error)
    if found is None:
        raise error
    return found.response()


def add_handlers(app: FastAPI) -> None:
    """Let an app answer with problems."""
    for kind in (
        ProblemError,
        RequestValidationError,
        HTTPException,
        TaxonomistError,
        DBAPIError,
        NoConnectionError,
    ):
        app.add_exception_handler(kind, _respond)
