"""Copies of JSON values, and the problems of values that JSON does not allow."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from universe.errors import ProblemFacts
from uraniborg.kernel.json_values import Json, JsonObject

MAX_DEPTH: Final = 64
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1
_SHOWN: Final = 200
_ONLY_JSON_TYPES: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)


class ValueProblem(Exception):
    """A problem of a value, the values allowed instead, and the path to it, innermost part first.

    `nearest` has similar names that are allowed; `others` has the further problems of the same value.
    """

    def __init__(
        self,
        problem: str,
        *,
        allowed: Json | Sequence[str] = None,
        reversed_path: Sequence[str | int] = (),
        nearest: Sequence[str] = (),
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.reversed_path = list(reversed_path)
        self.nearest = list(nearest)
        self.others: list[ValueProblem] = []

    @property
    def path(self) -> str:
        """The path as `payload.ring.opacity`; cut if it is long."""
        parts = [str(part)[:_SHOWN] for part in reversed(self.reversed_path[-20:])]
        return ".".join(parts)[:_SHOWN].encode("utf-8", "replace").decode()

    def to_json(self) -> ProblemFacts:
        """Return the problem as JSON."""
        facts: ProblemFacts = {"path": self.path, "problem": self.problem}
        if self.allowed is not None:
            facts["allowed"] = cast("Json", self.allowed)
        if self.nearest:
            facts["nearest"] = self.nearest
        return facts


def raise_first_problem_if_any(problems: Sequence[ValueProblem]) -> None:
    """Raise the first of these problems, with the others attached; do nothing if there are none."""
    if problems:
        problems[0].others = list(problems[1:])
        raise problems[0]


def copy_small_json_object(value: Any, max_bytes: int) -> JsonObject | None:
    """Return a deep copy of a small JSON object, several times as fast as `check_and_copy_json_object`.

    Return None for a value that needs a closer look: one that is large, has null, which may stand for a number that is
    not finite, or may be nested too deep, and for everything else that the JSON writer refuses.
    """
    if type(value) is not dict:
        return None
    try:
        text = orjson.dumps(value, option=_ONLY_JSON_TYPES)
    except orjson.JSONEncodeError:
        return None
    if len(text) > max_bytes or b"null" in text or _may_be_too_deep(text):
        return None
    return orjson.loads(text)


def _may_be_too_deep(text: bytes) -> bool:
    # Each level has two brackets: most commands are too short to be too deep, and need not be searched.
    return len(text) > 2 * MAX_DEPTH and text.count(b"{") + text.count(b"[") > MAX_DEPTH


def check_and_copy_json(value: Any) -> Json:
    """Return a deep copy of a JSON value. Raise ValueProblem for a value that JSON does not have."""
    return _copy_value(value, MAX_DEPTH)


def check_and_copy_json_object(value: Any, *, expected_in_error: Json | Sequence[str]) -> JsonObject:
    """Return a deep copy of a JSON object. Raise ValueProblem for any other value."""
    if not isinstance(value, Mapping):
        raise ValueProblem("is not a JSON object", allowed=expected_in_error)
    return _copy_object(cast("Mapping[Any, Any]", value), MAX_DEPTH - 1)


def _copy_value(value: Any, depth_left: int) -> Json:
    kind = cast("object", type(value))
    if kind is str:
        return value if value.isascii() else _check_unicode(value)
    if value is None or kind is bool:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise ValueProblem("is not a finite number", allowed="finite numbers")
        return value
    if kind is int:
        return value if _SMALLEST <= value <= _LARGEST else _convert_to_float(value)
    if depth_left == 0:
        raise ValueProblem("is nested too deep", allowed=f"at most {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _copy_object(cast("Mapping[Any, Any]", value), depth_left - 1)
    if isinstance(value, (list, tuple)):
        return _copy_list(cast("Sequence[Any]", value), depth_left - 1)
    raise ValueProblem(f"is not a JSON value but {type(value).__name__}", allowed="JSON")


def _copy_object(value: Mapping[Any, Any], depth_left: int) -> JsonObject:
    copied: JsonObject = {}
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
                copied[name] = _copy_value(item, depth_left)
    except ValueProblem as problem:
        problem.reversed_path.append(name if isinstance(name, str) else repr(name)[:_SHOWN])
        raise
    return copied


def _copy_list(value: Sequence[Any], depth_left: int) -> list[Json]:
    copied: list[Json] = []
    try:
        for item in value:
            copied.append(_copy_value(item, depth_left))  # noqa: PERF401 - the length gives the index of a problem
    except ValueProblem as problem:
        problem.reversed_path.append(len(copied))
        raise
    return copied


def _convert_to_float(value: int) -> float:
    """Return the nearest float, as other JSON readers do for an integer of more than 64 bits."""
    try:
        return float(value)
    except OverflowError:
        raise ValueProblem("is beyond the range of numbers", allowed="numbers up to 1.7e308") from None


def _check_key(name: Any) -> None:
    if type(name) is not str:
        raise ValueProblem("is a key that is not a string", allowed="strings as keys")
    _check_unicode(name)


def _check_unicode(text: str) -> str:
    """Return the text. Raise ValueProblem if it has half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueProblem("has half a character", allowed="whole Unicode text") from None
    return text
