"""The endpoint at the level of JSON-RPC: messages, requests, batches and errors."""

from typing import Any

import pytest

from tests.paper_library.mcp.http_client import Caller, make_initialize_request, make_request
from tests.requirements import requirement


def post_for_error(library: Caller, body: Any) -> tuple[int, int, Any]:
    response = library.post(body)
    answer = response.json()
    assert answer["jsonrpc"] == "2.0"
    assert answer["error"]["data"]["error"]["hint"]
    return response.status_code, answer["error"]["code"], answer["id"]


@pytest.mark.parametrize("body", [b"", b"{", b"{'jsonrpc': 2}", b"\xff\xfe", b'{"jsonrpc": "2.0"', b"[" * 100_000])
def test_invalid_json_is_a_parse_error(library: Caller, body: bytes) -> None:
    assert post_for_error(library, body) == (400, -32700, None)


@pytest.mark.parametrize(
    "body",
    [
        b"1",
        b'"ping"',
        b"null",
        b"[]",
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]},
        {"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
    ],
)
def test_json_that_is_not_a_message_is_an_invalid_request(library: Caller, body: Any) -> None:
    status, code, request_id = post_for_error(library, body)
    assert (status, code) == (400, -32600)
    assert request_id in (None, 1)


@requirement("PL-1")
@pytest.mark.parametrize("method", ["papers/list", "tools/calls", "", "server/discover", "x" * 10_000])
def test_an_unknown_method_is_reported_as_unknown(library: Caller, method: str) -> None:
    assert post_for_error(library, make_request(method, id="q")) == (200, -32601, "q")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", None),
        ("tools/call", {}),
        ("tools/call", {"name": 7}),
        ("tools/call", {"name": "search_papers", "arguments": ["rain"]}),
        ("resources/read", {}),
        ("resources/read", {"uri": 5}),
        ("initialize", {"protocolVersion": "2025-11-25"}),
    ],
)
def test_parameters_that_do_not_fit_the_method_are_reported(library: Caller, method: str, params: Any) -> None:
    assert post_for_error(library, make_request(method, params, id=9)) == (200, -32602, 9)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "notifications/never_heard_of"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
@requirement("PL-1", "PL-4")
def test_notifications_are_accepted_without_a_reply(library: Caller, message: dict[str, Any]) -> None:
    response = library.post(message)
    assert (response.status_code, response.content) == (202, b"")


def test_a_batch_is_answered_member_by_member(library: Caller) -> None:
    answers = library.post(
        [
            make_request("ping", id=1),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            make_request("unknown", id=2),
            7,
            make_request("tools/call", {"name": "get_paper_metadata", "arguments": {"paper_id": "silent1999"}}, id=3),
        ]
    ).json()
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id.keys() == {1, 2, None, 3}
    assert by_id[2]["error"]["code"] == -32601
    assert by_id[None]["error"]["code"] == -32600
    assert by_id[3]["result"]["structuredContent"]["title"] == "Silent Orbits of Tidally Locked Moons"


def test_a_batch_of_notifications_has_no_reply(library: Caller) -> None:
    response = library.post([{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 2)
    assert (response.status_code, response.content) == (202, b"")


def test_initialize_in_a_batch_is_refused(library: Caller) -> None:
    (answer,) = library.post([make_initialize_request()]).json()
    assert answer["error"]["code"] == -32600


@pytest.mark.parametrize("request_id", [0, -1, 2**53, 2**70, "", "id with ünïcode 😀", "1"])
def test_request_ids_are_returned_unchanged(library: Caller, request_id: Any) -> None:
    answer = library.post(make_request("ping", id=request_id)).json()
    assert (answer["id"], type(answer["id"])) == (request_id, type(request_id))


@requirement("PL-4")
def test_requests_need_no_initialize_and_no_session(library: Caller) -> None:
    assert library.post(make_request("tools/list")).json()["result"]["tools"]
    assert library.post(make_initialize_request()).json() == library.post(make_initialize_request()).json()


def test_an_unknown_tool_is_a_failed_call_that_names_the_tools(library: Caller) -> None:
    error = library.call_error("delete_everything")
    assert error["code"]
    assert "search_papers" in error["message"] + error["hint"]
