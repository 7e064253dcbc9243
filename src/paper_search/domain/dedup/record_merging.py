"""Merge several records and their author lists into one paper: a rule for each field, and the source of each field."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from paper_search.domain.dedup.author_names import ParsedAuthorName, match_names, parse_people
from paper_search.domain.dedup.records import PREPRINT_DOI, ComparableRecord, is_preprint_venue
from paper_search.editorial_notices import merge_notices, unmark_title
from paper_search.models import Author, RawPaper, SourceRecord, WorkType, make_paper_id
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


def merge_records(members: Sequence[tuple[ComparableRecord, str]]) -> RawPaper:
    """Return one paper for the records, each given with the reason for its union.

    The order of the members must follow from their content. The caller sets the id.
    """
    ranked = sorted(members, key=lambda member: _rank_record(member[0]))
    draft = _MergedPaper([record for record, _ in ranked])
    draft.choose_field("title", _rate_title)
    draft.choose_field("abstract", _rate_abstract)
    draft.choose_field("venue", lambda venue: not is_preprint_venue(venue))
    draft.choose_work_type()
    draft.choose_field("full_text_url", _rate_link)
    draft.choose_field("citation_count", int)
    draft.choose_field("snippet", len)
    draft.choose_year()
    draft.choose_field("editors", len)
    for name in ("volume", "issue", "pages", "publisher", "language", "bibtex"):
        draft.choose_field(name, lambda _: 0)
    draft.merge_authors()
    draft.merge_identifiers()
    draft.merge_notices()
    lead = ranked[0][0].paper
    return lead.model_copy(
        update=draft.fields | {"provenance": draft.provenance, "records": _join_source_records(ranked)}
    )


def list_source_records(record: ComparableRecord, fallback_id: str) -> list[SourceRecord]:
    """Return the source records of a paper; without any, one named by an identifier or else by `fallback_id`."""
    known = [f"{scheme}:{value}" for scheme, value in record.identifiers.items()]
    return record.paper.records or [SourceRecord(source=record.paper.source, record_id=[*known, fallback_id][0])]


def name_records(paper: RawPaper) -> list[SourceRecord]:
    record = ComparableRecord(paper)
    return list_source_records(record, _make_content_id(record))


class _MergedPaper:
    """The fields chosen so far, and the source of each."""

    def __init__(self, records: list[ComparableRecord]) -> None:
        self.records = records
        self.fields: dict[str, object] = {}
        self.provenance: dict[str, str] = {}

    def choose_field(
        self, name: str, rate_value: Callable[[Any], Any], records: Sequence[ComparableRecord] | None = None
    ) -> None:
        """Set the field to the value with the highest `rate_value`, the first of equals."""
        having = [record for record in records or self.records if getattr(record.paper, name)]
        if having:
            best = max(having, key=lambda record: rate_value(getattr(record.paper, name)))
            self.fields[name] = getattr(best.paper, name)
            self.set_provenance(name, best)

    def set_provenance(self, key: str, origin: ComparableRecord) -> None:
        self.provenance[key] = origin.paper.provenance.get(key, origin.paper.source)

    def choose_work_type(self) -> None:
        """Set the work type: PREPRINT only if all records are preprints."""
        self.choose_field("work_type", lambda kind: kind is not WorkType.PREPRINT)
        published = not all(record.is_preprint for record in self.records)
        if published and self.fields.get("work_type") is WorkType.PREPRINT:
            self.fields["work_type"] = None
            del self.provenance["work_type"]

    def choose_year(self) -> None:
        """Set the year: a year of registration only if no record has a year of publication."""
        published_first = sorted(self.records, key=lambda record: record.paper.has_registration_year)
        self.choose_field("year", lambda _: 0, published_first)

    def merge_notices(self) -> None:
        """Set the notices of all records, each once; the provenance names every source that lists any."""
        papers = [record.paper for record in self.records if record.paper.notices]
        if papers:
            self.fields["notices"] = merge_notices(notice for paper in papers for notice in paper.notices)
            names = {name for paper in papers for name in _list_notice_sources(paper)}
            self.provenance["notices"] = ", ".join(sorted(names))

    def merge_authors(self) -> None:
        with_authors = [record for record in self.records if record.paper.authors]
        if with_authors:
            self.fields["authors"], base = merge_authors([record.paper.authors for record in with_authors])
            self.set_provenance("authors", with_authors[base])

    def merge_identifiers(self) -> None:
        """Set the first identifier of each scheme: the journal's DOI first, the preprint's beside it."""
        holders = sorted(self.records, key=lambda record: record.published_doi is None)
        known: dict[str, str] = {}
        for record in holders:
            identifiers = dict(record.paper.identifiers)
            if record.doi and "doi" in known and known["doi"] != identifiers["doi"] and "arxiv" not in identifiers:
                identifiers.setdefault(PREPRINT_DOI, identifiers["doi"])
            for scheme, value in identifiers.items():
                if scheme not in known:
                    known[scheme] = value
                    self.set_provenance(f"identifiers.{scheme}", record)
        if "doi" in known:
            self.fields["doi"] = known["doi"]
            self.provenance["doi"] = self.provenance["identifiers.doi"]
        in_order = dict.fromkeys((*SCHEMES, *known))
        self.fields["identifiers"] = {scheme: known[scheme] for scheme in in_order if scheme in known}


def _join_source_records(ranked: Sequence[tuple[ComparableRecord, str]]) -> list[SourceRecord]:
    found: dict[tuple[str, str], SourceRecord] = {}
    for index, (record, reason) in enumerate(ranked):
        for entry in list_source_records(record, _make_content_id(record)):
            joined = index > 0 and entry.reason == _FIRST_RECORD
            found.setdefault(
                (entry.source, entry.record_id), entry.model_copy(update={"reason": reason}) if joined else entry
            )
    return list(found.values())


def _make_content_id(record: ComparableRecord) -> str:
    return f"content:{make_paper_id({}, None, record.content, [], None)}"


def _list_notice_sources(paper: RawPaper) -> list[str]:
    merged = paper.provenance.get("notices")
    return merged.split(", ") if merged else [notice.source for notice in paper.notices]


def _rank_record(record: ComparableRecord) -> tuple[bool, bool, int]:
    """Return a sort key: the journal's record first, then the record with most fields."""
    paper = record.paper
    fields = (paper.abstract, paper.venue, paper.year, paper.authors, paper.volume, paper.pages, paper.publisher)
    return record.is_preprint, record.published_doi is None, -sum(map(bool, fields))


