"""How answers are written."""

from typing import Any
from urllib.parse import quote
from zlib import crc32

import orjson
from starlette.responses import Response

from universe.rest.schemas import JSON
from universe.service.changes import ChangeResult
from universe.service.replies import ReplyContent, write_record, write_result
from universe.service.universes import UniverseView
from universe.store.port import Record


async def make_result_response(result: ChangeResult, wanted: ReplyContent) -> Response:
    """What a change did, as much of it as is wanted."""
    return Response(await write_result(result, wanted), 200, {"ETag": make_etag(result.version)}, media_type=JSON)


def make_json_response(value: Any) -> Response:
    return Response(orjson.dumps(value), media_type=JSON)


async def make_created_response(record: Record, seen: UniverseView) -> Response:
    """A universe that was just made."""
    location = f"/universes/{quote(record.id, safe='')}"
    headers = {"Location": location, "ETag": make_etag(seen.version, record.name)}
    return Response(await write_record(record, seen.replica), 201, headers, JSON)


def make_etag(version: int, name: str | None = None) -> str:
    """The version and, where the name is answered too, a mark of it: a new name is no new version."""
    return f'"{version}"' if name is None else f'"{version}-{crc32(name.encode()):x}"'
