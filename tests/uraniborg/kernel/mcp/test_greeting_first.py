"""A client is greeted while its server is still being made; everything else waits, and nothing is lost."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp import greeting_server
from tests.uraniborg.kernel.mcp.test_stdio import Process
from tests.uraniborg.kernel.mcp.wire import INITIALIZE, INITIALIZED, call, request


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@contextmanager
def starting(*arguments: object) -> Generator[Process]:
    command = [sys.executable, "-m", greeting_server.__name__, *map(str, arguments)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


def next_of(server: Process) -> dict[str, Any]:
    return json.loads(server.stdout.readline())


def test_the_greeting_comes_first_and_once_and_what_was_asked_meanwhile_is_answered(pipe: Path) -> None:
    with starting(pipe) as server:
        server.send(INITIALIZE)
        assert next_of(server)["result"]["serverInfo"]["name"] == "sample"
        server.send(INITIALIZED, call("say", {"text": "early"}))
        pipe.write_text("go on")
        assert next_of(server)["result"]["content"][0]["text"] == "early"
        server.send(call("say", {"text": "late"}))
        assert next_of(server)["result"]["content"][0]["text"] == "late"
        server.stdin.close()
        assert server.exit_code() == 0
        assert server.stdout.read() == b""
        assert server.stderr.read() == b"running\n"


def test_a_client_that_comes_after_the_server_has_been_made_is_greeted_once(pipe: Path) -> None:
    with starting(pipe) as server:
        pipe.write_text("go on")
        assert server.stderr.readline() == b"running\n"
        server.send(INITIALIZE, INITIALIZED, request("ping", id="p"))
        assert [next_of(server)["id"] for _ in range(2)] == ["init", "p"]
        server.stdin.close()
        assert server.exit_code() == 0
        assert server.stdout.read() == b""


def test_a_client_that_closes_its_end_at_once_has_its_answers(pipe: Path) -> None:
    with starting(pipe) as server:
        server.send(INITIALIZE)
        server.stdin.close()
        assert next_of(server)["id"] == "init"
        pipe.write_text("go on")
        assert server.exit_code() == 0
        assert server.stdout.read() == b""


def test_a_client_that_is_gone_before_it_is_greeted_ends_the_server(pipe: Path) -> None:
    with starting(pipe) as server:
        server.stdout.close()
        server.send(INITIALIZE, INITIALIZED, request("ping"))
        pipe.write_text("go on")
        assert server.exit_code() == 0
        assert b"Traceback" not in server.stderr.read()


@pytest.mark.parametrize(
    ("first", "answer"),
    [
        (request("ping", id="p"), {"jsonrpc": "2.0", "id": "p", "result": {}}),
        (request("tools/list", id="t"), -32600),
        ({**INITIALIZE, "id": "i", "params": {}}, -32602),
    ],
    ids=["ping", "too soon", "invalid"],
)
def test_what_is_no_plain_greeting_waits_for_the_server(pipe: Path, first: dict[str, Any], answer: object) -> None:
    with starting(pipe) as server:
        server.send(first, INITIALIZE)
        pipe.write_text("go on")
        said = {one["id"]: one for one in (next_of(server), next_of(server))}
        assert said.keys() == {first["id"], "init"}
        assert answer in (said[first["id"]], said[first["id"]].get("error", {}).get("code"))


def test_a_second_greeting_is_answered_by_the_server(pipe: Path) -> None:
    with starting(pipe) as server:
        server.send(INITIALIZE, {**INITIALIZE, "id": "again"})
        assert next_of(server)["id"] == "init"
        pipe.write_text("go on")
        assert next_of(server)["id"] == "again"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_while_it_is_made(pipe: Path, number: signal.Signals, code: int) -> None:
    with starting(pipe) as server:
        server.send(INITIALIZE)
        assert next_of(server)["id"] == "init"
        server.process.send_signal(number)
        assert server.exit_code() == code
        assert server.stderr.read() == b""


def test_a_server_that_is_not_what_it_said_says_so_in_the_log(pipe: Path) -> None:
    with starting(pipe, "someone-else") as server:
        server.send(INITIALIZE, INITIALIZED, request("ping", id="p"))
        assert next_of(server)["result"]["serverInfo"]["name"] == "someone-else"
        pipe.write_text("go on")
        assert next_of(server)["id"] == "p", "the first answer is not given twice"
        server.stdin.close()
        assert server.exit_code() == 0
        assert "greeted with what is not so" in server.stderr.read().decode()


@pytest.mark.parametrize("module", ["pflow", "paper_search.mcp_server"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_without_anybody_to_talk_to_it_says_so(module: str, closed: str) -> None:
    arguments = "mcp serve" if module == "pflow" else ""
    command = f'exec "$0" -m {module} {arguments} {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert ("one of them is closed" in done.stderr) or "2>&-" in closed
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["pflow", "paper_search.mcp_server"])
def test_nobody_need_listen_to_its_log(module: str) -> None:
    arguments = "mcp serve" if module == "pflow" else ""
    command = f'exec "$0" -m {module} {arguments} 2>&-'
    with subprocess.Popen(["sh", "-c", command, sys.executable], stdin=-1, stdout=-1, stderr=-1) as process:
        server = Process(process)
        server.initialize()
        server.send(request("tools/list", id="t"))
        assert next_of(server)["id"] == "t"
        server.stdin.close()
        assert server.exit_code() == 0
