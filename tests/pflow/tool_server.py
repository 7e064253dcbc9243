"""An MCP server for nodes to call. As a script it serves over stdio, and records its start in the file `STARTS`."""

import os
from typing import Any

from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.mcp import Server, make_server, tool


def tool_server() -> Server:
    server = make_server("tools", version="1.2", instructions="Tools for tests.")

    @tool(server, title="Add", read_only=True)
    async def add(a: int, b: int = 10) -> dict[str, Any]:
        """Add two numbers."""
        return {"sum": a + b, "process": os.getpid()}

    @tool(server, title="Count", read_only=True)
    async def count(to: int) -> list[int]:
        """Count up to a number."""
        return list(range(to))

    @tool(server, title="Say", read_only=False, idempotent=True)
    async def say(text: str) -> str:
        """Return the text."""
        return text

    @tool(server, title="Lose", read_only=False)
    async def lose(name: str) -> str:
        """Raise NotFound."""
        raise NotFound(f"There is no {name}.", hint="Look elsewhere.")

    @tool(server, title="Leave", read_only=False)
    async def leave() -> str:
        """End the server without an answer."""
        os._exit(1)

    @tool(server, title="Show variable", read_only=True)
    async def show_variable(variable: str) -> str:
        """Return a variable of the environment of the server."""
        return os.environ.get(variable, "")

    return server


def main() -> None:
    if "STARTS" in os.environ:
        with open(os.environ["STARTS"], "a") as starts:
            starts.write(f"{os.getpid()}\n")
    tool_server().run()


if __name__ == "__main__":
    main()
