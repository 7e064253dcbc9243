"""Serve a shelf to agents over MCP: tools that search and read, and papers as resources."""

from typing import Annotated, Final, Literal

from pydantic import Field

from paper_library.domain.citations import format_authors_venue_year
from paper_library.domain.excerpts import cut_text_with_marker
from paper_library.domain.limits import (
    CITATIONS,
    DEFAULT_FACETS,
    DEFAULT_PAGE_SIZE,
    FACETS,
    OFFSET,
    PAGE_SIZE,
    QUERY_CHARS,
    READ_CHARS,
    RESOURCE_CHARS,
    RESOURCES_LISTED,
    VALUE_CHARS,
    choose_page_size,
)
from paper_library.domain.replies import FacetPage, Hit, Metadata, SearchReply
from paper_library.errors import OutOfBounds
from paper_library.service.library import Library
from paper_library.service.worker_threads import WorkerThreads
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.mcp import EncodedReply, Listed, Origin, Server, explain_mark, make_server, resource, tool
from uraniborg.kernel.version import version

FOREIGN: Final[tuple[Origin, ...]] = ("papers",)

PaperId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=VALUE_CHARS,
        description="A paper_id from a search, or a DOI, arXiv id or BibTeX key of a paper on this shelf.",
    ),
]
MaxChars = Annotated[
    int | None,
    Field(ge=1, description="The most characters to return. A marker at the end names the offset to continue with."),
]
TextOffset = Annotated[int, Field(ge=0, description="The position in the text to start at, in characters.")]
Language = Annotated[
    str | None, Field(max_length=VALUE_CHARS, description="One of translations; the original language if left out.")
]


def add_reading_tools(server: Server, library: Library, threads: WorkerThreads) -> None:
    """Add get_paper_metadata, get_paper_summary and get_paper_source."""

    @tool(server, title="Metadata of a paper", read_only=True, idempotent=True, foreign=FOREIGN)
    async def get_paper_metadata(paper_id: PaperId) -> Metadata | EncodedReply:
        """Return the metadata of a paper of this shelf: authors, abstract, identifiers, keywords, outline and more.

        Use it after a search and before reading. It lists the summaries (available_summary_templates; the default is
        preferred_summary_template), the translations, the headings (outline) and the length of the text (source_chars).
        retraction is set if the paper was retracted.
        """
        return EncodedReply(library.metadata_json(paper_id))

    @tool(server, title="Read a summary", read_only=True, idempotent=True, foreign=FOREIGN)
    async def get_paper_summary(
        paper_id: PaperId,
        template: Annotated[
            str | None, Field(max_length=VALUE_CHARS, description="One of available_summary_templates.")
        ] = None,
        max_chars: MaxChars = None,
        offset: TextOffset = 0,
    ) -> str:
        """Return a summary of a paper of this shelf, as the JSON text of one template.

        Call get_paper_metadata first: it lists the available templates. Without template the preferred one is read.
        The summary is complete unless max_chars limits it; continue with offset.
        """
        text = await threads.run_fetch(lambda: library.summary(paper_id, template))
        return cut_text_with_marker(text, offset, max_chars)

    @tool(server, title="Read the paper itself", read_only=True, idempotent=True, foreign=FOREIGN)
    async def get_paper_source(
        paper_id: PaperId, max_chars: MaxChars = READ_CHARS, offset: TextOffset = 0, lang: Language = None
    ) -> str:
        """Return the text of a paper of this shelf, or its translation into lang, as markdown.

        Use it to read a paper in full. The text can be very large, so max_chars is 20,000 if left out; continue with
        the offset that the marker at the end names. get_paper_metadata gives source_chars and, in outline, the offset
        of each section. Not every paper has a text.
        """
        text = await threads.run_fetch(lambda: library.source(paper_id, lang))
        return cut_text_with_marker(text, offset, max_chars or READ_CHARS)


def add_extra_tools(server: Server, library: Library, threads: WorkerThreads) -> None:
    """Add read_paper_section and export_citations, which are not in the specification."""

    @tool(server, title="Read one section", read_only=True, idempotent=True, foreign=FOREIGN)
    async def read_paper_section(
        paper_id: PaperId,
        section: Annotated[
            str,
            Field(
                min_length=1,
                max_length=VALUE_CHARS,
                description="A heading of the outline, part of a heading, or section of a search result.",
            ),
        ],
        max_chars: MaxChars = READ_CHARS,
        offset: TextOffset = 0,
        lang: Language = None,
    ) -> str:
        """Return one section of the text of a paper of this shelf, with its subsections, as markdown.

        Use it instead of get_paper_source when get_paper_metadata's outline or a search result names the section you
        need. offset counts from the beginning of the section; max_chars is 20,000 if left out.
        """
        text = await threads.run_fetch(lambda: library.section(paper_id, section, lang=lang))
        return cut_text_with_marker(text, offset, max_chars or READ_CHARS)

    @tool(server, title="Export citations", read_only=True, idempotent=True, foreign=FOREIGN)
    async def export_citations(
        paper_ids: Annotated[
            list[PaperId],
            Field(min_length=1, max_length=CITATIONS, description="The papers; each is cited once."),
        ],
        format: Annotated[  # noqa: A002 - the usual name
            Literal["bibtex", "ris", "csl-json"], Field(description="bibtex, ris or csl-json.")
        ] = "bibtex",
    ) -> str:
        """Return the citations of papers of this shelf, for a bibliography or a reference manager.

        Use it to cite papers. A BibTeX entry is copied as its owner wrote it, or generated from the metadata.
        """
        return await threads.run_query(lambda: library.citations(paper_ids, format))


