"""Do the work of one round: plan, ask the sources, merge the records with the pool, score it, admit the best."""

import asyncio
from dataclasses import dataclass, field

from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.domain.relevance.learned_terms import separate_terms_of_marked, suggest_terms_of_best
from paper_search.models import (
    Paper,
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RoundLog,
    ScoredPaper,
    SearchMetadata,
    SearchStrategy,
    TermSuggestion,
    any_source_answered,
)
from paper_search.workflow.duplicate_corrections import DuplicateCorrections
from paper_search.workflow.paper_pool import Pool, find_record_positions
from paper_search.workflow.rounds import SearchRunOptions, WorkflowState, build_round_log
from paper_search.workflow.run_steps import RunSteps
from paper_search.workflow.skill_interfaces import MergeOutcome, ScoringOutcome, SearchOutcome, Skills
from paper_search.workflow.strategy_origins import (
    add_origins,
    derive_scoring_intent,
    inherit_parts,
    list_true_notes,
    select_person_queries,
)


@dataclass(slots=True)
class RoundSearch:
    """Plans and searches in each round of one search, and updates the pool. Nothing here asks a person."""

    query: str
    skills: Skills
    options: SearchRunOptions
    state: WorkflowState
    steps: RunSteps
    corrections: DuplicateCorrections
    has_person: bool
    logs: list[RoundLog] = field(default_factory=list[RoundLog])
    suggestions: list[TermSuggestion] = field(default_factory=list[TermSuggestion])
    """Terms of the best papers of the last round that searched."""
    notes: list[str] = field(default_factory=list[str])
    queries_edited_in: int = 0
    """The last round in which a person set the queries: they already include or replace earlier feedback."""

    @property
    def pool(self) -> Pool:
        """The papers of all rounds."""
        return self.state.pool

    async def propose_strategy(self, intent: ParsedIntent) -> SearchStrategy:
        """Return the strategy of the query builder, with the parts that a person set in earlier rounds."""
        self.steps.report_progress("query_building", iteration=self.steps.round)
        last = self.state.previous_strategies[-1] if self.state.history else None

        async def propose() -> SearchStrategy:
            given = await asyncio.to_thread(self._build_query_builder_input, intent, last)
            return inherit_parts(last, await self.skills.query_builder.build(given))

        proposed = await self.steps.reuse_or_run("strategy", SearchStrategy, propose)
        return proposed if proposed.origins else add_origins(last, proposed)  # earlier versions did not store them

    def can_search_again(self, strategy: SearchStrategy) -> bool:
        """Return True after the first round of a search without a person, if its papers taught terms to search with.

        The second round is the last: its plan contains what the first one taught.
        """
        is_first = self.steps.round == 0 and self.options.max_rounds > 1
        return not self.has_person and is_first and bool(strategy.blocks and self.suggestions)

    async def search_and_update_pool(self, intent: ParsedIntent, strategy: SearchStrategy) -> SearchMetadata:
        """Search, and add the papers to the pool.

        If no source answers, the result changes only if min_relevance has changed.
        """
        outcome = await self._search(strategy)
        await self._merge_papers_and_log_round(strategy, outcome)
        is_answered = bool(outcome.papers) or not outcome.reports or any_source_answered(outcome.reports)
        threshold = self._get_threshold(strategy)
        is_changed = is_answered or threshold != self.pool.threshold
        if not self.has_person and is_answered:
            self.pool.reopen()  # without a person all papers of all rounds compete for max_results
        if is_answered:
            scoring = await self._score_pool(derive_scoring_intent(intent, strategy), strategy)
        else:
            scoring = ScoringOutcome(papers=self.pool.scores if is_changed else [])
        added = await self._organize_candidates(scoring, strategy)
        if is_answered and strategy.blocks:
            self.suggestions = await asyncio.to_thread(self._suggest_terms, strategy)
        if is_changed:
            limit = strategy.filters.max_results
            await self.steps.call_in_thread_if_large(self.pool.admit_papers, added.papers, limit, threshold)
        if not is_answered:
            self.notes.append(_describe_missing_answers(self.steps.round, bool(self.pool.entries)))
        about_strategy = [*list_true_notes(intent, strategy), *strategy.notes]
        notes = [*self.options.notes, *about_strategy, *self.notes, *scoring.notes]
        return added.metadata.model_copy(update={"sources": outcome.reports, "notes": list(dict.fromkeys(notes))})

    def _list_taught_terms(self, last: SearchStrategy | None) -> list[TermSuggestion]:
        """Return the terms that the next plan uses at once: of marked papers, or without a person of the best ones."""
        if last is None or not self.has_person:
            return self.suggestions
        included, excluded = self.state.accumulated_papers, self.state.rejected_papers
        return separate_terms_of_marked(self.query, last, included, excluded)

    def _build_query_builder_input(self, intent: ParsedIntent, last: SearchStrategy | None) -> QueryBuilderInput:
        logs = self.logs
        return QueryBuilderInput(
            intent=intent,
            previous_strategies=self.state.previous_strategies,
            user_feedback=self.state.latest_feedback,
            earlier_feedback=self.state.list_feedback(exclude_last=True, since_round=self.queries_edited_in),
            person_queries=select_person_queries(last),
            relevant_titles=[paper.title for paper in self.state.accumulated_papers],
            irrelevant_titles=[paper.title for paper in self.state.rejected_papers],
            suggestions=self.suggestions,
            taught=self._list_taught_terms(last),
            searched=logs[-1] if logs and logs[-1].round == self.steps.round - 1 else None,
        )

    def _suggest_terms(self, strategy: SearchStrategy) -> list[TermSuggestion]:
        return suggest_terms_of_best(self.query, strategy, self.pool.scores)

    async def _search(self, strategy: SearchStrategy) -> SearchOutcome:
        self.steps.report_progress("searching", iteration=self.steps.round, sources=strategy.sources)
        known = frozenset(paper_id for entry in self.pool.entries for paper_id in (entry.id, *entry.other_ids))
        return await self.steps.reuse_or_run(
            "search", SearchOutcome, lambda: self.skills.search(strategy, self.steps.report_source, known)
        )

    async def _merge_papers_and_log_round(self, strategy: SearchStrategy, outcome: SearchOutcome) -> None:
        """Merge the new records with the pool, and log the round."""
        every = await call_in_thread_if_large(
            len(outcome.papers), self.corrections.name_records, outcome.papers, self.steps.round
        )
        found = await self.steps.call_in_thread_if_large(self.corrections.take_known_records, every)
        records = [*(record.paper for record in found), *(entry.scored.paper for entry in self.pool.entries)]
        self.steps.report_progress("deduplicating", iteration=self.steps.round, raw_count=len(records))
        merged = await self.steps.reuse_or_run("dedup", MergeOutcome, lambda: self.skills.deduplicate(records))
        members = merged.members or find_record_positions(records, merged.papers)
        added = await call_in_thread_if_large(len(records), self.corrections.add_papers, merged.papers, members, found)
        added = added.add_known_records(len(every) - len(found))
        self.logs.append(build_round_log(self.steps.round, strategy, outcome, added, merged.merged))

    async def _score_pool(self, intent: ParsedIntent, strategy: SearchStrategy) -> ScoringOutcome:
        """Score every paper that no reviewer has excluded: feedback changes the scores of earlier rounds too."""
        learned = [block.name for block in strategy.blocks if block.learned and block.active]
        hints = await self.steps.call_in_thread_if_large(lambda: self.state.hints.model_copy(update={"terms": learned}))
        papers = [scored.paper for scored in self.pool.scores]
        self.steps.report_progress("scoring", iteration=self.steps.round, candidate_count=len(papers))
        scoring = await self.steps.reuse_or_run(
            "score", ScoringOutcome, lambda: self.skills.score(papers, intent, hints)
        )
        await self.steps.call_in_thread_if_large(self.pool.update_scores, scoring.papers)
        return scoring

    async def _organize_candidates(self, scoring: ScoringOutcome, strategy: SearchStrategy) -> PaperCollection:
        """Return the organizer's choice of the scored papers that are not admitted yet."""
        not_admitted = {entry.id for entry in self.pool.entries if not entry.admitted}
        candidates = [scored for scored in scoring.papers if scored.paper.id in not_admitted]
        self.steps.report_progress("organizing", iteration=self.steps.round, scored_count=len(scoring.papers))
        return await self.steps.reuse_or_run("organize", PaperCollection, lambda: self._organize(candidates, strategy))

    async def _organize(self, candidates: list[ScoredPaper], strategy: SearchStrategy) -> PaperCollection:
        """Return the organizer's collection with the ids of its papers only: the pool has the papers in full."""
        organized = await self.skills.result_organizer.organize(candidates, strategy, self.query)
        papers = await self.steps.call_in_thread_if_large(_reduce_to_ids, organized.papers)
        return organized.model_copy(update={"papers": papers})

    def _get_threshold(self, strategy: SearchStrategy) -> float | None:
        """Return the least relevance of the strategy, or else the one that the organizer requires of every strategy."""
        asked = strategy.filters.min_relevance
        return self.skills.min_relevance if asked is None else asked


def _reduce_to_ids(papers: list[Paper]) -> list[Paper]:
    return [Paper(id=paper.id, title="", source="") for paper in papers]


def _describe_missing_answers(round_number: int, has_papers: bool) -> str:
    earlier = "; the papers are those of the earlier rounds" if has_papers else ""
    return f"No source answered in round {round_number + 1}{earlier}."
