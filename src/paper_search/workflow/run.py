"""One search from query to collection: rounds of query, search, merge, score and review."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from paper_search.errors import InvalidDecision
from paper_search.models import (
    Paper,
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RawPaper,
    SearchMetadata,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StageCount,
    UserFeedback,
    Work,
)
from paper_search.skills.relevance_scorer import ScoringOutcome
from paper_search.skills.result_organizer import facets_of
from paper_search.skills.searcher import SearchOutcome
from paper_search.sources.base import SourceResult
from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    Decision,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.decisions import check_decision, read_feedback, read_strategy
from paper_search.workflow.journal import Journal
from paper_search.workflow.ports import ProgressReporter, Skills
from paper_search.workflow.state import WorkflowState, without
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.logging import get_logger

MAX_ROUNDS = "max_rounds"


class MergedPapers(BaseModel):
    """What is left after merging, as the journal keeps it: the papers, and how many records went for each reason."""

    papers: list[RawPaper]
    merged: dict[str, int]


class Moment(BaseModel):
    """When something was first asked, as the journal keeps it: a run that is continued asks the same question."""

    at: str


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
        self._run_id = run_id
        self._skills = skills
        self._options = options
        self._handler = handler
        self._progress = progress
        self._journal = journal
        self._clock = clock
        self._state = WorkflowState()
        self._counts: list[StageCount] = []

    async def finish(self) -> PaperCollection:
        self._tell("intent_parsing")
        intent = await self._journal.remember("intent", ParsedIntent, self._read_intent)
        latest: PaperCollection | None = None
        while self._state.current_iteration < self._options.max_rounds:
            strategy, feedback = await self._agree_on_strategy(intent)
            if feedback is not None:
                self._close_round(strategy, 0, feedback)
                continue
            latest = await self._search(intent, strategy)
            feedback = await self._review(latest)
            if feedback is None:
                self._state.record_iteration(strategy, len(latest.papers))
                return self._complete(latest, reason=None)
            self._learn(latest, feedback)
            self._close_round(strategy, len(latest.papers), feedback)
        return self._complete(self._last_word(intent, latest), reason=MAX_ROUNDS)

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
        proposed = await self._journal.remember(
            self._step("strategy"), SearchStrategy, lambda: self._skills.query_builder.build(self._lesson(intent))
        )
        if self._handler is None or not self._options.ask_about_strategy:
            return proposed, None
        checkpoint = await self._checkpoint(
            CheckpointKind.STRATEGY_CONFIRMATION, StrategyPayload(intent=intent, strategy=proposed)
        )
        decision = await self._ask(self._handler, checkpoint)
        if decision.action is DecisionAction.REJECT:
            return proposed, read_feedback(checkpoint, decision)
        return read_strategy(checkpoint, decision, self._skills.searcher.available), None

    def _lesson(self, intent: ParsedIntent) -> QueryBuilderInput:
        return QueryBuilderInput(
            intent=intent,
            previous_strategies=self._state.previous_strategies,
            user_feedback=UserFeedback(free_text_feedback="\n".join(self._state.hints.free_text) or None),
            relevant_titles=[paper.title for paper in self._state.accumulated_papers],
            irrelevant_titles=[paper.title for paper in self._state.rejected_papers],
        )

    async def _search(self, intent: ParsedIntent, strategy: SearchStrategy) -> PaperCollection:
        self._tell("searching", iteration=self._round, sources=strategy.sources)
        outcome = await self._journal.remember(
            self._step("search"), SearchOutcome, lambda: self._skills.searcher.run(strategy, self._tell_source)
        )
        self._count("search", _found(outcome.reports), len(outcome.papers), _by_source(outcome.reports))

        known = [_as_raw(paper) for paper in (*self._state.accumulated_papers, *self._state.rejected_papers)]
        pool = [*outcome.papers, *known]
        self._tell("deduplicating", iteration=self._round, raw_count=len(pool))
        merged = await self._journal.remember(self._step("dedup"), MergedPapers, lambda: self._deduplicate(pool))
        self._count("dedup", len(pool), len(merged.papers), merged.merged)
        candidates = without(merged.papers, self._state.rejected_papers)
        if len(candidates) != len(merged.papers):
            self._count("marked_irrelevant", len(merged.papers), len(candidates))

        self._tell("scoring", iteration=self._round, candidate_count=len(candidates))
        scoring = await self._journal.remember(
            self._step("score"),
            ScoringOutcome,
            lambda: self._skills.relevance_scorer.score_with_notes(candidates, intent, self._state.hints),
        )
        self._tell("organizing", iteration=self._round, scored_count=len(scoring.papers))
        collection = await self._journal.remember(
            self._step("organize"),
            PaperCollection,
            lambda: self._skills.result_organizer.organize(scoring.papers, strategy, self._query),
        )
        self._count("relevance", len(scoring.papers), len(collection.papers))
        notes = [*self._options.notes, *intent.notes, *strategy.notes, *scoring.notes]
        return self._described(collection, outcome.reports, notes)

    async def _deduplicate(self, pool: Sequence[RawPaper]) -> MergedPapers:
        done = await self._skills.deduplicator.deduplicate_reported(pool)
        return MergedPapers(papers=done.papers, merged=done.merged)

    def _described(self, collection: PaperCollection, reports: list[SourceReport], notes: list[str]) -> PaperCollection:
        metadata = collection.metadata.model_copy(
            update={
                "domain": self._options.domain,
                "software": self._options.software,
                "rounds": self._round + 1,
                "sources": reports,
                "stage_counts": list(self._counts),
                "partial": any(_fell_short(report) for report in reports),
                "notes": list(dict.fromkeys(notes)),
            }
        )
        return collection.model_copy(update={"metadata": metadata})

    async def _review(self, collection: PaperCollection) -> UserFeedback | None:
        """None when the result is approved; otherwise what the person taught us."""
        if self._handler is None:
            return None
        payload = ResultPayload(collection=collection, accumulated_papers=list(self._state.accumulated_papers))
        checkpoint = await self._checkpoint(CheckpointKind.RESULT_REVIEW, payload)
        decision = await self._ask(self._handler, checkpoint, paper_count=len(collection.papers))
        if decision.action is DecisionAction.APPROVE:
            return None
        return read_feedback(checkpoint, decision)

    async def _ask(self, handler: CheckpointHandler, checkpoint: Checkpoint, **facts: Any) -> Decision:
        self._tell("waiting_checkpoint", checkpoint_kind=checkpoint.kind.value, iteration=self._round, **facts)

        async def answer() -> Decision:
            decision = await _answer(handler, checkpoint)
            check_decision(checkpoint, decision, self._skills.searcher.available)
            return decision

        decision = await self._journal.remember(f"decision-{self._state.decisions_taken}", Decision, answer)
        self._state.decisions_taken += 1
        return decision

    async def _checkpoint(self, kind: CheckpointKind, payload: StrategyPayload | ResultPayload) -> Checkpoint:
        number = self._state.decisions_taken
        asked = await self._journal.remember(f"asked-{number}", Moment, self._now)
        return Checkpoint(
            kind=kind,
            payload=payload,
            run_id=self._run_id,
            iteration=number,
            round=self._round,
            timestamp=asked.at,
        )

    async def _now(self) -> Moment:
        return Moment(at=self._clock.now().isoformat())

    def _learn(self, collection: PaperCollection, feedback: UserFeedback) -> None:
        shown = {paper.id: paper for paper in (*self._state.accumulated_papers, *collection.papers)}
        self._state.add_accumulated([shown[key] for key in feedback.marked_relevant if key in shown])
        self._state.add_rejected([shown[key] for key in feedback.marked_irrelevant if key in shown])

    def _close_round(self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback) -> None:
        self._state.record_iteration(strategy, result_count, feedback)
        self._tell("iterating", next_iteration=self._round)

    def _last_word(self, intent: ParsedIntent, latest: PaperCollection | None) -> PaperCollection:
        """What is left when the rounds are used up: the last result without what was marked irrelevant in it."""
        if latest is None:
            nothing = SearchMetadata(
                query=self._query,
                search_strategy=self._state.previous_strategies[-1],
                total_found=0,
                timestamp=self._clock.now().isoformat(),
            )
            return self._described(PaperCollection(metadata=nothing, papers=[]), [], list(intent.notes))
        kept = without(latest.papers, self._state.rejected_papers)
        return latest.model_copy(update={"papers": kept, "facets": facets_of(kept)})

    def _complete(self, collection: PaperCollection, reason: str | None) -> PaperCollection:
        self._state.is_complete = True
        facts = {"reason": reason} if reason else {}
        self._tell("completed", iteration=self._round, paper_count=len(collection.papers), **facts)
        metadata = collection.metadata.model_copy(update={"reason": reason, "rounds": self._state.current_iteration})
        return collection.model_copy(update={"metadata": metadata})

    @property
    def _round(self) -> int:
        return self._state.current_iteration

    def _step(self, name: str) -> str:
        return f"round-{self._round}/{name}"

    def _count(self, stage: str, count_in: int, count_out: int, detail: dict[str, int] | None = None) -> None:
        self._counts.append(
            StageCount(round=self._round, stage=stage, count_in=count_in, count_out=count_out, detail=detail or {})
        )

    def _tell_source(self, result: SourceResult) -> None:
        self._tell("source_finished", iteration=self._round, report=result.report.model_dump(mode="json"))

    def _tell(self, phase: str, **facts: Any) -> None:
        if self._progress is None:
            return
        try:
            self._progress(phase, facts)
        except Exception:
            get_logger(__name__).exception("progress reporter failed", phase=phase)


async def _answer(handler: CheckpointHandler, checkpoint: Checkpoint) -> Decision:
    answering = cast(
        "object", handler.handle(checkpoint)
    )  # whatever the handler is typed as, people pass what they have
    decision = await answering if inspect.isawaitable(answering) else answering
    if not isinstance(decision, Decision):
        raise InvalidDecision(
            f"The checkpoint handler answered with {type(decision).__name__}, not with a Decision.",
            hint="Return Decision(action=DecisionAction.APPROVE), or another action.",
        )
    return decision


def _as_raw(paper: Paper) -> RawPaper:
    return RawPaper(**paper.model_dump(include=set(Work.model_fields)), id=paper.id)


def _found(reports: list[SourceReport]) -> int:
    return sum(report.found if report.found is not None else report.returned for report in reports)


def _by_source(reports: list[SourceReport]) -> dict[str, int]:
    return {report.name: report.returned for report in reports}


def _fell_short(report: SourceReport) -> bool:
    return report.partial or report.status in (SourceStatus.FAILED, SourceStatus.RATE_LIMITED)
