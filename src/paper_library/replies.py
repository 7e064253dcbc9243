"""The output schemas of the MCP tools, and the origin of what they quote. Replies may have more keys."""

from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.kernel.mcp import Origin

FOREIGN: Final[tuple[Origin, ...]] = ("papers",)


class Hit(TypedDict):
    paper_id: str
    title: str
    year: int | None
    venue: str
    snippet_markdown: Annotated[str, Field(description="The passage that matched, matches in bold.")]
    authors: Annotated[list[str], Field(description="The first authors; the metadata has all.")]
    score: float
    matched_fields: NotRequired[Annotated[list[str], Field(description="The fields of the paper that matched.")]]
    section: NotRequired[Annotated[str | None, Field(description="The section of the match, for read_paper_section.")]]
    offset: NotRequired[Annotated[int | None, Field(description="The position of the match, for get_paper_source.")]]
    retracted: NotRequired[Annotated[bool, Field(description="True if the paper was retracted; else absent.")]]


class FacetValue(TypedDict):
    value: str
    paper_count: int


class SearchReply(TypedDict):
    results: list[Hit]
    total: int
    limit: int
    offset: int
    next_offset: Annotated[int | None, Field(description="The offset of the next page; null on the last.")]
    more: NotRequired[Annotated[str, Field(description="How to find results that no offset reaches.")]]
    interpreted_query: Annotated[dict[str, Any], Field(description="How the query was read.")]
    did_you_mean: NotRequired[str]


class FacetReply(TypedDict):
    category: str
    result: list[FacetValue]
    total: Annotated[int, Field(description="The number of different values.")]


class Heading(TypedDict):
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
    outline: list[Heading]
    has_bibtex: bool
    notices: NotRequired[
        Annotated[list[dict[str, str]], Field(description="Retractions, expressions of concern and corrections.")]
    ]
    retraction: NotRequired[
        Annotated[dict[str, Any] | None, Field(description="Set if the paper was retracted: do not rely on it.")]
    ]
