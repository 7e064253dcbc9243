"""What each step of the story stores: its result, from which its sentence, its page and the bundle are made."""

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from paper_library.domain.replies import StoredMetadata
from paper_search.domain.review_models import Judge
from paper_search.service.checkpoint_replies import QueryFields, Status
from paper_search.service.session_replies import SourceState
from pflow.service.run_replies import EndedRun, RunEnding
from universe.domain.field_types import Location
from universe.domain.nbody.measurement_replies import ResonanceComparison
from universe.domain.provenance.bibliography import Status as ValueStatus
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.shared_fields import ActorFields
from uraniborg.kernel.store.inbox import State
from uraniborg.story.resonance_verdicts import Verdict


class StepInputs(TypedDict):
    """The values that steps ask for. Each step has its own ones alone."""

    strike: int
    marks: JsonObject
    mass: float
    factor: float
    years: float


class AskResult(TypedDict):
    """The strategy that the agent proposes."""

    agent: str
    session_id: str
    checkpoint_id: str
    query: str
    queries: Annotated[list[str], Field(description="What each query sends.")]
    strategy_queries: list[QueryFields]
    sources: list[str]
    state: State
    searched: list[str]
    server_pid: int


class ProposedMark(TypedDict):
    """The verdict that a program suggests."""

    status: Literal["include", "exclude"]
    reason: str


class FoundPaper(TypedDict):
    """A paper that the search found, with the suggested verdict."""

    id: str
    title: str
    authors: Annotated[list[str], Field(description="The first three.")]
    more_authors: int
    year: int | None
    doi: str | None
    abstract: str | None
    score: float
    proposed: ProposedMark


class SearchedSource(TypedDict):
    """What a source did."""

    name: str
    status: SourceState
    returned: int
    reason: str | None


class ApproveResult(TypedDict):
    """The decision about the queries, and what the search found."""

    struck: Annotated[list[int], Field(description="The numbers of the struck queries, from 1.")]
    approved: list[str]
    reason: str
    decision: str
    checkpoint_id: str
    sources: list[SearchedSource]
    papers: list[FoundPaper]
    server_pid: int


class JudgedPaper(TypedDict):
    """The verdict on a paper, with its last reason and who judged."""

    id: str
    title: str
    year: int | None
    doi: str | None
    status: Status
    reason: str | None
    reviewer: NotRequired[str | None]
    judge: NotRequired[Annotated[Judge | None, Field(description="Missing in stories of earlier versions.")]]


class ReviewResult(TypedDict):
    """The decision about the papers."""

    decision: str
    papers: list[JudgedPaper]


class ShelvedText(TypedDict):
    """A paper of the shelf that has a text."""

    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    source_chars: int


class ShelveResult(TypedDict):
    """The shelf of the kept papers."""

    papers: int
    entries: int
    merged: int
    sheets: Annotated[list[str], Field(description="The names of the data sheets.")]
    texts: list[ShelvedText]


class ReadResult(TypedDict):
    """The run that stopped at a missing mass."""

    run: EndedRun
    masses_read: list[str]


class ReadMass(TypedDict):
    """A mass that the workflow read, with the row that states it and the command that sets it."""

    node: str
    body: str
    command: JsonObject
    stated: str
    location: Location | None


class GiveResult(TypedDict):
    """The run that was resumed with the mass that the person gave."""

    run: RunEnding
    given: float
    paper: StoredMetadata | None
    masses: list[ReadMass]


class MassSource(TypedDict):
    """The publication of a mass."""

    id: str | None
    title: str | None
    doi: str | None
    year: float | None


class BodyMass(TypedDict):
    """The mass of a body, its status, the row that states it, and who set it."""

    body: str
    name: str
    mass: Annotated[float, Field(description="In solar masses.")]
    earth_masses: float
    status: ValueStatus
    reason: str
    as_written: str
    is_on_shelf: bool
    location: Location | None
    source: MassSource | None
    set_by: str


