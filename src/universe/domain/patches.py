"""The type of a change to an entity: any of its fields, and more."""

from typing import Any, NotRequired, cast, get_type_hints

from typing_extensions import TypedDict, is_typeddict

from universe.domain.entities import OPEN


def patch_of(entity: Any) -> Any:
    """The type whose fields are those of `entity`, none of them required; what could not be null still cannot."""
    assert is_typeddict(entity)
    hints = get_type_hints(entity, include_extras=True)
    fields = {name: NotRequired[_bare(hint)] for name, hint in hints.items() if not name.startswith("__")}
    patch = cast("Any", TypedDict)(f"{entity.__name__}Patch", fields)
    patch.__pydantic_config__ = OPEN
    patch.__doc__ = f"Any fields of a {entity.__name__}."
    return patch


def _bare(hint: Any) -> Any:
    return hint.__args__[0] if getattr(hint, "__origin__", None) is NotRequired else hint
