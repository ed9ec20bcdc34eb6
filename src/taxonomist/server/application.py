"""The app: all routes, guarded."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from taxonomist import __version__
from taxonomist.server.logs import set_up_logs
from taxonomist.server.middleware import Guard
from taxonomist.server.problems import Problem, add_handlers
from taxonomist.server.routes import (
    annif,
    bulk,
    decisions,
    documents,
    export,
    label_studio,
    leases,
    models,
    nodes,
    operations,
    pages,
    predictions,
    quality,
    screen,
    session,
    taxonomy,
    trainings,
)
from taxonomist.server.service import Service
from taxonomist.server.settings import ServiceSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["SETTINGS_VARIABLE", "app_of_process", "make_app"]

SETTINGS_VARIABLE = "TAXONOMIST_SERVICE"
"""Environment variable with the settings, for the processes of a server."""
NOUNS = (
    annif,
    taxonomy,
    nodes,
    predictions,
    documents,
    leases,
    decisions,
    bulk,
    models,
    quality,
    trainings,
    export,
    operations,
    session,
    pages,
    screen,
)


def make_app(settings: ServiceSettings) -> FastAPI:
    """Return the app with its models loaded and its database open.

    Parameters
    ----------
    settings
        Settings of the service.
    """
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="Taxonomist",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.service = service
    add_handlers(app)
    for noun in NOUNS:
        app.include_router(noun.router)
    if settings.label_studio:
        app.include_router(label_studio.router)
    app.add_middleware(Guard, settings=settings, gate=service.gate, monitor=service.monitor)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["*"],
            allow_headers=["authorization", "content-type", "x-request-id"],
            expose_headers=["x-request-id", "retry-after"],
        )
    _describe_errors(app)
    return app


def _describe_errors(app: FastAPI) -> None:
    """Say in OpenAPI that all errors are problems, also those of validation."""
    make = app.openapi

    def openapi() -> dict[str, object]:
        if app.openapi_schema is None:
            found = make()
            schemas = found.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for operations_ in found["paths"].values():
                for operation in operations_.values():
                    operation["responses"].pop("422", None)
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def app_of_process() -> FastAPI:
    """Return the app of a process that a server has started."""
    set_up_logs()
    return make_app(ServiceSettings.from_json(os.environ[SETTINGS_VARIABLE]))
