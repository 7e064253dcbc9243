"""Tests of the pool of papers."""

from datetime import UTC, datetime

import pytest

from paper_search.domain.dedup import deduplicate
from paper_search.domain.review_models import ExclusionReason, PaperDecision, ReviewStatus
from paper_search.models import RawPaper, ScoredPaper
from paper_search.skills.deduplicator import Deduplicator
from paper_search.workflow.duplicate_corrections import DuplicateCorrections
from paper_search.workflow.paper_pool import Pool, RoundAdditions, find_record_positions
from tests.paper_search.workflow.samples import make_record

AT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 1, 2, tzinfo=UTC)
INCLUDE, EXCLUDE, MAYBE, UNDECIDED = ReviewStatus

JOURNAL = "Tidal heating of the icy moon Europa"
PREPRINT = "On the heating of Europa by tides"


def add_round(pool: Pool, found: list[RawPaper], number: int) -> RoundAdditions:
    done = deduplicate([*found, *(entry.scored.paper for entry in pool.entries)])
    records = DuplicateCorrections(pool, Deduplicator()).name_records(found, number)
    return pool.add_papers(done.papers, done.members, records)


def set_scores(pool: Pool, **scores: float) -> None:
    pool.update_scores(
        ScoredPaper(paper=entry.scored.paper, relevance_score=scores[entry.scored.paper.title], relevance_reason="")
        for entry in list(pool.entries)
    )


def admit_papers(pool: Pool, limit: int, threshold: float | None = 0.5) -> None:
    papers = [entry.paper for entry in pool.entries if not entry.admitted]
    relevant = [paper for paper in papers if paper.relevance_score >= (threshold or 0.5)]
    pool.admit_papers(sorted(relevant, key=lambda paper: -paper.relevance_score)[:limit], limit, threshold)


def add_decision(pool: Pool, paper_id: str, status: ReviewStatus, reviewer: str = "mira", at: datetime = AT) -> None:
    pool.add_decisions({paper_id: PaperDecision(status=status, reason="because")}, reviewer, at)


def list_reasons(pool: Pool) -> dict[str, ExclusionReason]:
    return {exclusion.title: exclusion.reason for exclusion in pool.list_exclusions(0.5)}


def make_duplicate_pair(rounds: tuple[int, int] = (0, 0)) -> tuple[Pool, RawPaper]:
    """Return a pool with the preprint and the journal article of one paper, and the record that unites them."""
    pool = Pool()
    add_round(pool, [make_record(PREPRINT, identifiers={"arxiv": "2101.00001"}, authors=[])], rounds[0])
    add_round(pool, [make_record(JOURNAL, doi="10.1000/europa")], rounds[1])
    uniting_record = make_record(JOURNAL, source="beta", doi="10.1000/europa", identifiers={"arxiv": "2101.00001"})
    return pool, uniting_record


def test_a_paper_found_again_is_a_duplicate_of_an_earlier_round_and_keeps_its_round() -> None:
    pool = Pool()
    assert add_round(pool, [make_record("Io"), make_record("Io"), make_record("Europa")], 0) == RoundAdditions(2, 1, 0)
    assert add_round(pool, [make_record("Io"), make_record("Io"), make_record("Titan")], 1) == RoundAdditions(1, 0, 2)
    found_in = {entry.paper.title: entry.paper.found_in_round for entry in pool.entries}
    assert found_in == {"Io": 0, "Europa": 0, "Titan": 1}


def test_a_paper_below_the_threshold_is_excluded_until_its_score_rises() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io"), make_record("Europa")], 0)
    set_scores(pool, Io=0.9, Europa=0.2)
    admit_papers(pool, 10)
    assert [paper.title for paper in pool.result] == ["Io"]
    (low,) = pool.list_exclusions(0.5)
    assert (low.title, low.reason, low.score, low.threshold) == ("Europa", ExclusionReason.BELOW_THRESHOLD, 0.2, 0.5)
    set_scores(pool, Io=0.9, Europa=0.6)
    admit_papers(pool, 10)
    assert [paper.title for paper in pool.result] == ["Io", "Europa"]


def test_a_paper_once_admitted_stays_when_its_score_falls() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io")], 0)
    set_scores(pool, Io=0.9)
    admit_papers(pool, 10)
    set_scores(pool, Io=0.0)
    admit_papers(pool, 10)
    assert [(paper.title, paper.relevance_score) for paper in pool.result] == [("Io", 0.0)]


@pytest.mark.parametrize(
    ("threshold", "reason"), [(0.5, ExclusionReason.BELOW_THRESHOLD), (None, ExclusionReason.OVER_LIMIT)]
)
def test_papers_over_the_limit_are_distinguished_from_papers_below_the_threshold(
    threshold: float | None, reason: ExclusionReason
) -> None:
    pool = Pool()
    add_round(pool, [make_record("Io"), make_record("Europa"), make_record("Titan")], 0)
    set_scores(pool, Io=0.9, Europa=0.9, Titan=0.1)
    admit_papers(pool, 1, threshold)
    left = {exclusion.title: exclusion.reason for exclusion in pool.list_exclusions(threshold)}
    assert left == {"Europa": ExclusionReason.OVER_LIMIT, "Titan": reason}
    admit_papers(pool, 1, threshold)
    assert {paper.title for paper in pool.result} == {"Io", "Europa"}


