"""Editorial notices about papers: retractions, expressions of concern and corrections."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, cast

if TYPE_CHECKING:
    from paper_library.replies import EditorialNotice

STATUSES: Final = ("retracted", "withdrawn", "removed", "partially_retracted", "concern", "corrected", "updated")
"""The most serious first. The first four mean that the paper is retracted."""
RETRACTIONS: Final = frozenset(STATUSES[:4])
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
_IN_A_NOTE: Final = re.compile(
    r"\s*(?P<status>retracted|withdrawn|removed|partially retracted|expression of concern|corrected)\b"
    r"(?: (?P<date>\d{4}(?:-\d\d){0,2}))?"
    r"(?: \((?:notice doi:(?P<notice_doi>[^\s,)]+(?:\([^\s)]*\)[^\s,)]*)?)(?:, )?)?(?:source (?P<source>[^)]+))?\))?",
    re.IGNORECASE,
)


def read_notices(value: Any) -> "list[EditorialNotice]":
    """Return the notices in a JSON value: an object, a list of them, a status, or true for a retraction."""
    if isinstance(value, list):
        items = [item for item in cast("list[Any]", value)[:_MOST] if not isinstance(item, list)]
        return [notice for item in items for notice in read_notices(item)]
    if value is True:
        return [{"status": "retracted"}]
    given = {"status": value} if isinstance(value, str) else value
    if not isinstance(given, dict):
        return []
    fields = cast("dict[str, Any]", given)
    given_status = fields.get("status") or fields.get("type")
    status = "_".join(given_status.lower().replace("-", " ").split()) if isinstance(given_status, str) else ""
    status = _SYNONYMS.get(status, status)
    if not status or len(status) > _LONGEST:
        return []
    notice: EditorialNotice = {"status": status}
    for name in _FIELDS:
        if isinstance(text := fields.get(name), str) and text.strip():
            notice[name] = " ".join(text.split())[:_LONGEST]
    return [notice]


def parse_notices_of_note(note: str) -> "list[EditorialNotice]":
    """Return the notices in a BibTeX note that `describe_serious_notices` wrote."""
    found = [_IN_A_NOTE.fullmatch(part.rstrip(" .")) for part in note[: 10 * _LONGEST].split(";")]
    described = [match.groupdict() for match in found if match]
    return [notice for facts in described for notice in read_notices(facts)]


def merge_notices(notices: "Iterable[EditorialNotice]") -> "list[EditorialNotice]":
    """Return each notice once, the most serious first; notices with the same status and DOI are the same."""
    best: dict[tuple[str, ...], EditorialNotice] = {}
    for notice in sorted(notices, key=_make_sort_key):
        doi = notice.get("notice_doi", "")
        own = (doi,) if doi else ("", notice.get("source", ""), notice.get("date", ""), notice.get("label", ""))
        best.setdefault((notice["status"], *own), notice)
    return list(best.values())


def find_retraction(notices: "Iterable[EditorialNotice]") -> "EditorialNotice | None":
    """Return the most serious retraction notice, without its label, or None.

    Among equally serious notices, those with a DOI come first, then the latest.
    """
    found = [notice for notice in notices if notice["status"] in RETRACTIONS]
    gravest = min((_get_severity_rank(notice) for notice in found), default=None)
    equals = [notice for notice in found if _get_severity_rank(notice) == gravest]
    best = max(equals, key=lambda one: ("notice_doi" in one, one.get("date", "")), default=None)
    if best is None:
        return None
    retraction = best.copy()
    retraction.pop("label", None)
    return retraction


def describe_serious_notices(notices: "Iterable[EditorialNotice]") -> str:
    """Return one line with all notices, or "" if none is a retraction or a concern."""
    ordered = sorted(notices, key=_make_sort_key)
    if not ordered or _get_severity_rank(ordered[0]) > STATUSES.index("concern"):
        return ""
    line = "; ".join(map(_describe_notice, ordered))
    return line[0].upper() + line[1:]


def _describe_notice(notice: "EditorialNotice") -> str:
    status = {"concern": "expression of concern"}.get(notice["status"], notice["status"].replace("_", " "))
    date = f" {notice['date']}" if "date" in notice else ""
    details = [f"notice doi:{notice['notice_doi']}"] if "notice_doi" in notice else []
    details += [f"source {notice['source']}"] if "source" in notice else []
    return f"{status}{date}" + (f" ({', '.join(details)})" if details else "")


def _get_severity_rank(notice: "EditorialNotice") -> int:
    return STATUSES.index(notice["status"]) if notice["status"] in STATUSES else len(STATUSES)


def _make_sort_key(notice: "EditorialNotice") -> tuple[int, str, str, str]:
    # "~" sorts after every digit: notices without a date come last.
    return (
        _get_severity_rank(notice),
        notice.get("date", "~"),
        notice.get("notice_doi", "~"),
        notice.get("source", ""),
    )
