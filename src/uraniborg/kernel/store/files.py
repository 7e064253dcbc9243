"""Atomic writes of private files, paths confined to a folder, and locks between processes."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterable
from pathlib import Path, PureWindowsPath
from typing import Final, Literal

from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import Conflict, Refused, Unavailable, UnsupportedPlatform

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
_OTHERS: Final = 0o077

Access = Literal["private", "kept", "shared"]
"""The permissions of a written file: `private`, for its owner only; `kept`, as before, or private if it is new;
`shared`, as before, or as the umask allows if it is new."""


class AlreadyExists(Conflict):
    code = "already_exists"


class Unwritable(Unavailable):
    code = "output_unwritable"


class Locked(Conflict):
    code = "locked"


class PathRefused(Refused):
    code = "path_refused"


def make_folder(folder: Path) -> None:
    """Create the folder and its missing parents, private to their owner. Do not change existing folders.

    Raise OSError.
    """
    if folder.is_dir():
        return
    if not folder.parent.exists() and folder.parent != folder:
        make_folder(folder.parent)
    try:
        folder.mkdir(PRIVATE_FOLDER)
    except FileExistsError:
        if not folder.is_dir():  # another process may have created it
            raise
        return
    with contextlib.suppress(OSError):  # the umask may have removed too much
        folder.chmod(PRIVATE_FOLDER)


def make_private_folder(folder: Path) -> None:
    """Create a folder as `make_folder` does, or remove the access of others if it exists. Raise OSError."""
    make_folder(folder)
    make_private(folder)


def make_private(path: Path) -> None:
    """Remove the access of other users to a file or folder of ours.

    Do nothing to files of other users, to shared folders (`/tmp`, the home folder), to missing files, and if the file
    system refuses.
    """
    if os.name == "nt":
        return
    with contextlib.suppress(OSError, RuntimeError):  # the user may have no home folder
        found = path.stat()
        mode = stat.S_IMODE(found.st_mode)
        is_ours = found.st_uid == os.geteuid() and (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))
        if mode & _OTHERS and is_ours and not _is_shared(path, found):
            path.chmod(mode & ~_OTHERS)


def _is_shared(path: Path, found: os.stat_result) -> bool:
    if not stat.S_ISDIR(found.st_mode):
        return False
    absolute = path.resolve()
    return bool(found.st_mode & stat.S_ISVTX) or absolute in (Path(absolute.anchor), Path.home().resolve())


def open_private(path: Path, flags: int) -> int:
    """Open a file as `os.open` does, and make it private to its owner. Raise OSError."""
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), PRIVATE_FILE)
    make_private(path)
    return descriptor


def write_atomic(path: Path, data: str | bytes | Iterable[str], *, access: Access = "private") -> None:
    """Replace the file at `path` with `data`, a text or its pieces.

    A reader sees the whole old or the whole new file, also after a crash. If OSError is raised, the old file
    is unchanged.
    """
    _write_and_place(path, data, os.replace, access)


def check_output(path: Path | None) -> None:
    """Raise Unwritable if a file at `path` cannot be written; call this before the work. None is stdout."""
    if path is None:
        return
    folder = path.parent
    if not folder.is_dir():
        raise _make_unwritable_error(path, f"the folder '{display_path(folder)}' does not exist")
    if path.is_dir():
        raise _make_unwritable_error(path, "it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise _make_unwritable_error(path, "permission denied")


def write_output(path: Path, data: str | bytes | Iterable[str]) -> None:
    """Write a file that the user named, atomically; follow links, and write into devices and pipes directly.

    A new file is private to its owner; an existing file keeps its permissions. Raise Unwritable.
    """
    target = path.resolve()
    try:
        if not target.exists() or target.is_file():
            write_atomic(target, data, access="kept")
            return
        with target.open("wb") as stream:
            pieces = [data] if isinstance(data, str | bytes) else data
            stream.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    except OSError as exc:
        raise _make_unwritable_error(path, exc.strerror or "the disk failed") from exc


def _make_unwritable_error(path: Path, reason: str) -> Unwritable:
    return Unwritable(
        f"'{display_path(path)}' could not be written: {reason}.",
        hint="Name a file in a folder that you can write to.",
        path=str(path),
    )


def create_exclusive(path: Path, data: str | bytes) -> None:
    """Create the file `path` with `data`, atomically and private to its owner. Raise AlreadyExists."""
    try:
        _write_and_place(path, data, os.link, "private")
    except FileExistsError:
        raise AlreadyExists(
            f"'{path.name}' already exists.", hint="Choose another name, or remove it first.", name=path.name
        ) from None


def _write_and_place(
    path: Path, data: str | bytes | Iterable[str], place: Callable[[Path, Path], None], access: Access
) -> None:
    pieces = [data] if isinstance(data, str | bytes) else data
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        mode = 0o666 if access == "shared" else PRIVATE_FILE
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with open(descriptor, "wb") as stream:
            stream.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
            stream.flush()
            os.fsync(stream.fileno())
        if access != "private":
            with contextlib.suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        place(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make files that were created, renamed or deleted in the folder survive a power cut."""
    if os.name == "nt":  # Windows cannot open a folder, and journals renames
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as exc:
        if exc.errno != errno.EINVAL:  # this file system does not support it
            raise
    finally:
        os.close(descriptor)


