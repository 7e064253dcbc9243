"""Change files atomically, and explain errors of the file system with hints."""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

from pflow.errors import NodeFailed
from uraniborg.kernel.files import lock_open_file
from uraniborg.kernel.logging import redact
from uraniborg.kernel.suggestions import find_nearest_name

_HINTS: Final = {
    errno.EEXIST: "Choose another path, or set `overwrite` to true.",
    errno.EISDIR: "Name the file itself, not its folder.",
    errno.ENOTDIR: "A part of the path is a file, not a folder.",
    errno.EACCES: "Choose another path, or change its permissions.",
    errno.EPERM: "Choose another path, or change its permissions.",
    errno.EROFS: "Choose a writable path.",
    errno.ENOSPC: "Free some disk space. The earlier content is unchanged.",
    errno.EDQUOT: "Free some disk space. The earlier content is unchanged.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.ELOOP: "The links of the path form a cycle.",
}
_NO_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
_LOOKED_AT: Final = 1000
TEMPORARY: Final = ".tmp"
"""The suffix of temporary files, the same as in `write_atomic`."""


@contextmanager
def convert_os_errors(operation: str, path: Path) -> Generator[None]:
    """Convert errors of the system in the body to NodeFailed. `operation` is the one attempted: "read", "write"."""
    try:
        yield
    except OSError as exc:
        named = exc.filename2 if isinstance(exc, FileExistsError) and exc.filename2 else exc.filename
        about = Path(named) if isinstance(named, str | Path) else path
        if about.suffix == TEMPORARY:
            about = path
        reason = "there is no such file" if isinstance(exc, FileNotFoundError) else (exc.strerror or str(exc)).lower()
        hint = _make_path_hint(about) if isinstance(exc, FileNotFoundError) else _HINTS.get(exc.errno or 0, "")
        raise NodeFailed(
            f"Could not {operation} {quote_path(about)}: {reason}.", hint=hint, path=redact(str(about))[:500]
        ) from exc
    except RuntimeError as exc:  # `resolve` raises it for circular links
        raise NodeFailed(f"Could not {operation} {quote_path(path)}: {exc}.", hint=_HINTS[errno.ELOOP]) from exc


def stat_ordinary_file(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
    """Return the status of an ordinary file, or of a link that is not followed. Raise OSError or NodeFailed."""
    found = path.stat(follow_symlinks=follow_symlinks)
    _require_ordinary_file(path, found)
    return found


def open_ordinary_file(path: Path) -> int:
    """Return a descriptor to read an ordinary file; opening a pipe or a device fails at once."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_ordinary_file(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def create_parent_and_check_target(path: Path) -> None:
    """Create the folder of `path`. Raise NodeFailed or OSError if no ordinary file can be written there."""
    with suppress(FileNotFoundError):
        stat_ordinary_file(path)
        if not os.access(path, os.W_OK):  # replacing the file would not need this permission
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as exc:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), exc.filename) from None


def append_bytes(path: Path, data: bytes) -> None:
    """Append all of `data` to the file, or nothing. Concurrent appends wait for each other."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        lock_open_file(descriptor)
        before = os.fstat(descriptor).st_size
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)


def copy_atomically(source: Path, target: Path, *, overwrite: bool) -> int:
    """Copy an ordinary file and its permissions; readers of `target` see the old content or all of the new one.

    Return its size. Raise FileExistsError if the target exists and may not be overwritten.
    """
    target = target.resolve() if overwrite else target
    temporary = target.with_name(f".{secrets.token_hex(8)}{TEMPORARY}")
    reading = open_ordinary_file(source)
    try:
        with open(reading, "rb", closefd=False) as old, temporary.open("xb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            os.fsync(new.fileno())
            size = new.tell()
        temporary.chmod(stat.S_IMODE(os.fstat(reading).st_mode) & 0o777)
        rename_atomically(temporary, target, overwrite=overwrite)
    finally:
        os.close(reading)
        temporary.unlink(missing_ok=True)
    return size


def rename_atomically(source: Path, target: Path, *, overwrite: bool) -> None:
    """Rename a file on the same disk, in one step. Raise FileExistsError as `copy_atomically` does."""
    if overwrite:
        source.replace(target)
        return
    linked = True
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as exc:
        if exc.errno not in _NO_LINKS:
            raise
        linked = False
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # reserve the name first, then fill it
    try:
        if linked:
            source.unlink()
        else:
            source.replace(target)
    except OSError:
        target.unlink()
        raise


def quote_path(path: Path) -> str:
    """Return a path quoted for a message."""
    text = str(path)
    return repr(text if len(text) <= 300 else f"{redact(text)[:300]}…")


def _require_ordinary_file(path: Path, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        raise NodeFailed(
            f"{quote_path(path)} is not an ordinary file but a device, a pipe or a socket.",
            hint="Use the shell node for those.",
        )


def _make_path_hint(path: Path) -> str:
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, _LOOKED_AT)]
    except OSError:
        return f"The folder {quote_path(path.parent)} does not exist either."
    if nearest := find_nearest_name(path.name, names):
        return f"Did you mean {quote_path(path.with_name(nearest))}?"
    return "Relative paths start at the folder in which the workflow runs."
