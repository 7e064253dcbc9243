import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request, wire_to, without_request_id
from tests.uraniborg.kernel.mcp.sample_requests import nested
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import Server, make_server, prompt, resource, tool
from uraniborg.kernel.mcp.http_apps import Dispatcher
from uraniborg.kernel.mcp.jsonrpc import RpcAnswer

BATCH_LIMIT = 100

OLD, BATCHING, NEW = "2024-11-05", "2025-03-26", "2025-11-25"
SERVER = sample_server()
RESPONSE: dict[str, Any] = {"jsonrpc": "2.0", "id": 3, "result": {}}


odd_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["2.0", "echo", "tools/call"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
odd_parameters = st.fixed_dictionaries({}, optional={"name": odd_values, "arguments": odd_values, "_meta": odd_values})
odd_messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | odd_values,
        "id": odd_values,
        "method": st.sampled_from(["tools/call", "resources/read", "initialize", "tools/list"]) | odd_values,
        "params": odd_parameters | odd_values,
        "result": odd_values,
    },
)


async def answer(message: Any, *, version: str = BATCHING, server: Server | None = None) -> RpcAnswer:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return await Dispatcher(server or sample_server()).answer(body, version)


async def error_of(message: Any, *, version: str = BATCHING) -> tuple[int, Any, dict[str, Any]]:
    """Return the status, the id and the error of a reply that is one error."""
    status, body = await answer(message, version=version)
    parsed = json.loads(body)
    assert parsed.keys() == {"jsonrpc", "id", "error"}
    assert parsed["error"]["data"]["error"]["message"] == parsed["error"]["message"]
    assert parsed["error"]["data"]["error"]["hint"]
    return status, parsed["id"], parsed["error"]


