"""`uraniborg doctor`: a sound installation passes, and each fault is found, named and given a remedy."""

import asyncio
import importlib.metadata
import json
import os
import random
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from paper_library.service.shelf_catalog import sample_shelf
from paper_search.config import AppConfig
from paper_search.service.sessions import SessionManager
from pflow.config import Settings
from pflow.service.operations import Service
from tests.installed_programs import find_program
from tests.prerequisites import find_built_console
from tests.uraniborg.console.processes import run_server
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore
from uraniborg.connect.clients import find_client
from uraniborg.connect.server_entries import list_http_servers
from uraniborg.installation.doctor import InstallationCheck, run_checks
from uraniborg.kernel.store.inbox import Inbox
from uraniborg.recordings import QUERY, RECORDING
from uraniborg.servers.unix_sockets import find_socket, format_socket_url, open_socket


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "u"))
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "pflow"))
    monkeypatch.setenv("URANIBORG_LIBRARY__PORT", str(find_free_port()))
    monkeypatch.setenv("URANIBORG_UNIVERSE__PORT", str(find_free_port()))
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "URANIBORG_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "u"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a session, its question, a universe, a shelf and a run."""
    folder = tmp_path_factory.mktemp("written")
    home = folder / "u"

    async def write() -> None:
        manager = SessionManager()
        await manager.start(QUERY, AppConfig(replay_dir=RECORDING))
        await manager.aclose()
        async with UniverseService(SqliteStore(home / "data" / "universe" / "universes.db")).running() as service:
            await service.create("Hven", universe_id="hven")
            for _ in range(3):
                await service.send("hven", {"type": "tick", "dt": 1})

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("URANIBORG_HOME", str(home))
        asyncio.run(write())
        sample_shelf()
        workflow = {"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}], "edges": []}
        assert Service(Settings(home=folder / "pflow"), folder=folder).run_document(workflow, name="w").success
    return folder


@pytest.fixture
def filled(home: Path, written: Path) -> Path:
    """Return a home with all kinds of data."""
    shutil.copytree(written, home.parent, dirs_exist_ok=True)
    return home


def find_free_port() -> int:
    """Return a port below those that systems give to connections, so that none takes it before a server does."""
    while True:
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
            return probe.getsockname()[1]


def read_tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the contents and modes of all files except those by which SQLite coordinates its connections."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith("-shm")]
    return {str(path): (path.read_bytes(), path.stat().st_mode) for path in files}


def find_checks(status: str) -> list[InstallationCheck]:
    return [check for check in run_checks() if check.status == status]


def test_an_empty_installation_has_no_failure_and_no_warning(home: Path) -> None:
    assert find_checks("failure") == []
    assert find_checks("warning") == []
    assert not home.exists()  # looking creates nothing


def test_a_damaged_database_is_a_failure_with_the_remedy(home: Path) -> None:
    with closing(Inbox()) as inbox:
        for number in range(200):
            inbox.put(f"q{number}", "pflow", "approval", "s", {"question": "?" * 500})
    database = home / "data" / "inbox.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(database.read_bytes())
    content[8_192:40_960] = b"\x55" * (40_960 - 8_192)
    database.write_bytes(content)
    (check,) = find_checks("failure")
    assert check.name == "inbox"
    assert "uraniborg restore" in check.hint


def test_an_empty_file_in_place_of_a_database_is_a_failure(home: Path) -> None:
    with closing(Inbox()) as inbox:
        inbox.put("q", "pflow", "approval", "s", {})
    database = home / "data" / "inbox.db"
    for file in database.parent.glob("inbox.db-*"):
        file.unlink()
    database.write_bytes(b"")
    (check,) = find_checks("failure")
    assert (check.name, check.topic) == ("inbox", "databases")
    assert "the file is empty" in check.detail
    assert "uraniborg restore" in check.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_data_that_others_may_read_are_a_warning(home: Path) -> None:
    (home / "data" / "universe").mkdir(parents=True)
    (home / "data").chmod(0o700)
    (home / "data" / "universe").chmod(0o755)
    (check,) = find_checks("warning")
    assert check.name == "universes"
    assert check.hint.startswith("chmod go= ")


def test_keys_are_listed_and_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "key-that-must-not-appear")
    checks = list(run_checks())
    assert any(check.name == "sources.openalex.api_key" and check.status == "ok" for check in checks)
    assert "key-that-must-not-appear" not in str(checks)


