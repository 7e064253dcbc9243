"""URANIBORG_HOME moves everything: every command, server and node of every part writes only below it."""

import json
import os
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pflow.config import read_config
from tests.installed_programs import find_program, find_programs
from uraniborg.recordings import QUERY, RECORDING

WORKFLOW: dict[str, Any] = {
    "nodes": [
        {"id": "find", "type": "paper-search", "params": {"query": QUERY, "replay": str(RECORDING)}},
        {"id": "shelf", "type": "library-search", "params": {"query": "transit"}},
        {
            "id": "universe",
            "type": "universe-command",
            "params": {"universe_id": "n", "create": True, "command": {"type": "tick", "dt": 1}},
        },
        {"id": "say", "type": "shell", "params": {"command": "uraniborg paths --json"}},
        {"id": "ask", "type": "approval", "params": {"question": "Publish?"}},
    ],
    "edges": [
        {"from": "find", "to": "shelf"},
        {"from": "shelf", "to": "universe"},
        {"from": "universe", "to": "say"},
        {"from": "say", "to": "ask"},
    ],
}
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "paper-search run": (("paper_search.cli.command", "run", QUERY, "--replay", str(RECORDING)), ""),
    "paper-library sample": (("paper_library", "sample"), "data/library/sample-shelf/manifest.json"),
    "universe new": (("universe", "new", "--id", "t"), "data/universe/universes.db"),
    "universe list": (("universe", "list"), ""),
    "pflow new": (("pflow", "new", "draft"), "pflow/workflows/drafts/draft.json"),
    "uraniborg inbox": (("uraniborg", "inbox"), "data/inbox.db"),
    "uraniborg doctor": (("uraniborg", "doctor"), ""),
    "uraniborg settings": (("uraniborg", "settings", "--all"), ""),
}
"""Commands, and a file that each must write below the home."""


