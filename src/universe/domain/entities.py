"""What a universe is made of, as JSON: every entity with its exact names. Keys beyond these are kept as they come.

Entities are plain dictionaries everywhere; these types say what is in them, for the checker of types, for the checking
of input and for the reference. Required fields are never null; fields that may be left out may also be null.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field
from typing_extensions import TypedDict

ID_CHARS: Final = 256
OPEN: Final = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
CLOSED: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
TRIMMED: Final = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

Id = Annotated[str, Field(min_length=1, max_length=ID_CHARS)]
Ref = Annotated[str, Field(max_length=ID_CHARS)]
Seed = str | int | float
Mass = Annotated[float, Field(ge=0)]
Year = Annotated[float, Field(multiple_of=1)]
Unit = Annotated[float, Field(description="From 0 to 1.")]
Degrees = Annotated[float, Field(description="In degrees.")]
BodyType = Literal["star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole"]


class Position(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    x: float
    y: float
    z: float


class PlanetaryRing(TypedDict):
    """A ring around a body; the radii are multiples of the body's."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    innerRadiusMultiplier: float
    outerRadiusMultiplier: float
    thickness: float
    opacity: Unit
    albedo: float
    color: str
    density: Unit
    warpFactor: NotRequired[float | None]
    seed: NotRequired[Seed | None]


