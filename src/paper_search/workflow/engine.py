"""Run a search: six skills, options, and one method."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from paper_search.models import MAX_RESULTS_CAP, PaperCollection
from paper_search.workflow.checkpoints import CheckpointHandler
from paper_search.workflow.input_checks import check_query
from paper_search.workflow.rounds import SearchRunOptions
from paper_search.workflow.search_run import SearchRun
from paper_search.workflow.skill_interfaces import (
    DeduplicatorPort,
    IntentParserPort,
    ProgressReporter,
    QueryBuilderPort,
    RelevanceScorerPort,
    ResultOrganizerPort,
    SearcherPort,
    Skills,
)
from paper_search.workflow.step_journal import NoJournal, StepJournal
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    from paper_search.config import AppConfig


class SearchWorkflow:
    """Runs searches. A workflow has no state, so it can run many searches, also concurrently."""

    def __init__(
        self,
        intent_parser: IntentParserPort,
        query_builder: QueryBuilderPort,
        searcher: SearcherPort,
        deduplicator: DeduplicatorPort,
        relevance_scorer: RelevanceScorerPort,
        result_organizer: ResultOrganizerPort,
        checkpoint_handler: CheckpointHandler | None = None,
        max_iterations: int = 5,
        enable_strategy_checkpoint: bool = True,
        progress_reporter: ProgressReporter | None = None,
        *,
        max_results: int = 100,
        min_relevance: float | None = None,
        domain: str = "general",
        journal: StepJournal | None = None,
        clock: Clock | None = None,
        notes: Sequence[str] = (),
        release: Callable[[bool], Awaitable[None]] | None = None,
    ) -> None:
        self._skills = Skills(intent_parser, query_builder, searcher, deduplicator, relevance_scorer, result_organizer)
        self._options = SearchRunOptions(
            max_rounds=max_iterations,
            max_results=min(max_results, MAX_RESULTS_CAP),
            min_relevance=(self._skills.min_relevance if min_relevance is None else min_relevance) or None,
            domain=domain,
            ask_about_strategy=enable_strategy_checkpoint,
            notes=tuple(notes),
            software=f"uraniborg {version()}",
        )
        self._handler = checkpoint_handler
        self._progress = progress_reporter
        self._journal = journal or NoJournal()
        self._clock = clock or SystemClock()
        self._release = release

    @classmethod
    def from_config(
        cls,
        config: "AppConfig",
        checkpoint_handler: CheckpointHandler | None = None,
        max_iterations: int | None = None,
        enable_strategy_checkpoint: bool = True,
        progress_reporter: ProgressReporter | None = None,
        *,
        journal: StepJournal | None = None,
        **options: Any,
    ) -> "SearchWorkflow":
        """Return a workflow with the skills and sources of `config`.

        `options` are those of `build_components_and_start_recording`.

        Raise UnknownDomain, UnknownSource or InvalidInput if the config names something that does not exist.
        """
        from paper_search.service.workflow_assembly import (
            build_components_and_start_recording,  # the engine itself imports no source and no model
        )

        components = build_components_and_start_recording(config, **options)
        skills = components.skills
        return cls(
            skills.intent_parser,
            skills.query_builder,
            skills.searcher,
            skills.deduplicator,
            skills.relevance_scorer,
            skills.result_organizer,
            checkpoint_handler=checkpoint_handler,
            max_iterations=max_iterations or components.max_rounds,
            enable_strategy_checkpoint=enable_strategy_checkpoint,
            progress_reporter=progress_reporter,
            max_results=components.max_results,
            min_relevance=components.min_relevance,
            domain=components.domain,
            journal=journal,
            clock=components.clock,
            notes=components.notes,
            release=components.release,
        )

    @property
    def available_sources(self) -> list[str]:
        """The names of the sources that a strategy can use."""
        return self._skills.available_sources

    async def run(self, user_input: str, *, run_id: str | None = None) -> PaperCollection:
        """Search until a person approves the result, or the rounds are used up; return the result.

        Without a checkpoint handler everything is approved. With the run_id and the journal of an earlier run, that run
        is continued. Raise InvalidQuery if the query cannot be searched, and InvalidDecision if a decision of the
        handler does not fit its checkpoint. Failures of sources and models are reported in the result, never raised.
        """
        run = SearchRun(
            # Earlier versions started searches for queries with errors in their syntax.
            query=check_query(user_input, accept_broken_syntax=run_id is not None),
            run_id=run_id or str(uuid4()),
            skills=self._skills,
            options=self._options,
            handler=self._handler,
            progress=self._progress,
            journal=self._journal,
            clock=self._clock,
        )
        is_finished = False
        try:
            result = await run.run_rounds()
            is_finished = True
        finally:
            if self._release is not None:
                await self._release(is_finished)
        return result
