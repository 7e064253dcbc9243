"""What nodes give, as JSON: the same whether it was just computed or read back from a checkpoint."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import PurePath
from typing import Any, Final, cast

import orjson

from pflow.errors import NodeFailed

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
_SORTED: Final = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
_DEEPEST: Final = 200
_KEYS: Final = (str, int, float, bool, type(None))
_LONG_NUMBER: Final = re.compile(rb"(?<![\w.])\d{19}")
"""What the fast reader would take for a fraction, if it is a whole number."""
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MANY_DIGITS: Final = b"0" * 19
"""To look for these takes a hundredth of the time."""


def as_json(outputs: Mapping[str, Any]) -> bytes:
    """The outputs of a node as JSON: tuples and sets as lists, times as ISO 8601, bytes as base64, NaN as null.

    Raises NodeFailed for what has no such form.
    """
    try:
        return orjson.dumps(outputs, default=_plain, option=_OPTIONS)
    except orjson.JSONEncodeError:
        pass
    from uraniborg.kernel.text import replace_surrogates

    try:
        # Integers beyond 64 bits and half characters are left to the standard library.
        return replace_surrogates(json.dumps(_simple(outputs, 0), ensure_ascii=False)).encode()
    except Exception as exc:  # objects of a node's own may do anything when they are looked into
        raise NodeFailed(
            f"The node gave a value that has no JSON form: {exc}.",
            hint="Nodes give texts, numbers, booleans, lists and objects.",
        ) from None


def from_json(text: bytes) -> Any:
    """Raises ValueError."""
    if _MANY_DIGITS not in text.translate(_DIGITS) or not _LONG_NUMBER.search(text):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _plain(value: Any) -> Any:  # noqa: PLR0911 - one line for each kind of value
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[Any]", value), key=lambda one: (type(one).__name__, str(one)))
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, (list, tuple)):
        return list(cast("list[Any]", value))
    for kind in (bool, int, float, str):  # what is derived from one of them
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _simple(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"it is nested deeper than {_DEEPEST} levels")
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key if type(key) in _KEYS else str(key): _simple(item, depth + 1) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [_simple(item, depth + 1) for item in cast("list[Any]", value)]
    return _simple(_plain(value), depth + 1)


def fingerprint(*parts: Any) -> str:
    """The same for the same parts, whatever the order of their keys. Raises NodeFailed for what has no such thing."""
    try:
        text = orjson.dumps(parts, default=_plain, option=_SORTED)
    except orjson.JSONEncodeError:
        try:
            text = json.dumps(parts, default=str, sort_keys=True).encode("utf-8", "surrogatepass")
        except RecursionError:
            raise NodeFailed("A parameter is nested too deep.", hint="Pass it on as a text of JSON.") from None
    return hashlib.blake2b(text, digest_size=16).hexdigest()
