"""Check templates in code and commands, pass values to commands as variables, and check the syntax of Python code."""

import re
import symtable
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.diagnostics import CheckerDiagnostic, make_error, shorten_text
from pflow.domain.ir.model import SHELL_COMMAND, Node, TemplateOccurrence, has_template
from pflow.domain.shell.code_running_programs import can_variable_select_program
from pflow.domain.shell.injection_checks import Finding, InjectionReport, check_injections
from pflow.domain.shell.script_parser import ScriptParser
from pflow.domain.shell.syntax_tree import Context, Script, Undecided
from pflow.domain.shell.word_parser import TextSpan
from pflow.domain.template_references import (
    Template,
    find_templates,
    find_templates_and_escapes,
    iter_strings_with_paths,
)
from pflow.domain.template_resolution import format_as_text
from pflow.errors import NodeFailed

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject


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


VARIABLE: Final = "PFLOW_"
_LONGEST: Final = 100_000
"""In bytes: systems do not accept longer variables."""
_WRITTEN: Final = {"bare": '"${{{name}}}"', "double": "${{{name}}}", "single": "'\"${{{name}}}\"'"}
_LONGEST_CACHED: Final = 10_000


@dataclass(frozen=True)
class ShellCommand:
    """`text` is the command with `$${` written as `${`; `spans` are the positions of its templates."""

    text: str
    templates: tuple[Template, ...]
    spans: tuple[tuple[int, int], ...]
    contexts: tuple[Context, ...]
    tree: Script


def parse_templated_command(command: str) -> ShellCommand:
    """Return the command with its tree. Raise Undecided if shells disagree about it."""
    return (
        _parse_templated_command_cached(command)
        if len(command) < _LONGEST_CACHED
        else _parse_templated_command_cached.__wrapped__(command)
    )


@lru_cache(maxsize=256)
def _parse_templated_command_cached(command: str) -> ShellCommand:
    parts: list[str] = []
    templates: list[Template] = []
    spans: list[tuple[int, int]] = []
    at = shift = 0
    for piece in find_templates_and_escapes(command):
        if isinstance(piece, int):  # `$${`, which becomes `${`
            parts.append(command[at:piece])
            at = piece + 1
            shift += 1
        else:
            templates.append(piece)
            spans.append((piece.start - shift, piece.end - shift))
    text = "".join([*parts, command[at:]])
    parser = ScriptParser(text, {start: TextSpan(number, end) for number, (start, end) in enumerate(spans)})
    tree = parser.parse_script()
    contexts: list[Context] = [parser.contexts.get(number, "bare") for number in range(len(spans))]
    return ShellCommand(text, tuple(templates), tuple(spans), tuple(contexts), tree)


@lru_cache(maxsize=256)
def check_command_injections(
    command: str, value_variables: frozenset[str] = frozenset(), input_has_values: bool = False
) -> InjectionReport:
    """Return the values that a command would run. `value_variables` hold values. Raise Undecided."""
    return check_injections(
        parse_templated_command(command).tree, value_variables=value_variables, input_has_values=input_has_values
    )


def replace_templates_by_variables(command: str, resolve: Callable[[Template], Any]) -> tuple[str, dict[str, str]]:
    """Return the command with each template replaced by a variable, and the values of these variables.

    Text that is not a template, as `${HOME:-x}`, or is behind a backslash, is left to the shell. The position of a
    template decides how its variable is written, so that the shell takes it as one word: bare, in double quotes, in
    single quotes, or in arithmetic, which only takes whole numbers. Raise NodeFailed for a value that cannot be put
    there.
    """
    if not find_templates(command):
        return command.replace("$${", "${"), {}
    try:
        read, report = parse_templated_command(command), check_command_injections(command)
    except Undecided as exc:
        raise NodeFailed(f"The command cannot be read: {exc}.", hint="Write it in a simpler form.") from exc
    parts: list[str] = []
    variables: dict[str, str] = {}
    at = 0
    for index, (template, (start, end), context) in enumerate(
        zip(read.templates, read.spans, read.contexts, strict=True)
    ):
        parts.append(read.text[at:start])
        at = end
        if context == "escaped":
            parts.append(read.text[start:end])
        elif context == "literal":
            raise NodeFailed(
                f"${{{template.text}}} is in a here-document with a quoted word, where nothing is replaced.",
                hint="Write <<EOF without quotes, or pass the text with the parameter `stdin`.",
            )
        elif context == "arithmetic":
            parts.append(_format_whole_number(resolve(template), template))
        else:
            name = f"{VARIABLE}{len(variables) + 1}"
            variables[name] = _encode_variable_value(format_as_text(resolve(template)), template)
            _require_safe_value(variables[name], index, report, template)
            parts.append(_WRITTEN[context].format(name=name))
    parts.append(read.text[at:])
    return "".join(parts), variables


