"""Reviews of several rounds: the pool only grows, and every paper has a status."""

import contextlib
import json
from typing import Any

import pytest

from paper_search.domain.query.query_texts import select_queries
from paper_search.domain.review_models import ExclusionReason, ReviewStatus
from paper_search.errors import InvalidDecision, NonRetryableError, RetryableError
from paper_search.models import PaperCollection, RawPaper
from paper_search.testing import (
    EmulatedLiterature,
    EmulatedRankedSource,
    FakeSource,
    ScriptedDecisions,
    ScriptExhausted,
)
from paper_search.workflow import Decision, DecisionAction
from paper_search.workflow.step_journal import MemoryJournal
from tests.paper_search.workflow.runs import (
    APPROVE,
    CLOCK,
    MOONS,
    QUERY,
    REJECT,
    RoundsSource,
    get_review,
    list_titles,
    make_edit,
    make_reject,
    make_workflow,
)
from tests.paper_search.workflow.samples import make_record

BODIES = ["Europa", "Enceladus", "Triton", "Miranda", "Ariel", "Dione"]
MANY = [
    make_record(f"Tidal heating of icy moons: {body}, model {number}", doi=f"10.1000/{body}.{number}")
    for body in BODIES
    for number in range(4)
]
OFF_TOPIC = make_record("Sourdough starters", doi="10.1/bread")
BROKEN = NonRetryableError("the key was refused")


def make_approve(**marks: Any) -> Decision:
    return Decision(action=DecisionAction.APPROVE, revised_data=marks)


def list_ids(collection: PaperCollection) -> set[str]:
    return {paper.id for paper in collection.papers}


def list_statuses(collection: PaperCollection) -> dict[str, ReviewStatus]:
    return {paper.title: paper.status for paper in collection.papers}


@pytest.mark.parametrize("end", [[APPROVE, APPROVE], [APPROVE, REJECT]], ids=["approved", "rounds used up"])
@pytest.mark.parametrize("found_again", [MANY, MANY[:1], []], ids=["all again", "one again", "none again"])
async def test_24_papers_4_marks_and_a_reject_end_with_all_but_the_excluded_ones(
    end: list[Decision], found_again: list[RawPaper]
) -> None:
    liked, disliked = {MANY[0].id, MANY[5].id}, {MANY[9].id, MANY[14].id}
    marks = make_reject(marked_relevant=sorted(liked), marked_irrelevant=sorted(disliked))
    handler = ScriptedDecisions([APPROVE, marks, *end])
    result = await make_workflow(handler, [RoundsSource("alpha", [MANY, found_again])], max_iterations=2).run(QUERY)
    assert len(get_review(handler, 1).papers) == 24
    assert list_ids(result) == {paper.id for paper in MANY} - disliked
    by_status = {paper.id: paper.status for paper in result.papers}
    assert {key for key, status in by_status.items() if status is ReviewStatus.INCLUDE} == liked
    assert {exclusion.paper_id for exclusion in result.metadata.exclusions} == disliked


async def test_a_later_round_adds_papers_and_each_paper_has_its_round() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    result = await make_workflow(handler, [RoundsSource("alpha", [MOONS[:2], MOONS[2:]])]).run(QUERY)
    assert {paper.id: paper.found_in_round for paper in result.papers} == {
        MOONS[0].id: 0,
        MOONS[1].id: 0,
        MOONS[2].id: 1,
    }
    assert result.metadata.total_found == 3


async def test_a_later_round_fetches_as_many_papers_that_are_new_to_the_search() -> None:
    source = EmulatedRankedSource(EmulatedLiterature(MANY))
    handler = ScriptedDecisions([make_edit(filters={"max_results": 6}), REJECT, APPROVE, APPROVE])
    result = await make_workflow(handler, [source], max_iterations=2).run(QUERY)
    first, second = (log.sources[0].returned for log in result.metadata.round_logs)
    assert first >= 6
    assert second - result.metadata.round_logs[1].duplicates_of_earlier_rounds >= 6


