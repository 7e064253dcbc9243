"""Options of jobs: what to compute, for how long, for which bodies and by which method."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from universe.errors import MalformedRequest
from uraniborg.kernel.errors import make_invalid_input
from uraniborg.kernel.json_schemas import JsonSchema

JobKind = Literal["nbody", "transits", "rv"]
KINDS: Final[tuple[JobKind, ...]] = ("nbody", "transits", "rv")
YEAR: Final = 365.25
USUAL_SECONDS: Final = 3_600.0

BodyName = Annotated[str, Field(min_length=1, max_length=256)]
Observer = Annotated[
    list[float],
    Field(min_length=2, max_length=2, description="Longitude and latitude of the direction to the observer, degrees."),
]


class _Options(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        alias_generator=to_camel,
        populate_by_name=True,
    )

    version: int | None = Field(
        None, strict=True, ge=0, le=2**53, description="Use the universe as it was at this version."
    )
    max_seconds: float = Field(USUAL_SECONDS, gt=0, le=86_400, description="The job fails after this many seconds.")


class NbodyOptions(_Options):
    """An N-body run, made twice to measure its error."""

    kind: Literal["nbody"] = "nbody"
    days: float = Field(YEAR, description="Below 0: backwards.")
    bodies: list[BodyName] | None = Field(None, max_length=1_000, description="Ids or names. Default: all.")
    method: Literal["gauss", "heyoka", "leapfrog", "yoshida4", "yoshida6"] = "gauss"
    step: float | None = Field(None, gt=0, description="In days, for leapfrog and yoshida.")
    relativity: bool = False
    on_collision: Literal["stop", "merge", "ignore"] = "stop"


class TransitOptions(_Options):
    """Transit times and their deviation from a constant period."""

    kind: Literal["transits"] = "transits"
    days: float = Field(YEAR, gt=0)
    bodies: list[BodyName] | None = Field(None, max_length=1_000, description="Ids or names. Default: all planets.")
    observer: Observer | None = None
    kepler: bool = Field(False, description="Use fixed Kepler orbits, without mutual attraction.")


class VelocityOptions(_Options):
    """The radial velocity of a star."""

    kind: Literal["rv"] = "rv"
    days: float = Field(YEAR, gt=0)
    samples: int = Field(400, ge=2, le=100_000)
    star: BodyName | None = Field(None, description="Its id or name. Default: the heaviest star.")
    observer: Observer | None = None
    kepler: bool = Field(False, description="Use fixed Kepler orbits, without mutual attraction.")


JobOptions = NbodyOptions | TransitOptions | VelocityOptions
_ADAPTER: Final[TypeAdapter[JobOptions]] = TypeAdapter(Annotated[JobOptions, Field(discriminator="kind")])


def parse_job_options(given: Any) -> JobOptions:
    """Return the options of an object with a `kind`. Raise MalformedRequest with every problem."""
    if not isinstance(given, Mapping):
        raise MalformedRequest(
            "The options of a job must be an object.", hint='For example {"kind": "nbody", "days": 3652.5}.'
        )
    try:
        return _ADAPTER.validate_python(given)
    except ValidationError as exc:
        found = make_invalid_input(exc, label="job")
        raise MalformedRequest(
            found.message,
            hint=f"kind is one of {', '.join(KINDS)}; /docs and docs/reference/universe.md list the options of each.",
            **found.ids,
        ) from None


def make_job_schemas() -> tuple[JsonSchema, dict[str, JsonSchema]]:
    """Return the JSON schema of the options, and the components that it refers to, for OpenAPI."""
    schema = cast("JsonSchema", _ADAPTER.json_schema(ref_template="#/components/schemas/{model}"))
    return schema, schema.pop("$defs", {})
