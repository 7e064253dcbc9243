"""Decide what editorial notices say about papers: retractions, concerns and corrections."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Literal, NotRequired, cast

from typing_extensions import TypedDict


class NoticeStatus(StrEnum):
    """The status that a notice gives a paper, the most severe first."""

    RETRACTED = "retracted"
    WITHDRAWN = "withdrawn"
    REMOVED = "removed"
    PARTIALLY_RETRACTED = "partially_retracted"
    CONCERN = "concern"
    CORRECTED = "corrected"
    UPDATED = "updated"


class EditorialNotice(TypedDict):
    status: str
    source: NotRequired[str]
    date: NotRequired[str]
    notice_doi: NotRequired[str]
    label: NotRequired[str]


STATUSES: Final = frozenset(status.value for status in NoticeStatus)
RETRACTIONS: Final = frozenset(
    {NoticeStatus.RETRACTED, NoticeStatus.WITHDRAWN, NoticeStatus.REMOVED, NoticeStatus.PARTIALLY_RETRACTED}
)
"""The statuses of retracted papers. A concern, a correction or a new version is not a retraction."""

_SEVERITY: Final[dict[str, int]] = {status.value: rank for rank, status in enumerate(NoticeStatus)}
_SYNONYMS: Final = {
    "retraction": "retracted",
    "retracted_publication": "retracted",
    "withdrawal": "withdrawn",
    "removal": "removed",
    "partial_retraction": "partially_retracted",
    "expression_of_concern": "concern",
    **dict.fromkeys(("correction", "corrigendum", "erratum"), "corrected"),
}
_FIELDS: Final[tuple[Literal["source", "date", "notice_doi", "label"], ...]] = ("source", "date", "notice_doi", "label")
_LONGEST: Final = 500
_MOST: Final = 100
_MAX_DESCRIBED: Final = 8
_IN_A_NOTE: Final = re.compile(
    r"\s*(?P<status>retracted|withdrawn|removed|partially retracted|expression of concern|corrected)\b"
    r"(?: (?P<date>\d{4}(?:-\d\d){0,2}))?"
    r"(?: \((?:notice doi:(?P<notice_doi>[^\s,)]+(?:\([^\s)]*\)[^\s,)]*)?)(?:, )?)?(?:source (?P<source>[^)]+))?\))?",
    re.IGNORECASE,
)


def parse_status(text: str) -> str:
    """Return the status with this name or synonym, such as `concern` for `Expression-of-Concern`; else the name."""
    name = "_".join(text.lower().replace("-", " ").split())
    return _SYNONYMS.get(name, name)


def name_status(status: str) -> str:
    """Return a status in words."""
    return "expression of concern" if status == NoticeStatus.CONCERN else status.replace("_", " ")


def read_notices(value: object) -> list[EditorialNotice]:
    """Return the notices in a JSON value: an object, a list of them, a status, or true for a retraction."""
    if isinstance(value, list):
        items = [item for item in cast("list[object]", value)[:_MOST] if not isinstance(item, list)]
        return [notice for item in items for notice in read_notices(item)]
    if value is True:
        return [{"status": "retracted"}]
    given = {"status": value} if isinstance(value, str) else value
    if not isinstance(given, dict):
        return []
    fields = cast("dict[str, object]", given)
    given_status = fields.get("status") or fields.get("type")
    status = parse_status(given_status) if isinstance(given_status, str) else ""
    if not status or len(status) > _LONGEST:
        return []
    notice: EditorialNotice = {"status": status}
    for name in _FIELDS:
        if isinstance(text := fields.get(name), str) and text.strip():
            notice[name] = " ".join(text.split())[:_LONGEST]
    return [notice]


def parse_notices_of_note(note: str) -> list[EditorialNotice]:
    """Return the notices in a BibTeX note that `describe_notices` wrote."""
    found = [_IN_A_NOTE.fullmatch(part.rstrip(" .")) for part in note[: 10 * _LONGEST].split(";")]
    described = [match.groupdict() for match in found if match]
    return [notice for facts in described for notice in read_notices(facts)]


def merge_notices(notices: Iterable[EditorialNotice]) -> list[EditorialNotice]:
    """Return each notice once, the most severe first, independent of the order of the input.

    Notices of one status with one DOI are one notice, and the most exactly dated listing of it stays. Notices
    without a DOI are distinguished by source, date and label.
    """
    best: dict[tuple[str, ...], EditorialNotice] = {}
    for notice in sorted(notices, key=lambda one: (-len(one.get("date", "")), *_make_sort_key(one))):
        doi = notice.get("notice_doi", "")
        identity = (doi,) if doi else ("", notice.get("source", ""), notice.get("date", ""), notice.get("label", ""))
        best.setdefault((notice["status"], *identity), notice)
    return sorted(best.values(), key=_make_sort_key)


def find_retraction(notices: Iterable[EditorialNotice]) -> EditorialNotice | None:
    """Return the most severe notice of a retraction, or None.

    Of equally severe ones, a notice with a DOI comes first, then the latest.
    """
    found = sorted((notice for notice in notices if notice["status"] in RETRACTIONS), key=_make_sort_key)
    equals = [notice for notice in found if notice["status"] == found[0]["status"]]
    return max(equals, key=lambda notice: ("notice_doi" in notice, notice.get("date", "")), default=None)


def describe_notices(notices: Iterable[EditorialNotice]) -> str:
    """Return one line with the source of every notice, or "" if none is a retraction or a concern.

    The notice of `find_retraction` comes first, then the others by severity and date. All notices of such a paper are
    described, so that a source that calls a retraction a correction shows too.
    """
    listed = list(notices)
    first = find_retraction(listed)
    ordered = sorted(listed, key=lambda notice: (notice != first, *_make_sort_key(notice)))
    if not ordered or _get_severity_rank(ordered[0]) > _SEVERITY["concern"]:
        return ""
    described = [_describe_notice(notice) for notice in ordered[:_MAX_DESCRIBED]]
    if len(ordered) > _MAX_DESCRIBED:
        described.append(f"and {len(ordered) - _MAX_DESCRIBED} more")
    line = "; ".join(described)
    return line[0].upper() + line[1:]


def _describe_notice(notice: EditorialNotice) -> str:
    date = f" {notice['date']}" if "date" in notice else ""
    details = [f"notice doi:{notice['notice_doi']}"] if "notice_doi" in notice else []
    details += [f"source {notice['source']}"] if "source" in notice else []
    return f"{name_status(notice['status'])}{date}" + (f" ({', '.join(details)})" if details else "")


def _get_severity_rank(notice: EditorialNotice) -> int:
    return _SEVERITY.get(notice["status"], len(_SEVERITY))


def _make_sort_key(notice: EditorialNotice) -> tuple[int, str, str, str, str]:
    # "~" sorts after every digit: notices without a date come last.
    date, source = notice.get("date", "~"), notice.get("source", "")
    return _get_severity_rank(notice), date, source, notice.get("notice_doi", ""), notice.get("label", "")