async def test_if_every_source_fails_in_round_2_the_result_of_round_1_stays_with_a_note() -> None:
    sources = [
        RoundsSource("alpha", [[*MOONS, OFF_TOPIC], BROKEN]),
        RoundsSource("beta", [[], RetryableError("slow down", rate_limited=True)]),
    ]
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    result = await make_workflow(handler, sources).run(QUERY)
    assert result.papers == get_review(handler, 1).papers
    assert get_review(handler, 3).papers == get_review(handler, 1).papers
    assert "No source answered in round 2; the papers are those of the earlier rounds." in result.metadata.notes
    assert result.metadata.partial
    assert [report.status.value for report in result.metadata.sources] == ["failed", "rate_limited"]


async def test_an_approve_may_carry_the_last_decisions() -> None:
    last = make_approve(decisions={MOONS[0].id: {"status": "exclude", "reason": "a comment"}, MOONS[1].id: "include"})
    result = await make_workflow(ScriptedDecisions([APPROVE, last])).run(QUERY)
    assert list_statuses(result) == {MOONS[1].title: ReviewStatus.INCLUDE, MOONS[2].title: ReviewStatus.UNDECIDED}
    (gone,) = result.metadata.exclusions
    assert (gone.reason, gone.detail, gone.reviewer) == (ExclusionReason.BY_PERSON, "a comment", "reviewer")
    assert gone.at == CLOCK.now()


async def test_an_approve_with_a_strategy_is_refused_at_review() -> None:
    handler = ScriptedDecisions([APPROVE, make_approve(queries=["moons"])])
    with pytest.raises(InvalidDecision, match="Unknown feedback fields"):
        await make_workflow(handler).run(QUERY)


@pytest.mark.parametrize("action", [DecisionAction.EDIT, DecisionAction.REJECT])
async def test_decisions_with_reviewer_and_reason_are_stored_with_each_paper(action: DecisionAction) -> None:
    data = {"decisions": {MOONS[0].id: {"status": "maybe", "reason": "no data"}}, "reviewer": " mira "}
    handler = ScriptedDecisions([APPROVE, Decision(action=action, revised_data=data), APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY)
    (decision,) = next(paper.decisions for paper in get_review(handler, 3).papers if paper.id == MOONS[0].id)
    assert (decision.status, decision.reason, decision.reviewer, decision.at) == (
        ReviewStatus.MAYBE,
        "no data",
        "mira",
        CLOCK.now(),
    )


async def test_an_excluded_paper_is_not_listed_again_and_can_be_included_later() -> None:
    gone, back = make_reject(marked_irrelevant=[MOONS[0].id]), make_reject(decisions={MOONS[0].id: "undecided"})
    handler = ScriptedDecisions([APPROVE, gone, APPROVE, back, APPROVE, APPROVE])
    result = await make_workflow(handler).run(QUERY)
    assert MOONS[0].id not in list_ids(get_review(handler, 3))
    assert MOONS[0].id in list_ids(get_review(handler, 5))
    assert list_ids(result) == {paper.id for paper in MOONS}


async def test_two_reviewers_who_disagree_leave_the_paper_in_as_maybe() -> None:
    first = make_reject(decisions={MOONS[0].id: "include"}, reviewer="mira")
    second = make_approve(decisions={MOONS[0].id: "exclude"}, reviewer="noor")
    result = await make_workflow(ScriptedDecisions([APPROVE, first, APPROVE, second])).run(QUERY)
    assert list_statuses(result)[MOONS[0].title] is ReviewStatus.MAYBE


async def test_a_paper_below_the_threshold_is_listed_with_its_score_and_a_person_may_include_it() -> None:
    include = make_reject(decisions={OFF_TOPIC.id: "include"})
    handler = ScriptedDecisions([APPROVE, include, APPROVE, APPROVE])
    result = await make_workflow(handler, [FakeSource("alpha", [*MOONS, OFF_TOPIC])], min_relevance=0.3).run(QUERY)
    (low,) = get_review(handler, 1).metadata.exclusions
    assert (low.paper_id, low.reason, low.threshold) == (OFF_TOPIC.id, ExclusionReason.BELOW_THRESHOLD, 0.3)
    assert low.score is not None
    assert low.score < 0.3
    assert OFF_TOPIC.id in list_ids(result)


async def test_a_paper_that_feedback_makes_relevant_is_admitted_in_a_later_round() -> None:
    wanted = [make_record(f"Cryovolcanism {where}", doi=f"10.1/{len(where)}") for where in ("on moons", "and heating")]
    handler = ScriptedDecisions([APPROVE, make_reject(free_text_feedback="also cryovolcanism"), APPROVE, APPROVE])
    result = await make_workflow(handler, [FakeSource("alpha", [*MOONS, *wanted])], min_relevance=0.3).run(QUERY)
    assert not list_ids(get_review(handler, 1)) & {paper.id for paper in wanted}
    assert list_ids(result) >= {paper.id for paper in wanted}
    assert {paper.found_in_round for paper in result.papers} == {0}


async def test_max_results_limits_the_papers_that_each_round_adds() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, make_edit(filters={"max_results": 3}), APPROVE])
    sources = [FakeSource("alpha", MANY[:8]), FakeSource("beta", MANY[8:16]), FakeSource("gamma", MANY[16:])]
    result = await make_workflow(handler, sources, max_results=10).run(QUERY)
    first, second = list_ids(get_review(handler, 1)), list_ids(get_review(handler, 3))
    assert len(first) == 10
    assert len(second) == 13
    assert first < second
    assert list_ids(result) == second


