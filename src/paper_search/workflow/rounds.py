"""Remember the finished rounds of a search with feedback and papers; log each in the counts of PRISMA 2020."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field

from paper_search.citation_keys import add_citation_keys
from paper_search.domain.facets import count_facets
from paper_search.domain.review_models import DEFAULT_REVIEWER, Exclusion, ExclusionReason, ReviewStatus, Sender
from paper_search.models import (
    Paper,
    PaperCollection,
    ParsedIntent,
    RelevanceHints,
    RoundLog,
    SearchMetadata,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StageCount,
    UserFeedback,
)
from paper_search.workflow.paper_pool import Pool, RoundAdditions
from paper_search.workflow.skill_interfaces import SearchOutcome


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

    def limit_intent(self, intent: ParsedIntent) -> ParsedIntent:
        """Return the intent with max_results at most as here, with the min_relevance from here, and with all notes."""
        constraints = intent.constraints
        is_stated = "max_results" in constraints.model_fields_set
        wanted = constraints.max_results if is_stated else self.max_results
        limits = {"max_results": max(1, min(wanted, self.max_results)), "min_relevance": self.min_relevance}
        limited = constraints.model_copy(update=limits)
        notes = [*self.notes, *intent.notes]
        return intent.model_copy(update={"constraints": limited, "notes": list(dict.fromkeys(notes))})


class IterationRecord(BaseModel):
    """One finished round."""

    iteration: int
    strategy: SearchStrategy
    result_count: int
    feedback: UserFeedback | None = None


class WorkflowState(BaseModel):
    """The state of one search. `current_iteration` counts finished rounds, `decisions_taken` a person's decisions."""

    current_iteration: int = 0
    decisions_taken: int = 0
    history: list[IterationRecord] = Field(default_factory=list[IterationRecord])
    pool: Pool = Field(default_factory=Pool)
    is_complete: bool = False

    @property
    def accumulated_papers(self) -> list[Paper]:
        """The papers with the status include."""
        return self.pool.select_by_status(ReviewStatus.INCLUDE)

    @property
    def rejected_papers(self) -> list[Paper]:
        """The papers with the status exclude."""
        return self.pool.select_by_status(ReviewStatus.EXCLUDE)

    @property
    def previous_strategies(self) -> list[SearchStrategy]:
        """The strategies of all finished rounds."""
        return [record.strategy for record in self.history]

    @property
    def latest_feedback(self) -> UserFeedback | None:
        """The feedback of the last finished round."""
        return self.history[-1].feedback if self.history else None

    def list_feedback(self, *, exclude_last: bool = False, since_round: int = 0) -> list[UserFeedback]:
        """Return the feedback of all rounds from `since_round` on, with or without the last one."""
        records = self.history[since_round : -1 if exclude_last else None]
        return [record.feedback for record in records if record.feedback]

    @property
    def hints(self) -> RelevanceHints:
        """The feedback of all rounds, for the scorer."""
        return RelevanceHints(
            relevant=list(self.accumulated_papers),
            irrelevant=list(self.rejected_papers),
            free_text=[text for feedback in self.list_feedback() for text in feedback.texts],
            added_terms=[term for feedback in self.list_feedback() for term in feedback.add_terms],
        )

    def record_iteration(
        self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback | None = None
    ) -> None:
        """Add a finished round to the history."""
        self.history.append(
            IterationRecord(
                iteration=self.current_iteration,
                strategy=strategy,
                result_count=result_count,
                feedback=feedback,
            )
        )
        self.current_iteration += 1

    def add_decisions(self, feedback: UserFeedback, at: datetime | None, sender: Sender | None = None) -> None:
        """Store the feedback's decisions about papers."""
        for reviewer, decisions in feedback.reviews.items():
            self.pool.add_decisions(decisions, reviewer, at, sender)
        self.pool.add_decisions(feedback.statuses, feedback.reviewer or DEFAULT_REVIEWER, at, sender)


def build_collection(
    pool: Pool, round_logs: Sequence[RoundLog], latest: SearchMetadata, rounds: int, options: SearchRunOptions
) -> PaperCollection:
    """Return the result after some rounds, with the metadata of the latest search."""
    papers = add_citation_keys(pool.result)
    # Excluded papers get their keys last, so that an exclusion changes no key of the result.
    excluded = add_citation_keys([*papers, *pool.excluded_by_reviewers])[len(papers) :]
    exclusions = pool.list_exclusions(pool.threshold)
    logs = add_inclusion_counts(recount_duplicates(round_logs, pool), papers, exclusions)
    metadata = latest.model_copy(
        update={
            "total_found": len(pool.entries),
            "domain": options.domain,
            "software": options.software,
            "rounds": rounds,
            "stage_counts": count_stages(logs),
            "round_logs": logs,
            "exclusions": exclusions,
            "corrections": pool.corrections,
            "partial": any(_is_report_incomplete(report) for log in logs for report in log.sources),
        }
    )
    return PaperCollection(
        metadata=metadata,
        papers=papers,
        excluded_papers=excluded,
        removed_papers=pool.removed_by_automation,
        facets=count_facets(papers),
    )


