"""Hostile texts in every parameter, header and body of every HTTP operation, and in every argument of every tool.

Each is answered or refused with a clean reply, and what was stored reads back.
"""

import json
import socket
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.hostile_texts import HALF, HUGE, SHORT, UNPRINTABLE, check_response, insert_text, make_sample, parse_clean
from tests.uraniborg.console.greeting_workflow import GREETING
from tests.uraniborg.console.processes import ServerProcess, run_server

pytestmark = pytest.mark.soak

UNIVERSE = "hven"
DRAFT = "greeting"
WAITING_S = 60
KNOWN = {"universe_id": UNIVERSE, "name": DRAFT}
"""Values of parameters of paths that name what exists."""
RUDE = ("/api/sign-out", "/api/sign-out-everywhere")
MCP = {"jsonrpc": "2.0", "id": 1}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with run_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ServerProcess) -> Generator[httpx.Client]:
    with server.make_client() as opened:
        opened.event_hooks = {}
        opened.put(f"/api/drafts/{DRAFT}", json={"document": GREETING}).raise_for_status()
        opened.post("/api/universes", json={"id": UNIVERSE, "name": "Hven"}).raise_for_status()
        yield opened


@pytest.fixture(scope="module")
def document(client: httpx.Client) -> dict[str, Any]:
    return client.get("/api/openapi.json").json()


@pytest.fixture(scope="module")
def shelf(client: httpx.Client) -> str:
    return client.get("/api/shelves").json()["shelves"][0]["name"]


