"""Annif's REST API, version 1: clients of Annif and Annif itself can use this service."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool

from taxonomist import __version__
from taxonomist.errors import ParameterError
from taxonomist.server.filing import learn_documents
from taxonomist.server.languages import detect_language
from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import problem, responses
from taxonomist.server.projects import Asked, Project
from taxonomist.server.routes.arguments import (
    DecideProject,
    Deciding,
    Prose,
    Reading,
    ReadProject,
    Running,
    check_length,
    service_of,
)
from taxonomist.server.settings import ANNIF_BATCH

router = APIRouter(prefix="/v1", tags=["Annif"], responses=responses())

TITLE = "Taxonomist REST API"
BACKEND = "taxonomist"
MOST_FIELDS = 100
"""Fields in a form."""


class ApiInfo(BaseModel):
    """What answers."""

    title: str
    version: str


class Vocabulary(BaseModel):
    """The categories of a project."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool


class Vocabularies(BaseModel):
    """All vocabularies."""

    vocabs: list[Vocabulary]


class BackendInfo(BaseModel):
    """What predicts."""

    backend_id: str


class ProjectInfo(BaseModel):
    """A project: a model, its vocabulary and its language."""

    project_id: str
    name: str
    language: str
    backend: BackendInfo
    vocab: Vocabulary
    vocab_language: str
    is_trained: bool
    modification_time: datetime


class ProjectInfos(BaseModel):
    """All projects."""

    projects: list[ProjectInfo]


class Suggestion(BaseModel):
    """A category that fits a text."""

    uri: str
    label: str
    notation: str | None
    score: float


class SuggestionList(BaseModel):
    """Categories that fit a text, best first."""

    results: list[Suggestion]


class BatchSuggestions(SuggestionList):
    """Categories that fit a document of a batch."""

    document_id: str | None


class SuggestForm(BaseModel):
    """The form of ``suggest``; fields ``metadata_*`` are allowed besides."""

    text: Prose = Field(description="The text.")
    limit: int = Field(10, ge=0, le=2**31 - 1, description="Most results to return.")
    threshold: float = Field(0.0, ge=0, le=1, description="Least score of a result.")
    language: str | None = Field(None, description="Language of the labels.")


class BatchDocument(BaseModel):
    """A text, with an id to find its suggestions by."""

    text: Prose
    document_id: str | None = None
    metadata: dict[str, Prose] = {}


class SuggestBatch(BaseModel):
    """A batch of documents."""

    documents: list[BatchDocument] = Field(max_length=ANNIF_BATCH)


class LearnSubject(BaseModel):
    """A category of a document."""

    uri: Prose
    label: str | None = None


class LearnDocument(BaseModel):
    """A document with its categories; one without text or categories is left out."""

    text: Prose | None = None
    metadata: dict[str, Prose] = {}
    subjects: list[LearnSubject] | None = None


class LanguageQuestion(BaseModel):
    """A text, and the languages that it may have."""

    text: str
    languages: list[Annotated[str, Field(min_length=2, max_length=3)]] = Field(
        min_length=1, max_length=5
    )


class DetectedLanguage(BaseModel):
    """A language with its score; without a language, the score of none of them."""

    language: str | None
    score: float


class DetectedLanguages(BaseModel):
    """Languages with their scores, best first."""

    results: list[DetectedLanguage]


Limit = Annotated[int, Query(ge=0, le=2**31 - 1, description="Most results to return.")]
Threshold = Annotated[float, Query(ge=0, le=1, description="Least score of a result.")]
Language = Annotated[str | None, Query(description="Language of the labels.")]


@router.get("/", dependencies=[Reading])
async def show_api() -> ApiInfo:
    """Say what answers."""
    return ApiInfo(title=TITLE, version=__version__)


@router.get("/vocabs", dependencies=[Reading])
async def list_vocabs(service: Running) -> Vocabularies:
    """List the vocabularies: each project has one."""
    language = service.settings.language
    return Vocabularies(vocabs=[_vocab(each, language) for each in service.projects.values()])


@router.get("/projects", dependencies=[Reading])
async def list_projects(service: Running) -> ProjectInfos:
    """List the projects."""
    language = service.settings.language
    return ProjectInfos(projects=[_info(each, language) for each in service.projects.values()])


@router.get("/projects/{project_id}")
async def show_project(project: ReadProject, service: Running) -> ProjectInfo:
    """Describe a project."""
    return _info(project, service.settings.language)


