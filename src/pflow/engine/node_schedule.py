"""Decide which nodes may start, which are skipped and which may never be reached. Pure."""

from collections import deque
from collections.abc import Callable, Iterator

from pflow.ir.graph import Graph
from pflow.ir.model import ERROR_ACTION, Workflow

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