@dataclass(frozen=True)
class Place:
    """A person's home that cannot be written, and the folder that all data must be in."""

    person: Path
    work: Path
    home: Path
    env: dict[str, str]

    def list_strays(self) -> list[Path]:
        """Return the files that were written outside the folder; compiled Python is not counted."""
        outside = (self.person, self.work, Path(self.env["TMPDIR"]))
        return [path for folder in outside for path in folder.rglob("*") if path.name != "workflow.json"]

    def run(self, module: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [find_program("python"), "-m", module, *arguments]
        env = {**self.env, **env}
        return subprocess.run(command, env=env, cwd=self.work, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    folders = [tmp_path / name for name in ("person", "work", "tmp")]
    for folder in folders:
        folder.mkdir()
    (tmp_path / "work" / "workflow.json").write_text(json.dumps(WORKFLOW))
    env = {
        "PATH": f"{find_programs()}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folders[0]),
        "TMPDIR": str(folders[2]),
        "URANIBORG_HOME": str(tmp_path / "home"),
        "URANIBORG_LIBRARY__PORT": "0",
        "URANIBORG_UNIVERSE__PORT": "0",
        "SSL_CERT_DIR": os.environ.get("SSL_CERT_DIR", ""),
    }
    folders[0].chmod(0o500)
    yield Place(folders[0], folders[1], tmp_path / "home", env)
    folders[0].chmod(0o700)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_writes_only_below_the_home(place: Place, name: str) -> None:
    command, file = COMMANDS[name]
    done = place.run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.list_strays() == []
    assert not file or (place.home / file).is_file()


def test_a_workflow_with_nodes_of_every_part_writes_only_below_the_home(place: Place) -> None:
    done = place.run("pflow", "run", "workflow.json", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "approval_required", done.stdout + done.stderr
    for file in (
        "pflow/runs.db",
        "data/inbox.db",
        "data/universe/universes.db",
        "data/library/sample-shelf/manifest.json",
    ):
        assert (place.home / file).is_file()
    assert place.list_strays() == []


def test_every_path_is_below_the_home_and_says_so(place: Place) -> None:
    paths = json.loads(place.run("uraniborg", "paths", "--json").stdout)
    assert {one["origin"] for one in paths.values()} == {"URANIBORG_HOME"}
    assert all(Path(one["path"]).is_relative_to(place.home) for one in paths.values())
    assert not place.home.exists(), "looking creates nothing"


def initialize(stdin: Any) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ):
        stdin.write(json.dumps(message).encode() + b"\n")
    stdin.flush()


def call(process: "subprocess.Popen[bytes]", tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool of a server at stdin and return its reply."""
    assert process.stdin
    assert process.stdout
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        reply = json.loads(line)
        if reply.get("id") == 2:
            return json.loads(reply["result"]["content"][0]["text"])
    raise AssertionError("the server ended")


@contextmanager
def serve(place: Place, *arguments: str, **env: str) -> "Generator[subprocess.Popen[bytes]]":
    with subprocess.Popen(
        [find_program("python"), "-m", *arguments],
        env={**place.env, **env},
        cwd=place.work,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        yield process
        process.terminate()


def test_the_search_server_writes_only_below_the_home_and_records_the_client(place: Place) -> None:
    replay = {"URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(RECORDING)}
    with serve(place, "paper_search.mcp_server", **replay) as process:
        initialize(process.stdin)
        state = call(process, "search_papers", query=QUERY)
        call(process, "decide", session_id=state["session_id"], action="approve")
    assert (place.home / "data" / "paper_search" / "sessions").is_dir()
    assert place.list_strays() == []
    (entry,) = json.loads(place.run("uraniborg", "inbox", "--decided", "--json").stdout)
    assert (entry["door"], entry["decided_by"], entry["decision"]["action"]) == ("agent", "tests 1 (agent)", "approve")


def test_the_workflow_server_writes_only_below_the_home(place: Place) -> None:
    drafts = place.home / "pflow" / "workflows" / "drafts"
    drafts.mkdir(parents=True)
    (drafts / "w.json").write_text(json.dumps(WORKFLOW))
    with serve(place, "pflow", "mcp", "serve") as process:
        initialize(process.stdin)
        reply = call(process, "execute", name="w")
    assert reply["error"]["code"] == "approval_required"
    assert (place.home / "pflow" / "runs.db").is_file()
    assert place.list_strays() == []


@pytest.mark.parametrize("module", ["paper_library", "universe"])
def test_the_http_servers_write_only_below_the_home(place: Place, module: str) -> None:
    with serve(place, module, "serve") as process:
        assert process.stderr
        assert any(b"http://" in line for line in process.stderr)
    assert any((place.home / "data").iterdir())
    assert [path for path in place.list_strays() if not path.is_relative_to(place.env["TMPDIR"])] == []


def test_the_pflow_home_has_its_own_variable_which_has_priority(tmp_path: Path) -> None:
    def find(**env: str) -> tuple[str, str]:
        loaded = read_config({**env, "URANIBORG_CONFIG": str(tmp_path / "s.toml")})
        return str(loaded.settings.home), str(loaded.find_origin("home"))

    (tmp_path / "s.toml").write_text("")
    assert find() == ("~/.pflow", "default")
    assert find(URANIBORG_HOME="/u") == ("/u/pflow", "URANIBORG_HOME")
    assert find(URANIBORG_HOME="/u", PFLOW_HOME="/p") == ("/p", "PFLOW_HOME")
    (tmp_path / "s.toml").write_text('[pflow]\nhome = "/f"\n')
    assert find(URANIBORG_HOME="/u")[0] == "/f"


def test_without_the_variable_nothing_has_moved(place: Place) -> None:
    place.person.chmod(0o700)
    place.env.pop("URANIBORG_HOME")
    paths = json.loads(place.run("uraniborg", "paths", "--json").stdout)
    assert paths["workflows"]["path"] == str(place.person / ".pflow")
    assert {one["origin"] for one in paths.values()} == {"default"}
    assert place.run("pflow", "new", "draft").returncode == 0
    assert (place.person / ".pflow" / "workflows" / "drafts" / "draft.json").is_file()
