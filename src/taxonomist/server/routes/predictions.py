"""Decide about texts without storing them, and say why."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator

from taxonomist.datasets.items import Item
from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import problem, responses
from taxonomist.server.routes.arguments import (
    Key,
    Prose,
    ReadProject,
    Running,
    StrictModel,
    check_length,
)
from taxonomist.server.service import Service
from taxonomist.workflow.prediction_rows import as_record
from taxonomist.workflow.predictions import Wanted

router = APIRouter(prefix="/v1/projects/{project_id}", tags=["Predictions"], responses=responses())


class GivenText(StrictModel):
    """A text, or the texts of several columns such as a title and an abstract."""

    text: Prose | None = Field(None, description="The text.")
    texts: dict[Key, Prose] | None = Field(None, description="Texts by column.")
    document_id: Key | None = Field(None, description="An id to find the answer by.")

    @model_validator(mode="after")
    def _one(self) -> GivenText:
        if (self.text is None) == (self.texts is None):
            raise ValueError("give either text or texts")
        return self


class DecideRequest(StrictModel):
    """Texts, and how to decide about them."""

    documents: list[GivenText] = Field(min_length=1)
    top: int = Field(5, ge=0, le=100, description="Alternatives to return.")
    confident: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Stop at the deepest node that is right with at least this probability.",
    )
    branch: Key | None = Field(None, description="Decide within this node.")
    level: int | None = Field(None, ge=1, le=1000, description="Decide for a node at this depth.")
    loss: Literal["tree", "zero_one"] | None = Field(
        None, description="Decide for the node with the smallest expected loss."
    )


class Alternative(BaseModel):
    """A category with its probability."""

    label: str
    name: str
    probability: float


class DecidedText(BaseModel):
    """The decision about a text."""

    document_id: str | None
    labels: list[str]
    names: list[str]
    paths: list[list[str]]
    probabilities: list[float]
    note: str = Field(description="Why the decision says little; usually empty.")
    top: list[Alternative] = []
    expected_loss: float


class DecideAnswer(BaseModel):
    """Decisions in the order of the texts, and the version of the model that made them."""

    version: str
    results: list[DecidedText]


class ExplainRequest(StrictModel):
    """A text, and what to explain about it."""

    document: GivenText
    category: Key | None = Field(None, description="A node; by default the predicted category.")
    words: int = Field(10, ge=1, le=100, description="Words for each level.")


class WordValue(BaseModel):
    """A word and what it adds to the score."""

    word: str
    value: float


class ExplainedLevel(BaseModel):
    """A node on the path to the category."""

    node: str
    name: str
    value: float
    words: list[WordValue]


class WordPlace(BaseModel):
    """Where a word is in the text, and what it adds to the score."""

    start: int
    end: int
    value: float


class ExplainAnswer(BaseModel):
    """Why a text belongs to a category."""

    version: str
    category: str
    path: list[str]
    probability: float | None
    score: float
    levels: list[ExplainedLevel]
    text: str
    spans: list[WordPlace]


@router.post("/decide")
def decide(project: ReadProject, service: Running, body: DecideRequest) -> DecideAnswer:
    """Return the category or the label set of each text, with probabilities and alternatives."""
    if len(body.documents) > service.settings.limits.batch:
        raise problem(400, f"At most {service.settings.limits.batch} documents are allowed.")
    model = project.live
    texts = [as_columns(service, model, each) for each in body.documents]
    options = body.model_dump(include={"top", "confident", "branch", "level", "loss"})
    wanted = Wanted(proba=True, risk=True, **options)
    items = [Item(line, None, text) for line, text in enumerate(texts, 1)]
    pairs = zip(body.documents, model.predict(items, wanted), strict=True)
    results = [
        {**as_record({"document_id": given.document_id}, each, wanted), "expected_loss": each.risk}
        for given, each in pairs
    ]
    return DecideAnswer(
        version=model.version, results=[DecidedText.model_validate(each) for each in results]
    )


@router.post("/explain")
def explain(project: ReadProject, service: Running, body: ExplainRequest) -> ExplainAnswer:
    """Return the words of a text for and against a category, level by level.

    For a node above categories, these are the levels of the best category below it, down to it.
    """
    model = project.live
    if not model.can_explain:
        raise problem(409, "This kind of model cannot explain its predictions.")
    if body.category is not None and body.category not in model.taxonomy:
        raise problem(400, "The category is not a node of the taxonomy.")
    text = as_columns(service, model, body.document)
    found = model.explain(text, body.words, body.category)
    spans = [WordPlace(start=a, end=b, value=value) for a, b, value in found.spans]
    return ExplainAnswer.model_validate(
        {**found.to_dict(), "version": model.version, "text": found.text, "spans": spans}
    )


def as_columns(service: Service, model: LiveModel, given: GivenText) -> dict[str, str]:
    """Return texts by the columns of the model.

    Raises
    ------
    ProblemError
        If a text is too long or empty, or a column is unknown.
    """
    if given.text is not None:
        check_length(service, given.text)
        found = model.item(given.text)
    else:
        found = model.by_column(given.texts or {})
        check_length(service, *found.values())
        unknown = [name for name in given.texts or {} if name not in found]
        if unknown:
            columns = ", ".join(model.columns)
            raise problem(400, f"The model has the columns {columns}. Got {unknown[0]!r}.")
    if not any(text.strip() for text in found.values()):
        raise problem(400, "The text is empty.")
    return found
