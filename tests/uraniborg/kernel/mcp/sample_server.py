"""A server with a tool for everything that can happen to one; run as a script it serves over stdio."""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from uraniborg.kernel.errors import Conflict, NotFound
from uraniborg.kernel.mcp import Server, make_server, report_progress, resource, tool
from uraniborg.kernel.mcp.stdio import run_stdio


class Note(BaseModel):
    text: str
    by: str | None = None


def say_on_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def sample_server() -> Server:
    server = make_server("sample", version="7.8.9", instructions="A server for tests.")
    add_answers(server)
    add_failures(server)
    add_trouble(server)
    add_resources(server)
    return server


def add_answers(server: Server) -> None:
    @tool(server, title="Echo", read_only=True, idempotent=True)
    async def echo(
        text: str, times: Annotated[int, Field(ge=1, le=100)] = 1, style: Literal["plain", "loud"] = "plain"
    ) -> dict[str, Any]:
        """Return the text.

        Repeat it as often as requested.
        """
        repeated = text * times
        return {"text": repeated.upper() if style == "loud" else repeated, "nothing": None}

    @tool(server, title="Say", read_only=True)
    async def say(text: str) -> str:
        """Answers with the text itself."""
        return text

    @tool(server, title="Numbers", read_only=True)
    async def numbers(count: int) -> list[int]:
        """Count."""
        return list(range(count))

    @tool(server, title="Note", read_only=False, destructive=True, open_world=True)
    async def note(note: Note) -> Note:
        """Take a note."""
        return note

    @tool(server, title="Give back", read_only=True)
    async def give_back(value: Any) -> Any:
        """Answers with what it was given."""
        return value

    @tool(server, title="Large", read_only=True, structured=False)
    async def large(size: int) -> dict[str, str]:
        """Answers at length, once."""
        return {"text": "x" * size}


def add_failures(server: Server) -> None:
    @tool(server, title="Lose", read_only=True)
    async def lose(paper_id: str) -> str:
        """Fail to find a paper."""
        raise NotFound(f"There is no paper {paper_id}.", hint="Search first.", paper_id=paper_id)

    @tool(server, title="Break", read_only=True)
    async def break_down(how: Literal["error", "exit", "answer"]) -> Any:
        """Fails in ways nobody planned for."""
        if how == "exit":
            sys.exit("sk-secret")
        if how == "answer":
            return {"unspeakable": object()}
        raise RuntimeError("sk-secret")


def add_trouble(server: Server) -> None:
    @tool(server, title="Noise", read_only=True)
    async def make_noise() -> str:
        """Print, and let a child process print and read."""
        print("printed")
        os.write(1, b"written\n")
        subprocess.run(["sh", "-c", "cat; echo from the child"], check=True)  # noqa: ASYNC221 - blocking is the point
        return "quiet"

    @tool(server, title="Open files", read_only=True)
    async def list_open_files(target: str) -> str:
        """Has a child process write down what it inherits."""
        listing = (
            "import os, sys; fds = [n for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]"
        )
        writing = (
            "open(sys.argv[1], 'w').writelines(f'{n} ' + os.readlink(f'/proc/self/fd/{n}') + chr(10) for n in fds)"
        )
        command = [sys.executable, "-c", f"{listing}; {writing}", target]
        subprocess.run(command, check=True, close_fds=False)  # noqa: ASYNC221 - blocking is the point
        return "listed"

    @tool(server, title="Wait", read_only=True)
    async def wait_forever() -> str:
        """Never answers."""
        say_on_stderr("started")
        await asyncio.Event().wait()
        return ""

    @tool(server, title="Ignore", read_only=True)
    async def ignore_cancellation() -> str:
        """Never answers, not even when it is cancelled."""
        say_on_stderr("started")
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    @tool(server, title="Block", read_only=True)
    async def block_the_loop() -> str:
        """Never answers, nor lets anything else happen."""
        say_on_stderr("started")
        time.sleep(3600)  # noqa: ASYNC251 - blocking is the point
        return ""

    @tool(server, title="Copy", read_only=False)
    async def copy_in_a_thread(source: str, target: str) -> str:
        """Copy a file as soon as the source can be read."""
        say_on_stderr("started")
        await asyncio.to_thread(lambda: Path(target).write_bytes(Path(source).read_bytes()))
        return "copied"

    @tool(server, title="Work", read_only=True)
    async def work(steps: int) -> str:
        """Tells how far it is."""
        for step in range(steps):
            await report_progress(step + 1, steps, f"step {step + 1}")
        return "done"


def add_resources(server: Server) -> None:
    @resource(server, "sample://about", title="About")
    async def about() -> str:
        """Describe this server."""
        return "A sample."

    @resource(server, "sample://{key}/text", title="Text")
    async def text(key: str) -> str:
        """Return the key."""
        return key

    @resource(server, "sample://{key}/facts", title="Facts", mime_type="application/json")
    async def facts(key: str) -> dict[str, Any]:
        """Facts about the key."""
        return {"key": key, "length": len(key), "nothing": None}

    @resource(server, "sample://{key}/bytes", title="Bytes", mime_type="application/octet-stream")
    async def raw(key: str) -> bytes:
        """Return the key in bytes."""
        return key.encode()

    @resource(server, "sample://{key}/fail/{how}", title="Failure")
    async def fail(key: str, how: Literal["missing", "conflict", "error"]) -> str:
        """Fails."""
        if how == "missing":
            raise NotFound("It is not there.", hint="Look elsewhere.", key=key)
        if how == "conflict":
            raise Conflict("Not now.", key=key)
        raise RuntimeError("sk-secret")


async def clean_up() -> None:
    say_on_stderr("cleaned up")


async def clean_up_forever() -> None:
    say_on_stderr("cleaning")
    await asyncio.Event().wait()


async def clean_up_whatever_happens() -> None:
    say_on_stderr("cleaning")
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


def main() -> None:
    match sys.argv[1:]:
        case ["cleanup"]:
            run_stdio(sample_server().protocol, cleanup=clean_up)
        case ["cleanup", grace]:
            run_stdio(sample_server().protocol, cleanup=clean_up, grace=float(grace))
        case ["endless-cleanup", grace]:
            run_stdio(sample_server().protocol, cleanup=clean_up_forever, grace=float(grace))
        case ["cleanup", grace, patience]:
            run_stdio(sample_server().protocol, cleanup=clean_up, grace=float(grace), patience=float(patience))
        case ["stubborn-cleanup", grace]:
            run_stdio(sample_server().protocol, cleanup=clean_up_whatever_happens, grace=float(grace))
        case _:
            sample_server().run(transport="stdio")


if __name__ == "__main__":
    main()