def _encode_variable_value(text: str, template: Template) -> str:
    if "\0" in text or len(text.encode()) > _LONGEST:
        problem = "contains a NUL" if "\0" in text else f"is longer than {_LONGEST:,} bytes"
        raise NodeFailed(
            f"The value of ${{{template.text}}} {problem}, so a command cannot have it as an argument.",
            hint='Pass it to the command with the parameter `stdin`, as "stdin": "${' + template.text + '}".',
        )
    return text


def _require_safe_value(text: str, template_index: int, report: InjectionReport, template: Template) -> None:
    """Raise NodeFailed for a value that the program before it would take for an option, or a shell would compute."""
    program, refused = report.guards.get(template_index, ("", ""))
    if text[:1] in tuple(refused) and text != "-":
        raise NodeFailed(
            f"The value of ${{{template.text}}} begins with '{text[0]}', so `{program}` would not treat it as data.",
            hint="Write `--` before the template, or `./` before the name of a file.",
        )
    if template_index in report.numbers:
        _format_whole_number(text, template)


def _format_whole_number(value: Any, template: Template) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            value = int(str(value))
        except ValueError:
            raise NodeFailed(
                f"${{{template.text}}} is in arithmetic, such as $((…)) or -gt, and is not a whole number.",
                hint="Compute it in a `python` node, or make it a number.",
            ) from None
    return str(value) if value >= 0 else f"({value})"


NO_RESULT: Final = (
    "the code assigns no `result`, so its result is null. Assign one; if null is meant, write `result = None`."
)
"""The warning for a python node, checked or run."""
_UNCOMPILABLE: Final = (RecursionError, MemoryError, OverflowError, UnicodeError)
_DYNAMIC: Final = re.compile(
    r"\b(?:exec|eval|globals|locals|vars|setattr|__dict__|__main__|__import__|import_module|runpy)\b|\bimport\s*\*"
)
_warnings_lock: Final = threading.Lock()


def find_syntax_error(code: str) -> SyntaxError | None:
    """Return the error of the compiler, or None. Code that is too deep for the compiler is left to the run."""
    with _suppress_warnings():
        try:
            compile(code, "<code>", "exec", dont_inherit=True)
        except SyntaxError as exc:
            return exc
        except _UNCOMPILABLE:
            return None
        except ValueError as exc:
            return SyntaxError(str(exc))
    return None


def never_assigns(code: str, *names: str) -> bool:
    """Return True if the code, whatever it does, ends without a global variable of any of these names.

    False for code that does not compile or that may assign names dynamically, as `exec` does.
    """
    if _DYNAMIC.search(code):
        return False
    with _suppress_warnings():
        try:
            module = symtable.symtable(code, "<code>", "exec")
        except (SyntaxError, ValueError, *_UNCOMPILABLE):
            return False
        return not any(_assigns_name(module, name) for name in names)


def _assigns_name(module: symtable.SymbolTable, name: str) -> bool:
    """Return True if the module assigns the name, or a function or comprehension in it declares it global."""
    waiting = [module]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        if name not in table.get_identifiers():
            continue
        symbol = table.lookup(name)
        is_global = table is module or symbol.is_declared_global()
        if is_global and (symbol.is_assigned() or symbol.is_imported() or symbol.is_declared_global()):
            return True
    return False


@contextmanager
def _suppress_warnings() -> Generator[None]:
    """Discard the warnings of the compiler; one thread at a time, because the filters are global."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
