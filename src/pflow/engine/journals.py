"""The journal of one run: a file to which every result is added as it comes, held for as long as the run lives."""

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from pflow.engine.values import as_json, from_json
from uraniborg.kernel.files import open_private, sync_folder

Key = tuple[str, str]
"""A node and a fingerprint."""


class Result(NamedTuple):
    """What a node gave, and the fingerprint of what it gave it for. One without outputs cannot be used again."""

    node: str
    fingerprint: str
    type: str
    action: str
    effect: str
    outputs: bytes | None
    """As JSON; None if they must not be written, because a secret is in them."""
    by: str = ""
    """The run that it ran in."""
    at: float = 0.0
    """When it ran or was last used, in seconds since 1970."""
    took: tuple[str, ...] = ()
    """Files that it took away."""

    @property
    def key(self) -> Key:
        return self.node, self.fingerprint

    def line(self) -> bytes:
        head = orjson.dumps([*self[:5], self.by, self.at])
        took = b',"took":%b' % orjson.dumps(self.took) if self.took else b""
        outputs = self.outputs if self.outputs is not None else b"null"
        return b'{"finished":%b%b,"outputs":%b}\n' % (head, took, outputs)

    def values(self) -> dict[str, Any]:
        assert self.outputs is not None
        return from_json(self.outputs)


class Entries(NamedTuple):
    """What a journal says. `started` are nodes with effects that did not finish."""

    header: dict[str, Any]
    finished: list[Result]
    started: set[Key]
    waiting: frozenset[Key]
    """Nodes that wait for a person."""
    is_damaged: bool
    """Whether there are lines that say nothing. One that was cut off at the end is none of them."""


class Journal:
    """A journal that this process writes. It is locked until it is closed, or the process ends, however it ends."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self._size = 0
        self._is_in_folder = False
        """Whether the entry of the file in its folder survives a power cut."""
        self._file = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write(orjson.dumps(header) + b"\n")
        except BaseException:
            path.unlink(missing_ok=True)
            self.close()
            raise

    def started(self, node: str, fingerprint: str) -> None:
        """Record, before a node with effects begins, that it does. The record is on disk when this returns."""
        self._write(orjson.dumps({"started": [node, fingerprint]}) + b"\n")
        os.fsync(self._file)
        if not self._is_in_folder:
            sync_folder(self.path.parent)
            self._is_in_folder = True

    def failed(self, node: str, fingerprint: str) -> None:
        """Say that a node that had started ended without its effect, or with an error that says so."""
        self._write(orjson.dumps({"failed": [node, fingerprint]}) + b"\n")

    def waits(self, node: str, fingerprint: str) -> None:
        """Record that a node waits for a person."""
        self._write(orjson.dumps({"waiting": [node, fingerprint]}) + b"\n")

    def finished(self, result: Result) -> None:
        self._write(result.line())
        if result.effect == "effectful":
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._file, line)
            while written < len(line):  # a disk that is nearly full, or a signal
                written += os.write(self._file, line[written:])
        except OSError:
            with contextlib.suppress(OSError):  # half a line would spoil the next one
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)


def read_journal(path: Path) -> Entries:
    """What a journal says, all of it that can be read. Raises OSError."""
    header: dict[str, Any] = {}
    finished: dict[Key, Result] = {}
    started: set[Key] = set()
    waiting: set[Key] = set()
    is_damaged = False
    for text in _whole_lines(path):
        try:
            line = from_json(text)
            if "finished" in line:
                result = result_of(line)
                finished[result.key] = result
                started.discard(result.key)
            elif "started" in line:
                started.add(key_of(line["started"]))
            elif "failed" in line:
                started.discard(key_of(line["failed"]))
            elif "waiting" in line:
                waiting.add(key_of(line["waiting"]))
            else:
                header = dict(line)
        except (ValueError, KeyError, TypeError):
            is_damaged = True
    return Entries(header, list(finished.values()), started, frozenset(waiting), is_damaged)


def read_header(path: Path) -> dict[str, Any]:
    """Return the first line of a journal; an empty object if it cannot be read. Raises OSError."""
    with path.open("rb") as stream:
        try:
            return dict(from_json(stream.readline()))
        except (ValueError, TypeError):
            return {}


def result_of(line: Any) -> Result:
    """The result that a line tells of. Raises ValueError, KeyError or TypeError."""
    *texts, at = line["finished"]
    node, fingerprint, kind, action, effect, by = map(_text, texts)
    outputs = line["outputs"]
    if outputs is not None and not isinstance(outputs, dict):
        raise TypeError("outputs are an object")
    kept = None if outputs is None else as_json(cast("dict[str, Any]", outputs))
    took = tuple(map(_text, line.get("took", ())))
    return Result(node, fingerprint, kind, action, effect, kept, by, float(at), took)


def key_of(pair: Any) -> Key:
    """Raises ValueError or TypeError."""
    node, fingerprint = map(_text, pair)
    return node, fingerprint


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                yield line


@contextlib.contextmanager
def taken(path: Path) -> Generator[bool]:
    """Whether nobody holds the journal; if so it is ours for as long as the block lasts."""
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


@contextlib.contextmanager
def waiting_for(path: Path, *, leaves_file: bool = True) -> Generator[None]:
    """Hold the lock file `path`, after whoever holds it now. It may be removed afterwards."""
    while True:
        file = open_private(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_still_at(path, file):  # whoever held it has removed it
                continue
            try:
                yield
            finally:
                if not leaves_file:
                    path.unlink(missing_ok=True)
            return
        finally:
            os.close(file)


def _is_still_at(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
