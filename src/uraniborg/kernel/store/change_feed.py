"""The change feed: short notes on what has changed, which all processes append and any process can follow.

The feed only announces changes; the stores hold the data. A reader that missed changes receives a `reset` and reads
the stores again. The feed is a folder of numbered files, its segments: `changes` in the data folder. The first reader
creates it; before that, nothing is written.

Writers append whole lines and take no lock. The segment with the highest number is the present one. A writer that fills
it creates the next one and deletes the oldest. A writer that finds a newer segment after its write writes the line
there, too: a reader may have left the old one already. So a reader can receive a change twice, but does not miss one.
"""

import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, cast

import orjson

from uraniborg.kernel.clock import format_now
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.files import Locked, hold_lock, make_private_folder, open_private

FEED_FOLDER: Final = "changes"
RESET: Final = "reset"
"""The kind of the change that tells a reader to read the stores again: changes before it were lost."""
MAX_LINE_BYTES: Final = 2_000
"""A change with more facts is written without them."""
_SEGMENT_BYTES: Final = 1_000_000
_MAX_SEGMENTS: Final = 8
_READ_BYTES: Final = 256_000
_MAX_CHANGES: Final = 10_000
_SUFFIX: Final = ".log"
_GROUP: Final = "changes"
"""The key of the changes that share a line."""
_GROUP_SIZE: Final = 50
_BROKEN_LINE: Final = b"\n"
"""A line that readers cannot decode, so that they report a reset."""


Announcement = tuple[str, str, Mapping[str, object]]
"""The kind, the subject and the facts of a change."""


class Change(NamedTuple):
    """A note that a thing has changed: its kind and its id, with some facts. `position` is where the note ends."""

    kind: str
    subject: str
    facts: Mapping[str, object]
    at: str
    position: str


def find_feed_folder() -> Path:
    """Return the folder of the feed in the data folder. It may not exist."""
    return secure_own_folder("data") / FEED_FOLDER


def create_feed(folder: Path) -> None:
    """Create the feed in `folder` if there is none. Raise OSError or Locked."""
    _find_or_create_newest_segment(folder)


def list_segment_paths(folder: Path) -> list[Path]:
    """Return the files of the feed, the oldest first; nothing if there is no feed."""
    try:
        return [_segment_path(folder, number) for number in _list_segments(folder)]
    except (FileNotFoundError, NotADirectoryError):
        return []


class Publisher(Protocol):
    """Announces changes. No method raises: a change that is announced has already happened."""

    def publish(self, kind: str, subject: str, /, **facts: Any) -> None: ...

    def close(self) -> None: ...


class NullPublisher:
    """Announces nothing: for stores in memory."""

    def publish(self, kind: str, subject: str, /, **facts: Any) -> None:
        pass

    def close(self) -> None:
        pass


