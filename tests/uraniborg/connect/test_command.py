"""The command `uraniborg connect`, as a person and a script run it."""

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.installed_programs import find_program
from uraniborg.servers.credentials import AgentCredentials


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".cursor").mkdir()
    return tmp_path


@pytest.fixture
def short_home() -> Generator[Path]:
    """Return a home whose path is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


def run_connect(home: Path, *arguments: str, code: int = 0, **options: Any) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "URANIBORG_HOME": str(home / "u"), "COLUMNS": "200"}
    done = subprocess.run(
        [find_program("uraniborg"), "connect", *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        **options,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_without_a_client_the_clients_are_listed(home: Path) -> None:
    rows = {row["client"]: row for row in json.loads(run_connect(home, "--json").stdout)}
    assert rows["cursor"]["installed"]
    assert not rows["zed"]["installed"]
    assert rows["cursor"]["connected"] == []
    run_connect(home, "cursor", "--yes")
    rows = {row["client"]: row for row in json.loads(run_connect(home, "--json").stdout)}
    assert rows["cursor"]["connected"] == ["paper-search", "pflow", "paper-library", "universe"]


def test_the_written_paths_are_absolute_and_exist(home: Path) -> None:
    done = run_connect(home, "cursor", "--yes")
    servers = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    for name in ("paper-search", "pflow"):
        assert Path(servers[name]["command"]).is_absolute()
        assert Path(servers[name]["command"]).exists()
    assert "universe serve" in done.stdout
    assert servers["universe"]["url"] in done.stdout


def test_without_a_terminal_nothing_is_written_unless_it_was_agreed(home: Path) -> None:
    done = run_connect(home, "cursor", code=2, stdin=subprocess.DEVNULL)
    assert "--yes" in done.stderr
    assert not (home / ".cursor" / "mcp.json").exists()


@pytest.mark.parametrize(("answer", "is_written"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_the_change_is_shown_before_the_question(home: Path, answer: bytes, *, is_written: bool) -> None:
    outside, inside = pty.openpty()
    os.write(outside, answer)
    done = run_connect(home, "cursor", "--server", "pflow", stdin=inside)
    os.close(outside)
    os.close(inside)
    assert '+    "pflow": {' in done.stdout
    assert "Write this change? [y/N]" in done.stderr
    assert (home / ".cursor" / "mcp.json").exists() is is_written


def test_remove_takes_our_servers_only(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {"mine": {"url": "https://a.example"}}}')
    run_connect(home, "cursor", "--yes")
    run_connect(home, "cursor", "--remove", "--yes")
    assert json.loads(file.read_text()) == {"mcpServers": {"mine": {"url": "https://a.example"}}}


@pytest.mark.parametrize("removed_by_hand", [True, False])
def test_remove_ends_the_credentials_of_a_client(home: Path, *, removed_by_hand: bool) -> None:
    file = home / ".cursor" / "mcp.json"
    run_connect(home, "cursor", "--yes")
    header: str = json.loads(file.read_text())["mcpServers"]["universe"]["headers"]["Authorization"]
    credentials = AgentCredentials(home / "u" / "data" / "console" / "agents.json")
    assert credentials.find_client(header.split()[1], "universe") == "cursor"
    if removed_by_hand:
        file.write_text('{"mcpServers": {}}')
    run_connect(home, "cursor", "--remove", "--yes")
    assert credentials.find_client(header.split()[1], "universe") is None


def test_print_changes_nothing_and_prints_the_clients_own_format(home: Path) -> None:
    assert run_connect(home, "codex", "--print").stdout.startswith("[mcp_servers.paper-search]\ncommand = ")
    assert '"mcpServers"' in run_connect(home, "--print").stdout
    assert not (home / ".codex").exists()


def test_misspelt_clients_and_servers_are_answered_with_the_nearest(home: Path) -> None:
    assert "Did you mean claude-code?" in run_connect(home, "claude_cod", code=2).stderr
    assert "Did you mean paper-search?" in run_connect(home, "cursor", "--server", "papersearch", code=2).stderr


def test_a_second_run_says_that_nothing_is_to_do(home: Path) -> None:
    run_connect(home, "cursor", "--yes")
    assert "already up to date" in run_connect(home, "cursor").stdout


def read_vscode(home: Path) -> dict[str, Any]:
    file = home / ".config" / "Code" / "User" / "mcp.json"
    if sys.platform == "darwin":
        file = home / "Library" / "Application Support" / "Code" / "User" / "mcp.json"
    return json.loads(file.read_text())["servers"]


def test_visual_studio_code_gets_sockets_if_they_are_asked_for_and_ports_otherwise(short_home: Path) -> None:
    run_connect(short_home, "vscode", "--yes")
    ports = read_vscode(short_home)
    assert ports["universe"]["url"].startswith("http://127.0.0.1:")
    done = run_connect(short_home, "vscode", "--socket", "--yes")
    sockets = read_vscode(short_home)
    for name in ("paper-library", "universe"):
        path = short_home / "u" / "data" / "sockets" / f"{name}.sock"
        assert sockets[name] == {**ports[name], "url": f"unix://{path}#/mcp"}
        assert sockets[name]["headers"]["Authorization"].startswith("Bearer vscode.")
    assert sockets["pflow"] == ports["pflow"]
    assert "Only it listens at the sockets" in done.stdout
    assert "universe serve" not in done.stdout
    run_connect(short_home, "vscode", "--yes")
    assert read_vscode(short_home) == ports


def test_print_shows_the_entries_with_sockets(short_home: Path) -> None:
    printed = json.loads(run_connect(short_home, "vscode", "--socket", "--print").stdout)
    assert printed["servers"]["universe"]["url"].endswith("/u/data/sockets/universe.sock#/mcp")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cursor"], "Cursor does not document unix sockets"),
        (["claude-code", "--print"], "Claude Code does not document unix sockets"),
        (["--print"], "--socket needs the name of a client"),
        ([], "--socket needs the name of a client"),
        (["vscode", "--remove"], "no --remove"),
    ],
)
def test_other_clients_get_no_sockets(home: Path, arguments: list[str], words: str) -> None:
    refused = run_connect(home, *arguments, "--socket", "--yes", code=2).stderr
    assert words in refused
    assert "uraniborg connect vscode --socket" in refused


def test_a_socket_with_a_path_that_is_too_long_is_not_written(home: Path) -> None:
    long = home / ("x" * 110)
    refused = run_connect(long, "vscode", "--socket", "--yes", code=5).stderr
    assert "bytes, and this system allows" in refused
    assert not long.exists()
