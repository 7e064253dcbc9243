"""The servers of the library and of universes, started by their commands: both make the same checks."""

import json
import os
import resource
import selectors
import socket
import subprocess
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from paper_library.service.shelf_catalog import sample_shelf
from tests.installed_programs import find_program
from tests.requirements import requirement
from tests.shared_folders import make_once
from tests.uraniborg.kernel.http.raw_http import SOON, Answer, ask, connected, one_answer, request, rest_of

FILES: Final = 1_024
HALF_OPEN: Final = 1_100
TOKEN: Final = "t0ken-of-both"
APP: Final = "https://app.example.org"
BEARER: Final = f"Authorization: Bearer {TOKEN}"
JSON: Final = "Content-Type: application/json"
PING: Final = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@dataclass(frozen=True)
class Server:
    """A server with a token and one allowed origin. `page` is linked to, `api` is not, `change` is posted to."""

    port: int
    health: str
    page: str
    api: str
    change: str

    def ask(self, path: str, *headers: str, **more: Any) -> Answer:
        return ask(self.port, request(path, BEARER, *headers, **more))

    def post(self, path: str, *headers: str, body: bytes = PING) -> Answer:
        return self.ask(path, f"Content-Length: {len(body)}", *headers, method="POST", body=body)


@contextmanager
def started(folder: Path, part: str, *arguments: str, **paths: str) -> Generator[Server]:
    """Start a server that may open FILES files."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URANIBORG_")}
    name = "UNIVERSE" if part == "universe" else "LIBRARY"
    environment |= {"URANIBORG_HOME": str(folder), f"URANIBORG_{name}__TOKEN": TOKEN}
    command = [find_program("python"), "-m", part, "serve", *arguments, "--allow-origin", APP, "--port", "0", "--json"]
    with (folder / "stderr").open("w") as stderr:
        child = subprocess.Popen(
            ["/bin/sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", *command],
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=folder,
            env=environment,
        )
    assert child.stdout is not None
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(child.stdout, selectors.EVENT_READ)
            assert waiting.select(SOON), "the server printed nothing"
        port = int(json.loads(child.stdout.readline())["url"].rpartition(":")[2])
        server = Server(port, **paths)
        _wait_for(port)
        yield server
    finally:
        child.kill()
        child.wait(SOON)
        child.stdout.close()


def _wait_for(port: int) -> None:
    with selectors.DefaultSelector() as pause:
        for _ in range(int(SOON / 0.05)):
            try:
                socket.create_connection(("127.0.0.1", port), SOON).close()
            except ConnectionRefusedError:
                pause.select(0.05)
            else:
                return
    pytest.fail("the server never listened")


def _build_sample(folder: Path) -> None:
    sample_shelf(folder / "shelf")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Server]]:
    shelf = make_once(tmp_path_factory, "served-sample", _build_sample) / "shelf"
    with (
        started(
            tmp_path_factory.mktemp("universe"),
            "universe",
            "--db",
            "memory:",
            health="/health",
            page="/docs",
            api="/universes",
            change="/universes",
        ) as universe,
        started(
            tmp_path_factory.mktemp("library"),
            "paper_library",
            str(shelf),
            health="/healthz",
            page="/papers/none",
            api="/api/v1/search",
            change="/mcp",
        ) as library,
    ):
        yield {"universe": universe, "library": library}


@pytest.fixture(params=["universe", "library"])
def server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


def refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.error["code"]) == (status, code)
    assert "access-control-allow-origin" not in answer.headers


def test_eleven_hundred_half_open_connections_do_not_keep_a_request_out(server: Server) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < HALF_OPEN + 200:
        pytest.skip(f"this process may open only {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HALF_OPEN + 200), hard))
    with ExitStack() as stack:
        for number in range(HALF_OPEN):
            client = stack.enter_context(connected(server.port))
            if number % 2:
                client.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
        assert server.ask(server.health).status == 200
        assert server.ask(server.api).status == 200


def test_headers_are_limited_before_the_token_is_looked_at(server: Server) -> None:
    for headers in ([f"X{n}: 1" for n in range(101)], ["X: " + "a" * 40_000]):
        with connected(server.port) as client:
            client.sendall(request("/mcp", *headers))
            answer = one_answer(client)
            assert rest_of(client) == b""
        refused(answer, 431, "headers_too_large")


def test_servers_listen_on_loopback_unless_another_address_is_given(server: Server) -> None:
    assert server.ask(server.api).status == 200
    # A server at every address of the machine would answer at the next address of loopback, too.
    with socket.socket() as probe:
        probe.settimeout(SOON)
        assert probe.connect_ex(("127.0.0.2", server.port)) != 0


@requirement("PL-7")
@pytest.mark.parametrize("other", [APP, "http://localhost", "https://evil.example"])
def test_two_origins_are_refused(server: Server, other: str) -> None:
    for first, second in ((APP, other), (other, APP)):
        answer = server.post("/mcp", JSON, f"Origin: {first}", f"Origin: {second}")
        refused(answer, 400, "repeated_header")


@pytest.mark.parametrize("other", ["localhost", "evil.example", ""])
def test_two_hosts_are_refused(server: Server, other: str) -> None:
    for path in (server.health, server.page, "/mcp"):
        refused(server.ask(path, f"Host: {other}"), 400, "repeated_header")
        refused(
            ask(server.port, request(path, "Host: localhost", BEARER, host=other or "evil")), 400, "repeated_header"
        )


@requirement("PL-7")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example"])
def test_a_foreign_origin_is_refused_everywhere(server: Server, origin: str) -> None:
    for path in ("/mcp", server.api, server.page, server.health, "/"):
        refused(server.ask(path, f"Origin: {origin}"), 403, "origin_not_allowed")
        refused(server.post(path, JSON, f"Origin: {origin}"), 403, "origin_not_allowed")


@requirement("PL-7")
@pytest.mark.parametrize("origin", [APP, "http://localhost:5173", "http://[::1]:1"])
def test_an_allowed_origin_may_call_from_another_site_and_read_the_answer(server: Server, origin: str) -> None:
    for path in (server.api, server.page):
        answer = server.ask(path, f"Origin: {origin}", "Sec-Fetch-Site: cross-site")
        assert answer.status in (200, 404)
        assert answer.headers["access-control-allow-origin"] == origin
        assert "x-request-id" in answer.headers["access-control-expose-headers"].lower()


def test_another_site_may_link_to_pages_and_reaches_nothing_else(server: Server) -> None:
    site = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
    for path in ("/", server.page):
        answer = server.ask(path, *site)
        assert answer.status in (200, 404)
        assert answer.headers["content-type"].startswith("text/html")
    for path in ("/mcp", server.api, server.health, "/openapi.json", "/api/v1/openapi.json"):
        refused(server.ask(path, *site), 403, "cross_site_not_allowed")
    for path in ("/mcp", server.change, server.page, "/"):
        refused(server.post(path, JSON, *site), 403, "cross_site_not_allowed")


def test_a_person_and_a_page_of_this_site_reach_everything(server: Server) -> None:
    for site in ("none", "same-origin", "same-site"):
        assert server.ask(server.api, f"Sec-Fetch-Site: {site}").status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_that_is_not_json_is_415(server: Server, kind: str) -> None:
    for path in ("/mcp", server.change, "/nowhere"):
        refused(server.post(path, f"Content-Type: {kind}"), 415, "unsupported_media_type")
    refused(server.post("/mcp"), 415, "unsupported_media_type")


PREFLIGHTS: Final = [
    ("POST", "content-type,mcp-session-id"),
    ("GET", "authorization"),
    ("PUT", "if-match,x-request-id"),
    ("DELETE", ""),
]


@pytest.mark.parametrize("origin", [APP, "http://localhost:5173"])
@pytest.mark.parametrize(("method", "headers"), PREFLIGHTS)
def test_both_servers_answer_a_preflight_alike(
    servers: dict[str, Server], origin: str, method: str, headers: str
) -> None:
    asked = [f"Origin: {origin}", f"Access-Control-Request-Method: {method}"]
    asked += [f"Access-Control-Request-Headers: {headers}"] if headers else []
    answers: list[Any] = []
    for server in servers.values():
        # A browser does not send the token with a preflight.
        status, answered, body = ask(server.port, request("/mcp", *asked, method="OPTIONS"))
        assert len(answered.pop("x-request-id")) == 32
        answered.pop("date")
        answers.append((status, answered, body))
    assert answers[0] == answers[1]
    assert answers[0][0] == 200
    assert answers[0][1]["access-control-allow-origin"] == origin
    assert method in answers[0][1]["access-control-allow-methods"]


def test_a_preflight_by_a_foreign_name_or_from_a_foreign_page_is_refused(server: Server) -> None:
    asked = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type")
    rebound = request("/mcp", f"Origin: {APP}", *asked, method="OPTIONS", host="evil.example")
    refused(ask(server.port, rebound), 421, "host_not_allowed")
    foreign = request("/mcp", "Origin: https://evil.example", *asked, method="OPTIONS")
    refused(ask(server.port, foreign), 403, "origin_not_allowed")


def test_every_answer_has_a_request_id_and_errors_repeat_it(server: Server) -> None:
    assert server.ask(server.health, "X-Request-Id: my-request.1").headers["x-request-id"] == "my-request.1"
    for answer in (
        server.ask("/nowhere"),
        server.ask(server.api + "?no_such_parameter_or_limit=1&limit=0"),
        server.post("/mcp", JSON, body=b"{"),
        server.ask("/mcp", method="PUT"),
        ask(server.port, request("/mcp")),
    ):
        assert answer.status >= 400
        assert answer.headers["x-request-id"] in answer.body.decode()
