"""Describe the REST API for OpenAPI: its types and JSON schemas."""

from typing import Annotated, Any, Final, cast

from fastapi import FastAPI, Header, Path, Query

from universe.domain.schemas import make_openapi_components
from universe.jobs.options import make_job_schemas
from universe.service.argument_validation import KEY_CHARS, LIST_COMMANDS
from uraniborg.kernel.json_schemas import JsonSchema
from uraniborg.kernel.json_values import JsonObject

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
