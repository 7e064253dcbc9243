"""One search from query to collection: rounds of query, search, merge, score and review."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from paper_search.citation_keys import with_citation_keys
from paper_search.models import (
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RawPaper,
    RoundLog,
    SearchMetadata,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    UserFeedback,
    any_source_answered,
)
from paper_search.review import ReviewStatus
from paper_search.skills.relevance_scorer import ScoringOutcome
from paper_search.skills.result_organizer import facets_of
from paper_search.skills.searcher import SearchOutcome
from paper_search.sources.interfaces import SourceResult
from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.decisions import read_feedback, read_strategy
from paper_search.workflow.inheritance import build_on, describe, mark_edit, queries_by_person
from paper_search.workflow.journal import Journal
from paper_search.workflow.log import count_stages, log_round, settle_logs
from paper_search.workflow.pool import trace_members
from paper_search.workflow.ports import ProgressReporter, Skills
from paper_search.workflow.questions import Questions, TakenDecision
from paper_search.workflow.state import WorkflowState
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.logging import get_logger

MAX_ROUNDS = "max_rounds"
_AT_ONCE = 50
"""Papers collected without leaving the event loop; more go to a thread."""


class MergedPapers(BaseModel):
    """What is left after merging, as the journal keeps it: the papers, and how many records went for each reason."""

    papers: list[RawPaper]
    merged: dict[str, int]
    members: list[list[int]] = Field(default_factory=list[list[int]])
    """The positions of the records of each paper; earlier versions did not store them."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    max_rounds: int
    max_results: int
    domain: str
    ask_about_strategy: bool
    notes: tuple[str, ...]
    software: str


