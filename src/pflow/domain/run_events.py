"""The events of a run or a dry run, with the results of its steps, and the protocols of those that follow them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pflow.errors import ApprovalRequired, PflowError

if TYPE_CHECKING:
    from pflow.domain.ir.graph import Graph
    from pflow.domain.ir.model import Node
    from uraniborg.kernel.errors import UraniborgError
    from uraniborg.kernel.json_values import Json, JsonObject


NodeStatus = Literal["completed", "reused", "failed", "waiting", "skipped", "uncertain"]
"""How a node ended. `waiting`: a person has to decide first. `uncertain`: it was interrupted and may have had its
effect."""


class ProgressOutput(Protocol):
    """Receives the events of a run; `on_node_message` also from the threads of nodes. No method raises."""

    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        """Receive the start of a run with so many nodes."""

    def on_node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - the name of the key in workflows
        """Receive the start of a node."""

    def on_node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        """Receive the end of a node, also of one that never started because it was reused or skipped."""

    def on_node_message(self, node_id: str, text: str) -> None:
        """Receive a message of a node that runs."""

    def on_run_finished(self, success: bool, duration_ms: float) -> None:
        """Receive the end of a run."""


class NullOutput(ProgressOutput):
    """An output that shows nothing."""


class StepResult(NamedTuple):
    """The result of a step, new or reused. In a dry run, None stands for a value that is not known."""

    outputs: "JsonObject | None"
    action: str | None
    is_reused: bool = False
    not_reused_reason: str = ""
    effect_run_id: str | None = ""
    """The id of the run in which the node had its effect; empty for a pure node."""
    masked_outputs: "JsonObject | None" = None
    """The outputs for the log of runs if they contain a secret: one in bytes cannot be found in their JSON."""


class NodeEnd(NamedTuple):
    """How a node ended. `key` is its id with the ids of the nodes that it is nested in."""

    key: str
    node: "Node"
    status: NodeStatus
    step: "StepResult | None"
    """None if the node failed or was interrupted."""
    duration_ms: float
    error: PflowError | None = None
    waits_for: Sequence[str] = ()
    """The values that are not known before the run, and that the node needs: only in a dry run."""
    params: "Mapping[str, Json] | None" = None
    """The values of the parameters; None for a batch, and if they could not be resolved."""


class ItemEnd(NamedTuple):
    """How an item of a batch ended. `key` is that of the batch."""

    key: str
    position: int
    item: "Json"
    step: "StepResult | None"
    """None if the item failed or was interrupted."""
    duration_ms: float
    error: "UraniborgError | None" = None

    @property
    def status(self) -> NodeStatus:
        if self.step is not None:
            return "reused" if self.step.is_reused else "completed"
        if self.error is None:
            return "uncertain"
        return "waiting" if isinstance(self.error, ApprovalRequired) else "failed"


class WalkListener:
    """Receives the events of a walk, and ignores those that a subclass does not handle."""

    def on_graph_started(self, key_prefix: str, graph: "Graph") -> None:
        """Handle the start of a workflow. The keys of its nodes begin with `key_prefix`, empty if it is not nested."""

    def on_node_started(self, key: str, node: "Node", deciding_nodes: Sequence[str]) -> None:
        """Handle the start of a node. `deciding_nodes` decide whether it is reached, if that is not known yet."""

    def on_message(self, key: str, text: str) -> None:
        """Handle a message of a node or an item, which may come from another thread."""

    def on_item_ended(self, end: ItemEnd, item_count: int, done_count: int) -> None:
        """Handle the end of an item of a batch with `item_count` items, of which `done_count` have ended."""

    def on_batch_ended(self, key: str, item_count: int, reused_count: int, problem: str) -> None:
        """Handle the end of a batch. `problem` is the first failure of an item, or empty."""

    def on_node_ended(self, end: NodeEnd) -> None:
        """Handle the end of a node."""

    def on_node_skipped(self, key: str, node: "Node") -> None:
        """Handle a node that the walk does not reach."""
