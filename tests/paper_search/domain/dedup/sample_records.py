"""Made-up records for the tests of deduplication."""

from typing import Any

from paper_search.domain.dedup import merge_duplicates
from paper_search.models import Author, RawPaper

TITLE = "Tidal dissipation in the mantles of small icy moons"
NAMES = ("Lei Wang", "Ana García Márquez", "Jürgen Müller")


def make_paper(
    title: str = TITLE, *names: str, year: int | None = 2019, source: str = "openalex", **fields: Any
) -> RawPaper:
    return RawPaper(
        title=title, authors=[Author(name=name) for name in names or NAMES], year=year, source=source, **fields
    )


def make_anonymous_paper(
    title: str = TITLE, *, year: int | None = 2019, source: str = "openalex", **fields: Any
) -> RawPaper:
    return RawPaper(title=title, year=year, source=source, **fields)


def count_papers(*papers: RawPaper) -> int:
    """Return the number of papers after deduplication."""
    return len(merge_duplicates(papers))


def is_one_paper(left: RawPaper, right: RawPaper) -> bool:
    return count_papers(left, right) == 1


def list_names(merged: RawPaper) -> list[str]:
    return [author.name for author in merged.authors]


def list_reasons(merged: RawPaper) -> set[str]:
    return {record.reason for record in merged.records}
