"""The replies of runs, their nodes, items of batches and messages."""

from typing import Any, Literal

from pydantic import Field

from uraniborg.console.inbox_replies import ApprovalQuestion
from uraniborg.console.replies import Reply
from uraniborg.console.workflow_replies import WorkflowEdge, WorkflowNode
from uraniborg.kernel.actors import Actor

RunStatus = Literal["running", "success", "failed", "cancelled", "waiting", "interrupted"]
"""How a run ended. `waiting`: a person has to decide. `interrupted`: its process is gone."""
QuestionState = Literal["pending", "decided", "withdrawn"]
"""The state of the question that a run waits for. `withdrawn`: a later run asks it, and nobody has decided."""
NodeStatus = Literal["running", "completed", "reused", "failed", "waiting", "skipped", "uncertain"]
"""How a node ended. `uncertain`: it was interrupted and may have had its effect."""


class RunError(Reply):
    """Why a run or a node failed."""

    type: str | None = None
    code: str
    message: str
    hint: str | None = None
    node: str | None = None
    approval_id: str | None = None
    """The id of the question in the inbox that the run waits for."""


class ResumeState(Reply):
    """The nodes that a failed run completed, and whether it can be resumed."""

    run_id: str | None
    workflow: str | None
    completed_nodes: list[str]
    failed_node: str | None
    node_actions: dict[str, str]
    resumable: bool


class StartedRun(Reply):
    """A run that has begun."""

    run_id: str
    workflow: str
    nodes: int


class EndedRun(Reply):
    """The reply of `execute` for a run that could not begin or ended at once."""

    success: bool
    outputs: dict[str, Any]
    error: RunError | None
    checkpoint: ResumeState | None
    reused_nodes: list[str]
    run_id: str | None
    duration_ms: float
    warnings: list[str]


class RunStarter(Reply):
    """Who started a run, as claimed: a person in the console or a terminal, a schedule, or the client of an agent."""

    door: Literal["console", "terminal", "schedule", "mcp"]
    name: str


class QuestionAnswer(Reply):
    """The decision about the question that a run waits for."""

    action: str
    note: str | None
    door: str | None
    """The interface of the decision: `console`, `terminal`, `client` or `agent`."""
    decided_by: str | None
    """The name that the decider claimed."""


class RunSummary(Reply):
    """A run in the log."""

    id: str
    workflow: str
    source: str
    status: RunStatus
    started_at: str
    ended_at: str | None
    duration_ms: float | None
    failed_node: str | None
    error: RunError | None
    reused: int | None
    resumed_from: str | None
    inputs: Any
    """The inputs, with secrets masked; of long inputs `characters` and `beginning`."""
    outputs: Any
    """The outputs; instead of a large value its size in `bytes`."""
    warnings: list[str] = Field(default_factory=list)
    starter: RunStarter | None = None
    """The interface and the name of who started the run; None for a run of an earlier version or of a program."""
    actor: Actor | None = None
    """Who started the run; None for a run of an earlier version."""
    cancelled_by: Actor | None = None
    """Who requested that the run is cancelled; None if nobody did, and in lists."""
    resumed_by: Actor | None = None
    """Who answered the question with which the run was resumed; None if no answer resumed it, and in lists."""
    question_state: QuestionState | None = None
    """The state of the question that the run waits for; None if the run does not wait, or the question was deleted."""
    question_answer: QuestionAnswer | None = None
    """How the question that the run waits for was decided."""


class RunList(Reply):
    """The last runs."""

    runs: list[RunSummary]
    next: str | None
    """The value of `before` for the next page."""


class NodeResult(Reply):
    """How a node of a run ended. `seq` is its position in the order of the ends."""

    seq: int
    node: str
    type: str
    status: NodeStatus
    action: str | None
    started_at: str | None
    duration_ms: float | None
    error: RunError | None
    note: str | None
    """Why an earlier result was not reused."""
    failed_items: int | None = None
    """How many items of a batch failed, in the progress of a run."""


class RunNode(NodeResult):
    """A node of a run that has ended, with its values."""

    params: Any = None
    """The parameters as the workflow has them, with templates. Secrets are masked; large values are sizes."""
    outputs: Any = None
    """The outputs. Secrets are masked; large values are sizes in `bytes`."""
    inputs: Any = None
    """The values of the parameters, if they differ from `params`. Secrets are masked; large values are sizes."""
    messages: list[str] | None = None
    """The last messages of the node."""


class ActiveNode(Reply):
    """A node that runs now, or has just ended; of a batch with the number of its items, and of those that ended."""

    node: str
    status: NodeStatus
    at: str
    duration_ms: float | None = None
    items: int | None = None
    items_done: int | None = None
    messages: int | None = None
    """The number of messages so far."""


class RunGraph(Reply):
    """The nodes and edges of a run."""

    nodes: list[WorkflowNode]
    edges: list[WorkflowEdge]


class RunProgress(Reply):
    """A run, its graph, nodes that have ended, and nodes that run now."""

    run: RunSummary
    graph: RunGraph | None
    is_present_graph: bool
    """Whether the graph is that of the workflow as it is now: the log has no graph of the run."""
    nodes: list[NodeResult]
    next: int | None
    """The value of `after` for the next page of nodes."""
    active: list[ActiveNode]
    resumes_when_decided: bool
    """Whether this server resumes the run as soon as the question is decided that the run waits for."""
    resumed_as: str | None
    """The id of the run that has resumed this one."""


class RunDetails(RunSummary):
    """A run with its nodes."""

    nodes: list[RunNode]


class ValueDifference(Reply):
    """A value that differs. A run without the value does not have its key."""

    name: str
    first: Any = None
    second: Any = None


class NodeEnding(Reply):
    """How a node ended in one run."""

    status: NodeStatus
    action: str | None
    duration_ms: float | None


class NodeDifference(Reply):
    """A node in two runs."""

    node: str
    type: str
    first: NodeEnding | None
    second: NodeEnding | None
    differs: bool
    """Whether the node did something else; durations and reuse do not count."""


class RunComparison(Reply):
    """The differences of two runs."""

    first: RunSummary
    second: RunSummary
    inputs: list[ValueDifference]
    outputs: list[ValueDifference]
    nodes: list[NodeDifference]


class RunApprovals(Reply):
    """The questions that a run and the runs before it asked."""

    entries: list[ApprovalQuestion]


class CancelledRun(Reply):
    """A run whose process was asked to cancel it."""

    run_id: str
    status: Literal["cancelling"]


class RunItem(Reply):
    """How an item of a batch ended. `item` is its index."""

    item: int
    status: NodeStatus
    duration_ms: float | None
    error: RunError | None
    value: Any = None
    """The item itself; instead of a large value its size in `bytes`. None if the batch is too large to store it."""
    outputs: Any = None
    """The outputs. Secrets are masked; instead of large outputs their size in `bytes`."""


class RunItemPage(Reply):
    """Items of a batch that have ended, in their order."""

    items: list[RunItem]
    next: int | None
    """The value of `after` for the next page."""
    counts: dict[str, int]
    """The number of items with each status."""


class NodeMessages(Reply):
    """The last messages of a node that runs."""

    messages: list[str]
