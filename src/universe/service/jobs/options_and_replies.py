"""Options of jobs and replies about jobs, for REST, MCP and the command line."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from universe.errors import MalformedRequest
from uraniborg.kernel.errors import make_invalid_input
from uraniborg.kernel.json_values import JsonObject, JsonSchema
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields

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


JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class JobSummary(TypedDict):
    """The start, the method, the error and the verdict of a result."""

    time: float
    epochJulianDate: float | None
    days: float
    method: str
    headline: str
    errorDegrees: NotRequired[float | None]
    trustworthy: NotRequired[bool]
    verdict: NotRequired[str]
    errorSeconds: NotRequired[float | None]
    errorMetresPerSecond: NotRequired[float | None]


class JobError(TypedDict):
    """The error with which a job ended."""

    code: str
    message: str
    hint: str


class JobFacts(TypedDict):
    """A job of a universe at a version: its options, its state and, once it has ended, its summary or its error."""

    id: str
    universeId: str
    version: int
    kind: JobKind
    state: JobState
    progress: float
    options: JsonObject
    author: str
    actor: ActorFields | None
    cancelledBy: ActorFields | None
    createdAt: str
    startedAt: str | None
    endedAt: str | None
    summary: JobSummary | None
    error: JobError | None


class JobWithResult(JobFacts):
    """A job and its result."""

    result: NotRequired[JsonObject]
    shortened: NotRequired[
        Annotated[dict[str, int], Field(description="The paths of lists that were cut, and their full lengths.")]
    ]


class JobList(TypedDict):
    """A page of jobs; `next` is the cursor of the next page."""

    jobs: list[JobFacts]
    next: str | None


class JobsOfUniverse(TypedDict):
    """The last jobs of a universe."""

    jobs: list[JobFacts]


class DeletedJob(TypedDict):
    """The id of a job that was deleted."""

    deleted: str


class JobCurve(TypedDict):
    """A curve or points of a chart; null is a gap."""

    name: str
    isPoints: bool
    x: list[float]
    y: list[float | None]


class JobPanel(TypedDict):
    """A quantity over time. The title has its unit; `lines` are values that a line marks."""

    title: str
    note: str
    xLabel: str
    isAngle: bool
    range: tuple[float, float] | None
    lines: list[float]
    series: list[JobCurve]


class JobChart(TypedDict):
    """The chart of a result as numbers. The footer names the method and the error."""

    title: str
    subtitle: str
    footer: str
    panels: list[JobPanel]


class TrajectoryError(TypedDict):
    """The largest error of a body during the run."""

    au: float | None
    degrees: float | None


class TrajectoryLayout(TypedDict):
    """The bodies and the times of the stored states of a run, and the error of each body."""

    ids: list[str]
    names: list[str]
    count: int
    time: float
    firstDay: float
    stepDays: float
    shortestPeriodDays: float | None
    numbers: list[str]
    frame: str
    error: dict[str, TrajectoryError]
    trustworthy: bool


class TrajectoryPage(TrajectoryLayout):
    """Some times of a trajectory; `next` is the index of the first time after them."""

    first: int
    returned: int
    next: int | None


class TrajectoryStates(TrajectoryPage):
    """Some states of a trajectory: for each time and body, six numbers."""

    states: list[list[list[float | None]]]


class JobChange(ChangeFields):
    """A job of a universe began, progressed, ended or was deleted. `subject` is its id."""

    kind: Literal["nbody-job"]
    universeId: NotRequired[str]
    version: NotRequired[int]
    job: NotRequired[Annotated[JobKind, Field(description="The kind of the job.")]]
    state: NotRequired[JobState]
    progress: NotRequired[float]
    deleted: NotRequired[bool]
