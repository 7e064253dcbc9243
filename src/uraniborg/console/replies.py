"""The replies of the console itself: about sign-ins, and those that join several parts."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from paper_library.domain.replies import NoteChange, ShelfChange
from paper_search.service.session_replies import PapersChange, SessionChange, SourceChange
from pflow.service.run_replies import NodeChange, RunChange, WatchedProgress, WorkflowChange
from universe.service.jobs.options_and_replies import JobChange
from universe.service.replies import UniverseChange
from uraniborg.console.workers.shelf_builds import ShelfBuildChange
from uraniborg.inbox_replies import ApprovalQuestion
from uraniborg.installation.replies import InstallationChange
from uraniborg.kernel.shared_fields import Reset
from uraniborg.kernel.store.inbox_entries import InboxChange
from uraniborg.kernel.store.tool_call_log import CallChange
from uraniborg.story.replies import StoryChange


class Health(TypedDict):
    """The state of the server."""

    status: str
    version: str


class PersonName(TypedDict):
    """The name of a person, as claimed."""

    name: str


class SignedIn(PersonName):
    """The key of a browser, which it sends as its bearer token. It is shown only once."""

    key: str
    valid_until: Annotated[str, Field(description="The time at which the key ends.")]


class SignInState(TypedDict):
    """The name of the person whose key a browser has; None if nobody is signed in."""

    name: str | None
    is_renewal_due: Annotated[bool, Field(description="Whether the browser is to exchange its key for a new one.")]


class RunningCounts(TypedDict):
    """How many searches, runs and jobs of universes work now, at most 1,000 runs and jobs.

    `jobs` is null if the server of universes does not run.
    """

    searches: int
    runs: int
    jobs: int | None


class RunProgress(WatchedProgress):
    """A run, its graph, nodes that have ended, and nodes that run now."""

    resumes_when_decided: Annotated[
        bool,
        Field(
            description="Whether this server resumes the run as soon as the question is decided that the run waits for."
        ),
    ]
    resumed_as: Annotated[str | None, Field(description="The id of the run that has resumed this one.")]


class RunApprovals(TypedDict):
    """The questions that a run and the runs before it asked."""

    entries: list[ApprovalQuestion]


class BodyUse(TypedDict):
    """A body of a universe, and its fields whose values come from a paper."""

    universe_id: str
    universe: str
    body: str
    fields: list[str]


class WorkflowUse(TypedDict):
    """A workflow that mentions a paper, and the ids of its nodes that do."""

    name: str
    source: Literal["library", "draft"]
    nodes: list[str]


class PaperUseList(TypedDict):
    """Where a paper is used."""

    bodies: list[BodyUse]
    workflows: list[WorkflowUse]
    is_complete: Annotated[bool, Field(description="False if there may be more bodies.")]


AnyChange = Annotated[
    InboxChange
    | SessionChange
    | SourceChange
    | PapersChange
    | RunChange
    | NodeChange
    | WorkflowChange
    | ShelfChange
    | NoteChange
    | ShelfBuildChange
    | UniverseChange
    | JobChange
    | StoryChange
    | CallChange
    | InstallationChange
    | Reset,
    Field(discriminator="kind"),
]
"""An event of the event stream."""
