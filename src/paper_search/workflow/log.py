"""The search log of a run: each round in the counts of PRISMA 2020, and the stages derived from them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from paper_search.models import Paper, RoundLog, SearchStrategy, StageCount
from paper_search.review import Exclusion, ExclusionReason
from paper_search.skills.searcher import SearchOutcome
from paper_search.workflow.pool import Additions


def log_round(
    number: int, strategy: SearchStrategy, outcome: SearchOutcome, added: Additions, merge_reasons: dict[str, int]
) -> RoundLog:
    """Return the log of a round that has searched. What became of its papers is filled in by `settle_logs`."""
    removed: Counter[str] = Counter()
    for report in outcome.reports:
        removed.update(report.removed)
    identified = len(outcome.papers) + removed.total()
    own_repetitions = removed.pop(ExclusionReason.DUPLICATE.value, 0)
    return RoundLog(
        round=number,
        strategy=strategy,
        sources=outcome.reports,
        identified=identified,
        removed_before_screening=dict(removed),
        duplicates_within_round=own_repetitions + added.duplicates_within_round,
        duplicates_of_earlier_rounds=added.duplicates_of_earlier_rounds,
        merge_reasons=merge_reasons,
        screened=added.screened,
    )


def settle_logs(logs: Iterable[RoundLog], papers: Iterable[Paper], exclusions: Iterable[Exclusion]) -> list[RoundLog]:
    """Return the logs with what has become of the papers that each round screened."""
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


def count_stages(logs: Sequence[RoundLog]) -> list[StageCount]:
    """Return how many records and papers went into and out of each stage of each round."""
    return [stage for log in logs for stage in _stages(log)]


def _stages(log: RoundLog) -> list[StageCount]:
    left = log.screened + log.duplicates_of_earlier_rounds + log.duplicates_within_round
    by_source = {report.name: report.returned for report in log.sources}
    stages = [
        ("search", log.identified, left, by_source),
        ("dedup", left, log.screened, log.merge_reasons),
        ("relevance", log.screened, log.included, log.excluded),
    ]
    return [
        StageCount(round=log.round, stage=name, count_in=count_in, count_out=count_out, detail=detail)
        for name, count_in, count_out, detail in stages
    ]
