"""Prepare records for comparison: normalised identifiers, parsed titles and names, preprints recognised."""

import re
from collections.abc import Iterator
from functools import cached_property

from pydantic_core import PydanticSerializationError

from paper_search.domain.dedup.author_names import ParsedAuthorName, parse_people
from paper_search.domain.dedup.titles import parse_title
from paper_search.models import RawPaper, WorkType
from uraniborg.kernel.bibliography.identifiers import normalise_doi, normalise_identifiers
from uraniborg.kernel.language.words import split_words

PREPRINT_DOI = "preprint_doi"
"""The identifier scheme for the DOI of a preprint in a merged paper, beside the DOI of the journal."""

_PREPRINT_SERVER_DOI = re.compile(
    r"10\.(?:48550/arxiv|1101/(?:\d{4}\.\d\d\.\d\d\.)?\d+(?:v\d+)?$|64898/|2139/ssrn|26434/|21203/rs|20944/preprints"
    r"|3123[45]/|31219/|3122[0-4]/|35542/|31730/|32942/|33774/|36227/techrxiv|22541/|1002/essoar|1590/scielopreprints"
    r"|51094/|14293/|5194/egusphere-\d{4}-)"
)
_LOOSE_DOI = re.compile(r"10\.\d+/\S+")
_VERSION = re.compile(r"(?:[/.-]v\d{1,2}|(?<=\d)v\d{1,2})$")
_VERSIONED_JOURNAL = re.compile(r"(10\.(?:7554/elife\.\d+|12688/[a-z0-9]+\.\d+))\.\d{1,2}$")
_PREPRINT_VENUE = re.compile(
    r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|techrxiv|ssrn|corr|research square|preprints?)\b", re.IGNORECASE
)
_PAGES = re.compile(
    r"(?:pp?\.? ?)?([a-z]{0,3})\.? ?(\d+)(?: ?[-\u2010-\u2014]+ ?(?:[a-z]{0,3} ?\d+|[a-z]+))?$", re.IGNORECASE
)
_RANGE = re.compile("[-\u2010-\u2014]")
_SUPPLEMENT = re.compile(r"\bsuppl|\bmeeting ?abstracts?\b|^s\d+$", re.IGNORECASE)
_MEETING_VENUE = re.compile(r"\. conference(?:: |$)|\bmeeting abstracts\b", re.IGNORECASE)
_ABSTRACT_PREFIXES = frozenset("AOPS")
_MAX_OTHER_CHARS = 10_000
_YEAR_IN_TITLE = re.compile(r"[^:]{0,40}?[(\[]((?:1[89]|20)\d\d)[)\]]")


