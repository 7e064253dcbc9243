"""Files are whole or absent, paths stay where they belong, locks hold across processes."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uraniborg.kernel.store.files import (
    AlreadyExists,
    Lease,
    Locked,
    PathRefused,
    Unwritable,
    confine_path,
    create_exclusive,
    display_path,
    hold_lock,
    make_folder,
    make_private,
    make_private_folder,
    open_private,
    write_atomic,
    write_output,
)

Writer = Callable[[Path, str | bytes], None]
WRITERS = pytest.mark.parametrize("write", [write_atomic, create_exclusive])
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.mark.parametrize("data", ["", "ünïcode 漢字\r\n", b"", b"\x00\xff\n", "x" * 1_000_000])
@WRITERS
def test_written_data_is_read_back_and_no_other_file_is_left(tmp_path: Path, write: Writer, data: str | bytes) -> None:
    write(tmp_path / "paper", data)
    assert (tmp_path / "paper").read_bytes() == (data.encode() if isinstance(data, str) else data)
    assert os.listdir(tmp_path) == ["paper"]


def test_writing_again_replaces_the_whole_and_takes_access_from_others(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("a long old text")
    path.chmod(0o644)
    write_atomic(path, "new")
    assert path.read_text() == "new"
    assert mode_of(path) == 0o600


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Generator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_new_files_and_folders_are_for_their_owner_alone_under_any_umask(tmp_path: Path) -> None:
    folder = tmp_path / "one" / "two"
    make_folder(folder)
    assert (mode_of(folder), mode_of(folder.parent)) == (0o700, 0o700)
    write_atomic(folder / "a", "a")
    create_exclusive(folder / "b", "b")
    write_output(folder / "c", "c")
    os.close(open_private(folder / "d", os.O_WRONLY | os.O_CREAT))
    with hold_lock(folder / "e", 1):
        pass
    lease = Lease(folder / "f")
    assert lease.acquire()
    lease.release()
    modes = {path.name: mode_of(path) for path in folder.iterdir()}
    assert modes == dict.fromkeys("abcdef", 0o600)


def test_an_export_into_an_existing_folder_or_file_leaves_their_access_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "old.bib").touch()
    (folder / "old.bib").chmod(0o664)
    make_folder(folder)
    write_output(folder / "old.bib", "@article{a}")
    write_output(folder / "new.bib", "@article{a}")
    assert [mode_of(path) for path in (folder, folder / "old.bib", folder / "new.bib")] == [0o755, 0o664, 0o600]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_an_output_that_cannot_be_written_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    target = tmp_path / "papers.bib"
    target.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(Unwritable) as caught:
        write_output(target, "new")
    assert caught.value.ids == {"path": str(target)}
    assert caught.value.message == f"'{display_path(target)}' could not be written: {os.strerror(number)}."
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_an_output_goes_through_links_and_into_pipes(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_output(tmp_path / "link", ["a", "b"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "ab"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_output(tmp_path / "pipe", ["a", "b"])
        assert os.read(reader, 10) == b"ab"
    finally:
        os.close(reader)


def test_a_shared_file_is_for_whom_the_umask_allows(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "a", "a", access="shared")
        (tmp_path / "a").chmod(0o640)
        write_atomic(tmp_path / "a", "b", access="shared")
        write_atomic(tmp_path / "b", "b", access="shared")
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "a"), mode_of(tmp_path / "b")) == (0o640, 0o644)


def test_existing_folders_of_ours_are_repaired_through_links(tmp_path: Path) -> None:
    folder, link = tmp_path / "real", tmp_path / "link"
    folder.mkdir()
    folder.chmod(0o755)
    link.symlink_to(folder)
    make_private_folder(link)
    assert mode_of(folder) == 0o700
    folder.chmod(0o550)
    make_private_folder(link)
    assert mode_of(folder) == 0o500, "what the owner may not do stays so"


def test_shared_and_foreign_folders_keep_their_mode_and_a_refused_chmod_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sticky, home, theirs = tmp_path / "tmp", tmp_path / "home", tmp_path / "theirs"
    for folder in (sticky, home, theirs):
        folder.mkdir()
        folder.chmod(0o755)
    sticky.chmod(0o1777)
    monkeypatch.setenv("HOME", str(home))
    make_private_folder(sticky)
    make_private_folder(home)
    assert (mode_of(sticky), mode_of(home)) == (0o1777, 0o755)
    monkeypatch.setattr(os, "geteuid", lambda: theirs.stat().st_uid + 1)
    make_private_folder(theirs)
    monkeypatch.undo()
    assert mode_of(theirs) == 0o755

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", refuse)
    make_private_folder(theirs)
    make_private_folder(tmp_path / "new")
    write_atomic(theirs / "a", "a")
    make_private(tmp_path / "absent")
    assert mode_of(theirs / "a") == 0o600


def test_a_folder_that_another_process_creates_is_accepted_and_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(make_folder, [tmp_path / "a" / "b" / "c"] * 32))
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_folder(tmp_path / "file" / "below")


def test_creating_an_existing_file_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "draft.json"
    create_exclusive(path, "first")
    with pytest.raises(AlreadyExists) as caught:
        create_exclusive(path, "second")
    assert caught.value.code == "already_exists"
    assert str(tmp_path) not in str(caught.value.body())
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["draft.json"]


def test_creating_over_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AlreadyExists):
        create_exclusive(tmp_path / "link", "data")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("step", ["fsync", "replace", "link"])
@WRITERS
def test_a_failing_disk_leaves_no_half_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Writer, step: str
) -> None:
    path = tmp_path / "paper"
    if write is write_atomic:
        path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    if (write, step) in [(write_atomic, "link"), (create_exclusive, "replace")]:
        write(path, "new")
        assert path.read_text() == "new"
        return
    with pytest.raises(OSError, match="No space"):
        write(path, "new")
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == (
        {"paper": "old"} if write is write_atomic else {}
    )


def test_a_file_system_that_cannot_sync_folders_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    write_atomic(tmp_path / "paper", "new")
    assert (tmp_path / "paper").read_text() == "new"


@WRITERS
def test_the_file_and_then_its_folder_reach_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Writer
) -> None:
    steps: list[str] = []
    real = {name: getattr(os, name) for name in ("fsync", "replace", "link")}

    def noted(name: str) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            steps.append(name)
            real[name](*arguments)

        return call

    for name in real:
        monkeypatch.setattr(os, name, noted(name))
    write(tmp_path / "paper", "new")
    assert steps == ["fsync", "replace" if write is write_atomic else "link", "fsync"]


@MANY
@given(st.binary(max_size=200), st.binary(max_size=200), st.integers(0, 3))
def test_a_reader_sees_the_old_or_the_new_wherever_the_writer_dies(
    tmp_path: Path, old: bytes, new: bytes, step: int
) -> None:
    """Dies: stops before any one of the calls that touch the disk, as a kill would."""
    path = tmp_path / "paper"
    path.write_bytes(old)
    calls = 0

    class Killed(BaseException):
        pass

    def dying(real: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            nonlocal calls
            if calls == step:
                raise Killed
            calls += 1
            real(*arguments)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", dying(os.fsync))
        patch.setattr(os, "replace", dying(os.replace))
        try:
            write_atomic(path, new)
        except Killed:
            assert path.read_bytes() == (new if step == 2 else old)
        else:
            assert path.read_bytes() == new


KILLED_WRITER = """
import sys
from pathlib import Path
from uraniborg.kernel.store.files import create_exclusive, write_atomic
folder = Path(sys.argv[1])
for n in range(10**9):
    text = str(n % 10) * 200_000
    write_atomic(folder / "shared.txt", text)
    create_exclusive(folder / f"{n}.txt", text)
    print(n, flush=True)
