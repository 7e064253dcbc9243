"""A workflow as the engine sees it: inputs, outputs, nodes and edges, and the templates in its texts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from pflow.domain.template_references import (
    Template,
    find_malformed_positions,
    find_templates_and_escapes,
    iter_references,
    iter_strings_with_paths,
)

if TYPE_CHECKING:
    from pflow.service.workflow_replies import TemplateVariable
    from uraniborg.kernel.json_values import Json, JsonObject


DEFAULT_ACTION: Final = "default"
ERROR_ACTION: Final = "error"
IR_VERSION: Final = "0.1.0"

Backoff = Literal["fixed", "exponential"]
ErrorHandling = Literal["fail_fast", "continue"]


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the workflow. An input with a default is never missing."""

    name: str
    type: str = "any"
    required: bool = True
    default: "Json" = None
    has_default: bool = False
    description: str = ""
    stdin: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the workflow: the value of the template `source` at the end of the run."""

    name: str
    source: str
    type: str = "any"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a node is tried in all, and how long to wait in between, in seconds."""

    attempts: int = 1
    wait: float = 0.0
    backoff: Backoff = "fixed"

    def get_wait_before(self, attempt: int) -> float:
        """Return the seconds to wait before attempt number `attempt`, counted from 1."""
        if attempt <= 1:
            return 0.0
        return min(60.0, self.wait * 2 ** (attempt - 2)) if self.backoff == "exponential" else self.wait


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """A node that runs once for each item of a list."""

    items: "Json"
    alias: str = "item"
    error_handling: ErrorHandling = "fail_fast"
    parallel: bool = False
    max_concurrent: int = 10
    retry: Retry = field(default_factory=Retry)


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    type: str
    params: "Mapping[str, Json]"
    purpose: str = ""
    batch: BatchSettings | None = None
    retry: Retry | None = None
    timeout: float | None = None
    reuse: bool = True
    """Whether a result of an earlier run may be reused; false for `"resume": "never"`."""
    effect: str | None = None
    """The effect of this node, if it differs from that of its type."""


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    action: str = DEFAULT_ACTION


@dataclass(frozen=True, slots=True)
class Workflow:
    """A checked workflow. Nodes are in the order of the file; `start` is the id of the first to run."""

    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    start: str
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output]
    timeout: float | None = None


SHELL_COMMAND: Final = ("shell", "command")
"""The parameter, by node type and name, in which the shell has its own `${…}`."""
INDEX: Final = "__index__"
NESTED: Final = "workflow"
"""The node type that runs another workflow, whose own templates are not ours."""
_OPAQUE: Final = ("workflow_ir",)


@dataclass(frozen=True)
class TemplateOccurrence:
    """A text that may contain templates: in a parameter or the batch of a node, or in an output if `node` is None."""

    node: Node | None
    path: str
    text: str
    is_item: bool
    """Whether it is resolved for each item of a batch."""

    @property
    def is_shell_command(self) -> bool:
        return self.node is not None and (self.node.type, self.path) == SHELL_COMMAND

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        return tuple(one for one in self._templates_and_escapes if isinstance(one, Template))

    def find_malformed_positions(self) -> list[int]:
        """Return the positions of each `${` that does not begin a template and does not belong to the shell."""
        return [] if self.is_shell_command else find_malformed_positions(self.text, self._templates_and_escapes)

    @cached_property
    def _templates_and_escapes(self) -> tuple[Template | int, ...]:
        return find_templates_and_escapes(self.text)


def iter_template_uses(workflow: Workflow) -> Iterator[TemplateOccurrence]:
    """Yield the texts of a workflow that contain templates, in the order of the file, then the sources of outputs."""
    return (use for use in iter_resolvable_texts(workflow) if use.node is None or "${" in use.text)


def iter_resolvable_texts(workflow: Workflow) -> Iterator[TemplateOccurrence]:
    """Yield the texts of a workflow whose templates are resolved, in the order of the file."""
    for node in workflow.nodes.values():
        if node.batch is not None:
            for path, text in iter_strings_with_paths(node.batch.items, "batch.items"):
                yield TemplateOccurrence(node, path, text, is_item=False)
        for path, text in iter_strings_with_paths(get_resolvable_params(node)):
            yield TemplateOccurrence(node, path, text, is_item=node.batch is not None)
    for output in workflow.outputs.values():
        yield TemplateOccurrence(None, output.name, output.source, is_item=False)


def get_resolvable_params(node: Node) -> "JsonObject":
    """Return the parameters whose templates belong to this workflow, not to a nested one."""
    if node.type != NESTED:
        return dict(node.params)
    return {key: value for key, value in node.params.items() if key not in _OPAQUE}


def has_template(value: Any) -> bool:
    """Return whether a parameter contains a template, so that its value is known only at run time."""
    return isinstance(value, str) and "${" in value


def get_batch_aliases(use: TemplateOccurrence) -> tuple[str, ...]:
    return (use.node.batch.alias, INDEX) if use.node and use.node.batch and use.is_item else ()


def list_variables(workflow: Workflow) -> "list[TemplateVariable]":
    """Return the names that templates use and no node provides, with their uses; unused inputs are included."""
    found: dict[str, _Variable] = {}
    for use in iter_template_uses(workflow):
        aliases = get_batch_aliases(use)
        for template in use.templates:
            for reference in iter_references(template):
                if reference.root in workflow.nodes or reference.root in aliases:
                    continue
                variable = found.setdefault(reference.root, _Variable(is_optional=True))
                # One choice of several may be missing, and an output without a value is left out.
                variable.is_optional = variable.is_optional and (len(template.choices) > 1 or use.node is None)
                variable.used_in[use.node and use.node.id, use.path] = None
                variable.paths[reference.text] = None
    for name in workflow.inputs:
        found.setdefault(name, _Variable(is_optional=False))
    return [_describe_variable(workflow, name, variable) for name, variable in found.items()]


@dataclass
class _Variable:
    """A name that no node provides: its paths, and the nodes and parameters (or the outputs) that use it, in order."""

    is_optional: bool
    paths: dict[str, None] = field(default_factory=dict[str, None])
    used_in: dict[tuple[str | None, str], None] = field(default_factory=dict[tuple[str | None, str], None])


def _describe_variable(workflow: Workflow, name: str, variable: _Variable) -> "TemplateVariable":
    declared = workflow.inputs.get(name)
    described: TemplateVariable = {
        "name": name,
        "declared": declared is not None,
        "required": declared.required if declared else not variable.is_optional,
        "paths": list(variable.paths),
        "used_in": [{"node": node, "param": path} if node else {"output": path} for node, path in variable.used_in],
    }
    if declared and declared.has_default:
        described["default"] = declared.default
    return described
