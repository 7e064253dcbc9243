"""The line below a title: authors, venue and year."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from paper_library.replies import Hit

_AUTHORS_SHOWN: Final = 4


def format_authors_venue_year(paper: "Hit") -> str:
    """Return the first authors, the venue and the year of a search result, and whether the paper was retracted."""
    retracted = "Retracted" if paper.get("retracted") else ""
    parts = (retracted, format_first_authors(paper["authors"]), paper["venue"], str(paper["year"] or ""))
    return " · ".join(part for part in parts if part)


def format_first_authors(authors: list[str], max_names: int = _AUTHORS_SHOWN) -> str:
    """Return the first `max_names` names, and whether there are others."""
    return ", ".join(authors[:max_names]) + (" and others" if len(authors) > max_names else "")
