"""Write responses of the REST API: results, records and ETags."""

import asyncio
import gzip
from typing import Any, Final
from urllib.parse import quote
from zlib import crc32

import orjson
from starlette.responses import Response

from universe.rest.schemas import JSON
from universe.service.change_requests import ChangeResult
from universe.service.replies import (
    INLINE_BYTES,
    ReplyContent,
    describe_record,
    encode_change_result,
    encode_record_with_state,
)
from universe.service.universes import UniverseView
from universe.store.interface import Record

_COMPRESSED_FROM: Final = 1024
_LEVEL: Final = 1
"""Higher levels save little and take several times as long."""


async def make_result_response(result: ChangeResult, content: ReplyContent) -> Response:
    """Return the response to a change: the state, the changes or the events."""
    return Response(
        await encode_change_result(result, content), 200, {"ETag": make_etag(result.version)}, media_type=JSON
    )


def make_json_response(value: Any) -> Response:
    """Return a response with a JSON body."""
    return Response(orjson.dumps(value), media_type=JSON)


async def make_created_response(record: Record, view: UniverseView | None) -> Response:
    """Return the response to the creation of a universe, with its state if a view is given."""
    version = record.version if view is None else view.version
    headers = {"Location": f"/universes/{quote(record.id, safe='')}", "ETag": make_etag(version, record.name)}
    body = (
        orjson.dumps(describe_record(record)) if view is None else await encode_record_with_state(record, view.replica)
    )
    return Response(body, 201, headers, JSON)


async def make_compressed_response(
    body: bytes, headers: dict[str, str], media_type: str, accept_encoding: str | None
) -> Response:
    """Return a response whose body is compressed by gzip if it is large and the client accepts that."""
    headers = {**headers, "Vary": "Accept-Encoding"}
    if len(body) >= _COMPRESSED_FROM and _accepts_gzip(accept_encoding or ""):
        headers["Content-Encoding"] = "gzip"
        body = _compress(body) if len(body) <= INLINE_BYTES else await asyncio.to_thread(_compress, body)
    return Response(body, 200, headers, media_type)


def _accepts_gzip(accept_encoding: str) -> bool:
    weights: dict[str, str] = {}
    for part in accept_encoding.lower().split(","):
        name, _, parameter = part.partition(";")
        weights[name.strip()] = parameter.strip().removeprefix("q=").strip()
    weight = weights.get("gzip", weights.get("*", "0"))
    return not weight or weight.strip("0.") != ""


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, _LEVEL, mtime=0)


def make_etag(version: int, name: str | None = None) -> str:
    """Return the ETag of a version; with a name also for the name, because renaming does not change the version."""
    return f'"{version}"' if name is None else f'"{version}-{crc32(name.encode()):x}"'
