import json
import logging
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, call, request, wire_to
from tests.uraniborg.kernel.mcp.sample_server import sample_server


def error_in(answer: dict[str, Any]) -> dict[str, Any]:
    assert "result" not in answer
    assert answer["error"]["data"].keys() == {"error"}
    assert answer["error"]["data"]["error"]["message"] == answer["error"]["message"]
    return answer["error"]


async def refusal(message: dict[str, Any] | str) -> dict[str, Any]:
    """Return the reply of a server to `message`, and check that the server still works."""
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(message)
        assert (await wire.ask(request("ping", id="after"))) == {"jsonrpc": "2.0", "id": "after", "result": {}}
    return error_in(answer)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("method", ["explode", "prompts/list", "logging/setLevel", "x" * 10_000])
async def test_an_unknown_method_has_its_code_and_names_the_methods_there_are(method: str) -> None:
    error = await refusal(request(method))
    assert error["code"] == -32601
    assert error["data"]["error"]["code"] == "unknown_method"
    assert "tools/call" in error["data"]["error"]["hint"]
    assert len(error["message"]) < 200


async def test_requests_before_initialize_are_refused_with_the_remedy() -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        error = error_in(await wire.ask(request("tools/list")))
        assert (error["code"], error["data"]["error"]["hint"]) == (-32600, "Send initialize first.")
        assert (await wire.ask(request("ping")))["result"] == {}
        assert "result" in await wire.ask(INITIALIZE)
        assert "result" in await wire.ask(request("tools/list"))


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"name": "echo", "arguments": "sk-secret"}, "params.arguments"),
        ({"name": ["sk-secret"]}, "params.name"),
        ({}, "params.name"),
        (None, "params"),
    ],
)
async def test_malformed_parameters_are_named_and_never_repeated(
    params: Any, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    error = await refusal(request("tools/call", params))
    assert error["code"] == -32602
    assert [problem["path"] for problem in error["data"]["error"]["problems"]] == [path]
    assert "sk-secret" not in json.dumps(error)
    assert "sk-secret" not in caplog.text


@pytest.mark.parametrize(
    ("arguments", "path"),
    [('{"text": NaN}', "text"), ('{"text": "a", "times": 1e400}', "times"), ('{"x": [{"y": -Infinity}]}', "x[0].y")],
)
async def test_a_number_that_is_not_finite_is_an_error_of_the_tool(arguments: str, path: str) -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(json.dumps(call("echo", "@")).replace('"@"', arguments))
    assert answer["result"]["isError"]
    error = json.loads(answer["result"]["content"][0]["text"])["error"]
    assert (error["code"], error["path"]) == ("invalid_argument", path)
    assert error["message"] == f"{path} is not a finite number."


async def test_an_unknown_tool_is_reported_with_any_arguments() -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(call("explode", {"text": float("nan")}))
    error = json.loads(answer["result"]["content"][0]["text"])["error"]
    assert (error["code"], "echo" in error["allowed"]) == ("unknown_tool", True)
    assert error["request_id"]


@pytest.mark.parametrize("arguments", ['{"text": "\\ud83d"}', '{"text": ' + json.dumps(nested(300)) + "}"])
async def test_a_value_that_json_cannot_represent_is_refused_and_not_changed(arguments: str) -> None:
    error = await refusal(json.dumps(call("echo", "@")).replace('"@"', arguments))
    assert error["code"] == -32602
    assert "NaN" in error["data"]["error"]["hint"]


async def test_nesting_that_can_be_read_but_not_be_answered_fails_alone() -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(call("give_back", {"value": nested(197)}))
        assert answer["result"]["isError"]
        assert "internal_error" in answer["result"]["content"][0]["text"]
        fine = await wire.ask(call("give_back", {"value": nested(100)}))
        assert fine["result"]["structuredContent"] == {"result": nested(100)}


@pytest.mark.parametrize(
    "line", ['{"id": 5}', '{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}', '{"jsonrpc": "1.0", "id": 5}']
)
async def test_a_value_that_is_not_a_message_but_has_an_id_is_answered(line: str) -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(line)
    assert answer["id"] == 5
    assert error_in(answer)["code"] == -32600


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {"x": "sk-secret"}}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ["sk-secret"]}}',
        '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": NaN}}',
        '{"jsonrpc": "2.0", "id": 1, "result": {"x": "sk-secret"}}',
    ],
)
async def test_a_message_without_an_answer_gets_none_and_is_not_logged(
    line: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with wire_to(sample_server()) as wire:
        await wire.send(line)
        assert (await wire.ask(request("ping")))["result"] == {}
    assert "sk-secret" not in caplog.text


async def test_notifications_before_initialize_do_no_harm() -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert "result" in await wire.ask(INITIALIZE)


async def test_a_cancelled_call_ends_and_others_continue() -> None:
    async with wire_to(sample_server()) as wire:
        await wire.send(call("wait_forever", {}))
        await wire.ask(request("ping", id=2))
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert "error" in await wire.ask(cancel)
        assert (await wire.ask(request("ping", id=3)))["id"] == 3


async def test_progress_is_sent_only_when_asked_for() -> None:
    async with wire_to(sample_server()) as wire:
        assert (await wire.ask(call("work", {"steps": 2})))["result"]["content"][0]["text"] == "done"
        asked = await wire.ask(call("work", {"steps": 1}, _meta={"progressToken": "t"}))
        assert asked["params"]["progressToken"] == "t"


async def test_null_arguments_arrive_as_null() -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(call("note", {"note": {"text": "a", "by": None}}))
    assert answer["result"]["structuredContent"] == {"text": "a", "by": None}
