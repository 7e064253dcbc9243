"""Record the results of a run in its journal, for later runs, and store outputs that are too long in files."""

import codecs
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflow.domain.redaction import Secrets
from pflow.errors import NodeFailed
from pflow.store.earlier_runs import ContainsSecret, ResultLookup, make_empty_earlier_runs
from pflow.store.resume_journal import RunJournal, StepKey, StoredResult
from pflow.store.resume_point import ResumePoint, RunRecording
from uraniborg.kernel.boundary import LOSSLESS, encode_lossless
from uraniborg.kernel.store.files import open_private

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json


class RunRecorder:
    """Records a run from the call of `begin` on; before that call, or if it failed, nothing."""

    def __init__(self, resume_point: ResumePoint, run_id: str) -> None:
        self.resume_point = resume_point
        self._run_id = run_id
        self._recording: RunRecording | None = None
        self.lineage = run_id
        self.earlier = make_empty_earlier_runs()
        self.lookup = ResultLookup(self.earlier)
        self._under_way: set[StepKey] = set()
        """Nodes with effects that have started and not finished."""
        self.problem = ""
        """Why the journal of this run is not complete."""

    def begin(self, nodes: Iterable[str] = (), *, fresh: bool = False, keep_results: bool = False) -> list[str]:
        """Open the journal, read the results that the run can reuse, and return notices about them.

        `nodes` are those of the workflow. The other arguments, and errors apart from OSError, are those of
        `ResumePoint.begin_run`. A run whose journal cannot be opened runs all the same, and is not recorded.
        """
        try:
            recording = self.resume_point.begin_run(self._run_id, fresh=fresh, keep_results=keep_results)
        except OSError as exc:
            return [f"This run cannot be resumed later: {exc.strerror} in the pflow home."]
        self._recording = recording
        self.lineage, self.earlier = recording.lineage, recording.earlier
        self.lookup = ResultLookup(recording.earlier, nodes)
        return recording.earlier.notices

    @property
    def journal(self) -> RunJournal:
        assert self._recording is not None
        return self._recording.journal

    @property
    def is_resuming(self) -> bool:
        return self.earlier.lineage is not None

    @property
    def resumed_from(self) -> str | None:
        """The id of the last run whose results can be reused; of an earlier version, that of the first."""
        return self.earlier.run or self.earlier.lineage

    def list_unfinished_nodes(self) -> set[str]:
        """Return the nodes with effects that have started and not finished."""
        return {node for node, _ in self._under_way}

    def find_parallel_result(self, key: StepKey) -> tuple[StoredResult | None, bool]:
        """See `ResumePoint.find_parallel_result`, for a step of a run that resumes another."""
        assert self._recording is not None
        return self.resume_point.find_parallel_result(self._recording, key)

    def record_start(self, key: StepKey) -> None:
        """Record durably that a node with effects starts. Raise NodeFailed if that fails: it might run twice."""
        if self._recording is None:
            return
        try:
            self.journal.write_start(*key)
            self._under_way.add(key)
        except OSError as exc:
            raise NodeFailed(
                f"'{key[0]}' was not started: its start cannot be recorded ({exc.strerror}).",
                hint="Free disk space in the pflow home, then run the workflow again.",
            ) from exc

    def record_failure(self, key: StepKey) -> None:
        """Record that a node with effects failed."""
        self._under_way.discard(key)
        self._try_write(lambda: self.journal.write_failure(*key))

    def record_waiting(self, key: StepKey) -> None:
        """Record that a node waits for a person: until the person decides, no result expires."""
        self._try_write(lambda: self.journal.write_waiting(*key))

    def record_result(self, result: StoredResult) -> None:
        """Record the result of a node that finished."""
        self._under_way.discard(result.key)
        self._try_write(lambda: self.journal.write_result(result))

    def store_or_clear_results(self, *, keep_results: bool, contains_secret: ContainsSecret = lambda _: False) -> bool:
        """Store or clear the results of the run, and return True if all that had to be stored is on disk."""
        recording, used = self._recording, self.lookup.used
        if recording is None:
            return False
        return self._try_write(
            lambda: self.resume_point.store_or_clear_results(
                recording, keep_results=keep_results, used=used, contains_secret=contains_secret
            )
        )

    def _try_write(self, write: Callable[[], None]) -> bool:
        """Call `write` if the run is recorded. Return False if the recording has failed, now or before."""
        if self._recording is None:
            return False
        try:
            write()
        except OSError as exc:
            self.problem = exc.strerror or type(exc).__name__
        return not self.problem


_MAX_AGE_S: Final = 7 * 24 * 3600
_CHUNK: Final = 1 << 20


def get_spool_folder(home: Path, run_id: str) -> Path:
    """Return the spool folder of a run, which the first file creates."""
    return home / "spool" / run_id


def has_all_spooled_files(outputs: "Mapping[str, Json]", spool_folder: Path) -> bool:
    """Return True if all spooled files that the outputs name still exist."""
    named = [outputs[key] for key in outputs if key.endswith("_file")]
    if not named:
        return True
    spools = f"{spool_folder.parent}{os.sep}"
    return all(os.path.exists(one) for one in named if isinstance(one, str) and one.startswith(spools))


def mask_or_remove_spool_files(spool_folder: Path, secrets: Secrets) -> list[str]:
    """Mask secrets in the files of a spool. Remove a file that cannot be masked, and return a warning for each."""
    warnings: list[str] = []
    if not secrets.values or not spool_folder.is_dir():
        return warnings
    for path in spool_folder.iterdir():
        try:
            mask_file(path, secrets)
        except OSError as exc:
            path.unlink(missing_ok=True)
            warnings.append(f"A file of long output was removed: its secrets could not be masked ({exc.strerror}).")
    return warnings


def mask_file(path: Path, secrets: Secrets) -> None:
    """Mask secrets in a file of any size. Raise OSError."""
    mask_pieces = secrets.redactor.mask_pieces
    # Masking a secret can join the text around it into another one.
    while any(piece != masked for piece, masked in mask_pieces(_iter_file_text(path))):
        target = path.with_name(f"{path.name}.masked")
        try:
            with open(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
                file.writelines(encode_lossless(masked) for _, masked in mask_pieces(_iter_file_text(path)))
            target.replace(path)
        except OSError:
            target.unlink(missing_ok=True)
            raise


def _iter_file_text(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        yield from codecs.iterdecode(iter(lambda: file.read(_CHUNK), b""), "utf-8", LOSSLESS)


def remove_old_spools(home: Path) -> None:
    """Remove the spools of runs that are older than a week."""
    with suppress(OSError):
        for folder in (home / "spool").iterdir():
            if time.time() - folder.stat().st_mtime > _MAX_AGE_S:
                shutil.rmtree(folder, ignore_errors=True)