class Run:
    def __init__(
        self,
        *,
        query: str,
        run_id: str,
        skills: Skills,
        options: RunOptions,
        handler: CheckpointHandler | None,
        progress: ProgressReporter | None,
        journal: Journal,
        clock: Clock,
    ) -> None:
        self._query = query
        self._skills = skills
        self._options = options
        self._questions = (
            Questions(handler, run_id, skills.searcher.available, journal, clock) if handler is not None else None
        )
        self._progress = progress
        self._journal = journal
        self._clock = clock
        self._state = WorkflowState()
        self._logs: list[RoundLog] = []
        self._notes: list[str] = []
        self._queries_edited_in = 0
        """The last round in which a person set the queries: feedback from before it is in them or was removed."""

    async def finish(self) -> PaperCollection:
        self._tell("intent_parsing")
        intent = await self._journal.remember("intent", ParsedIntent, self._read_intent)
        latest: SearchMetadata | None = None
        while self._state.current_iteration < self._options.max_rounds:
            strategy, feedback = await self._agree_on_strategy(intent)
            if feedback is not None:
                self._close_round(strategy, 0, feedback)
                continue
            latest = await self._search(intent, strategy)
            approved, feedback = await self._review(latest)
            result_count = len(self._state.pool.included)
            if approved:
                self._state.record_iteration(strategy, result_count, feedback)
                return await self._complete(latest, reason=None)
            self._close_round(strategy, result_count, feedback)
        return await self._complete(latest or self._unsearched(intent), reason=MAX_ROUNDS)

    async def _read_intent(self) -> ParsedIntent:
        intent = await self._skills.intent_parser.parse(self._query)
        constraints = intent.constraints
        asked = constraints.max_results if "max_results" in constraints.model_fields_set else self._options.max_results
        limit = max(1, min(asked, self._options.max_results))
        limited = constraints.model_copy(update={"max_results": limit})
        notes = [*self._options.notes, *intent.notes]
        return intent.model_copy(update={"constraints": limited, "notes": list(dict.fromkeys(notes))})

    async def _agree_on_strategy(self, intent: ParsedIntent) -> tuple[SearchStrategy, UserFeedback | None]:
        """The strategy to search with, or what its rejection teaches."""
        self._tell("query_building", iteration=self._round)
        last = self._state.previous_strategies[-1] if self._state.history else None

        async def propose() -> SearchStrategy:
            return build_on(last, await self._skills.query_builder.build(self._lesson(intent, last)))

        proposed = await self._journal.remember(self._step("strategy"), SearchStrategy, propose)
        if not proposed.origins:  # written by a version that did not store them
            proposed = describe(last, proposed)
        if self._questions is None or not self._options.ask_about_strategy:
            return proposed, None
        checkpoint, decision = await self._ask(
            CheckpointKind.STRATEGY_CONFIRMATION, StrategyPayload(intent=intent, strategy=proposed)
        )
        if decision.action is DecisionAction.REJECT:
            return proposed, read_feedback(checkpoint, decision)
        strategy = read_strategy(checkpoint, decision, self._skills.searcher.available)
        if decision.action is DecisionAction.EDIT:
            if strategy.queries != proposed.queries:
                self._queries_edited_in = self._round
            strategy = mark_edit(proposed, strategy, self._round)
        return strategy, None

    def _lesson(self, intent: ParsedIntent, last: SearchStrategy | None) -> QueryBuilderInput:
        return QueryBuilderInput(
            intent=intent,
            previous_strategies=self._state.previous_strategies,
            user_feedback=self._state.latest_feedback,
            earlier_texts=self._state.feedback_texts(before_last=True, since=self._queries_edited_in),
            person_queries=queries_by_person(last),
            relevant_titles=[paper.title for paper in self._state.accumulated_papers],
            irrelevant_titles=[paper.title for paper in self._state.rejected_papers],
        )

    async def _search(self, intent: ParsedIntent, strategy: SearchStrategy) -> SearchMetadata:
        """Search, and put what is found into the pool. If no source answers, the pool stays as it is."""
        self._tell("searching", iteration=self._round, sources=strategy.sources)
        outcome = await self._journal.remember(
            self._step("search"), SearchOutcome, lambda: self._skills.searcher.run(strategy, self._tell_source)
        )
        await self._merge(strategy, outcome)
        answered = bool(outcome.papers) or not outcome.reports or any_source_answered(outcome.reports)
        scoring = await self._score(intent) if answered else ScoringOutcome(papers=[])
        hidden = {entry.id for entry in self._state.pool.entries if not entry.admitted}
        candidates = [scored for scored in scoring.papers if scored.paper.id in hidden]
        self._tell("organizing", iteration=self._round, scored_count=len(scoring.papers))
        added = await self._journal.remember(
            self._step("organize"),
            PaperCollection,
            lambda: self._skills.result_organizer.organize(candidates, strategy, self._query),
        )
        if answered:
            self._state.pool.admit(added.papers, strategy.filters.max_results, self._threshold)
        else:
            self._notes.append(_no_answer(self._round, bool(self._state.pool.entries)))
        notes = [*self._options.notes, *intent.notes, *self._notes, *strategy.notes, *scoring.notes]
        return added.metadata.model_copy(update={"sources": outcome.reports, "notes": list(dict.fromkeys(notes))})

    async def _merge(self, strategy: SearchStrategy, outcome: SearchOutcome) -> None:
        pool = self._state.pool
        records = [*outcome.papers, *(entry.scored.paper for entry in pool.entries)]
        self._tell("deduplicating", iteration=self._round, raw_count=len(records))
        merged = await self._journal.remember(self._step("dedup"), MergedPapers, lambda: self._deduplicate(records))
        members = merged.members or trace_members(records, merged.papers)
        added = pool.add(merged.papers, members, len(outcome.papers), self._round)
        self._logs.append(log_round(self._round, strategy, outcome, added, merged.merged))

    async def _deduplicate(self, records: list[RawPaper]) -> MergedPapers:
        done = await self._skills.deduplicator.deduplicate_reported(records)
        return MergedPapers(papers=done.papers, merged=done.merged, members=done.members)

    async def _score(self, intent: ParsedIntent) -> ScoringOutcome:
        """Score every paper that no person has excluded: feedback moves the scores of earlier rounds too."""
        pool = self._state.pool
        papers = [entry.scored.paper for entry in pool.entries if entry.status is not ReviewStatus.EXCLUDE]
        self._tell("scoring", iteration=self._round, candidate_count=len(papers))
        scoring = await self._journal.remember(
            self._step("score"),
            ScoringOutcome,
            lambda: self._skills.relevance_scorer.score_with_notes(papers, intent, self._state.hints),
        )
        pool.rescore(scoring.papers)
        return scoring

    @property
    def _threshold(self) -> float | None:
        """The relevance that the organizer asks for, if it says so."""
        return getattr(self._skills.result_organizer, "min_relevance", None)

    async def _collection(self, latest: SearchMetadata, rounds: int) -> PaperCollection:
        """Return the papers of all rounds as they stand, with the log of all rounds."""
        if len(self._state.pool.entries) <= _AT_ONCE:
            return self._collected(latest, rounds)
        return await asyncio.to_thread(self._collected, latest, rounds)

    def _collected(self, latest: SearchMetadata, rounds: int) -> PaperCollection:
        papers = with_citation_keys(self._state.pool.result)
        exclusions = self._state.pool.exclusions(self._threshold)
        logs = settle_logs(self._logs, papers, exclusions)
        metadata = latest.model_copy(
            update={
                "total_found": len(self._state.pool.entries),
                "domain": self._options.domain,
                "software": self._options.software,
                "rounds": rounds,
                "stage_counts": count_stages(logs),
                "round_logs": logs,
                "exclusions": exclusions,
                "partial": any(_fell_short(report) for log in logs for report in log.sources),
            }
        )
        return PaperCollection(metadata=metadata, papers=papers, facets=facets_of(papers))

    async def _review(self, latest: SearchMetadata) -> tuple[bool, UserFeedback]:
        """Return whether the result is approved, and what the person said about it."""
        if self._questions is None:
            return True, UserFeedback()
        collection = await self._collection(latest, self._round + 1)
        payload = ResultPayload(collection=collection, accumulated_papers=self._state.accumulated_papers)
        checkpoint, decision = await self._ask(
            CheckpointKind.RESULT_REVIEW, payload, paper_count=len(collection.papers)
        )
        feedback = read_feedback(checkpoint, decision)
        self._state.decide(feedback, decision.at or datetime.fromisoformat(checkpoint.timestamp))
        return decision.action is DecisionAction.APPROVE, feedback

    async def _ask(
        self, kind: CheckpointKind, payload: StrategyPayload | ResultPayload, **facts: Any
    ) -> tuple[Checkpoint, TakenDecision]:
        assert self._questions is not None
        number = self._state.decisions_taken
        checkpoint = await self._questions.put(kind, payload, number, self._round)
        self._tell("waiting_checkpoint", checkpoint_kind=kind.value, iteration=self._round, **facts)
        decision = await self._questions.take_answer(checkpoint)
        self._state.decisions_taken += 1
        return checkpoint, decision

    def _close_round(self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback) -> None:
        self._state.record_iteration(strategy, result_count, feedback)
        self._tell("iterating", next_iteration=self._round)

    def _unsearched(self, intent: ParsedIntent) -> SearchMetadata:
        return SearchMetadata(
            query=self._query,
            search_strategy=self._state.previous_strategies[-1],
            total_found=0,
            timestamp=self._clock.now().isoformat(),
            notes=list(intent.notes),
        )

    async def _complete(self, latest: SearchMetadata, reason: str | None) -> PaperCollection:
        """Return the result: on approval and after the last round alike, all papers that are not excluded."""
        self._state.is_complete = True
        ended = latest.model_copy(update={"reason": reason})
        collection = await self._collection(ended, self._state.current_iteration)
        facts = {"reason": reason} if reason else {}
        self._tell("completed", iteration=self._round, paper_count=len(collection.papers), **facts)
        return collection

    @property
    def _round(self) -> int:
        return self._state.current_iteration

    def _step(self, name: str) -> str:
        return f"round-{self._round}/{name}"

    def _tell_source(self, result: SourceResult) -> None:
        self._tell("source_finished", iteration=self._round, report=result.report.model_dump(mode="json"))

    def _tell(self, phase: str, **facts: Any) -> None:
        if self._progress is None:
            return
        try:
            self._progress(phase, facts)
        except Exception:
            get_logger(__name__).exception("progress reporter failed", phase=phase)


def _no_answer(round_number: int, has_papers: bool) -> str:
    kept = "; the papers are those of the earlier rounds" if has_papers else ""
    return f"No source answered in round {round_number + 1}{kept}."


def _fell_short(report: SourceReport) -> bool:
    return report.partial or report.status in (SourceStatus.FAILED, SourceStatus.RATE_LIMITED)
