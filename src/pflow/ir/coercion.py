"""Values as the type they are declared to be: lenient where nothing is lost, and never silent where something is."""

import math
import re
from functools import lru_cache
from typing import Any, Final

import orjson

from pflow.templates.resolution import as_text

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
_EXACTLY: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "dict": (dict,),
    "list": (list,),
}
_WHOLE: Final = re.compile(r"\s*[+-]?\d{1,300}\s*")


def coerced(value: Any, kind: str) -> tuple[Any, bool]:
    """The value as one of this type (`string`, `number`, `integer`, `boolean`, `object`, `array`, `any`), and whether
    it can be. Null fits every type."""
    if value is None or kind == "any":
        return value, True
    if kind == "string":
        return as_text(value), True
    if kind == "boolean":
        return _boolean(value)
    if kind in ("number", "integer"):
        return _number(value, kind)
    return _container(value, dict if kind == "object" else list)


def _boolean(value: Any) -> tuple[Any, bool]:
    if isinstance(value, bool):
        return value, True
    word = str(value).strip().lower()
    return word in _TRUE, word in _TRUE or word in _FALSE


def _number(value: Any, kind: str) -> tuple[Any, bool]:
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


def _container(value: Any, kind: type) -> tuple[Any, bool]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value, False
    return value, isinstance(value, kind)


def fits(value: Any, kind: str) -> bool:
    """Whether a value is of a parameter's type, or can be made to be."""
    return made_to_fit(value, kind)[1]


def made_to_fit(value: Any, kind: str) -> tuple[Any, bool]:
    """The value as a parameter of this type takes it, and whether it can be; as it is if it is of one of several."""
    exact = _exactly(kind)
    if value is None or exact is None or type(value) in exact:
        return value, True
    for one in kind.split("|"):
        made, is_made = coerced(value, _KINDS[one])
        if is_made:
            return made, True
    return value, False


@lru_cache(maxsize=256)
def _exactly(kind: str) -> frozenset[type] | None:
    """The types of values that are of this type as they are; None if all are."""
    kinds = kind.split("|")
    return None if "any" in kinds else frozenset(exact for one in kinds for exact in _EXACTLY[one])
