"""MCP tools that read papers: metadata, summaries, texts, sections and citations."""

from typing import Annotated, Final, Literal

from pydantic import Field

from paper_library.library import Library
from paper_library.limits import CITATIONS, READ_CHARS, VALUE_CHARS
from paper_library.replies import Metadata
from paper_library.text.excerpts import cut_text_with_marker
from paper_library.worker_threads import WorkerThreads
from uraniborg.kernel.mcp import EncodedReply, Origin, Server, tool

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
