"""Store what failed runs leave for the next run of the same workflow.

Files and replies call it the checkpoint.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from pflow.domain.value_conversion import parse_exact_json
from pflow.errors import ResumePointUnusable
from pflow.store.earlier_runs import (
    ContainsSecret,
    EarlierRuns,
    build_earlier_runs,
    drop_secret_outputs,
    make_empty_earlier_runs,
    merge_earlier_runs,
    refresh_used_results,
    select_latest_results,
)
from pflow.store.resume_journal import (
    JournalEntries,
    JournalHeader,
    RunJournal,
    StepKey,
    StoredResult,
    hold_lock_file,
    parse_key,
    parse_result_line,
    read_journal,
    read_journal_header,
    try_lock_journal,
)
from uraniborg.kernel.store.files import make_private, make_private_folder, sync_folder, write_atomic

FOLDER: Final = "checkpoints"
"""The folder of the pflow home that resume points are in."""
HOURS: Final = 24.0
_FORMAT: Final = 2
_HEAD: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*(\d+)')
"""The first bytes of resume points and journals."""
_HEAD_BYTES: Final = 40

HasSucceeded = Callable[[str], bool]
"""Return True for the id of a run that is logged as a success."""


class RunRecording(NamedTuple):
    """The journal that a run writes, and the earlier runs that the run resumes."""

    run_id: str
    lineage: str
    journal: RunJournal
    earlier: EarlierRuns
    stamp: tuple[int, int, int] | None
    """The stamp of the file of results when it was read."""


class ResumePoint:
    """The resume point of one workflow in `folder`: a file of results, and the journals of the runs under way."""

    def __init__(
        self, folder: Path, name: str, *, hours: float = HOURS, has_succeeded: HasSucceeded = lambda _: False
    ) -> None:
        self._folder = folder
        self._name = name
        self._file = folder / f"{name}.json"
        self._seconds = hours * 3600
        self._has_succeeded = has_succeeded

    def begin_run(self, run_id: str, *, fresh: bool = False, keep_results: bool = False) -> RunRecording:
        """Begin a run that resumes from earlier results or, if `fresh`, discards them.

        With `keep_results`, the next run resumes from the results of this one even if it succeeds.
        Raise OSError if the run cannot be recorded, and ResumePointUnusable if earlier results exist all the same or
        were written by a newer version: without them, effects would happen twice.
        """
        if not fresh:
            self._raise_if_newer_format()
        try:
            return self._merge_and_open_journal(run_id, fresh, keep_results)
        except OSError as exc:
            if fresh or not (self._file.exists() or any(self._iter_files(".journal"))):
                raise
            raise ResumePointUnusable(
                f"An earlier run of '{self._name}' cannot be resumed: {exc.strerror} in the pflow home.",
                hint="Free disk space or grant access there, or run it with --fresh: then every node runs.",
            ) from exc

    def read_earlier_runs(self) -> EarlierRuns:
        """Return the results of earlier runs without beginning a run. Raise OSError or ResumePointUnusable."""
        self._raise_if_newer_format()
        earlier, cleared = self._read_results_or_rename_damaged(), self._find_succeeded_lineages()
        if earlier.lineage in cleared:
            earlier = make_empty_earlier_runs(earlier.notices)
        for path in self._iter_files(".journal"):
            with contextlib.suppress(FileNotFoundError):
                if _is_journal_abandoned(path) and read_journal_header(path).get("lineage") not in cleared:
                    entries = read_journal(path)
                    if not self._has_journal_expired(path, entries):
                        earlier = self._merge_entries(earlier, entries)
        return earlier

    @contextlib.contextmanager
    def move_results_to(self, name: str) -> Generator[None]:
        """Give the results to the workflow `name` while the block saves that workflow, then remove them here.

        The results are copied before the block and removed after it: a kill at any moment leaves them to every name
        that a workflow has. If the block fails, they stay here. Raise OSError or ResumePointUnusable before the block
        runs.
        """
        self._raise_if_newer_format()
        copy = self._folder / f"{name}.json"
        with self._hold_lock() if self._folder.exists() else contextlib.nullcontext():
            is_copied = self._copy_results(copy)
            try:
                yield
            except BaseException:
                if is_copied:
                    copy.unlink(missing_ok=True)
                raise
            if is_copied:
                with contextlib.suppress(OSError):  # without a workflow they are not used, and expire
                    self._file.unlink()

    def store_or_clear_results(
        self, run: RunRecording, *, keep_results: bool, used: set[StepKey], contains_secret: ContainsSecret
    ) -> None:
        """End a run: store its results with those that it resumed from, or clear them all. Raise OSError.

        `used` are the earlier results that the run found for its steps. Outputs for which `contains_secret` returns
        True are not stored.
        """
        path = run.journal.path
        with contextlib.closing(run.journal), self._hold_lock():
            # Other runs that resume from the same run look here for the results of this one.
            if keep_results or any(
                not _is_journal_abandoned(other) for other in self._iter_journals(run.lineage, excluding=path)
            ):
                is_changed = self._read_file_stamp() != run.stamp
                earlier = run.earlier
                if is_changed:
                    earlier = merge_earlier_runs(earlier, self._read_results_or_rename_damaged())
                earlier = self._merge_entries(earlier, read_journal(path))
                earlier = refresh_used_results(drop_secret_outputs(earlier, contains_secret), used, time.time())
                self._write_results(earlier._replace(run=run.run_id))
            else:
                # The run's own journal goes last: as long as it is there, the next run sees that this one succeeded.
                for other in self._iter_journals(run.lineage, excluding=path):
                    other.unlink(missing_ok=True)
                if self._read_results_or_rename_damaged().lineage in (None, run.lineage):
                    self._clear_results(path)
            path.unlink(missing_ok=True)

    def find_parallel_result(self, run: RunRecording, key: StepKey) -> tuple[StoredResult | None, bool]:
        """Return the result that another run, which resumes from the same run, has got for this step since.

        The second value is True if the step was interrupted there.
        """
        was_interrupted = False
        for path in self._iter_journals(run.lineage, excluding=run.journal.path):
            try:
                entries = read_journal(path)
            except FileNotFoundError:
                continue
            found = next((result for result in entries.finished if result.key == key), None)
            if found is not None:
                return found, False
            was_interrupted |= key in entries.started
        if self._read_file_stamp() != run.stamp:
            left = self._read_results_or_rename_damaged()
            return left.results.get(key), was_interrupted or key in left.uncertain
        return None, was_interrupted

    def lock_effect(self, key: StepKey) -> contextlib.AbstractContextManager[None]:
        """Wait until no other run that resumes from the same run performs the same effect."""
        return hold_lock_file(self._folder / f".{self._name}.{key[1]}.effect", keep_file=False)

    def _merge_and_open_journal(self, run_id: str, fresh: bool, keep_results: bool) -> RunRecording:
        make_private_folder(self._folder)
        with self._hold_lock():
            earlier = self._merge_abandoned_journals()
            if fresh:
                self._clear_results()
                earlier = make_empty_earlier_runs()
            lineage = earlier.lineage or run_id
            header: JournalHeader = {"format": _FORMAT, "run": run_id, "lineage": lineage, "at": time.time()}
            if keep_results:
                header["keeps_results"] = True
            journal = RunJournal(self._folder / f"{self._name}.{run_id}.journal", header)
            return RunRecording(run_id, lineage, journal, earlier, self._read_file_stamp())

    def _copy_results(self, path: Path) -> bool:
        """Copy the results to another file; return False if there are none."""
        self._merge_abandoned_journals()
        link = path.with_suffix(".moved")
        try:
            link.unlink(missing_ok=True)
            os.link(self._file, link)
        except FileNotFoundError:
            return False
        os.replace(link, path)
        sync_folder(self._folder)
        return True

    def _raise_if_newer_format(self) -> None:
        """Raise ResumePointUnusable if a newer version wrote the results or the journal of a run."""
        for path in (self._file, *self._iter_files(".journal")):
            with contextlib.suppress(OSError), path.open("rb") as stream:
                found = _HEAD.match(stream.read(_HEAD_BYTES))
                if found and int(found[1]) > _FORMAT:
                    raise ResumePointUnusable(
                        f"An earlier run of '{self._name}' was made by a newer version of this program.",
                        hint="Install the newer version, or run it with --fresh: then every node runs.",
                    )

    def _hold_lock(self) -> contextlib.AbstractContextManager[None]:
        return hold_lock_file(self._folder / f".{self._name}.lock")

    def _read_file_stamp(self) -> tuple[int, int, int] | None:
        """Return values that change whenever the file of results does."""
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _iter_files(self, suffix: str) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for path in list(self._folder.iterdir()):
                # A name may contain glob characters, or be the beginning of another name.
                if path.suffix == suffix and path.stem.rpartition(".")[0].removeprefix(".") == self._name:
                    yield path

    def _iter_journals(self, lineage: str, *, excluding: Path) -> Iterator[Path]:
        """Yield the journals of the other runs that resume from the same run."""
        for path in self._iter_files(".journal"):
            with contextlib.suppress(FileNotFoundError):
                if path != excluding and read_journal_header(path).get("lineage") == lineage:
                    yield path

    def _find_succeeded_lineages(self) -> dict[str, str]:
        """Return the lineages whose last run succeeded and was killed before it had cleared their results.

        Each has the id of that run. A lineage with a run that lives or was interrupted is not among them.
        """
        succeeded: dict[str, str] = {}
        unfinished: set[str] = set()
        for path in self._iter_files(".journal"):
            with contextlib.suppress(FileNotFoundError):
                header = read_journal_header(path)
                lineage, run = str(header.get("lineage")), str(header.get("run"))
                if not header.get("keeps_results") and _is_journal_abandoned(path) and self._has_succeeded(run):
                    succeeded[lineage] = run
                else:
                    unfinished.add(lineage)
        return {lineage: run for lineage, run in succeeded.items() if lineage not in unfinished}

    def _clear_results_of_succeeded_runs(self) -> list[str]:
        """Remove the results of runs that succeeded and were killed before they could, and return a notice for each."""
        cleared = self._find_succeeded_lineages()
        if cleared and self._read_results_or_rename_damaged().lineage in cleared:
            self._clear_results()
        for path in self._iter_files(".journal") if cleared else ():
            # After the results: without the journal, the next run would resume from these.
            with contextlib.suppress(FileNotFoundError):
                if read_journal_header(path).get("lineage") in cleared:
                    path.unlink()
        return [
            f"An earlier run of '{self._name}', {run}, succeeded, and its process ended before it was done: "
            f"this run starts over. `pflow show {run}` shows what the earlier one did."
            for run in cleared.values()
        ]

    def _merge_abandoned_journals(self) -> EarlierRuns:
        """Add the journals of runs that died to the file of results, and return all results."""
        notices = self._clear_results_of_succeeded_runs()
        earlier = self._read_results_or_rename_damaged()
        earlier.notices.extend(notices)
        for path in self._iter_files(".journal"):
            with contextlib.suppress(FileNotFoundError), try_lock_journal(path) as is_dead:
                if is_dead:
                    entries = read_journal(path)
                    if self._has_journal_expired(path, entries):
                        earlier.notices.append(f"The results of a run of '{self._name}' have expired.")
                    else:
                        earlier = self._merge_entries(earlier, entries)
                        self._write_results(earlier)
                    path.unlink()
                elif read_journal_header(path).get("lineage") != earlier.lineage:
                    run_id = path.stem.rpartition(".")[2]
                    earlier.notices.append(
                        f"Another run of '{self._name}' is under way, {run_id}: its results are not reused."
                    )
        return earlier

    def _merge_entries(self, earlier: EarlierRuns, entries: JournalEntries) -> EarlierRuns:
        results = dict(earlier.results)
        for result in entries.finished:
            # An idempotent node replaces what it did before: to return to the former state, it has to run again.
            gone = earlier.fingerprints.get(result.node, ()) if result.effect == "idempotent" else ()
            for fingerprint in (*gone, result.fingerprint):
                results.pop((result.node, fingerprint), None)
            results[result.key] = result
        uncertain = (earlier.uncertain | entries.started) - {result.key for result in entries.finished}
        lineage = earlier.lineage or entries.header.get("lineage")
        if entries.is_damaged:
            earlier.notices.append(
                f"The journal of a run of '{self._name}' is damaged: nodes that it recorded may run again."
            )
        run = entries.header.get("run") or earlier.run
        waiting = (earlier.waiting | entries.waiting) - results.keys()
        return build_earlier_runs(results, uncertain, lineage, earlier.notices)._replace(waiting=waiting, run=run)

    def _write_results(self, earlier: EarlierRuns) -> None:
        head = {"format": _FORMAT, "workflow": self._name, "lineage": earlier.lineage, "run": earlier.run}
        head |= {"at": time.time(), "waiting": sorted(earlier.waiting)}
        lines = b",\n".join(result.format_line()[:-1] for result in select_latest_results(earlier.results))
        start = orjson.dumps(head)[:-1] + b',"uncertain":%b' % orjson.dumps(sorted(earlier.uncertain))
        write_atomic(self._file, start + b',"results":[\n%b\n]}\n' % lines)

    def _clear_results(self, own_journal: Path | None = None) -> None:
        """Remove the results, and the locks of effects unless there is a journal other than `own_journal`."""
        with contextlib.suppress(FileNotFoundError):
            self._file.unlink()
            sync_folder(self._folder)
        if all(path == own_journal for path in self._iter_files(".journal")):
            for path in self._iter_files(".effect"):
                path.unlink(missing_ok=True)

    def _read_results_or_rename_damaged(self) -> EarlierRuns:
        """Return the stored results; none, with a notice, if the file is damaged, which is then renamed."""
        try:
            return self._load_results_file()
        except FileNotFoundError:
            return make_empty_earlier_runs()
        except (ValueError, KeyError, TypeError):
            damaged = self._file.with_suffix(".damaged")
            with contextlib.suppress(OSError):
                os.replace(self._file, damaged)
            return self._make_empty_with_notice(f"could not be read and was renamed to {damaged.name}")

    def _load_results_file(self) -> EarlierRuns:
        make_private(self._file)
        text = self._file.read_bytes()
        if not text:  # the disk was full, or the process was ended, before anything was written
            return make_empty_earlier_runs()
        plain = parse_exact_json(text)
        if plain["format"] != _FORMAT:
            return self._make_empty_with_notice("is of another version")
        waiting = frozenset(map(parse_key, plain["waiting"]))
        if self._has_expired(plain["at"]) and not waiting:
            return self._make_empty_with_notice("has expired")
        every = list(map(parse_result_line, plain["results"]))
        results = {one.key: one for one in every if waiting or not self._has_expired(one.at)}
        lineage, run = plain["lineage"], plain["run"]
        if not all(one is None or isinstance(one, str) for one in (lineage, run)):
            raise TypeError("ids of runs must be texts")
        notices = [f"Some results of earlier runs of '{self._name}' have expired."] if len(results) < len(every) else []
        earlier = build_earlier_runs(results, set(map(parse_key, plain["uncertain"])), lineage, notices)
        return earlier._replace(waiting=waiting, run=run)

    def _has_expired(self, timestamp: float) -> bool:
        # A clock that was set back makes the age negative, but does not make a result expire.
        return time.time() - timestamp > self._seconds

    def _has_journal_expired(self, journal: Path, entries: JournalEntries) -> bool:
        return not entries.waiting and self._has_expired(journal.stat().st_mtime)

    def _make_empty_with_notice(self, problem: str) -> EarlierRuns:
        return make_empty_earlier_runs([f"The checkpoint of '{self._name}' {problem}: every node runs."])


def _is_journal_abandoned(path: Path) -> bool:
    """Return True if no process runs the run of this journal."""
    with try_lock_journal(path) as is_dead:
        return is_dead
