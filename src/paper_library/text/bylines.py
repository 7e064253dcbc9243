"""The line below a title: authors, venue and year."""

from typing import Any, Final

_AUTHORS_SHOWN: Final = 4


def format_byline(paper: dict[str, Any]) -> str:
    """Return the first authors, the venue and the year of a search result, and whether the paper was retracted."""
    retracted = "Retracted" if paper.get("retracted") else ""
    parts = (retracted, format_authors(paper["authors"]), paper["venue"], str(paper["year"] or ""))
    return " · ".join(part for part in parts if part)


def format_authors(authors: list[str], most: int = _AUTHORS_SHOWN) -> str:
    """Return the first `most` names, and whether there are others."""
    return ", ".join(authors[:most]) + (" and others" if len(authors) > most else "")