async def test_papers_over_the_limit_of_a_round_are_listed_as_such() -> None:
    source = FakeSource("alpha", MANY[:8])
    other = FakeSource("beta", MANY[8:16])
    result = await make_workflow(None, [source, other], max_results=10).run(QUERY)
    reasons = {exclusion.reason for exclusion in result.metadata.exclusions}
    assert (len(result.papers), len(result.metadata.exclusions)) == (10, 6)
    assert reasons == {ExclusionReason.OVER_LIMIT}


async def test_papers_that_a_later_record_unites_are_merged_and_old_ids_stay_valid() -> None:
    preprint = make_record("Heating of icy moons by tides", identifiers={"arxiv": "2101.00001"}, authors=[])
    uniting_record = make_record(MOONS[0].title, source="beta", doi=MOONS[0].doi, identifiers={"arxiv": "2101.00001"})
    both = {preprint.id, MOONS[0].id}
    marks = make_reject(decisions={preprint.id: "include"}, reviewer="mira")
    last = make_approve(decisions=dict.fromkeys(both, "maybe"), reviewer="noor")
    source = RoundsSource("alpha", [[*MOONS, preprint], [uniting_record]])
    handler = ScriptedDecisions([APPROVE, marks, APPROVE, last])
    result = await make_workflow(handler, [source]).run(QUERY)
    assert len(get_review(handler, 1).papers) == 4
    assert len(result.papers) == 3
    (one,) = (paper for paper in result.papers if paper.decisions)
    assert {one.id, *one.other_ids} >= both
    assert {decision.reviewer for decision in one.decisions} == {"mira", "noor"}
    assert [exclusion.reason for exclusion in result.metadata.exclusions] == [ExclusionReason.MERGED]


async def test_the_log_contains_the_queries_requests_and_sources_of_every_round() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, REJECT, APPROVE, APPROVE])
    source = FakeSource("alpha", MOONS)
    result = await make_workflow(handler, [source]).run(QUERY)
    assert [log.round for log in result.metadata.round_logs] == [0, 2]
    logged = [select_queries(None, log.strategy.queries) for log in result.metadata.round_logs]
    assert [[query.boolean_query for query in queries] for queries in logged] == [
        [query.boolean_query for query in strategy.queries] for strategy in source.asked
    ]
    assert [[report.name for report in log.sources] for log in result.metadata.round_logs] == [["alpha"], ["alpha"]]


NEW_FIELDS = {
    *("members", "at", "origins", "received", "removed", "round_logs", "exclusions", "decisions", "found_in_round"),
    "other_ids",
}


