"""Show editorial notices of a paper in models, replies and titles."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, NotRequired, cast

from pydantic import BaseModel, ConfigDict, PlainSerializer
from typing_extensions import TypedDict

from uraniborg.kernel.bibliography import editorial_notices as kernel
from uraniborg.kernel.bibliography.editorial_notices import RETRACTIONS, NoticeStatus

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
    """Return the most severe notice of a retraction, or None."""
    found = kernel.find_retraction(_list_fields(notices))
    return EditorialNotice.model_validate(found) if found else None


def merge_notices(notices: Iterable[EditorialNotice]) -> list[EditorialNotice]:
    """Return each notice once, the earliest first, independent of the order of the input."""
    merged = [EditorialNotice.model_validate(fields) for fields in kernel.merge_notices(_list_fields(notices))]
    return sorted(merged, key=lambda notice: notice.date or "~")  # notices without a date come last


def describe_notices(notices: Iterable[EditorialNotice]) -> str:
    """Return one line with the source of every notice, or "" if none is a retraction or a concern."""
    return kernel.describe_notices(_list_fields(notices))


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
    return title if not status or _TITLE_MARK.match(title) else f"{kernel.name_status(status).upper()}: {title}"


def unmark_title(title: str) -> str:
    """Return the title without the mark that publishers put before titles of retracted papers."""
    return _TITLE_MARK.sub("", title, count=1) if _TITLE_MARK.match(title) else title


def _list_fields(notices: Iterable[EditorialNotice]) -> list[kernel.EditorialNotice]:
    return [cast("kernel.EditorialNotice", notice.model_dump(mode="json", exclude_none=True)) for notice in notices]
