"""The names that templates can refer to, and the values inside their values."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

_JSON_CHARS: Final = 10 * 1024 * 1024
_INDEX: Final = re.compile(r"\d{1,9}")
ABSENT: Final = object()
"""Stands for a name, key or index that does not exist."""


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
        return self._above.get(name) if self._above is not None else ABSENT

    def names(self) -> list[str]:
        above = self._above.names() if self._above is not None else []
        return [*self.values, *(name for name in above if name not in self.values)]


def inside(value: Any, place: Any) -> Any:
    """What is in a value at a key or an index, or ABSENT. A text that holds JSON is read."""
    if isinstance(value, str):
        value = json_in(value)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(str(place), ABSENT)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        index = place if isinstance(place, int) else int(place) if _INDEX.fullmatch(str(place)) else None
        return items[index] if index is not None and -len(items) <= index < len(items) else ABSENT
    return ABSENT


def json_in(text: str) -> Any:
    """What a text holds that is the JSON of an object or a list, as the output of many commands is."""
    if len(text) > _JSON_CHARS or text.lstrip()[:1] not in ("{", "["):
        return ABSENT
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return ABSENT