def _is_report_incomplete(report: SourceReport) -> bool:
    return report.partial or report.status in (SourceStatus.FAILED, SourceStatus.RATE_LIMITED)


def build_round_log(
    number: int,
    strategy: SearchStrategy,
    outcome: SearchOutcome,
    added: RoundAdditions,
    merge_reasons: dict[str, int],
) -> RoundLog:
    """Return the log of a round that has searched. `add_inclusion_counts` adds the included and excluded papers."""
    removed: Counter[str] = Counter()
    for report in outcome.reports:
        removed.update(report.removed)
    identified = len(outcome.papers) + removed.total()
    repeated = removed.pop(ExclusionReason.DUPLICATE.value, 0)
    return RoundLog(
        round=number,
        strategy=strategy,
        sources=outcome.reports,
        identified=identified,
        removed_before_screening=dict(removed),
        duplicates_within_round=repeated + added.duplicates_within_round,
        duplicates_of_earlier_rounds=added.duplicates_of_earlier_rounds,
        merge_reasons=merge_reasons,
        screened=added.screened,
    )


def add_inclusion_counts(
    logs: Iterable[RoundLog], papers: Iterable[Paper], exclusions: Iterable[Exclusion]
) -> list[RoundLog]:
    """Return the logs with the numbers of included and excluded papers of those that each round screened."""
    included = Counter(paper.found_in_round for paper in papers)
    excluded = Counter((exclusion.round, exclusion.reason.value) for exclusion in exclusions)
    return [
        log.model_copy(
            update={
                "included": included[log.round],
                "excluded": {reason: count for (found_in, reason), count in excluded.items() if found_in == log.round},
            }
        )
        for log in logs
    ]


def recount_duplicates(logs: Sequence[RoundLog], pool: Pool) -> list[RoundLog]:
    """Return the logs with the numbers that follow from the papers as reviewers have merged and split them."""
    if not pool.corrections:
        return list(logs)
    screened: Counter[int] = Counter()
    repeated: Counter[int] = Counter()
    by_reviewer: Counter[tuple[str | None, int]] = Counter()
    for entry in pool.entries:
        screened[entry.found_in_round] += 1
        for part, round_number in entry.joined_parts:
            if part.joined_by == "software":
                screened[round_number] += 1
            else:
                by_reviewer[part.joined_by, round_number] += 1
        repeated.update(record.round for part in entry.parts for record in part.records if record.round > part.round)
    return [
        _set_duplicates(
            log,
            screened=screened[log.round],
            duplicates_of_earlier_rounds=repeated[log.round],
            duplicates_by_person=by_reviewer["person", log.round],
            duplicates_by_agent=by_reviewer["agent", log.round],
            duplicates_by_program=by_reviewer["program", log.round],
        )
        for log in logs
    ]


def _set_duplicates(log: RoundLog, **counts: int) -> RoundLog:
    records = log.screened + log.duplicates_within_round + log.duplicates_of_earlier_rounds
    return log.model_copy(update={**counts, "duplicates_within_round": records - sum(counts.values())})


def count_stages(logs: Sequence[RoundLog]) -> list[StageCount]:
    """Return the numbers of records and papers that went into and out of each stage of each round."""
    return [stage for log in logs for stage in _count_round_stages(log)]


def _count_round_stages(log: RoundLog) -> list[StageCount]:
    by_reviewers = log.duplicates_by_person + log.duplicates_by_agent + log.duplicates_by_program
    records = log.screened + log.duplicates_of_earlier_rounds + log.duplicates_within_round + by_reviewers
    by_source = {report.name: report.returned for report in log.sources}
    stages = [
        ("search", log.identified, records, by_source),
        ("dedup", records, log.screened, log.merge_reasons),
        ("relevance", log.screened, log.included, log.excluded),
    ]
    return [
        StageCount(round=log.round, stage=name, count_in=count_in, count_out=count_out, detail=detail)
        for name, count_in, count_out, detail in stages
    ]
