"""Templates in code and commands: where what they stand for would be read as code, or not be put in at all."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from pflow.ir.diagnostics import Diagnostic, error, warning
from pflow.ir.uses import Use
from pflow.templates.parsing import Template
from pflow.templates.quoting import Quoting

CODE: Final = (("python", "code"), ("code", "code"))
"""The parameters, by node type and name, that are Python."""
_INTERPRETER: Final = re.compile(
    r"(?:^|[\s;|&(])(?:(eval)|(?:ba|da|z)?sh\s+-c|python3?\s+-c|node\s+-e|perl\s+-e|ruby\s+-e)\s+"
)
_QUOTED: Final = r"""'[^']*+'?|"(?:[^"\\]|\\.)*+"?|\\."""
_WORD: Final = re.compile(rf"(?:{_QUOTED}|[^\s;|&<>()'\"\\])*+", re.DOTALL)
_REST: Final = re.compile(rf"(?:{_QUOTED}|[^;|&\n'\"\\])*+", re.DOTALL)
_AROUND: Final = " \t\r\n;|&("
_LONGEST: Final = 120


def check_code(use: Use, path: str) -> list[Diagnostic]:
    """What is wrong with the templates of a text that is code or a command."""
    if use.node is None or not use.templates:
        return []
    if (use.node.type, use.place) in CODE:
        return [_within_code(use.templates[0], path, use.node.id)]
    return [*_in_document(use, path, use.node.id), *_to_interpreter(use, path, use.node.id)] if use.is_command else []


def _within_code(template: Template, path: str, node: str) -> Diagnostic:
    """A value within code would be code."""
    name = re.sub(r"\W+", "_", template.text).strip("_") or "value"
    message = f"`${{{_cut(template.text)}}}` would become part of the code, and what it stands for would run."
    example = {"code": f"result = {name}", "inputs": {name: f"${{{template.text}}}"}}
    hint = "Give it as one of `inputs`, which are variables in the code. `$${` means the two characters themselves."
    return error("template_in_code", path, message, hint=hint, example=example, node=node)


def _in_document(use: Use, path: str, node: str) -> list[Diagnostic]:
    if "<<" not in use.text:
        return []
    quoting = Quoting(use.text)
    template = next((one for one in use.templates if quoting.at(one.start) == "literal"), None)
    if template is None:
        return []
    message = f"`${{{_cut(template.text)}}}` stands in a here-document whose word is quoted: nothing is put in there."
    hint = "Write <<EOF without quotes, or pass the text with the parameter `stdin`."
    return [error("template_in_document", path, message, hint=hint, example="cat <<EOF", node=node)]


def _to_interpreter(use: Use, path: str, node: str) -> list[Diagnostic]:
    places = [template.start for template in use.templates]
    for interpreter, start, end in _read_as_code(_without_templates(use)):
        first = bisect_left(places, start)
        if first < len(places) and places[first] < end:
            message = f"`{interpreter}` reads its words as code: what a template stands for would run there."
            hint = "Pass values to it as arguments or with `stdin`, or use a `python` node with `inputs`."
            return [warning("template_to_interpreter", path, message, hint=hint, node=node)]
    return []


def _read_as_code(command: str) -> Iterator[tuple[str, int, int]]:
    """Who reads a part of the command as code, and from where to where: one word, or all words for `eval`."""
    found = _INTERPRETER.search(command)
    while found:
        read = (_REST if found[1] else _WORD).match(command, found.end())
        end = read.end() if read else found.end()
        yield found[0].strip(_AROUND), found.end(), end
        found = _INTERPRETER.search(command, end - 1)


def _without_templates(use: Use) -> str:
    """The text with letters in the place of its templates, which may have quotes and spaces in them."""
    parts: list[str] = []
    at = 0
    for template in use.templates:
        parts += [use.text[at : template.start], "x" * (template.end - template.start)]
        at = template.end
    return "".join([*parts, use.text[at:]])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