def test_an_invalid_setting_fails_its_topics_and_the_others_still_run(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__PORT", "many")
    failures = find_checks("failure")
    assert {check.topic for check in failures} >= {"shelves", "ports"}
    assert any(check.topic == "keys" for check in run_checks())


def test_a_filled_installation_passes_and_no_file_changes(filled: Path) -> None:
    before = read_tree(filled.parent)
    checks = list(run_checks())
    assert [check for check in checks if check.status in ("failure", "warning")] == []
    assert {check.name for check in checks if check.topic == "databases"} == {
        "sessions",
        "inbox",
        "universes",
        "workflows",
    }
    details = {check.topic: check.detail for check in checks if check.topic in ("universes", "shelves")}
    assert details["universes"] == "1 universe replayed, intact"
    assert "intact" in details["shelves"]
    assert read_tree(filled.parent) == before


WRITER = """
import asyncio
from universe.config import load_config
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from uraniborg.kernel.store.inbox import Inbox

async def write():
    inbox = Inbox()
    async with UniverseService(make_store(load_config().database_address)).running() as service:
        for number in range(1_000_000):
            inbox.put(f"w{number}", "pflow", "approval", "s", {"question": "?" * 500})
            await service.send("hven", {"type": "tick", "dt": 1})
            if number == 3:
                print("writes", flush=True)

asyncio.run(write())
"""


@contextmanager
def run_process(*arguments: str, until: bytes) -> Generator[subprocess.Popen[bytes]]:
    """Yield a process once it has written a line with `until`."""
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout
            assert any(until in line for line in process.stdout)
            yield process
        finally:
            process.kill()


def test_data_that_another_process_writes_are_intact(filled: Path) -> None:
    with run_process("-c", WRITER, until=b"writes") as writer:
        for _ in range(2):
            assert find_checks("failure") == []
        assert writer.poll() is None


def damage_universe(filled: Path) -> None:
    with closing(sqlite3.connect(filled / "data" / "universe" / "universes.db")) as connection:
        connection.execute("UPDATE log SET body = replace(body, 'tick', 'tock') WHERE version = 2")
        connection.commit()


def lose_universe_version(filled: Path) -> None:
    with closing(sqlite3.connect(filled / "data" / "universe" / "universes.db")) as connection:
        connection.execute("DELETE FROM log WHERE version = 3")
        connection.execute("UPDATE universes SET version = 2")
        connection.commit()


def damage_session(filled: Path) -> None:
    (session,) = (filled / "data" / "paper_search" / "sessions").glob("*.db")
    session.write_bytes(b"not a database" * 1_000)


def damage_runs(filled: Path) -> None:
    runs = filled.parent / "pflow" / "runs.db"
    runs.write_bytes(runs.read_bytes()[:-4_096])


def damage_shelf(filled: Path) -> None:
    paper = next((filled / "data" / "library" / "sample-shelf" / "static").rglob("*.md"))
    paper.write_text("other text")


def delete_shelf_index(filled: Path) -> None:
    shelf = filled / "data" / "library" / "sample-shelf"
    manifest = json.loads((shelf / "manifest.json").read_text())
    (shelf / next(name for name in manifest["files"] if "/" in name)).unlink()


@pytest.mark.parametrize(
    ("damage", "topic", "words"),
    [
        (damage_universe, "universes", "version 2: the entry differs from what was written"),
        (lose_universe_version, "universes", "the log lost versions that were written: version 3"),
        (damage_session, "databases", "file is not a database"),
        (damage_runs, "databases", "runs.db"),
        (damage_shelf, "shelves", "has changed since the build"),
        (delete_shelf_index, "shelves", "is missing"),
    ],
)
def test_damaged_data_are_found_and_the_others_are_intact(
    filled: Path, damage: Callable[[Path], None], topic: str, words: str
) -> None:
    damage(filled)
    before = read_tree(filled.parent)
    (check,) = find_checks("failure")
    assert check.topic == topic
    assert words in check.detail
    assert check.hint
    assert read_tree(filled.parent) == before


def test_a_shelf_that_the_settings_name_and_that_is_missing_is_a_failure(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(filled / "nowhere"))
    (check,) = find_checks("failure")
    assert (check.topic, check.name) == ("shelves", "nowhere")
    assert check.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
@pytest.mark.parametrize("folder", ["data", "data/universe", "data/paper_search/sessions"])
def test_a_folder_that_its_owner_cannot_use_is_a_failure_with_the_command_that_opens_it(
    filled: Path, folder: str
) -> None:
    path = filled / folder
    path.chmod(0o000)
    try:
        failures = [check for check in find_checks("failure") if check.topic == "folders"]
    finally:
        path.chmod(0o700)
    assert any(f"{path} cannot be" in check.detail for check in failures)
    assert any(check.hint.startswith(f"chmod -R u+rwX '{path}'") for check in failures)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_a_database_that_others_may_read_is_a_warning(filled: Path) -> None:
    (filled / "data" / "inbox.db").chmod(0o644)
    (filled.parent / "pflow" / "runs.db").chmod(0o640)
    warnings = find_checks("warning")
    assert [check.name for check in warnings] == ["inbox", "workflows"]
    assert "inbox.db has mode 644" in warnings[0].detail
    assert "runs.db has mode 640" in warnings[1].detail
    assert warnings[1].hint == f"chmod -R go= '{filled.parent / 'pflow'}'"


def test_a_settings_file_with_a_key_must_be_private(home: Path) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "uraniborg.toml"
    file.write_text("[library]\nthreads = 4\n")
    file.chmod(0o644)
    assert find_checks("warning") == []
    file.write_text('[library]\ntoken = "key-that-must-not-appear"\n')
    (check,) = find_checks("warning")
    assert (check.name, check.hint) == ("config", f"chmod go= '{file}'")
    assert "must-not-appear" not in str(list(run_checks()))


def test_a_file_in_the_place_of_a_folder_is_a_failure(home: Path) -> None:
    home.mkdir()
    (home / "data").write_text("")
    failures = find_checks("failure")
    assert any("must be a folder" in check.detail and check.hint for check in failures)


@pytest.mark.parametrize(("free", "status"), [(10_000, "failure"), (500_000_000, "warning")])
def test_a_disk_that_is_full_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch, free: int, status: str) -> None:
    usage = shutil.disk_usage(home.parent)

    def report_free_space(_: Path) -> Any:
        return usage._replace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", report_free_space)
    (check,) = find_checks(status)
    assert check.name == "free space"
    assert "Delete files" in check.hint


