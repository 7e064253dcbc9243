"""The parameters of a node, held against the interface of its type. Mistakes are shown mended, in the node's own."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, cast

from pflow.ir.coercion import fits, made_to_fit
from pflow.ir.diagnostics import Diagnostic, error, nearest, warning
from pflow.ir.model import Node
from pflow.ir.template_uses import is_template
from pflow.registry.interface import Interface, Param

_SHOWN: Final = 20
_LONGEST: Final = 200
_TEMPLATE: Final = re.compile(r"\$\{[^{}]*\}")
_SAMPLES: Final[dict[str, Any]] = {"int": 1, "float": 1.0, "bool": True, "dict": {}, "list": []}


def check_params(node: Node, interface: Interface, path: str) -> list[Diagnostic]:
    """What is wrong with the parameters of a node that is at `path`."""
    declared = interface.params
    missing = [
        one.key
        for one in declared.values()
        if one.required and node.params.get(one.key) is None and not one.key.startswith("__")
    ]
    unknown = [] if interface.open_params else [key for key in node.params if key not in declared]
    wrong = {key for key, value in node.params.items() if key in declared and not _may_be(value, declared[key])}
    if not (missing or unknown or wrong):
        return []
    meant = {key: _meant(key, missing, unknown, declared) for key in unknown}
    more = {"example": _mended(node, interface, missing, meant, wrong), "node": node.id}
    found: list[Diagnostic] = []
    for key in missing:
        message = f"'{node.id}' needs the parameter `{key}`: {declared[key].description or declared[key].type}"
        found.append(error("missing_param", f"{path}.params.{key}", message, **more))
    for key in node.params:
        place = f"{path}.params.{key[:80]}"
        if key in meant:
            found.append(_unknown(node, interface, key, place, {"nearest": meant[key], **more}))
        elif key in wrong:
            found.append(_wrong(node, declared[key], place, more))
    return found


def shown(key: str, value: Any) -> Any:
    """A parameter as it may be told: not too long, and without secrets."""
    if isinstance(value, str) and len(value) > _LONGEST:
        value = f"{value[:_LONGEST]}…"
    if isinstance(value, str) and _TEMPLATE.fullmatch(value):
        return value
    if isinstance(value, (dict, list)) and len(repr(cast("object", value))) > _LONGEST:
        return "…"
    from pflow.redaction import Secrets

    return Secrets().mask({key: value})[key]


def _may_be(value: Any, param: Param) -> bool:
    if value is None or is_template(value):
        return True
    return fits(value, param.type) and (not param.choices or _is_chosen(made_to_fit(value, param.type)[0], param))


def _is_chosen(value: Any, param: Param) -> bool:
    """True is no 1 here, although Python says so."""
    return any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in param.choices)


def _meant(key: str, missing: list[str], unknown: list[str], declared: Mapping[str, Param]) -> str | None:
    """Whoever left out one and made up one meant the one that was left out."""
    return missing[0] if len(missing) == len(unknown) == 1 else nearest(key, tuple(declared))


def _unknown(node: Node, interface: Interface, key: str, path: str, more: dict[str, Any]) -> Diagnostic:
    is_sent = interface.source == "mcp"
    outcome = "and its server refuses what it does not know" if is_sent else "so it is ignored"
    message = f"The type '{node.type}' has no parameter `{key[:80]}`, {outcome}."
    return (error if is_sent else warning)("unknown_param", path, message, available=tuple(interface.params), **more)


def _wrong(node: Node, param: Param, path: str, more: dict[str, Any]) -> Diagnostic:
    value = node.params[param.key]
    if not fits(value, param.type):
        message = f"`{param.key}` of '{node.id}' is to be {param.type.replace('|', ' or ')}."
        return error("bad_param", path, message, **more)
    choices = tuple(map(str, param.choices))
    message = f"`{param.key}` of '{node.id}' is to be one of {', '.join(choices[:_SHOWN])}."
    return error("bad_choice", path, message, available=choices, nearest=nearest(str(value), choices), **more)


def _mended(
    node: Node, interface: Interface, missing: list[str], meant: Mapping[str, str | None], wrong: set[str]
) -> dict[str, Any]:
    """The node's own parameters: misspelt ones under the right name, what is missing added, what is wrong replaced."""
    made: dict[str, Any] = {}
    for key, value in islice(node.params.items(), _SHOWN):
        name = meant.get(key, key)
        if key in wrong:
            made[key] = _right(interface.params[key], value, interface)
        elif name is not None and (name == key or (node.params.get(name) is None and name not in made)):
            made[name] = shown(name, value)
    for key in missing:
        if made.get(key) is None:
            made[key] = _right(interface.params[key], None, interface)
    return made


def _right(param: Param, value: Any, interface: Interface) -> Any:
    """A value that a parameter may have, as near to the one that it has as can be told."""
    if param.choices:
        meant = nearest(str(value), tuple(map(str, param.choices)))
        return next((one for one in param.choices if str(one) == meant), param.choices[0])
    if param.key in interface.example:
        return interface.example[param.key]
    return param.default if param.default is not None else _SAMPLES.get(param.type.partition("|")[0], "text")
