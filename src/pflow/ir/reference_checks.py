"""Whether what templates refer to is there when they are resolved."""

from collections.abc import Mapping
from typing import Any, Final

from pflow.ir.code_templates import check_code
from pflow.ir.diagnostics import Diagnostic, error, nearest, warning
from pflow.ir.graph import Graph
from pflow.ir.model import Workflow
from pflow.ir.template_uses import INDEX, NESTED, Use, aliases_of, uses_in
from pflow.registry.interface import Interface
from pflow.templates.syntax import Reference, references_in

_NAMED: Final = 12
_SHOWN: Final = 20
_LONGEST: Final = 120
BATCH_OUTPUTS: Final = ("results", "count", "success_count", "error_count", "errors", "batch_metadata")


def check_references(
    workflow: Workflow, graph: Graph, places: Mapping[str, int], known: Mapping[str, Interface | None]
) -> list[Diagnostic]:
    """What is wrong with the templates of a workflow whose node types are `known`, and whose nodes are at `places`."""
    found: list[Diagnostic] = []
    checker = _References(workflow, graph, known)
    for use in uses_in(workflow):
        path = path_of(use, places)
        found += _check_malformed(use, path)
        found += check_code(use, path)
        told: set[Reference] = set()
        # Templates that say the same share their choices: one of them is enough.
        for template in {id(one.choices): one for one in use.templates}.values():
            for reference in references_in(template):
                if reference not in told:
                    told.add(reference)
                    found += checker.check(use, reference, path)
    found += checker.unused()
    return found


def _check_malformed(use: Use, path: str) -> list[Diagnostic]:
    hint = "Write `${name}` or `${node.output}`; `$${` means the two characters themselves."
    node = use.node.id if use.node else None
    places = use.malformed()
    found: list[Diagnostic] = []
    for at in places[:_NAMED]:
        message = f"This begins a template and is none: `{use.text[at : at + 30]}`"
        found.append(error("malformed_template", path, message, hint=hint, node=node))
    if len(places) > _NAMED:
        message = f"There are {len(places) - _NAMED:,} more `${{` that begin no template."
        found.append(error("malformed_template", path, message, hint=hint, node=node))
    return found


def path_of(use: Use, places: Mapping[str, int]) -> str:
    """Return the path of a text in the document of its workflow."""
    if use.node is None:
        return f"outputs.{use.place}.source"
    within = use.place if use.place.startswith("batch.") else f"params.{use.place}"
    return f"nodes[{places[use.node.id]}].{within}"


class _References:
    """Whether what templates refer to is there by then."""

    def __init__(self, workflow: Workflow, graph: Graph, known: Mapping[str, Interface | None]) -> None:
        self._workflow = workflow
        self._known = known
        self._order = graph.order()
        self._bits = {node: 1 << place for place, node in enumerate(self._order)}
        self._above = graph.ancestors()
        self._names = (*workflow.inputs, *workflow.nodes)
        self._used: set[str] = set()

    def check(self, use: Use, reference: Reference, path: str) -> list[Diagnostic]:
        root = reference.root
        if root in aliases_of(use):
            return []
        if root in self._workflow.nodes:
            return self._check_node(use, reference, path)
        self._used.add(root)
        if root in self._workflow.inputs:
            return []
        names = (*aliases, *self._names) if (aliases := aliases_of(use)) else self._names
        meant = nearest(root, names)
        example = f"${{{_cut(reference.text.replace(root, meant, 1))}}}" if meant else None
        more: dict[str, Any] = {"available": names[:_SHOWN], "nearest": meant, "example": example}
        node = use.node.id if use.node else None
        if reference.steps and isinstance(reference.steps[0], str):
            message = f"In `${{{_cut(reference.text)}}}`, '{_cut(root)}' is neither a declared input nor a node."
            hint = _batch_only(use, root) or (
                f"Write `{example}`."
                if example
                else f'Name a node that runs before, or declare it: "inputs": {{"{_cut(root)}": {{"type": "object"}}}}'
            )
            return [error("unknown_root", path, message, hint=hint, node=node, **more)]
        message = f"`${{{_cut(reference.text)}}}` is neither a declared input nor the output of a node."
        hint = f'It can be given with `inputs`. To declare it: "inputs": {{"{_cut(root)}": {{"type": "string"}}}}'
        if use.is_command and root.isupper():
            hint = f"If it is meant for the shell, write ${root}, or `$${{{_cut(root)}}}`."
        hint = _batch_only(use, root) or hint
        return [warning("undeclared_variable", path, message, hint=hint, node=node, **more)]

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
                f"`${{{_cut(reference.text)}}}` is of the node itself."
                if root == use.node.id
                else f"`${{{_cut(reference.text)}}}` is of a node that does not run before '{use.node.id}'."
            )
            before = self._some_before(use.node.id)
            example = {"from": root, "to": use.node.id} if root != use.node.id else None
            hint = "Use an output of a node that leads here, or add an edge."
            return [error("not_before", path, message, hint=hint, available=before, example=example, node=use.node.id)]
        return self._check_output(use, reference, path)

    def _is_before(self, earlier: str, later: str) -> bool:
        """Of nodes in a circle, and behind one, nothing is known: what is wrong with them is told already."""
        if earlier not in self._bits or later not in self._bits:
            return earlier != later
        return bool(self._above[later] & self._bits[earlier])

    def _some_before(self, later: str) -> tuple[str, ...]:
        """The nodes that lead to one, the last of them first."""
        mask = self._above.get(later, 0)
        names: list[str] = []
        while mask and len(names) < _SHOWN:
            place = mask.bit_length() - 1
            names.append(self._order[place])
            mask ^= 1 << place
        return tuple(names)

    def _check_output(self, use: Use, reference: Reference, path: str) -> list[Diagnostic]:
        source = self._workflow.nodes[reference.root]
        interface = self._known[source.type]
        if interface is None or not reference.steps or source.type == NESTED:
            return []
        outputs: dict[str, Any] = dict.fromkeys(BATCH_OUTPUTS) if source.batch else dict(interface.outputs)
        if not outputs:
            return []
        key = reference.steps[0]
        if isinstance(key, Reference):
            return []
        if key in outputs or key == "error":
            return self._check_within(use, reference, path, outputs.get(str(key)))
        names = tuple(f"${{{source.id}.{name}}}" for name in outputs)
        meant = nearest(str(key), outputs)
        return [
            error(
                "unknown_output",
                path,
                f"'{source.id}' ({source.type}{', as a batch' if source.batch else ''}) gives no `{_cut(str(key))}`.",
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
                way += f"[{step if isinstance(step, int) else f'${{{step.text}}}'}]"
                continue
            if step not in out.structure:
                names = tuple(f"${{{way}.{name}}}" for name in out.structure)
                meant = nearest(step, out.structure)
                message = f"There is no `{_cut(step)}` in `{way}`."
                example = f"${{{way}.{meant}}}" if meant else None
                node = use.node.id if use.node else None
                more = {"available": names, "nearest": meant, "example": example, "node": node}
                return [warning("unknown_field", path, message, **more)]
            out = out.structure[step]
            way += f".{step}"
        return []


def _batch_only(use: Use, root: str) -> str:
    """Return a hint for the names that exist in a node with `batch` only."""
    is_item = root == INDEX or (root == "item" and (use.node is None or use.node.batch is None))
    return "It is only there in a node with `batch`." if is_item else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
