"""Count a search as a PRISMA 2020 flow: records identified, removed, screened, excluded and included."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel, Field

from paper_search.domain.query.filters import count_unknown_years_kept
from paper_search.domain.review_models import (
    BY_AUTOMATION,
    BY_REVIEWER,
    EXCLUSIONS_BY_JUDGE,
    DuplicateCorrection,
    Exclusion,
    ExclusionReason,
    Judge,
    ReviewStatus,
    find_judge_of_decisions,
)
from paper_search.domain.source_descriptions import describe_incomplete_search
from paper_search.models import Paper, PaperCollection, PartOrigin, RoundLog, SourceReport
from paper_search.sources.query_translation import format_origin_value
from uraniborg.kernel.shared_fields import StoredActor

DUPLICATE_IN_ROUND: Final = "duplicate_within_round"
DUPLICATE_OF_EARLIER_ROUND: Final = "duplicate_of_earlier_round"
DUPLICATE_BY_PERSON: Final = "duplicate_by_person"
DUPLICATE_BY_AGENT: Final = "duplicate_by_agent"
DUPLICATE_BY_PROGRAM: Final = "duplicate_by_program"
REMOVED_BY_AUTOMATION: Final = "Records removed by automation tool"
"""The title of the part of the excluded papers that nobody judged."""

_QUERY: Final = re.compile(r"queries\[(\d+)\]")
LABELS: Final[Mapping[str, str]] = {
    DUPLICATE_IN_ROUND: "Duplicates within a round",
    DUPLICATE_OF_EARLIER_ROUND: "Duplicates of papers from earlier rounds",
    DUPLICATE_BY_PERSON: "Duplicates merged by a person",
    DUPLICATE_BY_AGENT: "Duplicates merged by an agent",
    DUPLICATE_BY_PROGRAM: "Duplicates merged by a program",
    ExclusionReason.YEAR: "Year outside the limits",
    ExclusionReason.LANGUAGE: "Other language",
    ExclusionReason.EXCLUDED_WORDS: "Words excluded by the query",
    ExclusionReason.NO_TITLE: "No title",
    ExclusionReason.OTHER_WORK: "Not one of the works asked for",
    ExclusionReason.OVER_SOURCE_LIMIT: "Over the limit of records for a source",
    ExclusionReason.DUPLICATE: "Repeated by the same source",
    ExclusionReason.BELOW_THRESHOLD: "Relevance below the threshold",
    ExclusionReason.OVER_LIMIT: "Over the limit of results",
    ExclusionReason.BY_PERSON: "Excluded by a person",
    ExclusionReason.BY_AGENT: "Excluded by an agent",
    ExclusionReason.BY_PROGRAM: "Excluded by a program",
    ExclusionReason.MERGED: "Same paper as another, found later",
}
_INCOMPLETE: Final = "at least one source could not answer in full"


class FlowCounts(BaseModel):
    """The boxes of a flow diagram.

    The sum of `identified` is the sum of `removed` plus `screened`; `screened` is the sum of `excluded` plus
    `included`.
    """

    identified: dict[str, int] = Field(default_factory=dict)
    """Records by source."""
    matches: dict[str, int] = Field(default_factory=dict)
    """All matches by source, for sources that state one total. Empty for several rounds: their matches overlap."""
    removed: dict[str, int] = Field(default_factory=dict)
    """Records removed before screening, by reason."""
    screened: int = 0
    excluded: dict[str, int] = Field(default_factory=dict)
    """Screened papers that are not in the result, by reason."""
    included: int = 0


class RoundFlow(FlowCounts):
    """One round: its counts, queries, limits and the sources' reports."""

    round: int
    """Counted from 1."""
    queries: list[str]
    limits: dict[str, int | float | str]
    origins: list[str] = Field(default_factory=list)
    """The inherited and the new parts of the strategy, with reasons."""
    sources: list[SourceReport]
    unknown_years_kept: int = 0
    """Papers of the result without a year, which the limits of years have kept."""