_FORM_DOCS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {"schema": SuggestForm.model_json_schema()}
        },
    }
}


@router.post(
    "/projects/{project_id}/suggest",
    response_model=SuggestionList,
    openapi_extra=_FORM_DOCS,
)
async def suggest(request: Request, project: ReadProject) -> Response:
    """Suggest categories for a text."""
    # Each dependency takes as long as the form, and this is the route that is called most.
    service = service_of(request)
    form, metadata = _read_form(await request.body())
    check_length(service, form.text, *metadata.values())
    _check_language(service, form.language)
    found = await project.batcher.ask(Asked(form.text, metadata, form.limit))
    return _as_json({"results": _suggestions(found.model, found.categories, form.threshold)})


@router.post("/projects/{project_id}/suggest-batch")
async def suggest_batch(
    project: ReadProject,
    service: Running,
    body: SuggestBatch,
    limit: Limit = 10,
    threshold: Threshold = 0.0,
    language: Language = None,
) -> list[BatchSuggestions]:
    """Suggest categories for a batch of up to 32 documents."""
    for each in body.documents:
        check_length(service, each.text, *each.metadata.values())
    _check_language(service, language)
    model = project.live
    items = [model.item(each.text, each.metadata) for each in body.documents]
    found = await run_in_threadpool(model.suggest, items, limit)
    return [
        BatchSuggestions(
            results=[
                Suggestion.model_validate(row) for row in _suggestions(model, rows, threshold)
            ],
            document_id=each.document_id,
        )
        for each, rows in zip(body.documents, found, strict=True)
    ]


@router.post(
    "/projects/{project_id}/learn", status_code=204, response_class=Response, response_model=None
)
def learn(
    project: DecideProject, caller: Deciding, service: Running, body: list[LearnDocument]
) -> None:
    """Store documents with their categories; the next training learns from them."""
    if len(body) > service.settings.limits.batch:
        raise problem(400, f"At most {service.settings.limits.batch} documents are allowed.")
    taught = []
    for each in body:
        if each.text is None or each.subjects is None:
            continue
        check_length(service, each.text, *each.metadata.values())
        item = project.live.item(each.text, each.metadata)
        taught.append((item, [subject.uri for subject in each.subjects]))
    learn_documents(project, service.settings, taught, caller.name)


@router.post("/detect-language", dependencies=[Reading])
def detect(body: LanguageQuestion, service: Running) -> DetectedLanguages:
    """Guess the language of a text."""
    check_length(service, body.text)
    try:
        found = detect_language(body.text, body.languages)
    except ParameterError as error:
        raise problem(400, str(error)) from None
    return DetectedLanguages(
        results=[DetectedLanguage(language=code, score=score) for code, score in found]
    )


def _read_form(body: bytes) -> tuple[SuggestForm, dict[str, str]]:
    """Return the fields of a form, and its metadata."""
    try:
        text = body.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise problem(400, "The form must be URL-encoded UTF-8.") from None
    fields = dict(pairs)
    metadata = {
        name.removeprefix("metadata_"): value
        for name, value in pairs
        if name.startswith("metadata_") and "\0" not in value
    }
    try:
        return SuggestForm.model_validate(fields), metadata
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise problem(400, f"{place}: {first['msg']}") from None


def _check_language(service: Running, language: str | None) -> None:
    if language and language != service.settings.language:
        raise problem(400, f'language "{language}" not supported by vocabulary')


def _suggestions(
    model: LiveModel, found: list[tuple[str, float]], threshold: float
) -> list[dict[str, object]]:
    name = model.titles.name
    return [
        {
            "uri": label,
            "label": name(label) or label,
            "notation": model.notation(label),
            "score": score,
        }
        for label, score in found
        if score >= threshold and score > 0
    ]


def _vocab(project: Project, language: str) -> Vocabulary:
    size = len(project.live.taxonomy) - int(project.live.taxonomy.has_artificial_root)
    return Vocabulary(vocab_id=project.id, languages=[language], size=size, loaded=True)


def _info(project: Project, language: str) -> ProjectInfo:
    return ProjectInfo(
        project_id=project.id,
        name=project.id,
        language=language,
        backend=BackendInfo(backend_id=BACKEND),
        vocab=_vocab(project, language),
        vocab_language=language,
        is_trained=True,
        modification_time=project.live.created,
    )


def _as_json(value: object) -> Response:
    """Return JSON without checking it again, on the route that is called most."""
    return Response(json.dumps(value), media_type="application/json")
