"""The one checker: everything that can be known to be wrong before anything runs, told at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, Protocol, cast

from pflow.ir.action_checks import check_actions
from pflow.ir.code_templates import check_command
from pflow.ir.constant_checks import Constants
from pflow.ir.diagnostics import Diagnostic, error, nearest, warning
from pflow.ir.foreign_syntax import check_foreign_syntax
from pflow.ir.graph import Graph
from pflow.ir.model import Edge, Node, Workflow
from pflow.ir.param_checks import check_params
from pflow.ir.parser import edge_places_of, places_of, read_workflow
from pflow.ir.reference_checks import check_references
from pflow.ir.template_uses import NESTED, is_template, variables_of
from pflow.registry.interface import Interface
from uraniborg.kernel.errors import UraniborgError

MOST_NESTED: Final = 10
_NAMED: Final = 12
_LISTED_TYPES: Final = 20
_NEAR_TYPES: Final = 5
_SEARCHED_TYPES: Final = 20
"""How many unknown types of one workflow are searched by meaning: each takes a search of the whole registry."""
_TOOL: Final = "mcp-"
_TOOLS: Final = (
    "Tools of MCP servers are nodes `mcp-SERVER-TOOL` once `pflow mcp add SERVER` has written the server down and "
    "`pflow mcp sync` has asked it for them; `pflow mcp list` shows the servers."
)

Loader = Callable[[str], Any]
"""Gives the document of another workflow, by its name. Raises a kernel error if there is none."""


class Interfaces(Protocol):
    """What the checker asks of a registry."""

    def get(self, type: str, /) -> Interface | None: ...  # noqa: A002 - what it is called everywhere

    def types(self) -> list[str]: ...

    def similar(self, type: str, /) -> list[str]:  # noqa: A002 - what it is called everywhere
        """Return the types whose name or purpose is like that of `type`, the nearest first."""
        ...


@dataclass(frozen=True)
class Checked:
    """A workflow and all that there is to say of it. `workflow` is None if it cannot even be drawn."""

    workflow: Workflow | None
    diagnostics: list[Diagnostic]

    @property
    def errors(self) -> list[Diagnostic]:
        return [one for one in self.diagnostics if one.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [one for one in self.diagnostics if one.severity == "warning"]


class _Edges:
    """Where in the file edges are. Most files are never asked."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    @cached_property
    def places(self) -> dict[Edge, int]:
        return edge_places_of(self._document)

    def index_of(self, edge: Edge) -> int:
        return self.places[edge]


def check(document: Any, interfaces: Interfaces, *, load: Loader | None = None) -> Checked:
    """Check a workflow as it was read from its file. `load` finds the workflows that it runs."""
    return _Checker(interfaces, load).check(document)


