"""The line below a title: authors, venue and year."""

from typing import Any

from uraniborg.kernel.text import format_first_authors


def format_authors_venue_year(paper: dict[str, Any]) -> str:
    """Return the first authors, the venue and the year of a search result, and whether the paper was retracted."""
    retracted = "Retracted" if paper.get("retracted") else ""
    parts = (retracted, format_first_authors(paper["authors"]), paper["venue"], str(paper["year"] or ""))
    return " · ".join(part for part in parts if part)