def encode(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def send(client: httpx.Client, method: str, path: str, **options: Any) -> Any:
    """Return the value of a reply after a check; nothing for the stream of an address, which has no end."""
    with client.stream(method, path, **options) as response:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return None
        response.read()
        return check_response(response)


def list_operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if path not in RUDE:
                yield method.upper(), path, operation


def fill_path(path: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def read_body_schema(operation: dict[str, Any]) -> dict[str, Any] | None:
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", SHORT)
def test_every_operation_gives_a_clean_reply_to_a_hostile_text_in_each_place(
    client: httpx.Client, document: dict[str, Any], shelf: str, kind: str
) -> None:
    text, sent = SHORT[kind], 0
    definitions = document["components"]["schemas"]
    for method, path, operation in list_operations(document):
        parameters = operation.get("parameters", [])
        present = {} if method == "DELETE" else {**KNOWN, "shelf": shelf}
        known = {one["name"]: present.get(one["name"], "x") for one in parameters if one["in"] == "path"}
        schema = read_body_schema(operation)
        sample = {} if schema is None else {"json": make_sample(schema, definitions)}
        plain = fill_path(path, known)
        for one in parameters:
            sent += 1
            if one["in"] == "path":
                send(client, method, fill_path(path, {**known, one["name"]: encode(text)}), **sample)
            elif one["in"] == "query":
                send(client, method, f"{plain}?{one['name']}={encode(text)}", **sample)
            else:
                header = text.encode("utf-8", "surrogatepass").translate(None, b"\0\x07\x1b")
                send(client, method, plain, headers=[(one["name"].encode(), header)], **sample)
        for body in insert_text(schema or {"type": "null"}, definitions, text):
            sent += 1
            send(client, method, plain, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    assert sent > 200
    assert_all_lists_are_clean(client, document)


def assert_all_lists_are_clean(client: httpx.Client, document: dict[str, Any]) -> None:
    for method, path, operation in list_operations(document):
        if method == "GET" and "{" not in path and path != "/api/doctor":
            required = [one for one in operation.get("parameters", []) if one.get("required")]
            if not required:
                send(client, method, path)


@pytest.mark.timeout(300)
def test_bodies_and_addresses_of_ten_megabytes_are_refused(client: httpx.Client, document: dict[str, Any]) -> None:
    definitions = document["components"]["schemas"]
    for method, path, operation in list_operations(document):
        schema = read_body_schema(operation)
        if schema is None:
            continue
        plain = fill_path(path, {one["name"]: "x" for one in operation.get("parameters", []) if one["in"] == "path"})
        body = next(insert_text(schema, definitions, HUGE), None)
        if body is not None:
            content = json.dumps(body).encode()
            with client.stream(method, plain, content=content, headers={"Content-Type": "application/json"}) as reply:
                reply.read()
            assert 400 <= check_status(reply) < 500, path
    for path in ("/api/shelves/x/search?q=", "/api/universes/", "/api/searches/"):
        assert 400 <= get_status(client, f"{path}{HUGE}") < 500
    assert client.get("/api/health").json()["status"] == "ok"


def get_status(client: httpx.Client, path: str) -> int:
    """Return the status of a reply to a line that HTTP clients refuse to send: 414 if the connection is ended."""
    with closing(socket.create_connection((client.base_url.host, client.base_url.port or 80), WAITING_S)) as connection:
        with suppress(OSError):
            connection.sendall(
                f"GET {path.replace(' ', '+')} HTTP/1.1\r\nHost: {client.base_url.netloc.decode()}\r\n\r\n".encode()
            )
        try:
            head = connection.recv(1_000)
        except OSError:
            return 414
    return int(head.split()[1]) if head else 414


def check_status(response: httpx.Response) -> int:
    check_response(response)
    return response.status_code


Writing = Callable[[httpx.Client, str, str], tuple[httpx.Response, Callable[[], Any]]]


def write_note(client: httpx.Client, shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    paper = client.get(f"/api/shelves/{shelf}/search").json()["results"][0]["paper_id"]
    path = f"/api/shelves/{shelf}/papers/{paper}/note"
    return put(client, path, {"text": text, "collections": []}), lambda: client.get(path).json()["text"]


def write_draft(client: httpx.Client, _shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    document = {"nodes": [{"id": "a", "type": "echo", "params": {"message": text}}]}
    path = "/api/drafts/hostile"
    return put(client, path, {"document": document}), lambda: client.get(path).json()["document"]["nodes"][0]["params"][
        "message"
    ]


def name_universe(client: httpx.Client, _shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    made = post(client, "/api/universes", {"name": text})
    address = f"/api/universes/{made.json().get('id')}"
    return made, lambda: client.get(address).json()["name"]


def name_body(client: httpx.Client, _shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    body = {"name": text, "position": {"x": 0, "y": 0, "z": 0}, "mass": 1, "radius": 1, "color": "#ffffff"}
    known = client.get(f"/api/universes/{UNIVERSE}").json()["version"]
    command = {"type": "addStar", "id": f"s{known}", "parentId": None, "payload": body}
    sent = post(client, f"/api/universes/{UNIVERSE}/commands", command)
    return sent, lambda: client.get(f"/api/universes/{UNIVERSE}").json()["state"]["stars"][f"s{known}"]["name"]


def run_workflow(client: httpx.Client, _shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    begun = post(client, "/api/runs", {"name": DRAFT, "inputs": {"name": text}})

    def read() -> Any:
        began = time.monotonic()
        while (run := client.get(f"/api/runs/{begun.json()['run_id']}")).is_error:
            assert time.monotonic() - began < WAITING_S, run.text
            time.sleep(0.05)
        return run.json()["inputs"]["name"]

    return begun, read


def search(client: httpx.Client, _shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    begun = post(client, "/api/searches", {"query": text})
    address = f"/api/searches/{begun.json().get('session_id')}"
    return begun, lambda: client.get(address).json()["query"]


def sign_in(client: httpx.Client, _shelf: str, text: str) -> tuple[httpx.Response, Callable[[], Any]]:
    token = client.headers["Authorization"].partition(" ")[2]
    signed = post(client, "/api/sign-in", {"token": token, "name": text})
    headers = {"Authorization": f"Bearer {signed.json().get('key')}"}
    return signed, lambda: client.get("/api/me", headers=headers).json()["name"]


def put(client: httpx.Client, path: str, body: Any) -> httpx.Response:
    return client.put(path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def post(client: httpx.Client, path: str, body: Any) -> httpx.Response:
    return client.post(path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


WRITINGS: list[Writing] = [write_note, write_draft, name_universe, name_body, run_workflow, search, sign_in]


@pytest.mark.parametrize("write", WRITINGS)
@pytest.mark.parametrize("kind", SHORT)
def test_what_is_stored_reads_back(client: httpx.Client, shelf: str, write: Writing, kind: str) -> None:
    response, read = write(client, shelf, SHORT[kind])
    check_response(response)
    if kind == "half":
        assert 400 <= response.status_code < 500, response.text
    elif response.is_success:
        # A query is stored without the NUL characters that no source accepts.
        assert read() in (SHORT[kind], SHORT[kind].replace("\0", ""))
    else:
        assert UNPRINTABLE[kind]
        assert 400 <= response.status_code < 500, response.text


@pytest.fixture(scope="module")
def tools(server: ServerProcess) -> Generator[dict[str, Callable[[Any], httpx.Response]]]:
    """Return a function for each MCP server over HTTP, which sends it a message."""
    accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with httpx.Client(timeout=WAITING_S, headers=accept) as client:

        def connect(name: str) -> Callable[[Any], httpx.Response]:
            url, token = server.get_mcp(name)
            headers = {"Authorization": f"Bearer {token}"}
            given = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            begun = client.post(url, json={**MCP, "method": "initialize", "params": given}, headers=headers)
            if session := begun.headers.get("mcp-session-id"):
                headers["mcp-session-id"] = session
                client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
            return lambda message: client.post(url, content=json.dumps(message).encode(), headers=headers)

        yield {name: connect(name) for name in ("paper-search", "paper-library", "universe")}


def read_message(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code < 500, response.text
    if response.headers["content-type"].startswith("application/json"):
        return parse_clean(response.content)
    return parse_clean(response.content.split(b"data: ")[-1].split(b"\r\n")[0])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", [*SHORT, "huge"])
@pytest.mark.parametrize("name", ["paper-search", "paper-library", "universe"])
def test_every_tool_gives_a_clean_reply_to_a_hostile_text_in_each_argument(
    tools: dict[str, Callable[[Any], httpx.Response]], name: str, kind: str
) -> None:
    ask, text = tools[name], {**SHORT, "huge": HUGE}[kind]
    listed = read_message(ask({**MCP, "method": "tools/list"}))["result"]["tools"]
    for tool in listed:
        schema = tool["inputSchema"]
        for arguments in insert_text(schema, schema.get("$defs", {}), text):
            reply = read_message(
                ask({**MCP, "method": "tools/call", "params": {"name": tool["name"], "arguments": arguments}})
            )
            if kind == "half":
                assert reply["error"]["code"] in (-32602, -32700), (tool["name"], reply)
            elif "result" in reply:
                (block,) = reply["result"]["content"]
                block["text"].encode()
                assert '"internal_error"' not in block["text"]
    messages: tuple[dict[str, Any], ...] = (
        {"method": "resources/read", "params": {"uri": f"paper://{encode(text)[:100_000]}/source"}},
        {"method": text, "params": {}},
        {"method": "tools/call", "params": {"name": text, "arguments": {}}},
        {"method": "prompts/get", "params": {"name": text}},
    )
    for message in messages:
        read_message(ask({**MCP, **message}))
    assert read_message(ask({**MCP, "method": "ping"}))["result"] == {}


def test_half_a_character_is_refused_by_name(client: httpx.Client) -> None:
    response = post(client, "/api/searches", {"query": HALF})
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_argument")
