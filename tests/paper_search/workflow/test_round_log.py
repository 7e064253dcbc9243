"""Tests of the log of a round and of the counts derived from it."""

from paper_search.domain.review_models import Exclusion, ExclusionReason
from paper_search.models import RoundLog, SourceReport, SourceStatus, StageCount
from paper_search.workflow.paper_pool import RoundAdditions
from paper_search.workflow.rounds import add_inclusion_counts, build_round_log, count_stages
from paper_search.workflow.skill_interfaces import SearchOutcome
from tests.paper_search.workflow.samples import make_paper, make_record, make_strategy


def make_log() -> RoundLog:
    reports = [
        SourceReport(name="alpha", status=SourceStatus.OK, returned=3, removed={"year": 2, "duplicate": 1}),
        SourceReport(name="beta", status=SourceStatus.OK, returned=1, removed={"year": 1}),
        SourceReport(name="gamma", status=SourceStatus.FAILED),
    ]
    outcome = SearchOutcome(papers=[make_record(title) for title in "ABCD"], reports=reports)
    return build_round_log(1, make_strategy(), outcome, RoundAdditions(2, 1, 1), {"same DOI": 2})


def test_repetitions_of_a_source_count_as_duplicates_of_the_round() -> None:
    log = make_log()
    assert log.identified == sum(report.received for report in log.sources) == 8
    assert log.removed_before_screening == {"year": 3}
    assert (log.duplicates_within_round, log.duplicates_of_earlier_rounds, log.screened) == (2, 1, 2)


def test_included_and_excluded_papers_are_counted_for_the_round_that_found_them() -> None:
    exclusions = [
        Exclusion(paper_id=str(number), title="x", round=number, reason=ExclusionReason.BELOW_THRESHOLD)
        for number in (0, 1)
    ]
    papers = [make_paper("A", found_in_round=1), make_paper("B", found_in_round=0)]
    (log,) = add_inclusion_counts([make_log()], papers, exclusions)
    assert (log.included, log.excluded) == (1, {"below_threshold": 1})


def test_stages_follow_from_the_log() -> None:
    (log,) = add_inclusion_counts(
        [make_log()], [make_paper("A", found_in_round=1), make_paper("B", found_in_round=1)], []
    )
    assert count_stages([log]) == [
        StageCount(round=1, stage="search", count_in=8, count_out=5, detail={"alpha": 3, "beta": 1, "gamma": 0}),
        StageCount(round=1, stage="dedup", count_in=5, count_out=2, detail={"same DOI": 2}),
        StageCount(round=1, stage="relevance", count_in=2, count_out=2),
    ]
