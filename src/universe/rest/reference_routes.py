"""REST routes that list what a client can choose from: the origins of universes, and all commands."""

import asyncio

from universe.domain.command_catalogue import list_command_categories
from universe.domain.command_replies import CommandList
from universe.initial_states import get_default_universe_name
from universe.replies import OriginList
from universe.rest.dependencies import make_router

router = make_router()


@router.get("/origins", summary="List what universes can be created from")
async def list_origins() -> OriginList:
    """Return the real systems, the presets of seeds, and the settings of seeds as a JSON schema."""
    return await asyncio.to_thread(_describe_origins)


@router.get("/commands", summary="List the commands")
async def list_commands() -> CommandList:
    """Return every command with its fields, an example and its refusals."""
    return {"categories": await asyncio.to_thread(list_command_categories)}


def _describe_origins() -> OriginList:
    from universe import systems  # imports what a server without real systems does not need
    from universe.generate.config import STYLES, GenerationConfig
    from universe.generate.grammar import TOPOLOGIES

    return {
        "systems": [{"id": name, "name": get_default_universe_name(name)} for name in systems.list_system_names()],
        "presets": [*TOPOLOGIES, *STYLES],
        "settings": GenerationConfig.model_json_schema(),
    }