"""


def test_killing_the_writer_leaves_only_whole_files(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
    for path in tmp_path.glob("[!.]*.txt"):
        text = path.read_text()
        assert len(text) == 200_000
        assert len(set(text)) == 1
    assert all((tmp_path / f"{n}.txt").exists() for n in acknowledged)


def test_of_many_threads_creating_one_file_exactly_one_succeeds(tmp_path: Path) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def create(number: int) -> None:
        start.wait(timeout=10)
        try:
            create_exclusive(tmp_path / "one", str(number))
            outcomes.append(str(number))
        except AlreadyExists:
            outcomes.append("refused")

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert outcomes.count("refused") == 7
    assert (tmp_path / "one").read_text() in outcomes


SEGMENTS = st.sampled_from(
    ["..", ".", "", "a", "in", "out", "loop", "up", "/", "\\", "C:", "~", "\0", "etc", "…", "\ud800"]
)
PARTS = st.lists(st.lists(SEGMENTS | st.text(max_size=4), max_size=5).map("/".join) | st.text(max_size=8), max_size=4)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return a folder with links inside it, links out of it, and a cycle of links."""
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (root / "in").symlink_to(root / "a")
    (root / "out").symlink_to(tmp_path)
    (root / "a" / "up").symlink_to("../..")
    (root / "loop").symlink_to(root / "loop")
    return root


@MANY
@given(parts=PARTS)
def test_no_path_ever_leaves_its_folder(house: Path, parts: list[str]) -> None:
    try:
        path = confine_path(house, *parts)
    except PathRefused:
        return
    assert os.path.commonpath([os.path.realpath(path), os.path.realpath(house)]) == os.path.realpath(house)


