"""Values as the type they are declared to be: lenient where nothing is lost, and never silent where something is."""

import math
import re
from typing import Any, Final

import orjson

from pflow.templates.resolving import as_text

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
    if value is None or "any" in kind.split("|"):
        return True
    return any(coerced(value, _KINDS[one])[1] for one in kind.split("|"))


def made_to_fit(value: Any, kind: str) -> Any:
    """The value as a parameter of this type takes it; as it is if it is of one of several types."""
    kinds = kind.split("|")
    if value is None or "any" in kinds or any(_is_exactly(value, one) for one in kinds):
        return value
    return next((made for one in kinds for made, ok in [coerced(value, _KINDS[one])] if ok), value)


def _is_exactly(value: Any, kind: str) -> bool:
    return isinstance(value, _EXACTLY[kind]) and (kind == "bool" or not isinstance(value, bool))
