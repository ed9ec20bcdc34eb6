"""The taxonomy: an immutable rooted DAG of categories, and label arithmetic on it.

``core`` defines the class and ``graph`` its data and queries. ``build`` turns edges, paths and
nested dicts into arrays; ``edit`` derives changed copies; ``show`` draws; ``formats`` reads and
writes files; ``cluster`` learns a taxonomy from documents. ``labels`` and ``categories`` convert
users' labels to codes and back, and ``differences`` holds the set arithmetic that losses and
measures share.
"""

from __future__ import annotations

from taxonomist.taxonomy.build import ROOT
from taxonomist.taxonomy.categories import Categories
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.edit import TaxonomyDiff
from taxonomist.taxonomy.node_texts import NodeTexts

__all__ = ["ROOT", "Categories", "NodeTexts", "Taxonomy", "TaxonomyDiff"]
