"""Dump models as the declared replies that have their fields."""

from typing import TypeVar, cast

from pydantic import BaseModel

Fields = TypeVar("Fields")


def dump_as(declared: type[Fields], model: BaseModel, *, exclude_none: bool = False) -> Fields:
    """Return the fields of the model that a TypedDict declares, as plain JSON; the model must have them."""
    fields = model.model_dump(mode="json", include=set(declared.__annotations__), exclude_none=exclude_none)
    return cast("Fields", fields)
