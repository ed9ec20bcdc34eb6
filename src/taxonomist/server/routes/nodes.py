"""Single nodes of the taxonomy: what is known about them."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import problem, responses
from taxonomist.server.projects import Project
from taxonomist.server.routes.arguments import Key, ReadProject
from taxonomist.server.routes.predictions import WordValue
from taxonomist.server.routes.quality import OfferConfusion, as_confusion
from taxonomist.server.routes.taxonomy import FoundNodes, TreeNode, node_describer
from taxonomist.server.store.documents import StoredDocument, find_document
from taxonomist.server.store.outcomes import DecidedOffer, decided_offers
from taxonomist.server.store.waiting import waiting_by_date
from taxonomist.server.track_record import mistakes
from taxonomist.workflow.label_ancestors import LabelAncestors

router = APIRouter(prefix="/v1/projects/{project_id}", tags=["Taxonomy"], responses=responses())

N_EXAMPLES = 3
MOST_WAITING = 1_000
"""Waiting documents that are searched for examples."""
N_CONFUSIONS = 5


class ExampleText(BaseModel):
    """A document at or below a node."""

    document_id: str
    texts: dict[str, str]
    is_decided: bool = Field(description="False for a document that only the model puts there.")


class NodeDetails(TreeNode):
    """All that is known about a node."""

    synonyms: list[str]
    note: str
    words: list[WordValue] = Field(description="The words that speak most for the node.")
    examples: list[ExampleText]
    confusions: list[OfferConfusion] = Field(
        description="What is confused with it, most often first."
    )


@router.get("/nodes")
def show_all(
    project: ReadProject,
    id: Annotated[list[Key], Query(min_length=1, max_length=100, description="Ids of nodes.")],
) -> FoundNodes:
    """Describe nodes; those that the taxonomy does not have are left out."""
    model = project.live
    describe = node_describer(project, model)
    return FoundNodes(nodes=[describe(node) for node in id if node in model.taxonomy])


@router.get("/nodes/{node_id:path}")
def show(
    project: ReadProject, node_id: Annotated[Key, Path(description="Id of the node.")]
) -> NodeDetails:
    """Return what is known about a node: words, examples, quality, confusions."""
    model = project.live
    if node_id not in model.taxonomy:
        raise problem(404, "There is no such node.")
    with project.store.reading() as connection:
        decided = decided_offers(connection, project.id)
    known = node_describer(project, model)(node_id)
    names = project.names_of(node_id)
    return NodeDetails(
        **known.model_dump(),
        synonyms=names.synonyms,
        note=names.note,
        words=[WordValue(word=word, value=value) for word, value in project.words_of(node_id)],
        examples=_examples(project, model, node_id, decided),
        confusions=_confusions(model, node_id, decided),
    )


def _examples(
    project: Project, model: LiveModel, node: str, decided: list[DecidedOffer]
) -> list[ExampleText]:
    """Return decided documents, newest first; waiting ones if there are none."""
    closed = LabelAncestors(model.taxonomy).closed

    def is_here(labels: list[str]) -> bool:
        return node in closed(labels)

    keys = [each.key for each in reversed(decided) if is_here(each.chosen)][:N_EXAMPLES]
    with project.store.reading() as connection:
        found = [find_document(connection, project.id, key) for key in keys]
        if not found:
            waiting = islice(waiting_by_date(connection, project.id), MOST_WAITING)
            here = (each for each in waiting if each.offer and is_here(each.offer.labels))
            found = list(islice(here, N_EXAMPLES))
    return [_example(each, bool(keys)) for each in found if each is not None]


def _example(document: StoredDocument, is_decided: bool) -> ExampleText:
    return ExampleText(document_id=document.key, texts=document.texts, is_decided=is_decided)


def _confusions(model: LiveModel, node: str, decided: list[DecidedOffer]) -> list[OfferConfusion]:
    found = mistakes(model.taxonomy, decided, is_multilabel=model.is_multilabel)
    closed = LabelAncestors(model.taxonomy).closed
    here = [each for each in found if node in closed(each.offered) ^ closed(each.chosen)]
    return [as_confusion(model, each) for each in here[:N_CONFUSIONS]]
