"""REST routes for the health of the server, event streams and positions."""

import asyncio
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, Literal

import orjson
from fastapi import Header, Query
from starlette.responses import Response

from universe.api.event_stream import EventStream
from universe.api.rest.requests import Services, make_router, parse_since_version
from universe.api.rest.responses_and_schemas import (
    FLOATS,
    JSON,
    LARGEST_VERSION,
    AcceptEncoding,
    Id,
    Version,
    make_compressed_response,
    make_etag,
)
from universe.errors import VersionNotFound
from universe.service.replies import Health, PositionList

if TYPE_CHECKING:
    from universe.domain.orbits.kepler_equation import Floats

_MAX_INLINE_BODIES: Final = 1_000
"""The most bodies whose positions are written on the event loop."""


router = make_router()


@router.get("/health", summary="Check the health")
async def health(services: Services) -> Health:
    """Check the server and its database: 503 if the database does not answer."""
    await services.universes.ping()
    return {"ok": True, "uptime": int(monotonic() - services.started), "listeners": services.streams.open_count}


@router.get(
    "/universes/{universe_id}/events",
    summary="Stream events",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    services: Services,
    universe_id: Id,
    since: Annotated[int | None, Query(ge=0, le=LARGEST_VERSION, description="Start after this version.")] = None,
    last: Annotated[str | None, Header(alias="Last-Event-ID", description="As `since`, from browsers.")] = None,
) -> Response:
    """Stream every command with its events as server-sent events; `id` is the version."""
    record = await services.universes.read_record(universe_id)
    after = parse_since_version(since, last)
    if after is not None and after > record.version:
        raise VersionNotFound(
            f"Universe {universe_id} has no version {after} yet.",
            hint=f"It is at version {record.version}; leave since out to start with the next change.",
            universeId=universe_id,
            allowed=f"from 0 to {record.version}",
        )
    return EventStream(services.streams, universe_id, after)


@router.get(
    "/universes/{universe_id}/positions",
    summary="Compute positions",
    responses={200: {"model": PositionList, "content": {FLOATS: {"schema": {"type": "string"}}}}},
)
async def read_positions(
    services: Services,
    universe_id: Id,
    t: Annotated[
        float | None, Query(allow_inf_nan=False, description="The time. Default: the time of the universe.")
    ] = None,
    format: Annotated[  # noqa: A002 - the usual name
        Literal["json", "float32"] | None, Query(description="float32: three little-endian numbers for each body.")
    ] = None,
    version: Version = None,
    accept: Annotated[str | None, Header()] = None,
    accept_encoding: AcceptEncoding = None,
) -> Response:
    """Return the positions of all bodies, in the order of `stars` in the state."""
    view = await services.universes.view(universe_id, version)
    time = view.replica.state.time if t is None else t
    ids, array = await services.positions.compute_at(universe_id, view.replica, time)
    headers = {"ETag": make_etag(view.version)}
    if format == "float32" or (format is None and FLOATS in (accept or "")):
        return Response(_encode_float32(array), 200, headers, FLOATS)
    reply = {"version": view.version, "time": time, "ids": ids, "positions": array}
    encode = partial(orjson.dumps, reply, option=orjson.OPT_SERIALIZE_NUMPY)
    body = encode() if len(ids) <= _MAX_INLINE_BODIES else await asyncio.to_thread(encode)
    return await make_compressed_response(body, headers, JSON, accept_encoding)


@router.get(
    "/universes/{universe_id}/elements",
    summary="Read all orbits as one binary",
    responses={200: {"content": {FLOATS: {"schema": {"type": "string"}}}}},
)
async def read_elements(
    services: Services, universe_id: Id, version: Version = None, accept_encoding: AcceptEncoding = None
) -> Response:
    """Return the orbits of all bodies as one binary for viewers, from which positions at any time follow."""
    view = await services.universes.view(universe_id, version)
    body = await services.positions.encode_elements(universe_id, view.replica)
    return await make_compressed_response(body, {"ETag": make_etag(view.version)}, FLOATS, accept_encoding)


def _encode_float32(positions: "Floats") -> bytes:
    """Return positions as little-endian 32-bit floats; larger numbers become infinite."""
    import numpy as np  # loaded by the positions already

    with np.errstate(over="ignore"):
        return positions.astype("<f4").tobytes()
