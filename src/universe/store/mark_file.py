"""High-water marks: a file outside the database with the last version written of each universe.

A log that lost its end is whole in itself: SQLite, for one, drops the rest of a damaged write-ahead log in silence.
Marks are written after commits, so that none is ahead of a whole log, and beside them, so that no commit waits: within
a twentieth of a second for a process that is killed, within about a second for a power cut. Marks that were missed
then are written when the store is opened again.
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

from universe.store.marks import Head, Key, Marks, is_news, line, loss_line, mark_line, parse_marks
from uraniborg.kernel.files import open_private, sync_folder
from uraniborg.kernel.logging import get_logger

_WRITE_EVERY_S: Final = 0.05
_SYNC_EVERY_S: Final = 1.0
_COMPACT_BYTES: Final = 512 * 1024
"""The file is compacted when it has this size, and twice the size it had when it was compacted last."""
_DELETING_S: Final = 60.0
"""How long a universe may take to be deleted."""

_log = get_logger(__name__)


class MarkFile:
    """The file at `path`. What goes wrong with it is logged and stops nobody: without marks, loss is not noticed."""

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

    def read(self) -> Marks:
        """Return the content. Lines that are damaged or incomplete are skipped."""
        self._write_pending()
        with (
            _log_os_errors("read"),
            contextlib.suppress(FileNotFoundError),
            open(_open_own(self._path, os.O_RDONLY), "rb") as file,
        ):
            return parse_marks(file.read())
        return Marks()

    def reconcile(self, known: Marks, heads: Sequence[Head]) -> None:
        """Record the losses between marks and the logs read after them, and raise marks to logs that went further."""
        losses = known.lost(heads)
        if losses:  # a universe that is deleted at this moment is marked as deleted before it is gone
            gone = self.read().deleted
            losses = {key: loss for key, loss in losses.items() if loss.left is not None or key not in gone}
        for (universe_id, _), loss in losses.items():
            _log.warning(
                "log ends before its mark: versions were lost",
                universe=universe_id,
                mark=loss.mark.version,
                version=loss.left,
            )
        # The process that marked these deletions ended before it deleted.
        long_ago = time.time() - _DELETING_S
        undeleted = [head.key for head in heads if known.deleted.get(head.key, long_ago) < long_ago]
        if undeleted:
            self._rewrite(lambda marks: marks.undelete(undeleted))
        lines = [loss_line(key, loss) for key, loss in losses.items()]
        lines += [mark_line(head) for head in heads if head.key in losses or is_news(head, known.marks.get(head.key))]
        self._append(lines)

    def note(self, heads: Iterable[Head]) -> None:
        """Mark these versions, which are committed, soon."""
        with self._lock:
            self._pending.update((head.key, head) for head in heads)
            if self._writer is None and self._pending:
                self._is_closing = False
                self._writer = threading.Thread(target=self._write_often, name="universe-marks", daemon=True)
                self._writer.start()
        self._waiting.set()

    def forget(self, universe_id: str, made_at: str) -> None:
        """Mark a universe as deleted, before it is."""
        self._append([line("deleted", (universe_id, made_at), at=time.time())])

    def accept(self, heads: Sequence[Head], universe_id: str | None = None) -> None:
        """Forget the losses of one universe, or of all, and take the logs as they are now."""
        self._write_pending()
        self._rewrite(lambda marks: marks.accept(heads, universe_id))

    def close(self) -> None:
        """Write pending marks, sync the file and end the writing thread."""
        writer, self._is_closing = self._writer, True
        self._waiting.set()
        if writer is not None:
            writer.join()
        self._write_pending()
        self._sync()
        with self._lock:
            self._writer = None
            self._close()

    def _write_often(self) -> None:
        while not self._is_closing:
            self._waiting.wait(None if self._is_synced else _SYNC_EVERY_S)
            self._waiting.clear()
            self._write_pending()
            if not self._is_synced and time.monotonic() - self._synced_at > _SYNC_EVERY_S:
                self._sync()
            if not self._is_closing:
                time.sleep(_WRITE_EVERY_S)

    def _write_pending(self) -> None:
        with self._lock:
            heads, self._pending = list(self._pending.values()), {}
            self._append([mark_line(head) for head in heads])

    def _sync(self) -> None:
        with _log_os_errors("sync"):
            with self._lock:
                if self._descriptor is None or self._is_synced:
                    return
                self._is_synced, self._synced_at = True, time.monotonic()
                descriptor = os.dup(self._descriptor)
            try:
                os.fsync(descriptor)  # without the lock: it may take long
            finally:
                os.close(descriptor)

    def _append(self, lines: Sequence[bytes]) -> None:
        if not lines:
            return
        with self._lock, _log_os_errors("write"):
            written = b"\n" + b"".join(lines)  # the last line may be incomplete
            os.write(self._open(), written)
            if not self._is_current():  # another process has compacted the file, perhaps without these lines
                self._close()
                os.write(self._open(), written)
            self._is_synced = False
            size = os.fstat(self._open()).st_size
            if size > max(_COMPACT_BYTES, 2 * self._compacted_size):
                self._rewrite(lambda _: None)

    def _rewrite(self, change: Callable[[Marks], None]) -> None:
        """Replace the file by a compact one with a change; what others append meanwhile comes after it."""
        with self._lock, _log_os_errors("write"):
            self._open()
            temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
            new = _open_own(temporary, os.O_CREAT | os.O_TRUNC | os.O_RDWR | os.O_APPEND)
            try:
                with open(_open_own(self._path, os.O_RDONLY), "rb") as old:
                    content = parse_marks(old.read())
                    change(content)
                    written = b"".join(content.lines())
                    os.write(new, written)
                    os.fsync(new)
                    temporary.replace(self._path)
                    sync_folder(self._path.parent)
                    os.write(new, old.read())
            except OSError:
                os.close(new)
                temporary.unlink(missing_ok=True)
                raise
            self._close()
            self._descriptor, self._compacted_size = new, len(written)

    def _open(self) -> int:
        if self._descriptor is None:
            is_new = not self._path.exists()
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._descriptor = _open_own(self._path, os.O_CREAT | os.O_RDWR | os.O_APPEND)
            if is_new:
                sync_folder(self._path.parent)
        return self._descriptor

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._open()))
        except FileNotFoundError:
            return False

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _open_own(path: Path, flags: int) -> int:
    """Open a regular file, private to its owner. Raises OSError for a link, which may lead anywhere, and for a pipe."""
    descriptor = open_private(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file")
    return descriptor


@contextlib.contextmanager
def _log_os_errors(what: str) -> Generator[None]:
    """Log an OSError of this block and continue after the block."""
    try:
        yield
    except OSError as exc:
        _log.warning("the file of marks could not be used", during=what, reason=exc.strerror or type(exc).__name__)
