"""Routes for shelves: search, papers, their texts, summaries and citations."""

import asyncio
import re
from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from fastapi import Path, Query
from starlette.responses import Response

from paper_library.errors import PaperNotFound
from paper_library.library import Library, open_shared_library
from paper_library.limits import DEFAULT_FACETS, DEFAULT_PAGE_SIZE, FACETS, PAGE_SIZE, QUERY_CHARS, VALUE_CHARS
from paper_library.paper_links import list_paper_links
from paper_library.replies import (
    Citation,
    CitationList,
    FacetPage,
    FoundPapers,
    PaperHit,
    PaperMetadata,
    PaperSearchPage,
    PaperSummary,
    SearchPage,
    ShelfDetails,
    ShelfList,
)
from paper_library.search.query import Sort
from paper_library.shelf_catalog import find_known_shelf, list_known_shelves
from paper_library.text.citations import FORMATS
from paper_library.text.document_tree import make_inline_tree
from paper_library.text_replies import TextPage
from uraniborg.connect.servers import format_program_path
from uraniborg.console.routes.dependencies import make_router
from uraniborg.kernel.errors import InvalidInput

T = TypeVar("T")
_PDF_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox"
"""The PDF loads nothing. If it is read as another type, it has no origin and runs no script."""
FacetKind = Literal["author", "venue", "keyword", "institution", "tag", "year"]
ShelfName = Annotated[str, Path(max_length=200, description="The name of a shelf.")]
PaperId = Annotated[str, Path(max_length=VALUE_CHARS, description="A paper_id, arXiv id or BibTeX key.")]
Limit = Annotated[int, Query(ge=1, le=PAGE_SIZE)]
Offset = Annotated[int, Query(ge=0)]
Value = Annotated[str | None, Query(max_length=VALUE_CHARS)]


async def read_shelf(name: str, read: Callable[[Library], T]) -> T:
    """Return the result of `read` for a shelf, in a thread. Raise ShelfNotFound or the errors of `Library`."""
    return await asyncio.to_thread(lambda: read(open_shared_library(find_known_shelf(name).path)))


_PAPER = "/api/shelves/{shelf}/papers/{paper_id}"
router = make_router("shelves")


@router.get("/api/shelves", summary="List the shelves")
async def list_shelves() -> ShelfList:
    """Return the shelf of the settings, then the shelves in the data folder, each with its number of papers."""
    shelves = await asyncio.to_thread(lambda: [shelf.describe() for shelf in list_known_shelves()])
    # A page does not know the folder and the PATH of the reader's terminal
    command = f"{format_program_path('uraniborg')} library build FOLDER -o SHELF"
    return {"shelves": shelves, "build_command": command}


@router.get("/api/shelves/{shelf}", summary="Return a shelf in numbers")
async def get_shelf(shelf: ShelfName) -> ShelfDetails:
    counts = await read_shelf(shelf, lambda library: library.stats())
    known = await asyncio.to_thread(lambda: find_known_shelf(shelf).describe())
    return {**known, **counts}


@router.get("/api/shelves/{shelf}/search", summary="Search a shelf")
async def search_shelf(
    shelf: ShelfName,
    q: Annotated[str, Query(max_length=QUERY_CHARS, description="The query; empty lists all papers.")] = "",
    limit: Limit = DEFAULT_PAGE_SIZE,
    offset: Offset = 0,
    sort: Sort = "relevance",
    author: Value = None,
    venue: Value = None,
    keyword: Value = None,
    institution: Value = None,
    tag: Value = None,
    year: Annotated[str | None, Query(pattern=r"^\d{0,4}(\.\.\d{0,4})?$", description="2021 or 2019..2023")] = None,
    facets: Annotated[list[FacetKind] | None, Query(description="Count these values. Repeatable.")] = None,
    facet_limit: Annotated[int, Query(ge=1, le=FACETS)] = 10,
    years: Annotated[bool, Query(description="Count the papers of each year.")] = False,
) -> PaperSearchPage:
    """Return the papers that match a query, best first, each with a passage; as the tool `search_papers` does."""
    given = {"author": author, "venue": venue, "keyword": keyword, "institution": institution, "tag": tag,
             "year": year}  # fmt: skip
    return await _find_hits(
        shelf,
        lambda library: library.search(
            q,
            limit=limit,
            offset=offset,
            sort=sort,
            filters={kind: value for kind, value in given.items() if value},
            facets=facets or (),
            facet_limit=facet_limit,
            count_years=years,
        ),
    )


@router.get("/api/shelves/{shelf}/facets/{kind}", summary="List frequent values")
async def list_facet_values(
    shelf: ShelfName,
    kind: FacetKind,
    limit: Annotated[int, Query(ge=1, le=FACETS)] = DEFAULT_FACETS,
    offset: Offset = 0,
) -> FacetPage:
    """Return the values of one kind with their numbers of papers, most frequent first."""
    return await read_shelf(shelf, lambda library: library.top_facets(kind, limit=limit, offset=offset))


