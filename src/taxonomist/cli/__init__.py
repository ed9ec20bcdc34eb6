"""The ``taxonomist`` command line. It parses options and prints; other layers do the work."""

from __future__ import annotations

from taxonomist.cli.late_import import import_when_used

__all__ = ["main"]


def main() -> None:
    """Run the command line and report expected errors in one sentence."""
    # scikit-learn imports it, which takes longer than the rest of it, and seldom uses it.
    import_when_used("scipy.stats")
    from taxonomist.cli.app import app
    from taxonomist.cli.output import plain_errors, show_controls, show_log

    show_log("taxonomist.compiled")
    show_controls()
    with plain_errors():
        app(prog_name="taxonomist")
