"""A server that greets before it is made. It is made once the file that it is given, a pipe, has been written to."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uraniborg.kernel.greeting import Greeting
from uraniborg.kernel.stdio import greet

if TYPE_CHECKING:
    from uraniborg.kernel.mcp import Server

GREETING = Greeting("sample", "7.8.9", "A server for tests.")


def listening(server: "Server") -> None:
    """Have it said on stderr when the server takes messages."""
    protocol: Any = server.protocol
    run = protocol.run

    async def say_and_run(*arguments: Any) -> None:
        sys.stderr.write("running\n")
        sys.stderr.flush()
        await run(*arguments)

    protocol.run = say_and_run


def main() -> None:
    pipe, *instead = sys.argv[1:]
    greet(Greeting(*instead, version="0", instructions="") if instead else GREETING)
    assert "mcp" not in sys.modules, "nothing needs the SDK before"
    told = Path(pipe).read_text()
    assert told == "go on"
    from tests.uraniborg.kernel.mcp.sample_server import sample_server

    server = sample_server()
    listening(server)
    server.run(transport="stdio")


if __name__ == "__main__":
    main()