class _Checker:
    """Checks a workflow and those that it runs: each of these once, however many run it."""

    def __init__(self, interfaces: Interfaces, load: Loader | None) -> None:
        self._interfaces = interfaces
        self._load = load
        self._types: list[str] | None = None
        self._near: dict[str, tuple[str | None, list[str]]] = {}
        self._open: list[str] = []
        self._heights: dict[str, int] = {}
        """How many levels of workflows there are from one that was checked, itself included."""
        self._checked: dict[str, Checked] = {}
        self._missing: dict[str, UraniborgError] = {}
        self._deepest = 0

    def check(self, document: Any, depth: int = 0) -> Checked:
        self._deepest = max(self._deepest, depth)
        workflow, found = read_workflow(document)
        if workflow is None:
            return Checked(None, found)
        graph = Graph.of(workflow)
        places = places_of(document)
        edges = _Edges(document)
        found += _check_shape(workflow, graph, places, edges)
        known = {kind: self._interfaces.get(kind) for kind in {node.type for node in workflow.nodes.values()}}
        constants = Constants()
        for node in workflow.nodes.values():
            path = f"nodes[{places[node.id]}]"
            if (interface := known[node.type]) is None:
                found += self._unknown_type(node, path)
                continue
            found += check_params(node, interface, path)
            found += check_command(node, path)
            found += constants.check(node, interface, path)
            found += check_actions(node, interface, graph.leaving[node.id], edges.index_of)
            if node.type == NESTED:
                found += self._check_nested(node, path, depth)
        found += check_references(workflow, graph, places, known)
        found += check_foreign_syntax(workflow, places, known)
        return Checked(workflow, found)

    def _unknown_type(self, node: Node, path: str) -> list[Diagnostic]:
        if not (kind := node.type[:80]):  # that there is none was told when it was read
            return []
        if self._types is None:
            self._types = self._interfaces.types()
        if kind not in self._near:
            self._near[kind] = self._nearest_types(kind, self._types)
        meant, near = self._near[kind]
        listed = near or self._types[:_LISTED_TYPES]
        others = len(self._types) - len(listed)
        hint = f"`browse_components`, or `pflow browse`, lists all {len(self._types):,} node types."
        if near:
            hint = f"Nearest: {', '.join(near)}. `browse_components`, or `pflow browse`, lists {others:,} more."
        return [
            error(
                "unknown_type",
                f"{path}.type",
                f"There is no node type '{kind}'.",
                hint=_TOOLS if kind.startswith(_TOOL) else hint,
                available=tuple(listed),
                more_available=others,
                nearest=meant,
                example=meant,
                node=node.id,
            )
        ]

    def _nearest_types(self, kind: str, types: list[str]) -> tuple[str | None, list[str]]:
        """Return the type that was probably meant, and up to five that are near by spelling or by meaning."""
        spelt = nearest(kind, types)
        similar = self._interfaces.similar(kind) if len(self._near) < _SEARCHED_TYPES else []
        near = [*([spelt] if spelt else []), *(one for one in similar if one != spelt)][:_NEAR_TYPES]
        meant = spelt if spelt or kind.startswith(_TOOL) else next(iter(near), None)
        return meant, near

    def _check_nested(self, node: Node, path: str, depth: int) -> list[Diagnostic]:
        """A workflow within is checked as if it were run alone."""
        if (refused := _check_whole(node, path)) is not None:
            return [refused]
        ways = [key for key in ("workflow_name", "workflow_ref", "workflow_ir") if node.params.get(key) is not None]
        if len(ways) != 1:
            message = "Exactly one of `workflow_name`, `workflow_ref` and `workflow_ir` says what is run."
            example = {"workflow_name": "greeter", "inputs": {"who": "world"}}
            return [error("bad_nested", f"{path}.params", message, example=example, node=node.id)]
        path = f"{path}.params.{ways[0]}"
        given: Any = node.params[ways[0]]
        if ways[0] != "workflow_ir":
            is_known = self._load is not None and isinstance(given, str) and not is_template(given)
            return self._check_named(node, path, given, depth) if is_known else []
        if depth >= MOST_NESTED:
            return [_too_deep(node, path)]
        inner = self.check(given, depth + 1)
        return [*_within(node, path, inner), *_check_given(node, path, inner)]

    def _check_named(self, node: Node, path: str, name: str, depth: int) -> list[Diagnostic]:
        if name in self._open:
            shown = " → ".join([*self._open[self._open.index(name) :], name])
            return [error("nested_circle", path, f"Workflows run each other in a circle: {shown}.", node=node.id)]
        if depth + self._heights.get(name, 1) > MOST_NESTED:
            return [_too_deep(node, path)]
        if name in self._heights:
            self._deepest = max(self._deepest, depth + self._heights[name])
            return _check_given(node, path, self._checked[name])
        try:
            document = self._loaded(name)
        except UraniborgError as exc:
            available = tuple(cast("list[str]", exc.ids.get("available", [])))
            more = {"hint": exc.hint, "available": available, "nearest": nearest(name, available), "node": node.id}
            return [error("nested_not_found", path, exc.message, **more)]
        self._open.append(name)
        deepest, self._deepest = self._deepest, depth + 1
        inner = self.check(document, depth + 1)
        self._heights[name] = self._deepest - depth
        self._checked[name] = inner
        self._deepest = max(deepest, self._deepest)
        self._open.pop()
        return [*_within(node, path, inner), *_check_given(node, path, inner)]

    def _loaded(self, name: str) -> Any:
        assert self._load is not None
        if name in self._missing:
            raise self._missing[name]
        try:
            return self._load(name)
        except UraniborgError as exc:
            self._missing[name] = exc
            raise


