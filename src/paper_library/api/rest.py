"""Serve a shelf over REST, with the same results as the MCP tools."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse
from starlette.responses import Response

from paper_library.domain.citations import FORMATS
from paper_library.domain.excerpts import cut_text_with_marker
from paper_library.domain.limits import (
    DEFAULT_FACETS,
    DEFAULT_PAGE_SIZE,
    FACETS,
    HTML_CHARS,
    OFFSET,
    PAGE_SIZE,
    QUERY_CHARS,
    VALUE_CHARS,
    choose_page_size,
)
from paper_library.domain.markdown import render_safe_html
from paper_library.domain.replies import Addresses, FacetPage, FoundPapers, SearchPage, ShelfCounts, StoredMetadata
from paper_library.service.library import Library
from paper_library.service.worker_threads import WorkerThreads
from uraniborg.kernel.errors import ErrorBody, InvalidInput
from uraniborg.kernel.http.secure_app import (
    FRAGMENT_HEADERS,
    ReplyRoute,
    add_error_handlers,
    add_routes,
    add_validation_handler,
)
from uraniborg.kernel.language.messages import find_nearest_names
from uraniborg.kernel.version import version

Paper = Annotated[str, Path(max_length=VALUE_CHARS, description="A paper_id, arXiv id or BibTeX key.")]
Limit = Annotated[int | None, Query(ge=1, le=PAGE_SIZE, description=f"{DEFAULT_PAGE_SIZE} if left out.")]
PageSize = Annotated[int | None, Query(ge=1, le=PAGE_SIZE, description="Another name for limit.")]
# The library checks the upper limit: its error explains how to narrow the query.
Offset = Annotated[int, Query(ge=0, json_schema_extra={"maximum": OFFSET})]
TextOffset = Annotated[int, Query(ge=0)]
MaxChars = Annotated[int | None, Query(ge=1)]
FacetKind = Literal["author", "venue", "keyword", "institution", "tag", "year"]
Value = Annotated[str | None, Query(max_length=VALUE_CHARS)]


class ShelfReader(NamedTuple):
    """A shelf and the threads in which it is read; the state of the app has them as `shelf`."""

    library: Library
    threads: WorkerThreads


async def get_shelf(request: Request) -> ShelfReader:
    """Return the shelf of the app that answers the request."""
    return request.app.state.shelf


Shelf = Annotated[ShelfReader, Depends(get_shelf)]


def make_rest_app(library: Library, threads: WorkerThreads) -> FastAPI:
    """Return the ASGI app for /api/v1."""
    app = FastAPI(
        title="Paper library",
        version=version(),
        description="A read-only shelf of papers. Every response has an ETag that changes with the shelf.",
        docs_url=None,
        redoc_url=None,
    )
    app.state.shelf = ShelfReader(library, threads)
    add_error_handlers(app)
    add_validation_handler(app, InvalidInput, hint="See /api/v1/openapi.json.")
    app.middleware("http")(_add_etag)
    add_routes(app, router)
    return app


async def _add_etag(request: Request, call_next: Callable[[Request], Any]) -> Response:
    etag = f'"{request.app.state.shelf.library.build_id}-{request.app.version}"'
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    response: Response = await call_next(request)
    if response.status_code == 200 and etag in known:
        response = Response(status_code=304)
    if response.status_code in (200, 304):
        response.headers["ETag"] = etag
        response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


async def _reject_unknown_parameters(request: Request) -> None:
    """Raise InvalidInput for an unknown query parameter."""
    route = request.scope["route"]
    allowed = [parameter.alias for parameter in route.dependant.query_params]
    unknown = [name for name in request.query_params if name not in allowed]
    if not unknown:
        return
    near = find_nearest_names(unknown[0].lower(), allowed)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    named = ", ".join(repr(name[:80]) for name in unknown[:5])
    raise InvalidInput(
        f"{route.path} has no parameter {named}.",
        hint=f"{meant}Allowed parameters: {', '.join(allowed) if allowed else 'none'}.",
        argument=unknown[0][:80],
        allowed=allowed,
        **({"nearest": near} if near else {}),
    )


router = APIRouter(
    route_class=ReplyRoute,
    dependencies=[Depends(_reject_unknown_parameters)],
    responses={status: {"model": ErrorBody} for status in (404, 422, 503)},
)


@router.get("/search", summary="Search the shelf")
async def search(
    shelf: Shelf,
    q: Annotated[str, Query(max_length=QUERY_CHARS, description="The query; empty lists all papers.")] = "",
    limit: Limit = None,
    page_size: PageSize = None,
    offset: Offset = 0,
    sort: Literal["relevance", "year_desc", "year_asc", "title_asc", "title_desc"] = "relevance",
    author: Value = None,
    venue: Value = None,
    keyword: Value = None,
    institution: Value = None,
    tag: Value = None,
    year: Annotated[str | None, Query(pattern=r"^\d{0,4}(\.\.\d{0,4})?$", description="2021 or 2019..2023")] = None,
    facets: Annotated[
        list[FacetKind] | None, Query(description="Count these values over all results. Repeatable.")
    ] = None,
    facet_limit: Annotated[int, Query(ge=1, le=FACETS)] = 10,
) -> SearchPage:
    """Return the papers that match a query, best first, with snippets; filters take complete values."""
    given = {
        "author": author,
        "venue": venue,
        "keyword": keyword,
        "institution": institution,
        "tag": tag,
        "year": year,
    }
    size = choose_page_size(limit, page_size)
    return await shelf.threads.run_query(
        lambda: shelf.library.search(
            q,
            limit=size,
            offset=offset,
            sort=sort,
            filters={kind: value for kind, value in given.items() if value},
            facets=facets or (),
            facet_limit=facet_limit,
        )
    )


@router.get("/", summary="List the addresses")
async def index(request: Request, shelf: Shelf) -> Addresses:
    """Return the addresses of this interface."""
    paths = [path for path in request.app.openapi()["paths"] if path != "/"]
    return {"build_id": shelf.library.build_id, "openapi": "openapi.json", "addresses": [path[1:] for path in paths]}


@router.get("/facets/{kind}", summary="The most frequent values")
async def facets(
    shelf: Shelf,
    kind: FacetKind,
    limit: Annotated[int, Query(ge=1, le=FACETS)] = DEFAULT_FACETS,
    offset: Offset = 0,
) -> FacetPage:
    """Return the values of one kind with their numbers of papers, most frequent first."""
    return await shelf.threads.run_query(lambda: shelf.library.top_facets(kind, limit=limit, offset=offset))


@router.get("/stats", summary="The shelf in numbers")
async def stats(shelf: Shelf) -> ShelfCounts:
    """Return counts of papers, texts, summaries and missing fields."""
    return await shelf.threads.run_query(shelf.library.stats)


@router.get("/lookup", summary="Find a paper by identifier or title")
async def lookup(
    shelf: Shelf,
    id: Annotated[  # noqa: A002 - the usual name
        str | None, Query(max_length=VALUE_CHARS, description="A DOI, arXiv id, BibTeX key or paper_id.")
    ] = None,
    title: Annotated[str | None, Query(max_length=VALUE_CHARS, description="The exact title.")] = None,
) -> FoundPapers:
    """Return the paper_ids of the papers with this identifier or title."""
    if (id is None) == (title is None):
        raise InvalidInput(
            "Either id or title is required, not both.",
            hint="Use ?id=10.1038/nature21360 or ?title=TITLE.",
            argument="id",
        )
    return {
        "paper_ids": shelf.library.find_ids_by_title(title)
        if title is not None
        else [shelf.library.metadata(id or "")["paper_id"]]
    }


@router.get(
    "/papers/{paper_id}",
    summary="The metadata of a paper",
    responses={200: {"model": StoredMetadata}},
)
async def paper(shelf: Shelf, paper_id: Paper) -> Response:
    """Return all metadata of a paper; its text and summaries have their own addresses."""
    return Response(shelf.library.metadata_json(paper_id), media_type="application/json")


@router.get("/papers/{paper_id}/summary/{template}", summary="A summary")
@router.get("/papers/{paper_id}/summary", summary="The preferred summary")
async def summary(shelf: Shelf, paper_id: Paper, template: str | None = None) -> Response:
    """Return a summary, as JSON."""
    return Response(
        await shelf.threads.run_fetch(lambda: shelf.library.summary(paper_id, template)), media_type="application/json"
    )


@router.get("/papers/{paper_id}/source", summary="The text of a paper")
async def source(
    shelf: Shelf,
    paper_id: Paper,
    format: Literal["markdown", "html"] = "markdown",  # noqa: A002 - the usual name
    max_chars: MaxChars = None,
    offset: TextOffset = 0,
) -> Response:
    """Return the text as markdown, or as HTML without active content."""
    return await shelf.threads.run_fetch(
        lambda: _make_text_response(shelf.library.source(paper_id), format, max_chars, offset)
    )


@router.get("/papers/{paper_id}/translation/{lang}", summary="A translation of a paper")
async def translation(
    shelf: Shelf,
    paper_id: Paper,
    lang: str,
    format: Literal["markdown", "html"] = "markdown",  # noqa: A002 - the usual name
    max_chars: MaxChars = None,
    offset: TextOffset = 0,
) -> Response:
    """Return a translation as markdown or HTML."""
    return await shelf.threads.run_fetch(
        lambda: _make_text_response(shelf.library.translation(paper_id, lang), format, max_chars, offset)
    )


@router.get("/papers/{paper_id}/bibtex", summary="The BibTeX entry")
async def bibtex(shelf: Shelf, paper_id: Paper) -> Response:
    """Return the BibTeX entry as its owner wrote it."""
    return Response(shelf.library.bibtex(paper_id), media_type="application/x-bibtex")


@router.get("/papers/{paper_id}/citation/{format}", summary="The citation")
async def citation(
    shelf: Shelf,
    paper_id: Paper,
    format: Literal["bibtex", "ris", "csl-json"],  # noqa: A002 - the usual name
) -> Response:
    """Return the citation in a format of reference managers."""
    text = await shelf.threads.run_query(lambda: shelf.library.citations([paper_id], format))
    return Response(text, media_type=FORMATS[format].media_type)


@router.get("/papers/{paper_id}/similar", summary="Similar papers")
async def similar(shelf: Shelf, paper_id: Paper, limit: Limit = None, offset: Offset = 0) -> SearchPage:
    """Return papers on the same topics, the most similar first."""
    size = limit or DEFAULT_PAGE_SIZE
    return await shelf.threads.run_query(lambda: shelf.library.find_similar(paper_id, limit=size, offset=offset))


def _make_text_response(text: str, format_name: str, max_chars: int | None, offset: int) -> Response:
    if format_name == "html":
        part = cut_text_with_marker(text, offset, min(max_chars or HTML_CHARS, HTML_CHARS))
        return HTMLResponse(render_safe_html(part), headers=FRAGMENT_HEADERS)
    return PlainTextResponse(cut_text_with_marker(text, offset, max_chars), media_type="text/markdown; charset=utf-8")