async def test_prompts_are_answered_where_they_are_offered() -> None:
    server = make_server("prompting", version="1", instructions="")

    @prompt(server, title="Greet")
    async def greet(name: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Greets."""
        return f"Hello, {name}."

    messages = [
        request("prompts/list"),
        request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
        request("tools/list"),
        call("echo", {}),
    ]
    async with wire_to(server) as wire:
        for message in messages:
            alone = json.loads((await answer(message, server=server)).body)
            assert without_request_id(alone) == without_request_id(await wire.ask(message))


async def test_a_handler_that_raises_discloses_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    server = make_server("broken", version="1", instructions="")

    @prompt(server, title="Explode")
    async def explode() -> str:  # pyright: ignore[reportUnusedFunction]
        """Fails."""
        raise RuntimeError("sk-secret")

    status, body = await answer(request("prompts/get", {"name": "explode"}), server=server)
    assert (status, json.loads(body)["error"]["code"]) == (200, -32603)
    assert b"sk-secret" not in body
    assert "sk-secret" in caplog.text


async def test_tools_and_resources_registered_later_are_listed_too() -> None:
    server = make_server("growing", version="1", instructions="")
    dispatcher = Dispatcher(server)

    async def ask(method: str) -> Any:
        return json.loads((await dispatcher.answer(json.dumps(request(method)).encode(), NEW)).body)

    assert (await ask("tools/list"))["error"]["code"] == -32601

    async def first() -> str:
        """First."""
        return ""

    for name in ("one", "two"):
        tool(server, title=name, name=name, read_only=True)(first)
        assert [listed["name"] for listed in (await ask("tools/list"))["result"]["tools"]][-1] == name
    for name in ("three", "four"):
        resource(server, f"grown://{name}", title=name, name=name)(first)
        assert [listed["name"] for listed in (await ask("resources/list"))["result"]["resources"]][-1] == name


async def test_a_list_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = sample_server()
    dispatcher = Dispatcher(server)
    made: list[str] = []
    for kind, handler in list(server.protocol.request_handlers.items()):

        async def counted(message: Any, handler: Any = handler) -> Any:
            made.append(message.method)
            return await handler(message)

        monkeypatch.setitem(server.protocol.request_handlers, kind, counted)
    methods = ["tools/list", "resources/list", "resources/templates/list"]
    for method in methods * 2:
        await dispatcher.answer(json.dumps(request(method)).encode(), NEW)
    assert made == methods


@pytest.mark.parametrize("message", [INITIALIZED, RESPONSE, {**RESPONSE, "error": {}}, {**INITIALIZED, "params": {}}])
async def test_notifications_and_responses_get_no_answer(message: dict[str, Any]) -> None:
    assert await answer(message) == (202, b"")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"not JSON: sk-secret",
        b"{'a': 1}",
        b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": {"x": "\\ud83d"}}',
        b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"),
        b'{"jsonrpc": "2.0", "id": 1, "method": "p\xffng"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} {}',
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5_000,
        b'{"jsonrpc": "2.0", "id": ' + b"1" * 5_000 + b', "method": "ping"}',
    ],
)
async def test_a_body_that_is_not_json_is_a_parse_error(body: bytes) -> None:
    status, request_id, error = await error_of(body)
    assert (status, request_id, error["code"]) == (400, None, -32700)
    assert error["data"]["error"]["code"] == "invalid_json"
    assert "sk-secret" not in json.dumps(error)


@pytest.mark.parametrize(
    ("body", "request_id"),
    [
        (b"1", None),
        (b"null", None),
        (b'"ping"', None),
        (b"NaN", None),
        (b"{}", None),
        (b'{"sk-secret": 1}', None),
        (b'{"id": 5}', 5),
        (b'{"jsonrpc": "2.0", "id": 5}', 5),
        (b'{"jsonrpc": "1.0", "id": 5, "method": "ping"}', 5),
        (b'{"id": 5, "method": "ping"}', 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": 1}', 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}', 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": "x"}', 5),
        (b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": []}', None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None),
    ],
)
async def test_a_value_that_is_not_a_message_is_an_invalid_request(body: bytes, request_id: Any) -> None:
    status, answered, error = await error_of(body)
    assert (status, answered, error["code"]) == (400, request_id, -32600)
    assert "sk-secret" not in json.dumps(error)


@pytest.mark.parametrize(
    ("value", "path"),
    [("NaN", "value"), ("[-Infinity]", "value[0]"), ("1e999", "value"), ("[[-1e999]]", "value[0][0]")],
)
async def test_a_number_that_is_not_finite_is_an_error_of_the_tool(value: str, path: str) -> None:
    body = json.dumps(call("give_back", {"value": "@"})).replace('"@"', value).encode()
    status, answered = await answer(body)
    result = json.loads(answered)["result"]
    assert (status, result["isError"]) == (200, True)
    error = json.loads(result["content"][0]["text"])["error"]
    assert (error["code"], error["argument"], error["path"]) == ("invalid_argument", "value", path)


@pytest.mark.parametrize("value", ['"\\ud83d"', '{"\\udc00": 1}', json.dumps(nested(300))])
async def test_a_value_that_json_cannot_represent_is_refused_and_not_changed(value: str) -> None:
    body = json.dumps(call("give_back", {"value": "@"})).replace('"@"', value).encode()
    status, request_id, error = await error_of(body)
    assert (status, request_id, error["code"]) == (200, 1, -32602)
    assert "NaN" in error["data"]["error"]["hint"]


async def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "nothing", "method": "ping"}'
    assert json.loads((await answer(body)).body) == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_large_whole_numbers_keep_every_digit() -> None:
    _, body = await answer(call("give_back", {"value": 10**30 + 1}))
    assert json.loads(body)["result"]["structuredContent"] == {"result": 10**30 + 1}


@pytest.mark.parametrize("depth", [150, 190, 196, 197, 198, 199, 240])
async def test_every_answer_can_be_read_by_a_parser_like_ours(depth: int) -> None:
    _, body = await answer([call("give_back", {"value": nested(depth)})])
    from_json(body)


async def test_a_batch_is_answered_in_order_with_nothing_for_notifications() -> None:
    status, body = await answer(
        [request("ping", id=1), INITIALIZED, call("say", {"text": "x"}), RESPONSE, request("unheard/of", id="u"), 7, {}]
    )
    answers = json.loads(body)
    assert status == 200
    assert [one["id"] for one in answers] == [1, 1, "u", None, None]
    assert [one.get("error", {}).get("code") for one in answers] == [None, None, -32601, -32600, -32600]


async def test_calls_in_a_batch_run_side_by_side() -> None:
    server = make_server("meeting", version="1", instructions="")
    barrier = asyncio.Barrier(BATCH_LIMIT)

    @tool(server, title="Meet", read_only=True)
    async def meet(number: int) -> int:
        """Wait until all are here."""
        await barrier.wait()
        return number

    async with asyncio.timeout(20):
        _, body = await answer([call("meet", {"number": n}) for n in range(BATCH_LIMIT)], server=server)
    assert [one["result"]["structuredContent"]["result"] for one in json.loads(body)] == list(range(BATCH_LIMIT))


@pytest.mark.parametrize("messages", [[INITIALIZED], [INITIALIZED, RESPONSE, INITIALIZED]])
async def test_a_batch_without_requests_gets_no_answer(messages: list[Any]) -> None:
    assert await answer(messages) == (202, b"")


async def test_initialize_in_a_batch_is_refused_and_the_others_are_answered() -> None:
    status, body = await answer([INITIALIZE, request("ping")])
    refused, ping = json.loads(body)
    assert (status, refused["id"], refused["error"]["code"], ping["result"]) == (200, "init", -32600, {})


@pytest.mark.parametrize("version", [OLD, "2025-06-18", NEW])
async def test_versions_without_batches_refuse_one_and_say_why(version: str) -> None:
    status, request_id, error = await error_of([request("ping")], version=version)
    assert (status, request_id, error["code"]) == (400, None, -32600)
    assert version in error["message"]


async def test_an_empty_batch_is_refused() -> None:
    status, _, error = await error_of([])
    assert (status, error["code"]) == (400, -32600)


async def test_a_batch_has_a_largest_size_and_says_so() -> None:
    assert (await answer([request("ping")] * BATCH_LIMIT)).status == 200
    status, _, error = await error_of([request("ping")] * (BATCH_LIMIT + 1))
    assert (status, error["code"]) == (400, -32600)
    assert str(BATCH_LIMIT) in error["data"]["error"]["hint"]


@given(st.binary() | (odd_messages | odd_values | st.lists(odd_messages)).map(lambda value: json.dumps(value).encode()))
async def test_any_body_gets_an_answer_in_json_rpc_or_no_answer(body: bytes) -> None:
    status, answered = await answer(body, server=SERVER)
    assert status in (200, 202, 400)
    if status == 202:
        assert answered == b""
        return
    for one in json.loads(answered if answered[:1] == b"[" else b"[%b]" % answered):
        assert one["jsonrpc"] == "2.0"
        assert one.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
