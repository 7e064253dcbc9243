"""Decide the status of a value: cited, supported by its location, an unverified claim, computed or set.

The status is computed on request and never stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from universe.claims import SUPPORTED, ClaimStatus, PaperTextReader, check_claim
from universe.domain.citations import get_set_by_records, list_cited_fields, list_sources
from universe.domain.derived_fields import get_field_value
from universe.domain.field_types import SetBy, Source
from universe.provenance.replies import Status
from universe.systems.shipped_values import ShippedValue, find_shipped_value

_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Support:
    """A source of a value, with the check of the location it names; None for shipped data, which is not checked."""

    source: Source
    claim: ClaimStatus | None


@dataclass(frozen=True, slots=True)
class ValueStatus:
    """The status of one value, the sources that support it, and the record of the command that set it, if any."""

    status: Status
    value: Any
    supports: list[Support] = field(default_factory=list[Support])
    record: SetBy | None = None
    shipped: ShippedValue | None = None
    """The shipped value that equals a cited value."""

    @property
    def display_note(self) -> str:
        """The note beside the value; empty for a value that is cited, supported or without source."""
        if self.status == "unverified claim":
            return f"unverified claim, {describe_who_set(self.record)}" if self.record else "unverified claim"
        if self.status in ("set", "computed") and self.record:
            return describe_who_set(self.record)
        return ""


def compute_value_status(body: Mapping[str, Any], field: str, text_of: PaperTextReader | None = None) -> ValueStatus:
    """Return the status of a field of a body; `text_of` returns the texts of a shelf. Never raise."""
    value = get_field_value(body, field)
    record = _get_item_for_field_or_block(get_set_by_records(body), field)
    found = [
        source
        for source in list_sources(body)
        if _get_item_for_field_or_block(dict.fromkeys(list_cited_fields(source), source), field)
    ]
    if not found:
        status = "without source" if record is None else "computed" if "basis" in record else "set"
        return ValueStatus(status, value, [], record)
    supports = [Support(source, _check_source_support(body, source, field, value, record, text_of)) for source in found]
    statuses = {None if one.claim is None else one.claim.status for one in supports}
    if SUPPORTED in statuses:
        return ValueStatus("supported", value, supports, record)
    if None in statuses:
        shipped = find_shipped_value(body, field)
        is_cited = shipped is None or (shipped.stated and not any(one.get("computed") for one in shipped.sources))
        return ValueStatus("cited" if is_cited else "computed", value, supports, record, shipped)
    return ValueStatus("unverified claim", value, supports, record)


def describe_who_set(record: Mapping[str, Any]) -> str:
    """Return who set, cited or withdrew a value, and in which version, such as `set by Ada in version 3`."""
    by = record.get("by") or "somebody"
    version = f" in version {record['version']:g}" if isinstance(record.get("version"), (int, float)) else ""
    where = f" of universe {record['universe']}" if version and record.get("universe") else ""
    # Nothing was there before version 1.
    computed = "computed by" if record.get("version", 1) == 1 else "recomputed after a change by"
    verbs = {"withdrawn": "source withdrawn after a change by", "sources": "cited by", "basis": computed}
    verb = next((verb for name, verb in verbs.items() if name in record), "set by")
    return f"{verb} {by}{version}{where}{', imported and not verified' if record.get('imported') else ''}"


def _check_source_support(
    body: Mapping[str, Any],
    source: Source,
    field: str,
    value: Any,
    record: SetBy | None,
    text_of: PaperTextReader | None,
) -> ClaimStatus | None:
    is_claimed = record is not None and "sources" in record
    shipped = None if is_claimed else find_shipped_value(body, field)
    if shipped is not None and shipped.matches_publication(source):
        if shipped.matches_value(value):
            return None
        expected, actual = _format_value(shipped.value), _format_value(value)
        differs = f"The shipped data give {expected} from this source, and the value is {actual}."
        return ClaimStatus("unverified claim", differs)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ClaimStatus("unverified claim", f"{field} is not a number.")
    return check_claim(source, field, value, body=body, text_of=text_of)


def _format_value(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, (int, float)) else str(value)[:_SHOWN]


def _get_item_for_field_or_block(named: Mapping[str, Any], field: str) -> Any:
    """Return the item for a field, or for the innermost block around it; None if there is none."""
    parts = field.split(".")
    for count in range(len(parts), 0, -1):
        if (found := named.get(".".join(parts[:count]))) is not None:
            return found
    return None