def downgrade_journal(journal: MemoryJournal, marked: set[str]) -> None:
    """Convert the journal to the format of the version that stored only the marked papers of round 1."""

    def without_new(found: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in found.items() if key not in NEW_FIELDS}

    for step, text in journal.entries.items():
        if step.startswith("asked-"):
            continue
        entry = json.loads(text, object_hook=without_new)
        if step in ("round-1/dedup", "round-1/score", "round-1/organize"):
            entry["papers"] = [paper for paper in entry["papers"] if paper.get("paper", paper)["id"] in marked]
        journal.entries[step] = json.dumps(entry)


@pytest.mark.parametrize("answered", range(1, 5))
async def test_a_session_of_the_previous_version_is_resumed_with_all_its_papers(answered: int) -> None:
    liked, disliked = MANY[0].id, MANY[9].id
    marks = make_reject(marked_relevant=[liked], marked_irrelevant=[disliked])
    script = [APPROVE, marks, APPROVE, APPROVE]
    journal, source = MemoryJournal(), RoundsSource("alpha", [MANY, MANY[:1]])
    with contextlib.suppress(ScriptExhausted):
        await make_workflow(ScriptedDecisions(script[:answered]), [source], journal=journal).run(QUERY, run_id="r")
    downgrade_journal(journal, {liked})
    rest = ScriptedDecisions(script[answered:])
    result = await make_workflow(rest, [source], journal=journal).run(QUERY, run_id="r")
    assert list_ids(result) == {paper.id for paper in MANY} - {disliked}
    assert [(log.identified, log.screened) for log in result.metadata.round_logs] == [(24, 24), (1, 0)]
    assert {exclusion.paper_id for exclusion in result.metadata.exclusions} == {disliked}


async def test_titles_marked_in_any_round_add_terms_to_the_next_strategy() -> None:
    liked = make_record("Tidal heating of icy moons by obliquity", doi="10.1/obliquity")
    again = make_record("Obliquity tides and the heating of icy moons", doi="10.1/obliquity.2")
    marks = make_reject(decisions={liked.id: "include", again.id: {"status": "include"}})
    source = FakeSource("alpha", [*MOONS, liked, again])
    await make_workflow(ScriptedDecisions([APPROVE, marks, APPROVE, APPROVE]), [source]).run(QUERY)
    assert "obliquity" in " ".join(query.boolean_query for query in source.asked[1].queries).casefold()


async def test_the_result_of_a_run_without_reviews_is_logged() -> None:
    result = await make_workflow(None, [FakeSource("alpha", [*MOONS, OFF_TOPIC])], min_relevance=0.3).run(QUERY)
    (log,) = result.metadata.round_logs
    assert (log.identified, log.screened, log.included, log.excluded) == (4, 4, 3, {"below_threshold": 1})
    assert list_titles(result) != []


async def test_feedback_that_a_person_removed_is_not_used_again() -> None:
    plain = {"queries": [{"keywords": ["tidal"], "boolean_query": "tidal AND heating"}]}
    person = ScriptedDecisions(
        [
            APPROVE,
            Decision(action=DecisionAction.REJECT, revised_data={"free_text_feedback": "without flares"}),
            Decision(action=DecisionAction.EDIT, revised_data=plain),
            REJECT,
            APPROVE,
            APPROVE,
        ]
    )
    result = await make_workflow(person).run(QUERY)
    second, third = (log.strategy.queries for log in result.metadata.round_logs[1:])
    assert [query.boolean_query for query in second] == ["tidal AND heating"]
    assert "flare" not in " ".join(query.boolean_query for query in third)


async def test_an_automatic_second_round_without_answers_keeps_the_papers_of_the_first() -> None:
    found = [make_record(f"Tidal heating of icy moons by cryovolcanism {n}", doi=f"10.1/cryo.{n}") for n in range(40)]
    found += [make_record(f"Sourdough starter {n}", doi=f"10.1/bread.{n}") for n in range(40)]
    source = RoundsSource("alpha", [found, NonRetryableError("down")])
    result = await make_workflow(None, [source]).run(QUERY)
    assert len(source.asked) == 2
    assert len(result.papers) == len(found)
