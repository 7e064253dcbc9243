"""Find values that are secrets because a workflow passes them to a parameter such as `password`."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.ir.model import Workflow
from pflow.ir.template_uses import iter_template_uses
from pflow.redaction import is_sensitive
from pflow.templates.resolution import Resolution, Scope
from pflow.templates.syntax import Reference, iter_references

_BETWEEN: Final = re.compile(r"[.\[\]]+")

SecretReferences = dict[str, list[Reference]]
"""References to secrets, by the node or the input that they refer to."""


def find_secret_references(workflow: Workflow) -> SecretReferences:
    """Return the references in parameters such as `password`."""
    found: SecretReferences = {}
    for use in iter_template_uses(workflow):
        if use.node is not None and any(map(is_sensitive, _BETWEEN.split(use.path))):
            for template in use.templates:
                for reference in iter_references(template):
                    found.setdefault(reference.root, []).append(reference)
    return found


def resolve_secret_values(references: Iterable[Reference], root_name: str, root_value: Any) -> list[Any]:
    """Return the values that references to this name refer to, as far as they exist."""
    resolution = Resolution(Scope({root_name: root_value}))
    found: list[Any] = []
    for reference in references:
        with suppress(NodeFailed):  # only the beginning of the value was stored
            found.append(resolution.resolve_reference_or_none(reference))
    return found
