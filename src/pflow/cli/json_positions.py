"""Where in a JSON text each value is, so that what is wrong with it can be shown there."""

import json
import re
from bisect import bisect_right
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_STEP: Final = re.compile(r"[.\[/]")
"""With which a step of a path begins. What is wrong within a workflow that is written out in another is told after a
slash."""
_LONGEST_PATH: Final = 2_000


class Position(NamedTuple):
    """Line and column are counted from 1."""

    line: int
    column: int
    length: int = 1


class _Value:
    """A value: where it and its key begin and end, and if values are in it, these by key, or by place as `[0]`."""

    __slots__ = ("inner", "key", "span")

    def __init__(self, span: tuple[int, int], key: tuple[int, int] | None = None) -> None:
        self.span = span
        self.key = key
        self.inner: dict[str, _Value] | None = None


class Positions:
    """The positions in one text, which is JSON: of the workflow that it is, or that it has under `ir`.

    Raises ValueError for what is no JSON.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._root = _scanned(text)
        inner = self._root.inner or {}
        if "ir" in inner and "nodes" not in inner:
            self._root = inner["ir"]

    def of(self, path: str, *, key: bool = False) -> Position | None:
        """Where the value is, or its key, or else what it would be in."""
        found = _found(self._root, path[:_LONGEST_PATH])[1]
        if found is self._root:
            return None
        start, end = (key and found.key) or found.span
        line = bisect_right(self._starts, start)
        return Position(line, start - self._starts[line - 1] + 1, end - start)


def _scanned(text: str) -> _Value:
    """The value that the text is, with all that is in it. Nothing here grows with the depth at which a value is."""
    outermost = _Value((0, 0))
    values: dict[str, _Value] = {}
    outermost.inner = values
    around: list[tuple[dict[str, _Value], bool]] = []
    takes_keys, name, key = False, "", None
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "]}":
            if not around:
                raise ValueError("This is no JSON.")
            values, takes_keys = around.pop()
        elif takes_keys and key is None and sign[0] == '"':
            name, key = str(json.loads(sign)), token.span()
        elif sign not in ",:":
            value = values[name if key else f"[{len(values)}]"] = _Value(token.span(), key)
            key = None
            if sign in "[{":
                around.append((values, takes_keys))
                values, takes_keys = {}, sign == "{"
                value.inner = values
    if "[0]" not in outermost.inner:
        raise ValueError("This is no JSON.")
    return outermost.inner["[0]"]


def _found(value: _Value, path: str) -> tuple[int, _Value]:
    """What is at the path, or as far on the way there as there is something, and how much of the path that was.

    A key may have in it what else stands between keys: each beginning of the path may be one.
    """
    best = 0, value
    start = 1 if path.startswith((".", "/")) else 0
    for end in (*(sign.start() for sign in _STEP.finditer(path, start + 1)), len(path)):
        if inner := (value.inner or {}).get(path[start:end]):
            length, found = _found(inner, path[end:])
            best = max(best, (end + length, found), key=lambda one: one[0])
    return best
