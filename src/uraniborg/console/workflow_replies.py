"""The replies of workflows and drafts."""

from typing import Any, Literal

from pydantic import Field

from uraniborg.console.replies import Reply
from uraniborg.kernel.actors import Actor


class SavedWorkflow(Reply):
    """A workflow of the library."""

    name: str
    description: str
    inputs: list[str]
    updated_at: str
    execution_count: int
    actor: Actor | None = None
    """Who saved or replaced the present text; None if that is not known."""


class DraftSummary(Reply):
    """A draft."""

    name: str
    description: str
    inputs: list[str]
    updated_at: str
    actor: Actor | None = None
    """Who wrote the present text; None if that is not known, as after an editor."""


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
