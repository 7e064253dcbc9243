"""Replies about N-body runs, transits and radial velocities, for every interface."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class BodyState(TypedDict):
    """The mass, the position and the velocity of a body."""

    mass: float
    position: list[float]
    velocity: list[float]


class BodyError(TypedDict):
    """The error of a body: its distance, and its angle along the orbit."""

    au: float | None
    degrees: float | None


class RunErrors(TypedDict):
    """Sentences about each of the three kinds of error."""

    arithmetic: list[str]
    start: list[str]
    physics: list[str]


class DriftFacts(TypedDict):
    """The change of a conserved quantity, relative to its value at the start."""

    max: float
    final: float


class EncounterFacts(TypedDict):
    """An encounter of two bodies."""

    bodies: list[str]
    day: float
    au: float
    hillRadii: float | None
    radii: float | None


class CollisionFacts(TypedDict):
    """A collision of two bodies, and which of them is left."""

    bodies: list[str]
    day: float
    au: float
    speed: float
    survivor: str | None


class Range(TypedDict):
    """The least, the mean and the largest value."""

    min: float
    mean: float
    max: float


class OrbitRanges(TypedDict):
    """The ranges of the elements of an orbit during a run."""

    semiMajorAxis: Range | None
    eccentricity: Range | None
    inclination: Range | None
    meanPeriod: float | None


class ClosestApproach(TypedDict):
    """The closest approach of two bodies."""

    au: float
    hillRadii: float | None
    day: float | None


class OrbitPair(TypedDict):
    """Two bodies that orbit the same body."""

    inner: str
    outer: str
    periodRatio: float | None
    closest: ClosestApproach | None


class AngleBehaviour(TypedDict):
    """How an angle moved during a run."""

    behaviour: str
    centre: float | None
    halfRange: float | None
    reason: NotRequired[Annotated[str, Field(description="Why the behaviour is unclear.")]]


class ResonanceFacts(AngleBehaviour):
    """A resonance, or a pair of bodies near one, with the behaviour of its angle."""

    bodies: list[str]
    kind: str
    ratio: str | None
    angle: str
    longitudes: list[int]
    apsides: list[int]


class Ejection(TypedDict):
    """A body that was ejected."""

    id: str
    day: float
    distance: float | None
    speed: float | None


class ChaosFacts(TypedDict):
    """The estimate of chaos of a run."""

    megno: float | None
    lyapunovDays: float | None
    meaning: str


class DeficitPair(TypedDict):
    """Neighbours, and the deficit over the critical deficit of the two."""

    inner: str
    outer: str
    ratio: float


class Deficit(TypedDict):
    """The angular momentum deficit over its critical value."""

    ratio: float
    pairs: list[DeficitPair]
    meaning: str


class RunAnalysis(TypedDict):
    """All answers of a run."""

    verdict: str
    orbits: dict[str, OrbitRanges]
    pairs: list[OrbitPair]
    resonances: list[ResonanceFacts]
    ejections: list[Ejection]
    chaos: ChaosFacts
    amd: Deficit | None


class Frame(TypedDict):
    """The frame and the units of the states of a run."""

    origin: str
    axes: str
    units: dict[str, str]


class RunReply(RunAnalysis):
    """An N-body run of a universe."""

    id: str
    version: int
    time: float
    epochJulianDate: float | None
    days: float
    daysAsked: float
    stoppedBy: str | None
    method: str
    step: float
    shortestStep: float
    steps: int
    relativity: bool
    frame: Frame
    bodies: list[str]
    start: dict[str, BodyState | None]
    end: dict[str, BodyState | None]
    error: dict[str, BodyError]
    errors: RunErrors
    trustworthy: bool
    energyDrift: DriftFacts | None
    angularMomentumDrift: DriftFacts | None
    encounters: list[EncounterFacts]
    encounterCount: int
    collisions: list[CollisionFacts]


class ResonanceComparison(TypedDict):
    """An angle in two runs; None in a run without it."""

    bodies: list[str]
    kind: str
    ratio: str | None
    angle: str
    behaviour: list[str | None]
    centre: list[float | None]
    halfRange: list[float | None]
    changed: bool


class OrbitComparison(TypedDict):
    """The orbit of a body in two runs."""

    meanPeriod: list[float | None]
    eccentricityMax: list[float | None]
    semiMajorAxisMean: list[float | None]


class PairComparison(TypedDict):
    """Two bodies in two runs."""

    inner: str
    outer: str
    periodRatio: list[float | None]
    closestHillRadii: list[float | None]
    closestAu: list[float | None]


class ChaosComparison(TypedDict):
    """The estimates of chaos of two runs."""

    megno: list[float | None]
    lyapunovDays: list[float | None]


class RunDifferences(TypedDict):
    """Two runs side by side. Each list of two has the value of the first run and that of the second."""

    verdict: str
    resonances: list[ResonanceComparison]
    orbits: dict[str, OrbitComparison]
    pairs: list[PairComparison]
    ejections: list[list[str]]
    chaos: ChaosComparison


class RunComparison(TypedDict):
    """The differences of two runs, and the names of the two."""

    labels: list[str]
    differences: RunDifferences


class Observation(TypedDict):
    """What the replies about observations have in common."""

    time: float
    epochJulianDate: float | None
    days: float
    method: Literal["kepler", "gauss"]
    timeScale: str
    towardsObserver: list[float]


class TransitFacts(TypedDict):
    """A transit."""

    number: int
    time: float
    ocMinutes: Annotated[float | None, Field(description="Its delay against a constant period.")]
    impactParameter: float | None
    durationMinutes: float | None
    kind: str
    errorSeconds: float | None


class TransitSeries(TypedDict):
    """The conjunctions of a planet, and its transits with the best constant period."""

    status: str
    conjunctions: int
    impactParameter: float | None
    durationMinutes: float | None
    period: float | None
    firstTransit: float | None
    ttvHalfRangeMinutes: float | None
    errorSeconds: float | None
    transits: list[TransitFacts]


class PlanetTransits(TransitSeries):
    """The transits of a planet."""

    name: str
    star: str
    starName: str


class Transits(Observation):
    """The transits of the planets of a system."""

    planets: dict[str, PlanetTransits]
    notes: list[str]


class TransitReply(Transits):
    """The transits of a universe."""

    id: str
    version: int


class PlanetSignal(TypedDict):
    """The period, the mass times sin i, the eccentricity and the semi-amplitude of a body that orbits a star."""

    name: str
    period: float
    eccentricity: float
    inclination: float | None
    massSinI: float
    semiAmplitude: float


class VelocitySamples(TypedDict):
    """The velocities at some times."""

    times: list[float]
    velocities: list[float]


class Velocities(Observation):
    """The radial velocity of a star."""

    star: str
    starName: str
    unit: str
    least: float
    greatest: float
    errorMetresPerSecond: float | None
    planets: dict[str, PlanetSignal]
    samples: VelocitySamples
    notes: list[str]


class VelocityReply(Velocities):
    """The radial velocity of a star of a universe."""

    id: str
    version: int


MeasurementReply = RunReply | TransitReply | VelocityReply
