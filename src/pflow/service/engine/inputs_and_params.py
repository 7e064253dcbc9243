"""Prepare the values of a run: its inputs, and the parameters of nodes with templates resolved."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.ir.model import SHELL_COMMAND, Node, Workflow, get_resolvable_params, list_variables
from pflow.domain.node_interface import Interface
from pflow.domain.shell.templated_command import replace_templates_by_variables
from pflow.domain.template_resolution import Resolution, Scope
from pflow.domain.value_conversion import try_coerce_param, try_coerce_value
from pflow.errors import InvalidInputs, NodeFailed, TemplateUnresolved
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.logging import MASK
from uraniborg.kernel.redaction import is_sensitive

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


_MISFITS: Final = "Give values of the declared types, and no value for the name of a node."


def prepare_inputs(
    workflow: Workflow, given: "Mapping[str, Json]", env: Mapping[str, str] | None = None
) -> "JsonObject":
    """Return the values of all inputs: as given, or for a secret from the environment, or the default.

    Values that are given and not declared are passed on: a template may use them. Raise TemplateUnresolved with every
    required input that is missing, or InvalidInputs; both list every input of the wrong type in `problems`.
    """
    env = os.environ if env is None else env
    values = dict(given)
    missing: list[str] = []
    problems = [
        {"path": f"inputs.{name}", "problem": "is the name of a node, not of an input"}
        for name in given
        if name in workflow.nodes
    ]
    for name, declared in workflow.inputs.items():
        if values.get(name) is None:
            if declared.secret and name in env:
                values[name] = make_encodable(env[name])
            elif declared.has_default or not declared.required:
                values[name] = declared.default
                continue
            else:
                missing.append(name)
                continue
        values[name], fits = try_coerce_value(values[name], declared.type)
        if not fits:
            problems.append({"path": f"inputs.{name}", "problem": f"is not of the type {declared.type}"})
    if missing:
        raise _make_missing_inputs_error(workflow, missing, given, problems)
    if problems:
        raise InvalidInputs(_format_problems(problems), hint=_MISFITS, problems=problems)
    return values


def _format_problems(problems: list[dict[str, str]]) -> str:
    listed = "; ".join(f"{one['path']} {one['problem']}" for one in problems)
    return f"Inputs are not valid: {listed}."


def list_unused_input_warnings(workflow: Workflow, given: "Mapping[str, Json]") -> list[str]:
    """Return a warning for each input that nothing in the workflow uses."""
    if given.keys() <= workflow.inputs.keys():
        return []
    known = [one["name"] for one in list_variables(workflow)]
    warnings: list[str] = []
    for name in given:
        if name not in known:
            meant = find_nearest_name(name[:80], known)
            warnings.append(f"Nothing uses the input '{name[:80]}'." + (f" Did you mean '{meant}'?" if meant else ""))
    return warnings


def _make_missing_inputs_error(
    workflow: Workflow, missing: list[str], given: "Mapping[str, Json]", problems: list[dict[str, str]]
) -> TemplateUnresolved:
    listed = "; ".join(
        f"{name} ({workflow.inputs[name].type}{': ' + text if (text := workflow.inputs[name].description) else ''})"
        for name in missing
    )
    node = next(
        (
            use["node"]
            for one in list_variables(workflow)
            if one["name"] in missing
            for use in one["used_in"]
            if "node" in use
        ),
        None,
    )
    example = ", ".join(f'"{name}": …' for name in missing)
    undeclared = [
        one["name"]
        for one in list_variables(workflow)
        if one["required"] and not one["declared"] and one["name"] not in given
    ]
    message, hint = f"Required inputs are missing: {listed}.", f"Give them with the call: inputs = {{{example}}}"
    return TemplateUnresolved(
        [*missing, *undeclared],
        available=[*given],
        message=f"{message} {_format_problems(problems)}" if problems else message,
        hint=" ".join([*list_unused_input_warnings(workflow, given), *([_MISFITS] if problems else []), hint]),
        node=node,
        **({"problems": problems} if problems else {}),
    )


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
