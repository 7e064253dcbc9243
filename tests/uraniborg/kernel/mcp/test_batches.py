from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.asgi_client import SESSION, client_of
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import make_stateful_app

BATCH_LIMIT = 100

BATCHING = "2025-03-26"


async def answers_to(batch: list[Any], *, json_answers: bool = False) -> dict[Any, dict[str, Any]]:
    async with client_of(make_stateful_app(sample_server(), json_answers=json_answers)) as client:
        session = await client.begin()
        answer = await client.post(batch, session, mcp_protocol_version=BATCHING)
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers[SESSION] == session
        assert (await client.post(request("ping", id="after"), session)).messages[0]["id"] == "after"
    (answers,) = answer.messages
    assert len({answer["id"] for answer in answers}) == len(answers)
    return {answer["id"]: answer for answer in answers}


@pytest.mark.parametrize("json_answers", [False, True])
async def test_each_request_of_a_batch_has_its_answer(json_answers: bool) -> None:
    batch = [
        request("ping", id="p"),
        INITIALIZED,
        call("work", {"steps": 2}, _meta={"progressToken": 1}) | {"id": 1},
        call("say", {"text": "line\r\ndata: {}\r\n\u2028"}) | {"id": 2},
        call("lose", {"paper_id": "x"}) | {"id": 3},
        request("unheard/of", id=4),
    ]
    answers = await answers_to(batch, json_answers=json_answers)
    assert answers.keys() == {"p", 1, 2, 3, 4}
    assert answers[1]["result"]["content"][0]["text"] == "done"
    assert answers[2]["result"]["content"][0]["text"] == "line\r\ndata: {}\r\n\u2028"
    assert answers[3]["result"]["isError"]
    assert answers[4]["error"]["data"]["error"]["code"] == "unknown_method"


@pytest.mark.parametrize(
    ("odd", "answered", "code"),
    [
        (5, None, "invalid_request"),
        ({}, None, "invalid_request"),
        ([request("ping")], None, "invalid_request"),
        (request("ping", id=1.5), None, "invalid_request"),
        (INITIALIZE, "init", "invalid_request"),
        (request("ping", id="_GET_stream"), "_GET_stream", "id_in_use"),
    ],
)
async def test_an_error_in_one_message_is_reported_in_its_own_answer(odd: Any, answered: Any, code: str) -> None:
    answers = await answers_to([odd, request("ping", id="p")])
    assert answers.keys() == {answered, "p"}
    assert answers["p"]["result"] == {}
    assert answers[answered]["error"]["data"]["error"]["code"] == code


async def test_a_number_that_is_not_finite_is_an_error_of_the_tool() -> None:
    answers = await answers_to([call("give_back", {"value": float("nan")}), request("ping", id="p")])
    assert answers["p"]["result"] == {}
    assert answers[1]["result"]["isError"] is True
    assert "value is not a finite number." in answers[1]["result"]["content"][0]["text"]


async def test_the_second_of_two_with_the_same_id_is_refused() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        answer = await client.post([request("ping"), request("ping")], await client.begin())
    assert sorted("error" in each for each in answer.messages[0]) == [False, True]


async def test_a_batch_that_asks_for_no_answer_gets_none() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        answer = await client.post([INITIALIZED, {"jsonrpc": "2.0", "id": 1, "result": {}}], session)
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize(
    ("batch", "version", "words"),
    [
        ([], BATCHING, "empty"),
        ([request("ping", id=number) for number in range(BATCH_LIMIT + 1)], BATCHING, "101"),
        ([request("ping")], "2025-06-18", "does not support batches"),
        ([request("ping")], "2025-11-25", "does not support batches"),
    ],
)
async def test_a_batch_that_may_not_be_sent_is_refused(batch: list[Any], version: str, words: str) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        refused = await client.post(batch, await client.begin(), mcp_protocol_version=version)
    assert (refused.status, refused.error["code"]) == (400, "invalid_request")
    assert words in refused.error["message"]


async def test_a_batch_for_no_session_or_of_the_wrong_type_is_refused() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        assert (await client.post([request("ping")])).status == 400
        assert (await client.post([request("ping")], "unheard-of")).error["code"] == "session_not_found"
        refused = await client.post([request("ping"), request("ping", id=2)], session, content_type="text/plain")
        assert (refused.status, refused.error["code"]) == (415, "unsupported_media_type")
