"""Export a shelf, or the papers that a query finds, in the order of the shelf."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias, TypedDict, cast

import orjson

from paper_library.domain.citations import (
    add_fields,
    format_citations,
    make_bibtex_entry,
    make_bibtex_entry_of_metadata,
)
from paper_library.domain.limits import OFFSET, PAGE_SIZE
from paper_library.errors import OutOfBounds
from paper_library.service.search import search_shelf
from paper_library.store.shelf import Shelf

if TYPE_CHECKING:
    from paper_library.domain.replies import StoredMetadata

Paper: TypeAlias = "tuple[StoredMetadata, str]"
"""The metadata of a paper, and the BibTeX entry of its owner."""
_MOST_FOUND: Final = OFFSET + PAGE_SIZE
_OF_THE_SHELF: Final = frozenset(
    {"outline", "has_source", "source_chars", "translations", "translation_chars", "has_bibtex"}
    | {"preferred_summary_template", "available_summary_templates"}
)
"""Fields that describe the texts on the shelf, which are not exported."""
_CITED: Final = frozenset(
    {"paper_id", "citation_key", "identifiers", "kind", "title", "authors", "editors", "year", "venue", "volume"}
    | {"issue", "pages", "publisher", "language", "abstract", "keywords", "retraction", "notices"}
)
"""Fields that citations are made of."""


class CitedPaper(TypedDict):
    """What the citations of a paper are made of."""

    metadata: "StoredMetadata"
    bibtex: str
    """The entry of its owner, or an empty text."""


def list_cited_papers(shelf: Shelf) -> list[CitedPaper]:
    """Return all papers, in the order of the shelf."""
    return [
        CitedPaper(
            metadata=_select_cited_fields(shelf.read_metadata(no)),
            bibtex=shelf.read_bibtex(no),
        )
        for no in range(shelf.manifest.papers)
    ]


def _select_cited_fields(metadata: "StoredMetadata") -> "StoredMetadata":
    # The formats read no other field
    return cast("StoredMetadata", {name: value for name, value in metadata.items() if name in _CITED})


def format_cited_papers(papers: Iterable[CitedPaper], format_name: str) -> str:
    """Return the papers in one of `EXPORTS`, as `export_papers` writes the shelf that they are from."""
    return "".join(EXPORTS[format_name]((one["metadata"], one["bibtex"]) for one in papers))


def export_papers(shelf: Shelf, query: str, format_name: str) -> Iterator[str]:
    """Yield the papers that `query` finds, or all, in one of `EXPORTS`, piece by piece.

    Raise OutOfBounds for another format, and for a query that finds more papers than a search can list.
    """
    if format_name not in EXPORTS:
        raise OutOfBounds("format", f"one of: {', '.join(EXPORTS)}")
    numbers = _find_paper_numbers(shelf, query) if query.strip() else range(shelf.manifest.papers)
    return EXPORTS[format_name]((shelf.read_metadata(no), shelf.read_bibtex(no)) for no in numbers)


def _find_paper_numbers(shelf: Shelf, query: str) -> list[int]:
    """Return the numbers of the papers that a search for `query` finds, in shelf order."""
    numbers: list[int] = []
    while len(numbers) <= OFFSET:
        page = search_shelf(shelf, query, limit=PAGE_SIZE, offset=len(numbers), sort="title_asc")
        if page.total > _MOST_FOUND:
            raise OutOfBounds(
                "query",
                f"one that finds at most {_MOST_FOUND:,} papers, not {page.total:,}",
                hint="Narrow the query, for example with year:2019..2023, or leave it out to export the whole shelf.",
            )
        numbers += [hit.row.no for hit in page.hits]
        if len(numbers) >= page.total or not page.hits:
            break
    return sorted(numbers)


def _format_bibtex(papers: Iterable[Paper]) -> Iterator[str]:
    """Yield entries with the ids of their papers, so that a shelf built from them has the same ids."""
    for at, (metadata, own) in enumerate(papers):
        named = {"paperid": metadata["paper_id"]}
        entry = make_bibtex_entry(metadata, own)
        if (marked := add_fields(entry, named)) == entry:  # a field cannot be added to an entry without a key
            marked = add_fields(make_bibtex_entry_of_metadata(metadata), named)
        yield ("\n" if at else "") + marked.strip() + "\n"


def _format_ris(papers: Iterable[Paper]) -> Iterator[str]:
    for at, paper in enumerate(papers):
        yield ("\n" if at else "") + format_citations([paper], "ris")


def _format_csl_json(papers: Iterable[Paper]) -> Iterator[str]:
    yield "["
    for at, paper in enumerate(papers):
        # The item without the brackets of the list that it is written in.
        yield f"{',' if at else ''}\n{format_citations([paper], 'csl-json').strip()[2:-2]}"
    yield "\n]\n"


def _format_json(papers: Iterable[Paper]) -> Iterator[str]:
    yield '{"papers": ['
    for at, (metadata, own) in enumerate(papers):
        known = {name: value for name, value in metadata.items() if name not in _OF_THE_SHELF}
        yield f"{',' if at else ''}\n{orjson.dumps({**known, **({'bibtex': own} if own else {})}).decode()}"
    yield "\n]}\n"


EXPORTS: Final[dict[str, Callable[[Iterable[Paper]], Iterator[str]]]] = {
    "bibtex": _format_bibtex,
    "ris": _format_ris,
    "csl-json": _format_csl_json,
    "json": _format_json,
}
