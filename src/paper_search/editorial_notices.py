"""Editorial notices: retractions, concerns and corrections of papers, with the source of each."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Final, NotRequired

from pydantic import BaseModel, ConfigDict, PlainSerializer
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


RETRACTIONS: Final = frozenset(
    {NoticeStatus.RETRACTED, NoticeStatus.WITHDRAWN, NoticeStatus.REMOVED, NoticeStatus.PARTIALLY_RETRACTED}
)
"""The statuses of retracted papers. A concern, a correction or a new version is not a retraction."""

_SEVERITY: Final = {status: rank for rank, status in enumerate(NoticeStatus)}
_WORDS: Final[dict[str, str]] = {NoticeStatus.CONCERN: "expression of concern"}
_MAX_DESCRIBED: Final = 8
_MAX_VALUE_CHARS: Final = 100
_MAX_NOTE_CHARS: Final = 250
# Publishers write the mark in capitals or in brackets; "Retracted: …" is as often the title of the notice.
_TITLE_MARK: Final = re.compile(
    r"\s*(?:\[\s*(?:PARTIALLY )?(?:RETRACTED|WITHDRAWN|REMOVED)(?: \w+)?\s*\]"
    r"|\[\s*(?:Retracted|Withdrawn|Removed)(?: [Aa]rticle)?\s*\]"
    r"|(?:PARTIALLY )?(?:RETRACTED|WITHDRAWN|REMOVED)(?: (?:ARTICLE|CHAPTER|PAPER))?\s*[:–—])\s*:?\s*"
)


class EditorialNotice(BaseModel):
    """One notice about a paper as one source lists it."""

    model_config = ConfigDict(frozen=True)

    status: NoticeStatus
    source: str
    date: str | None = None
    """When the notice was published, as exactly as the source has it: `2010`, `2010-02` or `2010-02-06`."""
    notice_doi: str | None = None
    label: str | None = None
    """The source's text of the notice, such as where it was printed."""

    @property
    def is_retraction(self) -> bool:
        """Whether the notice retracts the paper."""
        return self.status in RETRACTIONS


class RetractionReply(TypedDict):
    """A retraction."""

    status: str
    source: str
    date: str | None
    notice_doi: str | None


class NoticeFields(TypedDict):
    """The notices of a paper in a list, as far as it has any."""

    retraction: NotRequired[RetractionReply]
    editorial_note: NotRequired[str]


def serialize_retraction(notice: EditorialNotice | None) -> RetractionReply | None:
    """Return `{"status", "source", "date", "notice_doi"}`, or None for None."""
    if notice is None:
        return None
    return {
        "status": notice.status.value,
        "source": notice.source,
        "date": notice.date,
        "notice_doi": notice.notice_doi,
    }


Retraction = Annotated[EditorialNotice | None, PlainSerializer(serialize_retraction)]
"""A notice of a retraction, serialised as `{"status", "source", "date", "notice_doi"}`."""


def find_retraction(notices: Iterable[EditorialNotice]) -> EditorialNotice | None:
    """Return the most severe notice of a retraction, or None.

    Of equally severe ones, a notice with a DOI comes first, then the latest.
    """
    found = [notice for notice in notices if notice.is_retraction]
    most_severe = min((_SEVERITY[notice.status] for notice in found), default=None)
    equals = sorted((notice for notice in found if _SEVERITY[notice.status] == most_severe), key=_make_sort_key)
    return max(equals, key=lambda notice: (notice.notice_doi is not None, notice.date or ""), default=None)


def merge_notices(notices: Iterable[EditorialNotice]) -> list[EditorialNotice]:
    """Return each notice once, the earliest first, independent of the order of the input.

    Notices of one status with one DOI are one notice, and the most exactly dated listing of it stays. Notices
    without a DOI are distinguished by source, date and label.
    """
    best: dict[tuple[str | None, ...], EditorialNotice] = {}
    for notice in sorted(notices, key=lambda notice: (-len(notice.date or ""), *_make_sort_key(notice))):
        identity = (notice.notice_doi,) if notice.notice_doi else (None, notice.source, notice.date, notice.label)
        best.setdefault((notice.status, *identity), notice)
    return sorted(best.values(), key=_make_sort_key)


def describe_notices(notices: Sequence[EditorialNotice]) -> str:
    """Return one line with the source of every notice, or "" if none is a retraction or a concern.

    The notice of `find_retraction` comes first, then the others by severity and date. All notices of such a paper are
    described, so that a source that calls a retraction a correction shows too.
    """
    first = find_retraction(notices)
    ordered = sorted(notices, key=lambda notice: (notice != first, _SEVERITY[notice.status], *_make_sort_key(notice)))
    if not ordered or _SEVERITY[ordered[0].status] > _SEVERITY[NoticeStatus.CONCERN]:
        return ""
    described = [_describe_notice(notice) for notice in ordered[:_MAX_DESCRIBED]]
    if len(ordered) > _MAX_DESCRIBED:
        described.append(f"and {len(ordered) - _MAX_DESCRIBED} more")
    line = "; ".join(described)
    return line[0].upper() + line[1:]


def build_notice_fields(notices: Sequence[EditorialNotice]) -> NoticeFields:
    """Return the fields of a paper's notices in a list of papers, with short texts, or {} if there are none.

    A retracted paper has `retraction`, a paper that is retracted or under concern has `editorial_note`.
    """
    fields: NoticeFields = {}
    if retraction := serialize_retraction(find_retraction(notices)):
        fields["retraction"] = {
            "status": retraction["status"],
            "source": retraction["source"][:_MAX_VALUE_CHARS],
            "date": retraction["date"] and retraction["date"][:_MAX_VALUE_CHARS],
            "notice_doi": retraction["notice_doi"] and retraction["notice_doi"][:_MAX_VALUE_CHARS],
        }
    if note := describe_notices(notices):
        fields["editorial_note"] = note if len(note) <= _MAX_NOTE_CHARS else note[: _MAX_NOTE_CHARS - 1] + "…"
    return fields


def mark_title(title: str, status: str | None) -> str:
    """Return the title of a paper with a mark for its status in front, such as `RETRACTED: `.

    A title with a mark, and the title of a paper that is not retracted, are returned unchanged.
    """
    return title if not status or _TITLE_MARK.match(title) else f"{_name_status(status).upper()}: {title}"


def unmark_title(title: str) -> str:
    """Return the title without the mark that publishers put before titles of retracted papers."""
    return _TITLE_MARK.sub("", title, count=1) if _TITLE_MARK.match(title) else title


def _name_status(status: str) -> str:
    return _WORDS.get(status, status.replace("_", " "))


def _describe_notice(notice: EditorialNotice) -> str:
    when = f" {notice.date}" if notice.date else ""
    which = f"notice doi:{notice.notice_doi}, " if notice.notice_doi else ""
    return f"{_name_status(notice.status)}{when} ({which}source {notice.source})"


def _make_sort_key(notice: EditorialNotice) -> tuple[str, int, str, str, str]:
    # "~" sorts after every digit: notices without a date come last.
    date, doi, label = notice.date or "~", notice.notice_doi or "", notice.label or ""
    return date, _SEVERITY[notice.status], notice.source, doi, label
