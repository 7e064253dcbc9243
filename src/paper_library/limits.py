"""Every bound of the library, in one place."""

from typing import Final

QUERY_CHARS: Final = 500
PAGE_SIZE: Final = 100
DEFAULT_PAGE_SIZE: Final = 10
OFFSET: Final = 10_000
FACETS: Final = 100
DEFAULT_FACETS: Final = 20
VALUE_CHARS: Final = 500
"""The longest keyword, template name, language or identifier that is looked up."""
READ_CHARS: Final = 20_000
"""The length at which get_paper_source and read_paper_section cut a text by default; a summary is not cut."""
RESOURCE_CHARS: Final = 50_000
"""The length at which a resource is cut."""
RESOURCES_LISTED: Final = 50
"""The papers on one page of resources/list."""
CITATIONS: Final = 100
"""The papers that one call of export_citations takes."""
HTML_CHARS: Final = 50_000
"""Of a text, what is made into HTML at once: foreign markup can take longer than it looks."""
SNIPPET_CHARS: Final = 300
SNIPPET_READ: Final = 2_000_000
"""How much of full texts is read for the snippets of one page of results."""
AUTHORS_SHOWN: Final = 10
"""In a search result; the metadata has them all."""
OUTLINE_SHOWN: Final = 200
PREFIX_TERMS: Final = 50
"""How many words of the index a prefix stands for, the most frequent first."""
QUERY_WORDS: Final = 100
ASSET_BYTES: Final = 64 * 1024 * 1024
"""The largest file that is read from a static server."""
