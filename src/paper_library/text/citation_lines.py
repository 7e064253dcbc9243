"""Format authors, venue and year as the line below a title."""

from typing import TYPE_CHECKING

from uraniborg.kernel.text import format_first_authors

if TYPE_CHECKING:
    from paper_library.replies import Hit


def format_authors_venue_year(paper: "Hit") -> str:
    """Return the first authors, the venue and the year of a search result, and whether the paper was retracted."""
    retracted = "Retracted" if paper.get("retracted") else ""
    parts = (retracted, format_first_authors(paper["authors"]), paper["venue"], str(paper["year"] or ""))
    return " · ".join(part for part in parts if part)
