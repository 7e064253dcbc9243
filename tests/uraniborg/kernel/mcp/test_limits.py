"""The memory, waiting times and messages of servers and clients have the documented limits."""

# pyright: reportPrivateUsage=false

import inspect
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp.server.session import ServerSession

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp import make_stateful_app, make_stateless_app, subscriptions
from uraniborg.kernel.mcp import remote_server as client_module
from uraniborg.kernel.mcp.remote_server import RemoteServer, Tail
from uraniborg.kernel.mcp.replies import make_error_body
from uraniborg.kernel.mcp.subscriptions import Subscriber


async def test_the_last_five_lines_of_a_process_are_kept_and_at_most_4096_bytes() -> None:
    tail = Tail()
    for number in range(2_000):
        tail.append(b"line %04d\n" % number)
    assert await tail.read_last_lines() == "line 1995 / line 1996 / line 1997 / line 1998 / line 1999"
    tail.append(b"x" * 10_000)
    assert await tail.read_last_lines() == "x" * 4_096


async def test_at_most_a_thousand_pages_of_a_list_of_tools_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str | None] = []

    async def ask(_self: RemoteServer, request: Any, _kind: object, _timeout_s: float) -> Any:
        asked.append(request.params.cursor)
        return SimpleNamespace(tools=[], nextCursor=str(len(asked)))

    monkeypatch.setattr(client_module.RemoteServer, "_send_request", ask)
    connection = object.__new__(RemoteServer)
    assert await connection.list_tools() == []
    assert (len(asked), asked[-1]) == (1_000, "999")


def test_an_error_repeats_a_thousand_characters_three_hundred_of_an_item_and_twenty_items() -> None:
    error = InvalidInput("m" * 2_000, hint="h" * 1_000, words=["w" * 301] * 30, facts={f"n{n}": "v" for n in range(30)})
    body: Any = make_error_body(error)["error"]
    assert body["message"] == "m" * 999 + "…"
    assert body["hint"] == "h" * 1_000
    assert body["words"] == ["w" * 299 + "…"] * 20
    assert list(body["facts"]) == [f"n{n}" for n in range(20)]


async def test_a_full_stream_is_checked_after_a_millisecond_and_then_less_often_up_to_once_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    connection = SimpleNamespace(has_room=False, is_listening=True, on_listening=None)

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        connection.is_listening = len(waits) < 14

    monkeypatch.setattr(subscriptions.asyncio, "sleep", wait)
    made = Subscriber(cast("Any", connection), cast("ServerSession", None))
    assert await made._wait_for_room() is False
    assert waits == [*(0.001 * 2**n for n in range(10)), 1.0, 1.0, 1.0, 1.0]


def test_an_app_takes_four_megabytes_and_has_a_thousand_sessions_that_end_after_half_an_hour_unused() -> None:
    for make in (make_stateless_app, make_stateful_app):
        assert inspect.signature(make).parameters["body_limit"].default == 4 * 1024 * 1024
    sessions = inspect.signature(make_stateful_app).parameters
    assert (sessions["max_sessions"].default, sessions["idle_seconds"].default) == (1_000, 1_800)
