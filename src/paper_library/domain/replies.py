"""Replies of the library for tools, REST and the console; texts are in `text_replies`.

Classes without a docstring are in the schemas of tools, where each sentence costs every agent tokens.
"""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_library.domain.text_blocks import Inline, SummarySection
from uraniborg.kernel.bibliography.editorial_notices import EditorialNotice
from uraniborg.kernel.json_values import Json
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields


class Hit(TypedDict):
    paper_id: str
    title: str
    year: int | None
    venue: str
    snippet_markdown: Annotated[str, Field(description="The passage that matched, matches in bold.")]
    authors: Annotated[list[str], Field(description="The first authors; the metadata has all.")]
    score: float
    matched_fields: Annotated[list[str], Field(description="The fields of the paper that matched.")]
    section: Annotated[str | None, Field(description="The section of the match, for read_paper_section.")]
    offset: Annotated[int | None, Field(description="The position of the match, for get_paper_source.")]
    retracted: NotRequired[Annotated[bool, Field(description="True if the paper was retracted; else absent.")]]


class PaperHit(Hit):
    """A paper of a search, with the passage that matches best."""

    snippet: Annotated[list[Inline], Field(description="The passage; matched words are `strong`.")]


class FacetValue(TypedDict):
    value: str
    paper_count: int


class YearCount(TypedDict):
    """The number of papers of a year."""

    year: int
    paper_count: int


class InterpretedQuery(TypedDict):
    terms: list[str]
    filters: dict[str, list[str]]
    phrases: NotRequired[list[str]]
    prefixes: NotRequired[list[str]]
    required: NotRequired[list[str]]
    excluded: NotRequired[list[str]]
    sort: NotRequired[str]
    dropped: NotRequired[list[str]]
    ignored: Annotated[list[str], Field(description="Notes on words that were not searched.")]


class PageFacts(TypedDict):
    total: int
    limit: int
    offset: int
    next_offset: Annotated[int | None, Field(description="The offset of the next page; null on the last.")]
    more: NotRequired[Annotated[str, Field(description="How to find results that no offset reaches.")]]
    interpreted_query: Annotated[InterpretedQuery, Field(description="How the query was read.")]
    did_you_mean: NotRequired[str]


class SearchReply(PageFacts):
    results: list[Hit]


class PageCounts(PageFacts):
    suggestions: NotRequired[list[str]]
    facets: NotRequired[dict[str, list[FacetValue]]]
    years: NotRequired[list[YearCount]]


class SearchPage(PageCounts):
    """A page of search results."""

    results: list[Hit]


class PaperSearchPage(PageCounts):
    """A page of search results, with each passage as a tree, too."""

    results: list[PaperHit]


class FacetPage(TypedDict):
    category: str
    result: list[FacetValue]
    total: Annotated[int, Field(description="The number of different values.")]
    more: NotRequired[Annotated[str, Field(description="How to find values that no offset reaches.")]]


class OutlineHeading(TypedDict):
    level: int
    title: str
    offset: Annotated[int, Field(description="The position of the section, for get_paper_source.")]


class Metadata(TypedDict):
    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    month: int | None
    venue: str
    volume: NotRequired[str]
    issue: NotRequired[str]
    pages: NotRequired[str]
    publisher: NotRequired[str]
    abstract: str
    identifiers: dict[str, str]
    keywords: list[str]
    tags: list[str]
    institutions: list[str]
    kind: str
    language: str
    preferred_summary_template: str
    available_summary_templates: list[str]
    translations: Annotated[list[str], Field(description="Languages, for lang of get_paper_source.")]
    translation_chars: dict[str, int]
    has_source: bool
    source_chars: int
    outline: list[OutlineHeading]
    has_bibtex: bool
    notices: NotRequired[
        Annotated[list[EditorialNotice], Field(description="Retractions, expressions of concern and corrections.")]
    ]
    retraction: NotRequired[
        Annotated[EditorialNotice | None, Field(description="Set if the paper was retracted: do not rely on it.")]
    ]


class RecordedFields(TypedDict, total=False):
    """Fields of papers that have them; most are from the record of a search."""

    title_is_derived: bool
    work_type: str
    editors: list[str]
    sources: Json
    records: Json
    provenance: Json
    citation_count: Json
    relevance_score: Json
    relevance_reason: Json
    status: Json
    decisions: Json
    found_in_round: Json
    other_ids: Json


class StoredMetadata(Metadata, RecordedFields):
    """All metadata of a paper. Shelves of schema 1 have no citation key."""

    citation_key: NotRequired[str]


class PublicationLink(TypedDict):
    """An address under which a paper was published."""

    scheme: Annotated[str, Field(description="The name of the identifier, such as `doi`.")]
    label: str
    text: Annotated[str, Field(description="The identifier.")]
    url: str


