"""Convert values to their declared types, as long as nothing is lost."""

import math
import re
from functools import lru_cache
from typing import Any, Final

from pflow.templates.resolution import format_as_text
from uraniborg.kernel.boundary import parse_json

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
