"""Where a workflow uses templates, and which variables it needs from outside."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pflow.ir.model import Node, Workflow
from pflow.templates.syntax import Template, malformed_in, pieces_of, references_in, strings_in

SHELL_COMMAND: Final = ("shell", "command")
"""The parameter, by node type and name, in which the shell has its own `${…}`."""
INDEX: Final = "__index__"
NESTED: Final = "workflow"
"""The node type that runs another workflow, whose own templates are not ours."""
_OPAQUE: Final = ("workflow_ir",)


@dataclass(frozen=True)
class Use:
    """A text that may have templates: of a node's parameter or batch, or of an output if `node` is None."""

    node: Node | None
    place: str
    text: str
    is_item: bool
    """Whether it is resolved for each item of a batch."""

    @property
    def is_command(self) -> bool:
        return self.node is not None and (self.node.type, self.place) == SHELL_COMMAND

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        return tuple(one for one in self._pieces if isinstance(one, Template))

    def malformed(self) -> list[int]:
        """Where a `${` begins no template, and is not the shell's."""
        return [] if self.is_command else malformed_in(self.text, self._pieces)

    @cached_property
    def _pieces(self) -> tuple[Template | int, ...]:
        return pieces_of(self.text)


def uses_in(workflow: Workflow) -> Iterator[Use]:
    """All texts of a workflow that have templates in them, in the order of the file, and the sources of its outputs."""
    return (use for use in texts_in(workflow) if use.node is None or "${" in use.text)


def texts_in(workflow: Workflow) -> Iterator[Use]:
    """All texts of a workflow in which templates are resolved, in the order of the file."""
    for node in workflow.nodes.values():
        if node.batch is not None:
            for place, text in strings_in(node.batch.items, "batch.items"):
                yield Use(node, place, text, is_item=False)
        for place, text in strings_in(resolvable(node)):
            yield Use(node, place, text, is_item=node.batch is not None)
    for output in workflow.outputs.values():
        yield Use(None, output.name, output.source, is_item=False)


def resolvable(node: Node) -> dict[str, Any]:
    """The parameters in which templates are ours to resolve."""
    if node.type != NESTED:
        return dict(node.params)
    return {key: value for key, value in node.params.items() if key not in _OPAQUE}


def is_template(value: Any) -> bool:
    """Whether what a parameter is given may be another value when it runs."""
    return isinstance(value, str) and "${" in value


def aliases_of(use: Use) -> tuple[str, ...]:
    return (use.node.batch.alias, INDEX) if use.node and use.node.batch and use.is_item else ()


def variables_of(workflow: Workflow) -> list[dict[str, Any]]:
    """The names that templates use and no node gives, with where; declared inputs that are not used are there, too."""
    found: dict[str, dict[str, Any]] = {}
    for use in uses_in(workflow):
        aliases = aliases_of(use)
        for template in use.templates:
            for reference in references_in(template):
                if reference.root in workflow.nodes or reference.root in aliases:
                    continue
                told = found.setdefault(reference.root, {"paths": {}, "used_in": {}, "optional": True})
                # One choice of several may be missing, and an output without a value is left out.
                told["optional"] = told["optional"] and (len(template.choices) > 1 or use.node is None)
                place = {"node": use.node.id, "param": use.place} if use.node else {"output": use.place}
                told["used_in"].setdefault(tuple(place.items()), place)
                told["paths"][reference.text] = None
    for name in workflow.inputs:
        found.setdefault(name, {"paths": {}, "used_in": {}, "optional": False})
    return [_variable(workflow, name, told) for name, told in found.items()]


def _variable(workflow: Workflow, name: str, told: dict[str, Any]) -> dict[str, Any]:
    declared = workflow.inputs.get(name)
    plain: dict[str, Any] = {
        "name": name,
        "declared": declared is not None,
        "required": declared.required if declared else not told["optional"],
        "paths": list(told["paths"]),
        "used_in": list(told["used_in"].values()),
    }
    if declared and declared.has_default:
        plain["default"] = declared.default
    return plain
