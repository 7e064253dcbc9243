"""Plain JSON: a copy of what came in, without what JSON does not have."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

DEPTH: Final = 64
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1
_SHOWN: Final = 200


class Flaw(Exception):
    """A problem of a value, the values allowed instead, and its path, from the inside outward.

    `nearest` are names that were probably meant; `others` are the further problems of the same value.
    """

    def __init__(
        self, problem: str, *, allowed: Any = None, way: Sequence[str | int] = (), nearest: Sequence[str] = ()
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.way = list(way)
        self.nearest = list(nearest)
        self.others: list[Flaw] = []

    @property
    def path(self) -> str:
        """The path as `payload.ring.opacity`; cut if it is long."""
        parts = [str(part)[:_SHOWN] for part in reversed(self.way[-20:])]
        return ".".join(parts)[:_SHOWN].encode("utf-8", "replace").decode()

    def facts(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        facts: dict[str, Any] = {"path": self.path, "problem": self.problem}
        if self.allowed is not None:
            facts["allowed"] = self.allowed
        return facts | ({"nearest": self.nearest} if self.nearest else {})


def raise_all(flaws: Sequence[Flaw]) -> None:
    """Raise the first of these problems, with the others in it; do nothing if there is none."""
    if flaws:
        flaws[0].others = list(flaws[1:])
        raise flaws[0]


def plain(value: Any) -> Any:
    """A copy of `value` that shares nothing with it. Raises Flaw for what JSON has not."""
    return _copy(value, DEPTH)


def plain_object(value: Any, *, allowed: Any) -> dict[str, Any]:
    """As `plain`, for what must be an object."""
    if not isinstance(value, Mapping):
        raise Flaw("is not a JSON object", allowed=allowed)
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
        return value if _SMALLEST <= value <= _LARGEST else _as_float(value)
    if depth == 0:
        raise Flaw("is nested too deep", allowed=f"at most {DEPTH} levels")
    if isinstance(value, Mapping):
        return _copy_object(cast("Mapping[Any, Any]", value), depth - 1)
    if isinstance(value, (list, tuple)):
        return _copy_list(cast("Sequence[Any]", value), depth - 1)
    raise Flaw(f"is not a JSON value but {type(value).__name__}", allowed="JSON")


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


def _as_float(value: int) -> float:
    """Return the nearest float, which is what other readers of JSON make of an integer beyond 64 bits."""
    try:
        return float(value)
    except OverflowError:
        raise Flaw("is beyond the range of numbers", allowed="numbers up to 1.7e308") from None


def _check_key(name: Any) -> None:
    if type(name) is not str:
        raise Flaw("is a key that is not a string", allowed="strings as keys")
    _whole(name)


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Flaw("has half a character", allowed="whole Unicode text") from None
    return text
