"""The nodes that read, write, copy, move and delete a file: atomically, and with a hint for each error."""

import binascii
import errno
import os
import secrets
import shutil
import stat
from base64 import b64decode, b64encode
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start
from pflow.errors import NodeFailed
from pflow.nodes.child_output import format_size
from pflow.nodes.param_values import format_param_as_text, get_path
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.logging import redact
from uraniborg.kernel.store.files import lock_open_file, write_atomic

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject


READ_BYTES: Final = 64 << 20
"""The largest file that is read into a value."""


class ReadFile(TypedDict):
    content: str
    content_is_binary: bool
    file_path: str
    size: int


class WrittenFile(TypedDict):
    written: bool
    file_path: str
    size: int


class CopiedFile(TypedDict):
    copied: bool
    source_path: str
    dest_path: str
    size: int


class MovedFile(TypedDict):
    moved: bool
    source_path: str
    dest_path: str


class DeletedFile(TypedDict):
    deleted: bool
    file_path: str


def read_file(params: "JsonObject", context: NodeContext) -> ReadFile:
    """Return the content of a file as text, or in base64 if it is not text."""
    path, encoding = get_path(params, "file_path", context), _get_valid_encoding(params, context)
    with convert_os_errors("read", path):
        data = _read_or_refuse_large(path)
    try:
        content, is_binary = data.decode(encoding), False
    except ValueError:
        content, is_binary = b64encode(data).decode(), True
    return {"content": content, "content_is_binary": is_binary, "file_path": str(path), "size": len(data)}


def write_file(params: "JsonObject", context: NodeContext) -> WrittenFile:
    """Write content to a file, replacing or appending: all of it, or nothing."""
    path, data = get_path(params, "file_path", context), _encode_content(params, context)
    with convert_os_errors("write", path):
        target = path.resolve()
        create_parent_and_check_target(target)
        if params.get("append"):
            append_bytes(target, data)
        else:
            write_atomic(target, data, access="shared")  # as any program of the user would
    return {"written": True, "file_path": str(path), "size": len(data)}


def copy_file(params: "JsonObject", context: NodeContext) -> CopiedFile:
    """Copy a file. An existing target stays unless it may be overwritten."""
    source, target = _get_source_and_target_paths(params, context)
    overwrite = bool(params.get("overwrite"))
    with convert_os_errors("copy", target):
        stat_ordinary_file(source)
        _check_and_prepare_target(source, target, overwrite=overwrite)
        size = copy_atomically(source, target, overwrite=overwrite)
    return {"copied": True, "source_path": str(source), "dest_path": str(target), "size": size}


def move_file(params: "JsonObject", context: NodeContext) -> MovedFile:
    """Move a file, also to another disk. An existing target stays unless it may be overwritten."""
    source, target = _get_source_and_target_paths(params, context)
    overwrite = bool(params.get("overwrite"))
    with convert_os_errors("move", target):
        stat_ordinary_file(source, follow_symlinks=False)
        _check_and_prepare_target(source, target, overwrite=overwrite)
        try:
            rename_atomically(source, target, overwrite=overwrite)
        except OSError as exc:
            if exc.errno != errno.EXDEV:
                raise
            copy_atomically(source, target, overwrite=overwrite)
            _remove_source(source, target)
    return {"moved": True, "source_path": str(source), "dest_path": str(target)}


def delete_file(params: "JsonObject", context: NodeContext) -> DeletedFile:
    """Delete a file, or a link, for good."""
    path = get_path(params, "file_path", context)
    if params.get("confirm_delete") is not True:
        raise NodeFailed(
            f"{quote_path(path)} was not deleted, because the deletion is not confirmed.",
            hint="Set the parameter `confirm_delete` to true.",
        )
    with convert_os_errors("delete", path):
        stat_ordinary_file(path, follow_symlinks=False)
        path.unlink()
    return {"deleted": True, "file_path": str(path)}


def _read_or_refuse_large(path: Path) -> bytes:
    with open(open_ordinary_file(path), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = b"" if size > READ_BYTES else stream.read(READ_BYTES + 1)  # some files report size 0 and have more
    if max(size, len(data)) > READ_BYTES:
        raise NodeFailed(
            f"{quote_path(path)} is too large to be read into a value: more than {format_size(READ_BYTES)}.",
            hint="Let a shell or python node process the file and return only the part you need.",
            size=size,
        )
    return data


def _encode_content(params: "JsonObject", context: NodeContext) -> bytes:
    content, encoding = params.get("content"), _get_valid_encoding(params, context)
    if isinstance(content, bytes):
        return content
    text = "" if content is None else format_param_as_text(content, "content", indented=True)
    if params.get("content_is_binary"):
        try:
            return b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError):
            raise NodeFailed(
                "`content` is not base64, but `content_is_binary` is true.",
                hint="Leave out `content_is_binary` to write text.",
            ) from None
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as exc:
        raise NodeFailed(
            f"`content` cannot be encoded as {encoding}: character {exc.start + 1} is {text[exc.start]!r}.",
            hint="Leave out `encoding` to write UTF-8.",
        ) from None


def _get_valid_encoding(params: "JsonObject", context: NodeContext) -> str:
    encoding = str(params.get("encoding") or "utf-8")
    try:
        "x".encode(encoding)
    except (LookupError, ValueError):
        raise NodeFailed(
            f"There is no text encoding {cut_masked_start(encoding, 50, context)!r}.",
            hint="Use utf-8, utf-16, latin-1, cp1252 or another.",
        ) from None
    return encoding


def _get_source_and_target_paths(params: "JsonObject", context: NodeContext) -> tuple[Path, Path]:
    return get_path(params, "source_path", context), get_path(params, "dest_path", context)


def _check_and_prepare_target(source: Path, target: Path, *, overwrite: bool) -> None:
    if target.exists() and os.path.samefile(source, target):
        raise NodeFailed(
            f"{quote_path(source)} and {quote_path(target)} are the same file.",
            hint="Choose another `dest_path`.",
        )
    if not overwrite and os.path.lexists(target):  # asked again when it is put there, but a large copy is spared
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    create_parent_and_check_target(target)


def _remove_source(source: Path, target: Path) -> None:
    try:
        source.unlink()
    except OSError as exc:
        raise NodeFailed(
            f"Copied to {quote_path(target)}, but could not remove {quote_path(source)}: {exc.strerror}.",
            hint="Remove it by hand.",
        ) from exc


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
