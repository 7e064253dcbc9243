"""REST routes of what a client can choose from: the origins of universes, and all commands."""

import asyncio
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.responses import Response

from universe.domain.command_catalogue import list_command_categories
from universe.initial_states import get_default_universe_name
from universe.rest.responses import make_json_response


class System(BaseModel):
    """A real system that ships with the program. `id` is for `from`."""

    id: str
    name: str


class OriginList(BaseModel):
    """What a universe can be created from: `seed:PRESET:SEED` takes the settings of the schema."""

    systems: list[System]
    presets: list[str]
    settings: dict[str, Any]


class CommandCategory(BaseModel):
    """Commands that belong together, each with its fields, an example and its refusals."""

    name: str
    slug: str
    commands: list[dict[str, Any]]


class CommandList(BaseModel):
    """All commands."""

    categories: list[CommandCategory]


def add_reference_routes(app: FastAPI) -> None:
    """Add the routes of origins and commands."""

    @app.get("/origins", summary="List what universes can be created from", response_model=OriginList)
    async def list_origins() -> Response:  # pyright: ignore[reportUnusedFunction]
        """Return the real systems, the presets of seeds, and the settings of seeds as a JSON schema."""
        return make_json_response(await asyncio.to_thread(_describe_origins))

    @app.get("/commands", summary="List the commands", response_model=CommandList)
    async def list_commands() -> Response:  # pyright: ignore[reportUnusedFunction]
        """Return every command with its fields, an example and its refusals."""
        return make_json_response({"categories": await asyncio.to_thread(list_command_categories)})


def _describe_origins() -> dict[str, Any]:
    from universe import systems  # imports what a server without real systems does not need
    from universe.generate.config import STYLES, GenerationConfig
    from universe.generate.grammar import TOPOLOGIES

    return {
        "systems": [{"id": name, "name": get_default_universe_name(name)} for name in systems.list_system_names()],
        "presets": [*TOPOLOGIES, *STYLES],
        "settings": GenerationConfig.model_json_schema(),
    }
