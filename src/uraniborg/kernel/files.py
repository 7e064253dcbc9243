"""Files that are whole or absent, paths that stay inside their folder, and locks between processes."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterable
from pathlib import Path, PureWindowsPath

from uraniborg.kernel.errors import Conflict, Refused, Unavailable, is_out_of_room


class AlreadyExists(Conflict):
    code = "already_exists"


class Locked(Conflict):
    code = "locked"


class PathRefused(Refused):
    code = "path_refused"


def write_atomic(path: Path, data: str | bytes | Iterable[str]) -> None:
    """Replace the file at `path` with `data`, or the pieces it consists of.

    A reader sees all of the old or all of the new file, also after a crash. Raises OSError when the disk refuses;
    nothing half-written is left then.
    """
    _publish(path, data, os.replace)


def check_output(path: Path | None) -> None:
    """Raise Unavailable if a file at `path` cannot be written, before any work is done for it. None is stdout."""
    if path is None:
        return
    folder = path.parent
    if not folder.is_dir():
        raise _unwritable(path, f"the folder '{shown(folder)}' does not exist")
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise _unwritable(path, "permission denied")


def write_output(path: Path, data: str | bytes | Iterable[str]) -> None:
    """Write a file that the user named: whole or not at all, through links, and into devices and pipes as they are.

    Raises Unavailable when the file cannot be written.
    """
    target = path.resolve()
    try:
        if not target.exists() or target.is_file():
            write_atomic(target, data)
            return
        with target.open("wb") as stream:
            pieces = [data] if isinstance(data, str | bytes) else data
            stream.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    except OSError as exc:
        if is_out_of_room(exc):
            raise
        raise _unwritable(path, exc.strerror or "the disk failed") from exc


def _unwritable(path: Path, reason: str) -> Unavailable:
    return Unavailable(
        f"'{shown(path)}' could not be written: {reason}.", hint="Name a file in a folder that you may write to."
    )


def create_exclusive(path: Path, data: str | bytes) -> None:
    """Put `data` at `path` if nothing is there, all of it or nothing, also when killed. Raises AlreadyExists."""
    try:
        _publish(path, data, os.link)
    except FileExistsError:
        raise AlreadyExists(
            f"'{path.name}' already exists.", hint="Choose another name, or remove it first.", name=path.name
        ) from None


def _publish(path: Path, data: str | bytes | Iterable[str], place: Callable[[Path, Path], None]) -> None:
    pieces = [data] if isinstance(data, str | bytes) else data
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        place(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make what was created, renamed or deleted in the folder survive a power cut."""
    if os.name == "nt":  # there a folder cannot be opened, and renames are journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as exc:
        if exc.errno != errno.EINVAL:  # which says that this file system has no such thing
            raise
    finally:
        os.close(descriptor)


def confine(root: Path, *parts: str) -> Path:
    """The path of `parts` under `root`, resolved. It need not exist.

    Raises PathRefused for what would leave `root` (absolute paths, `..`, links that lead out) or is no path at all,
    judged by the rules of every system; its message holds no path of this machine.
    """
    pieces = [piece for part in parts for piece in part.replace("\\", "/").split("/")]
    if any("\0" in part or PureWindowsPath(part).anchor for part in parts) or ".." in pieces:
        raise _outside()
    try:
        base = root.resolve()
        path = base.joinpath(*parts).resolve()
    except (OSError, RuntimeError, ValueError):
        raise _outside() from None
    if not path.is_relative_to(base):
        raise _outside()
    return path


def shown(path: Path) -> str:
    """How a path is told to people and agents: from the working folder or from home, else by its name alone."""
    whole = path.expanduser().absolute()
    for root, before in ((Path.cwd(), ""), (Path.home(), "~/")):
        if whole != root and root != Path(root.anchor) and whole.is_relative_to(root):
            return before + whole.relative_to(root).as_posix()
    return whole.name


def _outside() -> PathRefused:
    return PathRefused(
        "The path leads outside its folder.",
        hint="Use a relative path without '..', links that lead out, drive letters or NUL.",
    )


@contextlib.contextmanager
def locked(path: Path, timeout_s: float) -> Generator[None]:
    """Hold the lock file `path` against every other process and thread. Raises Locked when `timeout_s` pass in vain."""
    import filelock  # few commands lock

    try:
        held = filelock.FileLock(path, timeout=timeout_s, thread_local=False).acquire()
    except filelock.Timeout:
        raise Locked(
            f"'{path.name}' is held by another process.",
            hint="Wait until the other process has finished, then try again.",
            name=path.name,
        ) from None
    with held:
        yield


class Lease:
    """A lock that its process holds until it lets go of it or ends, however it ends: killed ones too."""

    def __init__(self, path: Path) -> None:
        import filelock  # few commands lock

        self._lock = filelock.FileLock(path, thread_local=False)

    def take(self) -> bool:
        """Whether it is ours now; False when another process, or another lease of this one, holds it."""
        import filelock

        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            return False
        return True

    def release(self) -> None:
        """Let go. The file stays: removing it could take the lock from one who holds it."""
        self._lock.release()
