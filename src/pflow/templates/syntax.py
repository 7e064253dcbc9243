"""Find templates in text, with positions and references. Pure: values are not needed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import orjson

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

_ENDS: Final = r"(?![\w.\[-])"
_CONSTANT: Final = rf"(?:true|false|null){_ENDS}"
_NAME: Final = r"[^\W\d][\w-]*"
_INDEX: Final = r"-?\d{1,9}"
_PLAIN: Final = rf"{_NAME}(?:\.[\w-]+|\[{_INDEX}\])*"
_REFERENCE: Final = rf"(?!{_CONSTANT}){_NAME}(?:\.[\w-]+|\[(?:{_INDEX}|\$\{{{_PLAIN}\}})\])*"
_LITERAL: Final = rf'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?{_ENDS}|{_CONSTANT}'
# Atomic groups, so that no text makes the search backtrack.
_CHOICE: Final = rf"(?>{_LITERAL}|{_REFERENCE})"
# The first choice is a reference: `${1}` and `${"x"}` are not templates.
_TEMPLATE: Final = re.compile(rf"\$\$\{{|\$\{{\s*((?>{_REFERENCE})(?:\s*\?\?\s*{_CHOICE})*)\s*\}}")
_CHOICES: Final = re.compile(rf"({_LITERAL})|({_REFERENCE})")
_STEP: Final = re.compile(rf"\.([\w-]+)|\[({_INDEX})\]|\[\$\{{({_PLAIN})\}}\]")
_LONGEST_CACHED: Final = 10_000
"""Texts that are longer are rare, and not worth keeping."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name, and the steps from its value to the referenced value; a step may be a reference to an index."""

    root: str
    steps: "tuple[str | int | Reference, ...]"
    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


Choice = Reference | Literal


class Template(NamedTuple):
    """The first choice that has a value is meant. `start` and `end` are where it stands in the text."""

    choices: tuple[Choice, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the template, without `${` and `}`."""
        return " ?? ".join(one.text if isinstance(one, Reference) else _format_literal(one) for one in self.choices)


@lru_cache(maxsize=16_384)
def _find_templates_and_escapes_cached(text: str) -> tuple[Template | int, ...]:
    found: list[Template | int] = []
    for match in _TEMPLATE.finditer(text):
        if match[1] is None:
            found.append(match.start())
            continue
        inner = match[1]
        try:
            choices = _parse_choices(inner) if len(inner) < _LONGEST_CACHED else _parse_choices.__wrapped__(inner)
        except orjson.JSONDecodeError:  # `007`, or an escape that JSON does not know
            continue
        found.append(Template(choices, *match.span()))
    return tuple(found)


@lru_cache(maxsize=16_384)
def _parse_choices(inner: str) -> tuple[Choice, ...]:
    """Return the choices between `${` and `}`, cached because the same text often repeats."""
    return tuple(_parse_choice(one) for one in _CHOICES.finditer(inner))


def _parse_choice(match: re.Match[str]) -> Choice:
    return Literal(orjson.loads(match[1])) if match[1] is not None else parse_reference(match[2])


def _format_literal(literal: Literal) -> str:
    return orjson.dumps(literal.value).decode()


def parse_reference(text: str) -> Reference:
    """Return the reference in `text`, without `${` and `}`."""
    end = min((at for at in (text.find("."), text.find("[")) if at >= 0), default=len(text))
    steps: list[str | int | Reference] = []
    for key, index, inner in _STEP.findall(text[end:]):
        steps.append(parse_reference(inner) if inner else int(index) if index else key)
    return Reference(text[:end], tuple(steps), text)


def format_reference_prefix(reference: Reference, count: int) -> str:
    """Return the text of a name and the first `count` steps of a reference."""
    return reference.root + "".join(map(_format_step, reference.steps[:count]))


def _format_step(step: str | int | Reference) -> str:
    if isinstance(step, str):
        return f".{step}"
    return f"[{step}]" if isinstance(step, int) else f"[${{{step.text}}}]"


def find_templates(text: str) -> list[Template]:
    """Return all templates of a text, in order."""
    return [] if "${" not in text else [one for one in find_templates_and_escapes(text) if isinstance(one, Template)]


def find_templates_and_escapes(text: str) -> tuple[Template | int, ...]:
    """Return the templates and the positions of each escaped `$${`, in order."""
    return (
        _find_templates_and_escapes_cached(text)
        if len(text) < _LONGEST_CACHED
        else _find_templates_and_escapes_cached.__wrapped__(text)
    )


def find_malformed_positions(text: str, templates_and_escapes: tuple[Template | int, ...] | None = None) -> list[int]:
    """Return the positions of each `${` that does not begin a template.

    `templates_and_escapes` are those of the text, if the caller has found them.
    """
    positions: list[int] = []
    at = 0
    for piece in (
        *(find_templates_and_escapes(text) if templates_and_escapes is None else templates_and_escapes),
        len(text),
    ):
        start, end = (piece, piece + len("$${")) if isinstance(piece, int) else (piece.start, piece.end)
        while (opening := text.find("${", at, start)) >= 0:
            positions.append(opening)
            at = opening + len("${")
        at = end
    return positions


def iter_strings_with_paths(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield all texts in a JSON value, each with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in cast("JsonObject", value).items():
            yield from iter_strings_with_paths(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from iter_strings_with_paths(item, f"{path}[{index}]")


def iter_references(template: Template) -> Iterator[Reference]:
    """Yield all references of a template, those in indexes too."""
    for choice in template.choices:
        if isinstance(choice, Reference):
            yield choice
            yield from (step for step in choice.steps if isinstance(step, Reference))
