"""Find the line and column of a value in a JSON text, for messages about it."""

import json
import re
from bisect import bisect_right
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_STEP: Final = re.compile(r"[.\[/]")
"""The characters that begin a step of a path. A slash precedes the path inside a nested workflow."""
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
    """The positions of the values of a workflow in a JSON text, wrapped under `ir` or not.

    Raise ValueError if the text is not JSON.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._root = _parse_value_tree(text)
        inner = self._root.inner or {}
        if "ir" in inner and "nodes" not in inner:
            self._root = inner["ir"]

    def find_position(self, path: str, *, of_key: bool = False) -> Position | None:
        """Return the position of the value or of its key; if the value is missing, that of the object around it."""
        found = _find_deepest_value(self._root, path[:_LONGEST_PATH])[1]
        if found is self._root:
            return None
        start, end = (of_key and found.key) or found.span
        line = bisect_right(self._starts, start)
        return Position(line, start - self._starts[line - 1] + 1, end - start)


def _parse_value_tree(text: str) -> _Value:
    """Return the tree of values in a JSON text, without recursion."""
    outermost = _Value((0, 0))
    values: dict[str, _Value] = {}
    outermost.inner = values
    around: list[tuple[dict[str, _Value], bool]] = []
    takes_keys, name, key = False, "", None
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "]}":
            if not around:
                raise ValueError("The text is not JSON.")
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
        raise ValueError("The text is not JSON.")
    return outermost.inner["[0]"]


def _find_deepest_value(value: _Value, path: str) -> tuple[int, _Value]:
    """Return the deepest existing value on the path, and the length of the path to it.

    A key may itself contain dots, brackets and slashes, so every prefix of the path is tried as a key.
    """
    best = 0, value
    start = 1 if path.startswith((".", "/")) else 0
    for end in (*(sign.start() for sign in _STEP.finditer(path, start + 1)), len(path)):
        if inner := (value.inner or {}).get(path[start:end]):
            length, found = _find_deepest_value(inner, path[end:])
            best = max(best, (end + length, found), key=lambda one: one[0])
    return best
