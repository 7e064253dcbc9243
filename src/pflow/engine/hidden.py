"""Values that are secrets because of where they go, which the workflow says before anything runs."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.ir.model import Workflow
from pflow.ir.template_uses import uses_in
from pflow.redaction import is_sensitive
from pflow.templates.resolution import Resolution, Scope
from pflow.templates.syntax import Reference, references_in

_BETWEEN: Final = re.compile(r"[.\[\]]+")

Hidden = dict[str, list[Reference]]
"""References, by the node or the input that gives what they refer to."""


def hidden_in(workflow: Workflow) -> Hidden:
    """What is put into parameters such as `password`, however it was called before."""
    found: Hidden = {}
    for use in uses_in(workflow):
        if use.node is not None and any(map(is_sensitive, _BETWEEN.split(use.place))):
            for template in use.templates:
                for reference in references_in(template):
                    found.setdefault(reference.root, []).append(reference)
    return found


def values_of(references: Iterable[Reference], name: str, value: Any) -> list[Any]:
    """What references to this name refer to, as far as it is there."""
    resolution = Resolution(Scope({name: value}))
    found: list[Any] = []
    for reference in references:
        with suppress(NodeFailed):  # only the beginning of it was kept
            found.append(resolution.referred(reference))
    return found
