"""Routes for shelves: search, papers, their texts and citations, notes on them, and where they are used."""

import asyncio
import re
from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from fastapi import Body, Path, Query
from starlette.responses import Response

from paper_library.domain.citations import FORMATS, list_paper_links
from paper_library.domain.document_tree import make_inline_tree
from paper_library.domain.limits import DEFAULT_FACETS, DEFAULT_PAGE_SIZE, FACETS, PAGE_SIZE, QUERY_CHARS, VALUE_CHARS
from paper_library.domain.query import Sort
from paper_library.domain.replies import (
    Citation,
    CitationList,
    FacetPage,
    FoundPapers,
    NoteList,
    PaperHit,
    PaperMetadata,
    PaperNoteReply,
    PaperSearchPage,
    PaperSummary,
    SearchPage,
    ShelfDetails,
    ShelfList,
)
from paper_library.domain.text_blocks import TextPage
from paper_library.errors import PaperNotFound
from paper_library.service.library import Library, open_shared_library
from paper_library.service.shelf_catalog import find_known_shelf, list_known_shelves
from paper_library.store.paper_notes import MOST_CHARACTERS, MOST_COLLECTIONS, PaperNotes, count_collections
from uraniborg.connect.server_entries import format_program_path
from uraniborg.console.api import Sender, make_router
from uraniborg.console.replies import PaperUseList
from uraniborg.console.services import Services
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput, UraniborgError

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


_MOST_LISTED = 500


_NOTE = "/api/shelves/{shelf}/papers/{paper_id}/note"


@router.get("/api/shelves/{shelf}/notes", summary="List notes")
async def list_notes(shelf: ShelfName, collection: Annotated[str | None, Query(max_length=200)] = None) -> NoteList:
    """Return the papers with notes, or those of a collection, and all collections of the shelf."""
    return await asyncio.to_thread(_list_notes, shelf, collection)


@router.get(_NOTE, summary="Return the note on a paper")
async def get_note(shelf: ShelfName, paper_id: PaperId) -> PaperNoteReply:
    return await asyncio.to_thread(_read_note, shelf, paper_id)


@router.put(_NOTE, summary="Write the note on a paper")
async def write_note(
    actor: Sender,
    shelf: ShelfName,
    paper_id: PaperId,
    text: Annotated[str, Body(max_length=MOST_CHARACTERS)],
    collections: Annotated[list[str], Body(max_length=MOST_COLLECTIONS)],
    revision: Annotated[str | None, Body(max_length=100)] = None,
) -> PaperNoteReply:
    """Replace the note on a paper, unless somebody else has changed it. The shelf itself stays as it is."""
    return await asyncio.to_thread(_write_note, shelf, paper_id, text, collections, actor, revision)


def _open(shelf: str) -> tuple[Library, PaperNotes]:
    path = find_known_shelf(shelf).path
    library = open_shared_library(path)
    return library, PaperNotes(path, library)


def _read_note(shelf: str, paper_id: str) -> PaperNoteReply:
    library, notes = _open(shelf)
    return notes.read_note(library.find_paper_id(paper_id)).as_dict()


def _write_note(
    shelf: str, paper_id: str, text: str, collections: list[str], actor: Actor, revision: str | None
) -> PaperNoteReply:
    library, notes = _open(shelf)
    known = library.find_paper_id(paper_id)
    return notes.write_note(known, text, collections, by=actor.name, revision=revision, actor=actor).as_dict()


def _list_notes(shelf: str, collection: str | None) -> NoteList:
    library, notes = _open(shelf)
    found = notes.read_all()
    chosen = [note for note in found.values() if collection is None or collection in note.collections]
    return {
        "papers": [{**note.as_dict(), "title": _find_title(library, note.paper_id)} for note in chosen[:_MOST_LISTED]],
        "total": len(chosen),
        "collections": [{"name": name, "papers": count} for name, count in count_collections(found).items()],
    }


def _find_title(library: Library, paper_id: str) -> str | None:
    try:
        return library.metadata(paper_id)["title"]
    except UraniborgError:
        return None


_IDENTIFIERS = ("doi", "arxiv", "bibkey")


@router.get(
    "/api/shelves/{shelf}/papers/{paper_id}/uses",
    summary="List where a paper is used",
)
async def list_paper_uses(services: Services, shelf: ShelfName, paper_id: PaperId) -> PaperUseList:
    """Return the bodies of universes that take values from a paper, and the workflows that mention it."""
    metadata = await read_shelf(shelf, lambda library: library.metadata(paper_id))
    known = {name: value for name in _IDENTIFIERS if (value := metadata["identifiers"].get(name))}
    known["id"] = metadata["paper_id"]
    mentions = await asyncio.to_thread(services.workflows.find_mentions, list(known.values()))
    index = services.universe.get_paper_uses()
    bodies = await index.find_uses(known) if index else None
    return {
        "bodies": [
            {"universe_id": use.universe_id, "universe": use.universe, "body": use.body, "fields": [*use.fields]}
            for use in (bodies.uses if bodies else ())
        ],
        "workflows": [{"name": one.name, "source": one.source, "nodes": [*one.nodes]} for one in mentions],
        "is_complete": bodies is not None and bodies.is_complete,
    }
