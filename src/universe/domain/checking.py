"""Checks of values against their types: every problem, with its path and the values allowed."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Final, cast

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
from universe.domain.suggestions import nearest
from universe.domain.values import Flaw

MOST_FLAWS: Final = 20
"""The most problems that one error lists."""

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
    "finite_number": "is not a finite number",
    "string_type": "is not a string",
    "float_type": "is not a number",
    "int_type": "is not a whole number",
    "int_from_float": "is not a whole number",
    "bool_type": "is neither true nor false",
    "dict_type": "is not an object",
    "list_type": "is not a list",
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


def flaws_of(kind: Any, value: Mapping[str, Any]) -> list[Flaw]:
    """Return the problems of `value` as one of this kind, one for each path."""
    try:
        check_of(kind).validate_python(value)
    except ValidationError as exc:
        flaws: dict[str, Flaw] = {}
        for error in exc.errors(include_input=False, include_url=False):
            flaw = _flaw(kind, error, value)
            flaws.setdefault(flaw.path, flaw)
        return list(flaws.values())
    return []


def field_flaws(kind: Any, value: Mapping[str, Any], what: str, inner: Mapping[str, Collection[str]]) -> list[Flaw]:
    """Return the problems of `value` as one of a kind that has no other fields than its own.

    `inner` are the names of the fields inside some of its fields.
    """
    known = {name: value[name] for name in kind.__annotations__ if name in value}
    return _unknown_fields(kind, value, what, inner) + flaws_of(kind, known)


def _unknown_fields(kind: Any, value: Mapping[str, Any], what: str, inner: Mapping[str, Collection[str]]) -> list[Flaw]:
    known = [name for name in kind.__annotations__ if name != "type"]
    flaws: list[Flaw] = []
    for name in value:
        if name in kind.__annotations__:
            continue
        around = next((field for field, names in inner.items() if name in names), None)
        problem = f"is not a field of {what}" + (f"; put it inside {around}" if around else "")
        meant = [] if around else nearest(name, [one for one in known if one not in value])
        flaws.append(Flaw(problem, allowed=known, way=[name], nearest=meant))
        if len(flaws) == MOST_FLAWS:
            break
    return flaws


def map_flaws(holder: Mapping[str, Any], *above: str) -> list[Flaw]:
    """Return the problems of the entities in the maps of `holder`, up to a number."""
    flaws: list[Flaw] = []
    for name, kind in MAPS.items():
        entities = holder.get(name)
        if not isinstance(entities, dict):  # `flaws_of` has reported what is neither a map nor absent
            continue
        way = [name, *reversed(above)]
        for key, entity in cast("dict[str, Any]", entities).items():
            if not 0 < len(key) <= ID_CHARS:
                flaws.append(
                    Flaw("has an id that is empty or too long", allowed=f"1 to {ID_CHARS} characters", way=way)
                )
            for flaw in flaws_of(kind, entity):
                flaw.way += [key, *way]
                flaws.append(flaw)
            if len(flaws) >= MOST_FLAWS:
                return flaws
    return flaws


def _flaw(kind: Any, error: ErrorDetails, value: Any) -> Flaw:
    way = list(error["loc"])
    if way and way[-1] in _OF_UNIONS:
        return Flaw("is neither a string nor a number", allowed="a string or a number", way=way[-2::-1])
    if error["type"] == "missing":
        meant = _find_misspelled(kind, value, way)
        problem = "is missing" + "".join(f"; there is '{name[:40]}'" for name in meant)
        return Flaw(problem, allowed=_allowed(kind, error), way=way[::-1])
    problem = _SAID.get(error["type"]) or error["msg"].removeprefix("Value error, ").replace("Input ", "")
    return Flaw(problem.replace("String ", "").replace("should", "must"), allowed=_allowed(kind, error), way=way[::-1])


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


def _find_misspelled(kind: Any, value: Any, way: list[Any]) -> list[str]:
    """Return the key, if any, beside a missing field that is probably a misspelling of it."""
    for part in way[:-1]:
        value = value[part]
    known = _properties(kind, way[:-1])
    return nearest(str(way[-1]), [name for name in value if name not in known])[:1] if known else []


def _properties(kind: Any, way: list[Any]) -> Collection[str]:
    """Return the names of the fields at the end of a path."""
    from universe.domain.schemas import schema_at

    return schema_at(_schema_of(kind), [str(part) for part in way]).get("properties", {}).keys()


def _type_of(kind: Any, way: list[str]) -> str:
    """What a field that is missing may be, in words."""
    from universe.domain.schemas import field_at

    return field_at(_schema_of(kind), way)


@cache
def _schema_of(kind: Any) -> dict[str, Any]:
    return check_of(kind).json_schema()
