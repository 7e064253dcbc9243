"""Store the last written version of each universe outside the database, so that lost ends are noticed.

A log that lost its end looks intact: SQLite, for example, silently drops the rest of a damaged write-ahead log. A mark
is written after its commit, so that no mark is ahead of an intact log, and in another thread, so that no commit waits.
A mark is in the file 0.05 seconds after its commit and on disk about a second later. Marks that a crash or a power cut
prevented are written when the store is opened again.
"""

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Final

from universe.store.high_water_marks import (
    Head,
    Key,
    WrittenMarks,
    format_line,
    format_loss_line,
    format_mark_line,
    is_ahead,
    parse_marks,
)
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.files import open_private, sync_folder

_WRITE_EVERY_S: Final = 0.05
_SYNC_EVERY_S: Final = 1.0
_COMPACT_BYTES: Final = 512 * 1024
"""The file is compacted when it has this size and is twice as large as after the last compaction."""
_DELETING_S: Final = 60.0
"""The longest time between the mark of a deletion and the deletion."""

_log = get_logger(__name__)


class MarkFile:
    """The mark file at `path`. Its errors are logged and never raised; without marks, losses are not noticed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._pending: dict[Key, Head] = {}
        self._waiting = threading.Event()
        self._writer: threading.Thread | None = None
        self._is_closing = False
        self._descriptor: int | None = None
        self._compacted_size = 0
        self._synced_at = 0.0
        self._is_synced = True

    @property
    def path(self) -> Path:
        """The path of the file, beside which other files of the database are stored."""
        return self._path

    def flush_and_read_marks(self) -> WrittenMarks:
        """Return the content of the file; damaged and incomplete lines are skipped."""
        self._append_pending_marks()
        with (
            _log_and_suppress_os_errors("read"),
            contextlib.suppress(FileNotFoundError),
            open(_open_regular_file(self._path, os.O_RDONLY), "rb") as file,
        ):
            return parse_marks(file.read())
        return WrittenMarks()

    def record_losses_and_advance_marks(self, known: WrittenMarks, heads: Sequence[Head]) -> None:
        """Record the losses between marks and the logs read after them, and advance marks behind their logs."""
        losses = known.find_losses(heads)
        if losses:  # a universe that is being deleted has been marked as deleted first
            gone = self.flush_and_read_marks().deleted
            losses = {key: loss for key, loss in losses.items() if loss.left is not None or key not in gone}
        for (universe_id, _), loss in losses.items():
            _log.warning(
                "log ends before its mark: versions were lost",
                universe=universe_id,
                mark=loss.mark.version,
                version=loss.left,
            )
        # The process that marked these deletions ended before the deletion.
        long_ago = time.time() - _DELETING_S
        undeleted = [head.key for head in heads if known.deleted.get(head.key, long_ago) < long_ago]
        if undeleted:
            self._rewrite_file(lambda marks: marks.undelete(undeleted))
        lines = [format_loss_line(key, loss) for key, loss in losses.items()]
        lines += [
            format_mark_line(head) for head in heads if head.key in losses or is_ahead(head, known.marks.get(head.key))
        ]
        self._append_lines(lines)

    def schedule_marks(self, heads: Iterable[Head]) -> None:
        """Schedule marks for these committed versions."""
        with self._lock:
            self._pending.update((head.key, head) for head in heads)
            if self._writer is None and self._pending:
                self._is_closing = False
                self._writer = threading.Thread(target=self._run_writer, name="universe-marks", daemon=True)
                self._writer.start()
        self._waiting.set()

    def mark_deleted(self, universe_id: str, created_at: str) -> None:
        """Mark a universe as deleted. Call this before the deletion."""
        self._append_lines([format_line("deleted", (universe_id, created_at), at=time.time())])

    def accept_losses(self, heads: Sequence[Head], universe_id: str | None = None) -> None:
        """Remove the losses of one universe, or of all, and mark the current ends of the logs."""
        self._append_pending_marks()
        self._rewrite_file(lambda marks: marks.accept_losses(heads, universe_id))

    def close(self) -> None:
        """Write pending marks, sync the file and end the writing thread."""
        writer, self._is_closing = self._writer, True
        self._waiting.set()
        if writer is not None:
            writer.join()
        self._append_pending_marks()
        self._sync_file()
        with self._lock:
            self._writer = None
            self._close_file()

    def _run_writer(self) -> None:
        while not self._is_closing:
            self._waiting.wait(None if self._is_synced else _SYNC_EVERY_S)
            self._waiting.clear()
            self._append_pending_marks()
            if not self._is_synced and time.monotonic() - self._synced_at > _SYNC_EVERY_S:
                self._sync_file()
            if not self._is_closing:
                time.sleep(_WRITE_EVERY_S)

    def _append_pending_marks(self) -> None:
        with self._lock:
            heads, self._pending = list(self._pending.values()), {}
            self._append_lines([format_mark_line(head) for head in heads])

    def _sync_file(self) -> None:
        with _log_and_suppress_os_errors("sync"):
            with self._lock:
                if self._descriptor is None or self._is_synced:
                    return
                self._is_synced, self._synced_at = True, time.monotonic()
                descriptor = os.dup(self._descriptor)
            try:
                os.fsync(descriptor)  # without the lock: it may take long
            finally:
                os.close(descriptor)

    def _append_lines(self, lines: Sequence[bytes]) -> None:
        if not lines:
            return
        with self._lock, _log_and_suppress_os_errors("write"):
            written = b"\n" + b"".join(lines)  # the last line may be incomplete
            os.write(self._get_or_open_file(), written)
            if not self._is_open_file_current():  # another process has compacted the file, perhaps without these lines
                self._close_file()
                os.write(self._get_or_open_file(), written)
            self._is_synced = False
            size = os.fstat(self._get_or_open_file()).st_size
            if size > max(_COMPACT_BYTES, 2 * self._compacted_size):
                self._rewrite_file(lambda _: None)

    def _rewrite_file(self, change: Callable[[WrittenMarks], None]) -> None:
        """Apply a change and replace the file by a compact one; lines that others append meanwhile are kept."""
        with self._lock, _log_and_suppress_os_errors("write"):
            self._get_or_open_file()
            temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
            new = _open_regular_file(temporary, os.O_CREAT | os.O_TRUNC | os.O_RDWR | os.O_APPEND)
            try:
                with open(_open_regular_file(self._path, os.O_RDONLY), "rb") as old:
                    content = parse_marks(old.read())
                    change(content)
                    written = b"".join(content.format_lines())
                    os.write(new, written)
                    os.fsync(new)
                    temporary.replace(self._path)
                    sync_folder(self._path.parent)
                    os.write(new, old.read())
            except OSError:
                os.close(new)
                temporary.unlink(missing_ok=True)
                raise
            self._close_file()
            self._descriptor, self._compacted_size = new, len(written)

    def _get_or_open_file(self) -> int:
        if self._descriptor is None:
            is_new = not self._path.exists()
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._descriptor = _open_regular_file(self._path, os.O_CREAT | os.O_RDWR | os.O_APPEND)
            if is_new:
                sync_folder(self._path.parent)
        return self._descriptor

    def _is_open_file_current(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._get_or_open_file()))
        except FileNotFoundError:
            return False

    def _close_file(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _open_regular_file(path: Path, flags: int) -> int:
    """Open a regular file that only its owner can read. Raise OSError for a symbolic link or a pipe."""
    descriptor = open_private(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file")
    return descriptor


@contextlib.contextmanager
def _log_and_suppress_os_errors(action: str) -> Generator[None]:
    """Log an OSError of this block and continue after the block."""
    try:
        yield
    except OSError as exc:
        _log.warning("the mark file cannot be used", during=action, reason=exc.strerror or type(exc).__name__)
