"""Helpers for tests of the service: states, versions and bounded waits."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, Final, TypeVar

import orjson

from universe.service.batch import ChangeResult
from universe.service.universe_feed import Feed
from universe.service.universes import UniverseService
from universe.service.verification import verify_log
from universe.store.interface import StoredEntry
from uraniborg.kernel.errors import UraniborgError

SOON_S: Final = 20
"""The longest wait for an expected event."""

Value = TypeVar("Value")


async def wait_briefly(awaited: Awaitable[Value]) -> Value:
    async with asyncio.timeout(SOON_S):
        return await awaited


async def gather_results(
    requests: Sequence[Awaitable[ChangeResult]],
) -> tuple[list[ChangeResult], list[UraniborgError]]:
    """Run the requests concurrently and return their results and their errors."""
    outcomes = await wait_briefly(asyncio.gather(*requests, return_exceptions=True))
    results = [one for one in outcomes if isinstance(one, ChangeResult)]
    errors = [one for one in outcomes if isinstance(one, UraniborgError)]
    assert len(results) + len(errors) == len(outcomes), outcomes
    return results, errors


async def read_state(service: UniverseService, universe_id: str = "u", version: int | None = None) -> dict[str, Any]:
    """Return the served state, which must be the same in both of its forms."""
    seen = await service.view(universe_id, version)
    served = orjson.loads(seen.replica.mirror.to_json())
    assert served == seen.replica.state.to_plain()
    return served


async def read_version(service: UniverseService, universe_id: str = "u") -> int:
    return (await service.view(universe_id)).version


async def read_log(service: UniverseService, universe_id: str = "u") -> list[StoredEntry]:
    """Return the whole log, which must have no gap."""
    entries = await service.store.read_entries(universe_id, after=0, limit=100_000)
    assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
    return entries


async def list_commands(service: UniverseService, universe_id: str = "u") -> list[dict[str, Any]]:
    return [orjson.loads(entry.body) for entry in await read_log(service, universe_id)]


async def assert_log_intact(service: UniverseService, universe_id: str = "u") -> None:
    """Assert that the log is intact and leads to the served version."""
    verdict = await verify_log(service.store, universe_id)
    assert verdict.is_intact, verdict.problems
    assert verdict.entries == await read_version(service, universe_id)


def read_frames(feed: Feed, since: int = 0) -> bytes:
    """Return the bytes that a listener since this version has received."""
    received = b""
    while feed.version > since:
        found = feed.get_joined_frames_after(since)
        assert found is not None
        frames, upto = found
        assert since < upto <= feed.version
        received, since = received + frames, upto
    return received


def list_versions(feed: Feed, since: int = 0) -> list[int]:
    """Return the versions that a listener since this version has received."""
    lines = read_frames(feed, since).split(b"\n")
    return [int(line.removeprefix(b"id: ")) for line in lines if line.startswith(b"id: ")]


async def wait_for_version(feed: Feed, version: int) -> None:
    async with asyncio.timeout(SOON_S):
        while feed.version < version:
            await feed.wait_for_wakeup()
