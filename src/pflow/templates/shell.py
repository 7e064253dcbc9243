"""Templates in shell commands: values reach the shell as variables, so that none of them is ever read as code."""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pflow.errors import NodeFailed
from pflow.templates.parsing import Template, pieces_of
from pflow.templates.resolving import as_text

VARIABLE: Final = "PFLOW_"
_LONGEST: Final = 100_000
"""In bytes: systems take no longer variables."""


def rewritten(command: str, value_of: Callable[[Template], Any]) -> tuple[str, dict[str, str]]:
    """The command with each template replaced by a variable, and the values of these variables.

    What is no template, as `${HOME:-x}`, is left to the shell. Where a template stands says how its variable has to be
    written to be taken as one word: bare, in double quotes, in single quotes, or in arithmetic, which only takes
    numbers. Raises NodeFailed for a value that no variable can hold.
    """
    parts: list[str] = []
    variables: dict[str, str] = {}
    at = 0
    quoting = _Quoting(command)
    for piece in pieces_of(command):
        start = piece if isinstance(piece, int) else piece.start
        parts.append(command[at:start])
        if isinstance(piece, int):
            parts.append("${")
            at = piece + 3
            continue
        value = value_of(piece)
        at = piece.end
        context = quoting.at(start)
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
                f"${{{template.text}}} stands in arithmetic, $((…)), and is no whole number.",
                hint="Compute it in a `python` node, or make it a number.",
            ) from None
    return str(value)


class _Document(NamedTuple):
    """A here-document: where its text is, and whether the shell leaves it as it is."""

    start: int
    end: int
    is_literal: bool


_HERE: Final = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s;|&<>()'\"]+))")


class _Quoting:
    """Reads a command from left to right and says in what kind of quotes a place is."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._place = 0
        self._stack = ["bare"]
        self._announced: list[re.Match[str]] = []
        self._documents: list[_Document] = []

    def at(self, place: int) -> str:
        """Where `place` is. Places must be asked for in order."""
        while self._place < place:
            self._place += self._step()
        for document in self._documents:
            if document.start <= place < document.end:
                return "literal" if document.is_literal else "double"
        inner = self._stack[-1]
        return {"substitution": "bare", "group": "arithmetic" if "arithmetic" in self._stack else "bare"}.get(
            inner, inner
        )

    def _step(self) -> int:  # noqa: PLR0911, PLR0912 - one line for each thing a shell tells apart
        text, at, inner = self._command, self._place, self._stack[-1]
        char = text[at]
        if inner == "single":
            if char == "'":
                self._stack.pop()
            return 1
        if char == "\\":
            return 2
        if text.startswith("$((", at):
            self._stack.append("arithmetic")
            return 3
        if text.startswith("$(", at):
            self._stack.append("substitution")
            return 2
        if char == '"':
            if inner == "double":
                self._stack.pop()
            else:
                self._stack.append("double")
            return 1
        if inner == "double":
            return 1
        if char == "\n" and self._announced:
            return self._skip_documents(at + 1) - at
        if inner != "arithmetic" and char == "<" and (here := _HERE.match(text, at)) and text[at : at + 3] != "<<<":
            self._announced.append(here)
            return here.end() - at
        if char == "'":
            self._stack.append("single")
        elif char == "(" and inner != "bare":
            self._stack.append("group")
        elif char == ")":
            if inner == "arithmetic" and text.startswith("))", at):
                self._stack.pop()
                return 2
            if inner in ("substitution", "group"):
                self._stack.pop()
        elif char == "#" and (at == 0 or text[at - 1] in " \t\n;|&("):
            end = text.find("\n", at)
            return (end if end >= 0 else len(text)) - at
        return 1

    def _skip_documents(self, at: int) -> int:
        """Where the here-documents that begin at `at` end."""
        for here in self._announced:
            word = here[2] or here[3] or here[4]
            is_literal = here[4] is None or here[0].rstrip(word).endswith("\\")
            ends = re.compile(rf"^{chr(92)}t*{re.escape(word)}$" if here[1] else rf"^{re.escape(word)}$", re.MULTILINE)
            found = ends.search(self._command, at)
            self._documents.append(_Document(at, found.start() if found else len(self._command), is_literal))
            at = found.end() if found else len(self._command)
        self._announced = []
        return at