class ComparableRecord:
    """One paper under comparison. `positions` are the positions of its records in the input."""

    def __init__(self, paper: RawPaper, *positions: int) -> None:
        self.positions = sorted(positions)
        self.paper, self.identifiers = _normalise_paper_identifiers(paper)
        self.title = parse_title(paper.title)
        doi = self.identifiers.get("doi")
        self.doi = doi and _strip_doi_version(doi)

    @cached_property
    def year(self) -> int | None:
        year = None if self.paper.has_registration_year else self.paper.year
        if year is None and (found := _YEAR_IN_TITLE.match(self.paper.title)):
            year = int(found[1])
        return year if year and 1000 < year < 3000 else None

    @cached_property
    def published_doi(self) -> str | None:
        """The DOI of the journal, conference or book; None without one or with a preprint's DOI only."""
        if not self.doi or _PREPRINT_SERVER_DOI.match(self.doi):
            return None
        # arXiv puts the journal's DOI on its own records: there the DOI is not the preprint's.
        of_preprint = self.paper.work_type is WorkType.PREPRINT and "arxiv" not in self.identifiers
        return None if of_preprint else self.doi

    @cached_property
    def is_preprint(self) -> bool:
        if self.paper.work_type is WorkType.PREPRINT:
            return True
        if self.published_doi:
            return False
        if self.doi:
            return True
        return is_preprint_venue(self.paper.venue) if self.paper.venue else "arxiv" in self.identifiers

    @cached_property
    def first_page(self) -> int | None:
        """The number of the first page, without letters such as the S of a supplement."""
        found = self._pages
        return int(found[2]) if found else None

    @cached_property
    def is_on_one_page(self) -> bool:
        """Whether the record names a single page."""
        return self._pages is not None and not _RANGE.search(self._pages[0])

    @cached_property
    def is_meeting_abstract(self) -> bool:
        """Whether volume, issue, page or venue show an item of a supplement: the abstract of a talk or poster."""
        paper = self.paper
        if any(_SUPPLEMENT.search(text.strip()) for text in (paper.volume, paper.issue) if text):
            return True
        if paper.venue and _MEETING_VENUE.search(paper.venue):
            return True
        return self.is_on_one_page and self._pages is not None and self._pages[1].upper() in _ABSTRACT_PREFIXES

    @cached_property
    def _pages(self) -> re.Match[str] | None:
        return _PAGES.match(self.paper.pages.strip()[:40]) if self.paper.pages else None

    @cached_property
    def names(self) -> tuple[ParsedAuthorName, ...]:
        return tuple(dict.fromkeys(name for _, _, name in parse_people(author.name for author in self.paper.authors)))

    @cached_property
    def other_field_words(self) -> frozenset[str]:
        """Words of the other fields, which some sources put into titles."""
        paper = self.paper
        texts = [author.name for author in paper.authors]
        texts += [text for text in (paper.venue, paper.volume, paper.issue, paper.pages) if text]
        return frozenset(split_words(" ".join(texts)[:_MAX_OTHER_CHARS]))

    @property
    def sources(self) -> set[str]:
        return {self.paper.source, *(record.source for record in self.paper.records)}

    @property
    def content(self) -> str:
        """The content of the paper as text, without its id and records."""
        try:
            return self.paper.model_dump_json(exclude={"id", "records"})
        except PydanticSerializationError:  # text or raw data that JSON cannot hold
            return repr(self.paper.model_copy(update={"id": "", "records": []}))

    def iterate_identities(self) -> Iterator[str]:
        """Yield every identity of this record as `scheme:value`."""
        for scheme, value in self.identifiers.items():
            yield f"{scheme}:{self.doi if scheme == 'doi' else value}"
        if preprint := self.paper.identifiers.get(PREPRINT_DOI):
            yield f"doi:{_strip_doi_version(preprint)}"
        for record in self.paper.records:
            # With the title, since a source without ids may give the beginning of a title as the id.
            yield f"record:{record.source} {record.record_id} {self.title.compact}"


def is_preprint_venue(venue: str) -> bool:
    """Return True for the name of a preprint server."""
    return _PREPRINT_VENUE.search(venue) is not None


def _strip_doi_version(doi: str) -> str:
    if _PREPRINT_SERVER_DOI.match(doi):
        return _VERSION.sub("", doi)
    versioned = _VERSIONED_JOURNAL.match(doi)
    return versioned[1] if versioned else doi


def _normalise_paper_identifiers(paper: RawPaper) -> tuple[RawPaper, dict[str, str]]:
    if not paper.identifiers and not paper.doi:
        return paper, {}
    known = normalise_identifiers(paper.identifiers)
    if known == paper.identifiers and known.get("doi") == paper.doi:
        return paper, paper.identifiers
    doi = _extract_doi(paper.doi) or _extract_doi(paper.identifiers.get("doi"))
    if doi:
        known = {**normalise_identifiers({"doi": doi}), **known, "doi": doi}
    # Identifiers that cannot be normalised identify nothing here, but stay in the paper.
    identifiers = {
        **known,
        **{scheme: text for scheme, text in paper.identifiers.items() if scheme not in known and text},
    }
    if identifiers != paper.identifiers or doi != paper.doi:
        paper = paper.model_copy(update={"identifiers": identifiers, "doi": doi})
    return paper, known


def _extract_doi(text: str | None) -> str | None:
    if not text:
        return None
    found = normalise_doi(text)
    if found is None and (loose := _LOOSE_DOI.search(text.lower())):
        found = loose.group().rstrip(".,;")
    return found
