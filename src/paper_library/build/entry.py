"""What readers return: entries, which describe papers, and problems."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from uraniborg.kernel.bibliography.editorial_notices import EditorialNotice
    from uraniborg.kernel.json_values import Json, JsonObject

SEARCH_FIELDS: Final = (
    "editors",
    "sources",
    "records",
    "provenance",
    "citation_count",
    "relevance_score",
    "relevance_reason",
    "status",
    "decisions",
    "found_in_round",
    "other_ids",
)


@dataclass(slots=True)
class Entry:
    """The description of one paper by one input. Only a title or a text is required."""

    title: str = ""
    title_is_derived: bool = False
    """True if the title is the first sentence of the text, because the input has no title."""
    authors: list[str] = field(default_factory=list[str])
    """Full names in order, such as `Ada Lovelace`."""
    year: int | None = None
    month: int | None = None
    venue: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    abstract: str = ""
    identifiers: dict[str, str] = field(default_factory=dict[str, str])
    """Identifiers as given, by scheme: doi, arxiv, bibkey, pmid, pmcid, isbn, url, …; normalised later."""
    keywords: list[str] = field(default_factory=list[str])
    tags: list[str] = field(default_factory=list[str])
    institutions: list[str] = field(default_factory=list[str])
    kind: str = ""
    """The BibTeX entry type or its equivalent: article, inproceedings, book, …"""
    work_type: str = ""
    """The type of publication as a search names it: preprint, dataset, …"""
    language: str = ""
    notices: "list[EditorialNotice]" = field(default_factory=list)
    """Retractions, concerns and corrections; see `uraniborg.kernel.bibliography.editorial_notices`."""
    search: "JsonObject" = field(default_factory=dict)
    """The `SEARCH_FIELDS` that a search recorded: sources, relevance and decisions."""
    bibtex: str = ""
    """The BibTeX entry as its owner wrote it."""
    source: str = ""
    """The text of the paper, as markdown."""
    translations: dict[str, str] = field(default_factory=dict[str, str])
    """Translations of the text by language, as markdown."""
    summaries: "dict[str, Json]" = field(default_factory=dict)
    """Summaries by template, as JSON values."""
    preferred_summary: str = ""
    origin: str = ""
    """The input file, relative to the given folder, and the line; never an absolute path."""
    keys: list[str] = field(default_factory=list[str])
    """More keys of the paper, for an entry that comes from a shelf."""
    origins: list[str] = field(default_factory=list[str])
    """All inputs of the paper, for an entry that merges several."""
    old_paper_id: str = ""
    """The paper_id on the shelf that the entry comes from."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An input, or an entry of an input, that did not become a paper."""

    origin: str
    kind: Literal["skipped", "broken"]
    """Skipped: not an input for a shelf. Broken: an input that cannot be read."""
    reason: str
    """A sentence for the user, with the remedy."""


Reader = Callable[[Path, str], Iterator[Entry | Problem]]
"""Reads the file at a path; the second argument is its origin. Never raises an exception for the file's contents."""


def strip_line_number(origin: str) -> str:
    """Return the file of an origin without the line: `refs.bib` for `refs.bib:120`."""
    file, separator, line = origin.rpartition(":")
    return file if separator and line.isdecimal() else origin