@pytest.mark.parametrize(
    "parts",
    [
        ("..",),
        ("a", "..", "a"),
        ("a/../../secret",),
        ("/etc/passwd",),
        ("a", "/etc/passwd"),
        ("C:\\Windows",),
        ("C:evil",),
        ("\\\\server\\share",),
        ("..\\secret",),
        ("a\0b",),
        ("out",),
        ("out", "secret"),
        ("a", "up", "new"),
        ("loop",),
    ],
)
def test_a_path_that_leaves_the_folder_is_refused(house: Path, parts: tuple[str, ...]) -> None:
    with pytest.raises(PathRefused) as caught:
        confine_path(house, *parts)
    assert caught.value.code == "path_refused"
    assert str(house.parent) not in str(caught.value.body())
    assert "relative" in caught.value.hint


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), ""),
        (("new.json",), "new.json"),
        (("a", "b/c.json"), "a/b/c.json"),
        (("./a/./x",), "a/x"),
        (("in", "x"), "a/x"),
        (("...",), "..."),
        (("..hidden",), "..hidden"),
        (("ü 漢字.md",), "ü 漢字.md"),
    ],
)
def test_a_path_inside_the_folder_is_returned_as_an_absolute_path(
    house: Path, parts: tuple[str, ...], expected: str
) -> None:
    assert confine_path(house, *parts) == house.resolve() / expected


def test_a_folder_that_is_itself_reached_by_a_link_can_be_the_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert confine_path(tmp_path / "link", "x") == (tmp_path / "real").resolve() / "x"


HOLDER = """
import sys
from pathlib import Path
from uraniborg.kernel.store.files import hold_lock
with hold_lock(Path(sys.argv[1]), 5):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_held_by_another_process_is_refused_in_time_and_free_once_it_dies(tmp_path: Path) -> None:
    path = tmp_path / "shelf.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Locked) as caught, hold_lock(path, 0.05):
            pytest.fail("the lock was held twice")
        holder.kill()
    assert caught.value.code == "locked"
    assert str(tmp_path) not in str(caught.value.body())
    with hold_lock(path, 5):
        pass


def test_a_lock_excludes_the_threads_of_its_own_process(tmp_path: Path) -> None:
    path = tmp_path / "shelf.lock"
    outcomes: list[str] = []

    def attempt() -> None:
        try:
            with hold_lock(path, 0):
                outcomes.append("held")
        except Locked:
            outcomes.append("refused")

    with hold_lock(path, 0):
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join(timeout=10)
    attempt()
    assert outcomes == ["refused", "held"]


def test_a_lock_is_released_when_its_block_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hold_lock(tmp_path / "lock", 0):
        raise KeyError
    with hold_lock(tmp_path / "lock", 0):
        pass


def test_a_lease_is_held_until_it_is_released_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "session.lock"
    one, other = Lease(path), Lease(path)
    assert one.acquire()
    assert not other.acquire()
    one.release()
    assert other.acquire()
    assert not one.acquire()
    other.release()


def test_a_lease_excludes_every_thread_and_any_thread_may_release_it(tmp_path: Path) -> None:
    path = tmp_path / "session.lock"
    held = Lease(path)
    assert held.acquire()
    outcomes: list[bool] = []

    def elsewhere() -> None:
        outcomes.append(Lease(path).acquire())
        held.release()
        outcomes.append(held.acquire())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(timeout=10)
    assert outcomes == [False, True]
    held.release()


def test_of_many_threads_exactly_one_gets_the_lease(tmp_path: Path) -> None:
    leases = [Lease(tmp_path / "session.lock") for _ in range(8)]
    start = threading.Barrier(len(leases))
    taken: list[bool] = []

    def take(lease: Lease) -> None:
        start.wait(timeout=10)
        taken.append(lease.acquire())

    threads = [threading.Thread(target=take, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert taken.count(True) == 1
    for lease in leases:
        lease.release()


def test_releasing_a_lease_of_another_holder_does_nothing(tmp_path: Path) -> None:
    path = tmp_path / "session.lock"
    holder, other = Lease(path), Lease(path)
    assert holder.acquire()
    other.release()
    assert not other.acquire()
    other.release()
    assert not Lease(path).acquire()
    holder.release()


def test_the_file_of_a_lease_stays_after_its_release(tmp_path: Path) -> None:
    path = tmp_path / "session.lock"
    lease = Lease(path)
    assert lease.acquire()
    lease.release()
    assert path.exists()


LEASE_HOLDER = """
import sys
from pathlib import Path
from uraniborg.kernel.store.files import Lease
print(Lease(Path(sys.argv[1])).acquire(), flush=True)
lease = Lease(Path(sys.argv[2]))
print(lease.acquire(), flush=True)
sys.stdin.read()
"""


def test_a_lease_excludes_other_processes_and_ends_with_its_own_however_that_ends(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.lock", tmp_path / "theirs.lock"
    held = Lease(ours)
    assert held.acquire()
    with subprocess.Popen(
        [sys.executable, "-c", LEASE_HOLDER, str(ours), str(theirs)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "False\n"
        assert holder.stdout.readline() == "True\n"
        assert not Lease(theirs).acquire()
        holder.kill()
    again = Lease(theirs)
    assert again.acquire()
    again.release()
    held.release()