def test_workflows_that_a_moved_home_hides_are_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PFLOW_HOME")
    assert find_checks("warning") == []
    (home.parent / ".pflow").mkdir(mode=0o700)
    (check,) = find_checks("warning")
    assert f"mv '{home.parent / '.pflow'}' '{home / 'pflow'}'" in check.hint
    (home / "pflow").mkdir(parents=True, mode=0o700)
    assert find_checks("warning") == []


@pytest.mark.parametrize(
    ("package", "found", "name", "status", "words"),
    [
        ("numpy", None, "dependencies", "failure", "numpy is missing"),
        ("numpy", "1.0", "dependencies", "failure", "numpy is 1.0, needed is >=1.26"),
        ("pypdf", None, "extra pdf", "note", "not installed: PDF files on shelves"),
        ("pypdf", "1.0", "extra pdf", "failure", "incomplete: pypdf is 1.0"),
        ("uvicorn", None, "extra mcp", "failure", "incomplete: uvicorn is missing"),
    ],
)
def test_a_missing_or_old_package_is_named_with_the_command_that_installs_it(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    found: str | None,
    name: str,
    status: str,
    words: str,
) -> None:
    real = importlib.metadata.version

    def find_version(asked: str) -> str:
        if asked != package:
            return real(asked)
        if found is None:
            raise importlib.metadata.PackageNotFoundError(asked)
        return found

    monkeypatch.setattr(importlib.metadata, "version", find_version)
    check = next(one for one in run_checks() if one.name == name)
    assert check.status == status
    assert words in check.detail
    assert check.hint.startswith("pip install ")


def test_a_port_names_the_server_that_uses_it(filled: Path) -> None:
    def read_ports() -> dict[str, tuple[str, str]]:
        return {check.name: (check.status, check.detail) for check in run_checks() if check.topic == "ports"}

    assert all(detail.endswith("is free") for _, detail in read_ports().values())
    with (
        run_process("-m", "paper_library", "serve", until=b"http"),
        run_process("-m", "universe", "serve", until=b"http"),
    ):
        ports = read_ports()
    for name, (status, detail) in ports.items():
        assert status == "ok"
        assert detail.endswith(f"is used by a running {name} server")


