"""How answers are written."""

from typing import Any
from urllib.parse import quote
from zlib import crc32

import orjson
from starlette.responses import Response

from universe.rest.shapes import JSON
from universe.service.replies import Wanted, record_json, result_json
from universe.service.results import Result
from universe.service.universes import Seen
from universe.store.port import Record


async def result_of(result: Result, wanted: Wanted) -> Response:
    """What a change did, as much of it as is wanted."""
    return Response(await result_json(result, wanted), 200, {"ETag": etag(result.version)}, media_type=JSON)


def json_of(value: Any) -> Response:
    return Response(orjson.dumps(value), media_type=JSON)


async def made(record: Record, seen: Seen) -> Response:
    """A universe that was just made."""
    location = f"/universes/{quote(record.id, safe='')}"
    headers = {"Location": location, "ETag": etag(seen.version, record.name)}
    return Response(await record_json(record, seen.replica), 201, headers, JSON)


def etag(version: int, name: str | None = None) -> str:
    """The version and, where the name is answered too, a mark of it: a new name is no new version."""
    return f'"{version}"' if name is None else f'"{version}-{crc32(name.encode()):x}"'
