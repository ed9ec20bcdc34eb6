"""Sign in to the screen with a token, which a cookie then holds."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from taxonomist import __version__
from taxonomist.server.access import COOKIE, Caller
from taxonomist.server.middleware import CALLER
from taxonomist.server.problems import responses
from taxonomist.server.projects import Project
from taxonomist.server.routes.arguments import Key, Running, StrictModel
from taxonomist.server.service import Service

router = APIRouter(prefix="/v1/session", tags=["Session"], responses=responses())


class SignIn(StrictModel):
    """The token of somebody who signs in."""

    token: Key


class ProjectFacts(BaseModel):
    """What the screen needs to know about a project."""

    project_id: str
    version: str = Field(description="Version of the live model.")
    columns: list[str] = Field(description="Columns with texts that the model reads.")
    is_multilabel: bool = Field(description="Whether documents have label sets.")
    can_explain: bool
    can_retrain: bool = Field(description="Whether there is a training table.")
    n_nodes: int
    n_categories: int
    depth: int


class SessionInfo(BaseModel):
    """Who is signed in, and what they see."""

    user: str
    role: str | None = Field(description="read, decide or admin; null if a token is needed.")
    has_cookie: bool = Field(description="Whether somebody signed in, and can sign out.")
    release: str = Field(description="Release of Taxonomist.")
    projects: list[ProjectFacts]


@router.get("")
async def show(request: Request, service: Running) -> SessionInfo:
    """Say who is signed in, and list the projects that they may see."""
    return _info(service, request.scope[CALLER], COOKIE in request.cookies)


@router.post("")
async def sign_in(
    request: Request, response: Response, service: Running, body: SignIn
) -> SessionInfo:
    """Sign in: keep a token in a cookie that scripts cannot read and other sites cannot send."""
    caller = await service.gate.owner(body.token)
    is_secure = request.url.scheme == "https" or _forwarded_scheme(request, service) == "https"
    response.set_cookie(
        COOKIE, body.token, httponly=True, samesite="strict", secure=is_secure, path="/"
    )
    return _info(service, caller, True)


@router.delete("", status_code=204, response_class=Response, response_model=None)
async def sign_out(response: Response) -> None:
    """Sign out: forget the cookie. The token stays valid."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")


def _forwarded_scheme(request: Request, service: Service) -> str:
    """Return what a trusted proxy says about the scheme; empty without one."""
    address = request.client.host if request.client else ""
    is_trusted = address in service.settings.proxies
    return request.headers.get("x-forwarded-proto", "") if is_trusted else ""


def _info(service: Service, caller: Caller, has_cookie: bool) -> SessionInfo:
    may_read = caller.role is not None
    projects = service.projects.values() if may_read else ()
    return SessionInfo(
        user=caller.name,
        role=None if caller.role is None else caller.role.name,
        has_cookie=has_cookie,
        release=__version__,
        projects=[_facts(service, each) for each in projects],
    )


def _facts(service: Service, project: Project) -> ProjectFacts:
    model = project.live
    return ProjectFacts(
        project_id=project.id,
        version=model.version,
        columns=model.columns,
        is_multilabel=model.is_multilabel,
        can_explain=model.can_explain,
        can_retrain=project.id in service.settings.tables,
        n_nodes=len(model.taxonomy) - int(model.taxonomy.has_artificial_root),
        n_categories=len(model.categories),
        depth=int(model.taxonomy.depths.max()),
    )
