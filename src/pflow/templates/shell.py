"""Templates in shell commands: values reach the shell as variables, so that none of them is ever read as code."""

from collections.abc import Callable
from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.templates.parsing import Template, pieces_of
from pflow.templates.quoting import Quoting
from pflow.templates.resolving import as_text

VARIABLE: Final = "PFLOW_"
_LONGEST: Final = 100_000
"""In bytes: systems take no longer variables."""


def rewritten(command: str, value_of: Callable[[Template], Any]) -> tuple[str, dict[str, str]]:
    """The command with each template replaced by a variable, and the values of these variables.

    What is no template, as `${HOME:-x}`, or is behind a backslash, is left to the shell. Where a template stands says
    how its variable has to be written to be taken as one word: bare, in double quotes, in single quotes, or in
    arithmetic, which only takes whole numbers. Raises NodeFailed for a value that cannot be put there.
    """
    parts: list[str] = []
    variables: dict[str, str] = {}
    at = 0
    quoting = Quoting(command)
    for piece in pieces_of(command):
        start = piece if isinstance(piece, int) else piece.start
        parts.append(command[at:start])
        if isinstance(piece, int):
            parts.append("${")
            at = piece + 3
            continue
        at = piece.end
        context = quoting.at(start)
        if context == "escaped":
            parts.append(command[start:at])
            continue
        value = value_of(piece)
        if context == "arithmetic":
            parts.append(_number(value, piece))
            continue
        if context == "literal":
            raise NodeFailed(
                f"${{{piece.text}}} stands in a here-document whose word is quoted: the shell puts nothing in there.",
                hint="Write <<EOF without quotes, or pass the text with the parameter `stdin`.",
            )
        name = f"{VARIABLE}{len(variables) + 1}"
        variables[name] = _variable(as_text(value), piece)
        parts.append(_WRITTEN[context].format(name=name))
    parts.append(command[at:])
    return "".join(parts), variables


_WRITTEN: Final = {"bare": '"${{{name}}}"', "double": "${{{name}}}", "single": "'\"${{{name}}}\"'"}


def _variable(text: str, template: Template) -> str:
    if "\0" in text or len(text.encode("utf-8", "replace")) > _LONGEST:
        what = "has a NUL in it" if "\0" in text else f"is longer than {_LONGEST:,} bytes"
        raise NodeFailed(
            f"The value of ${{{template.text}}} {what}, so a command cannot have it as an argument.",
            hint='Pass it to the command with the parameter `stdin`, as "stdin": "${' + template.text + '}".',
        )
    return text.encode("utf-8", "replace").decode()


def _number(value: Any, template: Template) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            value = int(str(value))
        except ValueError:
            raise NodeFailed(
                f"${{{template.text}}} stands in arithmetic, as $((…)), and is no whole number.",
                hint="Compute it in a `python` node, or make it a number.",
            ) from None
    return str(value) if value >= 0 else f"({value})"