def _check_whole(node: Node, path: str) -> Diagnostic | None:
    """A workflow within is not tried again as a whole: what it did would be done again, too."""
    is_tried_again = node.retry is not None or (node.batch is not None and node.batch.retry.attempts > 1)
    if not is_tried_again and node.reuse:
        return None
    what = "`retry`" if is_tried_again else '`"resume": "never"`'
    message = f"{what} is for single nodes, not for a workflow as a whole."
    hint = "Give it to the nodes of that workflow that need it."
    return error("bad_retry" if is_tried_again else "bad_resume", path, message, hint=hint, node=node.id)


def _too_deep(node: Node, path: str) -> Diagnostic:
    return error("nested_too_deep", path, f"Workflows run each other more than {MOST_NESTED} deep.", node=node.id)


def _within(node: Node, path: str, inner: Checked) -> list[Diagnostic]:
    """What is wrong with a workflow, as told of the node that runs it."""
    return [
        replace(one, path=f"{path}/{one.path}", message=f"In '{node.id}': {one.message}", node=node.id)
        for one in inner.errors
    ]


def _check_given(node: Node, path: str, inner: Checked) -> list[Diagnostic]:
    """Whether a workflow within is given what it needs."""
    given: Any = node.params.get("inputs") or node.params.get("param_mapping") or {}
    if inner.workflow is None or not isinstance(given, dict):
        return []
    named = cast("dict[str, Any]", given)
    place = f"{path.rpartition('.')[0]}.inputs"
    inputs = inner.workflow.inputs
    missing = [one.name for one in inputs.values() if one.required and one.name not in named and not one.secret]
    found = [
        error(
            "missing_nested_input",
            f"{place}.{name}",
            f"The workflow that '{node.id}' runs needs the input '{name}'.",
            available=tuple(inputs),
            example={"inputs": {name: f"${{{name}}}"}},
            node=node.id,
        )
        for name in missing
    ]
    known = {*inputs, *(one["name"] for one in variables_of(inner.workflow))}
    for name in named:
        if name not in known:
            message = f"Nothing in the workflow that '{node.id}' runs uses the input '{name[:80]}'."
            more = {"available": tuple(inputs), "nearest": nearest(name, inputs), "node": node.id}
            found.append(warning("unknown_nested_input", f"{place}.{name[:80]}", message, **more))
    return found


def _check_shape(workflow: Workflow, graph: Graph, places: Mapping[str, int], edges: _Edges) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for circle in islice(graph.circles(), _NAMED):
        named = circle if len(circle) <= _NAMED else [*circle[:_NAMED], "…"]
        shown = " → ".join([*named, circle[0]])
        message = f"These nodes wait for each other: {shown}."
        found.append(error("circle", _closing(circle, graph, edges), message, hint="Remove one of these edges."))
    reached = graph.reached()
    unreached = [node for node in workflow.nodes if node not in reached]
    for node in unreached[:_NAMED]:
        path = f"nodes[{places[node]}]"
        message = f"No edge leads to '{node}', so it would never run."
        example = {"from": _before(workflow, node), "to": node}
        hint = "Add an edge to it, or remove it. Edges are never implied by the order of the nodes."
        found.append(error("unreachable_node", path, message, hint=hint, example=example, node=node))
    if len(unreached) > _NAMED:
        found.append(error("unreachable_node", "nodes", f"No edge leads to {len(unreached) - _NAMED:,} more nodes."))
    return found


def _closing(circle: list[str], graph: Graph, edges: _Edges) -> str:
    """The path of the edge of a circle that comes last in the file: the others were there before it."""
    after = dict(zip(circle, [*circle[1:], circle[0]], strict=True))
    ours = (edge for node in circle for edge in graph.leaving[node] if edge.target == after[node])
    return f"edges[{max(edges.places[edge] for edge in ours)}]"


def _before(workflow: Workflow, node: str) -> str:
    """The node after which one was probably meant to run: the one before it in the file."""
    order = list(workflow.nodes)
    place = order.index(node)
    return order[place - 1] if place else workflow.start
