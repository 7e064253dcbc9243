"""Templates in code and commands: positions in which a value would be code, or would not be put in at all."""

import re
from typing import Any, Final, cast

from pflow.ir.diagnostics import Diagnostic, error
from pflow.ir.model import Node
from pflow.ir.template_uses import SHELL_COMMAND, Use, is_template
from pflow.shell.command import inspect_command, read_command
from pflow.shell.inspection import Finding
from pflow.shell.interpreters import decides_what_runs
from pflow.shell.tree import Undecided
from pflow.templates.syntax import Template, strings_in, templates_in

CODE: Final = (("python", "code"), ("code", "code"))
"""The parameters, by node type and name, that are Python."""
_MOST: Final = 12
_LONGEST: Final = 120
_TO_INTERPRETER: Final = "template_to_interpreter"


def check_code(use: Use, path: str) -> list[Diagnostic]:
    """Return an error for a template in code, where its value would be code, too."""
    if use.node is None or not use.templates or (use.node.type, use.place) not in CODE:
        return []
    template, node = use.templates[0], use.node.id
    name = re.sub(r"\W+", "_", template.text).strip("_") or "value"
    message = f"`${{{_cut(template.text)}}}` would become part of the code, and its value would run."
    example = {"code": f"result = {name}", "inputs": {name: f"${{{template.text}}}"}}
    hint = "Give it as one of `inputs`, which are variables in the code. `$${` means the two characters themselves."
    return [error("template_in_code", path, message, hint=hint, example=example, node=node)]


def check_command(node: Node, path: str) -> list[Diagnostic]:
    """Return an error for each value that a program of a shell command would run."""
    command: Any = node.params.get("command")
    if node.type != SHELL_COMMAND[0] or not isinstance(command, str):
        return []
    found, names = _check_environment(node, f"{path}.params.env")
    is_fed = any(is_template(text) for _, text in strings_in(node.params.get("stdin")))
    templates = templates_in(command)
    if not templates and not names and not is_fed:
        return found
    path = f"{path}.params.command"
    try:
        contexts = read_command(command).contexts
        findings = inspect_command(command, names, is_fed).findings
    except Undecided as exc:
        message = f"It cannot be known which parts of this command are programs: {exc}."
        hint = "Write it in a simpler form, or in several nodes, or use a `python` node with `inputs`."
        return [*found, error(_TO_INTERPRETER, path, message, hint=hint, node=node.id)]
    literal = next((one for one, context in zip(templates, contexts, strict=True) if context == "literal"), None)
    if literal is not None:
        found.append(_in_document(literal, path, node.id))
    return [*found, *(_to_interpreter(one, templates, path, node.id) for one in findings[:_MOST])]


def _check_environment(node: Node, path: str) -> tuple[list[Diagnostic], frozenset[str]]:
    """Return what is wrong with the variables of a command, and the names of those that hold values."""
    env: Any = node.params.get("env")
    if is_template(env):
        message = "The names of the variables would be values, and variables such as PATH decide what runs."
        example = {"env": {"NAME": env}}
        return [
            error("template_in_environment", path, message, hint=_NAMES, example=example, node=node.id)
        ], frozenset()
    given = cast("dict[str, Any]", env) if isinstance(env, dict) else {}
    names = frozenset(name for name, value in given.items() if any(is_template(text) for _, text in strings_in(value)))
    found = [
        error(
            "template_in_environment",
            f"{path}.{name[:80]}",
            f"The variable {name[:80]} decides what runs, so its value cannot be a template.",
            hint=_NAMES,
            node=node.id,
        )
        for name in sorted(names)
        if decides_what_runs(name)
    ]
    return found, names


_NAMES: Final = "Write the names of the variables into the workflow, and use names of your own for values."


def _in_document(template: Template, path: str, node: str) -> Diagnostic:
    message = f"`${{{_cut(template.text)}}}` stands in a here-document whose word is quoted: nothing is put in there."
    hint = "Write <<EOF without quotes, or pass the text with the parameter `stdin`."
    return error("template_in_document", path, message, hint=hint, example="cat <<EOF", node=node)


def _to_interpreter(finding: Finding, templates: list[Template], path: str, node: str) -> Diagnostic:
    name = "v" if finding.mark is None else templates[finding.mark].text
    subject = "A value that comes by a variable, a pipe, a file or `stdin`"
    if finding.mark is not None:
        subject = f"The value of `${{{_cut(name)}}}`"
    hint = finding.hint.replace("${v}", f"${{{_cut(name)}}}")
    return error(_TO_INTERPRETER, path, f"{subject} would be code for `{finding.program}`.", hint=hint, node=node)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
