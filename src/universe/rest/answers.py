"""How answers are written."""

from typing import Any

import orjson
from starlette.responses import Response

from universe.rest.shapes import JSON
from universe.service.replies import Wanted, result_json
from universe.service.results import Result


async def result_of(result: Result, wanted: Wanted) -> Response:
    """What a change did, as much of it as is wanted."""
    return Response(await result_json(result, wanted), 200, {"ETag": etag(result.version)}, media_type=JSON)


def json_of(value: Any) -> Response:
    return Response(orjson.dumps(value), media_type=JSON)


def etag(version: int) -> str:
    return f'"{version}"'
