"""Fixtures for tests of the command line."""

from __future__ import annotations

import sys

import pytest

from tests.unit.cli.running import Result


@pytest.fixture
def call(monkeypatch, capsys):
    """Return a function that runs ``taxonomist`` in this process."""
    from taxonomist.cli import main

    def run_here(*args: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["taxonomist", *map(str, args)])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        return Result(exit_.value.code or 0, captured.out, captured.err)

    return run_here
