"""The log of changes that leave no other record: deletions, restored backups, credentials, sign-ins and settings.

A change is made first and recorded afterwards, so that each line is true: a kill in between leaves a change without its
line, and a line that cannot be written does not undo or stop the change.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypedDict, cast

from uraniborg.kernel.actors import Actor, get_process_actor, read_actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.logging import get_logger, redact
from uraniborg.kernel.settings import data_dir, secure_own_folder
from uraniborg.kernel.store.files import Locked, hold_lock, make_private_folder, open_private, sync_folder

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

ChangeKind = Literal[
    "session deleted",
    "universe deleted",
    "job deleted",
    "note deleted",
    "draft deleted",
    "shelf deleted",
    "runs deleted",
    "story deleted",
    "shelf remembered",
    "backup restored",
    "client file changed",
    "credential issued",
    "credentials revoked",
    "signed in",
    "signed out",
    "signed out everywhere",
    "token replaced",
    "setting changed",
]
FILE: Final = "changes.jsonl"
OLDER_FILE: Final = "changes.older.jsonl"
"""The file before: the lines of both are read, and those before them are deleted."""
MOST_BYTES: Final = 4_000_000
"""The size from which a new file is begun."""
_MOST_CHARS: Final = 1_000
_LOCK_S: Final = 1.0
_LINE_END: Final = b"\n"

_log = get_logger(__name__)


class LoggedChange(TypedDict):
    """A change as the log stores it. `subject` is what was changed; `actor` has the fields of an Actor."""

    at: str
    change: str
    subject: str
    actor: dict[str, str] | None
    details: dict[str, str]


class ChangeList(NamedTuple):
    """The changes of the log, the last one last, and the number of lines that cannot be read."""

    changes: list[LoggedChange]
    damaged_lines: int


def record_change(change: ChangeKind, subject: str, actor: Actor | None, **details: object) -> None:
    """Record a change that was made, and who made it: by default the program that runs this process. Blocks.

    If the log cannot be written, the log of the program states the change: at a terminal, stderr.
    """
    made: LoggedChange = {
        "at": format_now(),
        "change": change,
        "subject": _shorten(subject),
        "actor": (actor or get_process_actor()).model_dump(),
        "details": {name: _shorten(value) for name, value in details.items() if value is not None},
    }
    try:
        folder = secure_own_folder("data")
        make_private_folder(folder)
        _start_new_file_if_full(folder)
        _append(folder / FILE, json.dumps(redact(made)).encode() + _LINE_END)
    except OSError as exc:
        _log.error("a change was made and is not recorded", reason=exc.strerror or type(exc).__name__, **made)


def read_changes() -> ChangeList:
    """Return the changes of the log. Raise OSError if a file exists and cannot be read."""
    changes: list[LoggedChange] = []
    damaged = 0
    for name in (OLDER_FILE, FILE):
        for line in _read_lines(data_dir() / name):
            if (change := _parse_line(line)) is None:
                damaged += 1
            else:
                changes.append(change)
    return ChangeList(changes, damaged)


def _shorten(value: object) -> str:
    return make_encodable(str(value)[:_MOST_CHARS])


def _start_new_file_if_full(folder: Path) -> None:
    """Begin a new file, in one process at a time: a second one would replace the older lines by few new ones."""
    file = folder / FILE
    if _get_size(file) < MOST_BYTES:
        return
    with suppress(Locked), hold_lock(folder / f"{FILE}.lock", timeout_s=_LOCK_S):
        if _get_size(file) >= MOST_BYTES:
            os.replace(file, folder / OLDER_FILE)
            sync_folder(folder)


def _get_size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _append(file: Path, line: bytes) -> None:
    """Add a line in one write, after the end of a line that was cut off. Raise OSError."""
    descriptor = open_private(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        if size and os.lseek(descriptor, size - 1, os.SEEK_SET) >= 0 and os.read(descriptor, 1) != _LINE_END:
            line = _LINE_END + line
        if os.write(descriptor, line) < len(line):
            raise OSError(None, "the disk has no room for the whole line")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_lines(file: Path) -> list[bytes]:
    try:
        return [line for line in file.read_bytes().split(_LINE_END) if line.strip()]
    except FileNotFoundError:
        return []


def _parse_line(line: bytes) -> LoggedChange | None:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    fields = cast("JsonObject", found)
    at, change, subject = (fields.get(name) for name in ("at", "change", "subject"))
    if not (isinstance(at, str) and isinstance(change, str) and isinstance(subject, str)):
        return None
    actor, details = read_actor(fields.get("actor")), fields.get("details")
    return {
        "at": at,
        "change": change,
        "subject": subject,
        "actor": actor.model_dump() if actor else None,
        "details": {str(name): str(one) for name, one in details.items()} if isinstance(details, dict) else {},
    }
