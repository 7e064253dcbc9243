"""Check references of a run: what a node took from another must be what that node returned."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from uraniborg.kernel.json_values import JsonObject

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][\w-]*)((?:\.[\w-]+|\[\d+\])*)\}")
_STEP: Final = re.compile(r"\.([\w-]+)|\[(\d+)\]")
CUT: Final = ({"bytes"}, {"characters", "beginning"})
"""The fields of what the log of runs has instead of a long value."""


def find_broken_references(run: JsonObject, nodes: Sequence[JsonObject], workflow: JsonObject | None) -> Iterator[str]:
    """Yield what nodes and the outputs of a run have other values of than the nodes and inputs that they refer to.

    References in the middle of a text, and to values that are too long to be stored, are not followed.
    """
    known: JsonObject = dict(_get_object(run.get("inputs")))
    for node in nodes:
        inputs, params = _get_object(node.get("inputs")), _get_object(node.get("params"))
        for name, template in params.items():
            if name in inputs and _differs(inputs[name], template, known):
                yield f"{_show(node.get('node'))}: its input {_show(name)} is not that which it refers to, {template}"
        known[str(node.get("node"))] = node.get("outputs")
    declared, outputs = _get_object((workflow or {}).get("outputs")), _get_object(run.get("outputs"))
    for name, value in outputs.items():
        template = _get_object(declared.get(name)).get("source")
        if _differs(value, template, known):
            yield f"the output {_show(name)} is not that which it refers to, {template}"


def _differs(value: Any, template: Any, known: Mapping[str, Any]) -> bool:
    found = _REFERENCE.fullmatch(template) if isinstance(template, str) else None
    if found is None or found[1] not in known or is_cut(value):
        return False
    expected = known[found[1]]
    for name, index in _STEP.findall(found[2]):
        if is_cut(expected):
            return False
        if name and isinstance(expected, dict) and name in expected:
            expected = cast("JsonObject", expected)[name]
        elif index and isinstance(expected, list) and int(index) < len(cast("list[Any]", expected)):
            expected = cast("list[Any]", expected)[int(index)]
        else:
            return False
    return not is_cut(expected) and value != expected


def is_cut(value: Any) -> bool:
    """Return True for what is stored instead of a long value."""
    return isinstance(value, dict) and set(cast("JsonObject", value)) in CUT


def _get_object(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _show(text: Any) -> str:
    return str(text)[:60]
