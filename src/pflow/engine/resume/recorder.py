"""Record the results of one run in its journal, and look up the earlier results that it can reuse."""

from collections.abc import Callable

from pflow.engine.resume.earlier_runs import ContainsSecret, ResultLookup
from pflow.engine.resume.journal import StepKey, StoredResult
from pflow.engine.resume.resume_point import OpenRun, ResumePoint
from pflow.errors import NodeFailed


def start_recording(
    resume_point: ResumePoint, run_id: str, *, fresh: bool = False, keep_results: bool = False
) -> "RunRecorder":
    """Return the recorder of a new run. Arguments and errors are those of `ResumePoint.begin_run`."""
    return RunRecorder(resume_point, resume_point.begin_run(run_id, fresh=fresh, keep_results=keep_results))


class RunRecorder:
    """The journal of one run, and the earlier runs that it resumes."""

    def __init__(self, resume_point: ResumePoint, open_run: OpenRun) -> None:
        self.resume_point = resume_point
        self.open_run = open_run
        self.journal = open_run.journal
        self.earlier = open_run.earlier
        self.lineage = open_run.lineage
        self.lookup = ResultLookup(open_run.earlier)
        self.under_way: set[StepKey] = set()
        """Nodes with effects that have started and not finished."""
        self.problem = ""
        """Why the journal of this run is not complete."""

    @property
    def is_resuming(self) -> bool:
        return self.earlier.lineage is not None

    def record_start(self, node: str, fingerprint: str) -> None:
        """Record durably that a node with effects starts. Raise NodeFailed if that fails: it might run twice."""
        try:
            self.journal.write_start(node, fingerprint)
            self.under_way.add((node, fingerprint))
        except OSError as exc:
            raise NodeFailed(
                f"'{node}' was not started: its start cannot be recorded ({exc.strerror}).",
                hint="Free disk space in the pflow home, then run the workflow again.",
            ) from exc

    def record_failure(self, node: str, fingerprint: str) -> None:
        """Record that a node with effects failed."""
        self.under_way.discard((node, fingerprint))
        self._try_write(lambda: self.journal.write_failure(node, fingerprint))

    def record_waiting(self, node: str, fingerprint: str) -> None:
        """Record that a node waits for a person: until the person decides, no result expires."""
        self._try_write(lambda: self.journal.write_waiting(node, fingerprint))

    def record_result(self, result: StoredResult) -> None:
        """Record the result of a node that finished."""
        self.under_way.discard(result.key)
        self._try_write(lambda: self.journal.write_result(result))

    def store_or_clear_results(self, *, keep_results: bool, contains_secret: ContainsSecret = lambda _: False) -> bool:
        """Store or clear the results of the run, and return True if all that had to be stored is on disk."""
        used = self.lookup.used
        return self._try_write(
            lambda: self.resume_point.store_or_clear_results(
                self.open_run, keep_results=keep_results, used=used, contains_secret=contains_secret
            )
        )

    def _try_write(self, write: Callable[[], None]) -> bool:
        """Call `write`, and return False if the recording has failed, now or before."""
        try:
            write()
        except OSError as exc:
            self.problem = exc.strerror or type(exc).__name__
        return not self.problem
