"""The taxonomy of a project: its tree, and search in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import problem, responses
from taxonomist.server.projects import Project
from taxonomist.server.quality import NodeQuality, estimate
from taxonomist.server.routes.arguments import Key, ReadProject

router = APIRouter(prefix="/v1/projects/{project_id}", tags=["Taxonomy"], responses=responses())

UNKNOWN = NodeQuality(0, estimate(0, 0))
MOST_NODES = 500
"""Nodes on a page."""


class Estimated(BaseModel):
    """A share in a random sample, with its interval of 95 % after Wilson."""

    n: int = Field(description="Size of the sample.")
    n_right: int
    share: float | None = Field(description="None for an empty sample.")
    low: float
    high: float


class TreeNode(BaseModel):
    """A node of the taxonomy."""

    id: str
    name: str
    path: list[str] = Field(description="Ids from the top to the node.")
    names: list[str] = Field(description="Names from the top to the node.")
    n_children: int
    is_category: bool = Field(description="Whether the model can choose this node.")
    n_decided: int = Field(description="Documents decided to be at or below the node.")
    quality: Estimated = Field(description="How many of the random ones the model had put there.")


class TreePage(BaseModel):
    """Children of a node."""

    parent: TreeNode | None
    total: int
    offset: int
    nodes: list[TreeNode]


class FoundNodes(BaseModel):
    """Nodes that match a query, best first."""

    nodes: list[TreeNode]


@router.get("/tree")
def show_tree(
    project: ReadProject,
    parent: Annotated[Key | None, Query(description="Id of a node; top nodes without it.")] = None,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_NODES)] = 100,
    child: Annotated[
        Key | None, Query(description="Return the page with this child, whatever the offset.")
    ] = None,
) -> TreePage:
    """Return the children of a node, page by page."""
    model = project.live
    taxonomy = model.taxonomy
    if parent is None:
        ids = taxonomy.children(taxonomy.root) if taxonomy.has_artificial_root else taxonomy.roots
    else:
        if parent not in taxonomy:
            raise problem(404, "There is no such node.")
        ids = taxonomy.children(parent)
    if child in ids:
        offset = ids.index(child) // limit * limit
    describe = node_describer(project, model)
    return TreePage(
        parent=None if parent is None else describe(parent),
        total=len(ids),
        offset=offset,
        nodes=[describe(node) for node in ids[offset : offset + limit]],
    )


@router.get("/search")
def search(
    project: ReadProject,
    q: Annotated[str, Query(min_length=1, max_length=200, description="Words or a code.")],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> FoundNodes:
    """Find nodes by the words of their names and synonyms or by their ids, as people type."""
    model = project.live
    found = project.label_search(model).find(q, limit)
    describe = node_describer(project, model)
    return FoundNodes(nodes=[describe(node) for node in found])


def node_describer(project: Project, model: LiveModel) -> Callable[[str], TreeNode]:
    """Return a function that describes nodes, with the counts of this moment."""
    taxonomy, counts = model.taxonomy, project.qualities.of(project)

    def describe(node: str) -> TreeNode:
        known = counts.get(node, UNKNOWN)
        path = list(taxonomy.paths(node, limit=1)[0])
        return TreeNode(
            id=node,
            name=model.titles.name(node) or node,
            path=path,
            names=[model.titles.name(step) or step for step in path],
            n_children=len(taxonomy.children(node)),
            is_category=node in model.categories,
            n_decided=known.n_decided,
            quality=Estimated(**known.right._asdict()),
        )

    return describe