class PrismaFlow(FlowCounts):
    """A whole search. Searches of versions that did not log rounds have no `rounds`."""

    question: str
    date: str
    software: str
    actor: StoredActor = None
    """Who started the search; None if that is not known."""
    domain: str
    ended_by: str | None
    partial: bool
    incomplete_because: str = ""
    """Why the search is partial."""
    rounds: list[RoundFlow]
    judged_by_person: int
    """Screened papers that a person marked."""
    judged_by_agent: int = 0
    """Screened papers that agents marked and no person."""
    judged_by_program: int = 0
    """Screened papers that other programs marked, and no person and no agent."""
    judged_by_software: int = 0
    """The other screened papers: the software alone screened them, by relevance and limits."""
    removed_by_automation: int = 0
    """Excluded papers that nobody judged: below `min_relevance`, or over `max_results`."""
    unknown_years_kept: int = 0
    """Papers of the result without a year, which the limits of years have kept."""
    included_by_status: dict[str, int]
    included_by_agent: dict[str, int] = Field(default_factory=dict)
    """The papers among these that agents marked and no person."""
    included_by_program: dict[str, int] = Field(default_factory=dict)
    """The papers among these that other programs marked, and no person and no agent."""
    exclusions: list[Exclusion]
    corrections: list[DuplicateCorrection] = Field(default_factory=list[DuplicateCorrection])
    """The merges and splits of reviewers."""
    notes: list[str]


def build_prisma_flow(collection: PaperCollection) -> PrismaFlow:
    """Return the flow of a search: the sums over all rounds, and each round."""
    metadata = collection.metadata
    rounds = [_build_round_flow(log, count_unknown_years_kept(collection, log.round)) for log in metadata.round_logs]
    screened = sum(flow.screened for flow in rounds)
    reports = [report for log in metadata.round_logs for report in log.sources] or metadata.sources
    statuses = Counter(paper.status for paper in collection.papers)
    by_judge: dict[Judge, Counter[ReviewStatus]] = {"person": Counter(), "agent": Counter(), "program": Counter()}
    for paper in collection.papers:
        if paper.status is not ReviewStatus.UNDECIDED:
            by_judge[_find_judge(paper)][paper.status] += 1
    reasons = Counter(one.reason for one in metadata.exclusions)
    judged = {judge: by_judge[judge].total() + reasons[EXCLUSIONS_BY_JUDGE[judge]] for judge in by_judge}
    identified = (r.identified for r in rounds) if rounds else [_count_by_source(metadata.sources)]
    matches = rounds[0].matches if rounds else _count_matches_by_source(metadata.sources)
    return PrismaFlow(
        identified=_sum_counts(identified),
        matches=matches if len(rounds) < 2 else {},
        removed=_sum_counts(r.removed for r in rounds),
        screened=screened,
        excluded=_sum_counts(r.excluded for r in rounds),
        included=len(collection.papers),
        question=metadata.query,
        date=metadata.timestamp,
        software=metadata.software,
        actor=metadata.actor,
        domain=metadata.domain,
        ended_by=metadata.reason,
        partial=metadata.partial,
        incomplete_because=(describe_incomplete_search(reports) or _INCOMPLETE) if metadata.partial else "",
        rounds=rounds,
        judged_by_person=judged["person"],
        judged_by_agent=judged["agent"],
        judged_by_program=judged["program"],
        judged_by_software=max(0, screened - sum(judged.values())),
        removed_by_automation=sum(reasons[reason] for reason in BY_AUTOMATION),
        unknown_years_kept=count_unknown_years_kept(collection),
        included_by_status={status.value: count for status, count in statuses.items()},
        included_by_agent={status.value: count for status, count in by_judge["agent"].items()},
        included_by_program={status.value: count for status, count in by_judge["program"].items()},
        exclusions=metadata.exclusions,
        corrections=metadata.corrections,
        notes=metadata.notes,
    )


def _find_judge(paper: Paper) -> Judge:
    return find_judge_of_decisions(paper.decisions) if paper.decisions else "person"


