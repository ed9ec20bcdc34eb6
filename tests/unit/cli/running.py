"""Running the command in this process, in a process of its own, and on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import NamedTuple
from unittest.mock import patch
from warnings import catch_warnings, simplefilter


class Result(NamedTuple):
    """What a run of the command gave."""

    code: int
    out: str
    err: str


def arguments(args: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "taxonomist", *map(str, args)]


def run_here(*args: object) -> Result:
    """Run ``taxonomist`` in this process, which has loaded what it needs."""
    from taxonomist.cli import main

    out, err, code = StringIO(), StringIO(), None
    with redirect_stdout(out), redirect_stderr(err), catch_warnings():
        simplefilter("default")  # a warning does not end the command, as it would a test
        with patch.object(sys, "argv", ["taxonomist", *map(str, args)]):
            try:
                main()
            except SystemExit as exit_:
                code = exit_.code
    return Result(int(code or 0), out.getvalue(), err.getvalue())


def run(*args: object, **env: str) -> Result:
    """Run ``taxonomist`` in a process of its own."""
    done = subprocess.run(
        arguments(args), capture_output=True, encoding="utf-8", timeout=120, env=os.environ | env
    )
    return Result(done.returncode, done.stdout, done.stderr)


def run_on_terminal(*args: object, shown_as: str = "utf-8", **env: str) -> Result:
    """Run ``taxonomist`` with standard output and error on a terminal of 100 columns.

    ``shown_as`` is the encoding of that terminal.
    """
    import pty

    main, terminal = pty.openpty()
    size = {"COLUMNS": "100", "LINES": "50", "TERM": "xterm"}
    process = subprocess.Popen(
        arguments(args), stdout=terminal, stderr=terminal, env=os.environ | size | env
    )
    os.close(terminal)
    shown = b""
    try:
        while data := os.read(main, 65536):
            shown += data
    except OSError:
        # Linux ends a terminal that no one writes to any more with an error.
        pass
    os.close(main)
    return Result(process.wait(timeout=120), shown.decode(shown_as), "")
