"""Plain JSON: a copy of what came in, without what JSON does not have."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from universe.errors import MalformedCommand

DEPTH: Final = 64
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


def plain(value: Any, path: str = "") -> Any:
    """A copy of `value` that shares nothing with it. Raises MalformedCommand with the path of what JSON has not."""
    return _copy(value, path, DEPTH)


def _copy(value: Any, path: str, depth: int) -> Any:
    kind = cast("object", type(value))
    if kind is str:
        if not value.isascii():
            _check_text(value, path)
        return value
    if value is None or kind is bool:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise MalformedCommand(path, "is not a finite number", allowed="finite numbers")
        return value
    if kind is int:
        if not _SMALLEST <= value <= _LARGEST:
            raise MalformedCommand(path, "is an integer beyond 64 bits", allowed=f"from {_SMALLEST} to {_LARGEST}")
        return value
    if depth == 0:
        raise MalformedCommand(path, "is nested too deep", allowed=f"at most {DEPTH} levels")
    if isinstance(value, Mapping):
        return _copy_object(cast("Mapping[Any, Any]", value), path, depth - 1)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        items = cast("Sequence[Any]", value)
        return [_copy(item, f"{path}.{index}" if path else str(index), depth - 1) for index, item in enumerate(items)]
    raise MalformedCommand(path, f"is no JSON value but {type(value).__name__}", allowed="JSON")


def _copy_object(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
    copied: dict[str, Any] = {}
    for name, item in value.items():
        if type(name) is not str:
            raise MalformedCommand(path, "has a key that is no string", allowed="strings as keys")
        if not name.isascii():
            _check_text(name, path)
        # Most values are short texts and small numbers; the path is made only where it may be needed.
        kind = cast("object", type(item))
        if (kind is str and item.isascii()) or item is None or kind is bool or (kind is float and math.isfinite(item)):
            copied[name] = item
        else:
            copied[name] = _copy(item, f"{path}.{name}" if path else name, depth)
    return copied


def _check_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MalformedCommand(path, "has half a character", allowed="whole Unicode text") from None
