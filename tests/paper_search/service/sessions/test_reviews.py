"""Decisions about papers in sessions: stored with reviewer and reason, counted, never lost."""

import json
from contextlib import closing
from typing import Any

import pytest

from paper_search.domain.review_models import ReviewStatus
from paper_search.errors import InvalidDecision
from paper_search.export import export_json
from paper_search.service.sessions import SessionManager
from paper_search.testing import FakeSource
from paper_search.workflow import Decision, DecisionAction
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REVIEW,
    DataFolder,
    Engine,
    make_moon_papers,
    make_reject,
    open_review,
)
from uraniborg.kernel.store.inbox import InboxDecision


def make_approve(data: Any) -> Decision:
    return Decision(action=DecisionAction.APPROVE, revised_data=data)


def list_papers(reply: dict[str, Any]) -> list[dict[str, Any]]:
    return reply["checkpoint"]["payload"]["papers"]


async def decide_and_wait(manager: SessionManager, session_id: str, decision: Decision, **how: Any) -> Any:
    await manager.decide(session_id, decision, **how)
    return await manager.decide(session_id, APPROVE)


async def test_a_review_lists_each_paper_with_its_status_and_round_and_counts_them(manager: SessionManager) -> None:
    reply = await open_review(manager)
    first, second, third = (paper["id"] for paper in list_papers(reply))
    data = {"decisions": {first: "include", second: {"status": "maybe"}, third: {"status": "exclude"}}}
    reply = await decide_and_wait(manager, reply["session_id"], make_reject(data))
    payload = reply["checkpoint"]["payload"]
    assert {paper["id"]: paper["status"] for paper in payload["papers"]} == {first: "include", second: "maybe"}
    assert {paper["found_in_round"] for paper in payload["papers"]} == {0}
    assert payload["status_counts"] == {"include": 1, "exclude": 1, "maybe": 1, "undecided": 0}
    assert (payload["accumulated_count"], payload["total_papers"]) == (1, 2)


@pytest.mark.parametrize("named", [None, "mira"])
async def test_the_reviewer_is_the_name_of_the_interface_unless_one_is_given(
    manager: SessionManager, named: str | None
) -> None:
    reply = await open_review(manager)
    session_id, first = reply["session_id"], list_papers(reply)[0]["id"]
    data: dict[str, Any] = {"decisions": {first: {"status": "include", "reason": "the first"}}}
    await manager.decide(session_id, make_approve({**data, "reviewer": named} if named else data), door="terminal")
    result = await manager.get_result(session_id)
    (decision,) = next(paper.decisions for paper in result.papers if paper.id == first)
    assert (decision.reviewer, decision.reason, decision.status) == (
        named or "terminal",
        "the first",
        ReviewStatus.INCLUDE,
    )
    assert decision.at is not None


async def test_a_decision_through_another_interface_has_the_name_of_that_interface(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        session_id, first = reply["session_id"], list_papers(reply)[0]["id"]
        with closing(data_folder.inbox()) as inbox:
            given = InboxDecision(action="approve", data={"marked_irrelevant": [first]})
            inbox.decide(reply["checkpoint_id"], given, "console")
        await manager.decide(session_id, APPROVE, checkpoint_id=reply["checkpoint_id"])
        (gone,) = (await manager.get_result(session_id)).metadata.exclusions
        assert (gone.paper_id, gone.reviewer) == (first, "console")


async def test_an_approve_with_a_strategy_is_refused_and_the_review_stays(manager: SessionManager) -> None:
    reply = await open_review(manager)
    with pytest.raises(InvalidDecision):
        await manager.decide(reply["session_id"], make_approve({"queries": ["moons"]}))
    assert (await manager.get_state(reply["session_id"])).get("checkpoint_id") == reply["checkpoint_id"]


async def test_marks_survive_a_restart(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        session_id = reply["session_id"]
        first, second, third = (paper["id"] for paper in list_papers(reply))
        data = {"decisions": {first: {"status": "exclude", "reason": "a comment"}, second: "include"}}
        before = await decide_and_wait(manager, session_id, make_reject(data))
    async with data_folder.open_manager(build=Engine()) as successor:
        after: Any = await successor.get_state(session_id)
        assert after["checkpoint"] == before["checkpoint"]
        assert after["current_checkpoint_kind"] == REVIEW
        await successor.decide(session_id, make_approve({"decisions": {third: "maybe"}}))
        result = await successor.get_result(session_id)
    assert {paper.id: paper.status.value for paper in result.papers} == {second: "include", third: "maybe"}
    assert [(gone.paper_id, gone.detail) for gone in result.metadata.exclusions] == [(first, "a comment")]


async def test_the_exported_json_contains_statuses_and_the_log(data_folder: DataFolder) -> None:
    data_folder.engine.sources = [FakeSource("alpha", make_moon_papers(24))]
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        session_id = reply["session_id"]
        papers = list_papers(reply)
        marks = {"marked_relevant": [paper["id"] for paper in papers[:2]], "marked_irrelevant": [papers[2]["id"]]}
        await decide_and_wait(manager, session_id, make_reject(marks))
        await manager.decide(session_id, APPROVE)
        exported = json.loads(export_json(await manager.get_result(session_id)))
    assert len(exported["papers"]) == 23
    assert sorted({paper["status"] for paper in exported["papers"]}) == ["include", "undecided"]
    log = exported["metadata"]["round_logs"]
    assert [entry["identified"] for entry in log] == [24, 24]
    assert [entry["duplicates_of_earlier_rounds"] for entry in log] == [0, 24]
    assert [(entry["screened"], entry["included"], entry["excluded"]) for entry in log] == [
        (24, 23, {"by_agent": 1}),
        (0, 0, {}),
    ]
