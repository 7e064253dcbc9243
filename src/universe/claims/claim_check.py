"""Decide whether a value is supported by the location that its source names, or an unverified claim."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from universe.claims.quantities import (
    MOST_CHARS,
    WrittenQuantity,
    get_display_magnification,
    get_quantity_of_field,
    normalise_number_text,
)
from universe.claims.stated_numbers import (
    BodyNames,
    StatedLocation,
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
    """Its unit, a name of `universe.domain.units_and_dates` or `degree`; empty for plain numbers."""
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
    location: StatedLocation, field: str, value: float, body: Mapping[str, Any] | None
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


def _is_rounded_value(value: float, stated: StatedNumber, quantity: WrittenQuantity) -> bool:
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


_RULE: Final = re.compile(r"[\s|:+-]*-{2,}[\s|:+-]*")
_WORD: Final = re.compile(r"[a-z]+|[0-9]+")
_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
_MOST_TEXT: Final = 20_000_000


def is_location_in_text(location: StatedLocation, text: str) -> bool:
    """Return True if the text contains the row, below its header if it has one, or the passage."""
    text = text[:_MOST_TEXT]
    if not location.row:
        return _normalise_for_comparison(location.passage) in _normalise_for_comparison(text)
    row, header = _Cells(location.row), _Cells(location.header)
    return any(_has_row_in_table(table, row, header) for table in _find_tables(text)) or _has_row_in_plain_lines(
        text, row, header
    )


def _has_row_in_table(table: Sequence[str], row: "_Cells", header: "_Cells") -> bool:
    """Return True if a table contains the row below the header. Lines that cannot match are skipped early."""
    columns: dict[int, set[tuple[int, ...]]] = {}
    for line in table:
        may_be_row, may_be_header = row.can_be_in(line), bool(header.cells) and header.can_be_in(line)
        if not (may_be_row or may_be_header):
            continue
        cells = [_normalise_for_comparison(cell) for cell in _split_cells(line)]
        if not header.cells and _find_columns(cells, row.cells):
            return True
        if any([cells[column] for column in one] == row.cells for one in columns.get(len(cells), ())):
            return True
        if may_be_header and (found := _find_columns(cells, header.cells)):
            columns.setdefault(len(cells), set()).add(tuple(found))
    return False


class _Cells:
    """The cells of a row or header, with a fast test for lines that cannot contain them."""

    def __init__(self, written: Sequence[str]) -> None:
        self.cells = [_normalise_for_comparison(cell) for cell in written]
        self._words = set(
            _WORD.findall(" ".join(normalise_number_text(cell) for cell in written).translate(_DIGITS).casefold())
        )

    def can_be_in(self, line: str) -> bool:
        line = line.translate(_DIGITS).casefold()
        return all(word in line for word in self._words)


def _find_columns(cells: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the columns of `cells` with the wanted cells, in order; an empty list if one is missing."""
    if list(cells) == list(wanted):
        return list(range(len(wanted)))
    found: list[int] = []
    for one in wanted:
        start = found[-1] + 1 if found else 0
        try:
            found.append(list(cells).index(one, start))
        except ValueError:
            return []
    return found


def _find_tables(text: str) -> Iterator[list[str]]:
    """Yield the tables of a markdown or LaTeX text as lines."""
    table: list[str] = []
    for line in text.splitlines():
        if _split_cells(line):
            table.append(line)
        elif table and not line.strip().startswith(("\\hline", "%")):
            yield table
            table = []
    if table:
        yield table


def _split_cells(line: str) -> list[str]:
    line = line.strip()
    if line.startswith("|") or line.count("|") > 1:
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        return [] if len(cells) < 2 else [cell.replace("\\|", "|") for cell in cells]
    if line.count("&") and re.search(r"\\\\|\\cr\b|\\tabularnewline", line):
        return re.split(r"(?<!\\)&", re.sub(r"(?:\\\\|\\cr\b|\\tabularnewline).*$", "", line))
    return []


def _has_row_in_plain_lines(text: str, row: _Cells, header: _Cells) -> bool:
    """Return True if a line of plain text, as from a PDF, contains the row and an earlier line the header."""
    wanted, above = "".join(row.cells), "".join(header.cells)
    has_header = not above
    if len(row.cells) < 2 or not wanted:
        return False
    for line in text.splitlines():
        may_be_header = not has_header and header.can_be_in(line)
        if not (may_be_header or (has_header and row.can_be_in(line))) or _split_cells(line):
            continue
        squashed = _normalise_for_comparison(line)
        if has_header and re.search(rf"(?<![\d.]){re.escape(wanted)}(?![\d.]\d|\d)", squashed):
            return True
        has_header = has_header or above in squashed
    return False


def _normalise_for_comparison(text: str) -> str:
    """Return the text in lower case, without spaces, braces, index marks and quotation marks."""
    pieces = (normalise_number_text(text[at : at + MOST_CHARS]) for at in range(0, len(text), MOST_CHARS))
    return re.sub(r"[\s{}_\"'“”‘’]+", "", "".join(pieces)).casefold()
