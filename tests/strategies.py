"""Random taxonomies for property tests: chains, stars, ragged trees and DAGs."""

from __future__ import annotations

from hypothesis import strategies as st

from taxonomist.taxonomy import Taxonomy

SHAPES = ("chain", "star", "ragged", "dag")

# Ids that formats find hard: separators, quotes, blanks inside, other scripts.
ids = (
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")),
        min_size=1,
        max_size=8,
    )
    .map(str.strip)
    .filter(bool)
)


@st.composite
def taxonomies(draw, max_nodes=12, trees_only=False, min_nodes=2, named=False, hard_ids=False):
    """Draw a taxonomy; ``named`` gives some nodes display names, ``hard_ids`` odd ids."""
    n = draw(st.integers(min_nodes, max_nodes))
    shape = draw(st.sampled_from(SHAPES[: 3 if trees_only else 4]))
    if hard_ids:
        nodes = draw(st.lists(ids, min_size=n, max_size=n, unique=True))
    else:
        nodes = [f"n{code}" for code in range(n)]
    edges = []
    for child in range(1, n):
        if shape == "chain":
            parents = {child - 1}
        elif shape == "star":
            parents = {0}
        else:
            most = 1 if shape == "ragged" else 3
            parents = draw(
                st.sets(st.integers(0, child - 1), min_size=1, max_size=min(most, child))
            )
        edges += [(nodes[parent], nodes[child]) for parent in sorted(parents)]
    names = {}
    if named:
        names = draw(st.dictionaries(st.sampled_from(nodes), ids, max_size=n))
    return Taxonomy(edges, names=names, nodes=nodes)


@st.composite
def label_sets(draw, taxonomy, min_size=0, max_items=8):
    """Draw a list of label sets (lists of ids) over the nodes of a taxonomy but its root."""
    nodes = st.lists(
        st.sampled_from(taxonomy.nodes[1:]), unique=True, min_size=min_size, max_size=4
    )
    return draw(st.lists(nodes, min_size=1, max_size=max_items))
