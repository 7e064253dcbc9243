"""Types of the fields of entities and commands: ids and numbers, orbits, sources and records of commands."""

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

ID_CHARS: Final = 256
OPEN: Final = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
CLOSED: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
TRIMMED: Final = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

Id = Annotated[str, Field(min_length=1, max_length=ID_CHARS)]
Ref = Annotated[str, Field(max_length=ID_CHARS)]
Seed = str | int | float
Mass = Annotated[float, Field(ge=0)]
Unit = Annotated[float, Field(description="From 0 to 1.")]
Degrees = Annotated[float, Field(description="In degrees.")]


_NULL: Final[Any] = {"type": "null"}
_TIME_SCALES: Final[list[Any]] = [
    {"required": ["period"], "properties": {"period": {"type": "number"}}},
    {"required": ["units"], "properties": {"units": {"const": "astronomical"}}},
]
"""The period is required unless the units are astronomical."""
_SHAPES: Final[list[Any]] = [
    {
        "required": ["semiMajorAxis"],
        "properties": {
            "semiMajorAxis": {"type": "number", "exclusiveMinimum": 0},
            "eccentricity": {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, _NULL]},
            "q": _NULL,
        },
    },
    {
        "required": ["semiMajorAxis", "eccentricity"],
        "properties": {
            "semiMajorAxis": {"type": "number", "exclusiveMaximum": 0},
            "eccentricity": {"type": "number", "exclusiveMinimum": 1},
            "q": _NULL,
        },
    },
    {"required": ["q"], "properties": {"q": {"type": "number", "exclusiveMinimum": 0}, "semiMajorAxis": _NULL}},
]
"""An ellipse or a hyperbola with a semi-major axis, or any orbit with a periapsis distance."""
_ORBITS: Final[list[Any]] = [
    {"required": [*time["required"], *shape["required"]], "properties": {**time["properties"], **shape["properties"]}}
    for time in _TIME_SCALES
    for shape in _SHAPES
]
Year = Annotated[float, Field(multiple_of=1)]
Cell = str | float | None


class Kepler(TypedDict):
    """The true orbit, with the parent in its focus. A body that has this moves by it and not by the simple rule."""

    __pydantic_config__ = OPEN | ConfigDict(json_schema_extra={"anyOf": _ORBITS})  # type: ignore[misc]

    semiMajorAxis: NotRequired[
        Annotated[float, Field(description="In scene units, or AU; below 0 for a hyperbola. Left out if q is given.")]
        | None
    ]
    q: NotRequired[
        Annotated[
            float,
            Field(gt=0, description="Periapsis distance, instead of semiMajorAxis; needed if the eccentricity is 1."),
        ]
        | None
    ]
    eccentricity: NotRequired[
        Annotated[float, Field(ge=0, description="Below 1: ellipse, 1: parabola, above: hyperbola.")] | None
    ]
    inclination: NotRequired[Degrees | None]
    longitudeOfAscendingNode: NotRequired[Degrees | None]
    argumentOfPeriapsis: NotRequired[Degrees | None]
    meanAnomaly: NotRequired[
        Annotated[float, Field(description="In degrees, at the epoch; 0 if left out: the periapsis.")] | None
    ]
    epoch: NotRequired[
        Annotated[float, Field(description="The time at which meanAnomaly holds; 0 if left out.")] | None
    ]
    period: NotRequired[
        Annotated[
            float,
            Field(
                gt=0,
                description="In simulation seconds; in astronomical units derived if left out. Of an open orbit: that "
                "of an ellipse with a semi-major axis as long (for a parabola, as long as q).",
            ),
        ]
        | None
    ]
    osculatingPeriod: NotRequired[
        Annotated[float, Field(gt=0, description="The period at the epoch, for N-body runs; period is then a mean.")]
        | None
    ]
    derived: NotRequired[
        Annotated[
            Literal["semiMajorAxis", "period"],
            Field(description="The element that N-body runs derive from the other by Kepler's third law."),
        ]
        | None
    ]
    units: NotRequired[
        Annotated[
            Literal["scene", "astronomical"],
            Field(description="astronomical: AU, solar masses, and one simulation second is one day."),
        ]
        | None
    ]


