import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from paper_search.errors import NonRetryableError
from paper_search.sources.interfaces import Request, Response
from paper_search.sources.transport.answer_cache import CachingTransport
from paper_search.testing import FakeTransport, FrozenClock

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
URL = "https://tiny.example/"
REQUEST = Request("tiny", URL)


def make_cache(
    folder: Path, *answers: Response | Exception, after_s: float = 0.0
) -> tuple[CachingTransport, FakeTransport]:
    inner = FakeTransport({URL: answers})
    clock = FrozenClock(NOW + timedelta(seconds=after_s))
    return CachingTransport(inner, folder, ttl_s=60, clock=clock), inner


async def test_the_same_request_is_answered_from_the_cache_and_costs_no_call(tmp_path: Path) -> None:
    transport, inner = make_cache(
        tmp_path, Response(200, b"first", {"link": "x"}, seconds=1.5), Response(200, b"second")
    )
    fetched = await transport.send(REQUEST)
    cached = await transport.send(REQUEST)
    assert (cached.status, cached.body, cached.headers, cached.seconds) == (200, b"first", {"link": "x"}, 1.5)
    assert (fetched.calls, cached.calls, len(inner.requests)) == (1, 0, 1)


@pytest.mark.parametrize(("after_s", "body"), [(59.9, b"first"), (60.0, b"second"), (-1.0, b"second")])
async def test_an_answer_is_used_until_it_expires(tmp_path: Path, after_s: float, body: bytes) -> None:
    first, _ = make_cache(tmp_path, Response(200, b"first"))
    await first.send(REQUEST)
    os.utime(next(tmp_path.iterdir()), (NOW.timestamp(), NOW.timestamp()))
    later, _ = make_cache(tmp_path, Response(200, b"second"), after_s=after_s)
    assert (await later.send(REQUEST)).body == body


async def test_different_requests_have_different_answers(tmp_path: Path) -> None:
    transport, inner = make_cache(tmp_path, Response(200, b"1"), Response(200, b"2"))
    await transport.send(REQUEST)
    assert (await transport.send(Request("tiny", URL, (("q", "x"),)))).body == b"2"
    assert len(inner.requests) == 2


async def test_failures_are_not_cached(tmp_path: Path) -> None:
    transport, _ = make_cache(tmp_path, NonRetryableError("no"), Response(404, b""), Response(200, b"yes"))
    with pytest.raises(NonRetryableError):
        await transport.send(REQUEST)
    assert (await transport.send(REQUEST)).status == 404
    assert (await transport.send(REQUEST)).body == b"yes"


async def test_a_dropped_answer_is_fetched_again(tmp_path: Path) -> None:
    transport, _ = make_cache(tmp_path, Response(200, b"<html>"), Response(200, b"{}"))
    await transport.send(REQUEST)
    await transport.forget_answer(REQUEST)
    assert (await transport.send(REQUEST)).body == b"{}"


async def test_a_damaged_entry_is_fetched_again_and_repaired(tmp_path: Path) -> None:
    transport, inner = make_cache(tmp_path, Response(200, b"fresh"))
    await transport.send(REQUEST)
    next(tmp_path.iterdir()).write_bytes(b"{half")
    assert (await transport.send(REQUEST)).body == b"fresh"
    assert (await transport.send(REQUEST)).body == b"fresh"
    assert len(inner.requests) == 2


async def test_a_cache_that_cannot_be_written_fails_no_search(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder", encoding="utf-8")
    transport, _ = make_cache(in_the_way / "cache", Response(200, b"fine"))
    assert (await transport.send(REQUEST)).body == b"fine"
    await transport.forget_answer(REQUEST)


async def test_expired_answers_are_deleted(tmp_path: Path) -> None:
    first, _ = make_cache(tmp_path, Response(200, b"old"))
    await first.send(REQUEST)
    (old,) = tmp_path.iterdir()
    os.utime(old, (0, 0))
    foreign = [tmp_path / name for name in ("notes.txt", "reading-list.json")]
    for path in foreign:
        path.write_text("mine", encoding="utf-8")
        os.utime(path, (0, 0))
    later, _ = make_cache(tmp_path, Response(200, b"new"))
    await later.send(Request("tiny", f"{URL}else"))
    assert not old.exists()
    assert all(path.exists() for path in foreign)


async def test_closing_closes_the_inner_transport(tmp_path: Path) -> None:
    transport, inner = make_cache(tmp_path)
    await transport.aclose()
    assert inner.closed


async def test_the_cache_never_blocks_the_event_loop(tmp_path: Path) -> None:
    transport, _ = make_cache(tmp_path, Response(200, b"x"))
    with blockbuster_ctx("paper_search"):
        await transport.send(REQUEST)
        await transport.send(REQUEST)
        await transport.forget_answer(REQUEST)
