"""What is said of references that lead nowhere: how far they lead, and what there is instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

from pflow.ir.diagnostics import nearest
from pflow.templates.scope import ABSENT, Scope, inside, json_in
from pflow.templates.syntax import Reference, way_of

_SHOWN: Final = 20
_TOLD: Final = 3
_COMPARED: Final = 1_000
_LONGEST: Final = 120
_ELSEWHERE: Final = "Give it as an input, or take it from a node that ran before. `$${x}` means the text itself."


@dataclass(frozen=True, slots=True)
class Told:
    """`available` are references that lead somewhere."""

    available: list[str]
    hint: str


@dataclass(frozen=True, slots=True)
class _Miss:
    """`way` is the deepest place that exists, `value` is what is there, and `step` is what is not in it."""

    reference: Reference
    way: str
    value: Any
    step: Any


def told_of(missing: Iterable[Reference], scope: Scope) -> Told:
    """What to say of references that are not there, the first of them first."""
    names = scope.names()
    misses: dict[str, _Miss] = {}
    for reference in islice(dict.fromkeys(missing), _SHOWN):
        if isinstance(miss := _followed(reference, scope), _Miss):
            misses.setdefault(miss.way or miss.reference.root, miss)
    listed = [f"{miss.way}.{key}" for miss in misses.values() if miss.way for key in _keys(miss.value)[:_SHOWN]]
    sentences = [_within(miss) if miss.way else _unknown(miss, names) for miss in islice(misses.values(), _TOLD)]
    if any(not miss.way for miss in misses.values()):
        sentences.append(_ELSEWHERE)
    return Told(list(dict.fromkeys([*listed, *names]))[:_SHOWN], " ".join(filter(None, sentences)))


def _followed(reference: Reference, scope: Scope) -> Any:
    """What it leads to, or the miss that it ends in: its own, or that of a reference in one of its indexes."""
    value = scope.get(reference.root)
    if value is ABSENT:
        return _Miss(reference, "", None, reference.root)
    for depth, step in enumerate(reference.steps):
        place = _followed(step, scope) if isinstance(step, Reference) else step
        if isinstance(place, _Miss):
            return place
        found = inside(value, place)
        if found is ABSENT:
            return _Miss(reference, way_of(reference, depth), value, place)
        value = found
    return value


def _unknown(miss: _Miss, names: list[str]) -> str:
    meant = nearest(miss.reference.root, names)
    return f"Did you mean ${{{_cut(miss.reference.text.replace(miss.reference.root, meant, 1))}}}?" if meant else ""


def _within(miss: _Miss) -> str:
    way, value = f"`{_cut(miss.way)}`", _opened(miss.value)
    if isinstance(value, list):
        count = len(cast("list[Any]", value))
        return f"{way} is a list of {count:,}: its first is `{_cut(miss.way)}[0]`." if count else f"{way} is empty."
    if not isinstance(value, dict):
        return f"{way} is {_KINDS.get(type(cast('object', value)), 'text that is no JSON')}, and has nothing in it."
    keys = _keys(value)
    if not keys:
        return f"{way} is empty."
    meant = nearest(str(miss.step), keys)
    told = f" Did you mean ${{{_cut(f'{miss.way}.{meant}')}}}?" if meant else ""
    return f"{way} has: {', '.join(_cut(key) for key in keys[:_SHOWN])}{', …' if len(keys) > _SHOWN else ''}.{told}"


_KINDS: Final[dict[type, str]] = {type(None): "null", bool: "true or false", int: "a number", float: "a number"}


def _opened(value: Any) -> Any:
    """What is looked into: a text that holds JSON is what it holds."""
    held = json_in(value) if isinstance(value, str) else value
    return value if held is ABSENT else held


def _keys(value: Any) -> list[str]:
    opened = _opened(value)
    return list(islice(map(str, cast("dict[Any, Any]", opened)), _COMPARED)) if isinstance(opened, dict) else []


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
