"""Replies about workflows, drafts, node types, schedules and MCP servers. They may have more keys."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pflow.service.run_replies import RunError, WorkflowEdge, WorkflowNode
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.shared_fields import ActorFields

Prediction = Literal["run", "ask", "reuse", "fail", "skip"]
"""What would happen at a node. `ask`: a person is asked."""


class SavedWorkflow(TypedDict):
    """A workflow of the library."""

    name: str
    description: str
    inputs: list[str]
    updated_at: str
    execution_count: int
    actor: NotRequired[
        Annotated[
            ActorFields | None,
            Field(description="Who saved or replaced the present text; None if that is not known."),
        ]
    ]


class DraftSummary(TypedDict):
    """A draft."""

    name: str
    description: str
    inputs: list[str]
    updated_at: str
    actor: Annotated[
        ActorFields | None,
        Field(description="Who wrote the present text; None if that is not known, as after an editor."),
    ]


class NamedDraft(DraftSummary):
    """A draft that the command line can name."""

    execution_count: int
    path: str


class UnreadableFile(TypedDict):
    """A file among the workflows that cannot be read as a workflow."""

    path: str
    problem: str
    draft: NotRequired[
        Annotated[
            str | None,
            Field(
                description="The name of the draft; None for a file that is not a draft or has a name that workflows "
                "cannot have."
            ),
        ]
    ]


class WorkflowList(TypedDict):
    """The saved workflows, the drafts, and the files that cannot be read."""

    workflows: list[SavedWorkflow]
    drafts: list[DraftSummary]
    problems: list[UnreadableFile]


class NamedWorkflows(TypedDict):
    """The workflows that the command line can name, and the files that cannot be read."""

    library: list[SavedWorkflow]
    drafts: list[NamedDraft]
    problems: list[UnreadableFile]


class Diagnostic(TypedDict):
    """A finding of the checker."""

    severity: Literal["error", "warning"]
    code: str
    path: Annotated[str, Field(description="The position in the document, such as `nodes[0].params.url`.")]
    message: str
    node: NotRequired[str]
    hint: NotRequired[str]
    available: NotRequired[list[str]]
    more_available: NotRequired[int]
    nearest: NotRequired[Annotated[str, Field(description="The allowed value that is most similar to the one given.")]]
    example: NotRequired[Annotated[Json, Field(description="A piece of a workflow that would be right.")]]
    line: NotRequired[Annotated[int, Field(description="The line in the file, if that is known.")]]
    column: NotRequired[int]


class InputDeclaration(TypedDict):
    """An input that a workflow declares."""

    type: str
    required: bool
    description: str
    default: NotRequired[Json]
    secret: NotRequired[bool]


class OutputDeclaration(TypedDict):
    """An output that a workflow declares."""

    type: str
    description: str
    source: str


class TemplateUse(TypedDict):
    """A parameter of a node, or an output of the workflow, that uses a variable."""

    node: NotRequired[str]
    param: NotRequired[str]
    output: NotRequired[str]


class TemplateVariable(TypedDict):
    """A variable that a workflow needs from outside."""

    name: str
    declared: bool
    required: bool
    paths: Annotated[list[str], Field(description="The parts of the variable that templates use.")]
    used_in: list[TemplateUse]
    default: NotRequired[Json]


class LoggedStatistics(TypedDict):
    """How often a workflow ran, and how its runs ended."""

    execution_count: int
    success_count: int
    failure_count: int
    last_execution_timestamp: str | None
    last_execution_success: bool | None
    last_duration_ms: float | None
    average_duration_ms: float | None
    last_error: str | None
    last_failed_node: str | None


class WorkflowStatistics(TypedDict):
    """How often a workflow ran, and how its runs ended. Of a log that cannot be read, only `execution_count`, 0."""

    execution_count: int
    success_count: NotRequired[int]
    failure_count: NotRequired[int]
    last_execution_timestamp: NotRequired[str | None]
    last_execution_success: NotRequired[bool | None]
    last_duration_ms: NotRequired[float | None]
    average_duration_ms: NotRequired[float | None]
    last_error: NotRequired[str | None]
    last_failed_node: NotRequired[str | None]
    other_endings: NotRequired[dict[str, int]]


class LastFailure(TypedDict):
    """The last run of a workflow that failed."""

    id: str
    started_at: str
    failed_node: str | None
    error: RunError | None
    duration_ms: float | None


class ExampleCall(TypedDict, total=False):
    """The arguments of an example call of `execute`; nothing for a workflow with errors."""

    name: str
    inputs: JsonObject


class WorkflowGraph(TypedDict):
    """All nodes and edges of a workflow, for drawing."""

    name: str
    nodes: list[WorkflowNode]
    edges: list[WorkflowEdge]
    diagnostics: list[Diagnostic]


class WorkflowDescription(WorkflowGraph):
    """A workflow: its inputs, outputs, nodes, edges, statistics and problems."""

    description: str
    source: str
    path: str
    inputs: dict[str, InputDeclaration]
    outputs: dict[str, OutputDeclaration]
    template_variables: list[TemplateVariable]
    nodes_total: int
    edges_total: int
    truncated: Annotated[bool, Field(description="Whether lists or texts were cut.")]
    graph: Annotated[str, Field(description="The graph as a Mermaid diagram, or an empty text for a large graph.")]
    example: ExampleCall
    statistics: WorkflowStatistics
    last_failure: LastFailure | None
    log_problem: NotRequired[Annotated[str, Field(description="Why the log of runs cannot be read.")]]
    warnings: list[str]


class CheckReply(TypedDict):
    """The findings of the checker."""

    valid: bool
    diagnostics: list[Diagnostic]


class CheckedFile(TypedDict):
    """A workflow that the command line checked; the numbers are absent if it is not a workflow."""

    name: str
    path: str
    nodes: NotRequired[int]
    inputs: NotRequired[int]
    outputs: NotRequired[int]


class PlannedStep(TypedDict):
    """What a run would do at one node."""

    node: str
    type: str
    effect: str
    params: Annotated[JsonObject, Field(description="The parameters as far as they are known, with secrets masked.")]
    will: Annotated[
        Prediction,
        Field(
            description="What happens if the node is reached. `ask`: a person is asked, and the run stops until the "
            "decision."
        ),
    ]
    decided_by: Annotated[
        list[str],
        Field(description="The nodes that decide whether this one is reached; it certainly is if there are none."),
    ]
    waits_for: Annotated[list[str], Field(description="The values that have to be known to be certain.")]
    problem: NotRequired[str]
    items: NotRequired[int]
    items_reused: NotRequired[int]


class PlanReply(TypedDict):
    """What a run would do."""

    steps: list[PlannedStep]


class WorkflowText(TypedDict):
    """The text of a workflow. `source` is `library` or `draft`."""

    name: str
    source: str
    document: Annotated[
        JsonObject | None,
        Field(description="The workflow; None for a draft whose file is not a workflow, such as broken JSON."),
    ]
    text: NotRequired[Annotated[str | None, Field(description="The text of the file, if there is no document.")]]
    diagnostics: NotRequired[Annotated[list[Diagnostic], Field(description="Why there is no document.")]]
    revision: Annotated[
        str,
        Field(
            description="Differs if the text differs. Send it with a new text, so that a change of somebody else is "
            "not lost."
        ),
    ]


class WrittenText(TypedDict):
    """The findings about a text that was written."""

    name: str
    diagnostics: list[Diagnostic]
    revision: str


class SavedDraft(TypedDict):
    """A draft that was moved to the library."""

    success: bool
    path: str
    name: str
    warnings: list[str]


class NodeTypeValue(TypedDict):
    """A parameter of a type of nodes. Only types in full have descriptions."""

    key: str
    type: str
    required: bool
    default: Json
    description: NotRequired[str]
    choices: NotRequired[Annotated[list[Json], Field(description="The allowed values, if they are bounded.")]]


class NodeTypeOutput(TypedDict):
    """An output of a type of nodes. Only types in full have descriptions and structures."""

    key: str
    type: str
    description: NotRequired[str]
    structure: NotRequired[
        Annotated["list[NodeTypeOutput]", Field(description="The fields of an object, or of the items of a list.")]
    ]


class NodeType(TypedDict):
    """A type of nodes, with an example of its parameters."""

    type: str
    description: str
    inputs: list[NodeTypeValue]
    outputs: list[NodeTypeOutput]
    actions: list[str]
    effect: str
    example: JsonObject
    score: NotRequired[float]
    matched: NotRequired[Annotated[list[str], Field(description="The words of the query that the type contains.")]]


class ExampleSummary(TypedDict):
    """An example that comes with pflow."""

    name: str
    description: str
    inputs: list[str]


class WorkflowMatch(TypedDict):
    """A workflow that matches a query."""

    name: str
    description: str
    source: str
    inputs: list[str]


class ComponentList(TypedDict):
    """Types of nodes, and workflows, that match a query, the best first."""

    nodes: list[NodeType]
    workflows: NotRequired[list[WorkflowMatch]]
    total: Annotated[int, Field(description="The number of matches, with those that are left out.")]
    truncated: bool
    hint: NotRequired[str]
    problems: NotRequired[Annotated[list[str], Field(description="Files of node types that cannot be read.")]]


AddedSchedule = TypedDict("AddedSchedule", {"name": str, "at": str, "as": str, "notes": list[str]})
AddedSchedule.__doc__ = "A schedule that was installed, with notes for the person."
InstalledSchedule = TypedDict(
    "InstalledSchedule",
    {
        "name": str,
        "at": str,
        "as": Annotated[str, Field(description="systemd, cron or launchd.")],
        "path": str | None,
        "actor": Annotated[ActorFields | None, Field(description="Who added the schedule; None if that is not known.")],
    },
)
InstalledSchedule.__doc__ = "A workflow that the system runs at fixed times."


class ListedServer(TypedDict):
    """An MCP server whose tools workflows may use."""

    name: str
    where: str
    tools: Annotated[int | None, Field(description="The number of its tools; None before the first sync.")]


class ServerList(TypedDict):
    """The MCP servers, and the entries of their file that cannot be used."""

    servers: list[ListedServer]
    problems: list[dict[str, str]]


class ScheduleList(TypedDict):
    """The schedules of this system, and the problem of a scheduler that cannot be read."""

    schedules: list[InstalledSchedule]
    problem: str | None