def test_a_port_that_the_console_uses_is_not_that_of_another_server(
    filled: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    find_built_console()
    with run_server(tmp_path) as console:
        monkeypatch.setenv("URANIBORG_LIBRARY__PORT", console.url.rpartition(":")[2])
        (check,) = [check for check in find_checks("warning") if check.topic == "ports"]
    assert (check.name, check.hint) == ("paper-library", "Stop that program, or set library.port to another port.")


@pytest.mark.parametrize("program", ["silent", "http"])
def test_a_port_that_another_program_uses_is_a_warning(
    home: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    port = find_free_port()
    monkeypatch.setenv("URANIBORG_UNIVERSE__PORT", str(port))
    listen = f"import socket; s = socket.create_server(('127.0.0.1', {port})); print('ready', flush=True); input()"
    arguments = ("-c", listen) if program == "silent" else ("-um", "http.server", str(port), "--bind", "127.0.0.1")
    with subprocess.Popen(
        [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout
        process.stdout.readline()
        (check,) = find_checks("warning")
        process.kill()
    assert check.detail == f"port {port} is used by another program"
    assert "universe.port" in check.hint


def test_clients_are_listed_with_their_servers_and_a_broken_file_is_a_failure(home: Path) -> None:
    cursor, gemini = find_client("cursor").file, find_client("gemini").file
    for file in (cursor, gemini):
        file.parent.mkdir()
    cursor.write_text('{"mcpServers": {"pflow": {"command": "pflow"}}}')
    gemini.write_text("{broken")
    checks = {check.name: check for check in run_checks() if check.topic == "clients"}
    assert checks["cursor"].detail == "connected to pflow; not to paper-search, paper-library, universe"
    assert checks["gemini"].status == "failure"
    assert checks["gemini"].hint


def test_entries_without_a_valid_credential_are_a_warning_that_names_the_command(home: Path) -> None:
    cursor = find_client("cursor")
    cursor.file.parent.mkdir()
    for headers in ({}, {"headers": {"Authorization": "Bearer cursor.forged"}}):
        entries = {server.name: {"url": server.url, **headers} for server in list_http_servers()}
        cursor.file.write_text(json.dumps({"mcpServers": entries}))
        (check,) = (check for check in run_checks() if check.topic == "clients")
        assert (check.status, check.hint) == ("warning", "uraniborg connect cursor")
        assert "refuses the entries of paper-library, universe" in check.detail
    assert not (home / "data" / "console" / "agents.json").exists()
    subprocess.run([find_program("uraniborg"), "connect", "cursor", "--yes"], check=True, capture_output=True)
    (check,) = (check for check in run_checks() if check.topic == "clients")
    assert (check.status, check.detail) == ("ok", "connected to paper-library, universe, paper-search, pflow")
    subprocess.run([find_program("uraniborg"), "connect", "cursor", "--remove", "--yes"], check=True)
    cursor.file.write_text(cursor.file.with_name("mcp.json.before-uraniborg-2").read_text())
    (check,) = (check for check in run_checks() if check.topic == "clients")
    assert "refuses the entries of paper-library, universe" in check.detail


@pytest.fixture
def short_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> Generator[Path]:
    """Return such a home with a path that is short enough for sockets in it."""
    assert home
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        monkeypatch.setenv("HOME", name)
        monkeypatch.setenv("URANIBORG_HOME", f"{name}/u")
        yield Path(name) / "u"


def find_client_checks() -> list[tuple[str, str, str]]:
    return [(check.status, check.detail, check.hint) for check in run_checks() if check.topic == "clients"]


def test_sockets_are_listed_with_the_servers_that_listen(short_home: Path) -> None:
    def read_sockets() -> dict[str, tuple[str, str]]:
        return {check.name: (check.status, check.detail) for check in run_checks() if check.topic == "sockets"}

    assert {status for status, _ in read_sockets().values()} == {"ok"}
    assert all(detail.startswith("no server listens at ") for _, detail in read_sockets().values())
    with open_socket(find_socket("universe")):
        assert read_sockets()["universe"][1].startswith("a server listens at ")
        assert read_sockets()["paper-library"][1].startswith("no server listens at ")


def test_a_socket_that_cannot_exist_is_a_note_with_the_reason(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(home / ("x" * 110)))
    checks = [check for check in run_checks() if check.topic == "sockets"]
    assert {check.status for check in checks} == {"note"}
    assert all("this system allows" in check.detail and check.hint for check in checks)


def test_an_entry_whose_socket_is_missing_is_reported_with_the_command_that_repairs_it(
    short_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = [find_program("uraniborg"), "connect", "vscode", "--yes", "--socket"]
    subprocess.run(connect, check=True, capture_output=True)
    connected = ("ok", "connected to paper-search, pflow, paper-library, universe", "")
    missing = dict.fromkeys(
        ("paper-library", "universe"),
        "Start it: uraniborg serve. Or write the entry for its port: uraniborg connect vscode",
    )
    assert find_client_checks() == [
        *(("note", f"no server listens at the socket of {name}", hint) for name, hint in missing.items()),
        connected,
    ]
    with open_socket(find_socket("universe")), open_socket(find_socket("paper-library")):
        assert find_client_checks() == [connected]
    subprocess.run(connect[:-1], check=True, capture_output=True)
    assert find_client_checks() == [connected]
    subprocess.run(connect, check=True, capture_output=True)
    agents = Path("data", "console", "agents.json")
    moved = short_home.with_name("moved")
    (moved / agents).parent.mkdir(parents=True)
    shutil.copy(short_home / agents, moved / agents)
    monkeypatch.setenv("URANIBORG_HOME", str(moved))
    first, _, last = find_client_checks()
    assert first[0] == "warning"
    assert f"another socket than this installation: unix://{short_home}/data/sockets/" in first[1]
    assert first[2] == "uraniborg connect vscode --socket"
    assert last == connected
    monkeypatch.setenv("URANIBORG_HOME", str(moved / ("x" * 110)))
    (first, second, last) = find_client_checks()
    assert {first[0], second[0]} == {"warning"}
    assert "this system allows" in first[1]
    assert first[2] == "uraniborg connect vscode"


def test_an_entry_with_a_socket_and_without_a_valid_credential_is_renewed_with_its_socket(short_home: Path) -> None:
    client = find_client("vscode")
    client.file.parent.mkdir(parents=True)
    entries = {"universe": {"type": "http", "url": format_socket_url(find_socket("universe"))}}
    client.file.write_text(json.dumps({"servers": entries}))
    assert find_client_checks()[-1] == (
        "warning",
        "`uraniborg serve` refuses the entries of universe: they have no valid credential",
        "uraniborg connect vscode --socket",
    )


def test_a_server_of_workflows_without_a_credential_is_a_warning_that_names_the_command(home: Path) -> None:
    url = next(server.url for server in list_http_servers() if server.name == "paper-library")
    subprocess.run([find_program("pflow"), "mcp", "add", "library", url], check=True, capture_output=True)
    (check,) = (check for check in run_checks() if check.name == "pflow" and check.topic == "clients")
    assert check.status == "warning"
    assert check.hint == f"pflow mcp add library --replace -- uraniborg bridge {url}"
    arguments = shlex.split(check.hint)
    subprocess.run([find_program(arguments[0]), *arguments[1:]], check=True, capture_output=True)
    assert not [check for check in run_checks() if check.name == "pflow" and check.topic == "clients"]


def test_sources_are_asked_online_and_never_answered_from_the_cache(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__REPLAY_DIR", str(RECORDING))
    assert not any(check.topic == "sources" for check in run_checks())
    checks = [check for check in run_checks(online=True) if check.topic == "sources"]
    assert checks
    assert all(check.hint for check in checks if check.status == "warning")
    assert not (home / "cache").exists()


def test_the_command_exits_with_4_after_a_failure_and_prints_json(filled: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [find_program("uraniborg"), "doctor", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run().returncode == 0
    damage_session(filled)
    done = run("--json")
    assert done.returncode == 4
    reply = json.loads(done.stdout)
    assert reply["ok"] is False
    (failure,) = [check for check in reply["checks"] if check["status"] == "failure"]
    assert failure["hint"]
    assert "1 failure, 0 warnings" in run().stdout
