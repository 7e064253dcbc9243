"""Find all errors and warnings of a workflow before anything runs, and require that there are no errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from pflow.domain.diagnostics import CheckerDiagnostic, make_error, make_warning
from pflow.domain.ir.code_checks import check_shell_injections
from pflow.domain.ir.graph import Graph
from pflow.domain.ir.model import NESTED, Edge, Node, Workflow, has_template, list_variables
from pflow.domain.ir.node_checks import ConstantChecker, check_actions, check_params
from pflow.domain.ir.parser import index_edges, index_nodes, parse_workflow
from pflow.domain.ir.reference_checks import check_foreign_placeholders, check_references
from pflow.domain.node_interface import Interface
from pflow.errors import InvalidWorkflow
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


MOST_NESTED: Final = 10
_NAMED: Final = 12
_LISTED_TYPES: Final = 20
_NEAR_TYPES: Final = 5
_SEARCHED_TYPES: Final = 20
"""How many unknown types of one workflow are searched by meaning: each takes a search of the whole registry."""
_MCP_TOOL_PREFIX: Final = "mcp-"
_MCP_TOOLS_HINT: Final = (
    "Tools of MCP servers are nodes `mcp-SERVER-TOOL` after `pflow mcp add SERVER` and "
    "`pflow mcp sync SERVER`; `pflow mcp list` lists the servers."
)

Loader = Callable[[str], Any]
"""Return the document of the workflow of this name. Raise a member of the error family if it does not exist."""


class Interfaces(Protocol):
    """The methods of a registry that the checker uses."""

    def get(self, type: str, /) -> Interface | None: ...  # noqa: A002 - the name of the key in workflows

    def list_types(self) -> list[str]: ...

    def find_similar_types(self, type: str, /) -> list[str]:  # noqa: A002 - the name of the key in workflows
        """Return the types whose name or purpose is like that of `type`, the nearest first."""
        ...


@dataclass(frozen=True)
class CheckResult:
    """A workflow and its diagnostics. `workflow` is None if it cannot even be drawn."""

    workflow: Workflow | None
    diagnostics: list[CheckerDiagnostic]

    @property
    def errors(self) -> list[CheckerDiagnostic]:
        return [one for one in self.diagnostics if one.severity == "error"]

    @property
    def warnings(self) -> list[CheckerDiagnostic]:
        return [one for one in self.diagnostics if one.severity == "warning"]


class _EdgeIndexes:
    """The indexes of edges in the file, computed only if a diagnostic needs them."""

    def __init__(self, document: "Mapping[str, Json]") -> None:
        self._document = document

    @cached_property
    def indexes(self) -> dict[Edge, int]:
        return index_edges(self._document)

    def get_index(self, edge: Edge) -> int:
        return self.indexes[edge]


def check_workflow(document: Any, interfaces: Interfaces, *, load: Loader | None = None) -> CheckResult:
    """Check a workflow as it was read from its file. `load` finds the workflows that it runs."""
    return _Checker(interfaces, load).check_document(document)


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
        self._checked: dict[str, CheckResult] = {}
        self._load_errors: dict[str, UraniborgError] = {}
        self._deepest = 0

    def check_document(self, document: Any, depth: int = 0) -> CheckResult:
        self._deepest = max(self._deepest, depth)
        workflow, found = parse_workflow(document)
        if workflow is None:
            return CheckResult(None, found)
        graph = Graph.from_workflow(workflow)
        indexes = index_nodes(document)
        edges = _EdgeIndexes(document)
        found += _check_graph(workflow, graph, indexes, edges)
        known = {kind: self._interfaces.get(kind) for kind in {node.type for node in workflow.nodes.values()}}
        constants = ConstantChecker()
        for node in workflow.nodes.values():
            path = f"nodes[{indexes[node.id]}]"
            if (interface := known[node.type]) is None:
                found += self._make_unknown_type_errors(node, path)
                continue
            found += check_params(node, interface, path)
            found += check_shell_injections(node, path)
            found += constants.check_constants(node, interface, path)
            found += check_actions(node, interface, graph.leaving[node.id], edges.get_index)
            if node.type == NESTED:
                found += self._check_nested_workflow(node, path, depth)
        found += check_references(workflow, graph, indexes, known)
        found += check_foreign_placeholders(workflow, indexes, known)
        return CheckResult(workflow, found)

    def _make_unknown_type_errors(self, node: Node, path: str) -> list[CheckerDiagnostic]:
        if not (kind := node.type[:80]):  # the parser has already reported the missing type
            return []
        if self._types is None:
            self._types = self._interfaces.list_types()
        if kind not in self._near:
            self._near[kind] = self._suggest_types(kind, self._types)
        likely, near = self._near[kind]
        listed = near or self._types[:_LISTED_TYPES]
        others = len(self._types) - len(listed)
        hint = f"`browse_components`, or `pflow browse`, lists all {len(self._types):,} node types."
        if near:
            hint = f"Nearest: {', '.join(near)}. `browse_components`, or `pflow browse`, lists {others:,} more."
        return [
            make_error(
                "unknown_type",
                f"{path}.type",
                f"There is no node type '{kind}'.",
                hint=_MCP_TOOLS_HINT if kind.startswith(_MCP_TOOL_PREFIX) else hint,
                available=tuple(listed),
                more_available=others,
                nearest=likely,
                example=likely,
                node=node.id,
            )
        ]

    def _suggest_types(self, kind: str, types: list[str]) -> tuple[str | None, list[str]]:
        """Return the type that was probably meant, and up to five that are near by spelling or by meaning."""
        spelt = find_nearest_name(kind, types)
        similar = self._interfaces.find_similar_types(kind) if len(self._near) < _SEARCHED_TYPES else []
        near = [*([spelt] if spelt else []), *(one for one in similar if one != spelt)][:_NEAR_TYPES]
        likely = spelt if spelt or kind.startswith(_MCP_TOOL_PREFIX) else next(iter(near), None)
        return likely, near

    def _check_nested_workflow(self, node: Node, path: str, depth: int) -> list[CheckerDiagnostic]:
        """Return the errors of a nested workflow, and of the inputs given to it."""
        if (refused := _check_nested_retry(node, path)) is not None:
            return [refused]
        keys = [key for key in ("workflow_name", "workflow_ref", "workflow_ir") if node.params.get(key) is not None]
        if len(keys) != 1:
            message = "Give exactly one of `workflow_name`, `workflow_ref` and `workflow_ir`."
            example = {"workflow_name": "greeter", "inputs": {"who": "world"}}
            return [make_error("bad_nested", f"{path}.params", message, example=example, node=node.id)]
        path = f"{path}.params.{keys[0]}"
        given: Any = node.params[keys[0]]
        if keys[0] != "workflow_ir":
            is_known = self._load is not None and isinstance(given, str) and not has_template(given)
            return self._check_named_workflow(node, path, given, depth) if is_known else []
        if depth >= MOST_NESTED:
            return [_make_too_deep_error(node, path)]
        inner = self.check_document(given, depth + 1)
        return [*_convert_nested_errors(node, path, inner), *_check_nested_inputs(node, path, inner)]

    def _check_named_workflow(self, node: Node, path: str, name: str, depth: int) -> list[CheckerDiagnostic]:
        if name in self._open:
            cycle = " → ".join([*self._open[self._open.index(name) :], name])
            return [make_error("nested_circle", path, f"Workflows run each other in a cycle: {cycle}.", node=node.id)]
        if depth + self._heights.get(name, 1) > MOST_NESTED:
            return [_make_too_deep_error(node, path)]
        if name in self._heights:
            self._deepest = max(self._deepest, depth + self._heights[name])
            return _check_nested_inputs(node, path, self._checked[name])
        try:
            document = self._load_document_or_raise(name)
        except UraniborgError as exc:
            available = tuple(cast("list[str]", exc.ids.get("available", [])))
            more = {
                "hint": exc.hint,
                "available": available,
                "nearest": find_nearest_name(name, available),
                "node": node.id,
            }
            return [make_error("nested_not_found", path, exc.message, **more)]
        self._open.append(name)
        deepest, self._deepest = self._deepest, depth + 1
        inner = self.check_document(document, depth + 1)
        self._heights[name] = self._deepest - depth
        self._checked[name] = inner
        self._deepest = max(deepest, self._deepest)
        self._open.pop()
        return [*_convert_nested_errors(node, path, inner), *_check_nested_inputs(node, path, inner)]

    def _load_document_or_raise(self, name: str) -> Any:
        assert self._load is not None
        if name in self._load_errors:
            raise self._load_errors[name]
        try:
            return self._load(name)
        except UraniborgError as exc:
            self._load_errors[name] = exc
            raise


def _check_nested_retry(node: Node, path: str) -> CheckerDiagnostic | None:
    """Return an error for `retry` or `resume` on a nested workflow, whose effects would happen again."""
    is_tried_again = node.retry is not None or (node.batch is not None and node.batch.retry.attempts > 1)
    if not is_tried_again and node.reuse:
        return None
    what = "`retry`" if is_tried_again else '`"resume": "never"`'
    message = f"{what} applies to single nodes, not to a nested workflow."
    hint = "Set it on the nodes of the nested workflow that need it."
    return make_error("bad_retry" if is_tried_again else "bad_resume", path, message, hint=hint, node=node.id)


def _make_too_deep_error(node: Node, path: str) -> CheckerDiagnostic:
    return make_error(
        "nested_too_deep", path, f"Workflows are nested more than {MOST_NESTED} levels deep.", node=node.id
    )


def _convert_nested_errors(node: Node, path: str, inner: CheckResult) -> list[CheckerDiagnostic]:
    return [
        replace(one, path=f"{path}/{one.path}", message=f"In '{node.id}': {one.message}", node=node.id)
        for one in inner.errors
    ]


def _check_nested_inputs(node: Node, path: str, inner: CheckResult) -> list[CheckerDiagnostic]:
    """Return errors for missing inputs of a nested workflow, and warnings for unknown ones."""
    given: Any = node.params.get("inputs") or node.params.get("param_mapping") or {}
    if inner.workflow is None or not isinstance(given, dict):
        return []
    named = cast("JsonObject", given)
    inputs_path = f"{path.rpartition('.')[0]}.inputs"
    inputs = inner.workflow.inputs
    missing = [one.name for one in inputs.values() if one.required and one.name not in named and not one.secret]
    found = [
        make_error(
            "missing_nested_input",
            f"{inputs_path}.{name}",
            f"The workflow that '{node.id}' runs needs the input '{name}'.",
            available=tuple(inputs),
            example={"inputs": {name: f"${{{name}}}"}},
            node=node.id,
        )
        for name in missing
    ]
    known = {*inputs, *(one["name"] for one in list_variables(inner.workflow))}
    for name in named:
        if name not in known:
            message = f"Nothing in the workflow that '{node.id}' runs uses the input '{name[:80]}'."
            more = {"available": tuple(inputs), "nearest": find_nearest_name(name, inputs), "node": node.id}
            found.append(make_warning("unknown_nested_input", f"{inputs_path}.{name[:80]}", message, **more))
    return found


def _check_graph(
    workflow: Workflow, graph: Graph, node_indexes: Mapping[str, int], edge_indexes: _EdgeIndexes
) -> list[CheckerDiagnostic]:
    found: list[CheckerDiagnostic] = []
    for circle in islice(graph.find_cycles(), _NAMED):
        named = circle if len(circle) <= _NAMED else [*circle[:_NAMED], "…"]
        chain = " → ".join([*named, circle[0]])
        message = f"These nodes wait for each other: {chain}."
        found.append(
            make_error(
                "circle",
                _find_closing_edge_path(circle, graph, edge_indexes),
                message,
                hint="Remove one of these edges.",
            )
        )
    reached = graph.find_reachable()
    unreached = [node for node in workflow.nodes if node not in reached]
    for node in unreached[:_NAMED]:
        path = f"nodes[{node_indexes[node]}]"
        message = f"No edge leads to '{node}', so it would never run."
        example = {"from": _find_preceding_node(workflow, node), "to": node}
        hint = "Add an edge to it, or remove it. The order of the nodes does not create edges."
        found.append(make_error("unreachable_node", path, message, hint=hint, example=example, node=node))
    if len(unreached) > _NAMED:
        found.append(
            make_error("unreachable_node", "nodes", f"No edge leads to {len(unreached) - _NAMED:,} more nodes.")
        )
    return found


def _find_closing_edge_path(circle: list[str], graph: Graph, edge_indexes: _EdgeIndexes) -> str:
    """Return the path of the edge of a cycle that comes last in the file, which probably closed it."""
    after = dict(zip(circle, [*circle[1:], circle[0]], strict=True))
    ours = (edge for node in circle for edge in graph.leaving[node] if edge.target == after[node])
    return f"edges[{max(edge_indexes.indexes[edge] for edge in ours)}]"


def _find_preceding_node(workflow: Workflow, node: str) -> str:
    """Return the node after which this one was probably meant to run: its predecessor in the file."""
    order = list(workflow.nodes)
    index = order.index(node)
    return order[index - 1] if index else workflow.start


_LISTED_ERRORS: Final = 5
_LISTED_WARNINGS: Final = 30


def require_valid_workflow(checked: CheckResult, name: str) -> Workflow:
    """Return the workflow, or raise InvalidWorkflow with all findings of the checker."""
    if checked.workflow is not None and not checked.errors:
        return checked.workflow
    errors = checked.errors
    listed = " ".join(f"[{one.path or 'workflow'}] {one.message}" for one in errors[:_LISTED_ERRORS])
    more = f" And {len(errors) - _LISTED_ERRORS} more." if len(errors) > _LISTED_ERRORS else ""
    raise InvalidWorkflow(
        f"'{name}' is not valid. {listed}{more}",
        hint=_choose_hint(errors),
        diagnostics=[one.to_dict() for one in checked.diagnostics],
        name=name,
        node=next((one.node for one in errors if one.node), None),
    )


def list_first_warnings(checked: CheckResult) -> list[str]:
    """Return the first warnings of the checker, and how many more there are."""
    messages = [one.message for one in checked.warnings]
    if len(messages) <= _LISTED_WARNINGS:
        return messages
    more = f"And {len(messages) - _LISTED_WARNINGS} more warnings: `pflow check` lists them."
    return [*messages[:_LISTED_WARNINGS], more]


def _choose_hint(errors: list[CheckerDiagnostic]) -> str:
    for one in errors:
        if one.nearest:
            return f"{one.path}: did you mean '{one.nearest}'?"
        if one.hint:
            return one.hint
    return "Correct these problems and try again."
