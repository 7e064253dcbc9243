"""Sockets of servers: for this account alone, replaced after a kill, and never taken from a server that listens."""

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from urllib.parse import unquote, urlsplit

import pytest

from uraniborg.installation.backup import list_files
from uraniborg.servers import unix_sockets
from uraniborg.servers.unix_sockets import SocketUnusable, find_socket, format_socket_url, is_listening, open_socket

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no unix sockets in Python")
CONNECT_AS_NOBODY = (
    "import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534);"
    "socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
)


@pytest.fixture
def folder() -> Generator[Path]:
    """Return a folder with a short path that other accounts can enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def kill_server_at(path: Path) -> None:
    """Leave the socket that a killed server leaves."""
    listen = "import os, sys; from pathlib import Path; from uraniborg.servers.unix_sockets import open_socket;"
    listen += "kept = open_socket(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", listen, str(path)], check=False, timeout=50).returncode == -9


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_a_socket_is_private_in_a_private_folder_under_any_umask(folder: Path, umask: int) -> None:
    path = folder / "sockets" / "universe.sock"
    previous = os.umask(umask)
    try:
        listener = open_socket(path)
    finally:
        os.umask(previous)
    with listener:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert is_listening(path)


def test_a_folder_that_others_could_enter_is_closed_to_them(folder: Path) -> None:
    (folder / "sockets").mkdir(mode=0o755)
    with open_socket(folder / "sockets" / "universe.sock"):
        assert stat.S_IMODE((folder / "sockets").stat().st_mode) == 0o700


def test_a_folder_that_stays_open_to_others_gets_no_socket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sockets").mkdir(mode=0o755)
    monkeypatch.setattr(unix_sockets, "make_private_folder", Path.stat)  # a file system without modes
    with pytest.raises(SocketUnusable, match="open to other accounts") as refused:
        open_socket(folder / "sockets" / "universe.sock")
    assert "chmod go= " in refused.value.hint
    assert list((folder / "sockets").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account")
@pytest.mark.parametrize("open_to_all", ["nothing", "folder", "socket", "both"])
def test_another_account_cannot_connect(folder: Path, open_to_all: str) -> None:
    path = folder / "sockets" / "universe.sock"
    with open_socket(path):
        if open_to_all in ("folder", "both"):
            path.parent.chmod(0o755)
        if open_to_all in ("socket", "both"):
            path.chmod(0o777)
        done = subprocess.run(
            [sys.executable, "-c", CONNECT_AS_NOBODY, str(path)], capture_output=True, text=True, check=False
        )
    if open_to_all == "both":  # the account is able to connect where it may
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.stderr.endswith("PermissionError: [Errno 13] Permission denied\n")


def test_the_socket_of_a_killed_server_is_replaced(folder: Path) -> None:
    path = folder / "sockets" / "universe.sock"
    kill_server_at(path)
    assert path.is_socket()
    assert not is_listening(path)
    with open_socket(path):
        assert is_listening(path)


def test_the_socket_of_a_server_that_listens_is_not_taken(folder: Path) -> None:
    path = folder / "sockets" / "universe.sock"
    with open_socket(path) as first:
        with pytest.raises(SocketUnusable, match="Another server listens"):
            open_socket(path)
        first.settimeout(10)
        with socket.socket(socket.AF_UNIX) as client:
            first.accept()[0].close()  # the attempt to connect of the second server
            client.connect(str(path))
            first.accept()[0].close()


def test_of_servers_that_start_at_once_over_the_socket_of_a_killed_one_exactly_one_gets_it(folder: Path) -> None:
    path = folder / "sockets" / "universe.sock"
    kill_server_at(path)
    start = Barrier(8)

    def try_to_open() -> socket.socket | SocketUnusable:
        start.wait(30)
        try:
            return open_socket(path)
        except SocketUnusable as refused:
            return refused

    with ThreadPoolExecutor(8) as pool:
        found = [one.result() for one in [pool.submit(try_to_open) for _ in range(8)]]
    (listener,) = [one for one in found if isinstance(one, socket.socket)]
    with listener:
        assert is_listening(path)


def test_a_busy_server_counts_as_one_that_listens(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_sockets, "_BACKLOG", 0)
    monkeypatch.setattr(unix_sockets, "_PROBE_S", 0.1)
    path = folder / "sockets" / "universe.sock"
    with open_socket(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))  # the only one that the system queues
        with pytest.raises(SocketUnusable, match="Another server listens"):
            open_socket(path)


def test_a_file_that_is_not_a_socket_is_reported_and_kept(folder: Path) -> None:
    path = folder / "sockets" / "universe.sock"
    path.parent.mkdir()
    path.write_text("notes of a person")
    with pytest.raises(SocketUnusable, match="cannot be created"):
        open_socket(path)
    assert path.read_text() == "notes of a person"


def test_a_backup_leaves_sockets_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(folder))
    with open_socket(find_socket("universe")):
        (folder / "data" / "other").write_text("data")
        assert [name for name, _ in list_files()] == ["data/other"]


@pytest.mark.parametrize(("platform", "longest"), [("linux", 107), ("darwin", 103)])
def test_a_path_that_is_too_long_is_refused_with_its_size_and_the_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, platform: str, longest: int
) -> None:
    monkeypatch.setattr(unix_sockets, "_LONGEST_PATH", longest)
    rest = len("/data/sockets/universe.sock")
    home = folder / ("x" * (longest - len(str(folder)) - 1 - rest))
    monkeypatch.setenv("URANIBORG_HOME", str(home))
    assert len(str(find_socket("universe"))) == longest
    if sys.platform == platform:  # the system agrees
        with open_socket(find_socket("universe")):
            assert is_listening(find_socket("universe"))
        with pytest.raises(SocketUnusable, match="too long"):
            open_socket(find_socket("universe").with_name("universe2.sock"))
    monkeypatch.setenv("URANIBORG_HOME", f"{home}x")
    with pytest.raises(SocketUnusable, match=f"has {longest + 1} bytes, and this system allows {longest}") as refused:
        find_socket("universe")
    assert "URANIBORG_HOME" in refused.value.hint


def test_a_platform_without_unix_sockets_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    with pytest.raises(SocketUnusable, match=sys.platform):
        find_socket("universe")


@pytest.mark.parametrize("name", ["/run/u/universe.sock", "/Users/a b/Library/Application Support/é#?%41/u.sock"])
def test_the_address_of_a_socket_leads_back_to_its_path(name: str) -> None:
    address = urlsplit(format_socket_url(Path(name)))
    assert (address.scheme, address.netloc, unquote(address.path)) == ("unix", "", name)
    assert (address.query, address.fragment) == ("", "/mcp")
