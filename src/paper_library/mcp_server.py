"""The shelf for agents: six tools and the resources of a paper, over MCP."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from paper_library.library import Library
from paper_library.limits import (
    DEFAULT_FACETS,
    DEFAULT_PAGE_SIZE,
    FACETS,
    OFFSET,
    PAGE_SIZE,
    QUERY_CHARS,
    RESOURCE_CHARS,
    VALUE_CHARS,
)
from paper_library.offloading import Threads
from paper_library.search import engine
from paper_library.text.cutting import piece
from uraniborg.kernel.mcp import Server, make_server, resource, tool
from uraniborg.kernel.version import version

INSTRUCTIONS: Final = (
    "A read-only shelf of papers. Work from short to long: search_papers or search_papers_by_keyword finds papers and "
    "gives their paper_id; get_paper_metadata tells what is known of one, which summaries exist and how long its text "
    "is; get_paper_summary reads a summary; get_paper_source reads the paper itself, in pieces with max_chars and "
    "offset. list_top_facets shows what the shelf is about."
)

PaperId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=VALUE_CHARS,
        description="A paper_id from a search, or a DOI, arXiv id or BibTeX key of a paper on this shelf.",
    ),
]
Limit = Annotated[
    int | None, Field(ge=1, le=PAGE_SIZE, description=f"How many results at most; {DEFAULT_PAGE_SIZE} if left out.")
]
PageSize = Annotated[int | None, Field(ge=1, le=PAGE_SIZE, description="Another name for limit.")]
Offset = Annotated[
    int, Field(ge=0, le=OFFSET, description="How many results to skip; next_offset of a reply leads to the next page.")
]
MaxChars = Annotated[
    int | None,
    Field(ge=1, description="At most this many characters; everything if left out. A marker tells the rest."),
]
TextOffset = Annotated[int, Field(ge=0, description="Where in the text to begin, in characters.")]


def make_mcp_server(library: Library, threads: Threads, *, extra_tools: bool = False) -> Server:
    """A server of this shelf. `extra_tools` adds two tools to the six."""
    server = make_server("paper-library", version=version(), instructions=INSTRUCTIONS)
    _add_search(server, library, threads)
    _add_reading(server, library, threads)
    _add_resources(server, library, threads)
    if extra_tools:
        from paper_library.extra_tools import add_extra_tools

        add_extra_tools(server, library, threads)
    return server


def _add_search(server: Server, library: Library, threads: Threads) -> None:
    @tool(server, title="Search the shelf", read_only=True, idempotent=True)
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
    ) -> dict[str, Any]:
        """Full-text search of this shelf of papers: titles, abstracts, summaries, texts, names and identifiers.

        Use it first, to find papers on a topic or one you know by words of its title, an author or a DOI. Answers with
        the best matches, each with its paper_id and the passage that matched; total and next_offset tell of more.
        interpreted_query says how the query was read; nothing in a query is an error.
        """
        size = engine.page_size(limit, page_size)
        return await threads.run(lambda: library.search(query, limit=size, offset=offset, sort=sort))

    @tool(server, title="Papers by keyword or tag", read_only=True, idempotent=True)
    async def search_papers_by_keyword(
        keyword: Annotated[
            str,
            Field(min_length=1, max_length=VALUE_CHARS, description="A whole keyword or tag; case does not matter."),
        ],
        limit: Limit = None,
        page_size: PageSize = None,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Papers on this shelf that carry exactly this keyword or tag, newest first.

        Use it when you know the keyword, for example from get_paper_metadata or list_top_facets; to look for words
        anywhere in papers use search_papers.
        """
        size = engine.page_size(limit, page_size)
        return await threads.run(lambda: library.search_by_keyword(keyword, limit=size, offset=offset))

    @tool(server, title="What the shelf is about", read_only=True, idempotent=True)
    async def list_top_facets(
        category: Annotated[
            Literal["author", "venue", "keyword", "institution", "tag"],
            Field(description="Which values to count: author, venue, keyword, institution or tag."),
        ],
        limit: Annotated[int, Field(ge=1, le=FACETS, description="How many values at most.")] = DEFAULT_FACETS,
    ) -> dict[str, Any]:
        """The most frequent authors, venues, keywords, institutions or tags of this shelf, with numbers of papers.

        Use it to get to know the shelf, or to find the exact spelling of a value to search for.
        """
        return await threads.run(lambda: library.top_facets(category, limit=limit))


