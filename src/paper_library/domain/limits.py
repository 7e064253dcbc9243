"""Limits of the library in one place, and checks of them, so that tools, REST and documents agree."""

from typing import Final

from paper_library.errors import OutOfBounds
from uraniborg.kernel.language.messages import plural

QUERY_CHARS: Final = 500
PAGE_SIZE: Final = 100
DEFAULT_PAGE_SIZE: Final = 10
OFFSET: Final = 10_000
FACETS: Final = 100
DEFAULT_FACETS: Final = 20
VALUE_CHARS: Final = 500
"""The longest keyword, template name, language or identifier."""
READ_CHARS: Final = 20_000
"""The default max_chars of get_paper_source and read_paper_section; summaries have no default limit."""
RESOURCE_CHARS: Final = 50_000
"""The longest text of a resource."""
RESOURCES_LISTED: Final = 50
"""The number of papers on one page of resources/list."""
CITATIONS: Final = 100
"""The most papers in one call of export_citations."""
HTML_CHARS: Final = 50_000
"""The longest text that is rendered as HTML at once, because hostile markup can be slow."""
SNIPPET_CHARS: Final = 300
SNIPPET_READ: Final = 2_000_000
"""The most characters of full texts that are read for the snippets of one page."""
AUTHORS_SHOWN: Final = 10
"""The authors in a search result; the metadata has all."""
OUTLINE_SHOWN: Final = 200
PREFIX_TERMS: Final = 50
"""The most words of the index that a prefix matches, most frequent first."""
WORDS_OF_PREFIX: Final = 5_000
"""The most words of the index that a prefix inside a phrase of a Boolean query may match."""
QUERY_WORDS: Final = 100
SOURCE_PAPERS: Final = 10_000
"""The most papers that a paper search gets for one query."""
ASSET_BYTES: Final = 64 * 1024 * 1024
"""The largest file that is fetched from a static server."""
_NARROWING: Final = "Narrow the query with more words or filters, for example year:2019..2023, author: or venue:."


def check_query_length(query: str) -> None:
    """Raise OutOfBounds if the query is too long."""
    if len(query) > QUERY_CHARS:
        raise OutOfBounds(
            "query",
            f"at most {QUERY_CHARS} characters",
            hint=f"The query has {len(query)} characters. Use the most important words only.",
        )


def check_page_bounds(limit: int, offset: int) -> None:
    """Raise OutOfBounds if the limit or offset is out of range."""
    if not 1 <= limit <= PAGE_SIZE:
        raise OutOfBounds("limit", f"from 1 to {PAGE_SIZE}")
    if not 0 <= offset <= OFFSET:
        raise OutOfBounds("offset", f"from 0 to {OFFSET:,}", hint=f"There may be further results. {_NARROWING}")


def check_facet_limit(limit: int) -> None:
    """Raise OutOfBounds if the limit of facet values is out of range."""
    if not 1 <= limit <= FACETS:
        raise OutOfBounds("limit", f"from 1 to {FACETS}")


def choose_page_size(limit: int | None, page_size: int | None) -> int:
    """Return the page size that either argument gives, or the default. Raise OutOfBounds if they differ."""
    if limit is not None and page_size is not None and limit != page_size:
        raise OutOfBounds("page_size", "the same as limit, or left out", hint="page_size is another name for limit.")
    return limit or page_size or DEFAULT_PAGE_SIZE


def describe_unreachable_results(end: int, total: int, noun: str) -> str:
    """Return a sentence about the results after `end` that no offset reaches, or an empty text."""
    if end >= total or end <= OFFSET:
        return ""
    narrowing = _NARROWING if noun == "paper" else "Search for the papers of a value by its words."
    return f"{plural(total - end, f'further {noun}')} cannot be listed: offset ends at {OFFSET:,}. {narrowing}"
