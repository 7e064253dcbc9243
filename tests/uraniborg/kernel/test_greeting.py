"""What is said before the SDK is loaded is what the SDK says, of whatever it is said to."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS

from paper_search import mcp_server as paper_search
from pflow import mcp_server as pflow
from tests.uraniborg.kernel.mcp.greeting_server import GREETING
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from tests.uraniborg.kernel.mcp.wire import INITIALIZE, wire_to
from uraniborg.kernel.greeting import VERSIONS, Greeting
from uraniborg.kernel.mcp import Server

PARAMS = INITIALIZE["params"]
SAMPLE = sample_server()
GREETINGS: list[tuple[Greeting, Server]] = [
    (GREETING, SAMPLE),
    (pflow.greeting(), pflow.make()),
    (paper_search.greeting(), paper_search.mcp),
]

things = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(st.sampled_from(["listChanged", "context", "tools", "form", "url", "x"]), things, max_size=2)
PLAIN: list[dict[str, Any]] = [{}, {"listChanged": True}, {"form": {}}, {"tools": {}}]
plain = st.sampled_from(PLAIN)
capabilities = st.dictionaries(
    st.sampled_from(["roots", "sampling", "elicitation", "experimental", "tasks", "extensions"]),
    plain | objects | things,
    max_size=3,
)
infos = st.fixed_dictionaries(
    {"name": st.text() | things, "version": st.text() | things},
    optional={"title": things | st.text(), "websiteUrl": st.text(), "description": st.text(), "icons": things},
)
params = st.fixed_dictionaries(
    {
        "protocolVersion": st.sampled_from([*VERSIONS, "1.0", "", 20251125]) | things,
        "capabilities": capabilities | things,
        "clientInfo": infos | things,
    },
    optional={"_meta": objects, "task": things, "x": things},
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "2.0", "1.0", 2]), "method": st.sampled_from(["initialize", "ping"])},
    optional={"id": st.integers() | st.text() | things, "params": params, "x": things},
)
nearly_plain: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "method": st.just("initialize"),
        "id": st.integers() | st.text(),
        "params": st.fixed_dictionaries(
            {
                "protocolVersion": st.sampled_from(VERSIONS),
                "capabilities": st.dictionaries(st.sampled_from(["roots", "sampling", "elicitation"]), plain),
                "clientInfo": st.fixed_dictionaries(
                    {"name": st.text(), "version": st.text()}, optional={"title": st.text(), "description": st.text()}
                ),
            }
        ),
    }
)


def greeted(message: dict[str, Any]) -> dict[str, Any]:
    answer = GREETING.answer(json.dumps(message).encode())
    assert answer is not None
    return json.loads(answer)


@given(messages | nearly_plain)
async def test_what_is_answered_is_what_the_sdk_answers(message: dict[str, Any]) -> None:
    line = json.dumps(message)
    answer = GREETING.answer(line.encode())
    if answer is not None:
        assert answer.endswith(b"\n")
        assert answer.count(b"\n") == 1
        async with wire_to(SAMPLE, initialized=False) as wire:
            assert await wire.ask(line) == json.loads(answer)


@pytest.mark.parametrize(("greeting", "server"), GREETINGS, ids=[greeting.name for greeting, _ in GREETINGS])
@pytest.mark.parametrize("version", VERSIONS)
async def test_every_server_is_what_it_says_it_is_at_first(greeting: Greeting, server: Server, version: str) -> None:
    hello = {**INITIALIZE, "params": {**PARAMS, "protocolVersion": version}}
    answer = greeting.answer(json.dumps(hello).encode())
    assert answer is not None
    async with wire_to(server, initialized=False) as wire:
        assert await wire.ask(hello) == json.loads(answer)


def test_the_versions_are_those_of_the_sdk() -> None:
    assert list(VERSIONS) == SUPPORTED_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"capabilities": {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}},
        {"capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}}},
        {"clientInfo": {"name": "Ж量🂡\u2028\u0000", "version": "", "title": "A client", "websiteUrl": "https://x"}},
    ],
    ids=str,
)
def test_what_clients_say_is_answered(changed: dict[str, Any]) -> None:
    reply = greeted({**INITIALIZE, "params": {**PARAMS, **changed}})
    assert reply["id"] == "init"
    assert reply["result"]["serverInfo"] == {"name": "sample", "version": "7.8.9"}


@pytest.mark.parametrize("given_id", [0, -1, 2**53 - 1, "", "Ж\n"])
def test_the_answer_carries_the_id_as_it_was(given_id: object) -> None:
    assert greeted({**INITIALIZE, "id": given_id})["id"] == given_id


def without(key: str, message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != key}


NO_PLAIN_PARAMS: list[Any] = [
    [],
    {**PARAMS, "protocolVersion": "1.0"},
    {**PARAMS, "protocolVersion": 20251125},
    {**PARAMS, "capabilities": {"experimental": {}}},
    {**PARAMS, "capabilities": {"roots": None}},
    {**PARAMS, "capabilities": {"roots": {"listChanged": 1}}},
    {**PARAMS, "clientInfo": {"name": "n"}},
    {**PARAMS, "clientInfo": {"name": "n", "version": 1}},
    {**PARAMS, "_meta": {"progressToken": 1}},
    without("capabilities", PARAMS),
]
NO_PLAIN_GREETINGS: list[Any] = [
    [],
    None,
    [INITIALIZE],
    {**INITIALIZE, "method": "ping"},
    {**INITIALIZE, "jsonrpc": "1.0"},
    *({**INITIALIZE, "id": given_id} for given_id in (True, None, 1.0, "\ud800", 2**53)),
    {**INITIALIZE, "more": 1},
    without("params", INITIALIZE),
    without("id", INITIALIZE),
    *({**INITIALIZE, "params": changed} for changed in NO_PLAIN_PARAMS),
]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"garbage", b"\xff\xfe", b"[" * 100_000),
        *(json.dumps(INITIALIZE).encode(encoding) for encoding in ("utf-8-sig", "utf-16", "utf-32")),
        *(json.dumps(one).encode() for one in NO_PLAIN_GREETINGS),
    ],
)
def test_anything_else_is_left_to_the_sdk(line: bytes) -> None:
    assert GREETING.answer(line) is None
