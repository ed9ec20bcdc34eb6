"""The taxonomy: an immutable rooted DAG of categories, and label arithmetic on it.

``core`` holds the class, ``graph`` what it is and can be asked, ``build`` turns edges, paths and
nested dicts into it, ``edit`` and ``show`` change and draw it, ``formats`` reads and writes
files, ``cluster`` learns one from documents; ``labels`` and ``categories`` turn users' labels into
codes and back, ``differences`` holds the set arithmetic that losses and measures share.
"""

from __future__ import annotations

from taxonomist.taxonomy.build import ROOT
from taxonomist.taxonomy.categories import Categories
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.edit import TaxonomyDiff

__all__ = ["ROOT", "Categories", "Taxonomy", "TaxonomyDiff"]