class ChangeFeed:
    """The feed as writers see it. Any number of processes and threads may write to the same folder.

    `publish` writes to the disk: on an event loop, use a queued feed.
    """

    def __init__(self, folder: Path | None = None, *, segment_bytes: int = _SEGMENT_BYTES) -> None:
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._folder = folder
        self._number = 0
        self._next_path = ""
        self._has_lost_changes = False

    def publish(self, kind: str, subject: str, /, **facts: Any) -> None:
        """Append a change if there is a feed."""
        self.publish_all([(kind, subject, facts)])

    def publish_all(self, changes: "Iterable[Announcement]") -> None:
        """Append changes in one write, if there is a feed."""
        if not self._has_segment():  # encoding costs more than the rest
            return
        at = format_now()
        lines = bytearray()  # one buffer: a thousand small ones cost more than the encoding
        for (kind, subject), group in groupby(changes, key=itemgetter(0, 1)):
            lines += _encode_changes(kind, subject, [facts for _, _, facts in group], at)
        with self._lock:
            try:
                self._append(_BROKEN_LINE + lines if self._has_lost_changes else lines)
                self._has_lost_changes = False
            except OSError:  # such as a full disk
                self._has_lost_changes = True
                self._close_segment()

    def close(self) -> None:
        """Close the file. The next call of `publish` opens it again."""
        with self._lock:
            self._close_segment()

    def _has_segment(self) -> bool:
        with self._lock:
            try:
                return self._descriptor is not None or self._open_newest_segment()
            except OSError:  # such as too many open files
                self._has_lost_changes = True
                return False

    def _append(self, lines: bytes | bytearray) -> None:
        """Write the lines where readers of the newest segment find them. Raise OSError."""
        for _ in range(_MAX_SEGMENTS):
            if self._descriptor is None and not self._open_newest_segment():
                return
            descriptor = self._descriptor
            assert descriptor is not None
            if os.write(descriptor, lines) < len(lines):
                os.write(descriptor, b"\n")  # the disk is full: end the broken line, so that the next one can be read
                return
            if os.lseek(descriptor, 0, os.SEEK_CUR) >= self._segment_bytes:
                self._close_segment()
                if self._create_next_segment():
                    return  # readers leave a segment only after they have read everything before the next one
            elif os.fstat(descriptor).st_nlink and not os.path.lexists(self._next_path):
                return
            self._close_segment()

    def _open_newest_segment(self) -> bool:
        """Open the segment to write to; return False if there is none."""
        folder = self._folder = self._folder or find_feed_folder()
        try:
            self._number = _list_segments(folder)[-1]
        except (FileNotFoundError, IndexError):
            return False
        self._next_path = str(_segment_path(folder, self._number + 1))
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._descriptor = open_private(_segment_path(folder, self._number), flags)
        return True

    def _create_next_segment(self) -> bool:
        """Create the next segment and delete the oldest. Return False if another process has created it."""
        assert self._folder is not None
        try:
            _create_segment(self._folder, self._number + 1)
        except FileExistsError:
            return False
        for number in _list_segments(self._folder)[:-_MAX_SEGMENTS]:
            _segment_path(self._folder, number).unlink(missing_ok=True)
        return True

    def _close_segment(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self._close_segment()


class ChangeReader:
    """Reads the feed from a position on, by default from its present end. Creates the feed if there is none.

    Use it in one thread at a time. Raise OSError or Locked if the feed cannot be created.
    """

    def __init__(self, folder: Path | None = None, position: str | None = None) -> None:
        self._folder = folder or find_feed_folder()
        self._descriptor: int | None = None
        self._number = 0
        self._offset = 0
        self._has_lost_changes = False
        if position is None:
            self._go_to_end()
        else:
            self._go_to(position)

    @property
    def position(self) -> str:
        """The place in the feed up to which it has been read."""
        return f"{self._number}-{self._offset}"

    def read(self) -> list[Change]:
        """Return the changes since the last call, at most about ten thousand. Before a gap there is a `reset`."""
        found: list[Change] = []
        with suppress(OSError, Locked):  # the disk failed: the next call tries again
            try:
                self._read_segments(found)
            except FileNotFoundError:  # the folder was deleted
                self._skip_to_end()
        return found

    def close(self) -> None:
        """Close the file. The next call of `read` continues at the same position."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.close()

    def _read_segments(self, found: list[Change]) -> None:
        while len(found) < _MAX_CHANGES:
            descriptor = self._descriptor or self._open_segment()
            if self._has_lost_changes:
                self._has_lost_changes = False
                found.append(self._make_reset())
            following = self._find_next_segment()  # before the last read: a writer writes to both from then on
            is_read = self._read_lines(descriptor, found)
            if not is_read:
                continue
            if following is not None:
                self.close()
                self._has_lost_changes = following != self._number + 1
                self._number, self._offset = following, 0
            elif os.fstat(descriptor).st_nlink == 0:
                raise FileNotFoundError
            else:
                return

    def _open_segment(self) -> int:
        """Open the segment of the position; the newest one if that is gone. Raise FileNotFoundError."""
        if not _segment_path(self._folder, self._number).exists():
            self._skip_to_end()
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(_segment_path(self._folder, self._number), flags)
        return self._descriptor

    def _read_lines(self, descriptor: int, found: list[Change]) -> bool:
        """Add the changes of the next block to `found`. Return True if the segment has been read to its end."""
        os.lseek(descriptor, self._offset, os.SEEK_SET)
        block = os.read(descriptor, _READ_BYTES)
        if not block and os.fstat(descriptor).st_size < self._offset:  # it was truncated
            self._skip_to_end()
            return False
        lines = block.split(b"\n")[:-1]
        for line in lines:
            start = self.position
            self._offset += len(line) + 1
            found += self._decode_line(line, start)
        return not lines

    def _decode_line(self, line: bytes, start: str) -> list[Change]:
        """Return the changes in a line.

        All but the last have the position `start`: a reader that continues there receives the whole line again.
        """
        try:
            stored = orjson.loads(line)
            kind, subject, at = stored.pop("kind"), stored.pop("subject"), stored.pop("at")
            facts: list[Mapping[str, object]] = stored.get(_GROUP, [stored])
            changes = [Change(kind, subject, one, at, start) for one in facts]
            return [*changes[:-1], changes[-1]._replace(position=self.position)]
        except (orjson.JSONDecodeError, IndexError, KeyError, AttributeError, TypeError):
            return [self._make_reset()]

    def _make_reset(self) -> Change:
        return Change(RESET, "", {}, format_now(), self.position)

    def _find_next_segment(self) -> int | None:
        return next((number for number in _list_segments(self._folder) if number > self._number), None)

    def _go_to(self, position: str) -> None:
        number, _, offset = position.partition("-")
        if all(one.isascii() and one.isdigit() and len(one) < 20 for one in (number, offset)):
            self._number, self._offset = int(number), int(offset)
        else:
            self._skip_to_end()

    def _skip_to_end(self) -> None:
        self._has_lost_changes = True
        self._go_to_end()

    def _go_to_end(self) -> None:
        self.close()
        self._number = _find_or_create_newest_segment(self._folder)
        self._offset = _segment_path(self._folder, self._number).stat().st_size


def _encode_changes(kind: str, subject: str, facts: Sequence[Mapping[str, object]], at: str) -> bytes:
    """Return the lines of changes of one thing; those of the nodes of a run share a line."""
    head = {"kind": kind, "subject": subject, "at": at}
    if kind == "node" and len(facts) > 1:
        groups = [facts[start : start + _GROUP_SIZE] for start in range(0, len(facts), _GROUP_SIZE)]
        lines = [_encode_line({**head, _GROUP: group}) for group in groups]
        if all(line is not None and len(line) <= _READ_BYTES // 4 for line in lines):
            return b"".join(cast("list[bytes]", lines))
    return b"".join([_encode_change(head, one) for one in facts])


def _encode_change(head: dict[str, str], facts: Mapping[str, object]) -> bytes:
    line = _encode_line({**facts, **head})
    if line is None or len(line) > MAX_LINE_BYTES:
        line = orjson.dumps({**head, "subject": head["subject"][:200]}, option=orjson.OPT_APPEND_NEWLINE)
    return line


def _encode_line(values: Mapping[str, object]) -> bytes | None:
    """Return the values as a line; None for a value that is not JSON."""
    try:
        return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)
    except (orjson.JSONEncodeError, TypeError):
        return None


def _find_or_create_newest_segment(folder: Path) -> int:
    make_private_folder(folder)
    with hold_lock(folder / "lock", timeout_s=5):
        numbers = _list_segments(folder)
        if numbers:
            return numbers[-1]
        number = int(time.time() * 1000)  # never the number of a segment that was deleted
        _create_segment(folder, number)
        return number


def _create_segment(folder: Path, number: int) -> None:
    os.close(open_private(_segment_path(folder, number), os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def _list_segments(folder: Path) -> list[int]:
    """Return the numbers of the segments, the oldest first. Raise FileNotFoundError."""
    names = (name.removesuffix(_SUFFIX) for name in os.listdir(folder) if name.endswith(_SUFFIX))
    return sorted(int(name) for name in names if name.isascii() and name.isdigit())


def _segment_path(folder: Path, number: int) -> Path:
    return folder / f"{number}{_SUFFIX}"
