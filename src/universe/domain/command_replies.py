"""Replies about commands: their categories, fields, examples and refusals."""

from typing import NotRequired

from typing_extensions import TypedDict

from uraniborg.kernel.json_values import Json, JsonObject


class CommandField(TypedDict):
    """A field of a command or of an entity, with its type in words."""

    type: str
    required: bool
    description: NotRequired[str]
    default: NotRequired[Json]
    minimum: NotRequired[float]
    maximum: NotRequired[float]
    fields: NotRequired["dict[str, CommandField]"]


class CommandFacts(TypedDict):
    """A command: its fields with their types in words, an example and its refusals."""

    type: str
    description: str
    fields: dict[str, CommandField]
    example: JsonObject
    refusals: list[str]


class CommandCategory(TypedDict):
    """Commands that belong together, each with its fields, an example and its refusals."""

    name: str
    slug: str
    commands: list[CommandFacts]


class CommandList(TypedDict):
    """All commands, or those of one category."""

    categories: list[CommandCategory]
