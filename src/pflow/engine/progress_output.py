"""Tell terminal, client, log and change feed how a run progresses."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pflow.errors import ApprovalRequired, PflowError
from uraniborg.kernel.boundary import make_encodable

if TYPE_CHECKING:
    from pflow.engine.runlog_writer import RunLogWriter
    from pflow.engine.steps import StepResult
    from pflow.ir.graph import Graph
    from pflow.ir.model import Node
    from pflow.redaction import Secrets
    from uraniborg.kernel.change_feed import Publisher
    from uraniborg.kernel.errors import UraniborgError
    from uraniborg.kernel.json_values import Json

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


class RunReporter(WalkListener):
    """Passes the events of a run on to its output, its log and the change feed."""

    def __init__(
        self, output: ProgressOutput, log: "RunLogWriter", secrets: "Secrets", feed: "Publisher", run_id: str
    ) -> None:
        self._output, self._log, self._secrets, self._feed, self._run_id = output, log, secrets, feed, run_id
        self._facts: dict[str, dict[str, int]] = {}
        """The facts of nodes that run: an announcement replaces the one before it, which may not be written yet."""
        log.on_messages = lambda key, count: self._announce_facts(key, messages=count)

    def on_node_started(self, key: str, node: "Node", deciding_nodes: Sequence[str]) -> None:
        self._output.on_node_started(key, node.type)
        self._feed.publish("node", self._run_id, node=key, status="running")

    def on_message(self, key: str, text: str) -> None:
        masked = make_encodable(self._secrets.mask(text))
        self._log.record_message(key, masked)
        self._output.on_node_message(key, masked)

    def on_item_ended(self, end: ItemEnd, item_count: int, done_count: int) -> None:
        self._log.record_item(end)
        self._announce_facts(end.key, items=item_count, items_done=done_count)

    def on_node_ended(self, end: NodeEnd) -> None:
        self._facts.pop(end.key, None)
        self._log.record_node(end)
        if end.step is not None:
            note = end.step.not_reused_reason
        else:
            note = self._secrets.mask(end.error.message) if end.error else "interrupted"
        self._output.on_node_finished(end.key, end.status, end.duration_ms, note)
        self._feed.publish("node", self._run_id, node=end.key, status=end.status, duration_ms=end.duration_ms)

    def on_node_skipped(self, key: str, node: "Node") -> None:
        self._output.on_node_finished(key, "skipped", 0)
        self._feed.publish("node", self._run_id, node=key, status="skipped")

    def _announce_facts(self, key: str, **facts: int) -> None:
        known = self._facts.setdefault(key, {})
        known.update(facts)
        self._feed.publish("node", self._run_id, node=key, status="running", **known)


def measure_elapsed_ms(start: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter`."""
    return round((time.perf_counter() - start) * 1000, 3)
