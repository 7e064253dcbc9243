"""Files put in place whole, and what the disk refuses told so that it can be mended."""

import errno
import fcntl
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
from pflow.ir.diagnostics import nearest
from uraniborg.kernel.logging import redact

_HINTS: Final = {
    errno.EEXIST: "Choose another path, or set `overwrite` to true.",
    errno.EISDIR: "Name the file itself, not its folder.",
    errno.ENOTDIR: "A part of the path is a file, not a folder.",
    errno.EACCES: "Choose a path that may be used, or change its permissions.",
    errno.EPERM: "Choose a path that may be used, or change its permissions.",
    errno.EROFS: "Choose a path that can be written to.",
    errno.ENOSPC: "Make room on the disk. What was there before is unchanged.",
    errno.EDQUOT: "Make room on the disk. What was there before is unchanged.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.ELOOP: "The path goes round in links.",
}
_NO_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
_LOOKED_AT: Final = 1000
TEMPORARY: Final = ".tmp"
"""How names end of files that are not yet in their place; `write_atomic` ends them so too."""


@contextmanager
def refusals(doing: str, path: Path) -> Generator[None]:
    """Turns what the system refuses within into a NodeFailed. `doing` is what was tried: "read", "write"."""
    try:
        yield
    except OSError as exc:
        named = exc.filename2 if isinstance(exc, FileExistsError) and exc.filename2 else exc.filename
        about = Path(named) if isinstance(named, str | Path) else path
        if about.suffix == TEMPORARY:
            about = path
        reason = "there is no such file" if isinstance(exc, FileNotFoundError) else (exc.strerror or str(exc)).lower()
        hint = _found_instead(about) if isinstance(exc, FileNotFoundError) else _HINTS.get(exc.errno or 0, "")
        raise NodeFailed(
            f"Could not {doing} {shown(about)}: {reason}.", hint=hint, path=redact(str(about))[:500]
        ) from exc
    except RuntimeError as exc:  # as `resolve` tells of links that go round
        raise NodeFailed(f"Could not {doing} {shown(path)}: {exc}.", hint=_HINTS[errno.ELOOP]) from exc


def require_file(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
    """What the system knows of an ordinary file, or of a link if none is to be followed. Raises OSError, NodeFailed."""
    found = path.stat(follow_symlinks=follow_symlinks)
    _ordinary(path, found)
    return found


def open_file(path: Path) -> int:
    """A descriptor to read an ordinary file from; opening another kind does not wait, and fails."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _ordinary(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def ready_for(path: Path) -> None:
    """See that a file can be put at `path`: its folder is made, and nothing but an ordinary file is there."""
    with suppress(FileNotFoundError):
        require_file(path)
        if not os.access(path, os.W_OK):  # which putting another in its place would not ask
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as exc:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), exc.filename) from None


def append(path: Path, data: bytes) -> None:
    """Add all of `data` to the file, or nothing. Those who append at the same time wait for one another."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
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


def copy(source: Path, target: Path, *, overwrite: bool) -> int:
    """Copy an ordinary file and its permissions; whoever looks at `target` sees all of it or what was there before.

    Returns its size. Raises FileExistsError if something is there and may not be overwritten.
    """
    target = target.resolve() if overwrite else target
    temporary = target.with_name(f".{secrets.token_hex(8)}{TEMPORARY}")
    reading = open_file(source)
    try:
        with open(reading, "rb", closefd=False) as old, temporary.open("xb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            os.fsync(new.fileno())
            size = new.tell()
        temporary.chmod(stat.S_IMODE(os.fstat(reading).st_mode) & 0o777)
        place(temporary, target, overwrite=overwrite)
    finally:
        os.close(reading)
        temporary.unlink(missing_ok=True)
    return size


def place(source: Path, target: Path, *, overwrite: bool) -> None:
    """Give a file another name on the same disk, in one step. Raises FileExistsError as `copy` does."""
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
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # first the name is ours, then what it holds
    try:
        if linked:
            source.unlink()
        else:
            source.replace(target)
    except OSError:
        target.unlink()
        raise


def shown(path: Path) -> str:
    """A path within a message: quoted, so that no name can be taken for something else."""
    text = str(path)
    return repr(text if len(text) <= 300 else f"{redact(text)[:300]}…")


def _ordinary(path: Path, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        raise NodeFailed(
            f"{shown(path)} is no ordinary file but a device, a pipe or a socket.",
            hint="Use the shell node for those.",
        )


def _found_instead(path: Path) -> str:
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, _LOOKED_AT)]
    except OSError:
        return f"There is no folder {shown(path.parent)} either."
    if meant := nearest(path.name, names):
        return f"Did you mean {shown(path.with_name(meant))}?"
    return "Relative paths begin at the folder the workflow runs in."
