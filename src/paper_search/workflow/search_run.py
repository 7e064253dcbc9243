"""Take one search from query to collection: rounds of building, searching, merging, scoring and review."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, ParamSpec, TypeVar, Unpack

from paper_search.citation_keys import add_citation_keys
from paper_search.domain.facets import count_facets
from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.domain.relevance.learned_terms import BEST_PAPERS, separate_terms, suggest_terms
from paper_search.domain.review_models import ReviewMarks, Sender
from paper_search.models import (
    Paper,
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RoundLog,
    ScoredPaper,
    SearchMetadata,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    TermSuggestion,
    UserFeedback,
    Work,
    any_source_answered,
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
from paper_search.workflow.paper_pool import find_record_positions
from paper_search.workflow.rounds import (
    WorkflowState,
    add_inclusion_counts,
    build_round_log,
    count_stages,
    recount_duplicates,
)
from paper_search.workflow.skill_interfaces import (
    MergeOutcome,
    ProgressFacts,
    ProgressReporter,
    ScoringOutcome,
    SearchOutcome,
    Skills,
)
from paper_search.workflow.step_journal import StepJournal
from paper_search.workflow.strategy_origins import (
    add_origins,
    derive_scoring_intent,
    inherit_parts,
    list_query_findings,
    list_true_notes,
    mark_edited_parts,
    select_person_queries,
)
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.logging import get_logger

P = ParamSpec("P")
T = TypeVar("T")

MAX_ROUNDS: Final = "max_rounds"
"""The reason in a result that ended with the last round and not with an approval."""
_COMPARED_PAPERS: Final = 2_000
"""The number of papers that the best ones are compared with, to find their terms."""


@dataclass(frozen=True, slots=True)
class SearchRunOptions:
    """The options of one search."""

    max_rounds: int
    max_results: int
    min_relevance: float | None
    domain: str
    ask_about_strategy: bool
    notes: tuple[str, ...]
    software: str


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
        self._dialog = (
            JournalledDecisions(handler, run_id, skills.available_sources, journal, clock)
            if handler is not None
            else None
        )
        self._progress = progress
        self._journal = journal
        self._clock = clock
        self._state = WorkflowState()
        self._corrections = DuplicateCorrections(self._state.pool, skills.record_merger)
        self._logs: list[RoundLog] = []
        self._notes: list[str] = []
        self._suggestions: list[TermSuggestion] = []
        """Terms of the best papers of the last round that searched."""
        self._queries_edited_in = 0
        """The last round in which a person set the queries: they already include or replace earlier feedback."""

    async def run_rounds(self) -> PaperCollection:
        """Search in rounds until a person approves the result or the rounds are used up; return the result."""
        self._report_progress("intent_parsing")
        intent = await self._journal.get_or_run_and_store("intent", ParsedIntent, self._parse_intent)
        latest: SearchMetadata | None = None
        while self._state.current_iteration < self._options.max_rounds:
            strategy, feedback = await self._propose_and_confirm_strategy(intent, latest)
            if feedback is not None:
                self._record_round(strategy, 0, feedback)
                continue
            latest = await self._search_and_update_pool(intent, strategy)
            is_approved, feedback = await self._review_result(latest)
            result_count = len(self._state.pool.included)
            if is_approved and not self._can_search_again(strategy):
                self._state.record_iteration(strategy, result_count, feedback)
                return await self._complete_search(latest, end_reason=None)
            self._record_round(strategy, result_count, feedback)
        return await self._complete_search(latest or self._build_empty_metadata(intent), end_reason=MAX_ROUNDS)

    async def _parse_intent(self) -> ParsedIntent:
        """Return the intent of the query, with max_results at most as in the options, and their min_relevance."""
        intent = await self._skills.intent_parser.parse(self._query)
        constraints = intent.constraints
        is_stated = "max_results" in constraints.model_fields_set
        wanted = constraints.max_results if is_stated else self._options.max_results
        limits = {
            "max_results": max(1, min(wanted, self._options.max_results)),
            "min_relevance": self._options.min_relevance,
        }
        limited = constraints.model_copy(update=limits)
        notes = [*self._options.notes, *intent.notes]
        return intent.model_copy(update={"constraints": limited, "notes": list(dict.fromkeys(notes))})

    async def _propose_and_confirm_strategy(
        self, intent: ParsedIntent, latest: SearchMetadata | None
    ) -> tuple[SearchStrategy, UserFeedback | None]:
        """Return the strategy to search with; or a rejected strategy with the person's feedback."""
        self._report_progress("query_building", iteration=self._round)
        last = self._state.previous_strategies[-1] if self._state.history else None

        async def propose() -> SearchStrategy:
            given = await asyncio.to_thread(self._build_query_builder_input, intent, last)
            return inherit_parts(last, await self._skills.query_builder.build(given))

        proposed = await self._journal.get_or_run_and_store(self._name_step("strategy"), SearchStrategy, propose)
        if not proposed.origins:  # written by a version that did not store them
            proposed = add_origins(last, proposed)
        if self._dialog is None or not self._options.ask_about_strategy:
            return proposed, None
        earlier = await self._call_in_thread_if_large(self._build_collection, latest, self._round) if latest else None
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
                self._queries_edited_in = self._round
            strategy = mark_edited_parts(proposed, strategy, self._round, by_agent=decision.by_agent)
        return strategy, None

    def _list_taught_terms(self, last: SearchStrategy | None) -> list[TermSuggestion]:
        """Return the terms that the next plan uses at once: of marked papers, or without a person of the best ones."""
        if last is None or self._dialog is None:
            return self._suggestions
        known = [self._query, *_list_asked_names(last)]
        included, excluded = (
            [_join_texts(paper) for paper in papers]
            for papers in (self._state.accumulated_papers, self._state.rejected_papers)
        )
        return separate_terms(included, excluded, known)

    def _suggest_terms(self, strategy: SearchStrategy) -> list[TermSuggestion]:
        """Return the terms that the best papers so far have and the other ones have not."""
        scores = sorted(self._state.pool.scores, key=lambda scored: scored.sort_key)
        texts = [_join_texts(scored.paper) for scored in scores]
        known = [self._query, *_list_asked_names(strategy)]
        others = texts[BEST_PAPERS:]
        return suggest_terms(texts[:BEST_PAPERS], others[:: 1 + len(others) // _COMPARED_PAPERS], known)

    def _build_query_builder_input(self, intent: ParsedIntent, last: SearchStrategy | None) -> QueryBuilderInput:
        return QueryBuilderInput(
            intent=intent,
            previous_strategies=self._state.previous_strategies,
            user_feedback=self._state.latest_feedback,
            earlier_feedback=self._state.list_feedback(exclude_last=True, since_round=self._queries_edited_in),
            person_queries=select_person_queries(last),
            relevant_titles=[paper.title for paper in self._state.accumulated_papers],
            irrelevant_titles=[paper.title for paper in self._state.rejected_papers],
            suggestions=self._suggestions,
            taught=self._list_taught_terms(last),
            searched=self._logs[-1] if self._logs and self._logs[-1].round == self._round - 1 else None,
        )

    def _can_search_again(self, strategy: SearchStrategy) -> bool:
        """Return True after the first round of a search without a person, if its papers taught terms to search with.

        The second round is the last: its plan contains what the first one taught.
        """
        is_first = self._round == 0 and self._options.max_rounds > 1
        return self._dialog is None and is_first and bool(strategy.blocks and self._suggestions)

    async def _search_and_update_pool(self, intent: ParsedIntent, strategy: SearchStrategy) -> SearchMetadata:
        """Search, and add the papers to the pool.

        If no source answers, the result changes only if min_relevance has changed.
        """
        self._report_progress("searching", iteration=self._round, sources=strategy.sources)
        known = frozenset(paper_id for entry in self._state.pool.entries for paper_id in (entry.id, *entry.other_ids))
        outcome = await self._journal.get_or_run_and_store(
            self._name_step("search"), SearchOutcome, lambda: self._skills.search(strategy, self._report_source, known)
        )
        await self._merge_papers_and_log_round(strategy, outcome)
        is_answered = bool(outcome.papers) or not outcome.reports or any_source_answered(outcome.reports)
        threshold = self._get_threshold(strategy)
        is_changed = is_answered or threshold != self._state.pool.threshold
        if self._dialog is None and is_answered:
            self._state.pool.reopen()  # without a person all papers of all rounds compete for max_results
        if is_answered:
            scoring = await self._score_pool(derive_scoring_intent(intent, strategy), strategy)
        else:
            scoring = ScoringOutcome(papers=self._state.pool.scores if is_changed else [])
        not_admitted = {entry.id for entry in self._state.pool.entries if not entry.admitted}
        candidates = [scored for scored in scoring.papers if scored.paper.id in not_admitted]
        self._report_progress("organizing", iteration=self._round, scored_count=len(scoring.papers))
        added = await self._journal.get_or_run_and_store(
            self._name_step("organize"), PaperCollection, lambda: self._organize(candidates, strategy)
        )
        if is_answered and strategy.blocks:
            self._suggestions = await asyncio.to_thread(self._suggest_terms, strategy)
        if is_changed:
            limit = strategy.filters.max_results
            await self._call_in_thread_if_large(self._state.pool.admit_papers, added.papers, limit, threshold)
        if not is_answered:
            self._notes.append(_describe_missing_answers(self._round, bool(self._state.pool.entries)))
        about_strategy = [*list_true_notes(intent, strategy), *strategy.notes]
        notes = [*self._options.notes, *about_strategy, *self._notes, *scoring.notes]
        return added.metadata.model_copy(update={"sources": outcome.reports, "notes": list(dict.fromkeys(notes))})

    async def _organize(self, candidates: list[ScoredPaper], strategy: SearchStrategy) -> PaperCollection:
        """Return the organizer's collection with the ids of its papers only: the pool has the papers in full."""
        organized = await self._skills.result_organizer.organize(candidates, strategy, self._query)
        papers = await self._call_in_thread_if_large(_reduce_to_ids, organized.papers)
        return organized.model_copy(update={"papers": papers})

    def _get_threshold(self, strategy: SearchStrategy) -> float | None:
        """Return the least relevance of the strategy, or else the one that the organizer requires of every strategy."""
        asked = strategy.filters.min_relevance
        return self._skills.min_relevance if asked is None else asked

    async def _merge_papers_and_log_round(self, strategy: SearchStrategy, outcome: SearchOutcome) -> None:
        """Merge the new records with the pool, and log the round."""
        pool = self._state.pool
        every = await call_in_thread_if_large(
            len(outcome.papers), self._corrections.name_records, outcome.papers, self._round
        )
        found = await self._call_in_thread_if_large(self._corrections.take_known_records, every)
        records = [*(record.paper for record in found), *(entry.scored.paper for entry in pool.entries)]
        self._report_progress("deduplicating", iteration=self._round, raw_count=len(records))
        merged = await self._journal.get_or_run_and_store(
            self._name_step("dedup"), MergeOutcome, lambda: self._skills.deduplicate(records)
        )
        members = merged.members or find_record_positions(records, merged.papers)
        added = await call_in_thread_if_large(len(records), self._corrections.add_papers, merged.papers, members, found)
        added = added.add_known_records(len(every) - len(found))
        self._logs.append(build_round_log(self._round, strategy, outcome, added, merged.merged))

    async def _score_pool(self, intent: ParsedIntent, strategy: SearchStrategy) -> ScoringOutcome:
        """Score every paper that no reviewer has excluded: feedback changes the scores of earlier rounds too."""
        pool = self._state.pool
        learned = [block.name for block in strategy.blocks if block.learned and block.active]
        hints = await self._call_in_thread_if_large(lambda: self._state.hints.model_copy(update={"terms": learned}))
        papers = [scored.paper for scored in pool.scores]
        self._report_progress("scoring", iteration=self._round, candidate_count=len(papers))
        scoring = await self._journal.get_or_run_and_store(
            self._name_step("score"), ScoringOutcome, lambda: self._skills.score(papers, intent, hints)
        )
        await self._call_in_thread_if_large(pool.update_scores, scoring.papers)
        return scoring

    async def _call_in_thread_if_large(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await call_in_thread_if_large(len(self._state.pool.entries), function, *args, **kwargs)

    def _build_collection(self, latest: SearchMetadata, rounds: int) -> PaperCollection:
        papers = add_citation_keys(self._state.pool.result)
        # Excluded papers get their keys last, so that an exclusion changes no key of the result.
        excluded = add_citation_keys([*papers, *self._state.pool.excluded_by_reviewers])[len(papers) :]
        exclusions = self._state.pool.list_exclusions(self._state.pool.threshold)
        logs = add_inclusion_counts(recount_duplicates(self._logs, self._state.pool), papers, exclusions)
        metadata = latest.model_copy(
            update={
                "total_found": len(self._state.pool.entries),
                "domain": self._options.domain,
                "software": self._options.software,
                "rounds": rounds,
                "stage_counts": count_stages(logs),
                "round_logs": logs,
                "exclusions": exclusions,
                "corrections": self._state.pool.corrections,
                "partial": any(_is_report_incomplete(report) for log in logs for report in log.sources),
            }
        )
        return PaperCollection(
            metadata=metadata,
            papers=papers,
            excluded_papers=excluded,
            removed_papers=self._state.pool.removed_by_automation,
            facets=count_facets(papers),
        )

    async def _review_result(self, latest: SearchMetadata) -> tuple[bool, UserFeedback]:
        """Ask about the result; return whether it is approved, and the feedback. Without a handler it is approved."""
        if self._dialog is None:
            return True, UserFeedback()
        collection = await self._call_in_thread_if_large(self._build_collection, latest, self._round + 1)
        included = await self._call_in_thread_if_large(lambda: self._state.accumulated_papers)
        payload = ResultPayload(collection=collection, accumulated_papers=included, suggestions=self._suggestions)
        checkpoint, decision = await self._ask_person(
            self._dialog, CheckpointKind.RESULT_REVIEW, payload, paper_count=len(collection.papers)
        )
        decided_at = decision.at or datetime.fromisoformat(checkpoint.timestamp)
        await self._call_in_thread_if_large(self._apply_decision, decision, decided_at)
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
        self._report_progress("waiting_checkpoint", **shown)
        decision = await dialog.replay_or_request_decision(checkpoint)
        self._state.decisions_taken += 1
        return checkpoint, decision

    def _record_round(self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback) -> None:
        self._state.record_iteration(strategy, result_count, feedback)
        self._report_progress("iterating", next_iteration=self._round)

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
        collection = await self._call_in_thread_if_large(self._build_collection, metadata, rounds)
        facts: ProgressFacts = {"iteration": self._round, "paper_count": len(collection.papers)}
        if end_reason:
            facts["reason"] = end_reason
        self._report_progress("completed", **facts)
        return collection

    @property
    def _round(self) -> int:
        """The number of the present round, counted from 0."""
        return self._state.current_iteration

    def _name_step(self, name: str) -> str:
        return f"round-{self._round}/{name}"

    def _report_source(self, report: SourceReport) -> None:
        self._report_progress("source_finished", iteration=self._round, report=report.model_dump(mode="json"))

    def _report_progress(self, phase: str, **facts: Unpack[ProgressFacts]) -> None:
        if self._progress is None:
            return
        try:
            self._progress(phase, facts)
        except Exception:
            get_logger(__name__).exception("progress reporter failed", phase=phase)


def _reduce_to_ids(papers: list[Paper]) -> list[Paper]:
    return [Paper(id=paper.id, title="", source="") for paper in papers]


def _join_texts(paper: Work) -> str:
    return f"{paper.title}\n{paper.abstract or ''}"


def _list_asked_names(strategy: SearchStrategy) -> list[str]:
    """Return the names and variants of the blocks that papers did not teach, and of those that are switched off."""
    blocks = [block for block in strategy.blocks if not block.learned or not block.active]
    return [text for block in blocks for text in (block.name, *block.variants)]


def _describe_missing_answers(round_number: int, has_papers: bool) -> str:
    earlier = "; the papers are those of the earlier rounds" if has_papers else ""
    return f"No source answered in round {round_number + 1}{earlier}."


def _is_report_incomplete(report: SourceReport) -> bool:
    return report.partial or report.status in (SourceStatus.FAILED, SourceStatus.RATE_LIMITED)
