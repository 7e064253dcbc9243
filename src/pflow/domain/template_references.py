"""Find templates such as `${node.output}` in text, look up their names, and explain references without a value."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import orjson

from pflow.domain.diagnostics import shorten_text
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


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
class TemplateReference:
    """A name, and the steps from its value to the referenced value; a step may be a reference to an index."""

    root: str
    steps: "tuple[str | int | TemplateReference, ...]"
    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


Choice = TemplateReference | Literal


class Template(NamedTuple):
    """The first choice that has a value is meant. `start` and `end` are where it stands in the text."""

    choices: tuple[Choice, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the template, without `${` and `}`."""
        return " ?? ".join(
            one.text if isinstance(one, TemplateReference) else _format_literal(one) for one in self.choices
        )


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


def parse_reference(text: str) -> TemplateReference:
    """Return the reference in `text`, without `${` and `}`."""
    end = min((at for at in (text.find("."), text.find("[")) if at >= 0), default=len(text))
    steps: list[str | int | TemplateReference] = []
    for key, index, inner in _STEP.findall(text[end:]):
        steps.append(parse_reference(inner) if inner else int(index) if index else key)
    return TemplateReference(text[:end], tuple(steps), text)


def format_reference_prefix(reference: TemplateReference, count: int) -> str:
    """Return the text of a name and the first `count` steps of a reference."""
    return reference.root + "".join(map(_format_step, reference.steps[:count]))


def _format_step(step: str | int | TemplateReference) -> str:
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


def iter_references(template: Template) -> Iterator[TemplateReference]:
    """Yield all references of a template, those in indexes too."""
    for choice in template.choices:
        if isinstance(choice, TemplateReference):
            yield choice
            yield from (step for step in choice.steps if isinstance(step, TemplateReference))


_JSON_CHARS: Final = 10 * 1024 * 1024
_INDEX_KEY: Final = re.compile(r"\d{1,9}")
ABSENT: Final = object()
"""Stands for a name, key or index that does not exist."""


class Scope:
    """Names and their values: those of a run, with those of one batch item on top."""

    __slots__ = ("_above", "values")

    def __init__(self, values: "Mapping[str, Json]", above: "Scope | None" = None) -> None:
        self.values = values
        self._above = above

    def get(self, name: str) -> Any:
        """Return the value of a name, or ABSENT."""
        if name in self.values:
            return self.values[name]
        return self._above.get(name) if self._above is not None else ABSENT

    def list_names(self) -> list[str]:
        above = self._above.list_names() if self._above is not None else []
        return [*self.values, *(name for name in above if name not in self.values)]


def get_item(value: Any, key: Any) -> Any:
    """Return the item of a value at a key or an index, or ABSENT. JSON in a text is parsed."""
    if isinstance(value, str):
        value = parse_embedded_json(value)
    if isinstance(value, dict):
        return cast("JsonObject", value).get(str(key), ABSENT)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        index = key if isinstance(key, int) else int(key) if _INDEX_KEY.fullmatch(str(key)) else None
        return items[index] if index is not None and -len(items) <= index < len(items) else ABSENT
    return ABSENT


def parse_embedded_json(text: str) -> Any:
    """Return the JSON object or list that a text contains, as the output of many commands does, or ABSENT."""
    if len(text) > _JSON_CHARS or text.lstrip()[:1] not in ("{", "["):
        return ABSENT
    try:
        return parse_json(text)
    except ValueError:
        return ABSENT


_SHOWN: Final = 20
_MAX_DESCRIBED: Final = 3
_COMPARED: Final = 1_000
_ELSEWHERE: Final = "Give it as an input, or use an output of an earlier node. Write `$${x}` for the literal text."


@dataclass(frozen=True, slots=True)
class Explanation:
    """`available` are references that have a value."""

    available: list[str]
    hint: str


@dataclass(frozen=True, slots=True)
class _Miss:
    """`path` is the deepest existing path, `value` the value there, and `step` the missing key or index."""

    reference: TemplateReference
    path: str
    value: Any
    step: Any


def explain_missing_references(missing: Iterable[TemplateReference], scope: Scope) -> Explanation:
    """Return the available references and a hint for missing references."""
    names = scope.list_names()
    misses: dict[str, _Miss] = {}
    for reference in islice(dict.fromkeys(missing), _SHOWN):
        if isinstance(miss := _get_value_or_miss(reference, scope), _Miss):
            misses.setdefault(miss.path or miss.reference.root, miss)
    listed = [f"{miss.path}.{key}" for miss in misses.values() if miss.path for key in _list_keys(miss.value)[:_SHOWN]]
    sentences = [
        _describe_miss(miss) if miss.path else _suggest_name(miss, names)
        for miss in islice(misses.values(), _MAX_DESCRIBED)
    ]
    if any(not miss.path for miss in misses.values()):
        sentences.append(_ELSEWHERE)
    return Explanation(list(dict.fromkeys([*listed, *names]))[:_SHOWN], " ".join(filter(None, sentences)))


def _get_value_or_miss(reference: TemplateReference, scope: Scope) -> Any:
    """Return the value of a reference, or the miss: its own, or that of a reference in an index."""
    value = scope.get(reference.root)
    if value is ABSENT:
        return _Miss(reference, "", None, reference.root)
    for depth, step in enumerate(reference.steps):
        key = _get_value_or_miss(step, scope) if isinstance(step, TemplateReference) else step
        if isinstance(key, _Miss):
            return key
        found = get_item(value, key)
        if found is ABSENT:
            return _Miss(reference, format_reference_prefix(reference, depth), value, key)
        value = found
    return value


def _suggest_name(miss: _Miss, names: list[str]) -> str:
    nearest = find_nearest_name(miss.reference.root, names)
    return (
        f"Did you mean ${{{shorten_text(miss.reference.text.replace(miss.reference.root, nearest, 1))}}}?"
        if nearest
        else ""
    )


def _describe_miss(miss: _Miss) -> str:
    path, value = f"`{shorten_text(miss.path)}`", _parse_if_json(miss.value)
    if isinstance(value, list):
        count = len(cast("list[Any]", value))
        return (
            f"{path} is a list of {count:,}: its first is `{shorten_text(miss.path)}[0]`."
            if count
            else f"{path} is empty."
        )
    if not isinstance(value, dict):
        return f"{path} is {_KINDS.get(type(cast('object', value)), 'text without JSON')}, and does not have items."
    keys = _list_keys(value)
    if not keys:
        return f"{path} is empty."
    nearest = find_nearest_name(str(miss.step), keys)
    suggestion = f" Did you mean ${{{shorten_text(f'{miss.path}.{nearest}')}}}?" if nearest else ""
    listed = ", ".join(shorten_text(key) for key in keys[:_SHOWN])
    return f"{path} has: {listed}{', …' if len(keys) > _SHOWN else ''}.{suggestion}"


_KINDS: Final[dict[type, str]] = {type(None): "null", bool: "true or false", int: "a number", float: "a number"}


def _parse_if_json(value: Any) -> Any:
    """Return the parsed JSON of a text, or the value itself."""
    held = parse_embedded_json(value) if isinstance(value, str) else value
    return value if held is ABSENT else held


def _list_keys(value: Any) -> list[str]:
    opened = _parse_if_json(value)
    return list(islice(map(str, cast("dict[Any, Any]", opened)), _COMPARED)) if isinstance(opened, dict) else []
