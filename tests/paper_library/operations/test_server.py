"""`paper-library serve` as a process: start, access control and shutdown."""

import json
import os
import re
import signal
import socket
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from paper_library.service.build.builder import build_shelf
from tests.paper_library.operations.command_runs import TIMEOUT_S, call_command, list_titles, start_server, wait_until
from tests.paper_library.operations.shelves import build_titled_shelf, list_file_stats
from tests.requirements import requirement

Capture = pytest.CaptureFixture[str]
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search_papers", "arguments": {"query": "star"}},
}
LONG = 8_000_000


@pytest.fixture
def start_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """Return a list that collects the arguments of `run_server`, and start no server."""
    runs: list[dict[str, Any]] = []

    def run(app: object, **options: Any) -> None:
        runs.append({"app": app, **options})

    monkeypatch.setattr("uraniborg.kernel.http.uvicorn_server.run_server", run)
    monkeypatch.setattr("paper_library.cli.serve_command.configure_logging", lambda: None)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    return runs


def test_an_address_reachable_from_other_machines_needs_a_token(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]]
) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        done = call_command(capsys, "serve", shelf, "--host", host, "--port", "0", "--json")
        assert (done.code, done.error["code"]) == (4, "insecure_bind")
        assert "--token" in done.error["hint"]
        assert "--insecure" in done.error["hint"]
    assert start_arguments == []


def test_insecure_allows_other_machines_and_is_reported(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]]
) -> None:
    done = call_command(capsys, "serve", shelf, "--host", "0.0.0.0", "--port", "0", "--insecure")
    assert done.code == 0
    assert "No token is needed: everyone who can reach this address can read the shelf." in done.err
    assert [run["host"] for run in start_arguments] == ["0.0.0.0"]


def test_insecure_is_reported_with_json_output(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]]
) -> None:
    done = call_command(capsys, "serve", shelf, "--host", "0.0.0.0", "--port", "0", "--insecure", "--json")
    assert start_arguments
    assert "No token is needed" in done.err


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_loopback_address_needs_no_token(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]], host: str
) -> None:
    assert call_command(capsys, "serve", shelf, "--host", host, "--port", "0").code == 0
    assert len(start_arguments) == 1


def test_a_port_in_use_is_reported(capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = call_command(capsys, "serve", shelf, "--port", str(port), "--json")
    assert (done.code, done.error["code"], done.error["port"]) == (5, "port_taken", port)
    assert "--port" in done.error["hint"]
    assert start_arguments == []


def test_an_invalid_host_is_reported(capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]]) -> None:
    done = call_command(capsys, "serve", shelf, "--host", "no.such.host.invalid", "--insecure", "--port", "0", "--json")
    assert (done.code, done.error["code"]) == (5, "port_taken")
    assert start_arguments == []


BASES = ["ftp://x.example", "https://", "static", "https://me:secret@x.example", "http://x.example/?q=1", "http://[::1"]


NO_PORT = "http://x:99999999/"


@pytest.mark.parametrize("base", [*BASES, NO_PORT])
def test_an_invalid_static_base_url_is_reported(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]], base: str
) -> None:
    done = call_command(capsys, "serve", shelf, "--static-base-url", base, "--port", "0", "--json")
    assert (done.code, done.error["code"]) == (2, "invalid_argument")
    assert "secret" not in done.out + done.err
    assert start_arguments == []


OPTIONS = [["--workers", "0"], ["--workers", "65"], ["--port", "65536"], ["--port", "-1"]]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_an_option_out_of_range_is_reported(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]], options: list[str]
) -> None:
    done = call_command(capsys, "serve", shelf, "--json", *options)
    assert (done.code, done.error["code"]) == (2, "invalid_argument")
    assert options[0].removeprefix("--") in done.error["message"]
    assert start_arguments == []


