"""Corpora: labelled items with their taxonomy, read from files, loaded by name, or generated.

``corpus`` defines the class. ``readers`` reads a file by its suffix through ``tables``,
``svmlight`` and ``arff``. ``rows`` opens a table in any of ``table_formats``; ``items`` turns its
rows into items as ``columns`` and ``cells`` say, and ``bad_rows`` counts those that cannot be used.
``catalogue`` lists the named corpora, ``named`` finds them and ``loaders`` loads them. ``fetching``
gets some of them from the web, through ``download`` and ``conversions``. ``synthetic`` generates
points under a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names
from taxonomist.datasets.arff import read_arff
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.named import data_home, find, info, load, names
from taxonomist.datasets.readers import read
from taxonomist.datasets.svmlight import read_svmlight
from taxonomist.datasets.synthetic import make_taxonomy_data
from taxonomist.datasets.tables import read_csv, read_jsonl, read_parquet

if TYPE_CHECKING:
    from taxonomist.datasets.fetching import fetch

__all__ = [
    "Columns",
    "Corpus",
    "data_home",
    "fetch",
    "find",
    "info",
    "load",
    "make_taxonomy_data",
    "names",
    "read",
    "read_arff",
    "read_csv",
    "read_jsonl",
    "read_parquet",
    "read_svmlight",
]

# Downloading takes modules that reading does not.
__getattr__ = lazy_names(__name__, {"fetch": "fetching"})
