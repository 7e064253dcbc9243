"""The nodes that read, write, copy, move and delete a file."""

import binascii
import errno
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes import file_operations as disk
from pflow.nodes.child_output import in_words
from pflow.nodes.excerpts import beginning
from pflow.nodes.param_values import path_of, text_of, whole
from uraniborg.kernel.files import write_atomic

READ_BYTES: Final = 64 << 20
"""The largest file that is read into a value."""


def read_file(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """The content of a file, as text, or in base64 where it is none."""
    path, encoding = path_of(params, "file_path", context), _encoding(params, context)
    with disk.refusals("read", path):
        data = _read(path)
    try:
        content, is_binary = whole(data.decode(encoding)), False
    except ValueError:
        content, is_binary = b64encode(data).decode(), True
    return {"content": content, "content_is_binary": is_binary, "file_path": str(path), "size": len(data)}


def write_file(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Put content into a file, in the place of what it held or at its end: all of it, or none."""
    path, data = path_of(params, "file_path", context), _content(params, context)
    with disk.refusals("write", path):
        target = path.resolve()
        disk.ready_for(target)
        if params.get("append"):
            disk.append(target, data)
        else:
            write_atomic(target, data, access="shared")  # as any program of the user would
    return {"written": True, "file_path": str(path), "size": len(data)}


def copy_file(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Copy a file. What is at the place it goes to stays, unless it may be overwritten."""
    source, target = _both(params, context)
    overwrite = bool(params.get("overwrite"))
    with disk.refusals("copy", target):
        disk.require_file(source)
        _ready(source, target, overwrite=overwrite)
        size = disk.copy(source, target, overwrite=overwrite)
    return {"copied": True, "source_path": str(source), "dest_path": str(target), "size": size}


def move_file(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Move a file, to another disk too. What is at the place it goes to stays, unless it may be overwritten."""
    source, target = _both(params, context)
    overwrite = bool(params.get("overwrite"))
    with disk.refusals("move", target):
        disk.require_file(source, follow_symlinks=False)
        _ready(source, target, overwrite=overwrite)
        try:
            disk.place(source, target, overwrite=overwrite)
        except OSError as exc:
            if exc.errno != errno.EXDEV:
                raise
            disk.copy(source, target, overwrite=overwrite)
            _remove_copied(source, target)
    return {"moved": True, "source_path": str(source), "dest_path": str(target)}


def delete_file(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Delete a file, or a link, for good."""
    path = path_of(params, "file_path", context)
    if params.get("confirm_delete") is not True:
        raise NodeFailed(
            f"{disk.shown(path)} was not deleted: that has to be confirmed.",
            hint="Set the parameter `confirm_delete` to true.",
        )
    with disk.refusals("delete", path):
        disk.require_file(path, follow_symlinks=False)
        path.unlink()
    return {"deleted": True, "file_path": str(path)}


def _read(path: Path) -> bytes:
    with open(disk.open_file(path), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = b"" if size > READ_BYTES else stream.read(READ_BYTES + 1)  # some files say 0 and hold more
    if max(size, len(data)) > READ_BYTES:
        raise NodeFailed(
            f"{disk.shown(path)} is too large to be read into a value: more than {in_words(READ_BYTES)}.",
            hint="Let a shell or python node work on the file itself and give back what is needed of it.",
            size=size,
        )
    return data


def _content(params: Mapping[str, Any], context: Context) -> bytes:
    content, encoding = params.get("content"), _encoding(params, context)
    if isinstance(content, bytes):
        return content
    text = "" if content is None else text_of(content, "content", indented=True)
    if params.get("content_is_binary"):
        try:
            return b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError):
            raise NodeFailed(
                "`content` is no base64, though `content_is_binary` says so.",
                hint="Leave `content_is_binary` out to write text.",
            ) from None
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as exc:
        raise NodeFailed(
            f"`content` cannot be written as {encoding}: it has no {text[exc.start]!r} (character {exc.start + 1}).",
            hint="Leave `encoding` out to write UTF-8.",
        ) from None


def _encoding(params: Mapping[str, Any], context: Context) -> str:
    encoding = str(params.get("encoding") or "utf-8")
    try:
        "x".encode(encoding)
    except (LookupError, ValueError):
        raise NodeFailed(
            f"There is no text encoding {beginning(encoding, 50, context)!r}.",
            hint="Use utf-8, utf-16, latin-1, cp1252 or another.",
        ) from None
    return encoding


def _both(params: Mapping[str, Any], context: Context) -> tuple[Path, Path]:
    return path_of(params, "source_path", context), path_of(params, "dest_path", context)


def _ready(source: Path, target: Path, *, overwrite: bool) -> None:
    if target.exists() and os.path.samefile(source, target):
        raise NodeFailed(
            f"{disk.shown(source)} and {disk.shown(target)} are the same file.", hint="Choose another `dest_path`."
        )
    if not overwrite and os.path.lexists(target):  # asked again when it is put there, but a large copy is spared
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    disk.ready_for(target)


def _remove_copied(source: Path, target: Path) -> None:
    try:
        source.unlink()
    except OSError as exc:
        raise NodeFailed(
            f"The file is at {disk.shown(target)} now, but {disk.shown(source)} could not be removed: {exc.strerror}.",
            hint="Remove it by hand.",
        ) from exc