def confine_path(root: Path, *parts: str) -> Path:
    """Return the path of `parts` under `root`, resolved. It need not exist.

    Raise PathRefused for a path that leaves `root` (absolute, `..`, links that lead out) or is not valid by the rules
    of any system; its message contains no path of this machine.
    """
    pieces = [piece for part in parts for piece in part.replace("\\", "/").split("/")]
    if any("\0" in part or PureWindowsPath(part).anchor for part in parts) or ".." in pieces:
        raise _make_outside_error()
    try:
        base = root.resolve()
        path = base.joinpath(*parts).resolve()
    except (OSError, RuntimeError, ValueError):
        raise _make_outside_error() from None
    if not path.is_relative_to(base):
        raise _make_outside_error()
    return path


def display_path(path: Path) -> str:
    """Return a path as text for display: relative to the working folder or to the home folder, else only its name."""
    absolute = path.expanduser().absolute()
    for root, before in ((Path.cwd(), ""), (Path.home(), "~/")):
        if absolute != root and root != Path(root.anchor) and absolute.is_relative_to(root):
            return make_encodable(before + absolute.relative_to(root).as_posix())
    return make_encodable(absolute.name)


def _make_outside_error() -> PathRefused:
    return PathRefused(
        "The path leads outside its folder.",
        hint="Use a relative path without '..', links that lead out, drive letters or NUL.",
    )


def lock_open_file(descriptor: int, *, wait: bool = True) -> None:
    """Lock an open file against other processes until the file is closed.

    Raise BlockingIOError if another process holds the lock and `wait` is False, UnsupportedPlatform on Windows.
    """
    try:
        import fcntl
    except ModuleNotFoundError as missing:
        raise UnsupportedPlatform("Locking an open file", "fcntl") from missing
    fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def hold_lock(path: Path, timeout_s: float) -> Generator[None]:
    """Hold the lock file `path` against other processes and threads. Raise Locked after `timeout_s` seconds."""
    import filelock  # most commands need no lock

    try:
        held = filelock.FileLock(path, timeout=timeout_s, mode=PRIVATE_FILE, thread_local=False).acquire()
    except filelock.Timeout:
        raise Locked(
            f"'{path.name}' is held by another process.",
            hint="Wait until the other process has finished, then try again.",
            name=path.name,
        ) from None
    with held:
        yield


class Lease:
    """A lock that ends with its process, also if the process is killed."""

    def __init__(self, path: Path) -> None:
        import filelock  # most commands need no lock

        self._lock = filelock.FileLock(path, mode=PRIVATE_FILE, thread_local=False)

    def acquire(self) -> bool:
        """Acquire the lock; return False if another process, or another lease of this process, holds it."""
        import filelock

        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            return False
        return True

    def release(self) -> None:
        """Release the lock. The file stays: removing it could take the lock from its next holder."""
        self._lock.release()
