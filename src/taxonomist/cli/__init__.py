"""The command ``taxonomist``: it talks to people and leaves the work to the layers below."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; errors that Taxonomist raises on purpose end in one sentence."""
    from taxonomist.cli.app import app
    from taxonomist.cli.output import plain_errors

    with plain_errors():
        app(prog_name="taxonomist")
