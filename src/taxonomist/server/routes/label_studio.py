"""Label Studio's protocol for machine learning backends."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from taxonomist.server.access import denied
from taxonomist.server.filing import learn_documents
from taxonomist.server.problems import problem, responses
from taxonomist.server.routes.arguments import (
    Deciding,
    Prose,
    Reading,
    Running,
    check_length,
    storable,
)
from taxonomist.server.store.tokens import Role
from taxonomist.server.studio_config import StudioConfig

router = APIRouter(tags=["Label Studio"], responses=responses(409, 507))

STORING = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
"""Events after which an annotation is stored as a decision."""


class SetupRequest(BaseModel):
    """What Label Studio says about its project."""

    project: object = None
    schema_: str = Field("", alias="schema", description="The labelling interface.")


class SetupAnswer(BaseModel):
    """The version of the model."""

    model_version: str


class StudioTask(BaseModel):
    """A text to label, as Label Studio sends it."""

    id: int | None = None
    data: dict[str, object] = {}


class PredictRequest(BaseModel):
    """Tasks to predict."""

    tasks: list[StudioTask]
    label_config: str = ""


class StudioPrediction(BaseModel):
    """The prediction for a task."""

    result: list[dict[str, object]]
    score: float
    model_version: str


class PredictAnswer(BaseModel):
    """Predictions in the order of the tasks."""

    results: list[StudioPrediction]
    model_version: str


class Annotation(BaseModel):
    """The labels that a person gave to a task."""

    result: list[dict[str, object]] = []


class WebhookRequest(BaseModel):
    """An event in Label Studio, such as a new annotation."""

    action: str
    task: StudioTask | None = None
    annotation: Annotation | None = None
    label_config: Prose = ""


class WebhookAnswer(BaseModel):
    """What was done about it."""

    status: str


@router.post("/setup", dependencies=[Reading])
def setup(service: Running, body: SetupRequest) -> SetupAnswer:
    """Check the labelling interface, and return the version of the model."""
    StudioConfig.read(body.schema_)
    project = service.project(service.settings.label_studio)
    return SetupAnswer(model_version=project.live.version)


@router.post("/predict", dependencies=[Reading])
def predict(service: Running, body: PredictRequest) -> PredictAnswer:
    """Predict tasks; the result is a list of paths, or of choices."""
    if len(body.tasks) > service.settings.limits.batch:
        raise problem(400, f"At most {service.settings.limits.batch} tasks are allowed.")
    model = service.project(service.settings.label_studio).live
    config = StudioConfig.read(body.label_config)
    texts = [config.text_of(task.data, model.columns) for task in body.tasks]
    check_length(service, *(text for each in texts for text in each.values()))
    results = []
    for offer in model.offers(texts):
        result: dict[str, object] = {
            "from_name": config.from_name,
            "to_name": config.to_name,
            "type": config.kind,
            "value": config.value(model, offer.labels),
        }
        score = offer.categories[0][1] if offer.categories else 0.0
        results.append(StudioPrediction(result=[result], score=score, model_version=model.version))
    return PredictAnswer(results=results, model_version=model.version)


@router.post("/webhook", status_code=201)
def webhook(service: Running, caller: Deciding, body: WebhookRequest) -> WebhookAnswer:
    """Store annotations as decisions; START_TRAINING trains, if an administrator asks."""
    project = service.project(service.settings.label_studio)
    if body.action == "START_TRAINING":
        error = denied(caller, Role.admin)
        if error is not None:
            raise error
        service.trainings.start(project.id, project.live.version, caller.name, force=False)
        return WebhookAnswer(status="training")
    if body.action not in STORING or body.task is None or body.annotation is None:
        return WebhookAnswer(status="ignored")
    config = StudioConfig.read(body.label_config)
    texts = config.text_of(body.task.data, project.live.columns)
    check_length(service, *texts.values())
    try:
        for text in texts.values():
            storable(text)
    except ValueError as error:
        raise problem(400, f"The text {error}.") from None
    labels = StudioConfig.labels(body.annotation.result, project.live)
    learn_documents(project, service.settings, [(texts, labels)], caller.name)
    return WebhookAnswer(status="ok")
