"""Look up the names that templates can refer to, and the values inside their values."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from uraniborg.kernel.boundary import parse_json

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_JSON_CHARS: Final = 10 * 1024 * 1024
_INDEX: Final = re.compile(r"\d{1,9}")
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
        index = key if isinstance(key, int) else int(key) if _INDEX.fullmatch(str(key)) else None
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