@router.get("/api/shelves/{shelf}/lookup", summary="Find a paper by its id")
async def look_up_paper(
    shelf: ShelfName,
    id: Annotated[Value, Query(description="A DOI, arXiv id, BibTeX key or paper_id.")] = None,  # noqa: A002
    title: Annotated[Value, Query(description="The exact title.")] = None,
) -> FoundPapers:
    """Return the ids of the papers with this identifier or title; none if the shelf has no such paper."""
    if (id is None) == (title is None):
        raise InvalidInput(
            "Either id or title is required, not both.", hint="Use ?id=10.1038/nature21360.", argument="id"
        )
    if title is not None:
        found = await read_shelf(shelf, lambda library: library.find_ids_by_title(title))
    else:
        found = await read_shelf(shelf, lambda library: _find_by_identifier(library, id or ""))
    return {"paper_ids": found}


@router.get(_PAPER, summary="Return a paper")
async def get_paper(shelf: ShelfName, paper_id: PaperId) -> PaperMetadata:
    """Return all metadata of a paper, with its outline, editorial notices and links."""
    metadata = await read_shelf(shelf, lambda library: library.metadata(paper_id))
    links = list_paper_links(metadata["identifiers"])
    known = await asyncio.to_thread(find_known_shelf, shelf)
    has_original = await read_shelf(shelf, lambda library: library.has_original(paper_id))
    path = str(known.path.resolve())
    return {**metadata, "links": links, "has_original": has_original, "shelf_path": path}


@router.get(
    f"{_PAPER}/original",
    summary="Return the PDF of a paper",
    response_class=Response,
    responses={200: {"content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def get_paper_original(shelf: ShelfName, paper_id: PaperId) -> Response:
    """Return the PDF that the text of a paper was read from, for the viewer of the browser."""
    key = await read_shelf(shelf, lambda library: library.metadata(paper_id).get("citation_key", ""))
    content = await read_shelf(shelf, lambda library: library.original(paper_id))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", key).strip(".-") or "paper"
    headers = {"Content-Disposition": f'inline; filename="{name}.pdf"', "Content-Security-Policy": _PDF_POLICY}
    return Response(content, media_type="application/pdf", headers=headers)


@router.get(f"{_PAPER}/text", summary="Return the text of a paper")
async def get_paper_text(
    shelf: ShelfName,
    paper_id: PaperId,
    lang: Annotated[str | None, Query(max_length=50, description="The language of a translation.")] = None,
    offset: Annotated[int, Query(ge=0, description="A position in the text; its page is returned.")] = 0,
    section: Annotated[Value, Query(description="Return the section under this heading.")] = None,
) -> TextPage:
    """Return a page of the text as a tree of blocks, at most about 50,000 characters."""
    return await read_shelf(
        shelf, lambda library: library.text_page(paper_id, lang=lang, offset=offset, section=section)
    )


@router.get(f"{_PAPER}/summary", summary="Return a summary of a paper")
async def get_paper_summary(shelf: ShelfName, paper_id: PaperId, template: Value = None) -> PaperSummary:
    """Return the summary of a template, or the preferred one."""
    return await read_shelf(shelf, lambda library: library.summary_page(paper_id, template))


@router.get(f"{_PAPER}/similar", summary="List similar papers")
async def list_similar_papers(
    shelf: ShelfName, paper_id: PaperId, limit: Limit = DEFAULT_PAGE_SIZE, offset: Offset = 0
) -> PaperSearchPage:
    """Return papers on the same topics, the most similar first."""
    return await _find_hits(shelf, lambda library: library.find_similar(paper_id, limit=limit, offset=offset))


@router.get(f"{_PAPER}/citations", summary="Cite a paper")
async def list_citations(shelf: ShelfName, paper_id: PaperId) -> CitationList:
    """Return the citation of a paper in every format."""

    def make_citations(library: Library) -> list[Citation]:
        return [
            {
                "format": name,
                "label": form.label,
                "suffix": form.suffix,
                "media_type": form.media_type,
                "text": library.citations([paper_id], name),
            }
            for name, form in FORMATS.items()
        ]

    return {"citations": await read_shelf(shelf, make_citations)}


def _find_by_identifier(library: Library, identifier: str) -> list[str]:
    try:
        return [library.metadata(identifier)["paper_id"]]
    except PaperNotFound:
        return []


async def _find_hits(shelf: str, find_papers: Callable[[Library], SearchPage]) -> PaperSearchPage:
    """Return a page of results, with each snippet also as a tree."""

    def find_and_add_trees(library: Library) -> PaperSearchPage:
        page = find_papers(library)
        hits: list[PaperHit] = [
            {**hit, "snippet": make_inline_tree(hit["snippet_markdown"])} for hit in page["results"]
        ]
        return {**page, "results": hits}

    return await read_shelf(shelf, find_and_add_trees)
