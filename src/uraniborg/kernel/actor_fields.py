"""The type of an actor in replies."""

from typing import Annotated, TypeAlias

from pydantic import GetPydanticSchema

from uraniborg.kernel.actors import Actor

ActorFields: TypeAlias = Annotated[dict[str, str], GetPydanticSchema(lambda _source, handler: handler(Actor))]
"""An actor as JSON, as `Actor.model_dump` returns it."""