class BuildResult(TypedDict):
    """The universe, and its masses."""

    universe_id: str
    version: int
    commands: int
    bodies: int
    masses: list[BodyMass]


class BranchOrigin(TypedDict):
    """The version that a branch is from, and the version of its universe after that."""

    universe_id: str
    version: int
    version_after: int


BranchResult = TypedDict(
    "BranchResult",
    {
        "universe_id": str,
        "version": int,
        "from": BranchOrigin,
        "factor": float,
        "before": Annotated[float, Field(description="In Earth masses.")],
        "after": BodyMass,
        "command": JsonObject,
    },
)
BranchResult.__doc__ = "A branch of the universe with another mass of the planet."


class RunReference(TypedDict):
    """An N-body run: its universe and its job."""

    universe_id: str
    version: int
    name: str
    job_id: str
    is_reused: Annotated[bool, Field(description="Whether the run was stored before.")]


class IntegrateResult(TypedDict):
    """The runs of both universes."""

    years: float
    days: list[float]
    runs: list[RunReference]


class NamedResonance(ResonanceComparison):
    """An angle in two runs, with the short names of its bodies."""

    names: list[str]


class LaplaceAngle(TypedDict):
    """A Laplace angle over time."""

    bodies: list[str]
    names: list[str]
    formula: str
    degrees: list[float]


class AngleSeries(TypedDict):
    """The Laplace angles of a run, and their times in days."""

    name: str
    days: list[float]
    angles: list[LaplaceAngle]


class StoryComparisonFacts(TypedDict):
    """Two runs side by side. Each list of two has the value of the first run and that of the second."""

    planet: str
    factor: float
    verdict: Verdict
    answer: str
    comparison: str
    runs: list[RunReference]
    resonances: list[NamedResonance]
    angles: list[AngleSeries]
    errors_degrees: list[float]
    trustworthy: list[bool]
    days: list[float]
    verdicts: list[str]
    left_out: list[str]


class CompareResult(StoryComparisonFacts):
    """The answer to the question."""

    picture: str


class BreakResult(CompareResult):
    """The answer with a third mass, on another branch."""

    branch: BranchResult


class VersionMass(BodyMass):
    """The mass of the planet in a version of the branch."""

    version: int


class ScrubResult(TypedDict):
    """The masses of all versions of the branch."""

    universe_id: str
    versions: list[VersionMass]
    version_after: int


class ExportedFile(TypedDict):
    """A file of the bundle."""

    path: str
    description: str
    bytes: int


class ExportResult(TypedDict):
    """The bundle, as a folder and as a zip file."""

    folder: str
    zip: str
    bytes: int
    files: list[ExportedFile]
    digests: str
    check: Annotated[str, Field(description="The command that checks the bundle.")]


StepResult: TypeAlias = (
    AskResult
    | ApproveResult
    | ReviewResult
    | ShelveResult
    | ReadResult
    | GiveResult
    | BuildResult
    | BranchResult
    | IntegrateResult
    | BreakResult
    | CompareResult
    | ScrubResult
    | ExportResult
)

Results = TypedDict(
    "Results",
    {
        "ask": AskResult,
        "approve": ApproveResult,
        "review": ReviewResult,
        "shelve": ShelveResult,
        "read": ReadResult,
        "give": GiveResult,
        "build": BuildResult,
        "branch": BranchResult,
        "integrate": IntegrateResult,
        "compare": CompareResult,
        "break": BreakResult,
        "scrub": ScrubResult,
        "export": ExportResult,
    },
)
Results.__doc__ = "The results of the steps that have been run, by the id of the step. A step reads those before it."


class StepRecord(TypedDict):
    """A step that has been run: who ran it, when, with which inputs, and its result."""

    by: str
    actor: NotRequired[ActorFields]
    started_at: str
    ended_at: str
    inputs: JsonObject
    result: StepResult
