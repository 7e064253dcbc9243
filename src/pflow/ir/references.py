"""Whether what templates refer to is there when they are resolved."""

from collections.abc import Mapping
from typing import Any, Final

from pflow.ir.diagnostics import Diagnostic, error, nearest, warning
from pflow.ir.graph import Graph
from pflow.ir.model import Workflow
from pflow.ir.uses import INDEX, NESTED, Use, aliases_of, uses_in
from pflow.registry.interface import Interface
from pflow.templates.parsing import Reference, references_in

BATCH_OUTPUTS: Final = ("results", "count", "success_count", "error_count", "errors", "batch_metadata")


def check_references(
    workflow: Workflow, graph: Graph, places: Mapping[str, int], known: Mapping[str, Interface | None]
) -> list[Diagnostic]:
    """What is wrong with the templates of a workflow whose node types are `known`, and whose nodes are at `places`."""
    found: list[Diagnostic] = []
    checker = _References(workflow, graph, known)
    for use in uses_in(workflow):
        path = _path_of(use, places)
        for at in use.malformed():
            begins = use.text[at : at + 30]
            message = f"This begins a template and is none: `{begins}`"
            hint = "Write `${name}` or `${node.output}`; `$${` means the two characters themselves."
            found.append(error("malformed_template", path, message, hint=hint, node=use.node.id if use.node else None))
        for template in use.templates():
            for reference in references_in(template):
                found += checker.check(use, reference, path, is_choice=len(template.choices) > 1)
    found += checker.unused()
    return found


def _path_of(use: Use, places: Mapping[str, int]) -> str:
    if use.node is None:
        return f"outputs.{use.place}.source"
    within = use.place if use.place.startswith("batch.") else f"params.{use.place}"
    return f"nodes[{places[use.node.id]}].{within}"


class _References:
    """Whether what templates refer to is there by then."""

    def __init__(self, workflow: Workflow, graph: Graph, known: Mapping[str, Interface | None]) -> None:
        self._workflow = workflow
        self._known = known
        order = graph.order()
        self._bits = {node: 1 << place for place, node in enumerate(order)}
        self._above = graph.ancestors()
        self._used: set[str] = set()

    def check(self, use: Use, reference: Reference, path: str, *, is_choice: bool) -> list[Diagnostic]:
        root = reference.root
        if root in aliases_of(use):
            return []
        if root in self._workflow.nodes:
            return self._check_node(use, reference, path)
        self._used.add(root)
        if root in self._workflow.inputs:
            return []
        if use.node is None:
            names = (*self._workflow.nodes, *self._workflow.inputs)
            message = f"`${{{reference.text}}}` names neither a node nor an input."
            meant = nearest(root, names)
            example = f"${{{reference.text.replace(root, meant, 1)}}}" if meant else None
            more = {"available": names, "nearest": meant, "example": example}
            return [(warning if is_choice else error)("unknown_reference", path, message, **more)]
        names = (*self._workflow.inputs, *self._workflow.nodes, *aliases_of(use))
        message = f"`${{{reference.text}}}` is neither a declared input nor the output of a node."
        hint = f'It can be given with `inputs`. To declare it: "inputs": {{"{root}": {{"type": "string"}}}}'
        if root == INDEX or (use.node.batch is None and root == "item"):
            hint = "It is only there in a node with `batch`."
        return [
            warning(
                "undeclared_variable",
                path,
                message,
                hint=hint,
                available=names,
                nearest=nearest(root, names),
                node=use.node.id,
            )
        ]

    def unused(self) -> list[Diagnostic]:
        return [
            warning("unused_input", f"inputs.{name}", f"The input '{name}' is used nowhere.")
            for name in self._workflow.inputs
            if name not in self._used
        ]

    def _check_node(self, use: Use, reference: Reference, path: str) -> list[Diagnostic]:
        root = reference.root
        if use.node is not None and not self._is_before(root, use.node.id):
            message = (
                f"`${{{reference.text}}}` is of the node itself."
                if root == use.node.id
                else f"`${{{reference.text}}}` is of a node that does not run before '{use.node.id}'."
            )
            before = tuple(node for node in self._workflow.nodes if self._is_before(node, use.node.id))
            example = {"from": root, "to": use.node.id} if root != use.node.id else None
            hint = "Use an output of a node that leads here, or add an edge."
            return [error("not_before", path, message, hint=hint, available=before, example=example, node=use.node.id)]
        return self._check_output(use, reference, path)

    def _is_before(self, earlier: str, later: str) -> bool:
        return bool(self._above.get(later, 0) & self._bits.get(earlier, 0)) or earlier not in self._bits

    def _check_output(self, use: Use, reference: Reference, path: str) -> list[Diagnostic]:
        source = self._workflow.nodes[reference.root]
        interface = self._known[source.type]
        if interface is None or not reference.steps or source.type == NESTED:
            return []
        outputs: dict[str, Any] = dict.fromkeys(BATCH_OUTPUTS) if source.batch else dict(interface.outputs)
        if not outputs:
            return []
        key = reference.steps[0]
        if key in outputs or key == "error":
            return self._check_within(use, reference, path, outputs.get(str(key)))
        names = tuple(f"${{{source.id}.{name}}}" for name in outputs)
        meant = nearest(str(key), outputs)
        return [
            error(
                "unknown_output",
                path,
                f"'{source.id}' ({source.type}{', as a batch' if source.batch else ''}) gives no `{key}`.",
                available=names,
                nearest=meant,
                example=f"${{{source.id}.{meant}}}" if meant else names[0],
                node=use.node.id if use.node else None,
            )
        ]

    def _check_within(self, use: Use, reference: Reference, path: str, out: Any) -> list[Diagnostic]:
        """Goes as deep as the structure of an output is known."""
        way = f"{reference.root}.{reference.steps[0]}"
        for step in reference.steps[1:]:
            if out is None or out.structure is None:
                return []
            if isinstance(step, (int, Reference)):
                way += "[…]"
                continue
            if step not in out.structure:
                names = tuple(f"${{{way}.{name}}}" for name in out.structure)
                meant = nearest(step, out.structure)
                message = f"There is no `{step}` in `{way}`."
                example = f"${{{way}.{meant}}}" if meant else None
                node = use.node.id if use.node else None
                more = {"available": names, "nearest": meant, "example": example, "node": node}
                return [warning("unknown_field", path, message, **more)]
            out = out.structure[step]
            way += f".{step}"
        return []
