"""`universe serve` as a process: its start, access control, start errors and end."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.universe.api.rest.processes import Served, run_server_process
from tests.universe.api.rest.stream_listener import open_client, open_listener, post_command
from universe.cli import run

RunRefused = Callable[..., tuple[object, dict[str, Any]]]

PROMPTLY: Final = 5.0
ENDED: Final = (0, 130, -signal.SIGINT)


def refused(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `universe serve` with arguments that it must refuse, and return the finished process."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("URANIBORG_")}
    return subprocess.run(
        [sys.executable, "-m", "universe", "serve", *arguments],
        capture_output=True,
        text=True,
        timeout=25,
        check=False,
        cwd=folder,
        env={**env, "URANIBORG_HOME": str(folder / "home")},
    )


def interrupted(served: Served) -> int:
    served.child.send_signal(signal.SIGINT)
    return served.child.wait(PROMPTLY)


def test_it_reports_where_it_is_in_one_line_and_answers_there(tmp_path: Path) -> None:
    with run_server_process(tmp_path / "u.db", from_the_start=True) as served:
        answer = httpx.get(f"{served.url}/health", timeout=PROMPTLY)
        assert answer.status_code == 200
        assert answer.json()["listeners"] == 0
        assert interrupted(served) in ENDED
        assert served.child.stdout is not None
        assert served.child.stdout.read() == b""
        assert served.stderr == ""


async def test_an_interrupt_ends_it_promptly_although_a_client_listens(tmp_path: Path) -> None:
    with run_server_process(tmp_path / "u.db") as served:
        async with open_client(served.url) as client:
            assert (await client.post("/universes", json={"name": "Hven", "id": "u"})).status_code == 201
            async with open_listener(client) as stream:
                assert await post_command(client, {"type": "tick"}) == 1
                assert interrupted(served) in ENDED
                assert [event.id for event in await stream.rest()] == [1]
        assert "Traceback" not in served.stderr


def no_database(folder: Path) -> str:
    (folder / "u.db").write_bytes(b"this is not a database" * 100)
    return f"sqlite:///{folder}/u.db"


def no_folder(folder: Path) -> str:
    (folder / "file").write_text("")
    return f"sqlite:///{folder}/file/u.db"


def no_server(folder: Path) -> str:
    return f"postgresql://somebody:open-sesame-42@/u?host={folder}"


@pytest.mark.parametrize("address_in", [no_database, no_folder, no_server])
def test_a_database_that_cannot_be_opened_is_reported_in_two_lines_before_anything_else(
    tmp_path: Path, address_in: Callable[[Path], str]
) -> None:
    done = refused(tmp_path, "--port", "0", "--db", address_in(tmp_path))
    assert (done.returncode, done.stdout) == (5, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    assert "open-sesame-42" not in done.stderr


def test_a_database_that_cannot_be_opened_is_reported_in_one_line_of_json(tmp_path: Path) -> None:
    done = refused(tmp_path, "--port", "0", "--db", no_database(tmp_path), "--json")
    assert done.returncode == 5
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["error"]["code"] == "store_unavailable"


@pytest.fixture
def reply(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunRefused:
    """Return a function that runs a refused `universe serve` and returns its exit code and its error."""

    def started(*_args: object, **_options: object) -> None:
        pytest.fail("it was served")

    def answer(*arguments: str) -> tuple[object, dict[str, Any]]:
        with pytest.raises(SystemExit) as ended:
            run(["serve", *arguments, "--json"])
        return ended.value.code, json.loads(capsys.readouterr().out)["error"]

    monkeypatch.setattr("uraniborg.kernel.http.uvicorn_server.run_server", started)
    monkeypatch.setattr("universe.api.server.configure_logging", lambda: None)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    return answer


def test_a_port_that_is_taken_is_reported(reply: RunRefused, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, error = reply("--port", str(port))
    assert (code, error["code"], error["port"]) == (5, "port_taken", port)
    assert "--port" in error["hint"]
    assert not list(tmp_path.rglob("*.db"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_can_reach_needs_a_token(reply: RunRefused, tmp_path: Path, host: str) -> None:
    code, error = reply("--host", host, "--port", "0")
    assert (code, error["code"]) == (4, "insecure_bind")
    assert "--token" in error["hint"]
    assert "--insecure" in error["hint"]
    assert not list(tmp_path.rglob("*.db"))
