"""Whom a run tells how it goes: a terminal, a client, or nobody."""

import time
from typing import Literal, Protocol

NodeStatus = Literal["completed", "reused", "failed", "waiting", "skipped", "uncertain"]
"""How a node ended. `waiting`: a person has to decide first. `uncertain`: it may have had its effect, and was
interrupted before it could say so."""


class Output(Protocol):
    """Told by the engine as things happen; `node_said` also from the threads of nodes. It never raises."""

    def run_started(self, name: str, run_id: str, nodes: int) -> None: ...

    def node_started(self, node_id: str, type: str) -> None: ...  # noqa: A002 - what nodes call it

    def node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        """Also for nodes that never started: those reused and those skipped."""
        ...

    def node_said(self, node_id: str, text: str) -> None: ...

    def run_finished(self, success: bool, duration_ms: float) -> None: ...


class NullOutput:
    """Says nothing, anywhere: for runs whose result is all that is wanted."""

    def run_started(self, name: str, run_id: str, nodes: int) -> None:
        pass

    def node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - what nodes call it
        pass

    def node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        pass

    def node_said(self, node_id: str, text: str) -> None:
        pass

    def run_finished(self, success: bool, duration_ms: float) -> None:
        pass


def now_ms(since: float) -> float:
    """The milliseconds since a moment of `time.perf_counter`."""
    return round((time.perf_counter() - since) * 1000, 3)
