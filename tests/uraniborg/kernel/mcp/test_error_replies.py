import json
from typing import Any

import pytest
from pydantic import BaseModel

from tests.uraniborg.kernel.mcp.asgi_client import client_of
from tests.uraniborg.kernel.mcp.raw_messages import call
from uraniborg.kernel.errors import NotFound, UraniborgError
from uraniborg.kernel.mcp import ErrorReply, Server, make_server, make_stateful_app, make_stateless_app, tool
from uraniborg.kernel.mcp.testing import connect_client, get_json, get_text


class Report(BaseModel):
    done: list[str]
    rest: int | None = None


VALUES: dict[str, Any] = {
    "object": {"success": False, "done": ["one"], "nothing": None},
    "list": [{"name": "one"}, 2],
    "empty list": [],
    "model": Report(done=["one"]),
    "text": "It did not work.",
    "nothing": None,
    "large": {"number": 2**70, "text": "Ж" * 10_000},
}


def failing_server(*, structured: bool = True) -> Server:
    server = make_server("failing", version="1", instructions="")

    @tool(server, title="Fail", read_only=True, structured=structured)
    async def fail(how: str) -> Any:
        """Fails, and has something to say of it."""
        return ErrorReply(object() if how == "unspeakable" else VALUES[how])

    @tool(server, title="Succeed", read_only=True, structured=structured)
    async def succeed(how: str) -> Any:
        """Says the same, and means it."""
        return VALUES[how]

    return server


@pytest.mark.parametrize("how", VALUES)
@pytest.mark.parametrize("structured", [True, False])
async def test_it_says_the_same_as_a_success_would_and_is_marked_as_an_error(how: str, structured: bool) -> None:
    async with connect_client(failing_server(structured=structured)) as client:
        failure = await client.call_tool("fail", {"how": how})
        success = await client.call_tool("succeed", {"how": how})
    assert (failure.isError, success.isError) == (True, False)
    assert failure.content == success.content
    assert failure.structuredContent == success.structuredContent
    assert (failure.structuredContent is not None) is (structured and how != "text")


async def test_its_value_is_one_text_of_json_and_structured_content() -> None:
    async with connect_client(failing_server()) as client:
        failure = await client.call_tool("fail", {"how": "object"})
        listed = await client.call_tool("fail", {"how": "list"})
    assert get_json(failure) == VALUES["object"] == failure.structuredContent
    assert get_json(listed) == VALUES["list"]
    assert listed.structuredContent == {"result": VALUES["list"]}


async def test_an_error_reply_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with connect_client(failing_server()) as client:
        await client.call_tool("fail", {"how": "object"})
    assert caplog.records == []


async def test_a_value_without_a_json_form_is_an_internal_error_as_it_is_in_a_success() -> None:
    async with connect_client(failing_server()) as client:
        failure = await client.call_tool("fail", {"how": "unspeakable"})
    assert failure.isError
    assert get_json(failure)["error"]["code"] == "internal_error"
    assert "object at" not in get_text(failure)


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_over_http_it_is_marked_as_an_error_too(make_app: Any) -> None:
    async with client_of(make_app(failing_server())) as client:
        session = await client.begin() if make_app is make_stateful_app else None
        answer = await client.post(call("fail", {"how": "object"}), session)
    (message,) = answer.messages
    assert message["result"]["isError"] is True
    assert message["result"]["structuredContent"] == VALUES["object"]
    assert json.loads(message["result"]["content"][0]["text"]) == VALUES["object"]


async def test_a_tool_may_say_more_of_errors_also_of_arguments_that_do_not_fit() -> None:
    server = make_server("failing", version="1", instructions="")

    def more(error: UraniborgError, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"success": False, "code": error.code, "given": arguments, "about": error.ids.get("number")}

    @tool(server, title="Fail", read_only=True, failed=more, about=["number"])
    async def fail(number: int) -> Any:
        """Fails."""
        raise NotFound("There is none.")

    async with connect_client(server) as client:
        for number, code in ((7, "not_found"), ("seven", "invalid_argument")):
            failure = await client.call_tool("fail", {"number": number})
            about = number if isinstance(number, str) else None
            assert get_json(failure) == {"success": False, "code": code, "given": {"number": number}, "about": about}
            assert failure.structuredContent == get_json(failure)
            assert failure.isError
