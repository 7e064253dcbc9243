"""Explain references without a value: how far they lead, and which names exist."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

from pflow.shortening import shorten_text
from pflow.templates.scope import ABSENT, Scope, get_item, parse_embedded_json
from pflow.templates.syntax import Reference, format_reference_prefix
from uraniborg.kernel.suggestions import find_nearest_name

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

    reference: Reference
    path: str
    value: Any
    step: Any


def explain_missing_references(missing: Iterable[Reference], scope: Scope) -> Explanation:
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


def _get_value_or_miss(reference: Reference, scope: Scope) -> Any:
    """Return the value of a reference, or the miss: its own, or that of a reference in an index."""
    value = scope.get(reference.root)
    if value is ABSENT:
        return _Miss(reference, "", None, reference.root)
    for depth, step in enumerate(reference.steps):
        key = _get_value_or_miss(step, scope) if isinstance(step, Reference) else step
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
