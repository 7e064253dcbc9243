"""Check templates in the code of nodes: injections into shell commands, and templates inside Python code."""

import re
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.diagnostics import CheckerDiagnostic, make_error, shorten_text
from pflow.domain.ir.model import SHELL_COMMAND, Node, TemplateOccurrence, has_template
from pflow.domain.shell.code_running_programs import can_variable_select_program
from pflow.domain.shell.injection_checks import Finding
from pflow.domain.shell.syntax_tree import Undecided
from pflow.domain.template_references import (
    Template,
    find_templates,
    iter_strings_with_paths,
)

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

from pflow.domain.shell.templated_command import check_command_injections, parse_templated_command

CODE_PARAMS: Final = (("python", "code"), ("code", "code"))
"""The parameters, by node type and name, that are Python."""
_MOST: Final = 12
_TO_INTERPRETER: Final = "template_to_interpreter"


def check_code_templates(use: TemplateOccurrence, path: str) -> list[CheckerDiagnostic]:
    """Return an error for a template in code, where its value would be code, too."""
    if use.node is None or not use.templates or (use.node.type, use.path) not in CODE_PARAMS:
        return []
    template, node = use.templates[0], use.node.id
    name = re.sub(r"\W+", "_", template.text).strip("_") or "value"
    message = f"`${{{shorten_text(template.text)}}}` would become part of the code, and its value would run."
    example = {"code": f"result = {name}", "inputs": {name: f"${{{template.text}}}"}}
    hint = "Pass it in `inputs`, which are variables in the code. Write `$${` for a literal `${`."
    return [make_error("template_in_code", path, message, hint=hint, example=example, node=node)]


def check_shell_injections(node: Node, path: str) -> list[CheckerDiagnostic]:
    """Return an error for each value that a program of a shell command would run."""
    command: Any = node.params.get("command")
    if node.type != SHELL_COMMAND[0] or not isinstance(command, str):
        return []
    found, names = _check_environment_variables(node, f"{path}.params.env")
    input_has_values = any(has_template(text) for _, text in iter_strings_with_paths(node.params.get("stdin")))
    templates = find_templates(command)
    if not templates and not names and not input_has_values:
        return found
    path = f"{path}.params.command"
    try:
        contexts = parse_templated_command(command).contexts
        findings = check_command_injections(command, names, input_has_values).findings
    except Undecided as exc:
        message = f"The checker cannot tell which parts of this command are programs: {exc}."
        hint = "Write it in a simpler form, or in several nodes, or use a `python` node with `inputs`."
        return [*found, make_error(_TO_INTERPRETER, path, message, hint=hint, node=node.id)]
    literal = next((one for one, context in zip(templates, contexts, strict=True) if context == "literal"), None)
    if literal is not None:
        found.append(_make_here_document_error(literal, path, node.id))
    return [*found, *(_make_interpreter_error(one, templates, path, node.id) for one in findings[:_MOST])]


def _check_environment_variables(node: Node, path: str) -> tuple[list[CheckerDiagnostic], frozenset[str]]:
    """Return errors in the variables of a command, and the names of variables that hold values."""
    env: Any = node.params.get("env")
    if has_template(env):
        message = (
            "Templates would choose the names of variables, and variables such as PATH select the programs that run."
        )
        example = {"env": {"NAME": env}}
        return [
            make_error("template_in_environment", path, message, hint=_NAMES, example=example, node=node.id)
        ], frozenset()
    given = cast("JsonObject", env) if isinstance(env, dict) else {}
    names = frozenset(
        name for name, value in given.items() if any(has_template(text) for _, text in iter_strings_with_paths(value))
    )
    found = [
        make_error(
            "template_in_environment",
            f"{path}.{name[:80]}",
            f"The variable {name[:80]} selects the programs that run, so its value cannot be a template.",
            hint=_NAMES,
            node=node.id,
        )
        for name in sorted(names)
        if can_variable_select_program(name)
    ]
    return found, names


_NAMES: Final = "Write the names of the variables into the workflow, and choose other names for values."


def _make_here_document_error(template: Template, path: str, node: str) -> CheckerDiagnostic:
    message = (
        f"`${{{shorten_text(template.text)}}}` is in a here-document with a quoted word, where nothing is replaced."
    )
    hint = "Write <<EOF without quotes, or pass the text with the parameter `stdin`."
    return make_error("template_in_document", path, message, hint=hint, example="cat <<EOF", node=node)


def _make_interpreter_error(finding: Finding, templates: list[Template], path: str, node: str) -> CheckerDiagnostic:
    name = "v" if finding.template_index is None else templates[finding.template_index].text
    subject = "A value from a variable, a pipe, a file or `stdin`"
    if finding.template_index is not None:
        subject = f"The value of `${{{shorten_text(name)}}}`"
    hint = finding.hint.replace("${v}", f"${{{shorten_text(name)}}}")
    return make_error(_TO_INTERPRETER, path, f"{subject} would be code for `{finding.program}`.", hint=hint, node=node)
