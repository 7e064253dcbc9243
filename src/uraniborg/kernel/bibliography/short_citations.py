"""Cite a publication in short: family names and the year, in one form for all parts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from uraniborg.kernel.bibliography.names import split_name


def format_short_authors(authors: Sequence[str]) -> str:
    """Return `Gillon`, `Gillon and Luger` or `Gillon et al.`; an empty text without authors."""
    named = [name for name in authors if name.strip()]
    families = [split_name(name).whole_family for name in named[:2]]
    return f"{families[0]} et al." if len(named) > 2 else " and ".join(families)


def format_short_citation(authors: Sequence[str], year: int | None) -> str:
    """Return `Gillon et al. (2017)`, or the authors if the year is not known; an empty text without authors."""
    named = format_short_authors(authors)
    return f"{named} ({year})" if named and year else named


def cite_paper(paper: Mapping[str, object]) -> str:
    """Return `Gillon et al. (2017)` for the metadata of a paper, or without authors its title in quotation marks."""
    authors = [name for name in cast("Iterable[object]", paper.get("authors") or ()) if isinstance(name, str)]
    year = cast("int | None", paper.get("year"))
    return format_short_citation(authors, year) or f"'{paper.get('title') or 'the paper'}'"