class PaperMetadata(StoredMetadata):
    """All metadata of a paper, its links and its shelf."""

    links: list[PublicationLink]
    has_original: Annotated[bool, Field(description="Whether the shelf has the PDF of the paper.")]
    shelf_path: Annotated[
        str, Field(description="The folder of the shelf, which is the subject of the event of a new build.")
    ]


class PaperSummary(TypedDict):
    """A summary, and its texts as trees."""

    paper_id: str
    template: str
    summary: Json
    sections: list[SummarySection]


class DefaultSummary(TypedDict):
    """The summary of a paper that has no other."""

    paper_id: str
    template: str
    paper_title: str
    paper_authors: list[str]
    publication_date: str
    publication_venue: str
    abstract: str
    keywords: list[str]
    outline: list[str]
    key_sentences: list[str]
    method: str


class Citation(TypedDict):
    """A citation in one format."""

    format: str
    label: str
    suffix: str
    media_type: str
    text: str


class CitationList(TypedDict):
    """The citation of a paper in every format."""

    citations: list[Citation]


class FoundPapers(TypedDict):
    """The ids of papers."""

    paper_ids: list[str]


class YearBounds(TypedDict):
    """The first and the last year of papers."""

    first: int | None
    last: int | None


class ContentCounts(TypedDict):
    """The contents of a shelf in numbers."""

    years: YearBounds
    with_source: int
    with_original: NotRequired[int]
    summaries: dict[str, int]
    translations: dict[str, int]
    values: Annotated[dict[str, int], Field(description="The number of different authors, venues and so on.")]
    missing: dict[str, int]


class ShelfCounts(ContentCounts):
    """The contents of a shelf in numbers, and its build."""

    papers: int
    build_id: str
    built_at: str
    built_by: Annotated[ActorFields | None, Field(description="Who built the shelf; None if that is not known.")]


class ShelfSummary(TypedDict):
    """A shelf, or the problem that prevents its use."""

    name: str
    path: str
    is_served: Annotated[bool, Field(description="Whether servers and searches use the shelf.")]
    is_sample: bool
    papers: int
    built_at: str | None
    built_by: Annotated[ActorFields | None, Field(description="Who built the shelf; None if that is not known.")]
    build_id: Annotated[str | None, Field(description="Changes when the shelf is replaced.")]
    problem: str | None
    hint: str | None


class ShelfDetails(ShelfSummary, ContentCounts):
    """A shelf in numbers."""


class ShelfList(TypedDict):
    """The shelf of the settings, then those of the data folder."""

    shelves: list[ShelfSummary]
    build_command: Annotated[
        str, Field(description="The command that builds a shelf from files, with the path of the program.")
    ]


class Addresses(TypedDict):
    """The addresses of the REST interface."""

    build_id: str
    openapi: str
    addresses: list[str]


class NoteLine(TypedDict):
    """A note as its file stores it."""

    paper_id: str
    text: str
    collections: list[str]
    by: str
    at: str
    actor: NotRequired[
        Annotated[ActorFields, Field(description="Who wrote the note; absent in notes of earlier versions.")]
    ]


class PaperNoteReply(NoteLine):
    """The note on a paper, and the collections that the paper is in. Empty if nobody wrote one."""

    revision: Annotated[
        str,
        Field(
            description="Differs if the note differs. Send it with a new note, so that a change of somebody else is "
            "not lost."
        ),
    ]


class NotedPaper(PaperNoteReply):
    """A paper with a note or in a collection. `title` is None if the shelf no longer has the paper."""

    title: str | None


class Collection(TypedDict):
    """A collection of papers."""

    name: str
    papers: int


class NoteList(TypedDict):
    """The papers with notes, the last changed first, and all collections of the shelf."""

    papers: list[NotedPaper]
    total: int
    collections: list[Collection]


class ChangedPaper(TypedDict):
    """A paper that differs between two shelves. `fields` are those that differ, of a paper that both have."""

    paper_id: str
    title: str
    fields: NotRequired[list[str]]


class ShelfDifference(TypedDict):
    """The papers that differ between two shelves."""

    added: list[ChangedPaper]
    removed: list[ChangedPaper]
    changed: list[ChangedPaper]
    unchanged: int


class Verification(TypedDict):
    """The result of a verification."""

    is_whole: bool
    build_id: str
    papers: int
    files: int
    problems: list[str]


class ShelfChange(ChangeFields):
    """A shelf was built. `subject` is its path."""

    kind: Literal["shelf"]
    build_id: NotRequired[str]
    papers: NotRequired[int]


class NoteChange(ChangeFields):
    """A person changed the note on a paper. `subject` is the id of the paper, `shelf` the path of its shelf."""

    kind: Literal["note"]
    shelf: NotRequired[str]
    by: NotRequired[str]
