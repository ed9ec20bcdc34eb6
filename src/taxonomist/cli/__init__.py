"""The ``taxonomist`` command line. It parses options and prints; other layers do the work."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line and report expected errors in one sentence."""
    from taxonomist.cli.app import app
    from taxonomist.cli.output import plain_errors, show_controls

    show_controls()
    with plain_errors():
        app(prog_name="taxonomist")
