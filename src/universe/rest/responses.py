"""Responses of the REST API: results, records and ETags."""

from typing import Any
from urllib.parse import quote
from zlib import crc32

import orjson
from starlette.responses import Response

from universe.rest.schemas import JSON
from universe.service.change_requests import ChangeResult
from universe.service.replies import ReplyContent, describe_record, encode_change_result, encode_record_with_state
from universe.service.universes import UniverseView
from universe.store.interface import Record


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


def make_etag(version: int, name: str | None = None) -> str:
    """Return the ETag of a version; with a name also for the name, because renaming does not change the version."""
    return f'"{version}"' if name is None else f'"{version}-{crc32(name.encode()):x}"'
