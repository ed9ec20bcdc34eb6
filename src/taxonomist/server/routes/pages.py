"""Pages for people: the list of all routes. It needs no scripts and nothing from other hosts."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from taxonomist import __version__

router = APIRouter(include_in_schema=False)

STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;"
    "margin:2rem auto;padding:0 1rem}code,pre{font:14px/1.4 ui-monospace,monospace}"
    "summary{cursor:pointer;padding:.3rem 0}td,th{padding:.15rem .8rem .15rem 0;"
    "text-align:left;vertical-align:top}b.method{display:inline-block;width:4.5rem}"
)
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; frame-ancestors 'none'"


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Show all routes with their parameters, as OpenAPI describes them."""
    schema = request.app.openapi()
    by_tag: dict[str, list[str]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["Other"])[0]
            by_tag.setdefault(tag, []).append(_operation(path, method, operation))
    parts = "".join(f"<h2>{escape(tag)}</h2>{''.join(found)}" for tag, found in by_tag.items())
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Taxonomist: routes</title>'
        f"<style>{STYLE}</style><h1>Taxonomist {escape(__version__)}</h1>"
        '<p>All routes. Programs read <a href="openapi.json">openapi.json</a>.</p>'
        f"{parts}</html>"
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def _operation(path: str, method: str, operation: dict[str, object]) -> str:
    """Return a route as HTML."""
    rows = [
        _row(each.get("name"), each.get("in"), each.get("schema"), bool(each.get("required")))
        for each in _dicts(operation.get("parameters"))
    ]
    body = operation.get("requestBody")
    if isinstance(body, dict):
        contents = body["content"].items()
        rows += [_row("body", kind, content.get("schema"), True) for kind, content in contents]
    table = f"<table>{''.join(rows)}</table>" if rows else ""
    answers = operation.get("responses")
    statuses = ", ".join(answers) if isinstance(answers, dict) else ""
    text = escape(str(operation.get("description") or operation.get("summary") or ""))
    return (
        f'<details><summary><b class="method">{method.upper()}</b> <code>{escape(path)}</code>'
        f"</summary><p>{text}</p>{table}<p>Answers: {escape(statuses)}</p></details>"
    )


def _row(name: object, place: object, schema: object, required: bool) -> str:
    """Return a parameter as a row of a table."""
    needed = "required" if required else "optional"
    kind = _kind(schema if isinstance(schema, dict) else {})
    cells = (f"<code>{escape(str(name))}</code>", escape(str(place)), needed, escape(kind))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _kind(schema: dict[str, object]) -> str:
    """Return the type of a value in a few words."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return reference.rpartition("/")[2]
    choices = _dicts(schema.get("anyOf"))
    if choices:
        return " or ".join(map(_kind, choices))
    names = schema.get("enum")
    if isinstance(names, list):
        return ", ".join(map(str, names))
    return str(schema.get("title") if schema.get("type") == "object" else schema.get("type", ""))


def _dicts(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
