"""Check the inputs of a run against the declarations of the workflow."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pflow.errors import InvalidInputs, TemplateUnresolved
from pflow.ir.coercion import try_coerce_value
from pflow.ir.model import Workflow
from pflow.ir.template_uses import list_variables
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.suggestions import find_nearest_name

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
