"""Templates and values: what a text with templates stands for."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import orjson

from pflow.errors import NodeFailed, TemplateUnresolved
from pflow.templates.parsing import Literal, Reference, Template, pieces_of

LONGEST: Final = 64 * 1024 * 1024
"""How long a text may become that templates are put into."""
_JSON_CHARS: Final = 10 * 1024 * 1024
_ABSENT: Final = object()


class Scope:
    """Names and their values: those of a run, and within them those of one item of a batch."""

    __slots__ = ("_above", "values")

    def __init__(self, values: Mapping[str, Any], above: "Scope | None" = None) -> None:
        self.values = values
        self._above = above

    def get(self, name: str) -> Any:
        """The value of a name, or ABSENT."""
        if name in self.values:
            return self.values[name]
        return self._above.get(name) if self._above is not None else _ABSENT

    def names(self) -> list[str]:
        above = self._above.names() if self._above is not None else []
        return [*self.values, *(name for name in above if name not in self.values)]


class Resolution:
    """Resolves value after value, and remembers every reference that led nowhere."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.missing: list[Reference] = []
        self._chars = 0

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
            return self.value(only)
        parts: list[str] = []
        at = 0
        for piece in pieces:
            start = piece if isinstance(piece, int) else piece.start
            parts.append(text[at:start])
            if isinstance(piece, int):  # `$${`, of which one `$` goes
                parts.append("${")
                at = piece + 3
            else:
                parts.append(as_text(self.value(piece)))
                at = piece.end
            self._count(parts[-2:])
        parts.append(text[at:])
        return "".join(parts)

    def value(self, template: Template) -> Any:
        """The first of its choices that is there and not null; null if the last is. Missing ones are remembered."""
        found: Any = _ABSENT
        for choice in template.choices:
            found = choice.value if isinstance(choice, Literal) else self._followed(choice)
            if found is not _ABSENT and found is not None:
                return found
        if found is _ABSENT:
            self.missing += [one for one in template.choices if isinstance(one, Reference)]
            return None
        return found

    def check(self, **ids: Any) -> None:
        """Raises TemplateUnresolved if anything was missing."""
        if not self.missing:
            return
        texts = list(dict.fromkeys(one.text for one in self.missing))
        raise TemplateUnresolved(texts, available=self._available(), hint=self._hint(), **ids)

    def _count(self, parts: list[str]) -> None:
        self._chars += sum(map(len, parts))
        if self._chars > LONGEST:
            raise NodeFailed(
                f"The text that these templates make is longer than {LONGEST:,} characters.",
                hint="Write large values to a file, or pass them on whole, as a template of their own.",
            )

    def _followed(self, reference: Reference) -> Any:
        value = self._scope.get(reference.root)
        for step in reference.steps:
            if value is _ABSENT or value is None:
                return _ABSENT
            place = self._followed(step) if isinstance(step, Reference) else step
            value = _inside(value, place)
        return value

    def _available(self) -> list[str]:
        names = self._scope.names()
        listed: list[str] = []
        for reference in self.missing:
            value = self._scope.get(reference.root)
            if isinstance(value, dict):
                listed += [f"{reference.root}.{key}" for key in cast("dict[str, Any]", value)]
        return list(dict.fromkeys([*listed, *names]))[:20]

    def _hint(self) -> str:
        from pflow.ir.diagnostics import nearest

        known = self._available()
        meant = [near for one in self.missing if (near := nearest(one.text, known)) and near != one.text]
        told = f"Did you mean ${{{meant[0]}}}? " if meant else ""
        return f"{told}Give it as an input, or take it from a node that ran before. `$${{x}}` means the text itself."


def _inside(value: Any, place: Any) -> Any:
    if isinstance(value, str):
        value = _as_json(value)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(str(place), _ABSENT)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        index = place if isinstance(place, int) else int(place) if str(place).isdigit() else None
        return items[index] if index is not None and -len(items) <= index < len(items) else _ABSENT
    return _ABSENT


def _as_json(text: str) -> Any:
    """What a text holds that is the JSON of an object or a list, as the output of many commands is."""
    if len(text) > _JSON_CHARS or text.lstrip()[:1] not in ("{", "["):
        return _ABSENT
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _ABSENT


def as_text(value: Any) -> str:
    """A value within a text: nothing for null, JSON for all but text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value, default=str).decode()
    except orjson.JSONEncodeError:
        return str(value)


def texts_within(value: Any) -> Iterator[str]:
    """All texts in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            yield str(key)
            yield from texts_within(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in cast("list[Any]", value):
            yield from texts_within(item)
