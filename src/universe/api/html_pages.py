"""HTML pages for people: the list of universes and the REST API. No scripts, no external content."""

from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from universe.service.universes import UniverseService
from uraniborg.kernel.http.secure_app import make_page_headers

_HEADERS: Final = make_page_headers()
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5c6675; --line: #d9dee6; --link: #1f4fa3; --paper: #fdfdfb }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ec; --soft: #9aa4b2; --line: #323a46; --link: #8db4ff; --paper: #14181e } }
body { margin: 0 auto; max-width: 58rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .75rem .35rem 0;
  border-top: 1px solid var(--line); vertical-align: top } th { color: var(--soft); font-weight: 500 }
code { font: .9em ui-monospace, monospace } .soft { color: var(--soft) }
h2 { margin: 2rem 0 .3rem; font-size: 1.05rem } p { margin: .2rem 0 .6rem }
.verb { display: inline-block; min-width: 4.2rem; font-weight: 600; color: var(--link) }
"""
_MAX_UNIVERSES: Final = 100


def make_page_routes(service: UniverseService, api: FastAPI) -> list[BaseRoute]:
    """Return the routes of the pages `/` and `/docs`."""

    async def show_universes(_request: Request) -> Response:
        records = await service.list_records(limit=_MAX_UNIVERSES)
        rows = "".join(
            f'<tr><td><a href="/universes/{quote(one.id, safe="")}">{escape(one.name)}</a></td>'
            f"<td><code>{escape(one.id)}</code></td><td>{one.version:,}</td><td>{escape(one.updated_at)}</td></tr>"
            for one in records
        )
        empty = (
            '<p class="soft">There are no universes yet. Create one: <code>universe new --from solar-system</code></p>'
        )
        table = f"<table><tr><th>name<th>id<th>version<th>changed</tr>{rows}</table>" if records else empty
        lead = '<p class="soft">Agents: <code>/mcp</code>. Programs: <a href="/docs">REST API</a>.</p>'
        return _render_page("Universes", lead + table)

    async def show_api(_request: Request) -> Response:
        return _render_page("REST API", _render_operations(api.openapi()))

    return [Route("/", show_universes), Route("/docs", show_api)]


@cache
def read_concepts_markdown() -> str:
    """Return the page about states, commands, versions, orbits and sources as Markdown."""
    return (files("universe") / "concepts.md").read_text("utf-8")


def _render_page(title: str, body: str) -> HTMLResponse:
    head = f"<meta charset=utf-8><meta name=viewport content='width=device-width'><title>{escape(title)}</title>"
    return HTMLResponse(
        f"<!doctype html><html lang=en>{head}<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}", headers=_HEADERS
    )


def _render_operations(document: dict[str, Any]) -> str:
    lines = [f'<p>{escape(document["info"]["description"])} <a href="/openapi.json">openapi.json</a></p>']
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            lines.append(f'<h2><span class="verb">{verb.upper()}</span> <code>{escape(path)}</code></h2>')
            lines.append(f"<p>{escape(operation['summary'])}. {escape(operation.get('description', ''))}</p>")
            if parameters := operation.get("parameters"):
                lines.append("<table>" + "".join(_render_parameter(one) for one in parameters) + "</table>")
    return "".join(lines)


def _render_parameter(parameter: dict[str, Any]) -> str:
    description = escape(parameter.get("description", ""))
    return f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{parameter['in']}</td><td>{description}</td></tr>"
