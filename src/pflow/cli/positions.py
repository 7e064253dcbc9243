"""Where in a JSON text each value is, so that what is wrong with it can be shown there."""

import json
import re
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LAST_STEP: Final = re.compile(r"(\.[^.\[\]]*|\[\d+\]|[^.\[\]]+)$")


class Position(NamedTuple):
    """Line and column are counted from 1."""

    line: int
    column: int
    length: int = 1


class _Span(NamedTuple):
    start: int
    length: int


class _Level:
    """An object or a list that is not closed yet."""

    def __init__(self, path: str, *, is_list: bool) -> None:
        self._path = path
        self._is_list = is_list
        self._count = 0
        self._key: str | None = None

    def child(self) -> str:
        """The path of the value that comes next."""
        if self._is_list:
            return f"{self._path}[{self._count}]"
        return f"{self._path}.{self._key}" if self._path else str(self._key)

    def takes_key(self, token: str) -> bool:
        """Whether this token is a key, and no value."""
        if self._is_list or self._key is not None:
            return False
        self._key = str(json.loads(token))
        return True

    def next(self) -> None:
        self._count += 1
        self._key = None


class Positions:
    """The positions in one text, which is JSON. `prefix` is where the workflow is in it, if that is not all of it."""

    def __init__(self, text: str, prefix: str = "") -> None:
        self._text = text
        self._prefix = prefix
        self._values: dict[str, _Span] = {}
        self._keys: dict[str, _Span] = {}
        self._scan()

    def has(self, path: str) -> bool:
        return path in self._values

    def of(self, path: str, *, key: bool = False) -> Position | None:
        """Where the value is, or its key, or else what it would be in."""
        # What is wrong within a workflow that is written out in another is told after a slash.
        wanted = ".".join(filter(None, (self._prefix, path.replace("/", "."))))
        while wanted and wanted not in self._values:
            wanted = _LAST_STEP.sub("", wanted)
        span = (self._keys if key else self._values).get(wanted) or self._values.get(wanted)
        if not wanted or span is None:
            return None
        before = self._text.rfind("\n", 0, span.start)
        return Position(self._text.count("\n", 0, span.start) + 1, span.start - before, span.length)

    def _scan(self) -> None:
        levels: list[_Level] = []
        for token in _TOKEN.finditer(self._text):
            sign, span = token[0], _Span(token.start(), len(token[0]))
            if sign in "}]":
                levels.pop()
            elif sign == ",":
                levels[-1].next()
            elif sign[0] == '"' and levels and levels[-1].takes_key(sign):
                self._keys[levels[-1].child()] = span
            elif sign != ":":
                path = levels[-1].child() if levels else ""
                self._values[path] = span
                if sign in "{[":
                    levels.append(_Level(path, is_list=sign == "["))
