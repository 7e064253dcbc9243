"""The nodes that read, write, copy, move and delete a file."""

import binascii
import errno
import os
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes.child_output import format_size
from pflow.nodes.file_operations import (
    append_bytes,
    convert_os_errors,
    copy_atomically,
    create_parent_and_check_target,
    open_ordinary_file,
    quote_path,
    rename_atomically,
    stat_ordinary_file,
)
from pflow.nodes.masked_excerpts import cut_masked_start
from pflow.nodes.param_values import format_param_as_text, get_path
from uraniborg.kernel.files import write_atomic

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


def read_file(params: "JsonObject", context: Context) -> ReadFile:
    """Return the content of a file as text, or in base64 if it is not text."""
    path, encoding = get_path(params, "file_path", context), _get_valid_encoding(params, context)
    with convert_os_errors("read", path):
        data = _read_or_refuse_large(path)
    try:
        content, is_binary = data.decode(encoding), False
    except ValueError:
        content, is_binary = b64encode(data).decode(), True
    return {"content": content, "content_is_binary": is_binary, "file_path": str(path), "size": len(data)}


def write_file(params: "JsonObject", context: Context) -> WrittenFile:
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


def copy_file(params: "JsonObject", context: Context) -> CopiedFile:
    """Copy a file. An existing target stays unless it may be overwritten."""
    source, target = _get_source_and_target_paths(params, context)
    overwrite = bool(params.get("overwrite"))
    with convert_os_errors("copy", target):
        stat_ordinary_file(source)
        _check_and_prepare_target(source, target, overwrite=overwrite)
        size = copy_atomically(source, target, overwrite=overwrite)
    return {"copied": True, "source_path": str(source), "dest_path": str(target), "size": size}


def move_file(params: "JsonObject", context: Context) -> MovedFile:
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


def delete_file(params: "JsonObject", context: Context) -> DeletedFile:
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


def _encode_content(params: "JsonObject", context: Context) -> bytes:
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


def _get_valid_encoding(params: "JsonObject", context: Context) -> str:
    encoding = str(params.get("encoding") or "utf-8")
    try:
        "x".encode(encoding)
    except (LookupError, ValueError):
        raise NodeFailed(
            f"There is no text encoding {cut_masked_start(encoding, 50, context)!r}.",
            hint="Use utf-8, utf-16, latin-1, cp1252 or another.",
        ) from None
    return encoding


def _get_source_and_target_paths(params: "JsonObject", context: Context) -> tuple[Path, Path]:
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
