"""The one checker: everything that can be known to be wrong before anything runs, told at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from pflow.ir.coercion import fits
from pflow.ir.diagnostics import Diagnostic, error, nearest, warning
from pflow.ir.graph import Graph
from pflow.ir.model import ERROR_ACTION, Node, Workflow
from pflow.ir.reading import read_workflow
from pflow.ir.references import check_references
from pflow.ir.uses import NESTED
from pflow.registry.interface import Interface

MOST_NESTED: Final = 10
_NAMED: Final = 12

Plain = dict[str, Any]
Loader = Callable[[str], Any]
"""Gives the document of another workflow, by its name. Raises a kernel error if there is none."""


class Interfaces(Protocol):
    """What the checker asks of a registry."""

    def get(self, type: str, /) -> Interface | None: ...  # noqa: A002 - what it is called everywhere

    def types(self) -> list[str]: ...


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


def check(document: Any, interfaces: Interfaces, *, load: Loader | None = None, depth: int = 0) -> Checked:
    """Check a workflow as it was read from its file. `load` finds the workflows that it runs."""
    workflow, found = read_workflow(document)
    if workflow is None:
        return Checked(None, found)
    graph = Graph.of(workflow)
    places = {node: index for index, node in enumerate(workflow.nodes)}
    found += _check_shape(workflow, graph, places)
    known = {kind: interfaces.get(kind) for kind in {node.type for node in workflow.nodes.values()}}
    for node in workflow.nodes.values():
        path = f"nodes[{places[node.id]}]"
        interface = known[node.type]
        if interface is None:
            found.append(_unknown_type(node, path, interfaces))
            continue
        found += _check_params(node, interface, path)
        found += _check_actions(node, interface, graph)
        if node.type == NESTED:
            found += _check_nested(node, path, interfaces, load, depth)
    found += check_references(workflow, graph, places, known)
    return Checked(workflow, found)


def _check_shape(workflow: Workflow, graph: Graph, places: Mapping[str, int]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    if circle := graph.circle():
        shown = " → ".join([*circle[:_NAMED], circle[0]])
        found.append(
            error("circle", "edges", f"These nodes wait for each other: {shown}.", hint="Remove one of these edges.")
        )
    reached = graph.reached()
    unreached = [node for node in workflow.nodes if node not in reached]
    for node in unreached[:_NAMED]:
        path = f"nodes[{places[node]}]"
        message = f"No edge leads to '{node}', so it would never run."
        before = _before(workflow, node, reached)
        example = {"from": before, "to": node}
        hint = "Add an edge to it, or remove it. Edges are never implied by the order of the nodes."
        found.append(error("unreachable_node", path, message, hint=hint, example=example, node=node))
    if len(unreached) > _NAMED:
        found.append(error("unreachable_node", "nodes", f"No edge leads to {len(unreached) - _NAMED} more nodes."))
    return found


def _before(workflow: Workflow, node: str, reached: set[str]) -> str:
    """The node after which one was probably meant to run: the one before it in the file."""
    order = list(workflow.nodes)
    place = order.index(node)
    return next((one for one in reversed(order[:place]) if one in reached or place > 0), workflow.start)


def _unknown_type(node: Node, path: str, interfaces: Interfaces) -> Diagnostic:
    types = interfaces.types()
    meant = nearest(node.type[:80], types)
    return error(
        "unknown_type",
        f"{path}.type",
        f"There is no node type '{node.type[:80]}'.",
        hint="`browse_components`, or `pflow browse`, lists what there is.",
        available=tuple(types[:20]),
        nearest=meant,
        example=meant,
        node=node.id,
    )


def _check_params(node: Node, interface: Interface, path: str) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    example = dict(interface.example) or None
    for param in interface.params.values():
        if param.required and node.params.get(param.key) is None and not _is_private(param.key):
            message = f"'{node.id}' needs the parameter `{param.key}`: {param.description or param.type}"
            found.append(error("missing_param", f"{path}.params.{param.key}", message, example=example, node=node.id))
    for key, value in node.params.items():
        param = interface.params.get(key)
        if param is None:
            if not interface.open_params:
                message = f"The type '{node.type}' has no parameter `{key[:80]}`, so it is ignored."
                known = tuple(interface.params)
                found.append(
                    warning(
                        "unknown_param",
                        f"{path}.params.{key[:80]}",
                        message,
                        available=known,
                        nearest=nearest(key[:80], known),
                        example=example,
                        node=node.id,
                    )
                )
        elif not _is_template(value) and not fits(value, param.type):
            message = f"`{key}` of '{node.id}' is to be {param.type.replace('|', ' or ')}."
            found.append(error("bad_param", f"{path}.params.{key}", message, example=example, node=node.id))
    return found


def _is_private(key: str) -> bool:
    return key.startswith("__")


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and "${" in value


def _check_actions(node: Node, interface: Interface, graph: Graph) -> list[Diagnostic]:
    known = {*interface.actions, ERROR_ACTION}
    unknown = {edge.action for edge in graph.leaving[node.id]} - known
    if interface.open_actions or not unknown or node.batch is not None:
        return []
    message = f"'{node.id}' never answers with {', '.join(sorted(unknown))}; edges for that are never taken."
    return [warning("unknown_action", "edges", message, available=interface.actions, node=node.id)]


def _check_nested(node: Node, path: str, interfaces: Interfaces, load: Loader | None, depth: int) -> list[Diagnostic]:
    """A workflow within is checked as if it were run alone."""
    ways = [key for key in ("workflow_name", "workflow_ref", "workflow_ir") if node.params.get(key) is not None]
    if len(ways) != 1:
        message = "Exactly one of `workflow_name`, `workflow_ref` and `workflow_ir` says what is run."
        example = {"workflow_name": "greeter", "inputs": {"who": "world"}}
        return [error("bad_nested", f"{path}.params", message, example=example, node=node.id)]
    document: Any = node.params[ways[0]]
    if depth >= MOST_NESTED:
        message = f"Workflows run each other more than {MOST_NESTED} deep: perhaps one runs itself."
        return [error("nested_too_deep", f"{path}.params.{ways[0]}", message, node=node.id)]
    if ways[0] != "workflow_ir":
        if load is None or _is_template(document) or not isinstance(document, str):
            return []
        from uraniborg.kernel.errors import UraniborgError

        try:
            document = load(document)
        except UraniborgError as exc:
            available = tuple(cast("list[str]", exc.ids.get("available", [])))
            return [
                error(
                    "nested_not_found",
                    f"{path}.params.{ways[0]}",
                    exc.message,
                    hint=exc.hint,
                    available=available,
                    node=node.id,
                )
            ]
    inner = check(document, interfaces, load=load, depth=depth + 1)
    return [
        Diagnostic(
            one.severity,
            one.code,
            f"{path}.params.{ways[0]}/{one.path}",
            f"In '{node.id}': {one.message}",
            one.hint,
            one.available,
            one.nearest,
            one.example,
            node.id,
        )
        for one in inner.errors
    ]
