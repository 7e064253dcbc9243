"""The replies of workflows, drafts and runs."""

from typing import Any, Literal

from pydantic import Field

from uraniborg.console.inbox_replies import ApprovalQuestion
from uraniborg.console.replies import Reply

RunStatus = Literal["running", "success", "failed", "cancelled", "waiting", "interrupted"]
"""How a run ended. `waiting`: a person has to decide. `interrupted`: its process is gone."""
QuestionState = Literal["pending", "decided", "withdrawn"]
"""The state of the question that a run waits for. `withdrawn`: a later run asks it, and nobody has decided."""
NodeStatus = Literal["running", "completed", "reused", "failed", "waiting", "skipped", "uncertain"]
"""How a node ended. `uncertain`: it was interrupted and may have had its effect."""


class SavedWorkflow(Reply):
    """A workflow of the library."""

    name: str
    description: str
    inputs: list[str]
    updated_at: str
    execution_count: int


class DraftSummary(Reply):
    """A draft."""

    name: str
    description: str
    inputs: list[str]
    updated_at: str


class UnreadableFile(Reply):
    """A file among the workflows that cannot be read as a workflow."""

    path: str
    problem: str
    draft: str | None = None
    """The name of the draft; None for a file that is not a draft or has a name that workflows cannot have."""


class WorkflowList(Reply):
    """The saved workflows, the drafts, and the files that cannot be read."""

    workflows: list[SavedWorkflow]
    drafts: list[DraftSummary]
    problems: list[UnreadableFile]


class Diagnostic(Reply):
    """A finding of the checker."""

    severity: Literal["error", "warning"]
    code: str
    path: str
    """The position in the document, such as `nodes[0].params.url`."""
    message: str
    node: str | None = None
    hint: str | None = None
    available: list[str] = Field(default_factory=list)
    more_available: int | None = None
    nearest: str | None = None
    """The allowed value that is most similar to the one given."""
    example: Any = None
    """A piece of a workflow that would be right."""


class InputDeclaration(Reply):
    """An input that a workflow declares."""

    type: str
    required: bool
    description: str | None = None
    default: Any = None
    secret: bool = False


class OutputDeclaration(Reply):
    """An output that a workflow declares."""

    type: str | None = None
    description: str | None = None
    source: str


class TemplateUse(Reply):
    """A parameter of a node that uses a variable."""

    node: str | None = None
    param: str | None = None


class TemplateVariable(Reply):
    """A variable that a workflow needs from outside."""

    name: str
    declared: bool
    required: bool
    used_in: list[TemplateUse] = Field(default_factory=list[TemplateUse])
    default: Any = None


class WorkflowNode(Reply):
    """A node of a workflow."""

    id: str
    type: str
    purpose: str | None = None
    is_batch: bool = False


class WorkflowEdge(Reply):
    """An edge of a workflow: after `from`, if it ends with `action`, comes `to`."""

    from_: str = Field(alias="from")
    to: str
    action: str


class WorkflowStatistics(Reply):
    """How often a workflow ran, and how its runs ended."""

    execution_count: int
    success_count: int = 0
    failure_count: int = 0
    last_execution_timestamp: str | None = None
    last_execution_success: bool | None = None
    last_duration_ms: float | None = None
    average_duration_ms: float | None = None
    last_error: Any = None
    last_failed_node: str | None = None
    other_endings: dict[str, int] = Field(default_factory=dict)


class WorkflowDescription(Reply):
    """A workflow: its inputs, outputs, nodes, edges, statistics and problems."""

    name: str
    description: str
    source: str
    path: str
    inputs: dict[str, InputDeclaration]
    outputs: dict[str, OutputDeclaration]
    template_variables: list[TemplateVariable]
    nodes: list[WorkflowNode]
    nodes_total: int
    edges: list[WorkflowEdge]
    edges_total: int
    truncated: bool
    """Whether lists or texts were cut."""
    graph: str
    """The graph as a Mermaid diagram, or an empty text for a large graph."""
    example: dict[str, Any]
    statistics: WorkflowStatistics
    last_failure: dict[str, Any] | None
    diagnostics: list[Diagnostic]
    warnings: list[str]


class CheckReply(Reply):
    """The findings of the checker."""

    valid: bool
    diagnostics: list[Diagnostic]


class PlannedStep(Reply):
    """What a run would do at one node."""

    node: str
    type: str
    effect: str
    params: dict[str, Any]
    """The parameters as far as they are known, with secrets masked."""
    will: Literal["run", "ask", "reuse", "fail", "skip"]
    """What happens if the node is reached. `ask`: a person is asked, and the run stops until the decision."""
    decided_by: list[str]
    """The nodes that decide whether this one is reached; it certainly is if there are none."""
    waits_for: list[str]
    """The values that have to be known to be certain."""
    problem: str | None = None
    items: int | None = None
    items_reused: int | None = None


class PlanReply(Reply):
    """What a run would do."""

    steps: list[PlannedStep]


class WorkflowGraph(Reply):
    """All nodes and edges of a workflow, for drawing."""

    name: str
    nodes: list[WorkflowNode]
    edges: list[WorkflowEdge]
    diagnostics: list[Diagnostic]


class WorkflowText(Reply):
    """The text of a workflow. `source` is `library` or `draft`."""

    name: str
    source: str
    document: dict[str, Any] | None
    """The workflow; None for a draft whose file is not a workflow, such as broken JSON."""
    text: str | None = None
    """The text of the file, if there is no document."""
    diagnostics: list[Diagnostic] = Field(default_factory=list[Diagnostic])
    """Why there is no document."""
    revision: str
    """Differs if the text differs. Send it with a new text, so that a change of somebody else is not lost."""


class WrittenText(Reply):
    """The findings about a text that was written."""

    name: str
    diagnostics: list[Diagnostic]
    revision: str


class SavedDraft(Reply):
    """A draft that was moved to the library."""

    success: bool
    name: str
    path: str
    warnings: list[str]


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
    """Who started the run; None for a run of an earlier version or of a program."""
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


class InstalledSchedule(Reply):
    """A workflow that the system runs at fixed times."""

    name: str
    at: str
    as_: str = Field(alias="as")
    """systemd, cron or launchd."""
    path: str | None


class AddedSchedule(Reply):
    """A schedule that was installed, with notes for the person."""

    name: str
    at: str
    as_: str = Field(alias="as")
    notes: list[str]


class ScheduleList(Reply):
    """The schedules of this system, and the problem of a scheduler that cannot be read."""

    schedules: list[InstalledSchedule]
    problem: str | None = None


class NodeTypeValue(Reply):
    """A parameter or an output of a type of nodes."""

    key: str
    type: str
    required: bool = False
    description: str = ""


class NodeType(Reply):
    """A type of nodes, with an example of its parameters."""

    type: str
    description: str
    inputs: list[NodeTypeValue]
    outputs: list[NodeTypeValue]
    example: Any = None


class ComponentList(Reply):
    """Types of nodes, and workflows, that match a query."""

    nodes: list[NodeType]
    workflows: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    total: int
    truncated: bool


class CancelledRun(Reply):
    """A run whose process was asked to cancel it."""

    run_id: str
    status: Literal["cancelling"]
