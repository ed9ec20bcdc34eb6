"""Structured logs: one JSON object per line, so that nothing in a request can forge a line."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

__all__ = ["JsonLines", "set_up_logs"]

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """Formats records as JSON, with the fields that were passed as ``extra``.

    Tracebacks are reduced to files, lines and the class of the error: messages of errors may hold
    texts of users.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        found: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        found.update((name, value) for name, value in vars(record).items() if name not in _OWN)
        if record.exc_info and record.exc_info[0] is not None:
            found["error"] = record.exc_info[0].__name__
            found["at"] = _places(record.exc_info[2])
        return json.dumps(found, default=str)


def _places(traceback: object) -> list[str]:
    """Return the file, function and line of each frame."""
    places = []
    while traceback is not None:
        frame = getattr(traceback, "tb_frame")  # noqa: B009, for any traceback
        code = frame.f_code
        places.append(f"{code.co_filename}:{getattr(traceback, 'tb_lineno')} {code.co_name}")  # noqa: B009
        traceback = getattr(traceback, "tb_next")  # noqa: B009
    return places


def set_up_logs(stream: TextIO | None = None) -> None:
    """Write the logs of the service and of uvicorn as JSON lines, by default to standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("taxonomist.server", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
    # Requests are logged by the service itself, with their ids.
    logging.getLogger("uvicorn.access").disabled = True
