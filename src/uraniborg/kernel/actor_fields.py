"""Declare the actor in replies once, for all parts."""

from typing import Annotated, TypeAlias

from pydantic import GetPydanticSchema

from uraniborg.kernel.actors import Actor

ActorFields: TypeAlias = Annotated[dict[str, str], GetPydanticSchema(lambda _source, handler: handler(Actor))]
"""An actor as JSON, as `Actor.model_dump` returns it."""
