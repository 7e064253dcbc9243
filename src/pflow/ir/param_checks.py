"""Check parameters against the interface of the node type, with the corrected parameters as example."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.ir.coercion import can_coerce_param, try_coerce_param
from pflow.ir.diagnostics import Diagnostic, make_error, make_warning
from pflow.ir.model import Node
from pflow.ir.template_uses import has_template
from pflow.registry.interface import Interface, Param
from uraniborg.kernel.suggestions import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

_SHOWN: Final = 20
_LONGEST: Final = 200
_TEMPLATE: Final = re.compile(r"\$\{[^{}]*\}")
_SAMPLES: Final["JsonObject"] = {"int": 1, "float": 1.0, "bool": True, "dict": {}, "list": []}


def check_params(node: Node, interface: Interface, path: str) -> list[Diagnostic]:
    """Return the errors and warnings in the parameters of a node at `path`."""
    declared = interface.params
    missing = [
        one.key
        for one in declared.values()
        if one.required and node.params.get(one.key) is None and not one.key.startswith("__")
    ]
    unknown = [] if interface.open_params else [key for key in node.params if key not in declared]
    wrong_keys = {
        key for key, value in node.params.items() if key in declared and not _is_acceptable_value(value, declared[key])
    }
    if not (missing or unknown or wrong_keys):
        return []
    guesses = {key: _guess_intended_param(key, missing, unknown, declared) for key in unknown}
    more = {"example": _correct_params(node, interface, missing, guesses, wrong_keys), "node": node.id}
    found: list[Diagnostic] = []
    for key in missing:
        message = f"'{node.id}' needs the parameter `{key}`: {declared[key].description or declared[key].type}"
        found.append(make_error("missing_param", f"{path}.params.{key}", message, **more))
    for key in node.params:
        param_path = f"{path}.params.{key[:80]}"
        if key in guesses:
            found.append(
                _make_unknown_param_diagnostic(node, interface, key, param_path, {"nearest": guesses[key], **more})
            )
        elif key in wrong_keys:
            found.append(_make_wrong_param_error(node, declared[key], param_path, more))
    return found


def shorten_and_mask_param(key: str, value: Any) -> Any:
    """Return a parameter for a message: shortened, and without secrets."""
    if isinstance(value, str) and len(value) > _LONGEST:
        value = f"{value[:_LONGEST]}…"
    if isinstance(value, str) and _TEMPLATE.fullmatch(value):
        return value
    if isinstance(value, (dict, list)) and len(repr(cast("object", value))) > _LONGEST:
        return "…"
    from pflow.redaction import Secrets

    return Secrets().mask({key: value})[key]


def _is_acceptable_value(value: Any, param: Param) -> bool:
    if value is None or has_template(value):
        return True
    return can_coerce_param(value, param.type) and (
        not param.choices or _is_allowed_choice(try_coerce_param(value, param.type)[0], param)
    )


def _is_allowed_choice(value: Any, param: Param) -> bool:
    """Return whether the value is a choice; True does not equal 1 here."""
    return any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in param.choices)


def _guess_intended_param(
    key: str, missing: list[str], unknown: list[str], declared: Mapping[str, Param]
) -> str | None:
    """Return the parameter that was probably meant: a single missing one, else the nearest."""
    return missing[0] if len(missing) == len(unknown) == 1 else find_nearest_name(key, tuple(declared))


def _make_unknown_param_diagnostic(
    node: Node, interface: Interface, key: str, path: str, more: Mapping[str, object]
) -> Diagnostic:
    is_sent = interface.source == "mcp"
    outcome = "and its server refuses unknown parameters" if is_sent else "so it is ignored"
    message = f"The type '{node.type}' has no parameter `{key[:80]}`, {outcome}."
    return (make_error if is_sent else make_warning)(
        "unknown_param", path, message, available=tuple(interface.params), **more
    )


def _make_wrong_param_error(node: Node, param: Param, path: str, more: Mapping[str, object]) -> Diagnostic:
    value = node.params[param.key]
    if not can_coerce_param(value, param.type):
        message = f"`{param.key}` of '{node.id}' must be {param.type.replace('|', ' or ')}."
        return make_error("bad_param", path, message, **more)
    choices = tuple(map(str, param.choices))
    message = f"`{param.key}` of '{node.id}' must be one of {', '.join(choices[:_SHOWN])}."
    return make_error(
        "bad_choice", path, message, available=choices, nearest=find_nearest_name(str(value), choices), **more
    )


def _correct_params(
    node: Node, interface: Interface, missing: list[str], guesses: Mapping[str, str | None], wrong_keys: set[str]
) -> "JsonObject":
    """Return the corrected parameters of a node: misspelt names fixed, missing values added, wrong values replaced."""
    made: JsonObject = {}
    for key, value in islice(node.params.items(), _SHOWN):
        name = guesses.get(key, key)
        if key in wrong_keys:
            made[key] = _suggest_value(interface.params[key], value, interface)
        elif name is not None and (name == key or (node.params.get(name) is None and name not in made)):
            made[name] = shorten_and_mask_param(name, value)
    for key in missing:
        if made.get(key) is None:
            made[key] = _suggest_value(interface.params[key], None, interface)
    return made


def _suggest_value(param: Param, value: Any, interface: Interface) -> Any:
    """Return a valid value for a parameter, as near to the given value as possible."""
    if param.choices:
        nearest = find_nearest_name(str(value), tuple(map(str, param.choices)))
        return next((one for one in param.choices if str(one) == nearest), param.choices[0])
    if param.key in interface.example:
        return interface.example[param.key]
    return param.default if param.default is not None else _SAMPLES.get(param.type.partition("|")[0], "text")
