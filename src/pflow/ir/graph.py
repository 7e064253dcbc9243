"""The shape of a workflow: who follows whom, what is reached, and what came before. Pure."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from pflow.ir.model import Edge, Workflow


@dataclass(frozen=True)
class Graph:
    """Edges by the node they leave and by the node they enter."""

    start: str
    leaving: Mapping[str, tuple[Edge, ...]]
    entering: Mapping[str, tuple[Edge, ...]]

    @classmethod
    def of(cls, workflow: Workflow) -> "Graph":
        leaving: dict[str, list[Edge]] = {node: [] for node in workflow.nodes}
        entering: dict[str, list[Edge]] = {node: [] for node in workflow.nodes}
        for edge in workflow.edges:
            leaving[edge.source].append(edge)
            entering[edge.target].append(edge)
        return cls(
            workflow.start,
            {node: tuple(edges) for node, edges in leaving.items()},
            {node: tuple(edges) for node, edges in entering.items()},
        )

    def reached(self) -> set[str]:
        """The nodes that a way leads to from the start."""
        seen = {self.start}
        waiting = deque(seen)
        while waiting:
            for edge in self.leaving[waiting.popleft()]:
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return seen

    def order(self) -> list[str]:
        """All nodes, each after those it follows; those in a circle, and behind one, are left out."""
        open_edges = {node: len(edges) for node, edges in self.entering.items()}
        ready = deque(node for node, count in open_edges.items() if count == 0)
        ordered: list[str] = []
        while ready:
            node = ready.popleft()
            ordered.append(node)
            for edge in self.leaving[node]:
                open_edges[edge.target] -= 1
                if open_edges[edge.target] == 0:
                    ready.append(edge.target)
        return ordered

    def circle(self) -> list[str]:
        """The nodes of one circle, in order; none if there is none."""
        inside = set(self.leaving) - set(self.order())
        if not inside:
            return []
        # Each node in or behind a circle has one of them before it: going back must come round.
        way: list[str] = [min(inside)]
        places = {way[0]: 0}
        while True:
            before = next(edge.source for edge in self.entering[way[-1]] if edge.source in inside)
            if before in places:
                return way[places[before] :][::-1]
            places[before] = len(way)
            way.append(before)

    def ancestors(self) -> dict[str, int]:
        """The nodes from which a way leads to each node, as a number with one bit for each, by its place in `order`."""
        ordered = self.order()
        bits = {node: 1 << place for place, node in enumerate(ordered)}
        above: dict[str, int] = {}
        for node in ordered:
            mask = 0
            for edge in self.entering[node]:
                mask |= above[edge.source] | bits[edge.source]
            above[node] = mask
        return above
