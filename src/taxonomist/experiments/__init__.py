"""The papers' tables and figures, with one file per paper for its experiments and claims.

``declarations`` defines what experiments are made of, ``work`` does the computations and ``claims``
judges the results. ``running`` runs cells and stores their results, ``writing`` and ``drawings``
turn them into files, and ``reproduction`` does all of it. ``findings`` holds the remarks under
tables and figures.
"""

from __future__ import annotations

from taxonomist.experiments.reproduction import PAPERS, Written, load_paper, reproduce

__all__ = ["PAPERS", "Written", "load_paper", "reproduce"]
