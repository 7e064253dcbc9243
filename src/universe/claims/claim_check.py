"""Decide whether a value is supported by the location that its source names, or an unverified claim."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from universe.claims.body_names import BodyNames
from universe.claims.location_search import is_location_in_text
from universe.claims.quantities import Quantity, get_display_magnification, get_quantity_of_field
from universe.claims.stated_numbers import (
    Location,
    StatedNumber,
    find_stated_numbers_or_reason,
    parse_location,
    select_plain_values,
)

SUPPORTED: Final = "supported"
UNVERIFIED: Final = "unverified claim"

_MOST_DEVIATION: Final = 1e-3
"""The largest relative difference between a value and the stated number that counts as rounding."""
_CONVERSION: Final = 2e-5
"""The relative difference between authors of constants such as the mass of the Earth."""
_ARITHMETIC: Final = 1e-12
_SHOWN: Final = 200

PaperTextReader = Callable[[Mapping[str, Any]], str | None]
"""A function that returns the text of a source's paper on the shelf, or None."""


@dataclass(frozen=True, slots=True)
class ClaimStatus:
    """The result of the check of a value against a location, with the reason."""

    status: str
    """`SUPPORTED` or `UNVERIFIED`."""
    reason: str
    """One or two sentences."""
    as_written: str = ""
    """The number as the paper writes it, such as `0.692 ± 0.022`; empty if none was found."""
    unit: str = ""
    """Its unit, a name of `universe.orbits.units` or `degree`; empty for plain numbers."""
    stated: float | None = None
    """The number in that unit."""
    checked: bool = False
    """True if the location was found in the text of the paper on a shelf."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The value that a location states for a field, in the unit of the field."""

    value: float
    shown: str
    """The number as written with its unit, such as `0.692 ± 0.022 Earth masses`."""
    unit: str
    stated: float
    """The number in that unit."""


def check_claim(
    source: Mapping[str, Any],
    field: str,
    value: float,
    *,
    body: Mapping[str, Any] | None = None,
    text_of: PaperTextReader | None = None,
) -> ClaimStatus:
    """Check whether the location of `field` in `source` contains `value`, given in the unit of the field.

    `body` is the body that carries the value: the row or passage must name it. Raise only the
    errors of `text_of`.
    """
    located: object = source.get("locations")
    given = cast("Mapping[str, Any]", located).get(field) if isinstance(located, Mapping) else None
    location = parse_location(given, source.get("title"))
    if location is None:
        return ClaimStatus(UNVERIFIED, f"The source names no table row or passage for {field}.")
    if not location.describe():
        return ClaimStatus(UNVERIFIED, "The location names neither a table nor a section nor a page.")
    found = _check_value_at_location(location, field, value, body)
    text = text_of(source) if found.status == SUPPORTED and text_of is not None else None
    if text is None:
        return found
    what = "row" if location.row else "passage"
    if not is_location_in_text(location, text):
        reason = f"The text of the paper on the shelf does not contain this {what}."
        return replace(found, status=UNVERIFIED, reason=reason)
    return replace(found, reason=f"{found.reason} The {what} is in the text on the shelf.", checked=True)


def read_statement_or_reason(
    given: object, field: str, *, body: Mapping[str, Any] | None = None, title: object = ""
) -> Statement | str:
    """Return the value that a location in the paper with this title states for a field, or why it states none.

    A location with two different values states none. Never raise.
    """
    location = parse_location(given, title)
    if location is None:
        return "The location has neither a table row nor a passage."
    quantity = get_quantity_of_field(field)
    stated = find_stated_numbers_or_reason(location, quantity, BodyNames.from_body(body))
    if isinstance(stated, str):
        return stated
    values = select_plain_values(stated)
    if not values:
        return _describe_non_value(stated[0])
    if several := _describe_conflict(values):
        return several
    first = values[0]
    value = quantity.convert_from_unit(first.measured.value, first.unit)
    assert value is not None  # only units of the quantity are found
    scale = get_display_magnification(field, body)
    return Statement(
        value * scale, first.unit.format_number(first.measured.text), *_get_text_unit_and_number(first)[1:]
    )


def _check_value_at_location(
    location: Location, field: str, value: float, body: Mapping[str, Any] | None
) -> ClaimStatus:
    quantity = get_quantity_of_field(field)
    stated = find_stated_numbers_or_reason(location, quantity, BodyNames.from_body(body))
    if isinstance(stated, str):
        return ClaimStatus(UNVERIFIED, stated)
    real = value / get_display_magnification(field, body)
    values = select_plain_values(stated)
    if several := _describe_conflict(values):
        return ClaimStatus(UNVERIFIED, several)
    for one in values:
        if _is_rounded_value(real, one, quantity):
            where = location.describe()
            reason = f"{where[0].upper()}{where[1:]} states {one.unit.format_number(one.measured.text)}."
            return ClaimStatus(SUPPORTED, reason, *_get_text_unit_and_number(one))
    if not values:
        return ClaimStatus(UNVERIFIED, _describe_non_value(stated[0]))
    one = values[0]
    set_value = quantity.convert_to_unit(real, one.unit)
    stated_text, set_text = one.unit.format_number(one.measured.text), one.unit.format_number(f"{set_value:.6g}")
    return ClaimStatus(
        UNVERIFIED, f"The location states {stated_text}, and the value is {set_text}.", *_get_text_unit_and_number(one)
    )


def _describe_conflict(values: Sequence[StatedNumber]) -> str:
    """Return the conflict between different values in one unit; an empty string if there is none."""
    first = {one.unit: one.measured.value for one in reversed(values)}
    if all(one.measured.value == first[one.unit] for one in values):
        return ""
    return f"The location states several values ({', '.join(one.measured.text for one in values)[:_SHOWN]})."


def _is_rounded_value(value: float, stated: StatedNumber, quantity: Quantity) -> bool:
    """Return True if a value rounds to the stated number, within the tolerance of conversion constants."""
    inside = quantity.convert_to_unit(value, stated.unit)
    if inside is None or not math.isfinite(inside):
        return False
    number = abs(stated.measured.value)
    rounding = min(stated.measured.half_digit, _MOST_DEVIATION * number)
    slack = _CONVERSION if quantity.unit not in ("", stated.unit.name) else _ARITHMETIC
    return abs(inside - stated.measured.value) <= max(rounding, slack * number)


def _describe_non_value(stated: StatedNumber) -> str:
    words = {"range": "a range", "limit": "a limit", "percent": "a percentage"}
    return f"The location states {words[stated.measured.kind]}, {stated.measured.text}, and not a value."


def _get_text_unit_and_number(stated: StatedNumber) -> tuple[str, str, float]:
    """Return the number as written, its unit, and the number in that unit."""
    return stated.measured.text, stated.unit.name, stated.measured.value * stated.unit.factor
