"""Serving changes nothing on the shelf and needs no write permission."""

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.all_requests import list_requests
from tests.paper_library.mcp.http_client import Caller
from tests.paper_library.mcp.server_process import start_server
from tests.requirements import requirement

_MOUNT_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def read_state(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Return the contents, times and modes of every file and folder."""
    found: dict[str, tuple[str, int, int]] = {}
    for path in [folder, *folder.rglob("*")]:
        about = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (content, about.st_mtime_ns, stat.S_IMODE(about.st_mode))
    return found


def send_every_request(caller: Caller) -> None:
    for message in list_requests():
        assert caller.post(message).status_code == 200
    assert caller.http.get("/api/v1/search", params={"q": "rain radar"}).status_code == 200
    assert caller.http.get("/").status_code == 200


@contextmanager
def make_read_only_prefix(shelf: Path) -> Generator[list[str]]:
    """Return a command prefix that makes `shelf` read-only: by a mount for root, otherwise by permissions."""
    if os.geteuid() == 0:
        unshare = shutil.which("unshare")
        prefix = [unshare or "unshare", "--mount", "sh", "-c", _MOUNT_READ_ONLY, str(shelf)]
        probe = (
            subprocess.run([*prefix, "touch", str(shelf / "x")], capture_output=True, text=True, check=False)
            if unshare
            else None
        )
        if probe is None or "Read-only" not in probe.stderr:
            pytest.skip("root may write anywhere here, and read-only mounts are not permitted")
        yield prefix
        return
    paths = [shelf, *shelf.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in reversed(paths):
        path.chmod(modes[path] & ~0o222)
    try:
        yield []
    finally:
        for path in paths:
            path.chmod(modes[path])


@requirement("PL-17")
def test_calling_every_tool_changes_no_file_of_the_shelf(shelf_copy: Path, tmp_path: Path) -> None:
    before = read_state(shelf_copy)
    with start_server(shelf_copy, tmp_path) as process:
        send_every_request(process.caller)
        assert read_state(shelf_copy) == before
    assert read_state(shelf_copy) == before


@requirement("PL-17")
def test_a_read_only_shelf_is_served(shelf_copy: Path, tmp_path: Path) -> None:
    with make_read_only_prefix(shelf_copy) as prefix, start_server(shelf_copy, tmp_path, before=prefix) as process:
        send_every_request(process.caller)
        assert process.caller.call_structured("search_papers", query="rain radar")["total"] == 2
        assert (
            process.caller.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=1_000_000)
            == inputs.make_long_text()
        )


@requirement("PL-17")
def test_no_file_of_the_shelf_is_open_for_writing(shelf_copy: Path, tmp_path: Path) -> None:
    if not Path("/proc/self/fdinfo").is_dir():
        pytest.skip("this system does not tell how files were opened")
    with start_server(shelf_copy, tmp_path) as process:
        send_every_request(process.caller)
        opened = dict(list_open_files(process.pid, shelf_copy))
    assert any(path.endswith("shelf.db") for path in opened)
    assert set(opened.values()) == {os.O_RDONLY}


def list_open_files(pid: int, folder: Path) -> Iterator[tuple[str, int]]:
    """Return the files below `folder` that a process has open, with their modes."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(link)
        if target.startswith(f"{folder}{os.sep}"):
            lines = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().splitlines()
            flags = next(line.split()[1] for line in lines if line.startswith("flags:"))
            yield target, int(flags, 8) & os.O_ACCMODE
