"""Many listeners: each receives every event, and the memory of the server stays bounded."""

import asyncio
import resource
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.universe.api.rest.processes import run_server_process
from tests.universe.domain.samples import add_star

LISTENERS: Final = 1_500
SILENT: Final = 20
COMMANDS: Final = 200
FILES: Final = LISTENERS + SILENT + 300
MEGABYTES: Final = 300
"""Of the server, at most. A listener that takes nothing must not be buffered for without an end."""
PATIENCE_S: Final = 240
NOTE: Final = "n" * 2_000


def check_file_limit() -> None:
    """Raise the soft limit of open files, which the server inherits, or skip the test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"{LISTENERS:,} listeners need {FILES:,} open files, and this process may open {hard:,}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))


class Listener:
    """One connection that reads events as they come."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, port: int) -> "Listener":
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /universes/u/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b": connected\nretry: 2000\n\n")
        return cls(reader, writer)

    async def versions(self) -> list[int]:
        """Return the versions of the events up to the last."""
        found: list[int] = []
        while not found or found[-1] < COMMANDS:
            line = await self._reader.readline()
            assert line, f"the stream ended after {found[-1:]}"
            if line.startswith(b"id: "):
                found.append(int(line[4:]))
        return found

    def close(self) -> None:
        self._writer.close()


def peak_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1_024


@pytest.mark.soak
@pytest.mark.timeout(PATIENCE_S + 60)
async def test_fifteen_hundred_listeners_receive_every_event_and_others_are_answered(tmp_path: Path) -> None:
    check_file_limit()
    with run_server_process(tmp_path / "u.db", from_the_start=True, stall_s=2) as served:
        port = int(served.url.rpartition(":")[2])
        async with asyncio.timeout(PATIENCE_S), httpx.AsyncClient(base_url=served.url, timeout=60) as client:
            (await client.post("/universes", json={"name": "Hven", "id": "u"})).raise_for_status()
            silent = [await Listener.connect(port) for _ in range(SILENT)]
            listeners = [await Listener.connect(port) for _ in range(LISTENERS)]
            assert (await client.get("/health")).json()["listeners"] == LISTENERS + SILENT
            reading = [asyncio.create_task(listener.versions()) for listener in listeners]
            for number in range(COMMANDS):
                answer = await client.post(
                    "/universes/u/commands?return=events", json=add_star(f"s{number}", note=NOTE)
                )
                assert answer.status_code == 200
                if number % 20 == 0:
                    async with httpx.AsyncClient(base_url=served.url, timeout=60) as other:
                        assert (await other.get("/health")).json()["ok"] is True
            for versions in await asyncio.gather(*reading):
                assert versions == list(range(1, COMMANDS + 1))
            assert peak_megabytes(served.child.pid) < MEGABYTES
            for listener in (*silent, *listeners):
                listener.close()
            while (await client.get("/health")).json()["listeners"]:
                pass
        assert "Traceback" not in served.stderr
        assert served.stop() in (0, -15)