def test_a_person_excludes_with_a_reason_and_may_change_their_mind() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io")], 0)
    set_scores(pool, Io=0.9)
    admit_papers(pool, 10)
    add_decision(pool, pool.entries[0].id, EXCLUDE)
    assert pool.result == []
    (exclusion,) = pool.list_exclusions(0.5)
    decision = (exclusion.reason, exclusion.reviewer, exclusion.at, exclusion.detail)
    assert decision == (ExclusionReason.BY_PERSON, "mira", AT, "because")
    add_decision(pool, pool.entries[0].id, UNDECIDED)
    assert [paper.status for paper in pool.result] == [UNDECIDED]


def test_a_paper_over_the_limit_that_is_no_longer_excluded_by_a_person_is_over_the_limit_again() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io"), make_record("Europa")], 0)
    set_scores(pool, Io=0.9, Europa=0.8)
    admit_papers(pool, 1)
    add_decision(pool, pool.entries[1].id, EXCLUDE)
    pool.admit_papers([], 1, 0.5)
    add_decision(pool, pool.entries[1].id, UNDECIDED)
    assert list_reasons(pool) == {"Europa": ExclusionReason.OVER_LIMIT}


@pytest.mark.parametrize("status", [INCLUDE, MAYBE])
def test_a_person_overrules_the_threshold(status: ReviewStatus) -> None:
    pool = Pool()
    add_round(pool, [make_record("Io")], 0)
    set_scores(pool, Io=0.0)
    admit_papers(pool, 10)
    add_decision(pool, pool.entries[0].id, status)
    assert [paper.status for paper in pool.result] == [status]


def test_the_decisions_of_two_reviewers_are_both_stored() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io")], 0)
    add_decision(pool, pool.entries[0].id, INCLUDE, "mira")
    add_decision(pool, pool.entries[0].id, EXCLUDE, "noor", LATER)
    (paper,) = pool.result
    assert paper.status is MAYBE
    assert [(decision.reviewer, decision.status) for decision in paper.decisions] == [
        ("mira", INCLUDE),
        ("noor", EXCLUDE),
    ]


def test_a_decision_about_an_unknown_paper_changes_nothing() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io")], 0)
    before = pool.model_copy(deep=True)
    add_decision(pool, "p_unknown", EXCLUDE)
    assert pool == before


@pytest.mark.parametrize("rounds", [(0, 0), (0, 1)])
def test_two_papers_that_a_new_record_unites_are_merged_with_both_ids(rounds: tuple[int, int]) -> None:
    pool, uniting_record = make_duplicate_pair(rounds)
    preprint, journal = pool.entries
    former = {preprint.id, journal.id}
    admit_papers(pool, 10)
    assert add_round(pool, [uniting_record], 2) == RoundAdditions(0, 0, 1)
    (one,) = pool.entries
    assert {one.id, *one.other_ids} >= former
    assert one.found_in_round == 0
    (exclusion,) = (exclusion for exclusion in pool.list_exclusions(0.5) if exclusion.reason is ExclusionReason.MERGED)
    assert (exclusion.round, exclusion.detail) == (rounds[1], one.id)
    assert exclusion.paper_id != one.id
    for former_id in former:
        add_decision(pool, former_id, EXCLUDE)
        assert one.status is EXCLUDE
        add_decision(pool, former_id, INCLUDE)
        assert one.status is INCLUDE


def test_the_decisions_about_two_papers_that_are_one_are_combined() -> None:
    pool, uniting_record = make_duplicate_pair()
    preprint, journal = (entry.id for entry in pool.entries)
    add_decision(pool, preprint, EXCLUDE, "mira", LATER)
    add_decision(pool, journal, INCLUDE, "mira", AT)
    add_decision(pool, journal, MAYBE, "noor", AT)
    add_round(pool, [uniting_record], 1)
    (paper,) = pool.result
    assert {decision.reviewer: decision.status for decision in paper.decisions} == {"mira": EXCLUDE, "noor": MAYBE}
    assert paper.status is MAYBE


@pytest.mark.parametrize("scores", [(0.1, 0.9), (0.9, 0.1)])
def test_an_admitted_paper_merged_with_one_below_the_threshold_stays_admitted(scores: tuple[float, float]) -> None:
    pool, uniting_record = make_duplicate_pair()
    set_scores(pool, **dict(zip((PREPRINT, JOURNAL), scores, strict=True)))
    admit_papers(pool, 10)
    add_round(pool, [uniting_record], 1)
    (paper,) = pool.result
    assert paper.relevance_score == 0.9


def test_entries_that_a_merge_does_not_cover_stay() -> None:
    pool = Pool()
    add_round(pool, [make_record("Io"), make_record("Europa")], 0)
    titan = make_record("Titan")
    pool.add_papers([titan], [[0]], DuplicateCorrections(pool, Deduplicator()).name_records([titan], 1))
    assert [entry.scored.paper.title for entry in pool.entries] == ["Io", "Europa", "Titan"]


def test_missing_members_are_found_by_identifiers_and_titles() -> None:
    records = [
        make_record("Io"),
        make_record("Io", source="beta"),
        make_record("Europa", doi="10.1/e", records=[]),
        make_record("Titan"),
    ]
    done = deduplicate(records)
    assert find_record_positions(records, done.papers) == done.members
    assert find_record_positions([make_record("Rhea")], done.papers) == [[], [], []]
