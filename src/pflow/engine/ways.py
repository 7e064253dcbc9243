"""Which nodes of a workflow a run of it will reach, as far as it is known how those before them end."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pflow.engine import worlds
from pflow.ir.graph import Graph
from pflow.ir.model import ERROR_ACTION, Edge, Workflow
from pflow.ir.template_uses import NESTED
from pflow.registry.interface import Interface


class End(NamedTuple):
    """How a node will end. None stands for what is not known."""

    action: str | None = None
    outputs: dict[str, Any] | None = None
    ran: str | None = None
    """As that of a step: the run in which it has its effect, and nothing if it has none."""
    is_reused: bool = False


class Ways:
    """Nodes are added one by one, each after those that it follows; those that are skipped are not."""

    def __init__(self, workflow: Workflow, interfaces: Mapping[str, Interface], world: str) -> None:
        self.graph = Graph.of(workflow)
        self.ends: dict[str, End] = {}
        self.unknown: set[str] = set()
        """Nodes of which it is not known what they give, or whether they are reached to give it."""
        self._nodes = workflow.nodes
        self._interfaces = interfaces
        self._sure: set[str] = set()
        """Those that are reached however others end, unless all ends before."""
        self._world = world
        self._worlds: dict[str, str | None] = {}

    def is_skipped(self, name: str) -> bool:
        """Whether no way leads to it, however those end of which that is not known."""
        entering = self.graph.entering[name]
        return bool(entering) and not any(map(self._may_be_taken, entering))

    def deciders(self, name: str) -> list[str]:
        """The nodes by which it is decided whether it is reached; none if that is sure."""
        entering = self.graph.entering[name]
        if any(map(self._is_surely_taken, entering)):
            return []
        return [edge.source for edge in entering if self._may_be_taken(edge)]

    def add(self, name: str, key: str, end: End, before: str | None) -> None:
        """`key` is what it is called in the checkpoint, `before` the world as it finds it."""
        if not self.deciders(name):
            self._sure.add(name)
        self.ends[name] = end
        if end.outputs is None or name not in self._sure:
            self.unknown.add(name)
        is_known = before is not None and end.ran is not None and name in self._sure
        self._worlds[name] = worlds.after(before or "", key, end.ran or "") if is_known else None

    def failing(self) -> str | None:
        """A node that is sure to fail, after which all ends."""
        failed = (name for name in self._sure if self.ends[name].action == ERROR_ACTION)
        return next((name for name in failed if not self._follows_errors(name)), None)

    def world_before(self, name: str) -> str | None:
        """The world as a node finds it, None if that is not known."""
        return self._joined(self._worlds[edge.source] for edge in self.graph.entering[name] if edge.source in self.ends)

    def world_after(self) -> str | None:
        return self._joined(self._worlds.values())

    def _joined(self, all_worlds: Iterable[str | None]) -> str | None:
        before = list(all_worlds)
        known = [one for one in before if one is not None]
        return (worlds.joined(known) or self._world) if len(known) == len(before) else None

    def _may_be_taken(self, edge: Edge) -> bool:
        end = self.ends.get(edge.source)
        return end is not None and end.action in (None, edge.action)

    def _is_surely_taken(self, edge: Edge) -> bool:
        if edge.source not in self._sure:
            return False
        action = self.ends[edge.source].action
        if action is not None:
            return action == edge.action
        # One that fails with nothing to follow that ends the run, and what would come after is no question.
        return not self._follows_errors(edge.source) and self._answers(edge.source) == {edge.action}

    def _follows_errors(self, name: str) -> bool:
        return any(edge.action == ERROR_ACTION for edge in self.graph.leaving[name])

    def _answers(self, name: str) -> set[str]:
        """The actions with which it may end well; none if there is no telling."""
        node = self._nodes[name]
        interface = self._interfaces[node.type]
        if node.batch is not None or node.type == NESTED:
            return {"default"}
        return set() if interface.open_actions else {*interface.actions} - {ERROR_ACTION}