def _rate_title(title: str) -> tuple[bool, bool, bool]:
    unmarked = unmark_title(title)
    return not title.rstrip().endswith(_CUT_OFF), unmarked == title, not unmarked.isupper() and not title.islower()


def _rate_abstract(abstract: str) -> tuple[bool, bool, int]:
    # A longer text is not an abstract but a full text.
    sensible = len(abstract) <= _LONGEST_ABSTRACT
    return sensible, not abstract.rstrip().endswith(_CUT_OFF), len(abstract) if sensible else -len(abstract)


def _rate_link(link: str) -> int:
    if _LINK_TO_LANDING_PAGE.match(link):
        return 0
    return 2 if _OPEN.search(link) else 1


def merge_authors(lists: Sequence[list[Author]]) -> tuple[list[Author], int]:
    """Return the merged list, and the index in `lists` of the list it is based on, the first of equals."""
    if all(authors == lists[0] for authors in lists[1:]):
        return lists[0], 0
    read = [_pair_authors_with_names(authors) for authors in lists]
    base = max(range(len(lists)), key=lambda place: _measure_fullness(read[place]))
    merged = list(read[base])
    for place, other in enumerate(read):
        if place != base:
            _merge_authors_into(merged, other)
    return [author for author, _ in merged] or lists[0], base


def _pair_authors_with_names(authors: list[Author]) -> list[tuple[Author, ParsedAuthorName]]:
    found = parse_people((author.name for author in authors), include_groups=True)
    people_in = Counter(place for place, _, _ in found)
    return [(authors[place] if people_in[place] == 1 else Author(name=piece), name) for place, piece, name in found]


def _measure_fullness(entries: list[tuple[Author, ParsedAuthorName]]) -> tuple[int, int]:
    return len(entries), sum(name.detail[0] for _, name in entries)


def _merge_authors_into(
    merged: list[tuple[Author, ParsedAuthorName]], other: list[tuple[Author, ParsedAuthorName]]
) -> None:
    aligned = len(merged) == len(other)
    twins = match_names([name for _, name in merged], [name for _, name in other])
    for here, there in twins.items():
        merged[here] = _choose_fuller(merged[here], other[there])
    unmatched = sorted(set(range(len(other))) - set(twins.values()))
    merged += [
        other[there]
        for there in unmatched
        if not (aligned and there not in twins and _has_same_initial(merged[there][1], other[there][1]))
    ]


def _has_same_initial(left: ParsedAuthorName, right: ParsedAuthorName) -> bool:
    """Return True if two names at the same index can be one person whose family name was badly misspelled."""
    return bool(left.given and right.given) and left.given[0][0] == right.given[0][0]


def _choose_fuller(
    one: tuple[Author, ParsedAuthorName], other: tuple[Author, ParsedAuthorName]
) -> tuple[Author, ParsedAuthorName]:
    better, worse = (other, one) if other[1].detail > one[1].detail else (one, other)
    author, name = better
    if author.author_id is None and worse[0].author_id is not None:
        author = Author(name=author.name, author_id=worse[0].author_id)
    return author, name