def check_orbit(orbit: Kepler) -> Kepler:
    """Return the block. Raise ValueError if its fields together do not describe an orbit."""
    axis, nearest, eccentricity = orbit.get("semiMajorAxis"), orbit.get("q"), orbit.get("eccentricity") or 0.0
    if axis is not None and nearest is not None:
        raise ValueError("has both semiMajorAxis and q, the periapsis distance: leave one out")
    if axis is None and nearest is None:
        raise ValueError(
            "needs q, the periapsis distance, because its eccentricity is 1"
            if eccentricity == 1
            else "needs a semiMajorAxis, or q, the periapsis distance"
        )
    if axis is not None and eccentricity == 1:
        raise ValueError("needs q, the periapsis distance, instead of semiMajorAxis, because its eccentricity is 1")
    if axis is not None and eccentricity < 1 and axis <= 0:
        raise ValueError("needs a semiMajorAxis above 0, or an eccentricity above 1")
    if axis is not None and eccentricity > 1 and axis >= 0:
        raise ValueError("needs a semiMajorAxis below 0, because its eccentricity is above 1")
    if orbit.get("units") != "astronomical" and orbit.get("period") is None:
        raise ValueError("needs a period, unless its units are astronomical")
    return orbit


class StateVector(TypedDict):
    """The position and velocity of a body at an instant, from an ephemeris. N-body runs start from it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    epoch: Annotated[float, Field(description="In the universe's time.")]
    position: Annotated[list[float], Field(min_length=3, max_length=3, description="In AU, in the reference frame.")]
    velocity: Annotated[list[float], Field(min_length=3, max_length=3, description="In AU a day.")]
    mass: NotRequired[
        Annotated[float, Field(ge=0, description="In solar masses, as used since; the mass of the body if left out.")]
        | None
    ]
    frame: NotRequired[str | None]
    elements: NotRequired[
        Annotated[str, Field(description="A digest of the kepler block; the vector is used while it matches.")] | None
    ]


class Stated(TypedDict):
    """A number as a publication states it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    value: NotRequired[float | None]
    unit: NotRequired[str | None]
    as_written: NotRequired[str | None]


class Location(TypedDict):
    """A location in a publication that states a value: a table row or a passage."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    section: NotRequired[str | None]
    page: NotRequired[str | float | None]
    table: NotRequired[str | float | None]
    header: NotRequired[
        Annotated[list[Cell], Field(fail_fast=True, description="The header cells above the row.")] | None
    ]
    row: NotRequired[Annotated[list[Cell], Field(fail_fast=True, description="The cells of the row.")] | None]
    passage: NotRequired[str | None]
    stated: NotRequired[Stated | None]


class Source(TypedDict):
    """A publication, and which fields of the body came from it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: str
    title: str
    authors: NotRequired[Annotated[list[str], Field(fail_fast=True)] | None]
    year: NotRequired[Year | None]
    venue: NotRequired[str | None]
    doi: NotRequired[str | None]
    arxiv: NotRequired[str | None]
    url: NotRequired[str | None]
    fields: NotRequired[
        Annotated[
            list[str], Field(fail_fast=True, description="The fields it gives: `mass`, `kepler.period`, … Each once.")
        ]
        | None
    ]
    locations: NotRequired[
        Annotated[dict[str, Location], Field(description="For each field the location that states it.")] | None
    ]


class SetBy(TypedDict):
    """The command that set a value or withdrew its source. Written by the program."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    version: NotRequired[Annotated[float, Field(description="Of the log entry.")] | None]
    by: NotRequired[Annotated[str, Field(description="The author of the entry, as given.")] | None]
    reason: NotRequired[Annotated[str, Field(description="`reason` of the command.")] | None]
    sources: NotRequired[
        Annotated[list[str], Field(fail_fast=True, description="The sources that came with the value.")] | None
    ]
    basis: NotRequired[Annotated[str, Field(description="The value was recomputed from this field.")] | None]
    withdrawn: NotRequired[
        Annotated[str, Field(description="The value is unchanged; a change of this field withdrew its source.")] | None
    ]
    universe: NotRequired[Annotated[str, Field(description="The universe of the version, if it is another.")] | None]
    imported: NotRequired[
        Annotated[bool, Field(description="True: the record came with a state, and no log here confirms it.")] | None
    ]
