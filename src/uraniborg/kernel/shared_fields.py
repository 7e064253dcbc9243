"""Declare the fields that replies, changes and stored records of all parts share: actors, and changes in the feed."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, GetPydanticSchema
from typing_extensions import TypedDict

from uraniborg.kernel.actors import Actor


class ChangeFields(TypedDict):
    """The fields of every change."""

    subject: Annotated[str, Field(description="The id of the thing that changed.")]
    at: str


class Reset(ChangeFields):
    """Changes before this event were lost: read everything again."""

    kind: Literal["reset"]


ActorFields: TypeAlias = Annotated[dict[str, str], GetPydanticSchema(lambda _source, handler: handler(Actor))]
"""An actor as JSON, as `Actor.model_dump` returns it."""


def _is_none(value: object) -> bool:
    return value is None


StoredActor = Annotated[Actor | None, Field(exclude_if=_is_none)]
"""Left out of a record if it is None, as in records of versions that stored no actor."""
