"""What failed runs leave behind, and what the next run of the same workflow may take over from it."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Final

import orjson

from pflow.engine.journals import (
    Entries,
    Journal,
    Key,
    Result,
    key_of,
    read_header,
    read_journal,
    result_of,
    taken,
    waiting_for,
)
from pflow.engine.past import IsSecret, Past, joined, latest_of, past_of, used_now, without_secrets
from pflow.engine.recorder import Recorder
from pflow.engine.values import from_json
from pflow.errors import CheckpointUnusable
from uraniborg.kernel.files import make_private, make_private_folder, sync_folder, write_atomic

HOURS: Final = 24.0
_FORMAT: Final = 2
_HEAD: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*(\d+)')
"""How checkpoints and journals begin."""
_HEAD_BYTES: Final = 40

HasSucceeded = Callable[[str], bool]
"""Return True for the id of a run that is logged as a success."""


class Checkpoints:
    """The checkpoint of one workflow, in `folder`: a file of results, and the journals of the runs that live."""

    def __init__(
        self, folder: Path, name: str, *, hours: float = HOURS, has_succeeded: HasSucceeded = lambda _: False
    ) -> None:
        self._folder = folder
        self._name = name
        self._file = folder / f"{name}.json"
        self._seconds = hours * 3600
        self._has_succeeded = has_succeeded

    def begin(self, run_id: str, *, fresh: bool = False, keep_results: bool = False) -> Recorder:
        """Begin a run that resumes from earlier results, or, if `fresh`, from nothing.

        With `keep_results`, the results of the run are resumed from even if the run succeeds.
        Raises OSError if nothing can be written down, and CheckpointUnusable if something is left all the same, or was
        left by a newer version: to run without it would be to have effects twice.
        """
        if not fresh:
            self._refuse_newer()
        try:
            return self._begun(run_id, fresh, keep_results)
        except OSError as exc:
            if fresh or not (self._file.exists() or any(self._files(".journal"))):
                raise
            raise CheckpointUnusable(
                f"An earlier run of '{self._name}' cannot be resumed: {exc.strerror} in the pflow home.",
                hint="Make room there, or give access to it. Or run it afresh: then every node runs.",
            ) from exc

    def peek(self) -> Past:
        """What is left, without beginning anything. Raises OSError or CheckpointUnusable."""
        self._refuse_newer()
        past, cleared = self._read(), self._succeeded_lineages()
        if past.lineage in cleared:
            past = past_of({}, set(), None, past.notices)
        for path in self._files(".journal"):
            with contextlib.suppress(FileNotFoundError):
                if _is_dead(path) and read_header(path).get("lineage") not in cleared:
                    entries = read_journal(path)
                    if not self._is_too_old(path, entries):
                        past = self._with(past, entries)
        return past

    @contextlib.contextmanager
    def moved_to(self, name: str) -> Generator[None]:
        """Give the results to the workflow `name` while the block saves that workflow, then remove them here.

        The results are copied before the block and removed after it: a kill at any moment leaves them to every name
        that there is a workflow of. If the block fails, they stay here. Raises OSError or CheckpointUnusable before the
        block runs.
        """
        self._refuse_newer()
        copy = self._folder / f"{name}.json"
        with self._alone() if self._folder.exists() else contextlib.nullcontext():
            is_copied = self._copy_to(copy)
            try:
                yield
            except BaseException:
                if is_copied:
                    copy.unlink(missing_ok=True)
                raise
            if is_copied:
                with contextlib.suppress(OSError):  # without a workflow they are not used, and grow old
                    self._file.unlink()

    def _copy_to(self, path: Path) -> bool:
        """Copy the results to another file; return False if there are none."""
        self._gathered()
        link = path.with_suffix(".moved")
        try:
            link.unlink(missing_ok=True)
            os.link(self._file, link)
        except FileNotFoundError:
            return False
        os.replace(link, path)
        sync_folder(self._folder)
        return True

    def settle(self, recorder: Recorder, *, keep: bool, is_secret: IsSecret) -> None:
        """End a run: keep its results, and those it went on from, or forget them all. Raises OSError.

        Results with outputs that `is_secret`, as is known by now, are kept without these.
        """
        path = recorder.journal.path
        with contextlib.closing(recorder.journal), self._alone():
            # Who goes on from the same run will look here for what was done by this one.
            if keep or any(not _is_dead(other) for other in self._journals(recorder.lineage, but=path)):
                is_changed = self._stamp() != recorder.stamp
                left = joined(recorder.past, self._read()) if is_changed else recorder.past
                past = self._with(left, read_journal(path))
                past = used_now(without_secrets(past, is_secret), recorder.used, time.time())
                self._write(past._replace(run=recorder.run_id))
            else:
                # The run's own journal goes last: as long as it is there, the next run sees that this one succeeded.
                for other in self._journals(recorder.lineage, but=path):
                    other.unlink(missing_ok=True)
                if self._read().lineage in (None, recorder.lineage):
                    self._forget(path)
            path.unlink(missing_ok=True)

    def elsewhere(self, recorder: Recorder, key: Key) -> tuple[Result | None, bool]:
        """The result that another run, which goes on from the same one, has for the same node since; or whether it was
        interrupted there."""
        was_interrupted = False
        for path in self._journals(recorder.lineage, but=recorder.journal.path):
            try:
                entries = read_journal(path)
            except FileNotFoundError:
                continue
            found = next((result for result in entries.finished if result.key == key), None)
            if found is not None:
                return found, False
            was_interrupted |= key in entries.started
        if self._stamp() != recorder.stamp:
            left = self._read()
            return left.results.get(key), was_interrupted or key in left.uncertain
        return None, was_interrupted

    def one_at_a_time(self, key: Key) -> contextlib.AbstractContextManager[None]:
        """Wait until nobody else who goes on from the same run is at the same effect."""
        return waiting_for(self._folder / f".{self._name}.{key[1]}.effect", leaves_file=False)

    def _begun(self, run_id: str, fresh: bool, keep_results: bool) -> Recorder:
        make_private_folder(self._folder)
        with self._alone():
            past = self._gathered()
            if fresh:
                self._forget()
                past = past_of({}, set(), None)
            lineage = past.lineage or run_id
            header = {"format": _FORMAT, "run": run_id, "lineage": lineage, "at": time.time()}
            if keep_results:
                header["keeps_results"] = True
            journal = Journal(self._folder / f"{self._name}.{run_id}.journal", header)
            return Recorder(self, journal, past, run_id, lineage, self._stamp())

    def _refuse_newer(self) -> None:
        """Raise CheckpointUnusable if a newer version wrote the checkpoint or the journal of a run."""
        for path in (self._file, *self._files(".journal")):
            with contextlib.suppress(OSError), path.open("rb") as stream:
                found = _HEAD.match(stream.read(_HEAD_BYTES))
                if found and int(found[1]) > _FORMAT:
                    raise CheckpointUnusable(
                        f"An earlier run of '{self._name}' was made by a newer version of this program.",
                        hint="Install the newer version, or run it with --fresh: then every node runs.",
                    )

    def _alone(self) -> contextlib.AbstractContextManager[None]:
        return waiting_for(self._folder / f".{self._name}.lock")

    def _stamp(self) -> tuple[int, int, int] | None:
        """What changes whenever the file does."""
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _files(self, suffix: str) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for path in list(self._folder.iterdir()):
                # A name may hold what means something to a pattern, or be the beginning of another name.
                if path.suffix == suffix and path.stem.rpartition(".")[0].removeprefix(".") == self._name:
                    yield path

    def _journals(self, lineage: str, *, but: Path) -> Iterator[Path]:
        """Yield the journals of the other runs that resume from the same run."""
        for path in self._files(".journal"):
            with contextlib.suppress(FileNotFoundError):
                if path != but and read_header(path).get("lineage") == lineage:
                    yield path

    def _succeeded_lineages(self) -> dict[str, str]:
        """Return the lineages whose last run succeeded and was killed before it had cleared their results, each with
        the id of that run. A lineage in which another run lives, or was interrupted, is not among them."""
        succeeded: dict[str, str] = {}
        unfinished: set[str] = set()
        for path in self._files(".journal"):
            with contextlib.suppress(FileNotFoundError):
                header = read_header(path)
                lineage, run = str(header.get("lineage")), str(header.get("run"))
                if not header.get("keeps_results") and _is_dead(path) and self._has_succeeded(run):
                    succeeded[lineage] = run
                else:
                    unfinished.add(lineage)
        return {lineage: run for lineage, run in succeeded.items() if lineage not in unfinished}

    def _clear_succeeded(self) -> list[str]:
        """Remove the results of runs that succeeded and were killed before they could, and return a notice for each."""
        cleared = self._succeeded_lineages()
        if cleared and self._read().lineage in cleared:
            self._forget()
        for path in self._files(".journal") if cleared else ():
            # After the results: without the journal, the next run would resume from these.
            with contextlib.suppress(FileNotFoundError):
                if read_header(path).get("lineage") in cleared:
                    path.unlink()
        return [
            f"An earlier run of '{self._name}', {run}, succeeded, and its process ended before it was done: "
            f"this run starts over. `pflow show {run}` shows what the earlier one did."
            for run in cleared.values()
        ]

    def _gathered(self) -> Past:
        """Return what is left by earlier runs, after adding what runs that died left in their journals."""
        notices = self._clear_succeeded()
        past = self._read()
        past.notices.extend(notices)
        for path in self._files(".journal"):
            with contextlib.suppress(FileNotFoundError), taken(path) as is_dead:
                if is_dead:
                    entries = read_journal(path)
                    if self._is_too_old(path, entries):
                        past.notices.append(f"What a run of '{self._name}' left is too old to be used.")
                    else:
                        past = self._with(past, entries)
                        self._write(past)
                    path.unlink()
                elif read_header(path).get("lineage") != past.lineage:
                    run_id = path.stem.rpartition(".")[2]
                    past.notices.append(
                        f"Another run of '{self._name}' is under way, {run_id}: its results are not reused."
                    )
        return past

    def _with(self, past: Past, entries: Entries) -> Past:
        """The same with what a journal says."""
        results = dict(past.results)
        for result in entries.finished:
            # What was there before has been done away with: going back to it means to do it again.
            gone = past.fingerprints.get(result.node, ()) if result.effect == "idempotent" else ()
            for fingerprint in (*gone, result.fingerprint):
                results.pop((result.node, fingerprint), None)
            results[result.key] = result
        uncertain = (past.uncertain | entries.started) - {result.key for result in entries.finished}
        lineage = past.lineage or entries.header.get("lineage")
        if entries.is_damaged:
            past.notices.append(
                f"The journal of a run of '{self._name}' is damaged: nodes that it recorded may run again."
            )
        run = entries.header.get("run") or past.run
        waiting = (past.waiting | entries.waiting) - results.keys()
        return past_of(results, uncertain, lineage, past.notices)._replace(waiting=waiting, run=run)

    def _write(self, past: Past) -> None:
        head = {"format": _FORMAT, "workflow": self._name, "lineage": past.lineage, "run": past.run}
        head |= {"at": time.time(), "waiting": sorted(past.waiting)}
        lines = b",\n".join(result.line()[:-1] for result in latest_of(past.results))
        start = orjson.dumps(head)[:-1] + b',"uncertain":%b' % orjson.dumps(sorted(past.uncertain))
        write_atomic(self._file, start + b',"results":[\n%b\n]}\n' % lines)

    def _forget(self, own: Path | None = None) -> None:
        """Remove the results, and the locks of effects unless a run other than that of the journal `own` has one."""
        with contextlib.suppress(FileNotFoundError):
            self._file.unlink()
            sync_folder(self._folder)
        if all(path == own for path in self._files(".journal")):
            for path in self._files(".effect"):
                path.unlink(missing_ok=True)

    def _read(self) -> Past:
        try:
            return self._read_file()
        except FileNotFoundError:
            return past_of({}, set(), None)
        except (ValueError, KeyError, TypeError):
            aside = self._file.with_suffix(".damaged")
            with contextlib.suppress(OSError):
                os.replace(self._file, aside)
            return self._unused("could not be read and was put aside")

    def _read_file(self) -> Past:
        make_private(self._file)
        text = self._file.read_bytes()
        if not text:  # a disk that was full, or a process that was ended, before anything was in it
            return past_of({}, set(), None)
        plain = from_json(text)
        if plain["format"] != _FORMAT:
            return self._unused("is of another version")
        waiting = frozenset(map(key_of, plain["waiting"]))
        if self._is_old(plain["at"]) and not waiting:
            return self._unused("is too old to be used")
        every = list(map(result_of, plain["results"]))
        results = {one.key: one for one in every if waiting or not self._is_old(one.at)}
        lineage, run = plain["lineage"], plain["run"]
        if not all(one is None or isinstance(one, str) for one in (lineage, run)):
            raise TypeError("runs are texts")
        told = [f"Some of what runs of '{self._name}' left is too old to be used."] if len(results) < len(every) else []
        past = past_of(results, set(map(key_of, plain["uncertain"])), lineage, told)
        return past._replace(waiting=waiting, run=run)

    def _is_old(self, at: float) -> bool:
        # A clock that went back makes it younger than nothing, and no reason to drop it.
        return time.time() - at > self._seconds

    def _is_too_old(self, journal: Path, entries: Entries) -> bool:
        return not entries.waiting and self._is_old(journal.stat().st_mtime)

    def _unused(self, why: str) -> Past:
        return past_of({}, set(), None, [f"The checkpoint of '{self._name}' {why}: every node runs."])


def _is_dead(path: Path) -> bool:
    with taken(path) as is_dead:
        return is_dead
