"""Declare what a search sends to the shelf as a source, and the reply."""

from typing_extensions import TypedDict

from uraniborg.kernel.bibliography.editorial_notices import EditorialNotice


class SynonymEntry(TypedDict):
    synonyms: list[str]


class StrategyQuery(TypedDict, total=False):
    """A query of a strategy: Boolean, or keywords with synonyms."""

    boolean_query: str | None
    keywords: list[str]
    synonym_map: list[SynonymEntry]


class StrategyFilters(TypedDict, total=False):
    """The limits of a strategy."""

    max_results: int | None
    year_from: int | None
    year_to: int | None


class Strategy(TypedDict, total=False):
    """A search strategy."""

    queries: list[StrategyQuery] | None
    filters: StrategyFilters | None


class AuthorName(TypedDict):
    name: str


class SourcePaper(TypedDict):
    """A paper of the shelf in the fields of a search."""

    title: str
    authors: list[AuthorName]
    year: int | None
    venue: str | None
    doi: str | None
    abstract: str | None
    full_text_url: str | None
    identifiers: dict[str, str]
    volume: str | None
    issue: str | None
    pages: str | None
    publisher: str | None
    language: str | None
    notices: list[EditorialNotice]
    source: str


class SourceReply(TypedDict):
    """The papers that match a strategy, the number of all that match, and why it has fewer than are wanted."""

    papers: list[SourcePaper]
    total: int | None
    stopped: str | None
