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
from taxonomist.server.routes.arguments import AdminProject, Deciding, ReadProject, Running
from taxonomist.server.routes.taxonomy import Estimated
from taxonomist.server.routes.trainings import JobInfo, as_job
from taxonomist.server.store.documents import StoredDocument, find_document
from taxonomist.server.store.doubts import RowDoubt, list_doubts
from taxonomist.server.store.jobs import find_job
from taxonomist.server.store.outcomes import decided_offers, moved_offers
from taxonomist.server.store.versions import list_releases
from taxonomist.server.track_record import Mistaken, mistakes, periods, reliability

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Models"], responses=responses(409, 507)
)

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


class OfferConfusion(BaseModel):
    """What was offered where people chose something else."""

    offered: list[str]
    offered_names: list[str]
    chosen: list[str]
    chosen_names: list[str]
    n: int
    distance: float = Field(description="How far they are apart in the taxonomy.")


class DistanceCount(BaseModel):
    """How many wrong offers were at a distance from the chosen labels."""

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
    confusions: list[OfferConfusion]
    moved: MovedOffers | None


class DisputeInfo(BaseModel):
    """A decision, or a row of the training table, that the model doubts."""

    document_id: str
    texts: dict[str, str]
    is_row: bool = Field(description="Whether it is a row of the training table.")
    labels: list[str] = Field(description="The labels in doubt.")
    label_names: list[str]
    offered: list[str]
    offered_names: list[str]
    chosen_probability: float
    offered_probability: float
    user: str | None = Field(description="Who decided; null for a row.")
    at: datetime | None


class DisputeList(BaseModel):
    """Decisions and rows that the model doubts, most doubtful first."""

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
    """List decisions and rows of the training table that the model doubts.

    The model had not learned from them when it scored them, so some are mistakes of people. What
    was decided with a key that begins with ``check:`` is not listed again.
    """
    model = project.live
    with project.store.reading() as connection:
        decided = find_disputes(model.taxonomy, decided_offers(connection, project.id))
        rows = list_doubts(connection, project.id)
        shown = [
            _of_decision(model, each, document)
            for each in decided[:limit]
            if (document := find_document(connection, project.id, each.decided.key))
        ]
    shown += [_of_row(model, each) for each in rows[:limit]]
    shown.sort(key=lambda each: each.chosen_probability - each.offered_probability)
    return DisputeList(total=len(decided) + len(rows), disputes=shown[:limit])


@router.post("/disputes", status_code=202)
def check(project: AdminProject, caller: Deciding, service: Running) -> JobInfo:
    """Look for wrong labels in the training table, with models that have not seen the rows."""
    version = project.live.version
    job = service.trainings.start(project.id, version, caller.name, kind="check")
    with project.store.reading() as connection:
        found = find_job(connection, project.id, job)
    assert found is not None
    return as_job(found)


def as_confusion(model: LiveModel, each: Mistaken) -> OfferConfusion:
    """Describe what was confused, with names."""
    return OfferConfusion(
        offered=list(each.offered),
        offered_names=[node_name(model, label) for label in each.offered],
        chosen=list(each.chosen),
        chosen_names=[node_name(model, label) for label in each.chosen],
        n=each.times,
        distance=each.distance,
    )


def _of_decision(model: LiveModel, each: Dispute, document: StoredDocument) -> DisputeInfo:
    decided = each.decided
    return DisputeInfo(
        document_id=document.key,
        texts=document.texts,
        is_row=False,
        labels=decided.chosen,
        label_names=[node_name(model, label) for label in decided.chosen],
        offered=decided.offered,
        offered_names=[node_name(model, label) for label in decided.offered],
        chosen_probability=each.given,
        offered_probability=each.offered,
        user=decided.user,
        at=decided.at,
    )


def _of_row(model: LiveModel, each: RowDoubt) -> DisputeInfo:
    return DisputeInfo(
        document_id=each.key,
        texts=each.texts,
        is_row=True,
        labels=each.given,
        label_names=[node_name(model, label) for label in each.given],
        offered=each.offered,
        offered_names=[node_name(model, label) for label in each.offered],
        chosen_probability=each.given_probability,
        offered_probability=each.offered_probability,
        user=None,
        at=None,
    )
