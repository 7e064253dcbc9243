"""Checking values against their types, one after the other: the first flaw is told, with what would be right."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from universe.domain.entities import (
    ID_CHARS,
    AsteroidBelt,
    Group,
    NebulaRegion,
    ProtoplanetaryDisk,
    SmallBodyField,
    Star,
)
from universe.domain.values import Flaw

MAPS: Final[dict[str, Any]] = {
    "stars": Star,
    "groups": Group,
    "belts": AsteroidBelt,
    "smallBodyFields": SmallBodyField,
    "fields": SmallBodyField,
    "protoplanetaryDisks": ProtoplanetaryDisk,
    "disks": ProtoplanetaryDisk,
    "nebulae": NebulaRegion,
}
"""What the maps of these names hold. They may be large, so their entities are checked one by one."""

_SAID: Final = {
    "missing": "is missing",
    "finite_number": "is not a finite number",
    "string_type": "is no string",
    "float_type": "is no number",
    "int_type": "is no whole number",
    "int_from_float": "is no whole number",
    "bool_type": "is neither true nor false",
    "dict_type": "is no object",
    "list_type": "is no list",
    "too_short": "has too few items",
    "too_long": "has too many items",
}
_ALLOWED: Final = {
    "finite_number": "a finite number",
    "string_type": "a string",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "list_type": "a list",
    "string_too_short": f"1 to {ID_CHARS} characters",
    "string_too_long": f"at most {ID_CHARS} characters",
}
_OF_UNIONS: Final = ("str", "int", "float")
"""What a type of several kinds adds to the way to each of them."""

_checks: dict[Any, TypeAdapter[Any]] = {}


def check_of(kind: Any) -> TypeAdapter[Any]:
    """The check for a type, made when it is first needed: it takes a while."""
    if (check := _checks.get(kind)) is None:
        check = _checks[kind] = TypeAdapter(kind)
    return check


def check(kind: Any, value: Any) -> None:
    """Raises Flaw unless `value` is of this kind."""
    try:
        check_of(kind).validate_python(value)
    except ValidationError as exc:
        raise _flaw(kind, exc.errors(include_input=False, include_url=False)[0]) from None


def check_fields(kind: Any, value: Mapping[str, Any], what: str) -> None:
    """Raises Flaw if `value` has a field that the kind has not."""
    known = kind.__annotations__
    for name in value:
        if name not in known:
            raise Flaw(f"is no field of {what}", allowed=[one for one in known if one != "type"], way=[name])


def check_maps(holder: Mapping[str, Any], *above: str) -> None:
    """Raises Flaw at the first entity of the maps in `holder` that is not what it should be."""
    for name, kind in MAPS.items():
        entities = holder.get(name)
        if entities is None:
            continue
        way = [name, *reversed(above)]
        if not isinstance(entities, dict):
            raise Flaw("is no object", allowed="an object of ids and what they name", way=way)
        validate = check_of(kind).validate_python
        for key, entity in entities.items():  # pyright: ignore[reportUnknownVariableType]
            if not 0 < len(key) <= ID_CHARS:  # pyright: ignore[reportUnknownArgumentType]
                raise Flaw("has an id that is empty or too long", allowed=f"1 to {ID_CHARS} characters", way=way)
            try:
                validate(entity)
            except ValidationError as exc:
                flaw = _flaw(kind, exc.errors(include_input=False, include_url=False)[0])
                flaw.way += [str(key), *way]  # pyright: ignore[reportUnknownArgumentType]
                raise flaw from None


def _flaw(kind: Any, error: ErrorDetails) -> Flaw:
    way = list(error["loc"])
    if way and way[-1] in _OF_UNIONS:
        return Flaw("is neither a string nor a number", allowed="a string or a number", way=way[-2::-1])
    problem = _SAID.get(error["type"]) or error["msg"].removeprefix("Value error, ").replace("Input ", "")
    return Flaw(problem.replace("String ", ""), allowed=_allowed(kind, error), way=way[::-1])


def _allowed(kind: Any, error: ErrorDetails) -> Any:
    context = error.get("ctx", {})
    if error["type"] == "missing":
        return _type_of(kind, [str(part) for part in error["loc"]])
    if "expected" in context:
        return context["expected"]
    if "min_length" in context and error["type"] == "too_short":
        return f"at least {context['min_length']} items"
    if "max_length" in context and error["type"] == "too_long":
        return f"at most {context['max_length']} items"
    return _ALLOWED.get(error["type"]) or error["msg"].removeprefix("Value error, ").replace(
        "Input should be ", ""
    ).removeprefix("should be ")


def _type_of(kind: Any, way: list[str]) -> str:
    """What a field that is missing may be, in words."""
    from universe.domain.schemas import field_at

    return field_at(_schema_of(kind), way)


@cache
def _schema_of(kind: Any) -> dict[str, Any]:
    return check_of(kind).json_schema()