INSTRUCTIONS: Final = (
    "A read-only shelf of papers. Work from short to long. search_papers and search_papers_by_keyword find papers; a "
    "result has a paper_id, the fields that matched (matched_fields) and, for a match in the text, its section and "
    "offset. get_paper_metadata gives abstract, outline, summaries and translations. get_paper_summary reads "
    "a summary; get_paper_source reads the text, or a translation with lang, 20,000 characters at a time unless "
    "max_chars is given; the marker at the end names the offset to continue with. list_top_facets counts authors, "
    "venues, keywords, institutions and tags. Papers are resources too: resources/list pages through them, and "
    "paper://PAPER_ID/source?offset=50000 continues in a long text. A retracted paper is marked: retracted in results, "
    "retraction in its metadata. Say so when you use it."
)
EXTRA_INSTRUCTIONS: Final = (
    " read_paper_section reads one section by its heading. export_citations writes BibTeX, RIS or CSL-JSON."
)

_HINTS: Final = {
    "^(sort|order)": "Orders are values of sort: relevance, year_desc, year_asc, title_asc or title_desc.",
    "year|(^|_)date|since": "search_papers reads years from query, such as year:2019..2023 or since 2015.",
    "author|venue|journal|^title$|^tags?$|institution|filter": "search_papers reads filters from query, such as "
    "author:Mayor venue:Nature year:2019..2023.",
    r"^paper://10\.\d+/": "Write the slash of a DOI as %2F, such as paper://10.1038%2F378355a0/source.",
    "^lang": "get_paper_source reads a translation, with lang.",
    "^(add|upload|import|delete|remove|update|edit|save|tag)_": "This shelf is read-only: its owner changes the files "
    "and runs `paper-library build`.",
}
"""Hints for names that agents try but the server does not have, by patterns."""
_EXTRA_HINTS: Final = {
    "bibtex|citation|cite|reference|^format$": "export_citations takes paper_ids and writes BibTeX, RIS or CSL-JSON.",
    "^(section|heading|chapter)s?$": "read_paper_section reads one section by its heading.",
    "^offset$": "offset is a number; read_paper_section reads one section by its heading.",
}

_NAME_CHARS: Final = 100

Limit = Annotated[
    int | None, Field(ge=1, le=PAGE_SIZE, description=f"The most results to return; {DEFAULT_PAGE_SIZE} if left out.")
]
PageSize = Annotated[int | None, Field(ge=1, le=PAGE_SIZE, description="Another name for limit.")]
Offset = Annotated[
    int,
    # The library checks the upper limit: its error explains how to narrow the query.
    Field(
        ge=0,
        json_schema_extra={"maximum": OFFSET},
        description="The number of results to skip; use next_offset of a reply for the next page.",
    ),
]


def make_mcp_server(library: Library, threads: WorkerThreads, *, extra_tools: bool = True) -> Server:
    """Return the MCP server of a shelf; without `extra_tools` it has only the six tools of the specification."""
    named = f" The shelf is named '{make_printable(library.name[:_NAME_CHARS])}'."
    instructions = f"{INSTRUCTIONS}{EXTRA_INSTRUCTIONS if extra_tools else ''}{named} {explain_mark(FOREIGN)}"
    hints = _EXTRA_HINTS | _HINTS if extra_tools else _HINTS
    server = make_server("paper-library", version=version(), instructions=instructions, hints=hints)
    _add_search_tools(server, library, threads)
    add_reading_tools(server, library, threads)
    if extra_tools:
        add_extra_tools(server, library, threads)
    _add_resources(server, library, threads)
    _add_paper_list(server, library, threads)
    return server


