"""Plain JSON: a copy of what came in, without what JSON does not have."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

DEPTH: Final = 64
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1
_SHOWN: Final = 200


class Flaw(Exception):
    """What is wrong with a value, what would be right, and where; the way there is told from the inside outward."""

    def __init__(self, problem: str, *, allowed: Any = None, way: Sequence[str | int] = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.way = list(way)

    @property
    def path(self) -> str:
        """Where, as `payload.ring.opacity`; cut if it is long."""
        parts = [str(part)[:_SHOWN] for part in reversed(self.way[-20:])]
        return ".".join(parts)[:_SHOWN].encode("utf-8", "replace").decode()


def plain(value: Any) -> Any:
    """A copy of `value` that shares nothing with it. Raises Flaw for what JSON has not."""
    return _copy(value, DEPTH)


def plain_object(value: Any, *, allowed: Any) -> dict[str, Any]:
    """As `plain`, for what must be an object."""
    if not isinstance(value, Mapping):
        raise Flaw("is no JSON object", allowed=allowed)
    return _copy_object(cast("Mapping[Any, Any]", value), DEPTH - 1)


def _copy(value: Any, depth: int) -> Any:
    kind = cast("object", type(value))
    if kind is str:
        return value if value.isascii() else _whole(value)
    if value is None or kind is bool:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise Flaw("is not a finite number", allowed="finite numbers")
        return value
    if kind is int:
        if not _SMALLEST <= value <= _LARGEST:
            raise Flaw("is an integer beyond 64 bits", allowed=f"from {_SMALLEST} to {_LARGEST}")
        return value
    if depth == 0:
        raise Flaw("is nested too deep", allowed=f"at most {DEPTH} levels")
    if isinstance(value, Mapping):
        return _copy_object(cast("Mapping[Any, Any]", value), depth - 1)
    if isinstance(value, (list, tuple)):
        return _copy_list(cast("Sequence[Any]", value), depth - 1)
    raise Flaw(f"is no JSON value but {type(value).__name__}", allowed="JSON")


def _copy_object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    copied: dict[str, Any] = {}
    name: Any = None
    try:
        for name, item in value.items():
            if type(name) is not str or not name.isascii():
                _check_key(name)
            kind = cast("object", type(item))
            # Most values are short texts and small numbers.
            if (kind is str and item.isascii()) or item is None or kind is bool:
                copied[name] = item
            else:
                copied[name] = _copy(item, depth)
    except Flaw as flaw:
        flaw.way.append(name if isinstance(name, str) else repr(name)[:_SHOWN])
        raise
    return copied


def _copy_list(value: Sequence[Any], depth: int) -> list[Any]:
    copied: list[Any] = []
    try:
        for item in value:
            copied.append(_copy(item, depth))  # noqa: PERF401 - how many there are says where the flaw is
    except Flaw as flaw:
        flaw.way.append(len(copied))
        raise
    return copied


def _check_key(name: Any) -> None:
    if type(name) is not str:
        raise Flaw("is a key that is no string", allowed="strings as keys")
    _whole(name)


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Flaw("has half a character", allowed="whole Unicode text") from None
    return text
