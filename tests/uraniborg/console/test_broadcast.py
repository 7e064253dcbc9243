"""The event stream: in order, without gaps, and resumed at any position."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from uraniborg.console import event_broadcast as event_stream
from uraniborg.console.event_broadcast import EventBroadcast, TooManyStreams
from uraniborg.kernel.store.change_feed import ChangeFeed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "changes"


@asynccontextmanager
async def running_broadcast(folder: Path) -> AsyncGenerator[EventBroadcast]:
    broadcast = EventBroadcast(folder)
    await broadcast.start()
    reading = asyncio.create_task(broadcast.run())
    try:
        yield broadcast
    finally:
        broadcast.close()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def collect_frames(broadcast: EventBroadcast, count: int, last_event_id: str | None = None) -> list[str]:
    frames: list[str] = []
    stream = broadcast.stream(last_event_id)
    try:
        async with asyncio.timeout(30):
            async for block in stream:
                frames += [text for text in block.decode().split("\n\n") if "\ndata:" in text]
                if len(frames) >= count:
                    return frames
    finally:
        await stream.aclose()
    return frames


def get_ids(frames: list[str]) -> list[str]:
    return [frame.splitlines()[0].removeprefix("id: ") for frame in frames]


def publish(folder: Path, first: int, last: int) -> None:
    feed = ChangeFeed(folder)
    for number in range(first, last):
        feed.publish("run", str(number))
    feed.close()


async def test_fifty_clients_receive_a_thousand_changes_in_order(folder: Path) -> None:
    async with running_broadcast(folder) as broadcast:
        clients = [asyncio.create_task(collect_frames(broadcast, 1_000)) for _ in range(50)]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(publish, folder, 0, 1_000)
        received = await asyncio.gather(*clients)
    for frames in received:
        assert [frame.split('"subject":"')[1].split('"')[0] for frame in frames] == [str(n) for n in range(1_000)]


async def test_a_client_resumes_after_any_event_without_a_gap(folder: Path) -> None:
    async with running_broadcast(folder) as broadcast:
        await asyncio.to_thread(publish, folder, 0, 1)
        await broadcast.poll()
        waiting = asyncio.create_task(collect_frames(broadcast, 20))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(publish, folder, 0, 20)
        ids = get_ids(await waiting)
        for index in (0, 7, 18):
            assert get_ids(await collect_frames(broadcast, 19 - index, ids[index])) == ids[index + 1 :]


async def test_a_client_resumes_after_the_server_was_restarted(folder: Path) -> None:
    async with running_broadcast(folder) as broadcast:
        waiting = asyncio.create_task(collect_frames(broadcast, 5))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(publish, folder, 0, 5)
        ids = get_ids(await waiting)
    await asyncio.to_thread(publish, folder, 5, 10)
    async with running_broadcast(folder) as restarted:
        frames = await collect_frames(restarted, 7, ids[2])
    assert [frame.split('"subject":"')[1][0] for frame in frames] == ["3", "4", "5", "6", "7", "8", "9"]


@pytest.mark.parametrize("unknown", ["", "x", "1-1", "0-0", "\r\nevent: x"])
async def test_an_unknown_id_gets_a_reset_and_the_changes_after_it(folder: Path, unknown: str) -> None:
    async with running_broadcast(folder) as broadcast:
        await asyncio.to_thread(publish, folder, 0, 3)
        waiting = asyncio.create_task(collect_frames(broadcast, 2, unknown))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(publish, folder, 3, 4)
        frames = await waiting
    assert [frame.splitlines()[1] for frame in frames] == ["event: reset", "event: run"]


async def test_a_client_that_falls_behind_the_frames_in_memory_gets_a_reset(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "_MAX_FRAMES", 10)
    async with running_broadcast(folder) as broadcast:
        stream = broadcast.stream(None)
        assert await anext(stream) == b"retry: 1000\n\n"
        assert (await anext(stream)).startswith(b"id: ")
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(publish, folder, 0, 50)
        assert b"event: reset" in await waiting
        await stream.aclose()


async def test_too_many_streams_are_refused_and_a_closed_one_makes_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "_MAX_CLIENTS", 1)
    async with running_broadcast(folder) as broadcast:
        first = broadcast.stream(None)
        await anext(first)
        with pytest.raises(TooManyStreams):
            broadcast.check_room()
        await first.aclose()
        broadcast.check_room()


async def test_close_ends_all_streams(folder: Path) -> None:
    async with running_broadcast(folder) as broadcast:
        client = asyncio.create_task(collect_frames(broadcast, 1))
        await asyncio.sleep(0.1)
        broadcast.close()
        assert await client == []


async def test_a_client_that_received_nothing_yet_resumes_without_a_gap(folder: Path) -> None:
    async with running_broadcast(folder) as broadcast:
        stream = broadcast.stream(None)
        await anext(stream)
        position = (await anext(stream)).decode().strip().removeprefix("id: ")
        await stream.aclose()
        await asyncio.to_thread(publish, folder, 0, 3)
        assert len(await collect_frames(broadcast, 3, position)) == 3
