"""Tests of the provider with a chat completions server on loopback."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr

from paper_search.config import LLMConfig
from paper_search.errors import LLMAuthError, LLMError, LLMRateLimitError, LLMResponseError
from paper_search.service.llm.provider import LLMProvider, create_provider

KEY = "sk-very-secret-key"


@dataclass
class Answer:
    status: int = 200
    body: str = ""
    kind: str = "application/json"
    never: bool = False


def make_answer(text: str | None, finish_reason: str = "stop") -> Answer:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Answer(
        body=json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
    )


def make_response_error(status: int, message: str) -> Answer:
    return Answer(
        status=status, body=json.dumps({"error": {"message": message, "type": "e", "param": None, "code": None}})
    )


@dataclass
class ChatServer:
    """Sends the scripted answers in turn, the last one repeatedly; stores the requests."""

    answers: list[Answer]
    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    heads: list[str] = field(default_factory=list[str])
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(
                next(line.split(":")[1] for line in head.lower().splitlines() if line.startswith("content-length:"))
            )
            self.heads.append(head)
            self.asked.append(json.loads(await reader.readexactly(length)))
            answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
            if answer.never:
                await self.stop.wait()
            body = answer.body.encode()
            writer.write(
                f"HTTP/1.1 {answer.status} X\r\nContent-Type: {answer.kind}\r\nContent-Length: {len(body)}\r\n"
                "Retry-After-Ms: 1\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client closed the connection first
        finally:
            writer.close()


@asynccontextmanager
async def run_chat_server(*answers: Answer, port: int = 0) -> AsyncGenerator[ChatServer]:
    chat = ChatServer(list(answers))
    server = await asyncio.start_server(chat.serve, "127.0.0.1", port)
    chat.port = server.sockets[0].getsockname()[1]
    try:
        yield chat
    finally:
        chat.stop.set()
        server.close()
        await asyncio.wait_for(server.wait_closed(), 5)


def connect_provider(chat: ChatServer, *, timeout_s: float = 20.0) -> LLMProvider:
    made = create_provider(LLMConfig(model="m-1", api_key=SecretStr(KEY), base_url=chat.url, timeout_s=timeout_s))
    assert made is not None
    return made


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def test_an_answer_is_returned_as_text_and_the_request_has_the_configured_options() -> None:
    async with run_chat_server(make_answer("forty-two")) as chat:
        assert await connect_provider(chat).complete("be brief", "what is it?") == "forty-two"
    request = chat.asked[0]
    assert request["model"] == "m-1"
    assert request["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "what is it?"},
    ]
    assert (request["temperature"], request["max_tokens"]) == (0.0, 4096)
    assert f"authorization: bearer {KEY}" in chat.heads[0].lower()
    assert "post /v1/chat/completions" in chat.heads[0].lower()


async def test_json_is_requested_by_mode_and_by_schema_and_returned_parsed() -> None:
    async with run_chat_server(make_answer('Gladly: ```json\n{"topic": "ice"}\n```')) as chat:
        assert await connect_provider(chat).complete_json("s", "u", {"title": "Shape"}) == {"topic": "ice"}
    assert chat.asked[0]["response_format"] == {"type": "json_object"}
    assert "valid JSON" in chat.asked[0]["messages"][0]["content"]
    assert '"Shape"' in chat.asked[0]["messages"][0]["content"]


async def test_options_that_the_endpoint_refuses_are_omitted_afterwards() -> None:
    answers = [
        make_response_error(400, "Unsupported value: 'temperature' does not support 0"),
        make_response_error(422, "unknown field response_format"),
        make_answer("{}"),
    ]
    async with run_chat_server(*answers) as chat:
        provider = connect_provider(chat)
        assert await provider.complete_json("s", "u") == {}
        assert await provider.complete_json("s", "u") == {}
    assert [set(request) & {"temperature", "response_format", "max_tokens"} for request in chat.asked] == [
        {"temperature", "response_format", "max_tokens"},
        {"response_format", "max_tokens"},
        {"max_tokens"},
        {"max_tokens"},
    ]


async def test_another_bad_request_is_not_retried() -> None:
    async with run_chat_server(make_response_error(400, "context too long")) as chat:
        with pytest.raises(LLMError, match="400"):
            await connect_provider(chat).complete("s", "u")
    assert len(chat.asked) == 1


@pytest.mark.parametrize(("status", "error"), [(401, LLMAuthError), (403, LLMAuthError), (404, LLMError)])
async def test_a_refusal_is_raised_at_once_and_not_retried(status: int, error: type[LLMError]) -> None:
    async with run_chat_server(make_response_error(status, f"wrong key {KEY}")) as chat:
        with pytest.raises(LLMError) as caught:
            await connect_provider(chat).complete("s", "u")
    assert type(caught.value) is error
    assert len(chat.asked) == 1


@pytest.mark.parametrize(("status", "error"), [(429, LLMRateLimitError), (500, LLMError), (503, LLMError)])
async def test_a_temporary_failure_is_tried_three_times(status: int, error: type[LLMError]) -> None:
    async with run_chat_server(make_response_error(status, "later")) as chat:
        with pytest.raises(LLMError) as caught:
            await connect_provider(chat).complete("s", "u")
    assert type(caught.value) is error
    assert len(chat.asked) == 3


async def test_a_retry_that_succeeds_gives_its_answer() -> None:
    async with run_chat_server(
        make_response_error(500, "oops"), make_response_error(429, "later"), make_answer("there")
    ) as chat:
        assert await connect_provider(chat).complete("s", "u") == "there"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body="<html>hello</html>", kind="text/html"),
        Answer(body="{half a js"),
        Answer(body="[]"),
        Answer(body="null"),
        Answer(body='{"choices": []}'),
        Answer(body='{"choices": null}'),
        Answer(body='{"error": {"message": "quota"}}'),
        Answer(body=""),
        make_answer(None),
        make_answer("   "),
        make_answer('{"topic": "ic', finish_reason="length"),
    ],
)
async def test_an_empty_answer_is_a_response_error(answer: Answer) -> None:
    async with run_chat_server(answer) as chat:
        with pytest.raises(LLMResponseError):
            await connect_provider(chat).complete_json("s", "u")


async def test_prose_instead_of_json_is_a_response_error() -> None:
    async with run_chat_server(make_answer("I would rather not.")) as chat:
        with pytest.raises(LLMResponseError, match="no JSON object"):
            await connect_provider(chat).complete_json("s", "u")


async def test_a_server_that_never_answers_times_out() -> None:
    async with run_chat_server(Answer(never=True)) as chat:
        with pytest.raises(LLMError, match=r"did not answer within 0\.2 seconds"):
            await asyncio.wait_for(connect_provider(chat, timeout_s=0.2).complete("s", "u"), 30)


async def test_an_unreachable_endpoint_is_an_llm_error() -> None:
    async with run_chat_server(make_answer("x")) as chat:
        provider = connect_provider(chat)
    with pytest.raises(LLMError, match="cannot be reached"):
        await provider.complete("s", "u")


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_no_error_text_contains_the_key(status: int) -> None:
    async with run_chat_server(make_response_error(status, f"the key {KEY} is wrong")) as chat:
        with pytest.raises(LLMError) as caught:
            await connect_provider(chat).complete("s", "u")
    error = caught.value
    assert KEY not in json.dumps(error.body())
    assert KEY not in repr(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_one_provider_serves_several_event_loops_and_leaves_nothing_open() -> None:
    async def listen_and_ask(provider: LLMProvider | None, port: int) -> tuple[LLMProvider, int]:
        async with run_chat_server(make_answer("hello"), port=port) as chat:
            asked = provider or connect_provider(chat)
            assert await asked.complete("s", "u") == "hello"
            return asked, chat.port

    provider, port = asyncio.run(listen_and_ask(None, 0))
    asyncio.run(listen_and_ask(provider, port))
