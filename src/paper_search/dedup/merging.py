"""Makes one paper of several records, each field by a rule that looks at content only, and notes where it came from."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from paper_search.dedup.authors import merge_authors
from paper_search.dedup.records import PREPRINT_DOI, Record, is_preprint_venue
from paper_search.models import RawPaper, SourceRecord, WorkType, paper_id
from paper_search.notices import merge_notices, unmark_title
from uraniborg.kernel.bibliography.identifiers import SCHEMES

_FIRST_RECORD: str = SourceRecord.model_fields["reason"].default
_LONGEST_ABSTRACT = 10_000
_OPEN = re.compile(
    r"arxiv\.org|/pmc|pmc\.|europepmc\.org|(?:bio|med|chem)rxiv\.org|aclanthology\.org|openreview\.net|jmlr\.org"
    r"|plos\.org|mdpi\.com|frontiersin\.org|zenodo\.org|hal\.science|\.pdf\b|/pdf\b",
    re.IGNORECASE,
)
_LINK_TO_LANDING_PAGE = re.compile(r"https?://(?:dx\.)?doi\.org/", re.IGNORECASE)
_CUT_OFF = ("…", "...")


def merge(members: Sequence[tuple[Record, str]]) -> RawPaper:
    """One paper of the records given, each with the reason that brought it in.

    The order of the members must follow from their content. The id is left for the caller to renew.
    """
    ranked = sorted(members, key=lambda member: _rank(member[0]))
    draft = _Draft([record for record, _ in ranked])
    draft.choose("title", _title_worth)
    draft.choose("abstract", _abstract_worth)
    draft.choose("venue", lambda venue: not is_preprint_venue(venue))
    draft.choose_work_type()
    draft.choose("full_text_url", _openness)
    draft.choose("citation_count", int)
    draft.choose("snippet", len)
    draft.choose_year()
    draft.choose("editors", len)
    for name in ("volume", "issue", "pages", "publisher", "language", "bibtex"):
        draft.choose(name, lambda _: 0)
    draft.merge_authors()
    draft.merge_identifiers()
    draft.merge_notices()
    lead = ranked[0][0].paper
    return lead.model_copy(update=draft.fields | {"provenance": draft.provenance, "records": _joined_records(ranked)})


def source_records(record: Record, otherwise: str) -> list[SourceRecord]:
    """Where a paper came from; by an identifier or `otherwise` where its source did not say which record it was."""
    known = [f"{scheme}:{value}" for scheme, value in record.identifiers.items()]
    return record.paper.records or [SourceRecord(source=record.paper.source, record_id=[*known, otherwise][0])]


class _Draft:
    """The fields chosen so far, and the source of each."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.fields: dict[str, Any] = {}
        self.provenance: dict[str, str] = {}

    def choose(self, name: str, worth: Callable[[Any], Any], records: Sequence[Record] | None = None) -> None:
        """Take the worthiest value there is, the first of equals."""
        having = [record for record in records or self.records if getattr(record.paper, name)]
        if having:
            best = max(having, key=lambda record: worth(getattr(record.paper, name)))
            self.fields[name] = getattr(best.paper, name)
            self.note(name, best)

    def note(self, key: str, origin: Record) -> None:
        self.provenance[key] = origin.paper.provenance.get(key, origin.paper.source)

    def choose_work_type(self) -> None:
        """A preprint only while all records are of preprints."""
        self.choose("work_type", lambda kind: kind is not WorkType.PREPRINT)
        published = not all(record.is_preprint for record in self.records)
        if published and self.fields.get("work_type") is WorkType.PREPRINT:
            self.fields["work_type"] = None
            del self.provenance["work_type"]

    def choose_year(self) -> None:
        """Take a year of publication, and one of registration only if there is no other."""
        published_first = sorted(self.records, key=lambda record: record.paper.has_registration_year)
        self.choose("year", lambda _: 0, published_first)

    def merge_notices(self) -> None:
        """Keep the notices of all records, each once; its provenance names every source that lists any."""
        papers = [record.paper for record in self.records if record.paper.notices]
        if papers:
            self.fields["notices"] = merge_notices(notice for paper in papers for notice in paper.notices)
            names = {name for paper in papers for name in _notice_sources(paper)}
            self.provenance["notices"] = ", ".join(sorted(names))

    def merge_authors(self) -> None:
        told = [record for record in self.records if record.paper.authors]
        if told:
            self.fields["authors"], base = merge_authors([record.paper.authors for record in told])
            self.note("authors", told[base])

    def merge_identifiers(self) -> None:
        """The first of each scheme, the journal's DOI before a preprint's, which is kept beside it."""
        holders = sorted(self.records, key=lambda record: record.published_doi is None)
        known: dict[str, str] = {}
        for record in holders:
            told = dict(record.paper.identifiers)
            if record.doi and "doi" in known and known["doi"] != told["doi"] and "arxiv" not in told:
                told.setdefault(PREPRINT_DOI, told["doi"])
            for scheme, value in told.items():
                if scheme not in known:
                    known[scheme] = value
                    self.note(f"identifiers.{scheme}", record)
        if "doi" in known:
            self.fields["doi"] = known["doi"]
            self.provenance["doi"] = self.provenance["identifiers.doi"]
        in_order = dict.fromkeys((*SCHEMES, *known))
        self.fields["identifiers"] = {scheme: known[scheme] for scheme in in_order if scheme in known}


def _joined_records(ranked: Sequence[tuple[Record, str]]) -> list[SourceRecord]:
    found: dict[tuple[str, str], SourceRecord] = {}
    for place, (record, reason) in enumerate(ranked):
        for entry in source_records(record, _content_id(record)):
            joined = place > 0 and entry.reason == _FIRST_RECORD
            found.setdefault(
                (entry.source, entry.record_id), entry.model_copy(update={"reason": reason}) if joined else entry
            )
    return list(found.values())


def _content_id(record: Record) -> str:
    return f"content:{paper_id({}, None, record.content, [], None)}"


def _notice_sources(paper: RawPaper) -> list[str]:
    merged = paper.provenance.get("notices")
    return merged.split(", ") if merged else [notice.source for notice in paper.notices]


def _rank(record: Record) -> tuple[bool, bool, int]:
    """The journal's own record first, then the fullest."""
    paper = record.paper
    told = (paper.abstract, paper.venue, paper.year, paper.authors, paper.volume, paper.pages, paper.publisher)
    return record.is_preprint, record.published_doi is None, -sum(map(bool, told))


def _title_worth(title: str) -> tuple[bool, bool, bool]:
    unmarked = unmark_title(title)
    return not title.rstrip().endswith(_CUT_OFF), unmarked == title, not unmarked.isupper() and not title.islower()


def _abstract_worth(abstract: str) -> tuple[bool, bool, int]:
    # What is longer than any abstract is a full text that slipped in.
    sensible = len(abstract) <= _LONGEST_ABSTRACT
    return sensible, not abstract.rstrip().endswith(_CUT_OFF), len(abstract) if sensible else -len(abstract)


def _openness(link: str) -> int:
    if _LINK_TO_LANDING_PAGE.match(link):
        return 0
    return 2 if _OPEN.search(link) else 1
