"""Tell terminal, client, log and change feed how a run progresses."""

from typing import Literal, Protocol

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
