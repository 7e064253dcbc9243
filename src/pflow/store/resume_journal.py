"""Write a line for each result of a run to a file, locked for as long as the run lives."""

import contextlib
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import orjson

from pflow.domain.value_conversion import encode_outputs, parse_exact_json
from uraniborg.kernel.store.files import lock_open_file, open_private, sync_folder

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

StepKey = tuple[str, str]
"""A node and a fingerprint."""


class StoredResult(NamedTuple):
    """The result of a node, with the fingerprint of the step. A result without outputs cannot be reused."""

    node: str
    fingerprint: str
    type: str
    action: str
    effect: str
    outputs: bytes | None
    """As JSON; None if they contain a secret and must not be stored."""
    by: str = ""
    """The id of the run in which the node ran."""
    at: float = 0.0
    """When the node ran or its result was last reused, in seconds since 1970."""
    took: tuple[str, ...] = ()
    """Files that the node removed."""

    @property
    def key(self) -> StepKey:
        return self.node, self.fingerprint

    def format_line(self) -> bytes:
        head = orjson.dumps([*self[:5], self.by, self.at])
        took = b',"took":%b' % orjson.dumps(self.took) if self.took else b""
        outputs = self.outputs if self.outputs is not None else b"null"
        return b'{"finished":%b%b,"outputs":%b}\n' % (head, took, outputs)

    def parse_outputs(self) -> "JsonObject":
        """Return the outputs, which must not be None."""
        assert self.outputs is not None
        return parse_exact_json(self.outputs)


class JournalHeader(TypedDict, total=False):
    """The first line of a journal. Journals of other versions can have less."""

    format: int
    run: str
    lineage: str
    at: float
    keeps_results: bool


class JournalEntries(NamedTuple):
    """The content of a journal. `started` are nodes with effects that did not finish."""

    header: JournalHeader
    finished: list[StoredResult]
    started: set[StepKey]
    waiting: frozenset[StepKey]
    """Nodes that wait for a person."""
    is_damaged: bool
    """Whether a line cannot be parsed. A last line that was cut off does not count."""


class RunJournal:
    """A journal that this process writes. It is locked until it is closed or the process ends."""

    def __init__(self, path: Path, header: JournalHeader) -> None:
        self.path = path
        self._size = 0
        self._is_in_folder = False
        """Whether the entry of the file in its folder survives a power cut."""
        self._file = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            lock_open_file(self._file, wait=False)
            self._write_line(orjson.dumps(header) + b"\n")
        except BaseException:
            path.unlink(missing_ok=True)
            self.close()
            raise

    def write_start(self, node: str, fingerprint: str) -> None:
        """Record that a node with effects is about to start. The record is on disk when this returns."""
        self._write_line(orjson.dumps({"started": [node, fingerprint]}) + b"\n")
        os.fsync(self._file)
        if not self._is_in_folder:
            sync_folder(self.path.parent)
            self._is_in_folder = True

    def write_failure(self, node: str, fingerprint: str) -> None:
        """Record that a node that had started failed."""
        self._write_line(orjson.dumps({"failed": [node, fingerprint]}) + b"\n")

    def write_waiting(self, node: str, fingerprint: str) -> None:
        """Record that a node waits for a person."""
        self._write_line(orjson.dumps({"waiting": [node, fingerprint]}) + b"\n")

    def write_result(self, result: StoredResult) -> None:
        """Record a result; durably if the node has effects."""
        self._write_line(result.format_line())
        if result.effect == "effectful":
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def _write_line(self, line: bytes) -> None:
        try:
            written = os.write(self._file, line)
            while written < len(line):  # a disk that is nearly full, or a signal
                written += os.write(self._file, line[written:])
        except OSError:
            with contextlib.suppress(OSError):  # half a line would damage the next one
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)


def read_journal(path: Path) -> JournalEntries:
    """Return all of a journal that can be parsed. Raise OSError."""
    header: Any = {}
    finished: dict[StepKey, StoredResult] = {}
    started: set[StepKey] = set()
    waiting: set[StepKey] = set()
    is_damaged = False
    for text in _read_complete_lines(path):
        try:
            line = parse_exact_json(text)
            if "finished" in line:
                result = parse_result_line(line)
                finished[result.key] = result
                started.discard(result.key)
            elif "started" in line:
                started.add(parse_key(line["started"]))
            elif "failed" in line:
                started.discard(parse_key(line["failed"]))
            elif "waiting" in line:
                waiting.add(parse_key(line["waiting"]))
            else:
                header = dict(line)
        except (ValueError, KeyError, TypeError):
            is_damaged = True
    return JournalEntries(header, list(finished.values()), started, frozenset(waiting), is_damaged)


def read_journal_header(path: Path) -> JournalHeader:
    """Return the first line of a journal; an empty object if it cannot be parsed. Raise OSError."""
    with path.open("rb") as stream:
        try:
            header: Any = dict(parse_exact_json(stream.readline()))
        except (ValueError, TypeError):
            return {}
    return header


def parse_result_line(line: Any) -> StoredResult:
    """Return the result in a line of a journal. Raise ValueError, KeyError or TypeError."""
    *texts, at = line["finished"]
    node, fingerprint, kind, action, effect, by = map(_require_text, texts)
    outputs: Json = line["outputs"]
    if outputs is not None and not isinstance(outputs, dict):
        raise TypeError("outputs must be an object")
    text = None if outputs is None else encode_outputs(outputs)
    took = tuple(map(_require_text, line.get("took", ())))
    return StoredResult(node, fingerprint, kind, action, effect, text, by, float(at), took)


def parse_key(pair: Any) -> StepKey:
    """Return the key that a pair of texts stands for. Raise ValueError or TypeError."""
    node, fingerprint = map(_require_text, pair)
    return node, fingerprint


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _read_complete_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                yield line


@contextlib.contextmanager
def try_lock_journal(path: Path) -> Generator[bool]:
    """Lock the journal for the block, and yield True; yield False if another run holds its lock."""
    file = os.open(path, os.O_RDWR)
    try:
        try:
            lock_open_file(file, wait=False)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


@contextlib.contextmanager
def hold_lock_file(path: Path, *, keep_file: bool = True) -> Generator[None]:
    """Hold the lock file `path` for the block, after its present holder. Remove the file unless `keep_file`."""
    while True:
        file = open_private(path, os.O_RDWR | os.O_CREAT)
        try:
            lock_open_file(file)
            if not _is_same_file(path, file):  # its holder has removed it
                continue
            try:
                yield
            finally:
                if not keep_file:
                    path.unlink(missing_ok=True)
            return
        finally:
            os.close(file)


def _is_same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
