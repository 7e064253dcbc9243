"""A shelf, or what a query finds on it, written out paper by paper in the order of the shelf."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import orjson

from paper_library.errors import OutOfBounds
from paper_library.limits import OFFSET, PAGE_SIZE
from paper_library.search import engine
from paper_library.store.shelf import Shelf
from paper_library.text.bibtex import with_fields
from paper_library.text.citations import bibtex_entry, make_bibtex, write_citations

Paper = tuple[dict[str, Any], str]
"""The metadata of a paper, and the BibTeX entry of its owner."""
_MOST_FOUND: Final = OFFSET + PAGE_SIZE
_OF_THE_SHELF: Final = frozenset(
    {"outline", "has_source", "source_chars", "translations", "translation_chars", "has_bibtex"}
    | {"preferred_summary_template", "available_summary_templates"}
)
"""Fields that describe the texts on the shelf, which are not exported."""


def export_papers(shelf: Shelf, query: str, format_name: str) -> Iterator[str]:
    """Yield the papers that `query` finds, or all, in one of `EXPORTS`, piece by piece.

    Raises OutOfBounds for another format, and for a query that finds more papers than a search pages through.
    """
    if format_name not in EXPORTS:
        raise OutOfBounds("format", f"one of: {', '.join(EXPORTS)}")
    numbers = _found(shelf, query) if query.strip() else range(shelf.manifest.papers)
    return EXPORTS[format_name]((shelf.metadata_dict(no), shelf.bibtex(no)) for no in numbers)


def _found(shelf: Shelf, query: str) -> list[int]:
    """Return the places of the papers that a search for `query` finds, in the order of the shelf."""
    numbers: list[int] = []
    while len(numbers) <= OFFSET:
        page = engine.search_shelf(shelf, query, limit=PAGE_SIZE, offset=len(numbers), sort="title_asc")
        if page.total > _MOST_FOUND:
            raise OutOfBounds(
                "query",
                f"one that finds at most {_MOST_FOUND:,} papers, not {page.total:,}",
                hint="Narrow it, by year: for example; or leave it out to export the whole shelf.",
            )
        numbers += [hit.row.no for hit in page.hits]
        if len(numbers) >= page.total or not page.hits:
            break
    return sorted(numbers)


def _bibtex(papers: Iterable[Paper]) -> Iterator[str]:
    """Yield entries that name the ids of their papers, so that a shelf built from them has the same ones."""
    for at, (metadata, own) in enumerate(papers):
        named = {"paperid": metadata["paper_id"]}
        entry = bibtex_entry(metadata, own)
        if (marked := with_fields(entry, named)) == entry:  # an entry without a key has no place for a field
            marked = with_fields(make_bibtex(metadata), named)
        yield ("\n" if at else "") + marked.strip() + "\n"


def _ris(papers: Iterable[Paper]) -> Iterator[str]:
    for at, paper in enumerate(papers):
        yield ("\n" if at else "") + write_citations([paper], "ris")


def _csl_json(papers: Iterable[Paper]) -> Iterator[str]:
    yield "["
    for at, paper in enumerate(papers):
        # The item without the brackets of the list that it is written in.
        yield f"{',' if at else ''}\n{write_citations([paper], 'csl-json').strip()[2:-2]}"
    yield "\n]\n"


def _json(papers: Iterable[Paper]) -> Iterator[str]:
    yield '{"papers": ['
    for at, (metadata, own) in enumerate(papers):
        known = {name: value for name, value in metadata.items() if name not in _OF_THE_SHELF}
        yield f"{',' if at else ''}\n{orjson.dumps({**known, **({'bibtex': own} if own else {})}).decode()}"
    yield "\n]}\n"


EXPORTS: Final[dict[str, Callable[[Iterable[Paper]], Iterator[str]]]] = {
    "bibtex": _bibtex,
    "ris": _ris,
    "csl-json": _csl_json,
    "json": _json,
}
