"""The command of the tool server, forked when it is loaded."""

from typing import Any

from tests.forked_processes import template
from tests.pflow import tool_server

LOADED = ("anyio._backends._asyncio", "rich.logging", "structlog")


def tool_command() -> dict[str, Any]:
    """Return what the configuration of a server has for it."""
    command, *arguments = template(f"{tool_server.__name__}:main", *LOADED).command()
    return {"command": command, "args": arguments}
