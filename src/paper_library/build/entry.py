"""What one input says about one paper, and what an input could not say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

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
    """One paper as one input describes it. Everything may be missing but a title or a text."""

    title: str = ""
    title_is_derived: bool = False
    """The title is the first sentence of its text: no input gave one."""
    authors: list[str] = field(default_factory=list[str])
    """In order, as people write them: `Ada Lovelace`."""
    year: int | None = None
    month: int | None = None
    venue: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    abstract: str = ""
    identifiers: dict[str, str] = field(default_factory=dict[str, str])
    """As given, by scheme: doi, arxiv, bibkey, pmid, pmcid, isbn, url, …; spelled in one way later."""
    keywords: list[str] = field(default_factory=list[str])
    tags: list[str] = field(default_factory=list[str])
    institutions: list[str] = field(default_factory=list[str])
    kind: str = ""
    """The BibTeX entry type, or what stands for it: article, inproceedings, book, …"""
    work_type: str = ""
    """The kind of publication in the words of a search: preprint, dataset, …"""
    language: str = ""
    notices: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """Retractions, concerns and corrections; see `paper_library.retraction`."""
    search: dict[str, Any] = field(default_factory=dict[str, Any])
    """What a search recorded of it under `SEARCH_FIELDS`: where it was found, how it was judged, what was decided."""
    bibtex: str = ""
    """The BibTeX of this paper as its owner wrote it."""
    source: str = ""
    """The paper itself, as markdown."""
    translations: dict[str, str] = field(default_factory=dict[str, str])
    """Markdown by language."""
    summaries: dict[str, Any] = field(default_factory=dict[str, Any])
    """JSON values by template."""
    preferred_summary: str = ""
    origin: str = ""
    """The input's name, relative to what was given; never a path of the machine."""
    keys: list[str] = field(default_factory=list[str])
    """Further keys that lead to the paper, of an entry that stood on a shelf before."""
    origins: list[str] = field(default_factory=list[str])
    """And all the inputs it came from, where it is all that several said."""
    was: str = ""
    """The id of the paper that it belonged to on the shelf it was taken from."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An input, or one entry of it, that made no paper."""

    origin: str
    kind: Literal["skipped", "broken"]
    """Skipped: nothing in it for a shelf. Broken: there is something, and it cannot be read."""
    reason: str
    """A sentence for people that says what to do about it."""


Reader = Callable[[Path, str], Iterator[Entry | Problem]]
"""Reads the file at a path whose name, for origins, is the second argument. Never raises for what is in the file."""


def origin_file(origin: str) -> str:
    """The file of an origin, without the place in it: `refs.bib` of `refs.bib:120`."""
    file, separator, place = origin.rpartition(":")
    return file if separator and place.isdecimal() else origin
