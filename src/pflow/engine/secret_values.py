"""Find the values of a run that are secrets, by their declaration or the parameter that receives them."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pflow.errors import NodeFailed
from pflow.ir.model import Workflow
from pflow.ir.template_uses import iter_template_uses
from pflow.redaction import Secrets
from pflow.templates.resolution import Resolution, Scope
from pflow.templates.syntax import Reference, iter_references
from uraniborg.kernel.logging import MASK
from uraniborg.kernel.redaction import is_sensitive

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_BETWEEN: Final = re.compile(r"[.\[\]]+")

SecretReferences = dict[str, list[Reference]]
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


def resolve_secret_values(references: Iterable[Reference], root_name: str, root_value: "Json") -> "list[Json]":
    """Return the values that references to this name refer to, as far as they exist."""
    resolution = Resolution(Scope({root_name: root_value}))
    found: list[Json] = []
    for reference in references:
        with suppress(NodeFailed):  # only the beginning of the value was stored
            found.append(resolution.resolve_reference_or_none(reference))
    return found
