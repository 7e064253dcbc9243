"""Convert inputs and parameters to their declared types, and outputs of nodes to JSON, and fingerprint values."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final, cast

import orjson

from pflow.domain.template_resolution import format_as_text
from pflow.errors import NodeFailed
from uraniborg.kernel.boundary import has_long_number, make_encodable, parse_json

_TRUE: Final = ("true", "1", "yes", "on")
_FALSE: Final = ("false", "0", "no", "off")
_KINDS: Final = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}
_EXACT_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "dict": (dict,),
    "list": (list,),
}
_WHOLE: Final = re.compile(r"\s*[+-]?\d{1,300}\s*")


def try_coerce_value(value: Any, kind: str) -> tuple[Any, bool]:
    """Convert a value to a type (`string`, `number`, `integer`, `boolean`, `object`, `array` or `any`).

    Return the value, and whether it could be converted. Null fits every type.
    """
    if value is None or kind == "any":
        return value, True
    if kind == "string":
        return format_as_text(value), True
    if kind == "boolean":
        return _try_coerce_boolean(value)
    if kind in ("number", "integer"):
        return _try_coerce_number(value, kind)
    return _try_coerce_container(value, dict if kind == "object" else list)


def _try_coerce_boolean(value: Any) -> tuple[Any, bool]:
    if isinstance(value, bool):
        return value, True
    word = str(value).strip().lower()
    return word in _TRUE, word in _TRUE or word in _FALSE


def _try_coerce_number(value: Any, kind: str) -> tuple[Any, bool]:
    if isinstance(value, str):
        try:
            value = int(value) if _WHOLE.fullmatch(value) else float(value)
        except ValueError:
            return value, False
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value, False
    if isinstance(value, float) and not math.isfinite(value):
        return value, False
    if kind == "integer" and isinstance(value, float):
        return (int(value), True) if value.is_integer() else (value, False)
    return value, True


def _try_coerce_container(value: Any, kind: type) -> tuple[Any, bool]:
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            return value, False
    return value, isinstance(value, kind)


def can_coerce_param(value: Any, kind: str) -> bool:
    """Return True if a value has the type of a parameter, or can be converted to it."""
    return try_coerce_param(value, kind)[1]


def try_coerce_param(value: Any, kind: str) -> tuple[Any, bool]:
    """Convert a value to the type of a parameter, which may be a union.

    Return the value, and whether it could be converted.
    """
    exact = _get_exact_types(kind)
    if value is None or exact is None or type(value) in exact:
        return value, True
    for one in kind.split("|"):
        made, is_made = try_coerce_value(value, _KINDS[one])
        if is_made:
            return made, True
    return value, False


@lru_cache(maxsize=256)
def _get_exact_types(kind: str) -> frozenset[type] | None:
    """Return the Python types that fit this type unchanged, or None for any."""
    kinds = kind.split("|")
    return None if "any" in kinds else frozenset(exact for one in kinds for exact in _EXACT_TYPES[one])


_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
_SORTED: Final = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
_MAX_DEPTH: Final = 200
_KEYS: Final = (str, int, float, bool, type(None))


def encode_outputs(outputs: Mapping[str, object]) -> bytes:
    """Return outputs as JSON: tuples and sets as lists, times as ISO 8601, bytes as base64, NaN as null.

    Texts of nodes enter here: half a character becomes U+FFFD. Raise NodeFailed for a value without a JSON form.
    """
    try:
        return orjson.dumps(outputs, default=_convert_to_json_type, option=_OPTIONS)
    except orjson.JSONEncodeError:
        pass
    try:
        # The standard library handles integers beyond 64 bits and half characters.
        return make_encodable(json.dumps(_convert_to_plain_types(outputs, 0), ensure_ascii=False)).encode()
    except Exception as exc:  # objects of a node may raise anything when they are converted
        raise NodeFailed(
            f"The node returned a value that has no JSON form: {exc}.",
            hint="Nodes return texts, numbers, booleans, lists and objects.",
        ) from None


def parse_exact_json(text: bytes) -> Any:
    """Return the value of a JSON text. Raise ValueError."""
    if not has_long_number(text):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _convert_to_json_type(value: Any) -> Any:  # noqa: PLR0911 - one line for each kind of value
    """Return a value of a type that JSON lacks as one that it has. Raise TypeError."""
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
    for kind in (bool, int, float, str):  # subclasses of these
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _convert_to_plain_types(value: Any, depth: int) -> Any:
    """Return the value with plain types only. Raise ValueError if it is nested too deep."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {_MAX_DEPTH} levels")
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {
            key if type(key) in _KEYS else str(key): _convert_to_plain_types(item, depth + 1) for key, item in items
        }
    if isinstance(value, (list, tuple)):
        return [_convert_to_plain_types(item, depth + 1) for item in cast("list[Any]", value)]
    return _convert_to_plain_types(_convert_to_json_type(value), depth + 1)


def compute_fingerprint(*parts: Any) -> str:
    """Return a digest of the parts, independent of the order of keys. Raise NodeFailed if they are nested too deep."""
    try:
        text = orjson.dumps(parts, default=_convert_to_json_type, option=_SORTED)
    except orjson.JSONEncodeError:
        try:
            text = json.dumps(parts, default=str, sort_keys=True).encode()
        except RecursionError:
            raise NodeFailed("A parameter is nested too deep.", hint="Pass it as a text of JSON.") from None
    return hashlib.blake2b(text, digest_size=16).hexdigest()
