"""The papers' tables and figures, one file per paper: what is run, and what is claimed.

``declarations`` says what experiments are made of, ``work`` does it and ``claims`` judges.
``running`` keeps finished cells, ``writing`` and ``drawings`` make files of them, and
``reproduction`` does all of it. ``findings`` holds what is said under tables and figures.
"""

from __future__ import annotations

from taxonomist.experiments.reproduction import PAPERS, Written, reproduce

__all__ = ["PAPERS", "Written", "reproduce"]
