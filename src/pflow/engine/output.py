"""The output of a run: the protocol for showing its progress on a terminal or to a client."""

import time
from typing import Literal, Protocol

NodeStatus = Literal["completed", "reused", "failed", "waiting", "skipped", "uncertain"]
"""How a node ended. `waiting`: a person has to decide first. `uncertain`: it was interrupted and may have had its
effect."""


class Output(Protocol):
    """Receives the events of a run; `node_reported` also from the threads of nodes. No method raises."""

    def run_started(self, name: str, run_id: str, nodes: int) -> None: ...

    def node_started(self, node_id: str, type: str) -> None: ...  # noqa: A002 - the name of the key in workflows

    def node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        """Receive the end of a node, also of one that never started because it was reused or skipped."""
        ...

    def node_reported(self, node_id: str, text: str) -> None: ...

    def run_finished(self, success: bool, duration_ms: float) -> None: ...


class NullOutput:
    """An output that shows nothing."""

    def run_started(self, name: str, run_id: str, nodes: int) -> None:
        pass

    def node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - the name of the key in workflows
        pass

    def node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        pass

    def node_reported(self, node_id: str, text: str) -> None:
        pass

    def run_finished(self, success: bool, duration_ms: float) -> None:
        pass


def elapsed_ms(since: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter`."""
    return round((time.perf_counter() - since) * 1000, 3)
