"""The graph of a workflow: order, cycles, ancestors, and the schedule that decides which nodes may start. Pure."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pflow.domain.ir.model import ERROR_ACTION, Edge, Workflow
from pflow.errors import InvalidWorkflow
from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from pflow.service.run_replies import RunGraph


@dataclass(frozen=True)
class Graph:
    """Edges by the node they leave and by the node they enter."""

    start: str
    leaving: Mapping[str, tuple[Edge, ...]]
    entering: Mapping[str, tuple[Edge, ...]]

    @classmethod
    def from_workflow(cls, workflow: Workflow) -> "Graph":
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

    def find_reachable(self) -> set[str]:
        """Return the nodes that can be reached from the start."""
        seen = {self.start}
        waiting = deque(seen)
        while waiting:
            for edge in self.leaving[waiting.popleft()]:
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return seen

    def sort_acyclic_nodes(self) -> list[str]:
        """Return the nodes, each after its predecessors, without those in a cycle or after one."""
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

    def find_cycles(self) -> Iterator[list[str]]:
        """Yield cycles that do not share a node, each as its nodes in order, until no cycle is left."""
        candidates = dict.fromkeys(self.leaving)
        for node in self.sort_acyclic_nodes():
            del candidates[node]
        while candidates:
            circle = self._find_cycle(candidates)
            yield circle
            for node in circle:
                del candidates[node]
            self._remove_nodes_without_predecessor(candidates)

    def _find_cycle(self, candidates: Mapping[str, None]) -> list[str]:
        # Each node has a predecessor among them, so walking back reaches a node twice.
        path = [next(iter(candidates))]
        indexes = {path[0]: 0}
        while True:
            before = next(edge.source for edge in self.entering[path[-1]] if edge.source in candidates)
            if before in indexes:
                return path[indexes[before] :][::-1]
            indexes[before] = len(path)
            path.append(before)

    def _remove_nodes_without_predecessor(self, candidates: dict[str, None]) -> None:
        """Remove nodes until each candidate has a predecessor among the candidates."""
        before = {node: sum(edge.source in candidates for edge in self.entering[node]) for node in candidates}
        ready = deque(node for node, count in before.items() if count == 0)
        while ready:
            node = ready.popleft()
            del candidates[node]
            for edge in self.leaving[node]:
                if edge.target in candidates:
                    before[edge.target] -= 1
                    if before[edge.target] == 0:
                        ready.append(edge.target)

    def compute_ancestor_masks(self) -> dict[str, int]:
        """Return the ancestors of each node as a bit mask; the bits follow the order of `sort_acyclic_nodes`."""
        ordered = self.sort_acyclic_nodes()
        bits = {node: 1 << place for place, node in enumerate(ordered)}
        above: dict[str, int] = {}
        for node in ordered:
            mask = 0
            for edge in self.entering[node]:
                mask |= above[edge.source] | bits[edge.source]
            above[node] = mask
        return above


def extract_node_with_ancestors(workflow: Workflow, node: str) -> Workflow:
    """Return the part of a workflow that a node needs: the node and its ancestors. Raise InvalidWorkflow."""
    if node not in workflow.nodes:
        nearest = find_nearest_name(node, workflow.nodes)
        raise InvalidWorkflow(
            f"There is no node '{node}' in this workflow.",
            hint=f"Did you mean '{nearest}'?" if nearest else f"There are: {', '.join(list(workflow.nodes)[:20])}.",
        )
    graph = Graph.from_workflow(workflow)
    order = graph.sort_acyclic_nodes()
    above = graph.compute_ancestor_masks()[node]
    needed = {one for place, one in enumerate(order) if above >> place & 1} | {node}
    return replace(
        workflow,
        nodes={name: one for name, one in workflow.nodes.items() if name in needed},
        edges=tuple(edge for edge in workflow.edges if edge.source in needed and edge.target in needed),
        outputs={},
    )


def describe_graph(workflow: Workflow) -> "RunGraph":
    """Return the nodes and edges of a workflow, for drawing."""
    return {
        "nodes": [
            {"id": node.id, "type": node.type, "purpose": node.purpose, "is_batch": node.batch is not None}
            for node in workflow.nodes.values()
        ],
        "edges": [{"from": edge.source, "to": edge.target, "action": edge.action} for edge in workflow.edges],
    }


ListSuccessActions = Callable[[str], set[str]]
"""Return the actions with which a node may end without failing; none if they are not known."""


class NodeSchedule:
    """The state of the edges of one workflow.

    An edge is settled when its node has ended: taken, dead, or, if the action of the node is not known, open. A node
    whose edges are all settled is ready if one of them is taken or open. Otherwise it is skipped and its own edges are
    dead. Actions that are not known occur in dry runs only.
    """

    def __init__(
        self, workflow: Workflow, graph: Graph | None = None, list_success_actions: ListSuccessActions = lambda _: set()
    ) -> None:
        self._graph = graph or Graph.from_workflow(workflow)
        self._unsettled = {node: len(edges) for node, edges in self._graph.entering.items()}
        self._taken: set[str] = set()
        """Nodes that an edge leads to which is taken."""
        self._open: dict[str, set[str]] = {}
        """For each node that an open edge leads to, the nodes which such edges leave."""
        self._list_success_actions = list_success_actions
        self.skipped: list[str] = []
        self.deciding_nodes: dict[str, list[str]] = {}
        """For each ready node that may not be reached, the nodes that decide whether it is."""

    @property
    def start_node(self) -> str:
        """The id of the first node."""
        return self._graph.start

    def end_node_and_list_ready(self, node: str, action: str | None) -> list[str]:
        """Settle the edges of a node that ended with `action`, None if not known, and return the nodes that are ready.

        An error that no edge follows ends a run, so what happens after it is of no interest here.
        """
        ready: list[str] = []
        dead: deque[str] = deque()
        is_certain = action is not None and node not in self.deciding_nodes
        for edge in self._graph.leaving[node]:
            if not is_certain and self._is_edge_uncertain(node, edge.action, action):
                self._open.setdefault(edge.target, set()).add(node)
                self._settle_edge(edge.target, False, ready, dead)
            else:
                self._settle_edge(edge.target, action is None or edge.action == action, ready, dead)
        while dead:
            skipped = dead.popleft()
            self.skipped.append(skipped)
            for edge in self._graph.leaving[skipped]:
                self._settle_edge(edge.target, False, ready, dead)
        return ready

    def has_edge(self, node: str, action: str) -> bool:
        return any(edge.action == action for edge in self._graph.leaving[node])

    def iter_edge_actions(self, node: str) -> Iterator[str]:
        return (edge.action for edge in self._graph.leaving[node])

    def _is_edge_uncertain(self, node: str, edge_action: str, node_action: str | None) -> bool:
        """Return True if it is not known whether the edge is taken."""
        if node_action is not None:
            return edge_action == node_action
        if node in self.deciding_nodes or self.has_edge(node, ERROR_ACTION):
            return True
        return self._list_success_actions(node) != {edge_action}

    def _settle_edge(self, target: str, is_taken: bool, ready: list[str], dead: deque[str]) -> None:
        self._unsettled[target] -= 1
        if is_taken:
            self._taken.add(target)
        if self._unsettled[target] == 0:
            if target in self._taken:
                ready.append(target)
            elif target in self._open:
                sources = (edge.source for edge in self._graph.entering[target])
                self.deciding_nodes[target] = list(dict.fromkeys(one for one in sources if one in self._open[target]))
                ready.append(target)
            else:
                dead.append(target)
