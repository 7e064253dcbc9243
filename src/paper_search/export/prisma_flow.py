"""The counts of a search as a PRISMA 2020 flow: records identified, removed, screened, excluded and included."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel, Field

from paper_search.models import PaperCollection, RoundLog, SourceReport
from paper_search.review_models import Exclusion, ExclusionReason, ReviewStatus

DUPLICATE_IN_ROUND: Final = "duplicate_within_round"
DUPLICATE_OF_EARLIER_ROUND: Final = "duplicate_of_earlier_round"

_QUERY: Final = re.compile(r"queries\[(\d+)\]")
LABELS: Final[Mapping[str, str]] = {
    DUPLICATE_IN_ROUND: "Duplicates within a round",
    DUPLICATE_OF_EARLIER_ROUND: "Duplicates of papers from earlier rounds",
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
    ExclusionReason.MERGED: "Same paper as another, found later",
}


class FlowCounts(BaseModel):
    """The boxes of a flow diagram.

    The sum of `identified` is the sum of `removed` plus `screened`; `screened` is the sum of `excluded` plus
    `included`.
    """

    identified: dict[str, int] = Field(default_factory=dict)
    """Records by source."""
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
    limits: dict[str, int | str]
    origins: list[str] = Field(default_factory=list)
    """The inherited and the new parts of the strategy, with reasons."""
    sources: list[SourceReport]


class PrismaFlow(FlowCounts):
    """A whole search. Searches of versions that did not log rounds have no `rounds`."""

    question: str
    date: str
    software: str
    domain: str
    ended_by: str | None
    partial: bool
    rounds: list[RoundFlow]
    judged_by_person: int
    """Screened papers that a person marked; the software alone screened the others, by relevance and limits."""
    included_by_status: dict[str, int]
    exclusions: list[Exclusion]
    notes: list[str]


def build_prisma_flow(collection: PaperCollection) -> PrismaFlow:
    """Return the flow of a search: the sums over all rounds, and each round."""
    metadata = collection.metadata
    rounds = [_build_round_flow(log) for log in metadata.round_logs]
    statuses = Counter(paper.status for paper in collection.papers)
    excluded_by_person = sum(one.reason is ExclusionReason.BY_PERSON for one in metadata.exclusions)
    identified = (r.identified for r in rounds) if rounds else [_count_by_source(metadata.sources)]
    return PrismaFlow(
        identified=_sum_counts(identified),
        removed=_sum_counts(r.removed for r in rounds),
        screened=sum(r.screened for r in rounds),
        excluded=_sum_counts(r.excluded for r in rounds),
        included=len(collection.papers),
        question=metadata.query,
        date=metadata.timestamp,
        software=metadata.software,
        domain=metadata.domain,
        ended_by=metadata.reason,
        partial=metadata.partial,
        rounds=rounds,
        judged_by_person=excluded_by_person + statuses.total() - statuses[ReviewStatus.UNDECIDED],
        included_by_status={status.value: count for status, count in statuses.items()},
        exclusions=metadata.exclusions,
        notes=metadata.notes,
    )


def count_screened_by_judge(flow: PrismaFlow) -> list[tuple[str, int]]:
    """Return the numbers of papers that people have judged, and that the software alone has screened."""
    counts = [
        ("judged by a person", flow.judged_by_person),
        ("by the software alone", flow.screened - flow.judged_by_person),
    ]
    return [(judge, count) for judge, count in counts if count]


def name_included_papers(flow: PrismaFlow) -> str:
    """Return the title of the last box: papers are only included if a person marked every one so, otherwise kept."""
    is_decided = set(flow.included_by_status) <= {ReviewStatus.INCLUDE.value}
    return "Papers included" if is_decided else "Papers kept, not all included"


def count_included_by_description(flow: PrismaFlow) -> list[tuple[str, int]]:
    """Return the marks of the included papers with their counts."""
    return [
        ("not judged by a person" if status == ReviewStatus.UNDECIDED else f"marked {status}", count)
        for status, count in sorted(flow.included_by_status.items())
    ]


def count_exclusions_by_description(flow: PrismaFlow) -> list[tuple[str, int]]:
    """Return the reasons of all exclusions with their counts, including thresholds and the words of reviewers."""
    reasons: Counter[str] = Counter(_describe_exclusion(exclusion) for exclusion in flow.exclusions)
    return sorted(reasons.items(), key=lambda item: (-item[1], item[0]))


def _describe_exclusion(exclusion: Exclusion) -> str:
    label = LABELS[exclusion.reason]
    if exclusion.reason is ExclusionReason.BELOW_THRESHOLD and exclusion.threshold is not None:
        return f"{label} of {exclusion.threshold:g}"
    if exclusion.reason is ExclusionReason.BY_PERSON:
        return f"{label}: {exclusion.detail.strip()}" if exclusion.detail and exclusion.detail.strip() else label
    return label


def _build_round_flow(log: RoundLog) -> RoundFlow:
    duplicates = {
        DUPLICATE_IN_ROUND: log.duplicates_within_round,
        DUPLICATE_OF_EARLIER_ROUND: log.duplicates_of_earlier_rounds,
    }
    filters = log.strategy.filters.model_dump(mode="json", exclude_none=True)
    return RoundFlow(
        round=log.round + 1,
        queries=[query.boolean_query for query in log.strategy.queries],
        limits=filters,
        origins=[f"{_name_part(origin.part)}: {origin.value} ({origin.reason})" for origin in log.strategy.origins],
        sources=log.sources,
        identified=_count_by_source(log.sources),
        removed={**duplicates, **_drop_zeros(log.removed_before_screening)},
        screened=log.screened,
        excluded=_drop_zeros(log.excluded),
        included=log.included,
    )


def _name_part(part: str) -> str:
    """Return the name of a part of a strategy in words: `Query 1` for `queries[0]`."""
    if index := _QUERY.fullmatch(part):
        return f"Query {int(index[1]) + 1}"
    return part.replace("_", " ").capitalize()


def _count_by_source(reports: Iterable[SourceReport]) -> dict[str, int]:
    return _sum_counts({report.name: report.received} for report in reports)


def _sum_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(total)


def _drop_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
