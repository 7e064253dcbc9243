"""What nodes give, as JSON: the same whether it was just computed or read back from a checkpoint."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import PurePath
from typing import Any, Final, cast

import orjson

from pflow.errors import NodeFailed

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
_SORTED: Final = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def as_json(outputs: Mapping[str, Any]) -> bytes:
    """The outputs of a node as JSON: tuples and sets as lists, times as ISO 8601, bytes as base64, NaN as null.

    Raises NodeFailed for what has no such form.
    """
    try:
        return orjson.dumps(outputs, default=_plain, option=_OPTIONS)
    except orjson.JSONEncodeError:
        pass
    from uraniborg.kernel.text import whole_text

    try:
        # Integers beyond 64 bits, half characters and deep nesting are left to the standard library.
        return whole_text(json.dumps(_finite(outputs), default=_plain, ensure_ascii=False)).encode()
    except (TypeError, ValueError, RecursionError) as exc:
        raise NodeFailed(
            f"The node gave a value that has no JSON form: {exc}.",
            hint="Nodes give texts, numbers, booleans, lists and objects.",
        ) from None


def from_json(text: bytes) -> dict[str, Any]:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


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


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value


def fingerprint(*parts: Any) -> str:
    """The same for the same parts, whatever the order of their keys."""
    try:
        text = orjson.dumps(parts, default=_plain, option=_SORTED)
    except orjson.JSONEncodeError:
        text = json.dumps(parts, default=str, sort_keys=True).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
