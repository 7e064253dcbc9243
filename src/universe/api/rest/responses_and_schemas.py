"""Describe the REST API for OpenAPI, and write its responses: results, records and ETags."""

import asyncio
import gzip
from typing import Annotated, Any, Final, cast
from urllib.parse import quote
from zlib import crc32

import orjson
from fastapi import FastAPI, Header, Path, Query
from starlette.responses import Response

from universe.domain.command_catalogue import make_openapi_components
from universe.service.argument_validation import KEY_CHARS, LIST_COMMANDS
from universe.service.batch import ChangeResult
from universe.service.jobs.options_and_replies import make_job_schemas
from universe.service.reply_encoding import (
    INLINE_BYTES,
    ReplyContent,
    describe_record,
    encode_change_result,
    encode_record_with_state,
)
from universe.service.universes import UniverseView
from universe.store.interface import UniverseRecord
from uraniborg.kernel.json_values import JsonObject, JsonSchema

LARGEST_VERSION: Final = 2**53
JSON: Final = "application/json"
FLOATS: Final = "application/octet-stream"
SVG: Final = "image/svg+xml"

Id = Annotated[str, Path(max_length=1_000, description="The id of a universe.")]
Version = Annotated[
    int | None, Query(ge=0, le=LARGEST_VERSION, description="Use the universe as it was at this version.")
]
Expected = Annotated[
    int | None,
    Query(
        alias="expectedVersion",
        ge=0,
        le=LARGEST_VERSION,
        description="Refuse the request (409) unless the universe is at this version.",
    ),
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=KEY_CHARS,
        description="A request sent again with its key takes effect once.",
    ),
]
Author = Annotated[
    str | None,
    Header(
        alias="Uraniborg-Author",
        max_length=100,
        description="The name of the program that makes the change, in UTF-8; it is not verified, and changes nothing "
        "else about the actor. The history shows it with `(software)`. Default: none.",
    ),
]
AcceptEncoding = Annotated[
    str | None, Header(alias="Accept-Encoding", description="gzip: large replies are compressed.")
]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="The ETag of the expected version.")]


def make_schema_reference(name: str) -> JsonSchema:
    """Return a reference to a schema of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def make_request_body(schema: JsonSchema) -> JsonObject:
    """Return the OpenAPI description of a required JSON body."""
    return {"requestBody": {"required": True, "content": {JSON: {"schema": cast("JsonObject", schema)}}}}


def _make_object_schema(**properties: Any) -> JsonSchema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_NAME: Final = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"\S"}
_VERSION: Final = {"type": "integer", "minimum": 0, "maximum": LARGEST_VERSION}
NEW: Final = _make_object_schema(
    name=_NAME,
    state=make_schema_reference("State"),
    id={"type": "string"},
    settings={"type": "object"},
    **{"from": {"type": "string"}},
) | {"required": ["name"]}
IMPORTED: Final = _make_object_schema(
    content={"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    name=_NAME,
    id={"type": "string"},
    each={"type": "boolean"},
    dryRun={"type": "boolean"},
    format={"enum": ["archive", "bodies", "vectors", "horizons"]},
    omegaOf={"enum": ["star", "planet"]},
    circumbinary={"enum": ["refuse", "barycentre"]},
    units={"enum": ["au-day", "au-year", "au-yr2pi", "si"]},
) | {"required": ["content"]}
REPLACED: Final = _make_object_schema(name=_NAME, state=make_schema_reference("State"))
AT_VERSION: Final = _make_object_schema(version=_VERSION) | {"required": ["version"]}
BRANCHED: Final = _make_object_schema(version=_VERSION, name=_NAME)
COMMANDS: Final[JsonSchema] = {
    "anyOf": [
        make_schema_reference("Command"),
        {"type": "array", "minItems": 1, "maxItems": LIST_COMMANDS, "items": make_schema_reference("Command")},
    ]
}


def add_schemas_to_openapi(app: FastAPI) -> None:
    """Add the schemas of commands and states to the OpenAPI document."""
    plain = app.openapi

    def openapi() -> JsonObject:
        document = plain()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        if "Command" not in schemas:
            schemas.update(make_openapi_components())
            schemas.update(make_job_schemas()[1])
        return document

    app.openapi = openapi  # type: ignore[method-assign]


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


async def make_created_response(record: UniverseRecord, view: UniverseView | None) -> Response:
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
