"""Papers are removed by their relevance only if the plan says so, and they come back."""

from typing import Any

import pytest

from paper_search.config import AppConfig
from paper_search.domain.review_models import ExclusionReason
from paper_search.errors import InvalidDecision, SearchSourceError
from paper_search.models import PaperCollection, SearchConstraints
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.testing import FakeSource, ScriptedDecisions
from paper_search.workflow import Decision, DecisionAction
from tests.paper_search.workflow.runs import (
    APPROVE,
    MOONS,
    QUERY,
    RoundsSource,
    get_review,
    get_strategy,
    list_titles,
    make_edit,
    make_reject,
    make_workflow,
)
from tests.paper_search.workflow.samples import make_record

BREAD = [make_record(f"Sourdough starter {kind}", doi=f"10.1/bread.{kind}") for kind in ("rye", "wheat", "spelt")]
ALL = [*MOONS, *BREAD]
AGAIN = make_reject(free_text_feedback="once more")


def list_removed(collection: PaperCollection) -> set[str]:
    exclusions = collection.metadata.exclusions
    return {one.title for one in exclusions if one.reason is ExclusionReason.BELOW_THRESHOLD}


async def test_no_paper_is_removed_by_its_relevance_unless_somebody_asks_for_it() -> None:
    assert AppConfig().min_relevance is None
    assert SearchConstraints().min_relevance is None
    assert ResultOrganizer().min_relevance is None
    result = await make_workflow(None, [FakeSource("alpha", ALL)]).run(QUERY)
    assert len(result.papers) == len(ALL)
    assert result.metadata.exclusions == []
    assert result.metadata.search_strategy.filters.min_relevance is None


async def test_a_threshold_of_the_settings_is_a_limit_of_the_plan_with_its_origin() -> None:
    handler = ScriptedDecisions([APPROVE, APPROVE])
    result = await make_workflow(handler, [FakeSource("alpha", ALL)], min_relevance=0.4).run(QUERY)
    proposed = get_strategy(handler, 0)
    assert proposed.filters.min_relevance == 0.4
    assert [(one.value, one.reason) for one in proposed.origins if one.part == "min_relevance"] == [
        ("0.4", "a setting")
    ]
    assert list_removed(result) == {paper.title for paper in BREAD}
    assert {paper.title for paper in result.removed_papers} == list_removed(result)
    assert {(one.threshold, one.score is not None) for one in result.metadata.exclusions} == {(0.4, True)}
    assert any("below 0.4" in note for note in result.metadata.notes)


@pytest.mark.parametrize("threshold", [-0.1, 1.5])
async def test_a_threshold_outside_0_to_1_is_refused(threshold: float) -> None:
    handler = ScriptedDecisions([make_edit(filters={"min_relevance": threshold})])
    with pytest.raises(InvalidDecision, match="min_relevance must be between 0 and 1"):
        await make_workflow(handler).run(QUERY)


async def test_without_the_threshold_all_papers_come_back_in_the_next_round() -> None:
    edits = [make_edit(filters={"min_relevance": 0.4}), AGAIN, make_edit(filters={"min_relevance": None}), APPROVE]
    handler = ScriptedDecisions(edits)
    result = await make_workflow(handler, [FakeSource("alpha", ALL)]).run(QUERY)
    first = get_review(handler, 1)
    assert list_removed(first) == {paper.title for paper in BREAD}
    assert sorted(list_titles(result)) == sorted(paper.title for paper in ALL)
    assert result.metadata.exclusions == []
    assert not any("min_relevance" in note for note in result.metadata.notes)


async def test_papers_come_back_up_to_max_results_and_the_others_are_over_the_limit() -> None:
    limits = {"min_relevance": None, "max_results": 2}
    handler = ScriptedDecisions([make_edit(filters={"min_relevance": 0.4}), AGAIN, make_edit(filters=limits), APPROVE])
    result = await make_workflow(handler, [FakeSource("alpha", ALL)]).run(QUERY)
    assert len(result.papers) == len(MOONS) + 2
    assert [one.reason for one in result.metadata.exclusions] == [ExclusionReason.OVER_LIMIT]
    assert len(result.removed_papers) == 1


async def test_papers_come_back_even_if_no_source_answers_in_that_round() -> None:
    source = RoundsSource("alpha", [ALL, SearchSourceError("down")])
    handler = ScriptedDecisions(
        [make_edit(filters={"min_relevance": 0.4}), AGAIN, make_edit(filters={"min_relevance": None}), APPROVE]
    )
    result = await make_workflow(handler, [source]).run(QUERY)
    assert len(result.papers) == len(ALL)


async def test_a_raised_threshold_removes_papers_of_earlier_rounds_unless_a_reviewer_wants_them() -> None:
    keep = make_reject(decisions={BREAD[0].id: "include"})
    handler = ScriptedDecisions([APPROVE, keep, make_edit(filters={"min_relevance": 0.4}), APPROVE])
    result = await make_workflow(handler, [FakeSource("alpha", ALL)]).run(QUERY)
    assert len(get_review(handler, 1).papers) == len(ALL)
    assert BREAD[0].title in list_titles(result)
    assert list_removed(result) <= {paper.title for paper in BREAD[1:]}
    assert {paper.title for paper in MOONS} <= set(list_titles(result))


@pytest.mark.parametrize("status", ["include", "maybe"])
async def test_a_reviewer_brings_a_removed_paper_back(status: str) -> None:
    data = {"decisions": {BREAD[1].id: status}}
    approve = Decision(action=DecisionAction.APPROVE, revised_data=data)
    handler = ScriptedDecisions([make_edit(filters={"min_relevance": 0.4}), approve])
    result = await make_workflow(handler, [FakeSource("alpha", ALL)]).run(QUERY)
    assert BREAD[1].title in list_titles(result)
    assert list_removed(result) == {BREAD[0].title, BREAD[2].title}


async def test_the_threshold_is_compared_with_the_queries_that_ran_and_not_with_the_question() -> None:
    queries: list[dict[str, Any]] = [{"boolean_query": "sourdough AND starter", "keywords": []}]
    edit = make_edit(queries=queries, filters={"min_relevance": 0.4})
    handler = ScriptedDecisions([edit, APPROVE])
    result = await make_workflow(handler, [FakeSource("alpha", ALL)]).run(QUERY)
    assert sorted(list_titles(result)) == sorted(paper.title for paper in BREAD)
    assert list_removed(result) == {paper.title for paper in MOONS}
