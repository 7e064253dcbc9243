"""Templates and values: what a text with templates stands for."""

import json
from collections.abc import Iterator
from typing import Any, Final, cast

import orjson

from pflow.errors import NodeFailed, TemplateUnresolved
from pflow.templates.scope import ABSENT, Scope, inside
from pflow.templates.syntax import Literal, Reference, Template, pieces_of
from pflow.templates.truncation import check_whole

_ITEM: Final = 32
"""For how many characters an item of a list or an object counts: it takes about as much room."""
LONGEST: Final = 64 * 1024 * 1024
"""How many characters and items there may be in what templates are put into."""


class Resolution:
    """Resolves value after value, and remembers every reference that led nowhere."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.missing: list[Reference] = []
        self._size = 0
        self._sizes: dict[int, int] = {}
        self._put_before: list[Any] = []

    def resolved(self, value: Any) -> Any:
        """The same value with each template in it replaced by what it stands for."""
        if isinstance(value, str):
            return self.text(value) if "${" in value else value
        if isinstance(value, dict):
            return {key: self.resolved(item) for key, item in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self.resolved(item) for item in cast("list[Any]", value)]
        return value

    def text(self, text: str) -> Any:
        """What a text stands for: a value of any type if it is one template and nothing else, else a text."""
        pieces = pieces_of(text)
        if len(pieces) == 1 and isinstance(only := pieces[0], Template) and (only.start, only.end) == (0, len(text)):
            return self._put(only)
        parts: list[str] = []
        at = 0
        for piece in pieces:
            start = piece if isinstance(piece, int) else piece.start
            parts.append(text[at:start])
            if isinstance(piece, int):  # `$${`, of which one `$` goes
                parts.append("${")
                at = piece + 3
            else:
                parts.append(as_text(self._put(piece)))
                at = piece.end
        parts.append(text[at:])
        return "".join(parts)

    def value(self, template: Template) -> Any:
        """The first of its choices that is there and not null; null if the last is. Missing ones are remembered."""
        found: Any = ABSENT
        absent: list[Reference] = []
        for choice in template.choices:
            found = choice.value if isinstance(choice, Literal) else self._followed(choice)
            if found is ABSENT:
                absent.append(cast("Reference", choice))
            elif found is not None:
                return found
        if found is ABSENT:
            self.missing += absent
            return None
        return found

    def referred(self, reference: Reference) -> Any:
        """What one reference refers to; null if there is nothing."""
        found = self._followed(reference)
        return None if found is ABSENT else found

    def check(self, **ids: Any) -> None:
        """Raises TemplateUnresolved if anything was missing."""
        if not self.missing:
            return
        from pflow.templates.unresolved import told_of

        texts = list(dict.fromkeys(one.text for one in self.missing))
        told = told_of(self.missing, self._scope)
        raise TemplateUnresolved(texts, available=told.available, hint=told.hint, **ids)

    def _put(self, template: Template) -> Any:
        """The value of a template. Values may hold each other many times over: what is made of them is bounded."""
        value = self.value(template)
        if not isinstance(value, (str, dict, list)):
            return value
        kept = cast("Any", value)
        self._put_before.append(kept)
        if len(self._put_before) == 2:  # one alone is no larger than it was
            self._size = _size(self._put_before[0], self._sizes)
        if len(self._put_before) > 1:
            self._size += _size(kept, self._sizes)
        if self._size > LONGEST:
            raise NodeFailed(
                f"The values that these templates put together have more than {LONGEST:,} characters and items.",
                hint="Use each value once, or only the part of it that is needed, or write it to a file.",
            )
        return kept

    def _followed(self, reference: Reference) -> Any:
        value = self._scope.get(reference.root)
        for depth, step in enumerate(reference.steps):
            if value is ABSENT or value is None:
                return ABSENT
            place = self._followed(step) if isinstance(step, Reference) else step
            check_whole(value, place, reference, depth)
            value = inside(value, place)
        return value


def _size(value: Any, sizes: dict[int, int]) -> int:
    """The characters and items of a value, each counted as often as it is there. `sizes` are those known."""
    if isinstance(value, str):
        return len(value)
    waiting = [value]
    while waiting:
        one = waiting[-1]
        items = list(cast("dict[str, Any]", one).values() if isinstance(one, dict) else cast("list[Any]", one))
        inner: list[Any] = [item for item in items if isinstance(item, (dict, list))]
        if unknown := [item for item in inner if id(item) not in sizes]:
            waiting += unknown
            continue
        texts = sum(len(item) for item in items if isinstance(item, str))
        sizes[id(waiting.pop())] = _ITEM * (1 + len(items)) + texts + sum(sizes[id(item)] for item in inner)
    return sizes[id(value)]


def as_text(value: Any) -> str:
    """A value within a text: nothing for null, JSON for all but text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value, default=str).decode()
    except orjson.JSONEncodeError:
        return _long_way(value)


def _long_way(value: Any) -> str:
    """JSON of what the fast way refuses: integers beyond 64 bits, half characters, keys that are no text."""
    try:
        return json.dumps(value, default=str, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def texts_within(value: Any, *, keys: bool = True) -> Iterator[str]:
    """All texts and numbers in a value, as text; those of its keys too."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            plain = cast("dict[Any, Any]", one)
            yield from map(str, plain if keys else ())
            waiting += plain.values()
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting += cast("list[Any]", one)
        elif isinstance(one, bytes):
            yield one.decode(errors="replace")
        elif isinstance(one, (int, float)) and not isinstance(one, bool):
            yield str(one)
