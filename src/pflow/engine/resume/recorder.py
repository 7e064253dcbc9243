"""The recorder of one run: the journal it writes, and the earlier results it can reuse."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pflow.engine.resume.earlier_runs import EarlierRuns, IsSecret, ResultLookup
from pflow.engine.resume.journal import Key, Result, RunJournal
from pflow.errors import NodeFailed

if TYPE_CHECKING:
    from pflow.engine.resume.resume_point import ResumePoint


class RunRecorder:
    """The journal of one run, and the earlier runs that it resumes."""

    def __init__(
        self,
        resume_point: "ResumePoint",
        journal: RunJournal,
        earlier: EarlierRuns,
        run_id: str,
        lineage: str,
        stamp: tuple[int, int, int] | None,
    ) -> None:
        self.resume_point = resume_point
        self.journal = journal
        self.earlier = earlier
        self.run_id = run_id
        self.lineage = lineage
        self.stamp = stamp
        """The stamp of the resume point's file when it was read."""
        self.lookup = ResultLookup(earlier)
        self.under_way: set[Key] = set()
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

    def record_result(self, result: Result) -> None:
        """Record the result of a node that finished."""
        self.under_way.discard(result.key)
        self._try_write(lambda: self.journal.write_result(result))

    def end_run(self, *, keep: bool, is_secret: IsSecret = lambda _: False) -> bool:
        """Store or clear the results of the run, and return True if all that had to be stored is on disk."""
        return self._try_write(lambda: self.resume_point.end_run(self, keep=keep, is_secret=is_secret))

    def _try_write(self, write: Callable[[], None]) -> bool:
        """Call `write`, and return False if the recording has failed, now or before."""
        try:
            write()
        except OSError as exc:
            self.problem = exc.strerror or type(exc).__name__
        return not self.problem