def count_screened_by_judge(flow: PrismaFlow) -> list[tuple[str, int]]:
    """Return the numbers of papers that people, agents and programs have judged, and that only the software has."""
    counts = [
        ("judged by a person", flow.judged_by_person),
        ("judged by an agent", flow.judged_by_agent),
        ("judged by a program", flow.judged_by_program),
        ("by the software alone", flow.judged_by_software),
    ]
    return [(judge, count) for judge, count in counts if count]


def name_included_papers(flow: PrismaFlow) -> str:
    """Return the title of the last box: papers are only included if a person marked every one so, otherwise kept."""
    is_decided = set(flow.included_by_status) <= {ReviewStatus.INCLUDE.value}
    return "Papers included" if is_decided else "Papers kept, not all included"


def count_included_by_description(flow: PrismaFlow) -> list[tuple[str, int]]:
    """Return the marks of the included papers with their counts."""
    counts: list[tuple[str, int]] = []
    for status, count in sorted(flow.included_by_status.items()):
        by_agent, by_program = flow.included_by_agent.get(status, 0), flow.included_by_program.get(status, 0)
        name = "not judged by a person" if status == ReviewStatus.UNDECIDED else f"marked {status}"
        counts.append((name, count - by_agent - by_program))
        counts += [(f"{name} by an agent", by_agent), (f"{name} by a program", by_program)]
    return [(name, count) for name, count in counts if count]


def count_exclusions_by_description(flow: PrismaFlow) -> list[tuple[str, int]]:
    """Return the reasons of all exclusions with their counts, including thresholds and the words of reviewers."""
    reasons: Counter[str] = Counter(_describe_exclusion(exclusion) for exclusion in flow.exclusions)
    return sorted(reasons.items(), key=lambda item: (-item[1], item[0]))


def _describe_exclusion(exclusion: Exclusion) -> str:
    label = LABELS[exclusion.reason]
    if exclusion.reason is ExclusionReason.BELOW_THRESHOLD and exclusion.threshold is not None:
        return f"{label} of {exclusion.threshold:g}"
    if exclusion.reason in BY_REVIEWER:
        return f"{label}: {exclusion.detail.strip()}" if exclusion.detail and exclusion.detail.strip() else label
    return label


def _describe_origin(origin: PartOrigin) -> str:
    return f"{_name_part(origin.part)}: {format_origin_value(origin)} ({origin.reason})"


def _build_round_flow(log: RoundLog, unknown_years_kept: int) -> RoundFlow:
    duplicates = {
        DUPLICATE_IN_ROUND: log.duplicates_within_round,
        DUPLICATE_OF_EARLIER_ROUND: log.duplicates_of_earlier_rounds,
    }
    by_reviewer = {
        DUPLICATE_BY_PERSON: log.duplicates_by_person,
        DUPLICATE_BY_AGENT: log.duplicates_by_agent,
        DUPLICATE_BY_PROGRAM: log.duplicates_by_program,
    }
    filters = log.strategy.filters.model_dump(mode="json", exclude_none=True)
    return RoundFlow(
        round=log.round + 1,
        queries=[query.boolean_query or query.words for query in log.strategy.queries],
        limits=filters,
        origins=[_describe_origin(origin) for origin in log.strategy.origins],
        sources=log.sources,
        identified=_count_by_source(log.sources),
        matches=_count_matches_by_source(log.sources),
        removed={**duplicates, **_drop_zeros(by_reviewer), **_drop_zeros(log.removed_before_screening)},
        screened=log.screened,
        excluded=_drop_zeros(log.excluded),
        included=log.included,
        unknown_years_kept=unknown_years_kept,
    )


def _name_part(part: str) -> str:
    """Return the name of a part of a strategy in words: `Query 1` for `queries[0]`."""
    if index := _QUERY.fullmatch(part):
        return f"Query {int(index[1]) + 1}"
    return part.replace("_", " ").capitalize()


def _count_by_source(reports: Iterable[SourceReport]) -> dict[str, int]:
    return _sum_counts({report.name: report.received} for report in reports)


def _count_matches_by_source(reports: Iterable[SourceReport]) -> dict[str, int]:
    return {report.name: report.found for report in reports if report.found is not None}


def _sum_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(total)


def _drop_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
