"""The replies of shelves: lists, search results, papers, texts and citations."""

from typing import Any, Literal

from pydantic import Field

from uraniborg.console.replies import Reply
from uraniborg.console.text_replies import AnyBlock, Inline
from uraniborg.kernel.actors import Actor


class ShelfSummary(Reply):
    """A shelf, or the problem that prevents its use."""

    name: str
    path: str
    is_served: bool
    """Whether servers and searches use the shelf."""
    is_sample: bool
    papers: int
    built_at: str | None
    built_by: Actor | None = None
    """Who built the shelf; None if that is not known."""
    build_id: str | None
    """Changes when the shelf is replaced."""
    problem: str | None
    hint: str | None


class ShelfList(Reply):
    """The shelf of the settings, then those of the data folder."""

    shelves: list[ShelfSummary]
    build_command: str
    """The command that builds a shelf from files, with the path of the program."""


class YearBounds(Reply):
    """The first and the last year of papers."""

    first: int | None
    last: int | None


class ShelfDetails(ShelfSummary):
    """A shelf in numbers."""

    years: YearBounds
    with_source: int
    summaries: dict[str, int]
    translations: dict[str, int]
    values: dict[str, int]
    """The number of different authors, venues and so on."""
    missing: dict[str, int]


class PaperHit(Reply):
    """A paper of a search, with the passage that matches best."""

    paper_id: str
    title: str
    year: int | None
    venue: str
    authors: list[str]
    """The first ten authors."""
    score: float
    snippet_markdown: str
    snippet: list[Inline]
    """The passage; matched words are `strong`."""
    matched_fields: list[str]
    section: str | None
    offset: int | None
    """Where the passage is in the text of the paper."""
    retracted: bool = False


class FacetValue(Reply):
    """A value and its number of papers."""

    value: str
    paper_count: int


class YearCount(Reply):
    """The number of papers of a year."""

    year: int
    paper_count: int


class InterpretedQuery(Reply):
    """How a query was read."""

    terms: list[str]
    filters: dict[str, Any]
    ignored: list[str]
    """Notes on words that were not searched."""


class PaperSearchPage(Reply):
    """A page of search results."""

    results: list[PaperHit]
    total: int
    limit: int
    offset: int
    next_offset: int | None
    more: str | None = None
    interpreted_query: InterpretedQuery
    did_you_mean: str | None = None
    suggestions: list[str] = Field(default_factory=list)
    facets: dict[str, list[FacetValue]] = Field(default_factory=dict[str, list[FacetValue]])
    years: list[YearCount] = Field(default_factory=list[YearCount])


class FacetPage(Reply):
    """The most frequent values of a category."""

    category: str
    result: list[FacetValue]
    total: int
    more: str | None = None


class OutlineHeading(Reply):
    """A heading of a text."""

    level: int
    title: str
    offset: int


class EditorialNotice(Reply):
    """A retraction, a concern or a correction."""

    status: str
    source: str | None = None
    date: str | None = None
    notice_doi: str | None = None
    label: str | None = None


class PublicationLink(Reply):
    """An address under which a paper was published."""

    scheme: str
    label: str
    text: str
    url: str


class PaperMetadata(Reply):
    """All metadata of a paper."""

    paper_id: str
    citation_key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    volume: str
    issue: str
    pages: str
    publisher: str
    abstract: str
    identifiers: dict[str, str]
    keywords: list[str]
    tags: list[str]
    institutions: list[str]
    kind: str
    language: str
    retraction: EditorialNotice | None
    notices: list[EditorialNotice] = Field(default_factory=list[EditorialNotice])
    preferred_summary_template: str
    available_summary_templates: list[str]
    translations: list[str]
    has_source: bool
    source_chars: int
    outline: list[OutlineHeading]
    links: list[PublicationLink]
    has_original: bool
    """Whether the shelf has the PDF of the paper."""
    shelf_path: str
    """The folder of the shelf, which is the subject of the event of a new build."""


class TextPage(Reply):
    """A part of the text of a paper."""

    offset: int
    end: int
    previous_offset: int | None
    next_offset: int | None
    total_chars: int
    nodes: list[AnyBlock]


class SummarySection(Reply):
    """A text of a summary."""

    name: str
    nodes: list[AnyBlock]


class PaperSummary(Reply):
    """A summary, and its texts as trees."""

    paper_id: str
    template: str
    summary: Any
    sections: list[SummarySection]


class Citation(Reply):
    """A citation in one format."""

    format: str
    label: str
    suffix: str
    media_type: str
    text: str


class CitationList(Reply):
    """The citation of a paper in every format."""

    citations: list[Citation]


class FoundPapers(Reply):
    """The ids of papers."""

    paper_ids: list[str]


class BodyUse(Reply):
    """A body of a universe, and its fields whose values come from a paper."""

    universe_id: str
    universe: str
    body: str
    fields: list[str]


class WorkflowUse(Reply):
    """A workflow that mentions a paper, and the ids of its nodes that do."""

    name: str
    source: Literal["library", "draft"]
    nodes: list[str]


class PaperUseList(Reply):
    """Where a paper is used."""

    bodies: list[BodyUse]
    workflows: list[WorkflowUse]
    is_complete: bool
    """False if there may be more bodies."""
