"""The entities of a universe as JSON: bodies, groups, belts, disks and nebulae.

Entities are plain dictionaries; these types describe them for the type checker, the validation of input and the
reference. Other keys are stored unchanged. Required fields are never null; optional fields may be null.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from universe.domain.field_types import (
    OPEN,
    Degrees,
    Id,
    Kepler,
    Mass,
    Ref,
    Seed,
    SetBy,
    Source,
    StateVector,
    Unit,
    check_orbit,
)

BodyType = Literal["star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole"]


class Position(TypedDict):
    __pydantic_config__ = OPEN  # type: ignore[misc]

    x: float
    y: float
    z: float


class PlanetaryRing(TypedDict):
    """A ring around a body; its radii are multiples of the radius of the body."""

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


class StarOptions(TypedDict):
    """The optional fields of a body."""

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
    kepler: NotRequired[Annotated[Kepler, AfterValidator(check_orbit)] | None]
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
    """A body of any kind: star, planet, moon, asteroid, comet, Lagrange point or black hole."""

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
"""Any entity as JSON, for code that does not depend on its type."""