def test_options_override_settings_of_the_environment(
    capsys: Capture, shelf: Path, start_arguments: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = [one.getsockname()[1], two.getsockname()[1]]
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(shelf))
    monkeypatch.setenv("URANIBORG_LIBRARY__PORT", str(ports[0]))
    monkeypatch.setenv("URANIBORG_LIBRARY__TOKEN", "a-secret-of-ours")
    assert call_command(capsys, "serve", "--json").json["papers"] == 3
    assert call_command(capsys, "serve", "--json", "--port", str(ports[1])).json["url"].endswith(f":{ports[1]}")
    assert [run["port"] for run in start_arguments] == ports


@pytest.mark.parametrize(("name", "value"), [("PORT", "x"), ("COLOUR", "blue"), ("QUERY_TIMEOUT_S", "0")])
def test_an_invalid_setting_is_named(
    capsys: Capture,
    shelf: Path,
    start_arguments: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
) -> None:
    monkeypatch.setenv(f"URANIBORG_LIBRARY__{name}", value)
    done = call_command(capsys, "serve", shelf, "--json")
    assert (done.code, done.error["code"]) == (2, "invalid_config")
    assert name in done.error["message"]
    assert start_arguments == []


@pytest.fixture(scope="module")
def token_client(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    """Provide a client of a server whose token is in its environment."""
    folder = tmp_path_factory.mktemp("token_client")
    build_titled_shelf(folder / "shelf", "Star")
    with start_server(folder, folder / "shelf", URANIBORG_LIBRARY__TOKEN="t0ken-of-ours") as served:
        yield served.client


PATHS = ["/", "/mcp", "/papers/x", "/api/v1/search", "/api/v1/openapi.json", "/nothing", "/healthz/", "//healthz"]
WRONG = ["Bearer wrong", "Bearer t0ken-of-our", "Bearer t0ken-of-ours ours", "Basic t0ken-of-ours", "t0ken-of-ours", ""]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_only_healthz_replies(token_client: httpx.Client, path: str) -> None:
    for sent in ({}, *({"Authorization": value} for value in WRONG)):
        refused = token_client.get(path, headers=sent)
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert refused.json()["error"]["code"] == "not_authorized"
        assert "t0ken" not in refused.text


def test_healthz_needs_no_token(token_client: httpx.Client) -> None:
    assert token_client.get("/healthz").json()["status"] == "ok"


@pytest.mark.parametrize(
    "scheme",
    [
        "Bearer",
        "bearer",
    ],
)
def test_with_the_token_every_request_is_answered(token_client: httpx.Client, scheme: str) -> None:
    sent = {"Authorization": f"{scheme} t0ken-of-ours"}
    assert token_client.get("/api/v1/search", headers=sent).json()["total"] == 1
    assert token_client.get("/", headers=sent).status_code == 200
    assert token_client.post("/mcp", json=CALL, headers=sent).json()["result"]["structuredContent"]["total"] == 1


def test_a_host_name_of_another_machine_is_refused(token_client: httpx.Client) -> None:
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""):
        refused = token_client.get("/healthz", headers={"Host": host})
        assert refused.status_code == 421
        assert refused.json()["error"]["code"] == "host_not_allowed"


@requirement("PL-17")
def test_serving_writes_nothing_into_the_shelf_and_leaves_nothing_behind(shelf: Path, tmp_path: Path) -> None:
    before = list_file_stats(shelf)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with start_server(tmp_path, shelf, TMPDIR=str(temporary)) as served:
        for path in ("/", "/api/v1/search?q=comets&facets=author", "/api/v1/stats", "/healthz"):
            assert served.client.get(path).status_code == 200
        assert served.client.post("/mcp", json=CALL).status_code == 200
        assert served.stop() in (0, -signal.SIGTERM)
        assert served.stderr == ""
    assert list_file_stats(shelf) == before
    assert list(temporary.iterdir()) == []


