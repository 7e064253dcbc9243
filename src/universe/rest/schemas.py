"""What goes over REST, as OpenAPI tells it."""

from typing import Annotated, Any, Final

from fastapi import FastAPI, Header, Path, Query
from pydantic import BaseModel

from universe.domain.schemas import make_openapi_components
from universe.service.validation import KEY_CHARS, LIST_COMMANDS

LARGEST_VERSION: Final = 2**53
JSON: Final = "application/json"
FLOATS: Final = "application/octet-stream"

Id = Annotated[str, Path(max_length=1_000, description="The id of a universe.")]
Version = Annotated[int | None, Query(ge=0, le=LARGEST_VERSION, description="As it was at this version.")]
Expected = Annotated[
    int | None,
    Query(alias="expectedVersion", ge=0, le=LARGEST_VERSION, description="Refuse (409) unless it is at this version."),
]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=KEY_CHARS, description="A request repeated with its key is done once."),
]
Author = Annotated[
    str | None,
    Header(
        alias="Uraniborg-Author",
        max_length=200,
        description="Who makes the change, as the history and `universe cite` show it with `(REST)`; not verified. "
        "`REST client` if left out. UTF-8.",
    ),
]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="The ETag of the version expected.")]


class Facts(BaseModel):
    """A universe without its state."""

    id: str
    name: str
    version: int
    createdAt: str  # noqa: N815 - the names are those of the JSON
    updatedAt: str  # noqa: N815


class Health(BaseModel):
    ok: bool
    uptime: int
    listeners: int


class FactsList(BaseModel):
    universes: list[Facts]
    next: str | None


def make_reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def make_request_body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def _make_object_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_NAME: Final = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"\S"}
_AT: Final = {"type": "integer", "minimum": 0, "maximum": LARGEST_VERSION}
NEW: Final = _make_object_schema(
    name=_NAME, state=make_reference("State"), id={"type": "string"}, **{"from": {"type": "string"}}
) | {"required": ["name"]}
REPLACED: Final = _make_object_schema(name=_NAME, state=make_reference("State"))
AT_VERSION: Final = _make_object_schema(version=_AT) | {"required": ["version"]}
BRANCHED: Final = _make_object_schema(version=_AT, name=_NAME)
COMMANDS: Final = {
    "anyOf": [
        make_reference("Command"),
        {"type": "array", "minItems": 1, "maxItems": LIST_COMMANDS, "items": make_reference("Command")},
    ]
}
RECORD: Final[dict[str, Any]] = {
    "description": "The universe",
    "content": {JSON: {"schema": make_reference("Universe")}},
}
RESULT: Final[dict[str, Any]] = {"description": "What it did", "content": {JSON: {"schema": make_reference("Result")}}}
_EVENTS: Final = {"type": "array", "items": {"type": "object", "required": ["type"]}}


def add_schemas(app: FastAPI) -> None:
    """The domain's schemas, which no route takes as a model: commands are checked by the domain itself."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        if "Command" not in schemas:
            schemas.update(make_openapi_components())
            facts = schemas["Facts"]
            schemas["Universe"] = {
                "type": "object",
                "required": [*facts["required"], "state"],
                "properties": {**facts["properties"], "state": {"type": "object"}},
            }
            schemas["Result"] = {
                "type": "object",
                "required": ["events", "version"],
                "properties": {
                    "nextState": {"type": "object"},
                    "events": _EVENTS,
                    "version": {"type": "integer"},
                    "warnings": {"type": "array", "items": {"type": "string"}},
                },
            }
        return document

    app.openapi = openapi  # type: ignore[method-assign]
