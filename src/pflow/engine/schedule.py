"""Which node may run when. Pure: it is told what ended and how, and answers what may begin."""

from collections import deque
from collections.abc import Iterator

from pflow.ir.graph import Graph
from pflow.ir.model import Workflow


class Schedule:
    """An edge is settled once its node has ended: taken, or dead. A node whose edges are all settled begins if one was
    taken, and else is skipped, and its own edges are dead."""

    def __init__(self, workflow: Workflow, graph: Graph | None = None) -> None:
        self._graph = graph or Graph.from_workflow(workflow)
        self._open = {node: len(edges) for node, edges in self._graph.entering.items()}
        self._taken: set[str] = set()
        self.skipped: list[str] = []

    def begin(self) -> str:
        """The node that begins."""
        return self._graph.start

    def ended(self, node: str, action: str) -> list[str]:
        """The nodes that may begin now that `node` has ended with `action`."""
        ready: list[str] = []
        dead: deque[str] = deque()
        for edge in self._graph.leaving[node]:
            self._settle(edge.target, edge.action == action, ready, dead)
        while dead:
            skipped = dead.popleft()
            self.skipped.append(skipped)
            for edge in self._graph.leaving[skipped]:
                self._settle(edge.target, False, ready, dead)
        return ready

    def has_edge(self, node: str, action: str) -> bool:
        return any(edge.action == action for edge in self._graph.leaving[node])

    def actions(self, node: str) -> Iterator[str]:
        """The actions that an edge leaves the node for."""
        return (edge.action for edge in self._graph.leaving[node])

    def _settle(self, target: str, is_taken: bool, ready: list[str], dead: deque[str]) -> None:
        self._open[target] -= 1
        if is_taken:
            self._taken.add(target)
        if self._open[target] == 0:
            if target in self._taken:
                ready.append(target)
            else:
                dead.append(target)
