"""The journal of one run: a file to which every result is added as it comes, held for as long as the run lives."""

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pflow.engine.values import from_json


class Result(NamedTuple):
    """What a node gave, and the fingerprint of what it gave it for. One without outputs cannot be used again."""

    node: str
    fingerprint: str
    type: str
    action: str
    effect: str
    outputs: bytes | None
    """As JSON; None if they must not be written, because a secret is in them."""

    def line(self) -> bytes:
        head = orjson.dumps(self[:5])
        return b'{"finished":%b,"outputs":%b}\n' % (head, self.outputs if self.outputs is not None else b"null")

    def values(self) -> dict[str, Any]:
        assert self.outputs is not None
        return from_json(self.outputs)


class Entries(NamedTuple):
    """What a journal says. `started` are nodes with effects that did not finish, with their fingerprints."""

    header: dict[str, Any]
    finished: list[Result]
    started: set[tuple[str, str]]


class Journal:
    """A journal that this process writes. It is locked until it is closed, or the process ends, however it ends."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._write(orjson.dumps(header) + b"\n")

    def started(self, node: str, fingerprint: str) -> None:
        """Say, before it begins, that a node with effects will; it is on disk when this returns."""
        self._write(orjson.dumps({"started": [node, fingerprint]}) + b"\n")
        os.fsync(self._file)

    def failed(self, node: str, fingerprint: str) -> None:
        """Say that a node that had started ended without its effect, or with an error that says so."""
        self._write(orjson.dumps({"failed": [node, fingerprint]}) + b"\n")

    def finished(self, result: Result) -> None:
        self._write(result.line())
        if result.effect == "effectful":
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        written = os.write(self._file, line)
        while written < len(line):  # a disk that is nearly full, or a signal
            written += os.write(self._file, line[written:])


def read_journal(path: Path) -> Entries:
    """What a journal says, up to where it is damaged or was cut off. Raises OSError."""
    header: dict[str, Any] = {}
    finished: dict[tuple[str, str], Result] = {}
    started: dict[tuple[str, str], None] = {}
    for line in _lines(path):
        if "finished" in line:
            node, fingerprint, kind, action, effect = line["finished"]
            outputs = None if line["outputs"] is None else orjson.dumps(line["outputs"])
            finished[node, fingerprint] = Result(node, fingerprint, kind, action, effect, outputs)
            started.pop((node, fingerprint), None)
        elif "started" in line:
            started[tuple(line["started"])] = None
        elif "failed" in line:
            started.pop(tuple(line["failed"]), None)
        else:
            header = line
    return Entries(header, list(finished.values()), set(started))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as stream:
        for line in stream:
            if not line.endswith(b"\n"):
                return
            try:
                yield from_json(line)
            except ValueError:
                return


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
def waiting_for(path: Path) -> Generator[None]:
    """Hold the lock file `path`, after whoever holds it now."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