@pytest.fixture
def long_paper(tmp_path: Path) -> Path:
    """Return a shelf of one paper whose text takes a while to send."""
    source = tmp_path / "long.md"
    source.write_text("---\ntitle: A long paper\n---\n" + "word " * (LONG // 5))
    build_shelf([source], tmp_path / "shelf")
    return tmp_path / "shelf"


def test_sigterm_finishes_running_requests_and_accepts_no_new_ones(long_paper: Path, tmp_path: Path) -> None:
    with start_server(tmp_path, long_paper) as served:
        paper = served.client.get("/api/v1/search").json()["results"][0]["paper_id"]
        with served.client.stream("GET", f"/api/v1/papers/{paper}/source") as download:
            pieces = download.iter_raw(65_536)
            size = len(next(pieces))
            served.child.send_signal(signal.SIGTERM)
            wait_until(lambda: _refuses_connections(served.url))
            size += sum(map(len, pieces))
        assert size == int(download.headers["Content-Length"]) > LONG - 10
        assert served.child.wait(TIMEOUT_S) in (0, -signal.SIGTERM)
        assert "Traceback" not in served.stderr


def _refuses_connections(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz", timeout=TIMEOUT_S)
    except httpx.TransportError as exc:
        # A connection that was taken in the moment before may be closed without an answer.
        return isinstance(exc, httpx.ConnectError)
    return False


def test_an_interrupt_ends_the_server_without_a_traceback(shelf: Path, tmp_path: Path) -> None:
    with start_server(tmp_path, shelf, from_the_start=True) as served:
        assert served.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
        assert "Traceback" not in served.stderr


def test_two_workers_survive_the_kill_of_one(shelf: Path, tmp_path: Path) -> None:
    with start_server(tmp_path, shelf, "--workers", "2", from_the_start=True) as served:
        wait_until(lambda: len(served.workers()) == 2)
        before = served.workers()
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: len(served.workers()) == 2 and before[0] not in served.workers())
        wait_until(lambda: _search(served.url))
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(_search, [served.url] * 40))
        assert served.stop() in (0, -signal.SIGTERM)


def _search(url: str) -> bool:
    try:
        return list_titles(httpx.get(f"{url}/api/v1/search?q=star", timeout=TIMEOUT_S).json()) == ["On the new star"]
    except httpx.TransportError:
        return False


def test_the_server_prints_one_line_of_json(shelf: Path, tmp_path: Path) -> None:
    with start_server(tmp_path, shelf, from_the_start=True) as served:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", served.url)
        served.stop()
        assert served.child.stdout is not None
        assert served.child.stdout.read() == b""


def test_requests_that_are_not_http_do_not_stop_the_server(shelf: Path, tmp_path: Path) -> None:
    with start_server(tmp_path, shelf) as served:
        address = ("127.0.0.1", int(served.url.rpartition(":")[2]))
        for raw in (
            b"\x16\x03\x01\x02\x00\x01",
            b"GET\r\n\r\n",
            b"\x00" * 10_000,
            b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000,
        ):
            with socket.create_connection(address, TIMEOUT_S) as caller:
                caller.sendall(raw)
                caller.shutdown(socket.SHUT_WR)
                assert b"200 OK" not in caller.recv(1_000)
        waiting = [socket.create_connection(address, TIMEOUT_S) for _ in range(50)]
        for caller in waiting:
            caller.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert served.client.get("/healthz").json()["status"] == "ok"
        for caller in waiting:
            caller.close()
        assert served.client.get("/healthz").json()["status"] == "ok"
        assert "Traceback" not in served.stderr


def test_healthz_has_build_id_and_papers(shelf: Path, tmp_path: Path) -> None:
    build_id = json.loads((shelf / "manifest.json").read_bytes())["build_id"]
    with start_server(tmp_path, shelf) as served:
        assert served.client.get("/healthz").json() == {"status": "ok", "build_id": build_id, "papers": 3}


def test_workers_do_not_outlive_the_process_that_started_them(tmp_path: Path, shelf: Path) -> None:
    with start_server(tmp_path, shelf, "--workers", "2", from_the_start=True) as served:
        wait_until(lambda: len(served.workers()) == 2)
        workers = served.workers()
        served.stop(signal.SIGKILL)
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
