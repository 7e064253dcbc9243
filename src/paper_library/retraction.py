"""Editorial notices about a paper: retractions, concerns and corrections, as searches and bibliographies write them."""

import re
from collections.abc import Iterable
from typing import Any, Final, cast

Notice = dict[str, str]
"""`status`, and where known `source`, `date`, `notice_doi` and `label`."""

STATUSES: Final = ("retracted", "withdrawn", "removed", "partially_retracted", "concern", "corrected", "updated")
"""The gravest first. The first four mean that the paper is retracted."""
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
_FIELDS: Final = ("source", "date", "notice_doi", "label")
_LONGEST: Final = 500
_MOST: Final = 100
_IN_A_NOTE: Final = re.compile(
    r"\s*(?P<status>retracted|withdrawn|removed|partially retracted|expression of concern|corrected)\b"
    r"(?: (?P<date>\d{4}(?:-\d\d){0,2}))?"
    r"(?: \((?:notice doi:(?P<notice_doi>[^\s,)]+(?:\([^\s)]*\)[^\s,)]*)?)(?:, )?)?(?:source (?P<source>[^)]+))?\))?",
    re.IGNORECASE,
)


def read_notices(value: Any) -> list[Notice]:
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
    said = fields.get("status") or fields.get("type")
    status = "_".join(said.lower().replace("-", " ").split()) if isinstance(said, str) else ""
    status = _SYNONYMS.get(status, status)
    if not status or len(status) > _LONGEST:
        return []
    given = {name: text for name in _FIELDS if isinstance(text := fields.get(name), str) and text.strip()}
    return [{"status": status, **{name: " ".join(text.split())[:_LONGEST] for name, text in given.items()}}]


def notices_in_note(note: str) -> list[Notice]:
    """Return the notices that a BibTeX note describes in the words of `describe_notices`."""
    found = [_IN_A_NOTE.fullmatch(part.rstrip(" .")) for part in note[: 10 * _LONGEST].split(";")]
    described = [match.groupdict() for match in found if match]
    return [notice for facts in described for notice in read_notices(facts)]


def merge_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Return each notice once, the gravest first; those of one status with one DOI are one notice."""
    best: dict[tuple[str, ...], Notice] = {}
    for notice in sorted(notices, key=_order):
        doi = notice.get("notice_doi", "")
        own = (doi,) if doi else ("", *(notice.get(name, "") for name in ("source", "date", "label")))
        best.setdefault((notice["status"], *own), notice)
    return list(best.values())


def find_retraction(notices: Iterable[Notice]) -> Notice | None:
    """Return the gravest notice that means that the paper is retracted, without its label, or None.

    Of equally grave ones, a notice with a DOI comes first, then the latest.
    """
    found = [notice for notice in notices if notice["status"] in RETRACTIONS]
    gravest = min((_gravity(notice) for notice in found), default=None)
    equals = [notice for notice in found if _gravity(notice) == gravest]
    best = max(equals, key=lambda one: ("notice_doi" in one, one.get("date", "")), default=None)
    return {name: value for name, value in best.items() if name != "label"} if best else None


def describe_notices(notices: Iterable[Notice]) -> str:
    """Return one line for people with every notice, or "" unless one is a retraction or a concern."""
    ordered = sorted(notices, key=_order)
    if not ordered or _gravity(ordered[0]) > STATUSES.index("concern"):
        return ""
    line = "; ".join(map(_describe, ordered))
    return line[0].upper() + line[1:]


def _describe(notice: Notice) -> str:
    status = {"concern": "expression of concern"}.get(notice["status"], notice["status"].replace("_", " "))
    date = f" {notice['date']}" if "date" in notice else ""
    said = [f"notice doi:{notice['notice_doi']}"] if "notice_doi" in notice else []
    said += [f"source {notice['source']}"] if "source" in notice else []
    return f"{status}{date}" + (f" ({', '.join(said)})" if said else "")


def _gravity(notice: Notice) -> int:
    return STATUSES.index(notice["status"]) if notice["status"] in STATUSES else len(STATUSES)


def _order(notice: Notice) -> tuple[int, str, str, str]:
    # "~" sorts after every digit: notices without a date come last.
    return (_gravity(notice), notice.get("date", "~"), notice.get("notice_doi", "~"), notice.get("source", ""))
