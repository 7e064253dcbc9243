"""What a request says, checked by hand where a model would say less well what is wrong."""

import json
from contextlib import suppress
from math import isinf
from typing import Any, Final

import orjson
from fastapi import Request

from universe.errors import BadNumber, MalformedRequest
from universe.rest.schemas import LARGEST_VERSION
from universe.service.validation import check_author
from uraniborg.kernel.http_access import BodyTooLarge

REST_CLIENT: Final = "REST client"
"""The author of changes by a client that does not name one."""


class BodyReader:
    """Reads the JSON of a request, up to a limit."""

    def __init__(self, limit: int, *, or_nothing: bool = False) -> None:
        """With `or_nothing` there need not be a body: it is None then."""
        self._limit = limit
        self._or_nothing = or_nothing

    async def __call__(self, request: Request) -> Any:
        """Raise BodyTooLarge or MalformedRequest."""
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length[:20]) > self._limit:
            raise BodyTooLarge(self._limit)
        parts: list[bytes] = []
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > self._limit:
                raise BodyTooLarge(self._limit)
            parts.append(part)
        if not size and self._or_nothing:
            return None
        body = b"".join(parts)
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as exc:
            _check_numbers(body)
            raise MalformedRequest(
                "The body is not JSON.",
                hint="Send JSON in UTF-8, without half characters.",
                line=exc.lineno,
                column=exc.colno,
            ) from None


def _check_numbers(body: bytes) -> None:
    """Raise BadNumber if `body` is JSON except for a number that JSON or this server does not have."""
    found: list[BadNumber] = []

    def note_name(written: str) -> None:
        found.append(BadNumber(written, "is not a number that JSON has"))

    def note_large(written: str) -> None:
        if isinf(float(written)):
            found.append(BadNumber(written, "is too large for a number"))

    with suppress(ValueError, RecursionError):
        json.loads(body, parse_constant=note_name, parse_float=note_large, parse_int=note_large)
        if found:
            raise found[0]


def check_object(given: Any, allowed: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise MalformedRequest(
            "The body must be a JSON object.", hint=f"With any of {', '.join(allowed)}.", allowed=list(allowed)
        )
    if unknown := sorted(str(name)[:80] for name in given if name not in allowed):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise MalformedRequest(
            f"The body has no field '{unknown[0]}'.",
            hint=f"Use {', '.join(allowed)}.",
            argument=unknown[0],
            allowed=list(allowed),
        )
    return given  # pyright: ignore[reportUnknownVariableType]


def read_version(asked: dict[str, Any], *, required: bool = False) -> int | None:
    version = asked.get("version")
    if version is None and not required:
        return None
    if type(version) is not int or not 0 <= version <= LARGEST_VERSION:
        raise MalformedRequest(
            "version must be a whole number, 0 or more.",
            hint="The history lists the versions there are.",
            argument="version",
            allowed="0 or more",
        )
    return version


def read_expected_version(expected: int | None, if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return expected
    tag = if_match.strip().removeprefix("W/").strip('"').partition("-")[0]
    if not tag.isascii() or not tag.isdigit() or len(tag) > 16:
        raise MalformedRequest(
            "If-Match is no version.", hint='Send the ETag of an answer, such as "17".', argument="If-Match"
        )
    return int(tag)


def read_author(header: str | None) -> str:
    """Return the author that a request names, and that it came by REST: no name passes for another kind of client.

    Servers read headers as Latin-1; names are sent as UTF-8. Raises MalformedRequest.
    """
    if header is None:
        return REST_CLIENT
    try:
        name = header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        name = header
    return f"{check_author(name)} (REST)"


def read_since_version(since: int | None, last: str | None) -> int | None:
    if last is None or not last.strip():
        return since  # who reconnects repeats the address, and tells in the header how far it has got
    if not last.isascii() or not last.isdigit() or len(last) > 16:
        raise MalformedRequest(
            "Last-Event-ID is no version.", hint="Send the id of an event, or since=N.", argument="Last-Event-ID"
        )
    return int(last)


def parse_cursor(cursor: str | None) -> tuple[str, str] | None:
    if cursor is None:
        return None
    made_at, tilde, universe_id = cursor.partition("~")
    if not tilde:
        raise MalformedRequest("This is no cursor.", hint="Use `next` of the page before.", argument="cursor")
    return made_at, universe_id


async def check_parameters(request: Request) -> None:
    """Raises MalformedRequest for a parameter that the address has not: a guard misspelt is no guard."""
    known = [str(field.alias) for field in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            raise MalformedRequest(
                f"There is no parameter '{name[:80]}' here.",
                hint=f"Use {', '.join(known)}." if known else "This address takes none.",
                argument=name[:80],
                allowed=known,
            )
