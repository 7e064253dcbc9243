"""The parts of a declared reply that say nothing: for the tests that every operation of a part declares its reply."""

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from typing import Annotated, Any, ClassVar, Final, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue
from typing_extensions import is_typeddict

_DICTIONARIES: Final = (dict, Mapping, MutableMapping)
_FUNCTION: Final[Any] = get_origin(Callable[[], None])


def list_operations(service: type) -> list[Callable[..., Any]]:
    """Return the public functions and methods of a service."""
    members = [getattr(service, name) for name in dir(service) if not name.startswith("_")]
    return [member for member in members if inspect.isfunction(member) or inspect.ismethod(member)]


def list_untyped_parts(
    kind: Any,
    path: str = "reply",
    seen: tuple[Any, ...] = (),
    *,
    opaque: Collection[Any] = (),
    known: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """Yield the places where a type says nothing: Any, object, and containers of them.

    `opaque` are types that are not looked into, and `known` names that modules import for type checkers only.
    """
    if kind is JsonValue or kind in seen or kind in opaque or isinstance(kind, TypeVar):
        return
    if get_origin(kind) in (ClassVar, _FUNCTION):
        return
    if kind in (Any, object, dict, list, tuple):
        yield path
    elif get_origin(kind) is Annotated:
        yield from list_untyped_parts(get_args(kind)[0], path, seen, opaque=opaque, known=known)
    elif fields := _list_fields(kind, known):
        for name, field in fields.items():
            yield from list_untyped_parts(field, f"{path}.{name}", (*seen, kind), opaque=opaque, known=known)
    else:
        for part in get_args(kind):
            if not isinstance(part, str | int):  # values of Literal
                yield from list_untyped_parts(part, f"{path}[]", seen, opaque=opaque, known=known)


def list_untyped_dictionaries(kind: Any, path: str = "reply", *, opaque: Collection[Any] = ()) -> Iterator[str]:
    """Yield the places of dictionaries whose values are not typed, also of those that an alias names.

    `opaque` are types that are not looked into.
    """
    if kind in opaque:
        return
    if (get_origin(kind) or kind) in _DICTIONARIES and (get_args(kind) or (Any,))[-1] in (Any, object):
        yield path
    for part in get_args(kind):
        if not isinstance(part, str | int | list):  # values of Literal, and parameters of a function
            yield from list_untyped_dictionaries(part, f"{path}[]", opaque=opaque)


def _list_fields(kind: Any, known: Mapping[str, Any] | None) -> dict[str, Any]:
    if not isinstance(kind, type):
        return {}
    declared = cast("type[object]", kind)
    if issubclass(declared, BaseModel):
        return {name: field.annotation for name, field in declared.model_fields.items()}
    if is_typeddict(declared) or dataclasses.is_dataclass(declared) or issubclass(declared, tuple):
        hints = get_type_hints(cast("Any", declared), localns=dict(known or {}), include_extras=True)
        return {name: value for name, value in hints.items() if not name.startswith("_")}
    return {}
