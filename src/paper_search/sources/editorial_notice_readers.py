"""Read editorial notices from records of Crossref, PubMed and Europe PMC."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from paper_search.editorial_notices import EditorialNotice, merge_notices
from paper_search.sources.record_fields import (
    clean_text,
    get_date_parts,
    get_object_or_empty,
    list_json_objects,
    parse_count,
)
from uraniborg.kernel.bibliography.editorial_notices import STATUSES, NoticeStatus, parse_status
from uraniborg.kernel.bibliography.identifiers import normalise_doi
from uraniborg.kernel.json_values import JsonObject

# Only links from a paper to its notice: "RetractionOf" and "ErratumFor" are in the record of the notice.
_MEDLINE_LINKS: Final = {
    "retractionin": NoticeStatus.RETRACTED,
    "retractedandrepublishedin": NoticeStatus.RETRACTED,
    "partialretractionin": NoticeStatus.PARTIALLY_RETRACTED,
    "expressionofconcernin": NoticeStatus.CONCERN,
    "erratumin": NoticeStatus.CORRECTED,
    "correctedandrepublishedin": NoticeStatus.CORRECTED,
    "updatein": NoticeStatus.UPDATED,
}
_RETRACTED_TYPE: Final = "retracted publication"
_DOI_OF_REFERENCE: Final = re.compile(r"\bdoi:?\s*(10\.\S+)", re.IGNORECASE)
_DATE_OF_REFERENCE: Final = re.compile(
    r"\b(?P<year>1[89][0-9]{2}|20[0-9]{2})"
    r"(?: (?P<month>[A-Z][a-z]{2})(?:-[A-Z][a-z]{2})?(?: (?P<day>[0-9]{1,2}))?)?(?:-[0-9]+)?\s*[;:.]"
)
_MONTHS: Final = {
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6,
    "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}  # fmt: skip
_LONGEST_LABEL: Final = 300


def read_crossref_notices(source: str, work: JsonObject) -> list[EditorialNotice]:
    """Return the notices in `updated-by`, and those in `update-to` that name the work itself.

    All other entries of `update-to` describe other papers: there the work itself is the notice.
    """
    own = normalise_doi(clean_text(work.get("DOI")))
    return merge_notices(_iterate_crossref_notices(source, work, own))


def _iterate_crossref_notices(source: str, work: JsonObject, own_doi: str | None) -> Iterator[EditorialNotice]:
    for field in ("updated-by", "update-to"):
        for entry in list_json_objects(work.get(field)):
            doi, kind = normalise_doi(clean_text(entry.get("DOI"))), clean_text(entry.get("type")).lower()
            name = parse_status(kind)
            status = NoticeStatus(name) if name in STATUSES else NoticeStatus.UPDATED
            of_itself = doi is not None and doi == own_doi
            if (field == "update-to" and not of_itself) or (status is NoticeStatus.UPDATED and of_itself):
                continue
            label = clean_text(entry.get("label")) or kind
            if entry.get("source") == "retraction-watch":
                label = f"{label} (Retraction Watch)"
            yield EditorialNotice(
                status=status,
                source=source,
                date=_read_crossref_iso_date(entry.get("updated")),
                notice_doi=doi,
                label=label[:_LONGEST_LABEL] or None,
            )


def read_medline_notices(
    source: str, publication_types: Iterable[str], links: Iterable[tuple[str, str, str]]
) -> list[EditorialNotice]:
    """Return the notices of a record from its publication types and its links to comments and corrections.

    Each link has a type ("RetractionIn", "Retraction in"), a reference to the notice, and the PubMed id of the notice.
    """
    found = [
        EditorialNotice(
            status=status,
            source=source,
            date=_find_iso_date_in_reference(reference),
            notice_doi=_find_doi_in_reference(reference),
            label=f"{reference} (PMID {pmid})"[:_LONGEST_LABEL] if pmid else reference[:_LONGEST_LABEL] or None,
        )
        for kind, reference, pmid in links
        if (status := _MEDLINE_LINKS.get(re.sub(r"[^a-z]", "", kind.lower())))
    ]
    marked = any(kind.lower() == _RETRACTED_TYPE for kind in publication_types)
    if marked and not any(notice.is_retraction for notice in found):
        found.append(EditorialNotice(status=NoticeStatus.RETRACTED, source=source, label="Retracted Publication"))
    return merge_notices(found)


def _read_crossref_iso_date(updated: object) -> str | None:
    parts = [parse_count(part) for part in get_date_parts(updated)]
    if parts and parts[0]:
        return _format_iso_date(*parts[:3])
    stamp = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", clean_text(get_object_or_empty(updated).get("date-time")))
    return _format_iso_date(*map(int, stamp.groups())) if stamp else None


def _find_iso_date_in_reference(reference: str) -> str | None:
    found = _DATE_OF_REFERENCE.search(reference)
    if not found:
        return None
    month = _MONTHS.get(found["month"] or "")
    return _format_iso_date(int(found["year"]), month, int(found["day"]) if found["day"] else None)


def _find_doi_in_reference(reference: str) -> str | None:
    found = _DOI_OF_REFERENCE.search(reference)
    return normalise_doi(found[1]) if found else None


def _format_iso_date(year: int | None, month: int | None = None, day: int | None = None) -> str | None:
    """Return the date with as many parts as are valid, or None if the year is not valid."""
    if year is None or year < 1000:
        return None
    for parts, length in (((year, month, day), 10), ((year, month, 1), 7), ((year, 1, 1), 4)):
        try:
            return date(*(part or 0 for part in parts)).isoformat()[:length]
        except (ValueError, OverflowError):
            continue
    return None
