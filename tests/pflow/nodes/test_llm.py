"""The llm node, against a local server with the chat completions interface."""

import inspect
import json
import sys
import threading
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import parse_interface
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes import llm
from tests.pflow.nodes.long_secrets import PIECE, TOKEN, add_secrets
from uraniborg.kernel.errors import InvalidInput, MissingExtra, UraniborgError

answer_prompt: Any = llm.answer_prompt
"""Called with parameters of any shape."""

(INTERFACE,) = json.loads((Path(inspect.getfile(answer_prompt)).with_suffix(".json")).read_text())["nodes"]
KEY = "sk-hven-0123456789"
VARIABLES = (
    *("LLM_MODEL", "LLM_PROVIDER", "LLM_BASE_URL", "LLM_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    *("ANTHROPIC_API_KEY", "CLAUDE_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
)
ONE_PIXEL = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


def make_reply(text: str | None, ended: str = "stop") -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "brahe-1-latest",
        "choices": [{"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }


@dataclass
class Server:
    """A server with one answer to every request, and the path, key and body of each request."""

    url: str = ""
    body: Any = field(default_factory=lambda: make_reply("Fine."))
    status: int = 200
    answers: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list[Any])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    report = Server()
    report.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            report.asked.append((self.path, self.headers["authorization"], body))
            report.answers.wait(30)
            sent = report.body if isinstance(report.body, bytes) else json.dumps(report.body).encode()
            self.send_response(report.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.send_header("x-should-retry", "false")
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        report.url = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield report
        finally:
            report.answers.set()
            listening.shutdown()
            thread.join(10)


@pytest.fixture
def custom_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return the server, configured as the user's own LLM server."""
    monkeypatch.setenv("LLM_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("LLM_MODEL", "brahe-1")
    return server


@pytest.fixture
def providers(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return the server, configured as the endpoint of every provider, each with its own path."""
    endpoints = {name: f"{server.url}/{name}/" for name in ("openai", "anthropic", "google")}
    monkeypatch.setattr("uraniborg.kernel.language_model.ENDPOINTS", endpoints)
    return server


def test_the_interface_is_valid_and_names_the_function_and_known_parameters() -> None:
    report = parse_interface(INTERFACE, source="builtin")
    module, _, name = report.run.partition(":")
    assert getattr(import_module(module), name) is answer_prompt
    assert report.example.keys() <= report.params.keys()


async def test_the_answer_has_its_token_usage(custom_server: Server, context: NodeContext) -> None:
    params = {"prompt": "How is the sky?", "system": "Be brief.", "temperature": 0.5, "max_tokens": 20}
    assert await answer_prompt(params, context) == {
        "response": "Fine.",
        "llm_usage": {"model": "brahe-1-latest", "input_tokens": 11, "output_tokens": 5, "total_tokens": 16},
    }
    path, _, body = custom_server.asked[0]
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "brahe-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "How is the sky?"},
        ],
        "temperature": 0.5,
        "max_tokens": 20,
    }


async def test_unset_parameters_are_left_to_the_model(custom_server: Server, context: NodeContext) -> None:
    await answer_prompt(
        {"prompt": "x", "system": None, "temperature": None, "max_tokens": None, "images": None}, context
    )
    assert custom_server.asked[0][2].keys() == {"model", "messages"}


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ("```\n\n```", ""),
        ("```a\nb\n```\nand\n```c\nd\n```", "```a\nb\n```\nand\n```c\nd\n```"),
        ("Here:\n```\nx\n```", "Here:\n```\nx\n```"),
        ("  plain  \n", "plain"),
    ],
)
async def test_a_fence_around_the_whole_answer_is_taken_off(
    custom_server: Server, context: NodeContext, text: str, response: str
) -> None:
    custom_server.body = make_reply(text)
    assert (await answer_prompt({"prompt": "x"}, context))["response"] == response


async def test_a_server_of_ones_own_is_not_sent_the_key_of_a_provider(
    custom_server: Server, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await answer_prompt({"prompt": "x", "model": "openai/gpt"}, context)
    monkeypatch.setenv("LLM_API_KEY", "own-0123456789")
    await answer_prompt({"prompt": "x"}, context)
    assert [(key, body["model"]) for _, key, body in custom_server.asked] == [
        ("Bearer none", "openai/gpt"),
        ("Bearer own-0123456789", "brahe-1"),
    ]


@pytest.mark.parametrize(
    ("model", "environment", "path", "name"),
    [
        ("gpt-x", {"OPENAI_API_KEY": KEY}, "openai", "gpt-x"),
        ("claude-x", {"CLAUDE_API_KEY": KEY, "OPENAI_API_KEY": "sk-other-1"}, "anthropic", "claude-x"),
        ("gemini-x", {"GEMINI_API_KEY": KEY}, "google", "gemini-x"),
        ("anthropic/x", {"ANTHROPIC_API_KEY": KEY}, "anthropic", "x"),
        ("gemini/x", {"GOOGLE_API_KEY": KEY}, "google", "x"),
        ("x", {"LLM_PROVIDER": "claude", "LLM_API_KEY": KEY}, "anthropic", "x"),
        ("meta/x", {"OPENAI_API_KEY": KEY}, "openai", "meta/x"),
    ],
)
async def test_the_model_decides_the_provider_and_only_its_key_is_sent(
    providers: Server,
    context: NodeContext,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    environment: dict[str, str],
    path: str,
    name: str,
) -> None:
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    await answer_prompt({"prompt": "x", "model": model, "max_tokens": 9}, context)
    asked, key, body = providers.asked[0]
    assert (asked, key, body["model"]) == (f"/{path}/chat/completions", f"Bearer {KEY}", name)
    assert body["max_completion_tokens" if path == "openai" else "max_tokens"] == 9


@pytest.mark.parametrize(
    ("params", "environment", "message", "hint"),
    [
        ({}, {}, "No model is named", "LLM_MODEL"),
        ({"model": "gpt-x"}, {}, "no key for the provider 'openai'", "OPENAI_API_KEY"),
        ({"model": "claude-x"}, {"OPENAI_API_KEY": KEY}, "no key for the provider 'anthropic'", "ANTHROPIC_API_KEY"),
        ({"model": "google/x"}, {"LLM_API_KEY": KEY}, "no key for the provider 'google'", "GOOGLE_API_KEY"),
        ({"model": "x"}, {"LLM_PROVIDER": "oracle"}, "LLM_PROVIDER cannot be 'oracle'", "LLM_BASE_URL"),
        ({"model": "x", "prompt": " \n"}, {}, "The prompt is empty", "Describe what"),
    ],
)
async def test_missing_settings_are_named_before_any_request(
    providers: Server,
    context: NodeContext,
    monkeypatch: pytest.MonkeyPatch,
    params: dict[str, Any],
    environment: dict[str, str],
    message: str,
    hint: str,
) -> None:
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidInput, match=message) as refused:
        await answer_prompt({"prompt": "x", **params}, context)
    assert hint in refused.value.hint
    assert providers.asked == []


async def test_without_the_client_library_the_extra_to_install_is_named(
    custom_server: Server, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match="'brahe-1'") as missing:
        await answer_prompt({"prompt": "x"}, context)
    assert "uraniborg[llm]" in missing.value.hint
    assert custom_server.asked == []


async def test_pictures_are_sent_with_their_bytes_or_by_their_address(
    custom_server: Server, context: NodeContext
) -> None:
    (context.folder / "dot.gif").write_bytes(ONE_PIXEL)
    await answer_prompt({"prompt": "What?", "images": ["dot.gif", "https://hven.example/sky.png"]}, context)
    await answer_prompt({"prompt": "What?", "images": "dot.gif"}, context)
    text, dot, sky = custom_server.asked[0][2]["messages"][0]["content"]
    assert text == {"type": "text", "text": "What?"}
    head, _, data = dot["image_url"]["url"].partition(",")
    assert (head, b64decode(data)) == ("data:image/gif;base64", ONE_PIXEL)
    assert sky == {"type": "image_url", "image_url": {"url": "https://hven.example/sky.png"}}
    assert custom_server.asked[1][2]["messages"][0]["content"][1] == dot


@pytest.mark.parametrize(
    ("image", "message"),
    [("notes.txt", "does not have the name of an image"), ("lost.png", "cannot be read"), ("vast.png", "too large")],
)
async def test_files_that_are_not_images_are_refused(
    custom_server: Server, context: NodeContext, image: str, message: str
) -> None:
    with (context.folder / "vast.png").open("wb") as file:
        file.truncate(30 << 20)
    with pytest.raises(UraniborgError, match=message):
        await answer_prompt({"prompt": "x", "images": [image]}, context)
    assert custom_server.asked == []


@pytest.mark.parametrize(
    ("status", "body", "message", "hint"),
    [
        (401, {"error": {"message": f"bad {KEY}"}}, "refused the API key", "Check the key"),
        (429, {"error": {"message": "slow down"}}, "is limiting requests", "Wait"),
        (400, {"error": {"message": f"no temperature for {KEY}"}}, "no temperature for ", "params"),
        (404, {"error": {"message": "no such model"}}, "no such model", "params"),
        (503, {}, "answered with HTTP status 503", "later"),
        (200, b"<html>", "not a chat completion|gave no answer", "Check"),
        (200, {"choices": []}, "gave no answer", "Check"),
        (200, make_reply(None), "gave no answer", "Check"),
        (200, make_reply("  "), "gave no answer", "Check"),
    ],
)
async def test_each_failure_has_a_hint_and_never_the_key(
    providers: Server,
    context: NodeContext,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: Any,
    message: str,
    hint: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    providers.status, providers.body = status, body
    with pytest.raises(NodeFailed, match=message) as failed:
        await answer_prompt({"prompt": "x", "model": "gpt-x"}, context)
    assert hint in failed.value.hint
    assert KEY not in str(failed.value.body())


async def test_an_answer_that_was_cut_off_fails_with_its_start(custom_server: Server, context: NodeContext) -> None:
    custom_server.body = make_reply("The sky is", ended="length")
    with pytest.raises(NodeFailed, match="cut short") as failed:
        await answer_prompt({"prompt": "x", "max_tokens": 3}, context)
    outputs: Any = failed.value.outputs
    assert outputs["response"] == "The sky is"
    assert outputs["llm_usage"]["total_tokens"] == 16


async def test_a_server_that_does_not_answer_in_time_is_given_up_on(custom_server: Server, tmp_path: Path) -> None:
    custom_server.answers.clear()
    hurried = NodeContext("run", "workflow", "node", tmp_path, tmp_path, tmp_path, timeout=0.3)
    with pytest.raises(NodeTimedOut, match=r"within 0\.3 seconds"):
        await answer_prompt({"prompt": "x"}, hurried)


async def test_an_unreachable_server_is_reported(
    custom_server: Server, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "not an address")
    with pytest.raises(NodeFailed, match="cannot be reached"):
        await answer_prompt({"prompt": "x"}, context)
    assert custom_server.asked == []


async def test_the_key_of_a_custom_server_is_masked_even_if_the_server_repeats_it(
    custom_server: Server, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-own-server-0123456789"
    monkeypatch.setenv("LLM_API_KEY", key)
    custom_server.status, custom_server.body = 400, {"error": {"message": f"no project has {key}, {'x' * 280}"}}
    with pytest.raises(NodeFailed, match=r"no project has \*\*\*") as failed:
        await answer_prompt({"prompt": "x"}, context)
    assert custom_server.asked[0][1] == f"Bearer {key}"
    assert key not in str(failed.value.body())


async def test_no_part_of_a_secret_is_in_an_error(custom_server: Server, context: NodeContext) -> None:
    custom_server.status, custom_server.body = 400, {"error": {"message": f"bad prompt: {TOKEN}"}}
    with pytest.raises(NodeFailed, match=r"bad prompt: \*\*\*") as failed:
        await answer_prompt({"prompt": TOKEN}, add_secrets(context))
    assert PIECE not in str(failed.value.body())
