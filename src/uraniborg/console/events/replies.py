"""Events of the event stream: one type for each kind of change.

An event announces a change; the address of the thing that changed has its present state. A change with too many facts
is announced without them, so that all facts may be missing.
"""

from typing import Annotated, Literal

from pydantic import Field

from pflow.run_replies import NodeStatus, RunStatus
from uraniborg.console.replies import ApiReply


class ChangeEvent(ApiReply):
    """The fields of every event."""

    subject: str
    """The id of the thing that changed."""
    at: str


class InboxChange(ChangeEvent):
    """A question was asked, decided, withdrawn or deleted. `subject` is the id of the question."""

    kind: Literal["inbox"]
    state: Literal["pending", "decided", "withdrawn", "deleted"] | None = None
    part: str | None = None
    about: str | None = None
    """The id of the session, or of the approval."""


class SessionChange(ChangeEvent):
    """A session reached another phase. `subject` is the id of the session."""

    kind: Literal["session"]
    phase: str | None = None
    round: int | None = None
    checkpoint_id: str | None = None
    checkpoint_kind: str | None = None


class SourceChange(ChangeEvent):
    """A source answered a search. `subject` is the id of the session."""

    kind: Literal["source"]
    name: str | None = None
    status: str | None = None
    returned: int | None = None
    reason: str | None = None


class PapersChange(ChangeEvent):
    """A person marked papers. `subject` is the id of the session."""

    kind: Literal["papers"]
    checkpoint_id: str | None = None
    marked: int | None = None
    reviewer: str | None = None
    papers: list[str] | None = None
    """The ids of up to 20 papers that were marked."""


class RunChange(ChangeEvent):
    """A run began or ended. `subject` is the id of the run."""

    kind: Literal["run"]
    workflow: str | None = None
    status: RunStatus | None = None


class NodeChange(ChangeEvent):
    """A node of a run began or ended. `subject` is the id of the run."""

    kind: Literal["node"]
    node: str | None = None
    status: NodeStatus | None = None
    duration_ms: float | None = None
    items: int | None = None
    """The number of items of a batch."""
    items_done: int | None = None
    messages: int | None = None
    """The number of messages so far."""


class WorkflowChange(ChangeEvent):
    """The file of a workflow was written or deleted. `subject` is the name of the workflow."""

    kind: Literal["workflow"]
    source: Literal["library", "draft"] | None = None
    deleted: bool | None = None


class ShelfChange(ChangeEvent):
    """A shelf was built. `subject` is its path."""

    kind: Literal["shelf"]
    build_id: str | None = None
    papers: int | None = None


class NoteChange(ChangeEvent):
    """A person changed the note on a paper. `subject` is the id of the paper, `shelf` the path of its shelf."""

    kind: Literal["note"]
    shelf: str | None = None
    by: str | None = None


class ShelfBuildChange(ChangeEvent):
    """A build of a shelf from papers of a search progressed or ended. `subject` is the id of the session."""

    kind: Literal["shelf_build"]
    state: str | None = None
    shelf: str | None = None
    phase: str | None = None
    done: int | None = None
    total: int | None = None
    papers: int | None = None
    added: int | None = None
    error: str | None = None
    hint: str | None = None


class UniverseChange(ChangeEvent):
    """A universe was created, changed, renamed or deleted. `subject` is its id."""

    kind: Literal["universe"]
    version: int | None = None
    name: str | None = None
    created: bool | None = None
    deleted: bool | None = None


class JobChange(ChangeEvent):
    """A job of a universe began, progressed, ended or was deleted. `subject` is its id."""

    kind: Literal["nbody-job"]
    universeId: str | None = None  # noqa: N815 - the name in the change
    version: int | None = None
    job: str | None = None
    """The kind of the job."""
    state: str | None = None
    progress: float | None = None
    deleted: bool | None = None


class StoryChange(ChangeEvent):
    """A step of the story began, progressed or ended, or the story was deleted. `subject` is the id of the step."""

    kind: Literal["story"]
    state: Literal["running", "done", "failed", "deleted"] | None = None
    progress: float | None = None


class CallChange(ChangeEvent):
    """A tool of an MCP server was called. `subject` is the name of the server."""

    kind: Literal["call"]
    tool: str | None = None
    duration_ms: float | None = None
    reply_bytes: int | None = None
    error: str | None = None
    client: str | None = None


class InstallationChange(ChangeEvent):
    """A settings file, or the file of a client of agents, was written or deleted. `subject` is its path."""

    kind: Literal["installation"]


class Reset(ChangeEvent):
    """Changes before this event were lost: read everything again."""

    kind: Literal["reset"]


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
