"""Replies about jobs, for REST, MCP and the command line."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from universe.jobs.options import JobKind
from uraniborg.kernel.actor_fields import ActorFields
from uraniborg.kernel.change_fields import ChangeFields
from uraniborg.kernel.json_values import JsonObject

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
