"""Prepare the parameters of a node: templates resolved, defaults filled in, types converted."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.errors import NodeFailed
from pflow.ir.coercion import try_coerce_param
from pflow.ir.model import Node
from pflow.ir.template_uses import SHELL_COMMAND, get_resolvable_params
from pflow.registry.interface import Interface
from pflow.shell.templated_command import replace_templates_by_variables
from pflow.templates.resolution import Resolution, Scope
from uraniborg.kernel.logging import MASK
from uraniborg.kernel.redaction import is_sensitive

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

ENVIRONMENT: Final = "__environment__"
TARGET: Final = "__target__"
ENV: Final = "env"
PASS_ENV: Final = "pass_env"  # noqa: S105 - the name of a parameter
_STARTING_CHILDREN: Final = ("shell", "python", "code")
_TIMEOUT: Final = "timeout"

Mask = Callable[[Any], Any]


def resolve_params(node: Node, interface: Interface, scope: Scope, mask: Mask) -> "JsonObject":
    """Return the parameters of a node, resolved and complete. Raise TemplateUnresolved or NodeFailed."""
    resolution = Resolution(scope)
    params: JsonObject = {}
    for key, value in node.params.items():
        if (node.type, key) == SHELL_COMMAND and isinstance(value, str):
            params[key], variables = _resolve_shell_command(node, value, resolution)
            if variables:
                params[ENVIRONMENT] = {**variables}
        else:
            params[key] = resolution.resolve_value(value)
    resolution.raise_if_missing(node=node.id)
    return _complete_and_coerce_params(node, interface, params, mask)


def resolve_nested_params(node: Node, interface: Interface, scope: Scope) -> "JsonObject":
    """Return the parameters of a node that runs another workflow. Templates inside that workflow stay as they are."""
    resolution = Resolution(scope)
    params = {**node.params, **resolution.resolve_value(get_resolvable_params(node))}
    resolution.raise_if_missing(node=node.id)
    for name, param in interface.params.items():
        params[name], is_fit = try_coerce_param(params.get(name), param.type)
        if not is_fit:
            raise NodeFailed(f"`{name}` of '{node.id}' must be {param.type}.", hint="Check the value of its template.")
    return params


def select_given_params(node: Node, params: "JsonObject") -> "JsonObject":
    """Return the values of the parameters that the workflow gives; `variables` are the templates of a command.

    Variables that `pass_env` passes on are left out.
    """
    given = {key: params[key] for key in node.params if key in params}
    if isinstance(environment := given.get(ENV), dict) and PASS_ENV in node.params:
        written = node.params[ENV]
        names = written if isinstance(written, dict) else {}
        given[ENV] = {name: value for name, value in environment.items() if name in names}
    if variables := params.get(ENVIRONMENT):
        given["variables"] = variables
    return given


def _resolve_shell_command(node: Node, text: str, resolution: Resolution) -> tuple[str, dict[str, str]]:
    try:
        return replace_templates_by_variables(text, resolution.resolve_template)
    except NodeFailed:
        resolution.raise_if_missing(node=node.id)  # a missing value is the better explanation
        raise


def _describe_masked_value(key: str, value: "Json", mask: Mask) -> str:
    """Return the type and the beginning of a value, with secrets masked."""
    shown = MASK if is_sensitive(key) else str(mask(str(value)))
    return f"{type(value).__name__} {shown[:40]!r}"


def _read_env_variables(names: "list[Json]") -> dict[str, str]:
    """Return the named environment variables of this process. Raise NodeFailed for one that is not set."""
    wanted = [str(name) for name in names]
    if missing := [name for name in wanted if name not in os.environ]:
        raise NodeFailed(
            f"`{PASS_ENV}` names {', '.join(name[:60] for name in missing)}, which the environment does not set.",
            hint="Set the variable where pflow runs, or give the value as an input with `env`.",
        )
    return {name: os.environ[name] for name in wanted}


def _complete_and_coerce_params(node: Node, interface: Interface, params: "JsonObject", mask: Mask) -> "JsonObject":
    for key, param in interface.params.items():
        if (value := params.get(key)) is None:
            if param.required:
                raise NodeFailed(
                    f"The parameter `{key}` of '{node.id}' has no value.",
                    hint="Its template resolves to null. Give a default with `??`.",
                )
            # The timeout of a node is also that of the program it starts, unless that has its own.
            has_own = key == _TIMEOUT and node.timeout is not None
            params[key] = node.timeout if has_own else param.default
        elif param.type != "any":
            params[key], is_fit = try_coerce_param(value, param.type)
            if not is_fit:
                wanted, given = param.type.replace("|", " or "), _describe_masked_value(key, value, mask)
                raise NodeFailed(
                    f"`{key}` of '{node.id}' must be {wanted}, got {given}.",
                    hint="Check the value of its template.",
                )
    if node.type in _STARTING_CHILDREN and (names := params.pop(PASS_ENV, None)):
        params[ENV] = {**_read_env_variables(cast("list[Json]", names)), **cast("JsonObject", params.get(ENV) or {})}
    if interface.source == "mcp":
        params[TARGET] = interface.file
    return params
