"""Declare the actor in stored records once, for all parts."""

from typing import Annotated

from pydantic import Field

from uraniborg.kernel.actors import Actor


def _is_none(value: object) -> bool:
    return value is None


StoredActor = Annotated[Actor | None, Field(exclude_if=_is_none)]
"""Left out of a record if it is None, as in records of versions that stored no actor."""
