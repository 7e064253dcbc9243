"""The types and JSON schemas of the REST API for OpenAPI."""

from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI, Header, Path, Query
from pydantic import BaseModel

from universe.domain.schemas import make_openapi_components
from universe.jobs.options import make_job_schemas
from universe.service.argument_validation import KEY_CHARS, LIST_COMMANDS
from uraniborg.kernel.actors import Actor

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


class Facts(BaseModel):
    """A universe without its state."""

    id: str
    name: str
    version: int
    createdAt: str  # noqa: N815 - the names are those of the JSON
    updatedAt: str  # noqa: N815
    createdBy: Actor | None  # noqa: N815
    renamedBy: Actor | None  # noqa: N815


class Health(BaseModel):
    """The health of the server."""

    ok: bool
    uptime: int
    listeners: int


class FactsList(BaseModel):
    """A page of universes; `next` is the cursor of the next page."""

    universes: list[Facts]
    next: str | None


class JobFacts(BaseModel):
    """A job of a universe at a version: its options, its state and, once it has ended, its summary or its error."""

    id: str
    universeId: str  # noqa: N815 - the names are those of the JSON
    version: int
    kind: Literal["nbody", "transits", "rv"]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: float
    options: dict[str, Any]
    author: str
    actor: Actor | None
    cancelledBy: Actor | None  # noqa: N815
    createdAt: str  # noqa: N815
    startedAt: str | None  # noqa: N815
    endedAt: str | None  # noqa: N815
    summary: dict[str, Any] | None
    error: dict[str, Any] | None


class JobList(BaseModel):
    """A page of jobs; `next` is the cursor of the next page."""

    jobs: list[JobFacts]
    next: str | None


class JobCurve(BaseModel):
    """A curve or points of a chart; null is a gap."""

    name: str
    isPoints: bool  # noqa: N815
    x: list[float]
    y: list[float | None]


class JobPanel(BaseModel):
    """A quantity over time. The title has its unit; `lines` are values that a line marks."""

    title: str
    note: str
    xLabel: str  # noqa: N815
    isAngle: bool  # noqa: N815
    range: tuple[float, float] | None
    lines: list[float]
    series: list[JobCurve]


class JobChart(BaseModel):
    """The chart of a result as numbers. The footer names the method and the error."""

    title: str
    subtitle: str
    footer: str
    panels: list[JobPanel]


def make_schema_reference(name: str) -> dict[str, Any]:
    """Return a reference to a schema of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def make_request_body(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI description of a required JSON body."""
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def _make_object_schema(**properties: Any) -> dict[str, Any]:
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
COMMANDS: Final = {
    "anyOf": [
        make_schema_reference("Command"),
        {"type": "array", "minItems": 1, "maxItems": LIST_COMMANDS, "items": make_schema_reference("Command")},
    ]
}
RECORD: Final[dict[str, Any]] = {
    "description": "The universe",
    "content": {JSON: {"schema": make_schema_reference("Universe")}},
}
RECORD_OR_FACTS: Final[dict[str, Any]] = {
    "description": "The universe, with or without its state",
    "content": {JSON: {"schema": {"anyOf": [make_schema_reference("Universe"), make_schema_reference("Facts")]}}},
}
RESULT: Final[dict[str, Any]] = {
    "description": "The result",
    "content": {JSON: {"schema": make_schema_reference("Result")}},
}
JOB: Final[dict[str, Any]] = {
    "description": "The job",
    "content": {JSON: {"schema": make_schema_reference("JobFacts")}},
}
_EVENTS: Final = {"type": "array", "items": {"type": "object", "required": ["type"]}}


def add_schemas_to_openapi(app: FastAPI) -> None:
    """Add the schemas of commands and states to the OpenAPI document."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        if "Command" not in schemas:
            schemas.update(make_openapi_components())
            schemas.update(make_job_schemas()[1])
            facts = schemas["Facts"]
            schemas["Universe"] = {
                "type": "object",
                "required": [*facts["required"], "state"],
                "properties": {
                    **facts["properties"],
                    "state": {"type": "object"},
                    "total": {"type": "integer"},
                    "next": {"type": ["string", "null"]},
                    "notFound": {"type": "array", "items": {"type": "string"}},
                    "nearest": {"type": "object"},
                    "sources": {"type": "object"},
                },
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
