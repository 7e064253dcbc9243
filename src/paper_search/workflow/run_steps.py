"""Run the steps of one search: read results from the journal, report progress, keep the event loop free."""

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar, Unpack

from pydantic import BaseModel

from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.models import SourceReport
from paper_search.workflow.rounds import WorkflowState
from paper_search.workflow.skill_interfaces import ProgressFacts, ProgressReporter
from paper_search.workflow.step_journal import StepJournal
from uraniborg.kernel.logging import get_logger

M = TypeVar("M", bound=BaseModel)
P = ParamSpec("P")
T = TypeVar("T")


class RunSteps:
    """The steps of one search, named by its present round."""

    def __init__(self, state: WorkflowState, journal: StepJournal, progress: ProgressReporter | None) -> None:
        self._state = state
        self._journal = journal
        self._progress = progress

    @property
    def round(self) -> int:
        """The number of the present round, counted from 0."""
        return self._state.current_iteration

    async def reuse_or_run(self, name: str, model: type[M], run: Callable[[], Awaitable[M]]) -> M:
        """Return the stored result of a step of this round; if there is none, run the step and store its result."""
        return await self._journal.get_or_run_and_store(f"round-{self.round}/{name}", model, run)

    async def call_in_thread_if_large(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function of the pool, in a thread if the pool has many papers."""
        return await call_in_thread_if_large(len(self._state.pool.entries), function, *args, **kwargs)

    def report_source(self, report: SourceReport) -> None:
        """Report that a source has finished."""
        self.report_progress("source_finished", iteration=self.round, report=report.model_dump(mode="json"))

    def report_progress(self, phase: str, **facts: Unpack[ProgressFacts]) -> None:
        """Report that a phase starts. Exceptions of the reporter are logged and ignored."""
        if self._progress is None:
            return
        try:
            self._progress(phase, facts)
        except Exception:
            get_logger(__name__).exception("progress reporter failed", phase=phase)