def _add_reading(server: Server, library: Library, threads: Threads) -> None:
    @tool(server, title="What is known of a paper", read_only=True, idempotent=True)
    async def get_paper_metadata(paper_id: PaperId) -> dict[str, Any]:
        """Title, authors, year, venue, abstract, identifiers, keywords and outline of one paper of this shelf.

        Use it after a search and before reading: it lists the summaries there are (available_summary_templates, of
        which preferred_summary_template is the default), the translations, and how long the source text is.
        """
        return library.metadata(paper_id)

    @tool(server, title="Read a summary", read_only=True, idempotent=True)
    async def get_paper_summary(
        paper_id: PaperId,
        template: Annotated[
            str | None, Field(max_length=VALUE_CHARS, description="One of available_summary_templates.")
        ] = None,
        max_chars: MaxChars = None,
        offset: TextOffset = 0,
    ) -> str:
        """A summary of a paper of this shelf, as the JSON text of one template.

        Call get_paper_metadata first: it lists the available templates. Without template the preferred one is read.
        Long summaries can be limited with max_chars and read on with offset.
        """
        text = await threads.fetch(lambda: library.summary(paper_id, template))
        return piece(text, offset, max_chars)

    @tool(server, title="Read the paper itself", read_only=True, idempotent=True)
    async def get_paper_source(paper_id: PaperId, max_chars: MaxChars = None, offset: TextOffset = 0) -> str:
        """The source text of a paper of this shelf, as markdown.

        It can be very large: get_paper_metadata tells source_chars and, in outline, where each section begins. Limit
        it with max_chars, and read on with the offset that the marker at the end names. Not every paper has a source.
        """
        text = await threads.fetch(lambda: library.source(paper_id))
        return piece(text, offset, max_chars)


def _add_resources(server: Server, library: Library, threads: Threads) -> None:
    @resource(server, "paper://{paper_id}/metadata", title="Metadata", mime_type="application/json")
    async def paper_metadata(paper_id: str) -> str:
        """What is known of a paper, as JSON."""
        return piece(library.metadata_json(paper_id).decode(), 0, RESOURCE_CHARS)

    @resource(server, "paper://{paper_id}/summary", title="Preferred summary", mime_type="application/json")
    async def paper_summary(paper_id: str) -> str:
        """The preferred summary of a paper, as JSON."""
        return piece(await threads.fetch(lambda: library.summary(paper_id)), 0, RESOURCE_CHARS)

    @resource(server, "paper://{paper_id}/summary/{template}", title="Summary", mime_type="application/json")
    async def paper_summary_of_template(paper_id: str, template: str) -> str:
        """The summary of a paper by one template, as JSON."""
        return piece(await threads.fetch(lambda: library.summary(paper_id, template)), 0, RESOURCE_CHARS)

    @resource(server, "paper://{paper_id}/source", title="Source text", mime_type="text/markdown")
    async def paper_source(paper_id: str) -> str:
        """The paper itself, as markdown."""
        return piece(await threads.fetch(lambda: library.source(paper_id)), 0, RESOURCE_CHARS)

    @resource(server, "paper://{paper_id}/translation/{lang}", title="Translation", mime_type="text/markdown")
    async def paper_translation(paper_id: str, lang: str) -> str:
        """The paper in another language, as markdown."""
        return piece(await threads.fetch(lambda: library.translation(paper_id, lang)), 0, RESOURCE_CHARS)
