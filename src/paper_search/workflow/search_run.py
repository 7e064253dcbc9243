"""Take one search from query to collection: rounds of planning, asking, searching and review.

`SearchRun.run_rounds` tells the whole story. Below it, `RoundSearch` plans, searches, merges and scores in a round;
`JournalledDecisions` asks the person and checks decisions; `RunSteps` resumes from the journal and reports progress.
"""

import asyncio
from datetime import datetime
from typing import Final, Unpack

from paper_search.domain.review_models import ReviewMarks, Sender
from paper_search.models import (
    PaperCollection,
    ParsedIntent,
    SearchMetadata,
    SearchStrategy,
    UserFeedback,
)
from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.decisions import CheckedDecision, JournalledDecisions
from paper_search.workflow.duplicate_corrections import DuplicateCorrections
from paper_search.workflow.round_search import RoundSearch
from paper_search.workflow.rounds import SearchRunOptions, WorkflowState, build_collection
from paper_search.workflow.run_steps import RunSteps
from paper_search.workflow.skill_interfaces import ProgressFacts, ProgressReporter, Skills
from paper_search.workflow.step_journal import StepJournal
from paper_search.workflow.strategy_origins import (
    list_query_findings,
    list_true_notes,
    mark_edited_parts,
)
from uraniborg.kernel.clock import Clock

MAX_ROUNDS: Final = "max_rounds"
"""The reason in a result that ended with the last round and not with an approval."""


