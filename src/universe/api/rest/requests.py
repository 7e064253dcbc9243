"""Read and check REST requests, and provide what routes depend on: services, the body, the sender."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite, isinf, nan
from time import monotonic
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request

from universe.api.event_stream import EventStreams
from universe.api.rest.responses_and_schemas import LARGEST_VERSION, Author
from universe.errors import BadNumber, MalformedRequest
from universe.service.argument_validation import check_and_strip_author
from universe.service.jobs.job_service import JobService
from universe.service.state_views import BodyPositions, Region
from universe.service.universes import UniverseService
from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.errors import ErrorBody
from uraniborg.kernel.http.header_checks import BodyTooLarge
from uraniborg.kernel.http.secure_app import ReplyRoute
from uraniborg.kernel.json_values import JsonObject


async def read_json(request: Request, limit: int, *, allow_empty: bool = False) -> Any:
    """Return the JSON body of a request, of at most `limit` bytes; with `allow_empty` None for a request without one.

    Raise BodyTooLarge, MalformedRequest or BadNumber.
    """
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length[:20]) > limit:
        raise BodyTooLarge(limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise BodyTooLarge(limit)
        parts.append(part)
    if not size and allow_empty:
        return None
    body = b"".join(parts)
    try:
        return parse_json(body)
    except json.JSONDecodeError as exc:
        _check_numbers(body)
        raise MalformedRequest(
            "The body is not JSON.",
            hint="Send JSON in UTF-8, without halves of surrogate pairs.",
            line=exc.lineno,
            column=exc.colno,
        ) from None


def _check_numbers(body: bytes) -> None:
    """Raise BadNumber if `body` is JSON except for a number that JSON or this server does not support."""
    found: list[BadNumber] = []

    def report_constant(written: str) -> None:
        found.append(BadNumber(written, "is not a number that JSON has"))

    def report_large_number(written: str) -> None:
        if isinf(float(written)):
            found.append(BadNumber(written, "is too large for a number"))

    with suppress(ValueError, RecursionError):
        json.loads(body, parse_constant=report_constant, parse_float=report_large_number, parse_int=report_large_number)
        if found:
            raise found[0]


def check_object_fields(given: Any, allowed: tuple[str, ...]) -> JsonObject:
    """Return a body that is an object with no other fields than the allowed ones. Raise MalformedRequest."""
    if not isinstance(given, dict):
        raise MalformedRequest(
            "The body must be a JSON object.", hint=f"Its fields can be {', '.join(allowed)}.", allowed=list(allowed)
        )
    if unknown := sorted(str(name)[:80] for name in given if name not in allowed):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise MalformedRequest(
            f"'{unknown[0]}' is not a field of this body.",
            hint=f"Its fields can be {', '.join(allowed)}.",
            argument=unknown[0],
            allowed=list(allowed),
        )
    return cast("JsonObject", given)


def get_version_from_body(body: JsonObject, *, required: bool = False) -> int | None:
    """Return the version in a body, or None. Raise MalformedRequest."""
    version = body.get("version")
    if version is None and not required:
        return None
    if type(version) is not int or not 0 <= version <= LARGEST_VERSION:
        raise MalformedRequest(
            "version must be a whole number, 0 or more.",
            hint="The history lists the versions.",
            argument="version",
            allowed="0 or more",
        )
    return version


def parse_expected_version(expected: int | None, if_match: str | None) -> int | None:
    """Return the expected version of the parameter or the If-Match header. Raise MalformedRequest."""
    if if_match is None or if_match.strip() == "*":
        return expected
    tag = if_match.strip().removeprefix("W/").strip('"').partition("-")[0]
    if not tag.isascii() or not tag.isdigit() or len(tag) > 16:
        raise MalformedRequest(
            "If-Match must be an ETag of this server.",
            hint='Send the ETag of a response, such as "17".',
            argument="If-Match",
        )
    return int(tag)


async def find_actor(request: Request, author: Author = None) -> Actor:
    """Return who sent a request: a person who is signed in, the agent of a credential, or else software.

    The header gives software and agents a name and nothing else. Raise MalformedRequest if nobody can display it.
    """
    known: Actor | None = request.scope.get(ACTOR)
    claimed = None if author is None else _decode_author(author)
    if known is None:
        return Actor(kind="software", name=claimed or "", authenticated="none")
    if known.is_person:
        return known
    return Actor(
        kind="agent" if known.authenticated == "credential" else "software",
        name=claimed or known.name,
        authenticated=known.authenticated,
    )


def _decode_author(header: str) -> str:
    """Return the name in a header. Servers decode headers as Latin-1; clients send names as UTF-8."""
    try:
        name = header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        name = header
    return check_and_strip_author(name)


def parse_since_version(since: int | None, last_event_id: str | None) -> int | None:
    """Return the version to start a stream after: Last-Event-ID, or `since`. Raise MalformedRequest."""
    if last_event_id is None or not last_event_id.strip():
        return since  # a reconnecting client repeats `since` and sends its progress in the header
    if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 16:
        raise MalformedRequest(
            "Last-Event-ID must be a version.", hint="Send the id of an event, or since=N.", argument="Last-Event-ID"
        )
    return int(last_event_id)


def parse_region(near: str | None) -> Region | None:
    """Return the region of a parameter such as `0,0,0,1.5`; None for None. Raise MalformedRequest."""
    if near is None:
        return None
    try:
        x, y, z, radius = map(float, near.split(","))
    except ValueError:
        x = y = z = radius = nan
    if not all(map(isfinite, (x, y, z, radius))) or radius < 0:
        raise MalformedRequest(
            "near must be three coordinates and a radius.",
            hint="For example near=0,0,0,1.5, in the unit of positions.",
            argument="near",
            allowed="four finite numbers, the radius 0 or more",
        )
    return Region(x, y, z, radius)


def parse_cursor(cursor: str | None) -> tuple[str, str] | None:
    """Return the creation time and the id in a cursor; None for None. Raise MalformedRequest."""
    if cursor is None:
        return None
    created_at, tilde, universe_id = cursor.partition("~")
    if not tilde:
        raise MalformedRequest("cursor is malformed.", hint="Use `next` of the previous page.", argument="cursor")
    return created_at, universe_id


async def check_no_unknown_parameters(request: Request) -> None:
    """Raise MalformedRequest for an unknown parameter, so that a misspelled condition is not ignored."""
    known = [str(field.alias) for field in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            raise MalformedRequest(
                f"'{name[:80]}' is not a parameter of this address.",
                hint=f"Use {', '.join(known)}." if known else "This address has no parameters.",
                argument=name[:80],
                allowed=known,
            )


@dataclass(frozen=True)
class RestServices:
    """The services of an app, and its limits; the state of the app has them as `services`."""

    universes: UniverseService
    streams: EventStreams
    positions: BodyPositions
    jobs: JobService
    body_limit: int
    heartbeat_s: float
    stall_s: float
    started: float = field(default_factory=monotonic)


async def get_services(request: Request) -> RestServices:
    """Return the services of the app that answers the request."""
    return request.app.state.services


async def get_universes(request: Request) -> UniverseService:
    """Return the universes of the app that answers the request."""
    return request.app.state.services.universes


async def get_jobs(request: Request) -> JobService:
    """Return the jobs of the app that answers the request."""
    return request.app.state.services.jobs


async def read_body(request: Request) -> Any:
    """Return the JSON body of a request. Raise BodyTooLarge, MalformedRequest or BadNumber."""
    return await read_json(request, request.app.state.services.body_limit)


async def read_body_if_any(request: Request) -> Any:
    """Return the JSON body of a request, or None without one. Raise as `read_body`."""
    return await read_json(request, request.app.state.services.body_limit, allow_empty=True)


Services = Annotated[RestServices, Depends(get_services)]
Universes = Annotated[UniverseService, Depends(get_universes)]
Jobs = Annotated[JobService, Depends(get_jobs)]
Body = Annotated[Any, Depends(read_body)]
BodyIfAny = Annotated[Any, Depends(read_body_if_any)]
Sender = Annotated[Actor, Depends(find_actor)]
"""Who sent the request."""


def make_router() -> APIRouter:
    """Return a router of the app without routes."""
    return APIRouter(
        route_class=ReplyRoute,
        dependencies=[Depends(check_no_unknown_parameters)],
        responses={status: {"model": ErrorBody} for status in (400, 401, 403, 404, 405, 413, 415, 421, 503)},
    )
