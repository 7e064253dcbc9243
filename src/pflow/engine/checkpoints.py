"""What failed runs leave behind, and what the next run of the same workflow may take over from it."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from pflow.engine.journals import Entries, Journal, Result, read_journal, taken, waiting_for
from pflow.engine.values import from_json
from pflow.errors import NodeFailed
from uraniborg.kernel.files import sync_folder, write_atomic

HOURS: Final = 24.0
_FORMAT: Final = 1
_KEPT: Final = 20
"""Results of one node with other fingerprints that are kept."""

Key = tuple[str, str]
"""A node and a fingerprint."""


class Past(NamedTuple):
    """What runs before this one left. `lineage` is the first of them."""

    results: dict[Key, Result]
    fingerprints: dict[str, set[str]]
    uncertain: set[Key]
    lineage: str | None
    notices: list[str]

    @property
    def is_empty(self) -> bool:
        return not self.results and not self.uncertain


class Checkpoints:
    """The checkpoint of one workflow, in `folder`: a file of results, and the journals of the runs that live."""

    def __init__(self, folder: Path, name: str, *, hours: float = HOURS) -> None:
        self._folder = folder
        self._name = name
        self._file = folder / f"{name}.json"
        self._seconds = hours * 3600

    def begin(self, run_id: str, *, fresh: bool = False) -> "Recorder":
        """Begin a run that goes on from what is left, or, if `fresh`, from nothing. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._alone():
            if fresh:
                self._forget()
            self._gather()
            past = self._read()
            lineage = past.lineage or run_id
            header = {"run": run_id, "lineage": lineage, "at": time.time()}
            journal = Journal(self._folder / f"{self._name}.{run_id}.journal", header)
        return Recorder(self, journal, past, run_id, lineage)

    def peek(self) -> Past:
        """What is left, without beginning anything."""
        return self._read()

    def settle(self, recorder: "Recorder", *, keep: bool) -> None:
        """End a run: keep its results, and those it went on from, or forget them all. Raises OSError."""
        with self._alone():
            recorder.journal.close()
            if keep:
                self._fold(read_journal(recorder.journal.path))
            else:
                self._forget()
            with contextlib.suppress(FileNotFoundError):
                recorder.journal.path.unlink()

    def finished_elsewhere(self, key: Key, lineage: str) -> Result | None:
        """The result that another run, which goes on from the same one, has for the same node since."""
        for path in self._journals():
            with contextlib.suppress(OSError):
                entries = read_journal(path)
                if entries.header.get("lineage") == lineage:
                    for result in entries.finished:
                        if (result.node, result.fingerprint) == key:
                            return result
        return self._read().results.get(key)

    def one_at_a_time(self, key: Key) -> contextlib.AbstractContextManager[None]:
        """Wait until nobody else who goes on from the same run is at the same effect."""
        return waiting_for(self._folder / f".{self._name}.{key[1]}.effect")

    def _alone(self) -> contextlib.AbstractContextManager[None]:
        return waiting_for(self._folder / f".{self._name}.lock")

    def _journals(self) -> Iterator[Path]:
        # A name may hold what means something to a pattern, or be the beginning of another name.
        for path in self._folder.iterdir():
            if path.suffix == ".journal" and path.stem.rpartition(".")[0] == self._name:
                yield path

    def _gather(self) -> None:
        """Take over the journals of runs that died."""
        for path in list(self._journals()):
            with contextlib.suppress(FileNotFoundError), taken(path) as is_dead:
                if is_dead:
                    self._fold(read_journal(path))
                    path.unlink()

    def _fold(self, entries: Entries) -> None:
        past = self._read()
        results = dict(past.results)
        for result in entries.finished:
            results.pop((result.node, result.fingerprint), None)
            results[result.node, result.fingerprint] = result
        uncertain = (past.uncertain | entries.started) - {(one.node, one.fingerprint) for one in entries.finished}
        lineage = past.lineage or entries.header.get("lineage")
        if not results and not uncertain and lineage is None:
            return
        head = {"format": _FORMAT, "workflow": self._name, "lineage": lineage, "at": time.time()}
        lines = b",\n".join(result.line()[:-1] for result in _latest(results))
        told = orjson.dumps(head)[:-1] + b',"uncertain":%b' % orjson.dumps(sorted(uncertain))
        _write_private(self._file, told + b',"results":[\n%b\n]}\n' % lines)

    def _forget(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._file.unlink()
            sync_folder(self._folder)
        for path in self._folder.glob(".*.effect"):
            if path.name.startswith(f".{self._name}."):
                path.unlink(missing_ok=True)

    def _read(self) -> Past:
        try:
            return self._read_file()
        except FileNotFoundError:
            return _nothing()
        except (ValueError, KeyError, TypeError):
            aside = self._file.with_suffix(".damaged")
            with contextlib.suppress(OSError):
                os.replace(self._file, aside)
            notice = f"The checkpoint of '{self._name}' could not be read and was put aside: every node runs."
            return _nothing(notice)

    def _read_file(self) -> Past:
        plain = from_json(self._file.read_bytes())
        if plain["format"] != _FORMAT:
            return _nothing(f"The checkpoint of '{self._name}' is of another version: every node runs.")
        # A clock that went back makes it younger than nothing, and no reason to drop it.
        if time.time() - plain["at"] > self._seconds:
            return _nothing(f"The checkpoint of '{self._name}' is too old to be used: every node runs.")
        results: dict[Key, Result] = {}
        fingerprints: dict[str, set[str]] = {}
        for line in plain["results"]:
            node, fingerprint, kind, action, effect = line["finished"]
            outputs = None if line["outputs"] is None else orjson.dumps(line["outputs"])
            results[node, fingerprint] = Result(node, fingerprint, kind, action, effect, outputs)
            fingerprints.setdefault(node, set()).add(fingerprint)
        uncertain: set[Key] = {(node, fingerprint) for node, fingerprint in plain["uncertain"]}
        return Past(results, fingerprints, uncertain, plain["lineage"], [])


class Recorder:
    """What one run writes down, and what it goes on from."""

    def __init__(self, checkpoints: Checkpoints, journal: Journal, past: Past, run_id: str, lineage: str) -> None:
        self.checkpoints = checkpoints
        self.journal = journal
        self.past = past
        self.run_id = run_id
        self.lineage = lineage

        self.problem = ""
        """Why what this run does cannot be written down any more."""

    @property
    def is_resuming(self) -> bool:
        return self.past.lineage is not None

    def started(self, node: str, fingerprint: str) -> None:
        """Raises NodeFailed: what cannot be written down must not be done, or it might be done twice."""
        try:
            self.journal.started(node, fingerprint)
        except OSError as exc:
            raise NodeFailed(
                f"'{node}' was not begun: that it begins cannot be written down ({exc.strerror}).",
                hint="Make room on the disk of the pflow home, and run it again.",
            ) from exc

    def failed(self, node: str, fingerprint: str) -> None:
        self._written(lambda: self.journal.failed(node, fingerprint))

    def finished(self, result: Result) -> None:
        self._written(lambda: self.journal.finished(result))

    def end(self, *, keep: bool) -> bool:
        """End the run, and say whether what is to be kept is on disk."""
        return self._written(lambda: self.checkpoints.settle(self, keep=keep))

    def _written(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except OSError as exc:
            self.problem = exc.strerror or type(exc).__name__
        return not self.problem


def _latest(results: dict[Key, Result]) -> list[Result]:
    """The newest results of each node; all of those that had effects, which must not be had again."""
    counts: dict[str, int] = {}
    kept: list[Result] = []
    for result in reversed(list(results.values())):
        counts[result.node] = counts.get(result.node, 0) + 1
        if counts[result.node] <= _KEPT or result.effect == "effectful":
            kept.append(result)
    return kept[::-1]


def _nothing(notice: str = "") -> Past:
    return Past({}, {}, set(), None, [notice] if notice else [])


def _write_private(path: Path, data: bytes) -> None:
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    write_atomic(path, data)
