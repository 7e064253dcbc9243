"""The lines that `uraniborg serve` prints to copy."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.installed_programs import Program
from tests.prerequisites import skip_or_fail
from uraniborg.servers.command import format_events_command, print_addresses
from uraniborg.servers.process import PartServer


def test_the_line_that_connects_pflow_has_a_whole_path_and_is_left_out_if_pflow_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    parts = [PartServer("api", "the console", 8000, None)]
    print_addresses(parts, "token", "http://127.0.0.1:8000/#token=token", as_json=False)
    without = capsys.readouterr().err
    assert "claude mcp add --transport http api http://127.0.0.1:8000/mcp --header 'Authorization: Bearer " in without
    assert "claude mcp add pflow" not in without
    (tmp_path / "pflow").write_text("#!/bin/sh\n")
    (tmp_path / "pflow").chmod(0o755)
    print_addresses(parts, "token", "http://127.0.0.1:8000/#token=token", as_json=False)
    assert f"claude mcp add pflow -- {tmp_path}/pflow mcp serve\n" in capsys.readouterr().err


def list_command_lines() -> list[bytes]:
    found: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the process has ended
            found.append(path.read_bytes())
    return found


def test_the_command_that_follows_events_sends_the_token_and_shows_it_to_no_other_account() -> None:
    if shutil.which("curl") is None:
        skip_or_fail("There is no curl.")
    token = secrets.token_urlsafe(24)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = format_events_command(f"http://127.0.0.1:{listener.getsockname()[1]}", token)
        with subprocess.Popen(["/bin/bash"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as shell:
            assert shell.stdin is not None
            shell.stdin.write(f"{command}\n".encode())
            shell.stdin.flush()
            listener.settimeout(30)
            connection, _ = listener.accept()
            with connection:
                sent = connection.recv(65_536)
                arguments = list_command_lines()
            shell.stdin.close()
    assert f"Authorization: Bearer {token}\r\n".encode() in sent
    assert sent.startswith(b"GET /api/events ")
    assert any(b"/api/events" in one for one in arguments)
    assert not any(token.encode() in one for one in arguments)


@pytest.mark.parametrize(
    "setting",
    [
        "URANIBORG_CONSOLE__PORT=99999",
        "URANIBORG_CONSOLE__SEARCH_PORT=-1",
        "URANIBORG_LIBRARY__PORT=x",
        "URANIBORG_PAPER_SEARCH__NOTHING=1",
        "URANIBORG_DECISIONS__REQUIRE_PERSON=maybe",
        "URANIBORG_PFLOW__NOTHING=1",
    ],
)
def test_a_wrong_setting_is_a_message_that_names_it(tmp_path: Path, setting: str) -> None:
    name, _, value = setting.partition("=")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "URANIBORG_HOME": str(tmp_path / "u"), name: value}
    done = Program("uraniborg").run("serve", env=env, cwd=tmp_path)
    assert done.returncode != 0
    assert done.stderr.startswith("error: ")
    assert name in done.stderr
    assert "\nhint: " in done.stderr
    assert "Traceback" not in done.stderr
