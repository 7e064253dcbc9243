"""Explanations of references without a value: how far they lead, and which names exist."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

from pflow.suggestions import find_nearest
from pflow.templates.scope import ABSENT, Scope, get_item, parse_embedded_json
from pflow.templates.syntax import Reference, format_reference_prefix

_SHOWN: Final = 20
_TOLD: Final = 3
_COMPARED: Final = 1_000
_LONGEST: Final = 120
_ELSEWHERE: Final = "Give it as an input, or use an output of an earlier node. Write `$${x}` for the literal text."


@dataclass(frozen=True, slots=True)
class Explanation:
    """`available` are references that lead somewhere."""

    available: list[str]
    hint: str


@dataclass(frozen=True, slots=True)
class _Miss:
    """`way` is the deepest existing path, `value` the value there, and `step` the missing key or index."""

    reference: Reference
    way: str
    value: Any
    step: Any


def explain_missing(missing: Iterable[Reference], scope: Scope) -> Explanation:
    """Return the available references and a hint for missing references."""
    names = scope.list_names()
    misses: dict[str, _Miss] = {}
    for reference in islice(dict.fromkeys(missing), _SHOWN):
        if isinstance(miss := _follow_to_miss(reference, scope), _Miss):
            misses.setdefault(miss.way or miss.reference.root, miss)
    listed = [f"{miss.way}.{key}" for miss in misses.values() if miss.way for key in _list_keys(miss.value)[:_SHOWN]]
    sentences = [
        _describe_miss(miss) if miss.way else _suggest_name(miss, names) for miss in islice(misses.values(), _TOLD)
    ]
    if any(not miss.way for miss in misses.values()):
        sentences.append(_ELSEWHERE)
    return Explanation(list(dict.fromkeys([*listed, *names]))[:_SHOWN], " ".join(filter(None, sentences)))


def _follow_to_miss(reference: Reference, scope: Scope) -> Any:
    """Return the value of a reference, or the miss: its own, or that of a reference in an index."""
    value = scope.get(reference.root)
    if value is ABSENT:
        return _Miss(reference, "", None, reference.root)
    for depth, step in enumerate(reference.steps):
        key = _follow_to_miss(step, scope) if isinstance(step, Reference) else step
        if isinstance(key, _Miss):
            return key
        found = get_item(value, key)
        if found is ABSENT:
            return _Miss(reference, format_reference_prefix(reference, depth), value, key)
        value = found
    return value


def _suggest_name(miss: _Miss, names: list[str]) -> str:
    nearest = find_nearest(miss.reference.root, names)
    return (
        f"Did you mean ${{{_shorten(miss.reference.text.replace(miss.reference.root, nearest, 1))}}}?"
        if nearest
        else ""
    )


def _describe_miss(miss: _Miss) -> str:
    path, value = f"`{_shorten(miss.way)}`", _parse_if_json(miss.value)
    if isinstance(value, list):
        count = len(cast("list[Any]", value))
        return (
            f"{path} is a list of {count:,}: its first is `{_shorten(miss.way)}[0]`." if count else f"{path} is empty."
        )
    if not isinstance(value, dict):
        return f"{path} is {_KINDS.get(type(cast('object', value)), 'text without JSON')}, and does not have items."
    keys = _list_keys(value)
    if not keys:
        return f"{path} is empty."
    nearest = find_nearest(str(miss.step), keys)
    suggestion = f" Did you mean ${{{_shorten(f'{miss.way}.{nearest}')}}}?" if nearest else ""
    listed = ", ".join(_shorten(key) for key in keys[:_SHOWN])
    return f"{path} has: {listed}{', …' if len(keys) > _SHOWN else ''}.{suggestion}"


_KINDS: Final[dict[type, str]] = {type(None): "null", bool: "true or false", int: "a number", float: "a number"}


def _parse_if_json(value: Any) -> Any:
    """Return the parsed JSON of a text, or the value itself."""
    held = parse_embedded_json(value) if isinstance(value, str) else value
    return value if held is ABSENT else held


def _list_keys(value: Any) -> list[str]:
    opened = _parse_if_json(value)
    return list(islice(map(str, cast("dict[Any, Any]", opened)), _COMPARED)) if isinstance(opened, dict) else []


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
