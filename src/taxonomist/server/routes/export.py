"""Decided documents as a table that ``taxonomist train`` reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from taxonomist._spreadsheets import guarded
from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import responses
from taxonomist.server.projects import Project
from taxonomist.server.routes.arguments import ReadProject
from taxonomist.server.store.outcomes import ROWS_AT_A_TIME, StandingDecision, standing_page
from taxonomist.workflow.model_columns import model_columns

router = APIRouter(prefix="/v1/projects/{project_id}", tags=["Documents"], responses=responses())

MEDIA = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}},
)
def export(
    project: ReadProject,
    format: Annotated[Literal["csv", "jsonl"], Query(description="Format of the table.")] = "csv",
    raw_cells: Annotated[
        bool, Query(description="Leave out the apostrophes in front of spreadsheet formulas.")
    ] = False,
) -> StreamingResponse:
    """Return all documents with the labels that stand, for ``taxonomist train``.

    The columns with the texts and the labels have the names that they had in training. Several
    labels are a JSON list.
    """
    rows = _json_lines(project) if format == "jsonl" else _csv(project, raw_cells)
    name = f"{project.id}.{format}"
    return StreamingResponse(
        rows,
        media_type=MEDIA[format],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _label_column(model: LiveModel) -> str:
    """Return the name of the column with the labels."""
    known = model_columns(model.classifier).labels
    name = known if isinstance(known, str) else "label"
    return "label" if "," in name or name in model.columns else name


def _decisions(project: Project) -> Iterator[StandingDecision]:
    """Yield decisions; no connection is held while a slow client reads."""
    after = 0
    while True:
        with project.store.reading() as connection:
            page = standing_page(connection, project.id, after)
        yield from page
        if len(page) < ROWS_AT_A_TIME:
            return
        after = page[-1].number


def _json_lines(project: Project) -> Iterator[str]:
    model = project.live
    column = _label_column(model)
    for each in _decisions(project):
        labels = each.chosen if model.is_multilabel else each.chosen[0]
        row = {"id": each.key, **model.by_column(each.texts), column: labels}
        yield json.dumps({**row, **_provenance(each)}, ensure_ascii=False) + "\n"


def _csv(project: Project, raw_cells: bool) -> Iterator[str]:
    # Another model that goes live meanwhile changes no columns.
    model = project.live
    heads = ["id", *model.columns, _label_column(model), "action", "user", "at", "version"]
    yield _line(heads)
    for each in _decisions(project):
        is_set = model.is_multilabel
        labels = json.dumps(each.chosen, ensure_ascii=False) if is_set else each.chosen[0]
        texts = model.by_column(each.texts).values()
        cells = [each.key, *texts, labels, *_provenance(each).values()]
        yield _line(cells if raw_cells else [guarded(cell) for cell in cells])


def _line(cells: list[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


def _provenance(each: StandingDecision) -> dict[str, str]:
    return {
        "action": each.action,
        "user": each.user,
        "at": each.at.isoformat(timespec="seconds"),
        "version": each.version or "",
    }
