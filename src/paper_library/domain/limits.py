"""Limits of the library in one place, so that tools, REST and documents agree."""

from typing import Final

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
