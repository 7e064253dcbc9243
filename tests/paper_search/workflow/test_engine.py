"""The workflow end to end with the real skills and fake sources."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from paper_search.errors import InvalidDecision, InvalidQuery, NonRetryableError
from paper_search.models import RawPaper, SearchStrategy, SourceStatus
from paper_search.testing import FakeSource, ScriptedDecisions, ScriptExhausted
from paper_search.workflow import (
    Checkpoint,
    CheckpointKind,
    Decision,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.step_journal import MemoryJournal
from tests.paper_search.workflow.runs import (
    APPROVE,
    EDIT,
    MOONS,
    QUERY,
    REJECT,
    RoundsSource,
    get_review,
    list_kinds,
    list_titles,
    make_reject,
    make_workflow,
)
from tests.paper_search.workflow.samples import make_record
from uraniborg.kernel.clock import FrozenClock


async def test_without_a_handler_a_search_runs_through_and_returns_ranked_papers() -> None:
    result = await make_workflow().run(QUERY)
    assert set(list_titles(result)) == {paper.title for paper in MOONS}
    scores = [paper.relevance_score for paper in result.papers]
    assert scores == sorted(scores, reverse=True)
    assert all(paper.relevance_reason for paper in result.papers)


async def test_both_checkpoints_are_passed_in_order() -> None:
    handler = ScriptedDecisions([APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY)
    assert list_kinds(handler) == ["strategy_confirmation", "result_review"]


async def test_iteration_counts_decisions_and_round_counts_searches() -> None:
    handler = ScriptedDecisions([REJECT, APPROVE, REJECT, APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY)
    assert [checkpoint.iteration for checkpoint in handler.seen] == [0, 1, 2, 3, 4]
    assert [checkpoint.round for checkpoint in handler.seen] == [0, 1, 1, 2, 2]


async def test_all_checkpoints_of_a_run_carry_its_id() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY, run_id="run-7")
    assert {checkpoint.run_id for checkpoint in handler.seen} == {"run-7"}
    assert len({checkpoint.checkpoint_id for checkpoint in handler.seen}) == 4


async def test_the_strategy_checkpoint_can_be_switched_off() -> None:
    handler = ScriptedDecisions([APPROVE])
    await make_workflow(handler, enable_strategy_checkpoint=False).run(QUERY)
    assert list_kinds(handler) == ["result_review"]


async def test_an_edited_strategy_is_the_one_searched() -> None:
    edit = Decision(action=DecisionAction.EDIT, revised_data={"sources": ["beta"]})
    alpha, beta = FakeSource("alpha", MOONS[:1]), FakeSource("beta", MOONS[1:])
    result = await make_workflow(ScriptedDecisions([edit, APPROVE]), [alpha, beta]).run(QUERY)
    assert set(list_titles(result)) == {paper.title for paper in MOONS[1:]}
    assert result.metadata.search_strategy.sources == ["beta"]


async def test_a_rejected_strategy_is_rebuilt_without_searching() -> None:
    handler = ScriptedDecisions([Decision(action=DecisionAction.REJECT, note="narrower"), APPROVE, APPROVE])
    source = FakeSource("alpha", MOONS)
    await make_workflow(handler, [source]).run(QUERY)
    assert list_kinds(handler) == ["strategy_confirmation", "strategy_confirmation", "result_review"]
    assert len(source.asked) == 1
    first, second = (checkpoint.payload for checkpoint in handler.seen[:2])
    assert isinstance(first, StrategyPayload)
    assert isinstance(second, StrategyPayload)
    assert first.strategy.queries != second.strategy.queries


async def test_free_text_of_a_rejection_is_added_to_the_next_query() -> None:
    decision = Decision(action=DecisionAction.REJECT, note="also cryovolcanism")
    handler = ScriptedDecisions([decision, APPROVE, APPROVE])
    source = FakeSource("alpha", MOONS)
    await make_workflow(handler, [source]).run(QUERY)
    searched = " ".join(query.boolean_query for query in source.asked[0].queries)
    assert "cryovolcanism" in searched.casefold()


@pytest.mark.parametrize("decision", [REJECT, EDIT])
async def test_a_bare_edit_or_reject_at_review_starts_another_round(decision: Decision) -> None:
    handler = ScriptedDecisions([APPROVE, decision, APPROVE, APPROVE])
    result = await make_workflow(handler).run(QUERY)
    assert result.metadata.rounds == 2
    assert result.metadata.reason is None


async def test_a_reject_in_the_last_round_completes_with_a_reason() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT] * 5)
    result = await make_workflow(handler).run(QUERY)
    assert result.metadata.reason == "max_rounds"
    assert result.metadata.rounds == 5
    assert set(list_titles(result)) == {paper.title for paper in MOONS}


async def test_an_approval_in_the_last_round_is_an_approval() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    result = await make_workflow(handler, max_iterations=2).run(QUERY)
    assert result.metadata.reason is None


async def test_a_search_whose_strategies_are_all_rejected_ends_empty_with_a_reason() -> None:
    source = FakeSource("alpha", MOONS)
    result = await make_workflow(ScriptedDecisions([REJECT] * 5), [source]).run(QUERY)
    assert (result.papers, result.metadata.reason) == ([], "max_rounds")
    assert source.asked == []


async def test_papers_marked_relevant_stay_even_if_no_source_finds_them_again() -> None:
    source = RoundsSource("alpha", [MOONS, MOONS[1:]])
    liked = MOONS[0].id
    handler = ScriptedDecisions([APPROVE, make_reject(marked_relevant=[liked]), APPROVE, APPROVE])
    result = await make_workflow(handler, [source]).run(QUERY)
    assert list_titles(result).count(MOONS[0].title) == 1
    assert len(result.papers) == 3


async def test_an_accumulated_paper_found_again_by_another_source_is_not_listed_twice() -> None:
    again = make_record(MOONS[0].title, source="beta", doi="https://doi.org/10.1000/MOONS.1")
    source = RoundsSource("alpha", [MOONS, [again, *MOONS[1:]]])
    handler = ScriptedDecisions([APPROVE, make_reject(marked_relevant=[MOONS[0].id]), APPROVE, APPROVE])
    result = await make_workflow(handler, [source]).run(QUERY)
    assert len(result.papers) == 3


async def test_papers_marked_irrelevant_are_in_no_later_round() -> None:
    handler = ScriptedDecisions(
        [APPROVE, make_reject(marked_irrelevant=[MOONS[0].id]), APPROVE, REJECT, APPROVE, APPROVE]
    )
    result = await make_workflow(handler).run(QUERY)
    assert MOONS[0].title not in list_titles(get_review(handler, 3))
    assert MOONS[0].title not in list_titles(result)
    assert len(result.papers) == 2


async def test_an_irrelevant_paper_found_again_by_another_source_stays_excluded() -> None:
    again = make_record(MOONS[0].title, source="beta", doi="10.1000/moons.1", year=2021)
    source = RoundsSource("alpha", [MOONS, [again, *MOONS[1:]]])
    handler = ScriptedDecisions([APPROVE, make_reject(marked_irrelevant=[MOONS[0].id]), APPROVE, APPROVE])
    result = await make_workflow(handler, [source]).run(QUERY)
    assert MOONS[0].title not in list_titles(result)


async def test_a_paper_marked_irrelevant_in_the_last_round_is_not_in_the_result() -> None:
    handler = ScriptedDecisions([APPROVE, make_reject(marked_irrelevant=[MOONS[0].id])])
    result = await make_workflow(handler, max_iterations=1).run(QUERY)
    assert MOONS[0].title not in list_titles(result)
    assert result.metadata.reason == "max_rounds"
    assert sum(result.facets.by_year.values()) == len(result.papers)


async def test_marking_a_paper_raises_similar_papers_and_lowers_others() -> None:
    europa = [make_record(f"Tidal heating of the icy moon Europa: plumes {n}", doi=f"10.1/e{n}") for n in range(3)]
    titan = [make_record(f"Tidal heating of the icy moon Titan: methane {n}", doi=f"10.1/t{n}") for n in range(3)]
    source = FakeSource("alpha", [*titan, *europa])
    feedback = make_reject(marked_relevant=[europa[0].id], marked_irrelevant=[titan[0].id])
    handler = ScriptedDecisions([APPROVE, feedback, APPROVE, APPROVE])
    result = await make_workflow(handler, [source]).run(QUERY)
    ranked = list_titles(result)
    assert ranked[0] == europa[0].title
    assert max(ranked.index(p.title) for p in europa) < min(
        (ranked.index(p.title) for p in titan[1:] if p.title in ranked), default=99
    )


async def test_the_same_paper_from_two_sources_is_one_paper_with_both_sources() -> None:
    twin = make_record(MOONS[0].title, source="beta", doi="10.1000/moons.1")
    result = await make_workflow(None, [FakeSource("alpha", MOONS), FakeSource("beta", [twin])]).run(QUERY)
    assert len(result.papers) == 3
    merged = next(paper for paper in result.papers if paper.title == MOONS[0].title)
    assert sorted(merged.sources) == ["alpha", "beta"]


async def test_ids_are_the_same_in_every_round() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY)
    first, second = get_review(handler, 1), get_review(handler, 3)
    assert {p.id for p in first.papers} == {p.id for p in second.papers}


async def test_a_failing_source_is_reported_and_the_others_still_answer() -> None:
    broken = FakeSource("beta", error=NonRetryableError("the key was refused"))
    result = await make_workflow(None, [FakeSource("alpha", MOONS), broken]).run(QUERY)
    reports = {report.name: report for report in result.metadata.sources}
    assert reports["alpha"].status is SourceStatus.OK
    assert reports["beta"].status is SourceStatus.FAILED
    assert "key was refused" in (reports["beta"].reason or "")
    assert result.metadata.partial
    assert len(result.papers) == 3


async def test_when_every_source_fails_the_review_opens_empty_with_the_failures_listed() -> None:
    handler = ScriptedDecisions([APPROVE, APPROVE])
    sources = [FakeSource(name, error=RuntimeError("boom")) for name in ("alpha", "beta")]
    result = await make_workflow(handler, sources).run(QUERY)
    reviewed = get_review(handler, 1)
    assert reviewed.papers == []
    assert [report.status for report in reviewed.metadata.sources] == [SourceStatus.FAILED] * 2
    assert result.metadata.partial


async def test_a_source_without_matches_is_empty_and_the_result_is_complete() -> None:
    result = await make_workflow(None, [FakeSource("alpha", [])]).run(QUERY)
    assert [report.status for report in result.metadata.sources] == [SourceStatus.EMPTY]
    assert not result.metadata.partial


async def test_a_workflow_without_sources_returns_an_empty_collection() -> None:
    result = await make_workflow(None, []).run(QUERY)
    assert result.papers == []


async def test_max_results_caps_the_collection() -> None:
    result = await make_workflow(max_results=2).run(QUERY)
    assert len(result.papers) == 2
    assert result.metadata.search_strategy.filters.max_results == 2


async def test_a_number_in_the_query_asks_for_fewer_but_never_for_more() -> None:
    assert len((await make_workflow().run(f"top 1 papers on {QUERY}")).papers) == 1
    assert len((await make_workflow(max_results=2).run(f"top 3 papers on {QUERY}")).papers) == 2


async def test_counts_in_and_out_of_each_stage_are_logged() -> None:
    twin = make_record(MOONS[0].title, source="beta", doi="10.1000/moons.1")
    noise = make_record("Sourdough starters", source="beta", doi="10.1/bread")
    sources = [FakeSource("alpha", MOONS), FakeSource("beta", [twin, noise])]
    result = await make_workflow(None, sources, min_relevance=0.3).run(QUERY)
    counts = {count.stage: (count.count_in, count.count_out) for count in result.metadata.stage_counts}
    assert counts == {"search": (5, 5), "dedup": (5, 4), "relevance": (4, 3)}


async def test_the_result_has_the_stage_counts_of_all_rounds() -> None:
    handler = ScriptedDecisions([APPROVE, make_reject(marked_irrelevant=[MOONS[0].id]), APPROVE, APPROVE])
    result = await make_workflow(handler).run(QUERY)
    stages = [(count.round, count.stage) for count in result.metadata.stage_counts]
    assert stages == [
        (0, "search"),
        (0, "dedup"),
        (0, "relevance"),
        (1, "search"),
        (1, "dedup"),
        (1, "relevance"),
    ]
    counts = {(count.round, count.stage): (count.count_in, count.count_out) for count in result.metadata.stage_counts}
    assert counts[0, "relevance"] == (3, 2)
    assert (counts[1, "dedup"], counts[1, "relevance"]) == ((3, 0), (0, 0))


async def test_progress_is_reported_phase_by_phase() -> None:
    reported: list[str] = []

    def listen(phase: str, facts: dict[str, Any]) -> None:
        reported.append(phase)

    await make_workflow(ScriptedDecisions([APPROVE, APPROVE]), progress_reporter=listen).run(QUERY)
    assert reported == [
        "intent_parsing",
        "query_building",
        "waiting_checkpoint",
        "searching",
        "source_finished",
        "deduplicating",
        "scoring",
        "organizing",
        "waiting_checkpoint",
        "completed",
    ]


async def test_an_end_after_the_last_round_is_reported_with_its_reason() -> None:
    reported: list[tuple[str, dict[str, Any]]] = []

    def listen(phase: str, facts: dict[str, Any]) -> None:
        reported.append((phase, facts))

    handler = ScriptedDecisions([APPROVE, REJECT])
    await make_workflow(handler, max_iterations=1, progress_reporter=listen).run(QUERY)
    assert reported[-1][0] == "completed"
    assert reported[-1][1]["reason"] == "max_rounds"


async def test_a_progress_reporter_that_raises_does_not_stop_the_search() -> None:
    def broken(phase: str, facts: dict[str, Any]) -> None:
        raise RuntimeError(phase)

    result = await make_workflow(progress_reporter=broken).run(QUERY)
    assert len(result.papers) == 3


@pytest.mark.parametrize("query", ["", "   ", "\x00", "?!…", "x" * 10_000])
async def test_a_query_that_cannot_be_searched_is_refused_before_any_work(query: str) -> None:
    source = FakeSource("alpha", MOONS)
    with pytest.raises(InvalidQuery) as caught:
        await make_workflow(None, [source]).run(query)
    assert caught.value.hint
    assert source.asked == []


async def test_an_invalid_decision_is_refused_with_an_error_that_names_it() -> None:
    with pytest.raises(InvalidDecision):
        await make_workflow(ScriptedDecisions([EDIT])).run(QUERY)


async def test_one_workflow_runs_concurrent_searches_without_mixing_them() -> None:
    stars = [make_record("Granulation of red giant stars", doi="10.1/stars")]

    class Chooser(FakeSource):
        async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
            wanted = strategy.queries[0].boolean_query.casefold()
            return stars if "giant" in wanted else MOONS

    flow = make_workflow(None, [Chooser("alpha", [])])
    first, second = await asyncio.gather(flow.run(QUERY), flow.run("granulation of red giant stars"))
    assert set(list_titles(first)) == {paper.title for paper in MOONS}
    assert list_titles(second) == [stars[0].title]


async def test_a_run_with_the_same_inputs_gives_the_same_bytes() -> None:
    first = await make_workflow().run(QUERY, run_id="a")
    second = await make_workflow().run(QUERY, run_id="a")
    assert first.model_dump_json() == second.model_dump_json()


async def test_a_run_continues_from_its_journal_without_asking_or_searching_again() -> None:
    journal = MemoryJournal()
    source = FakeSource("alpha", MOONS)
    first = ScriptedDecisions([APPROVE])
    with pytest.raises(ScriptExhausted):
        await make_workflow(first, [source], journal=journal).run(QUERY, run_id="r")
    waiting = first.seen[-1]

    second = ScriptedDecisions([APPROVE])
    later = FrozenClock(datetime(2026, 1, 2, tzinfo=UTC))
    result = await make_workflow(second, [source], journal=journal, clock=later).run(QUERY, run_id="r")
    assert second.seen == [waiting]
    assert len(source.asked) == 1
    assert len(result.papers) == 3


async def test_a_run_killed_at_any_decision_continues_to_the_same_result() -> None:
    script = [APPROVE, make_reject(marked_irrelevant=[MOONS[0].id]), APPROVE, APPROVE]
    whole = await make_workflow(ScriptedDecisions(script)).run(QUERY, run_id="r")
    for cut in range(len(script)):
        journal = MemoryJournal()
        with pytest.raises(ScriptExhausted):
            await make_workflow(ScriptedDecisions(script[:cut]), journal=journal).run(QUERY, run_id="r")
        rest = ScriptedDecisions(script[cut:])
        continued = await make_workflow(rest, journal=journal).run(QUERY, run_id="r")
        assert continued.model_dump_json() == whole.model_dump_json()
        assert [checkpoint.iteration for checkpoint in rest.seen] == list(range(cut, len(script)))


async def test_an_invalid_decision_is_not_stored_so_the_run_can_be_continued() -> None:
    journal = MemoryJournal()
    with pytest.raises(InvalidDecision):
        await make_workflow(ScriptedDecisions([EDIT]), journal=journal).run(QUERY, run_id="r")
    result = await make_workflow(ScriptedDecisions([APPROVE, APPROVE]), journal=journal).run(QUERY, run_id="r")
    assert len(result.papers) == 3


async def test_cancelling_a_waiting_run_ends_it_and_releases_its_resources() -> None:
    released: list[bool] = []
    asked = asyncio.Event()

    class Never:
        async def handle(self, checkpoint: Checkpoint) -> Decision:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def release(finished: bool) -> None:
        released.append(finished)

    task = asyncio.create_task(make_workflow(Never(), release=release).run(QUERY))
    async with asyncio.timeout(10):
        await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert released == [False]


async def test_a_finished_run_releases_its_resources_as_finished() -> None:
    released: list[bool] = []

    async def release(finished: bool) -> None:
        released.append(finished)

    await make_workflow(release=release).run(QUERY)
    assert released == [True]


async def test_the_review_shows_the_papers_accumulated_before() -> None:
    handler = ScriptedDecisions([APPROVE, make_reject(marked_relevant=[MOONS[1].id]), APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY)
    payload = handler.seen[3].payload
    assert isinstance(payload, ResultPayload)
    assert [paper.title for paper in payload.accumulated_papers] == [MOONS[1].title]
    assert handler.seen[3].kind is CheckpointKind.RESULT_REVIEW


@pytest.mark.parametrize("answer", [None, "approve", {"action": "approve"}])
async def test_a_handler_that_returns_something_else_gets_an_error_that_names_the_type(answer: object) -> None:
    class Odd:
        async def handle(self, checkpoint: Checkpoint) -> object:
            return answer

    with pytest.raises(InvalidDecision, match="not a Decision"):
        await make_workflow(Odd()).run(QUERY)


async def test_a_handler_need_not_be_asynchronous() -> None:
    class Plain:
        def handle(self, checkpoint: Checkpoint) -> Decision:
            return APPROVE

    assert len((await make_workflow(Plain()).run(QUERY)).papers) == 3


async def test_limits_are_applied_to_sources_that_ignore_them() -> None:
    old = make_record("Tidal heating of icy moons, revisited", year=1999, doi="10.1/old")
    unwanted = make_record("Tidal heating of icy moons and of Io", doi="10.1/io")
    source = FakeSource("alpha", [*MOONS, old, unwanted])
    result = await make_workflow(None, [source]).run("tidal heating of icy moons since 2010, excluding Io")
    assert set(list_titles(result)) == {paper.title for paper in MOONS}


async def test_a_refused_term_does_not_raise_scores() -> None:
    review = make_record("A review of heating systems and tidal power", doi="10.1/review")
    source = FakeSource("alpha", [*MOONS, review])
    handler = ScriptedDecisions([APPROVE, make_reject(free_text_feedback="no reviews"), APPROVE, APPROVE])
    flow = make_workflow(handler, [source])
    await flow.run(QUERY)
    before, after = (
        {paper.title: paper.relevance_score for paper in get_review(handler, at).papers}.get(review.title, 0.0)
        for at in (1, 3)
    )
    assert after <= before