class CometMeta(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    isPeriodic: bool
    perihelionDistance: float
    aphelionDistance: float
    hasTail: bool
    tailLengthBase: float
    tailWidthBase: float
    tailColor: str
    tailOpacityBase: Unit
    activityFalloffDistance: float
    lastPerihelionTime: NotRequired[float | None]
    seed: NotRequired[Seed | None]


class LagrangePointMeta(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    primaryId: str
    secondaryId: str
    pointIndex: Annotated[float, Field(ge=1, le=5, multiple_of=1)]
    stable: bool
    pairType: Literal["starPlanet", "planetMoon"]
    label: NotRequired[str | None]


class BlackHoleProperties(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    hasAccretionDisk: bool
    hasRelativisticJet: bool
    hasPhotonRing: bool
    spin: Unit
    shadowRadius: float
    accretionInnerRadius: float
    accretionOuterRadius: float
    diskThickness: float
    diskBrightness: Unit
    diskOpacity: Unit
    diskTemperature: float
    diskClumpiness: Unit
    jetLength: float
    jetOpeningAngle: Degrees
    jetBrightness: Unit
    dopplerBeamingStrength: Unit
    lensingStrength: Unit
    rotationSpeedMultiplier: float
    seed: Seed
    diskTurbulenceScale: NotRequired[Unit | None]
    diskInnerColor: NotRequired[str | None]
    diskOuterColor: NotRequired[str | None]
    diskStreakiness: NotRequired[Unit | None]
    jetBaseColor: NotRequired[str | None]
    jetTipColor: NotRequired[str | None]
    jetGradientPower: NotRequired[float | None]
    photonRingMultiImageCount: NotRequired[float | None]
    photonRingWidth: NotRequired[float | None]
    diskTilt: NotRequired[Annotated[float, Field(description="In radians.")] | None]
    diskTiltAxisAngle: NotRequired[Annotated[float, Field(description="In radians.")] | None]


class RoguePlanetMeta(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    seed: Seed
    initialPosition: Position
    velocity: Position
    colorOverride: NotRequired[str | None]
    pathCurvature: NotRequired[Annotated[float, Field(description="0 is a straight line.")] | None]
    semiMajorAxis: NotRequired[float | None]
    eccentricity: NotRequired[float | None]
    pathOffsetX: NotRequired[float | None]
    pathOffsetY: NotRequired[float | None]
    pathOffsetZ: NotRequired[float | None]
    orbitRotX: NotRequired[Degrees | None]
    orbitRotY: NotRequired[Degrees | None]
    orbitRotZ: NotRequired[Degrees | None]
    pathPeriod: NotRequired[float | None]
    showTrajectory: NotRequired[bool | None]
    trajectoryPastWindow: NotRequired[float | None]
    trajectoryFutureWindow: NotRequired[float | None]


_NULL: Final[Any] = {"type": "null"}
_TIME_SCALES: Final[list[Any]] = [
    {"required": ["period"], "properties": {"period": {"type": "number"}}},
    {"required": ["units"], "properties": {"units": {"const": "astronomical"}}},
]
"""A period is needed, unless the units are astronomical."""
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
"""An ellipse or a hyperbola by its semi-major axis, and any orbit by its periapsis distance."""
_ORBITS: Final[list[Any]] = [
    {"required": [*time["required"], *shape["required"]], "properties": {**time["properties"], **shape["properties"]}}
    for time in _TIME_SCALES
    for shape in _SHAPES
]


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
            Field(description="Which of the two N-body runs derive from the other by Kepler's third law."),
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


def _whole_orbit(orbit: Kepler) -> Kepler:
    """Return the block if its fields describe an orbit together. Raise ValueError for the first that does not fit."""
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
    """Where a body was and how it moved at an instant, from an ephemeris: N-body runs start from there."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    epoch: Annotated[float, Field(description="In the universe's time.")]
    position: Annotated[list[float], Field(min_length=3, max_length=3, description="In AU, in the reference frame.")]
    velocity: Annotated[list[float], Field(min_length=3, max_length=3, description="In AU a day.")]
    mass: NotRequired[
        Annotated[float, Field(ge=0, description="In solar masses, with which it moved since; the body's if left out.")]
        | None
    ]
    frame: NotRequired[str | None]
    elements: NotRequired[
        Annotated[str, Field(description="A digest of the kepler block; the vector counts while it matches.")] | None
    ]


class Stated(TypedDict):
    """A number as a publication states it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    value: NotRequired[float | None]
    unit: NotRequired[str | None]
    as_written: NotRequired[str | None]


Cell = str | float | None


class Location(TypedDict):
    """A place in a publication that states a value: a table row or a passage."""

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
        Annotated[dict[str, Location], Field(description="For each field the place in the publication that states it.")]
        | None
    ]


class SetBy(TypedDict):
    """The command that gave a value, or left it without its source. Written by the program."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    version: NotRequired[Annotated[float, Field(description="Of the log entry.")] | None]
    by: NotRequired[Annotated[str, Field(description="The author of the entry, as given.")] | None]
    reason: NotRequired[Annotated[str, Field(description="`reason` of the command.")] | None]
    sources: NotRequired[
        Annotated[list[str], Field(fail_fast=True, description="The sources that came with the value.")] | None
    ]
    basis: NotRequired[Annotated[str, Field(description="The value was recomputed from this field.")] | None]
    withdrawn: NotRequired[
        Annotated[str, Field(description="The value is as before; a change of this field took its source.")] | None
    ]
    universe: NotRequired[Annotated[str, Field(description="The universe of the version, if it is another.")] | None]
    imported: NotRequired[
        Annotated[bool, Field(description="True: the record came with a state, and no log here confirms it.")] | None
    ]


class StarOptions(TypedDict):
    """What a body may have beside what it must."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    bodyType: NotRequired[BodyType | None]
    ring: NotRequired[PlanetaryRing | None]
    comet: NotRequired[CometMeta | None]
    lagrangePoint: NotRequired[LagrangePointMeta | None]
    blackHole: NotRequired[BlackHoleProperties | None]
    parentBeltId: NotRequired[str | None]
    asteroidSubType: NotRequired[Literal["mainBelt", "kuiperBelt", "generic"] | None]
    lagrangeHostId: NotRequired[str | None]
    isRoguePlanet: NotRequired[bool | None]
    roguePlanet: NotRequired[RoguePlanetMeta | None]
    semiMajorAxis: NotRequired[Annotated[float, Field(description="orbitalDistance if left out.")] | None]
    eccentricity: NotRequired[Unit | None]
    orbitOffsetX: NotRequired[float | None]
    orbitOffsetY: NotRequired[float | None]
    orbitOffsetZ: NotRequired[float | None]
    orbitRotX: NotRequired[Degrees | None]
    orbitRotY: NotRequired[Degrees | None]
    orbitRotZ: NotRequired[Degrees | None]
    kepler: NotRequired[Annotated[Kepler, AfterValidator(_whole_orbit)] | None]
    stateVector: NotRequired[StateVector | None]
    sources: NotRequired[
        Annotated[
            list[Source],
            Field(
                fail_fast=True, description="updateStar adds these to those of other fields; null or [] removes all."
            ),
        ]
        | None
    ]
    setBy: NotRequired[
        Annotated[
            dict[str, SetBy],
            Field(description="For fields that were cited: the command that set them. Ignored in commands."),
        ]
        | None
    ]


class Star(StarOptions):
    """Any body: star, planet, moon, comet, black hole, …"""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: Id
    name: str
    mass: Mass
    radius: float
    color: str
    children: Annotated[list[str], Field(fail_fast=True)]
    parentId: Ref | None
    orbitalDistance: float
    orbitalSpeed: Annotated[float, Field(description="In degrees for each simulation second.")]
    orbitalPhase: Degrees


class StarPayload(StarOptions):
    """A body without `id` and `children`, which the command and the hierarchy give it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    name: str
    mass: Mass
    radius: float
    color: str
    parentId: Annotated[Ref | None, Field(description="The body it orbits; null for a root.")]
    orbitalDistance: float
    orbitalSpeed: Annotated[float, Field(description="In degrees for each simulation second.")]
    orbitalPhase: NotRequired[Annotated[float, Field(description="In degrees; 0 if left out.")] | None]


class GroupChild(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: Id
    type: Literal["system", "group"]


class GroupPayload(TypedDict):
    """A group without its `id`."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    name: str
    children: Annotated[list[GroupChild], Field(fail_fast=True)]
    parentGroupId: Annotated[Ref | None, Field(description="The group it is in; null for a root.")]
    color: NotRequired[str | None]
    icon: NotRequired[str | None]
    position: NotRequired[Position | None]


class Group(GroupPayload):
    """Systems and groups that belong together."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: Id


class AsteroidBelt(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: Id
    name: str
    parentId: str
    innerRadius: float
    outerRadius: float
    thickness: float
    eccentricity: float
    inclination: Degrees
    asteroidCount: float
    asteroidIds: Annotated[list[str], Field(fail_fast=True)]
    color: NotRequired[str | None]
    beltType: NotRequired[Literal["main", "kuiper"] | None]
    regionLabel: NotRequired[str | None]
    isIcy: NotRequired[bool | None]
    inclinationSigma: NotRequired[float | None]
    radialRangeHint: NotRequired[Annotated[list[float], Field(min_length=2, max_length=2)] | None]
    lodLevel: NotRequired[float | str | None]
    visible: NotRequired[bool | None]
    seed: NotRequired[Seed | None]


class _Particles(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: Id
    systemId: str
    innerRadius: float
    outerRadius: float
    thickness: float
    particleCount: float
    baseColor: str
    highlightColor: str
    opacity: Unit
    brightness: float
    clumpiness: float
    rotationSpeedMultiplier: float
    seed: Seed
    name: NotRequired[str | None]


class SmallBodyField(_Particles):
    """A belt of particles around a body."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    hostStarId: str
    beltType: Literal["main", "kuiper"]
    regionLabel: str
    isIcy: bool
    style: Literal["thin", "moderate", "thick", "scattered"]
    inclinationSigma: NotRequired[float | None]
    visible: NotRequired[bool | None]


class ProtoplanetaryDisk(_Particles):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    centralStarId: str
    style: Literal["thin", "moderate", "thick", "extreme"]
    bandStrength: NotRequired[Unit | None]
    bandFrequency: NotRequired[float | None]
    gapSharpness: NotRequired[Unit | None]
    innerGlowStrength: NotRequired[Unit | None]
    noiseScale: NotRequired[float | None]
    noiseStrength: NotRequired[Unit | None]
    spiralStrength: NotRequired[Unit | None]
    spiralArmCount: NotRequired[float | None]
    edgeSoftness: NotRequired[Unit | None]
    temperatureGradient: NotRequired[float | None]


class NebulaRegion(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: Id
    name: str
    position: Position
    radius: float
    density: Unit
    brightness: Unit
    baseColor: str
    accentColor: str
    noiseScale: float
    noiseDetail: float
    seed: Seed
    dimensions: NotRequired[Annotated[Position, Field(description="Half extents of an ellipsoid.")] | None]
    associatedGroupIds: NotRequired[Annotated[list[str], Field(fail_fast=True)] | None]
    visible: NotRequired[bool | None]


Entity = dict[str, Any]
"""Any of these, as the code that does not look inside passes it on."""
