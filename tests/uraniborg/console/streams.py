"""The event stream of the API, as clients read it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.uraniborg.console.processes import ServerProcess


@asynccontextmanager
async def open_stream(server: ServerProcess, last_event_id: str | None = None) -> AsyncGenerator[AsyncIterator[Any]]:
    """Yield the events of the stream, each as its id, kind and data."""
    headers = {"Authorization": f"Bearer {server.token}"} | ({"Last-Event-ID": last_event_id} if last_event_id else {})
    async with (
        httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as http,
        http.stream("GET", "/api/events") as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        yield parse_events(lines)


async def parse_events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
    found: dict[str, str] = {}
    async for line in lines:
        name, _, value = line.partition(": ")
        if line:
            found[name] = value
        elif "data" in found:
            yield found["id"], found["event"], json.loads(found["data"])
            found = {}


async def wait_for_event(events: AsyncIterator[Any], kind: str, **facts: Any) -> dict[str, Any]:
    async with asyncio.timeout(60):
        async for _, found, data in events:
            if found == kind and facts.items() <= data.items():
                return data
    raise AssertionError(f"no {kind} with {facts}")