def _add_search_tools(server: Server, library: Library, threads: WorkerThreads) -> None:
    @tool(server, title="Search the shelf", read_only=True, idempotent=True, foreign=FOREIGN)
    async def search_papers(
        query: Annotated[
            str,
            Field(
                max_length=QUERY_CHARS,
                description='Words in any order; also "a phrase", -without, word*, this OR that, and filters title: '
                "author: venue: keyword: tag: doi: year:2019..2023. Empty lists all papers.",
            ),
        ],
        limit: Limit = None,
        page_size: PageSize = None,
        offset: Offset = 0,
        sort: Literal["relevance", "year_desc", "year_asc", "title_asc", "title_desc"] = "relevance",
    ) -> SearchReply:
        """Search this shelf of papers: titles, abstracts, summaries, texts, names and identifiers.

        Use it first, to find papers on a topic, or a known paper by words of its title, an author or a DOI. Returns
        the best matches, each with its paper_id and the matching passage; total and next_offset describe further
        results. interpreted_query explains how the query was read; every text is a valid query.
        """
        size = choose_page_size(limit, page_size)
        return await threads.run_query(lambda: library.search(query, limit=size, offset=offset, sort=sort))

    @tool(server, title="Papers by keyword or tag", read_only=True, idempotent=True, foreign=FOREIGN)
    async def search_papers_by_keyword(
        keyword: Annotated[
            str,
            Field(min_length=1, max_length=VALUE_CHARS, description="A keyword or tag; case does not matter."),
        ],
        limit: Limit = None,
        page_size: PageSize = None,
        offset: Offset = 0,
    ) -> SearchReply:
        """List the papers of this shelf with this keyword or tag, newest first.

        Use it when you know the keyword, for example from get_paper_metadata or list_top_facets; to search for words
        anywhere in papers use search_papers. If no paper has exactly this keyword, the papers whose keywords contain it
        are listed, and interpreted_query names these keywords.
        """
        size = choose_page_size(limit, page_size)
        return await threads.run_query(lambda: library.search_by_keyword(keyword, limit=size, offset=offset))

    @tool(
        server,
        title="Topics, people and venues of the shelf",
        read_only=True,
        idempotent=True,
        foreign=FOREIGN,
    )
    async def list_top_facets(
        category: Annotated[
            Literal["author", "venue", "keyword", "institution", "tag"],
            Field(description="The values to count: author, venue, keyword, institution or tag."),
        ],
        limit: Annotated[int, Field(ge=1, le=FACETS, description="The most values to return.")] = DEFAULT_FACETS,
    ) -> FacetPage:
        """List the most frequent authors, venues, keywords, institutions or tags of this shelf, with numbers of papers.

        Use it for an overview of the shelf, or to find the exact spelling of a value.
        """
        return await threads.run_query(lambda: library.top_facets(category, limit=limit))


def _add_resources(server: Server, library: Library, threads: WorkerThreads) -> None:
    @resource(
        server, "paper://{paper_id}/metadata{?offset}", title="Metadata", mime_type="application/json", foreign=FOREIGN
    )
    async def paper_metadata(paper_id: str, offset: TextOffset = 0) -> str:
        """Return the metadata of a paper, as JSON."""
        return cut_text_with_marker(library.metadata_json(paper_id).decode(), offset, RESOURCE_CHARS)

    @resource(
        server,
        "paper://{paper_id}/summary{?offset}",
        title="Preferred summary",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def paper_summary(paper_id: str, offset: TextOffset = 0) -> str:
        """Return the preferred summary of a paper, as JSON."""
        return cut_text_with_marker(await threads.run_fetch(lambda: library.summary(paper_id)), offset, RESOURCE_CHARS)

    @resource(
        server,
        "paper://{paper_id}/summary/{template}{?offset}",
        title="Summary",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def paper_summary_of_template(paper_id: str, template: str, offset: TextOffset = 0) -> str:
        """Return the summary of a paper for one template, as JSON."""
        return cut_text_with_marker(
            await threads.run_fetch(lambda: library.summary(paper_id, template)), offset, RESOURCE_CHARS
        )

    @resource(
        server, "paper://{paper_id}/source{?offset}", title="Source text", mime_type="text/markdown", foreign=FOREIGN
    )
    async def paper_source(paper_id: str, offset: TextOffset = 0) -> str:
        """Return the text of a paper, as markdown."""
        return cut_text_with_marker(await threads.run_fetch(lambda: library.source(paper_id)), offset, RESOURCE_CHARS)

    @resource(
        server,
        "paper://{paper_id}/translation/{lang}{?offset}",
        title="Translation",
        mime_type="text/markdown",
        foreign=FOREIGN,
    )
    async def paper_translation(paper_id: str, lang: str, offset: TextOffset = 0) -> str:
        """Return the translation of a paper, as markdown."""
        return cut_text_with_marker(
            await threads.run_fetch(lambda: library.translation(paper_id, lang)), offset, RESOURCE_CHARS
        )


def _add_paper_list(server: Server, library: Library, threads: WorkerThreads) -> None:
    async def list_papers(cursor: str | None) -> tuple[list[Listed], str | None]:
        offset = _parse_cursor(cursor)
        page = await threads.run_query(lambda: library.search("", limit=RESOURCES_LISTED, offset=offset))
        following = page["next_offset"]
        return [_make_resource_listing(hit) for hit in page["results"]], None if following is None else str(following)

    server.register_paged_listing(list_papers)


def _parse_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= len(str(OFFSET)) and int(cursor) <= OFFSET):
        raise OutOfBounds("cursor", "the nextCursor of a list", hint="Leave cursor out to list from the beginning.")
    return int(cursor)


def _make_resource_listing(hit: Hit) -> Listed:
    return Listed(
        f"paper://{hit['paper_id']}/metadata",
        hit["title"],
        description=format_authors_venue_year(hit),
        mime_type="application/json",
        foreign=FOREIGN,
    )
