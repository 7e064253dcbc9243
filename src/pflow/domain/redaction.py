"""Find the secrets of a run, and mask them in everything that is written, returned or quoted in a message."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from pflow.domain.ir.model import Workflow, iter_template_uses
from pflow.domain.node import NodeContext
from pflow.domain.template_references import TemplateReference, iter_references
from pflow.domain.template_resolution import Resolution, Scope, iter_texts_and_numbers
from pflow.errors import NodeFailed
from uraniborg.kernel.logging import MASK
from uraniborg.kernel.processes.child_processes import register_environment_secrets
from uraniborg.kernel.redaction import SHORTEST_SECRET, Redactor, is_sensitive, redact

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


class Secrets:
    """The secret values of one run. The program log masks them while `masking(secrets.redactor)` is in force.

    Secrets of the process are secrets of every run: the values of sensitive environment variables, and keys of nodes
    and servers.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        register_environment_secrets()
        self.redactor = Redactor(base=redact)
        self._short: set[str] = set()
        self.add(values)

    @property
    def values(self) -> frozenset[str]:
        """All secrets that are long enough to be masked."""
        return self.redactor.secrets | redact.secrets

    @property
    def own_values(self) -> frozenset[str]:
        """The secrets of the workflow without those of this process: for the processes that run its nodes."""
        return self.redactor.secrets

    def add(self, values: Iterable[Any]) -> None:
        """Add secrets. One that is too short to be distinguished from other text is not masked."""
        for text in {text.strip() for value in values for text in iter_texts_and_numbers(value, include_keys=False)}:
            if len(text) >= SHORTEST_SECRET:
                self.redactor.register(text)
            elif text:
                self._short.add(text)

    def mask(self, value: Any, *, guess: bool = True) -> Any:
        """Return the value with secrets masked, by name and by value; with `guess`, also texts that look secret."""
        return self.redactor(value, guess=guess)

    def has_secret_in(self, value: Any) -> bool:
        """Return True if a text or number in the value contains a secret in any spelling, or equals a short one."""
        if self.redactor.has_secret(value):
            return True
        return bool(self._short) and any(text.strip() in self._short for text in iter_texts_and_numbers(value))

    def has_short_secret_in(self, value: Any) -> bool:
        """Return True if a text or number in the value contains a secret that is too short to be masked."""
        return any(short in text for short in self._short for text in iter_texts_and_numbers(value))


def find_secret_param_values(params: "Mapping[str, Json]") -> "list[Json]":
    """Return the values of parameters that are secrets by their names, at any depth."""
    found: list[Json] = []
    waiting: list[Json] = [dict(params)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, value in one.items():
                if is_sensitive(name):
                    found.append(value)
                elif isinstance(value, (dict, list)):
                    waiting.append(value)
        elif isinstance(one, list):
            waiting += one
    return found


_BETWEEN: Final = re.compile(r"[.\[\]]+")

SecretReferences = dict[str, list[TemplateReference]]
"""References to secrets, by the node or the input that they refer to."""


def find_secret_input_values(workflow: Workflow, values: "Mapping[str, Json]") -> "list[Json]":
    """Return the values of inputs that are secrets, by declaration or by name."""
    return [
        value
        for name, value in values.items()
        if (workflow.inputs[name].secret if name in workflow.inputs else is_sensitive(name))
    ]


def mask_secret_inputs(workflow: Workflow, inputs: "Mapping[str, Json]") -> "JsonObject":
    """Return the inputs as they are logged: without those that the workflow declares as secrets."""
    declared = workflow.inputs
    return {name: MASK if name in declared and declared[name].secret else one for name, one in inputs.items()}


def list_secret_inputs(workflow: Workflow, inputs: "Mapping[str, Json]", secrets: Secrets) -> list[str]:
    """Return the names of the inputs that the log does not have as they were given."""
    logged = secrets.mask(mask_secret_inputs(workflow, inputs))
    return [name for name, value in inputs.items() if logged.get(name) != value or secrets.has_secret_in(value)]


def find_secret_references(workflow: Workflow) -> SecretReferences:
    """Return the references in parameters such as `password`."""
    found: SecretReferences = {}
    for use in iter_template_uses(workflow):
        if use.node is not None and any(map(is_sensitive, _BETWEEN.split(use.path))):
            for template in use.templates:
                for reference in iter_references(template):
                    found.setdefault(reference.root, []).append(reference)
    return found


def resolve_secret_values(references: Iterable[TemplateReference], root_name: str, root_value: "Json") -> "list[Json]":
    """Return the values that references to this name refer to, as far as they exist."""
    resolution = Resolution(Scope({root_name: root_value}))
    found: list[Json] = []
    for reference in references:
        with suppress(NodeFailed):  # only the beginning of the value was stored
            found.append(resolution.resolve_reference_or_none(reference))
    return found


_LOOKED_AT: Final = 1 << 20  # far more than any excerpt shows


def mask_secrets(value: Any, context: NodeContext) -> Any:
    """Return the value without the secrets of the run and other known secrets."""
    return redact(context.mask(value))


def cut_masked_start(text: str, max_characters: int, context: NodeContext) -> str:
    return mask_secrets(text[:_LOOKED_AT], context)[:max_characters]


def cut_masked_end(text: str, context: NodeContext, *, line_count: int, max_characters: int) -> str:
    """Return the last lines that are not empty, with secrets masked."""
    lines = mask_secrets(text[-_LOOKED_AT:], context).split("\n")
    return "\n".join([line.rstrip() for line in lines if line.strip()][-line_count:])[-max_characters:]
