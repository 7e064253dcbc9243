"""Templates in text: where they are, and what they refer to. Pure, and blind to values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import orjson

_ENDS: Final = r"(?![\w.\[-])"
_CONSTANT: Final = rf"(?:true|false|null){_ENDS}"
_NAME: Final = r"[^\W\d][\w-]*"
_INDEX: Final = r"-?\d{1,9}"
_PLAIN: Final = rf"{_NAME}(?:\.[\w-]+|\[{_INDEX}\])*"
_REFERENCE: Final = rf"(?!{_CONSTANT}){_NAME}(?:\.[\w-]+|\[(?:{_INDEX}|\$\{{{_PLAIN}\}})\])*"
_LITERAL: Final = rf'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?{_ENDS}|{_CONSTANT}'
# Atomic, so that no text makes the search try one way after the other.
_CHOICE: Final = rf"(?>{_LITERAL}|{_REFERENCE})"
# The first choice is a reference: `${1}` and `${"x"}` are none of ours.
_TEMPLATE: Final = re.compile(rf"\$\$\{{|\$\{{\s*((?>{_REFERENCE})(?:\s*\?\?\s*{_CHOICE})*)\s*\}}")
_CHOICES: Final = re.compile(rf"({_LITERAL})|({_REFERENCE})")
_STEP: Final = re.compile(rf"\.([\w-]+)|\[({_INDEX})\]|\[\$\{{({_PLAIN})\}}\]")
_KEPT: Final = 10_000
"""Texts that are longer are rare, and not worth keeping."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name, and the way from its value to what is meant; a step may itself be a reference, to an index."""

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
        """What it refers to, in the words of who wrote it."""
        return " ?? ".join(one.text if isinstance(one, Reference) else _written(one) for one in self.choices)


@lru_cache(maxsize=16_384)
def _parsed(text: str) -> tuple[Template | int, ...]:
    found: list[Template | int] = []
    for match in _TEMPLATE.finditer(text):
        if match[1] is None:
            found.append(match.start())
            continue
        inner = match[1]
        try:
            choices = _choices(inner) if len(inner) < _KEPT else _choices.__wrapped__(inner)
        except orjson.JSONDecodeError:  # `007`, or an escape that JSON does not know
            continue
        found.append(Template(choices, *match.span()))
    return tuple(found)


@lru_cache(maxsize=16_384)
def _choices(inner: str) -> tuple[Choice, ...]:
    """What is between `${` and `}`. The same is often there many times, and then parsed once."""
    return tuple(_choice(one) for one in _CHOICES.finditer(inner))


def _choice(match: re.Match[str]) -> Choice:
    return Literal(orjson.loads(match[1])) if match[1] is not None else reference(match[2])


def _written(literal: Literal) -> str:
    return orjson.dumps(literal.value).decode()


def reference(text: str) -> Reference:
    """The reference that `text`, without `${` and `}`, is."""
    end = min((at for at in (text.find("."), text.find("[")) if at >= 0), default=len(text))
    steps: list[str | int | Reference] = []
    for key, index, inner in _STEP.findall(text[end:]):
        steps.append(reference(inner) if inner else int(index) if index else key)
    return Reference(text[:end], tuple(steps), text)


def way_of(reference: Reference, count: int) -> str:
    """The name and the first `count` steps of a reference, as they are written."""
    return reference.root + "".join(map(_written_step, reference.steps[:count]))


def _written_step(step: str | int | Reference) -> str:
    if isinstance(step, str):
        return f".{step}"
    return f"[{step}]" if isinstance(step, int) else f"[${{{step.text}}}]"


def templates_in(text: str) -> list[Template]:
    """All templates of a text, in order."""
    return [] if "${" not in text else [one for one in pieces_of(text) if isinstance(one, Template)]


def pieces_of(text: str) -> tuple[Template | int, ...]:
    """Templates, and the places of escaped `$${`, in order."""
    return _parsed(text) if len(text) < _KEPT else _parsed.__wrapped__(text)


def malformed_in(text: str, pieces: tuple[Template | int, ...] | None = None) -> list[int]:
    """Where there is a `${` that begins no template. `pieces` are those of the text, if they are known."""
    places: list[int] = []
    at = 0
    for piece in (*(pieces_of(text) if pieces is None else pieces), len(text)):
        start, end = (piece, piece + len("$${")) if isinstance(piece, int) else (piece.start, piece.end)
        while (opening := text.find("${", at, start)) >= 0:
            places.append(opening)
            at = opening + len("${")
        at = end
    return places


def strings_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a JSON value, each with the path to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from strings_in(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from strings_in(item, f"{path}[{index}]")


def references_in(template: Template) -> Iterator[Reference]:
    """All references of a template, those in indexes too."""
    for choice in template.choices:
        if isinstance(choice, Reference):
            yield choice
            yield from (step for step in choice.steps if isinstance(step, Reference))
