"""A command with templates: values reach the shell as variables, so that none of them is ever read as code."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.shell.inspection import Inspection, inspect_tree
from pflow.shell.reader import Reader
from pflow.shell.tree import Context, Script, Undecided
from pflow.shell.words import Span
from pflow.templates.resolution import format_as_text
from pflow.templates.syntax import Template, find_templates, parse_pieces

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


def parse_command(command: str) -> ShellCommand:
    """Return the command with its tree. Raise Undecided if shells disagree about it."""
    return (
        _parse_command_cached(command) if len(command) < _LONGEST_CACHED else _parse_command_cached.__wrapped__(command)
    )


@lru_cache(maxsize=256)
def _parse_command_cached(command: str) -> ShellCommand:
    parts: list[str] = []
    templates: list[Template] = []
    spans: list[tuple[int, int]] = []
    at = shift = 0
    for piece in parse_pieces(command):
        if isinstance(piece, int):  # `$${`, which becomes `${`
            parts.append(command[at:piece])
            at = piece + 1
            shift += 1
        else:
            templates.append(piece)
            spans.append((piece.start - shift, piece.end - shift))
    text = "".join([*parts, command[at:]])
    reader = Reader(text, {start: Span(number, end) for number, (start, end) in enumerate(spans)})
    tree = reader.read()
    contexts: list[Context] = [reader.contexts.get(number, "bare") for number in range(len(spans))]
    return ShellCommand(text, tuple(templates), tuple(spans), tuple(contexts), tree)


@lru_cache(maxsize=256)
def inspect_command(command: str, names: frozenset[str] = frozenset(), is_fed: bool = False) -> Inspection:
    """Inspect a command whose variables `names` hold values, and to which values are fed or not. Raise Undecided."""
    return inspect_tree(parse_command(command).tree, names=names, is_fed=is_fed)


def rewrite_command(command: str, value_of: Callable[[Template], Any]) -> tuple[str, dict[str, str]]:
    """Return the command with each template replaced by a variable, and the values of these variables.

    Text that is not a template, as `${HOME:-x}`, or is behind a backslash, is left to the shell. The position of a
    template decides how its variable is written, so that the shell takes it as one word: bare, in double quotes, in
    single quotes, or in arithmetic, which only takes whole numbers. Raise NodeFailed for a value that cannot be put
    there.
    """
    if not find_templates(command):
        return command.replace("$${", "${"), {}
    try:
        read, inspection = parse_command(command), inspect_command(command)
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
            parts.append(_format_number(value_of(template), template))
        else:
            name = f"{VARIABLE}{len(variables) + 1}"
            variables[name] = _make_variable(format_as_text(value_of(template)), template)
            _check_value(variables[name], index, inspection, template)
            parts.append(_WRITTEN[context].format(name=name))
    parts.append(read.text[at:])
    return "".join(parts), variables


def _make_variable(text: str, template: Template) -> str:
    if "\0" in text or len(text.encode("utf-8", "replace")) > _LONGEST:
        problem = "contains a NUL" if "\0" in text else f"is longer than {_LONGEST:,} bytes"
        raise NodeFailed(
            f"The value of ${{{template.text}}} {problem}, so a command cannot have it as an argument.",
            hint='Pass it to the command with the parameter `stdin`, as "stdin": "${' + template.text + '}".',
        )
    return text.encode("utf-8", "replace").decode()


def _check_value(text: str, index: int, inspection: Inspection, template: Template) -> None:
    """Raise NodeFailed for a value that the program before it would take for an option, or a shell would compute."""
    program, refused = inspection.guards.get(index, ("", ""))
    if text[:1] in tuple(refused) and text != "-":
        raise NodeFailed(
            f"The value of ${{{template.text}}} begins with '{text[0]}', so `{program}` would not treat it as data.",
            hint="Write `--` before the template, or `./` before the name of a file.",
        )
    if index in inspection.numbers:
        _format_number(text, template)


def _format_number(value: Any, template: Template) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            value = int(str(value))
        except ValueError:
            raise NodeFailed(
                f"${{{template.text}}} is in arithmetic, such as $((…)) or -gt, and is not a whole number.",
                hint="Compute it in a `python` node, or make it a number.",
            ) from None
    return str(value) if value >= 0 else f"({value})"
