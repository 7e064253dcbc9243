"""The start of the installed stdio servers: they connect if they can answer, and otherwise report the reason."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request
from tests.uraniborg.kernel.mcp.test_stdio import Process

SERVERS = [["paper_search.mcp_server"], ["pflow", "mcp", "serve"]]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper_search.mcp_server": ("get_session", {"session_id": "none"}),
    "pflow": ("list_library", {}),
}
servers = pytest.mark.parametrize("arguments", SERVERS, ids=lambda arguments: arguments[0])


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "URANIBORG_HOME": str(home), "PFLOW_HOME": str(home / "pflow"), **more}


@servers
def test_messages_piped_in_are_answered_before_the_server_ends(arguments: list[str], tmp_path: Path) -> None:
    tool, given = CALLS[arguments[0]]
    messages = [INITIALIZE, INITIALIZED, request("tools/list", id="list"), {**call(tool, given), "id": "call"}]
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        input="\n".join(map(json.dumps, messages)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(tmp_path),
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers.keys() == {"init", "list", "call"}
    assert tool in {listed["name"] for listed in answers["list"]["result"]["tools"]}
    assert "content" in answers["call"]["result"]


@servers
@pytest.mark.parametrize(
    ("sdk", "reason"),
    [("raise ImportError('half of it is missing')", "half of it is missing"), ("", "pip install 'uraniborg[mcp]'")],
    ids=["broken", "incomplete"],
)
def test_a_broken_import_ends_the_server_with_an_error_before_any_answer(
    arguments: list[str], sdk: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "modules" / "mcp").mkdir(parents=True)
    (tmp_path / "modules" / "mcp" / "__init__.py").write_text(sdk)
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        input=json.dumps(INITIALIZE) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(tmp_path, PYTHONPATH=str(tmp_path / "modules")),
    )
    assert done.stdout == ""
    assert done.returncode > 0
    assert reason in done.stderr


@servers
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_while_it_is_loaded(
    arguments: list[str], number: signal.Signals, code: int, tmp_path: Path
) -> None:
    (tmp_path / "modules" / "mcp").mkdir(parents=True)
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    # An SDK that takes forever to load.
    (tmp_path / "modules" / "mcp" / "__init__.py").write_text(
        f"import time\nopen({str(ready)!r}, 'w').close()\ntime.sleep(3600)\n"
    )
    env = environment(tmp_path, PYTHONPATH=str(tmp_path / "modules"))
    with subprocess.Popen([sys.executable, "-m", *arguments], stdin=-1, stdout=-1, stderr=-1, env=env) as process:
        ready.read_bytes()
        process.send_signal(number)
        assert process.wait(30) == code
        assert process.communicate() == (b"", b"")


@servers
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_server_without_stdin_or_stdout_ends_with_the_reason(arguments: list[str], closed: str) -> None:
    command = f'exec "$0" -m {" ".join(arguments)} {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert ("one of them is closed" in done.stderr) or "2>&-" in closed
    assert "Traceback" not in done.stderr


@servers
def test_a_server_needs_no_stderr(arguments: list[str], tmp_path: Path) -> None:
    command = f'exec "$0" -m {" ".join(arguments)} 2>&-'
    env = environment(tmp_path)
    with subprocess.Popen(["sh", "-c", command, sys.executable], stdin=-1, stdout=-1, stderr=-1, env=env) as process:
        server = Process(process)
        server.initialize()
        server.send(request("tools/list", id="t"))
        assert json.loads(server.stdout.readline())["id"] == "t"
        server.stdin.close()
        assert server.exit_code() == 0
