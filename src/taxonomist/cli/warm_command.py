"""``taxonomist warm``: compile ahead of use."""

from __future__ import annotations

from taxonomist.cli.output import print_note, progress


def warm() -> None:
    """Compile the loops of all models now, so that the first `train` need not.

    For images and installers. Compiled loops are kept in the folder NUMBA_CACHE_DIR, by default
    beside the package or in the user's cache folder. A second run has nothing to do.
    """
    from taxonomist.workflow.warming import warm

    with progress("models") as on_step:
        seconds = warm(on_step)
    print_note(f"Compiled in {seconds:.0f} s." if seconds >= 1 else "Everything was compiled.")