class SearchRun:
    """One search with its state. `run_rounds` runs it, once."""

    def __init__(
        self,
        *,
        query: str,
        run_id: str,
        skills: Skills,
        options: SearchRunOptions,
        handler: CheckpointHandler | None,
        progress: ProgressReporter | None,
        journal: StepJournal,
        clock: Clock,
    ) -> None:
        self._query = query
        self._skills = skills
        self._options = options
        self._journal = journal
        self._clock = clock
        self._dialog = (
            JournalledDecisions(handler, run_id, skills.available_sources, journal, clock)
            if handler is not None
            else None
        )
        self._state = WorkflowState()
        self._corrections = DuplicateCorrections(self._state.pool, skills.record_merger)
        self._steps = RunSteps(self._state, journal, progress)
        self._search = RoundSearch(
            query, skills, options, self._state, self._steps, self._corrections, has_person=handler is not None
        )

    async def run_rounds(self) -> PaperCollection:
        """Search in rounds until a person approves the result or the rounds are used up; return the result."""
        self._steps.report_progress("intent_parsing")
        intent = await self._journal.get_or_run_and_store("intent", ParsedIntent, self._parse_intent)
        latest: SearchMetadata | None = None
        while self._state.current_iteration < self._options.max_rounds:
            proposed = await self._search.propose_strategy(intent)
            strategy, feedback = await self._confirm_strategy(intent, proposed, latest)
            if feedback is not None:
                self._record_round(strategy, 0, feedback)
                continue
            latest = await self._search.search_and_update_pool(intent, strategy)
            is_approved, feedback = await self._review_result(latest)
            result_count = len(self._state.pool.included)
            if is_approved and not self._search.can_search_again(strategy):
                self._state.record_iteration(strategy, result_count, feedback)
                return await self._complete_search(latest, end_reason=None)
            self._record_round(strategy, result_count, feedback)
        return await self._complete_search(latest or self._build_empty_metadata(intent), end_reason=MAX_ROUNDS)

    async def _parse_intent(self) -> ParsedIntent:
        """Return the intent of the query, with max_results at most as in the options, and their min_relevance."""
        return self._options.limit_intent(await self._skills.intent_parser.parse(self._query))

    async def _confirm_strategy(
        self, intent: ParsedIntent, proposed: SearchStrategy, latest: SearchMetadata | None
    ) -> tuple[SearchStrategy, UserFeedback | None]:
        """Return the strategy to search with; or a rejected strategy with the person's feedback."""
        if self._dialog is None or not self._options.ask_about_strategy:
            return proposed, None
        earlier = await self._build_collection(latest, self._round) if latest else None
        notes = dict.fromkeys([*self._options.notes, *list_true_notes(intent, proposed)])
        shown = intent.model_copy(update={"notes": list(notes)})
        findings = await asyncio.to_thread(list_query_findings, proposed)
        payload = StrategyPayload(intent=shown, strategy=proposed, collection=earlier, findings=findings)
        _, decision = await self._ask_person(self._dialog, CheckpointKind.STRATEGY_CONFIRMATION, payload)
        strategy = decision.strategy
        if strategy is None:
            return proposed, decision.feedback
        if decision.action is DecisionAction.EDIT:
            if strategy.queries != proposed.queries:
                self._search.queries_edited_in = self._round
            strategy = mark_edited_parts(proposed, strategy, self._round, by_agent=decision.by_agent)
        return strategy, None

    async def _review_result(self, latest: SearchMetadata) -> tuple[bool, UserFeedback]:
        """Ask about the result; return whether it is approved, and the feedback. Without a handler it is approved."""
        if self._dialog is None:
            return True, UserFeedback()
        collection = await self._build_collection(latest, self._round + 1)
        included = await self._steps.call_in_thread_if_large(lambda: self._state.accumulated_papers)
        payload = ResultPayload(
            collection=collection, accumulated_papers=included, suggestions=self._search.suggestions
        )
        checkpoint, decision = await self._ask_person(
            self._dialog, CheckpointKind.RESULT_REVIEW, payload, paper_count=len(collection.papers)
        )
        decided_at = decision.at or datetime.fromisoformat(checkpoint.timestamp)
        await self._steps.call_in_thread_if_large(self._apply_decision, decision, decided_at)
        return decision.action is DecisionAction.APPROVE, decision.feedback

    def _apply_decision(self, decision: CheckedDecision, at: datetime) -> None:
        """Apply the marks of reviewers, and then what the decider sent."""
        marks = decision.marks or ReviewMarks()
        decider = Sender(by_agent=decision.by_agent, actor=decision.actor)
        for feedback, sender in ((marks, Sender(actors=marks.actors)), (decision.feedback, decider)):
            self._state.add_decisions(feedback, at, sender)
            self._corrections.apply(feedback, at, sender)

    async def _ask_person(
        self,
        dialog: JournalledDecisions,
        kind: CheckpointKind,
        payload: StrategyPayload | ResultPayload,
        **facts: Unpack[ProgressFacts],
    ) -> tuple[Checkpoint, CheckedDecision]:
        checkpoint = await dialog.create_checkpoint_with_journalled_time(
            kind, payload, self._state.decisions_taken, self._round
        )
        shown: ProgressFacts = {"checkpoint_kind": kind.value, "iteration": self._round, **facts}
        self._steps.report_progress("waiting_checkpoint", **shown)
        decision = await dialog.replay_or_request_decision(checkpoint)
        self._state.decisions_taken += 1
        return checkpoint, decision

    def _record_round(self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback) -> None:
        self._state.record_iteration(strategy, result_count, feedback)
        self._steps.report_progress("iterating", next_iteration=self._round)

    def _build_empty_metadata(self, intent: ParsedIntent) -> SearchMetadata:
        """Return the metadata of a run in which every strategy was rejected."""
        last = self._state.previous_strategies[-1]
        return SearchMetadata(
            query=self._query,
            search_strategy=last,
            total_found=0,
            timestamp=self._clock.now().isoformat(),
            notes=list(dict.fromkeys([*self._options.notes, *list_true_notes(intent, last)])),
        )

    async def _complete_search(self, latest: SearchMetadata, end_reason: str | None) -> PaperCollection:
        """Return the result: all admitted papers that are not excluded, both on approval and after the last round."""
        self._state.is_complete = True
        metadata = latest.model_copy(update={"reason": end_reason})
        rounds = self._state.current_iteration
        collection = await self._build_collection(metadata, rounds)
        facts: ProgressFacts = {"iteration": self._round, "paper_count": len(collection.papers)}
        if end_reason:
            facts["reason"] = end_reason
        self._steps.report_progress("completed", **facts)
        return collection

    async def _build_collection(self, latest: SearchMetadata, rounds: int) -> PaperCollection:
        return await self._steps.call_in_thread_if_large(
            build_collection, self._state.pool, self._search.logs, latest, rounds, self._options
        )

    @property
    def _round(self) -> int:
        """The number of the present round, counted from 0."""
        return self._steps.round
