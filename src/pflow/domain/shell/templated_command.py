"""Parse shell commands with templates, and pass values to them as variables."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from pflow.domain.shell.injection_checks import InjectionReport, check_injections
from pflow.domain.shell.script_parser import ScriptParser
from pflow.domain.shell.syntax_tree import Context, Script, Undecided
from pflow.domain.shell.word_parser import TextSpan
from pflow.domain.template_references import (
    Template,
    find_templates,
    find_templates_and_escapes,
)
from pflow.domain.template_resolution import format_as_text
from pflow.errors import NodeFailed

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
