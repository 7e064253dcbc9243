"""Replies about runs: starts and ends, nodes, items, messages, comparisons, and changes in the change feed.

Replies may have more keys: an error has the ids of what it is about.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields

RunStatus = Literal["running", "success", "failed", "cancelled", "waiting", "interrupted"]
"""How a run ended. `waiting`: a person has to decide. `interrupted`: its process is gone."""
QuestionState = Literal["pending", "decided", "withdrawn"]
"""The state of the question that a run waits for. `withdrawn`: a later run asks it, and nobody has decided."""
NodeStatus = Literal["running", "completed", "reused", "failed", "waiting", "skipped", "uncertain"]
"""How a node ended. `uncertain`: it was interrupted and may have had its effect."""


class RunError(TypedDict):
    """Why a run or a node failed."""

    type: NotRequired[str]
    code: str
    message: str
    hint: NotRequired[str]
    node: NotRequired[str | None]
    approval_id: NotRequired[Annotated[str, Field(description="The id of the question that the run waits for.")]]
    diagnostics: NotRequired[Annotated[list[JsonObject], Field(description="The first findings of the checker.")]]
    more_diagnostics: NotRequired[int]


class FailedCall(TypedDict):
    """The reply of a tool that failed."""

    success: Literal[False]
    error: RunError


class ResumeState(TypedDict):
    """The nodes that a failed run completed, and whether it can be resumed."""

    run_id: str | None
    workflow: str | None
    completed_nodes: list[str]
    failed_node: str | None
    node_actions: dict[str, str]
    node_hashes: NotRequired[Annotated[dict[str, str], Field(description="Digests of completed nodes, if few.")]]
    skipped_nodes: NotRequired[list[str]]
    uncertain_nodes: NotRequired[
        Annotated[list[str], Field(description="Nodes that were interrupted and may have had their effect.")]
    ]
    resumable: bool


class RunEnding(TypedDict):
    """How a run ended, without its outputs."""

    success: bool
    error: RunError | None
    checkpoint: Annotated[ResumeState | None, Field(description="The nodes that a failed run completed.")]
    reused_nodes: list[str]
    run_id: str | None
    duration_ms: float
    warnings: list[str]
    resumed_from: NotRequired[Annotated[str, Field(description="The id of the run whose results were reused.")]]
    not_reused: NotRequired[
        Annotated[dict[str, str], Field(description="Why earlier results were not reused, by node.")]
    ]
    dialog: NotRequired[
        Annotated[dict[str, str], Field(description="The state of a dialog with the person that has no decision.")]
    ]
    secret_inputs: NotRequired[
        Annotated[list[str], Field(description="To the console, if the run waits: inputs that must not be stored.")]
    ]


class EndedRun(RunEnding):
    """The reply of `execute`: a run that has ended, or that could not begin."""

    outputs: Annotated[JsonObject, Field(description="The outputs; of a large one its size and its file.")]


class StartedRun(TypedDict):
    """A run that has begun."""

    run_id: str
    workflow: str
    nodes: int


@with_config(ConfigDict(extra="allow"))
class RunRequest(TypedDict):
    """What a process of `pflow.api.run_worker` is to run. Requests of other versions can have more keys."""

    name: str
    inputs: NotRequired[JsonObject | None]
    fresh: NotRequired[bool]
    actor: NotRequired[Mapping[str, Json]]
    run_id: NotRequired[Annotated[str, Field(description="In the console: the id of the run that waits.")]]
    person: NotRequired[Annotated[str, Field(description="Of earlier versions: the name of the actor.")]]


class RunStarter(TypedDict):
    """Who started a run, as claimed: a person in the console or a terminal, a schedule, or the client of an agent."""

    door: Literal["console", "terminal", "schedule", "mcp"]
    name: str


class QuestionAnswer(TypedDict):
    """The decision about the question that a run waits for."""

    action: str
    note: str | None
    door: Annotated[
        str | None,
        Field(description="The interface of the decision: `console`, `terminal`, `client` or `agent`."),
    ]
    decided_by: Annotated[str | None, Field(description="The name that the decider claimed.")]


class RunSummary(TypedDict):
    """A run in the log."""

    id: str
    workflow: str
    source: str
    file: NotRequired[Annotated[str, Field(description="At the command line: the path of a workflow in a file.")]]
    status: RunStatus
    started_at: str
    ended_at: str | None
    duration_ms: float | None
    failed_node: str | None
    error: RunError | None
    reused: int | None
    resumed_from: str | None
    inputs: Annotated[
        JsonObject | None,
        Field(description="The inputs, with secrets masked; of long inputs `characters` and `beginning`."),
    ]
    outputs: Annotated[
        JsonObject | None, Field(description="The outputs; instead of a large value its size in `bytes`.")
    ]
    warnings: list[str]
    starter: NotRequired[
        Annotated[
            RunStarter,
            Field(
                description="The interface and the name of who started the run; absent for a run of an earlier version "
                "or of a program."
            ),
        ]
    ]
    actor: Annotated[
        ActorFields | None, Field(description="Who started the run; None for a run of an earlier version.")
    ]
    cancelled_by: NotRequired[
        Annotated[
            ActorFields,
            Field(description="Who requested that the run is cancelled; absent if nobody did, and in lists."),
        ]
    ]
    resumed_by: NotRequired[
        Annotated[ActorFields, Field(description="Whose decision resumed the run; absent if nobody did, and in lists.")]
    ]
    question_state: NotRequired[
        Annotated[
            QuestionState | None,
            Field(
                description="In the console: the state of the question that the run waits for; None if the run does "
                "not wait, or the question was deleted."
            ),
        ]
    ]
    question_answer: NotRequired[
        Annotated[
            QuestionAnswer | None,
            Field(description="In the console: how the question that the run waits for was decided."),
        ]
    ]


class RunList(TypedDict):
    """The last runs."""

    runs: list[RunSummary]
    next: Annotated[str | None, Field(description="The value of `before` for the next page.")]


class NodeResult(TypedDict):
    """How a node of a run ended. `seq` is its position in the order of the ends."""

    seq: int
    node: str
    type: str
    status: NodeStatus
    action: str | None
    started_at: str | None
    duration_ms: float | None
    error: RunError | None
    note: Annotated[str | None, Field(description="Why an earlier result was not reused.")]
    failed_items: NotRequired[
        Annotated[int | None, Field(description="How many items of a batch failed, in the progress of a run.")]
    ]


class RunNode(NodeResult):
    """A node of a run that has ended, with its values."""

    params: NotRequired[
        Annotated[
            Json,
            Field(
                description="The parameters as the workflow has them, with templates. Secrets are masked; large values "
                "are sizes."
            ),
        ]
    ]
    outputs: NotRequired[
        Annotated[Json, Field(description="The outputs. Secrets are masked; large values are sizes in `bytes`.")]
    ]
    inputs: NotRequired[
        Annotated[
            Json,
            Field(
                description="The values of the parameters, if they differ from `params`. Secrets are masked; large "
                "values are sizes."
            ),
        ]
    ]
    messages: NotRequired[Annotated[list[str], Field(description="The last messages of the node.")]]


class RunDetails(RunSummary):
    """A run with its nodes."""

    nodes: list[RunNode]


class ActiveNode(TypedDict):
    """A node that runs now, or has just ended; of a batch with the number of its items, and of those that ended."""

    node: str
    status: NodeStatus
    at: str
    duration_ms: NotRequired[float | None]
    items: NotRequired[int]
    items_done: NotRequired[int]
    messages: NotRequired[Annotated[int, Field(description="The number of messages so far.")]]


class WorkflowNode(TypedDict):
    """A node of a workflow."""

    id: str
    type: str
    purpose: str
    is_batch: bool


WorkflowEdge = TypedDict("WorkflowEdge", {"from": str, "to": str, "action": str})
WorkflowEdge.__doc__ = "An edge of a workflow: after `from`, if it ends with `action`, comes `to`."


class RunGraph(TypedDict):
    """The nodes and edges of a run."""

    nodes: list[WorkflowNode]
    edges: list[WorkflowEdge]


class LoggedProgress(TypedDict):
    """A run in the log, its graph, and nodes that have ended."""

    run: RunSummary
    graph: RunGraph | None
    nodes: list[NodeResult]
    next: Annotated[int | None, Field(description="The value of `after` for the next page of nodes.")]


class WatchedProgress(LoggedProgress):
    """A run, its graph, nodes that have ended, and nodes that run now."""

    is_present_graph: Annotated[
        bool,
        Field(description="Whether the graph is that of the workflow as it is now: the log has no graph of the run."),
    ]
    active: list[ActiveNode]


class ValueDifference(TypedDict):
    """A value that differs. A run without the value does not have its key."""

    name: str
    first: NotRequired[Json]
    second: NotRequired[Json]


class NodeEnding(TypedDict):
    """How a node ended in one run."""

    status: NodeStatus
    action: str | None
    duration_ms: float | None


class NodeDifference(TypedDict):
    """A node in two runs."""

    node: str
    type: str
    first: NodeEnding | None
    second: NodeEnding | None
    differs: Annotated[
        bool, Field(description="Whether the node did something else; durations and reuse do not count.")
    ]


class RunComparison(TypedDict):
    """The differences of two runs."""

    first: RunSummary
    second: RunSummary
    inputs: list[ValueDifference]
    outputs: list[ValueDifference]
    nodes: list[NodeDifference]


class CancelledRun(TypedDict):
    """A run whose process was asked to cancel it."""

    run_id: str
    status: Literal["cancelling"]


class RunItem(TypedDict):
    """How an item of a batch ended. `item` is its index."""

    item: int
    status: NodeStatus
    duration_ms: float | None
    error: RunError | None
    value: Annotated[
        Json,
        Field(
            description="The item itself; instead of a large value its size in `bytes`. None if the batch is too large "
            "to store it."
        ),
    ]
    outputs: Annotated[
        Json, Field(description="The outputs. Secrets are masked; instead of large outputs their size in `bytes`.")
    ]


class RunItemPage(TypedDict):
    """Items of a batch that have ended, in their order."""

    items: list[RunItem]
    next: Annotated[int | None, Field(description="The value of `after` for the next page.")]
    counts: Annotated[dict[str, int], Field(description="The number of items with each status.")]


class NodeMessages(TypedDict):
    """The last messages of a node that runs."""

    messages: list[str]


class RunChange(ChangeFields):
    """A run began or ended. `subject` is the id of the run."""

    kind: Literal["run"]
    workflow: NotRequired[str]
    status: NotRequired[RunStatus]


class NodeChange(ChangeFields):
    """A node of a run began or ended. `subject` is the id of the run."""

    kind: Literal["node"]
    node: NotRequired[str]
    status: NotRequired[NodeStatus]
    duration_ms: NotRequired[float]
    items: NotRequired[Annotated[int, Field(description="The number of items of a batch.")]]
    items_done: NotRequired[int]
    messages: NotRequired[Annotated[int, Field(description="The number of messages so far.")]]


class WorkflowChange(ChangeFields):
    """The file of a workflow was written or deleted. `subject` is the name of the workflow."""

    kind: Literal["workflow"]
    source: NotRequired[Literal["library", "draft"]]
    deleted: NotRequired[bool]
