"""Editorial notices: what became of a paper after it was published, and which source says so."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, PlainSerializer


class NoticeStatus(StrEnum):
    """The status that a notice gives to a paper, the gravest first."""

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
"""The statuses that mean that a paper is retracted. A concern, a correction or a new version does not."""

_GRAVITY: Final = {status: rank for rank, status in enumerate(NoticeStatus)}
_WORDS: Final[dict[str, str]] = {NoticeStatus.CONCERN: "expression of concern"}
_MOST_DESCRIBED: Final = 8
_LONGEST_VALUE: Final = 100
_LONGEST_NOTE: Final = 250
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
    """The source's own words for the notice, such as where it was printed."""

    @property
    def is_retraction(self) -> bool:
        return self.status in RETRACTIONS


def serialize_retraction(notice: EditorialNotice | None) -> dict[str, str | None] | None:
    """Return `{"status", "source", "date", "notice_doi"}`, or None for None."""
    return None if notice is None else notice.model_dump(mode="json", exclude={"label"})


Retraction = Annotated[EditorialNotice | None, PlainSerializer(serialize_retraction)]
"""A notice that means retracted, serialised as `{"status", "source", "date", "notice_doi"}`."""


def find_retraction(notices: Iterable[EditorialNotice]) -> EditorialNotice | None:
    """Return the gravest notice that means retracted, or None.

    Of equally grave ones, a notice with a DOI comes first, then the latest.
    """
    found = [notice for notice in notices if notice.is_retraction]
    gravest = min((_GRAVITY[notice.status] for notice in found), default=None)
    equals = sorted((notice for notice in found if _GRAVITY[notice.status] == gravest), key=_order)
    return max(equals, key=lambda notice: (notice.notice_doi is not None, notice.date or ""), default=None)


def merge_notices(notices: Iterable[EditorialNotice]) -> list[EditorialNotice]:
    """Return each notice once, the earliest first, whatever order they came in.

    Notices of one status with one DOI are one notice, and the most exactly dated listing of it stays. Notices
    without a DOI are distinguished by source, date and label.
    """
    best: dict[tuple[str | None, ...], EditorialNotice] = {}
    for notice in sorted(notices, key=lambda notice: (-len(notice.date or ""), *_order(notice))):
        own = (notice.notice_doi,) if notice.notice_doi else (None, notice.source, notice.date, notice.label)
        best.setdefault((notice.status, *own), notice)
    return sorted(best.values(), key=_order)


def describe_notices(notices: Sequence[EditorialNotice]) -> str:
    """Return one line for people with the source of every notice, or "" unless one is a retraction or a concern.

    The notice of `find_retraction` comes first, then the others by gravity and date. All notices of such a paper are
    described, so that a source that calls a retraction a correction shows too.
    """
    first = find_retraction(notices)
    ordered = sorted(notices, key=lambda notice: (notice != first, _GRAVITY[notice.status], *_order(notice)))
    if not ordered or _GRAVITY[ordered[0].status] > _GRAVITY[NoticeStatus.CONCERN]:
        return ""
    described = [_describe(notice) for notice in ordered[:_MOST_DESCRIBED]]
    if len(ordered) > _MOST_DESCRIBED:
        described.append(f"and {len(ordered) - _MOST_DESCRIBED} more")
    line = "; ".join(described)
    return line[0].upper() + line[1:]


def notice_fields(notices: Sequence[EditorialNotice]) -> dict[str, Any]:
    """Return what a list of papers shows of a paper's notices, in short texts, or {} if there is nothing to show.

    `retraction` is there for a retracted paper, `editorial_note` for one that is retracted or under concern.
    """
    fields: dict[str, Any] = {}
    if retraction := serialize_retraction(find_retraction(notices)):
        fields["retraction"] = {name: value and value[:_LONGEST_VALUE] for name, value in retraction.items()}
    if note := describe_notices(notices):
        fields["editorial_note"] = note if len(note) <= _LONGEST_NOTE else note[: _LONGEST_NOTE - 1] + "…"
    return fields


def mark_title(title: str, status: str | None) -> str:
    """Return the title of a paper with this status of retraction behind a mark such as `RETRACTED: `.

    A title that has a mark already gets no other, and the title of a paper that is not retracted stays as it is.
    """
    return title if not status or _TITLE_MARK.match(title) else f"{_words(status).upper()}: {title}"


def unmark_title(title: str) -> str:
    """Return the title without the mark that publishers put before titles of retracted papers."""
    return _TITLE_MARK.sub("", title, count=1) if _TITLE_MARK.match(title) else title


def _words(status: str) -> str:
    return _WORDS.get(status, status.replace("_", " "))


def _describe(notice: EditorialNotice) -> str:
    when = f" {notice.date}" if notice.date else ""
    which = f"notice doi:{notice.notice_doi}, " if notice.notice_doi else ""
    return f"{_words(notice.status)}{when} ({which}source {notice.source})"


def _order(notice: EditorialNotice) -> tuple[str, int, str, str, str]:
    # "~" sorts after every digit: notices without a date come last.
    date, doi, label = notice.date or "~", notice.notice_doi or "", notice.label or ""
    return date, _GRAVITY[notice.status], notice.source, doi, label
