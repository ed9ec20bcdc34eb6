"""How good the model is, and which decisions it doubts."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from taxonomist.server.disputes import Dispute, find_disputes
from taxonomist.server.live_model import LiveModel
from taxonomist.server.node_places import node_name
from taxonomist.server.problems import responses
from taxonomist.server.quality import estimate
from taxonomist.server.routes.arguments import ReadProject
from taxonomist.server.routes.documents import DocumentInfo, as_info
from taxonomist.server.routes.taxonomy import Estimated
from taxonomist.server.store.documents import find_document
from taxonomist.server.store.outcomes import decided_offers, moved_offers
from taxonomist.server.store.versions import list_releases
from taxonomist.server.track_record import Mistaken, mistakes, periods, reliability

router = APIRouter(prefix="/v1/projects/{project_id}", tags=["Models"], responses=responses())

MOST_CONFUSIONS = 50


class PeriodQuality(BaseModel):
    """The share of right offers in a period."""

    start: datetime
    end: datetime
    right: Estimated


class ReliabilityPoint(BaseModel):
    """Offers of about the same probability, and how many were right."""

    probability: float
    right: Estimated


class Confusion(BaseModel):
    """What was offered where people chose something else."""

    offered: list[str]
    offered_names: list[str]
    chosen: list[str]
    chosen_names: list[str]
    n: int
    distance: float = Field(description="How far they are apart in the taxonomy.")


class DistanceCount(BaseModel):
    """How many offers were off by a distance."""

    distance: float
    n: int


class MovedOffers(BaseModel):
    """What the last change of the live model changed for documents."""

    old: str
    new: str
    n_documents: int = Field(description="Documents that both versions made offers for.")
    n_moved: int = Field(description="Those that are offered another category now.")


class TrackRecord(BaseModel):
    """What became of the model's offers."""

    live: str
    overall: Estimated = Field(description="Share of right offers in the random share.")
    decided: int = Field(description="Decisions with labels about all documents.")
    corrected: int = Field(description="Those that differ from the offer.")
    periods: list[PeriodQuality] = Field(description="The random share over time.")
    reliability: list[ReliabilityPoint] = Field(description="The random share by probability.")
    distances: list[DistanceCount]
    confusions: list[Confusion]
    moved: MovedOffers | None


class DisputeInfo(BaseModel):
    """A decision that the model doubts."""

    document: DocumentInfo
    label_names: list[str] = Field(description="Names of the chosen labels.")
    offered: list[str]
    offered_names: list[str]
    chosen_probability: float
    offered_probability: float
    user: str
    at: datetime


class DisputeList(BaseModel):
    """Decisions that the model doubts, most doubtful first."""

    total: int
    disputes: list[DisputeInfo]


@router.get("/quality")
def show_quality(project: ReadProject) -> TrackRecord:
    """Return how good the offers were: over time, by probability, and what was confused."""
    model = project.live
    with project.store.reading() as connection:
        decided = decided_offers(connection, project.id)
        live = [each.version for each in list_releases(connection, project.id)]
        before = next((each for each in reversed(live) if each != model.version), None)
        moved = moved_offers(connection, project.id, before, model.version) if before else (0, 0)
    marked = [each for each in decided if each.is_random]
    is_right = [set(each.chosen) == set(each.offered) for each in marked]
    found = mistakes(model.taxonomy, decided, is_multilabel=model.is_multilabel)
    distances: Counter[float] = Counter()
    for each in found:
        distances[each.distance] += each.times
    n_wrong = sum(each.times for each in found)
    return TrackRecord(
        live=model.version,
        overall=Estimated(**estimate(sum(is_right), len(is_right))._asdict()),
        decided=len(decided),
        corrected=n_wrong,
        periods=[
            PeriodQuality(start=start, end=end, right=Estimated(**right._asdict()))
            for start, end, right in periods(decided)
        ],
        reliability=[
            ReliabilityPoint(probability=chance, right=Estimated(**right._asdict()))
            for chance, right in reliability(decided)
        ],
        distances=[DistanceCount(distance=d, n=n) for d, n in sorted(distances.items())],
        confusions=[as_confusion(model, each) for each in found[:MOST_CONFUSIONS]],
        moved=MovedOffers(old=before, new=model.version, n_documents=moved[0], n_moved=moved[1])
        if before
        else None,
    )


@router.get("/disputes")
def show_disputes(
    project: ReadProject, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> DisputeList:
    """List the decisions that the model doubts: probable mistakes of people.

    The model had not learned from these decisions when it made its offers. A decision whose key
    begins with ``check:`` was taken with the doubt in view, and is not listed again.
    """
    with project.store.reading() as connection:
        decided = decided_offers(connection, project.id)
        found = find_disputes(project.live.taxonomy, decided)
        pairs = [
            (each, find_document(connection, project.id, each.decided.key))
            for each in found[:limit]
        ]
    disputes = [
        _dispute(project.live, each, as_info(project.live, document))
        for each, document in pairs
        if document is not None
    ]
    return DisputeList(total=len(found), disputes=disputes)


def as_confusion(model: LiveModel, each: Mistaken) -> Confusion:
    """Describe what was confused, with names."""
    return Confusion(
        offered=list(each.offered),
        offered_names=[node_name(model, label) for label in each.offered],
        chosen=list(each.chosen),
        chosen_names=[node_name(model, label) for label in each.chosen],
        n=each.times,
        distance=each.distance,
    )


def _dispute(model: LiveModel, each: Dispute, document: DocumentInfo) -> DisputeInfo:
    decided = each.decided
    return DisputeInfo(
        document=document,
        label_names=[node_name(model, label) for label in decided.chosen],
        offered=decided.offered,
        offered_names=[node_name(model, label) for label in decided.offered],
        chosen_probability=each.given,
        offered_probability=each.offered,
        user=decided.user,
        at=decided.at,
    )
