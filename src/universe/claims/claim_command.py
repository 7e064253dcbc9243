"""Make a command from a table row: it sets a value of a body and cites the row."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypedDict, cast

from universe.claims.claim_check import Statement, read_statement_or_reason
from universe.claims.quantities import WrittenUnit, get_quantity_of_field
from uraniborg.kernel.bibliography.names import cite_paper
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject

_FIELDS: Final = ("mass", "semiMajorAxis", "eccentricity")
_SOURCE: Final = ("title", "authors", "year", "venue")
_IDENTIFIERS: Final = ("doi", "arxiv")
_LOCATION: Final = ("section", "page", "table", "header", "row", "passage")
_SAME: Final = 1e-3
"""Rows that state one value in two units differ by their rounding."""

Found = tuple[JsonObject, Statement]


class ClaimOutputs(TypedDict):
    """The outputs of universe-claim: the command, the value, and the row that states it."""

    command: JsonObject
    value: float
    stated: str
    location: JsonObject
    table_row: str


class NotStated(InvalidInput):
    """No row states the value, or the rows state another value."""

    code = "not_stated"


def claim_value(params: Mapping[str, Any], _context: object = None) -> ClaimOutputs:
    """Return the command that sets a field of a body to the value that one of the rows states, with its source.

    If no row states a value, use `given`, a number in the unit of the field, and cite the paper without a location.
    Raise NotStated if there is no such number either, if rows state different values, or if `value` is not the number
    of a row.
    """
    body, field = params["body"], params.get("field") or "mass"
    if field not in _FIELDS:
        raise InvalidInput(f"field must be one of {', '.join(_FIELDS)}, got {field!r}.", argument="field")
    paper = cast("Mapping[str, Any]", params["paper"])
    rows: list[Any] = [row for row in params["rows"] if isinstance(row, Mapping)]
    found, reasons = _read_statements_and_reasons(rows, field, body, paper.get("title"))
    if not found and params.get("given") is not None:
        return _make_given_value_reply(params["given"], body, field, paper)
    if not found:
        raise NotStated(
            f"No table row of {cite_paper(paper)} on the shelf states the {field} of {body}.",
            hint=_join_reasons(reasons) or "Its text on the shelf has no table row that matches: choose another paper.",
            body=body,
        )
    location, statement = _choose_statement(found, field, body, params.get("value"), paper)
    return {
        "command": {
            "type": "updateStar",
            "id": body,
            "payload": {field: statement.value, "sources": [_make_source(paper, field, location, statement)]},
        },
        "value": statement.value,
        "stated": statement.shown,
        "location": location,
        "table_row": _format_row_as_markdown(location),
    }


def _make_given_value_reply(given: float, body: str, field: str, paper: Mapping[str, Any]) -> ClaimOutputs:
    """Return the reply for a value without a row: the universe shows such a value as an unverified claim."""
    unit = WrittenUnit(get_quantity_of_field(field).unit)
    source: JsonObject = {**_make_publication(paper), "fields": [field]}
    return {
        "command": {"type": "updateStar", "id": body, "payload": {field: given, "sources": [source]}},
        "value": given,
        "stated": f"{unit.format_number(f'{given:.12g}')}, given without a row",
        "location": {},
        "table_row": "",
    }


def _read_statements_and_reasons(
    rows: list[Any], field: str, body: str, title: object
) -> tuple[list[Found], list[str]]:
    found: list[Found] = []
    reasons: list[str] = []
    for row in rows:
        location = {name: row[name] for name in _LOCATION if row.get(name)}
        read = read_statement_or_reason(location, field, body={"id": body}, title=title)
        if isinstance(read, str):
            reasons.append(read)
        else:
            found.append((location, read))
    return found, reasons


def _choose_statement(
    found: list[Found], field: str, body: str, value: float | None, paper: Mapping[str, Any]
) -> Found:
    if value is not None:
        for location, statement in found:
            if math.isclose(value, statement.stated, rel_tol=1e-9):
                return location, statement
        raise NotStated(
            f"No table row of {cite_paper(paper)} on the shelf states {value:.12g} as the {field} "
            f"of {body}: the row states {_format_statements(found)}.",
            hint=f"Leave out the value to use the stated number, {found[0][1].stated:g}.",
            body=body,
        )
    first = found[0]
    if any(not math.isclose(first[1].value, other.value, rel_tol=_SAME) for _, other in found[1:]):
        raise NotStated(
            f"Rows of {cite_paper(paper)} state different values as the {field} of {body}: "
            f"{_format_statements(found)}.",
            hint="Give one of these values, or only the row that applies.",
            body=body,
        )
    return first


def _make_source(paper: Mapping[str, Any], field: str, location: JsonObject, statement: Statement) -> JsonObject:
    stated: JsonObject = {"value": statement.stated, "unit": statement.unit, "as_written": statement.shown}
    return {**_make_publication(paper), "fields": [field], "locations": {field: {**location, "stated": stated}}}


def _make_publication(paper: Mapping[str, Any]) -> JsonObject:
    """Return the paper as a source without fields."""
    identifiers = cast("Mapping[str, Any]", paper.get("identifiers") or {})
    known = {name: paper[name] for name in _SOURCE if paper.get(name)}
    known |= {name: identifiers[name] for name in _IDENTIFIERS if identifiers.get(name)}
    return {"id": identifiers.get("bibkey") or paper.get("paper_id") or "paper", "title": "", **known}


def _format_statements(found: list[Found]) -> str:
    return ", ".join(dict.fromkeys(statement.shown for _, statement in found))


def _join_reasons(reasons: list[str]) -> str:
    return " ".join(dict.fromkeys(reasons).keys())[:400] if reasons else ""


def _format_row_as_markdown(location: Mapping[str, Any]) -> str:
    """Return the row and its header as a Markdown table; an empty string for a passage."""
    return "\n".join(_format_markdown_lines(location))


def _format_markdown_lines(location: Mapping[str, Any]) -> Iterator[str]:
    header, row = location.get("header"), location.get("row")
    if header:
        yield f"| {' | '.join(header)} |"
        yield f"|{'---|' * len(header)}"
    if row:
        yield f"| {' | '.join(row)} |"
