"""Who started a session and who marked papers is stored, survives restarts, and is what the interface established."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from paper_search.config import AppConfig
from paper_search.domain.review_models import PaperDecision, ReviewStatus
from paper_search.export.prisma import export_prisma
from paper_search.export.prisma_flow import build_prisma_flow
from paper_search.service.new_searches import start_another_round
from paper_search.service.review.session_review import SessionReview
from paper_search.service.sessions import SessionManager
from paper_search.store.saved_marks import MarkStore
from paper_search.store.session_state import SessionRequest
from tests.paper_search.service.sessions.helpers import APPROVE, DataFolder, open_review
from uraniborg.kernel.actors import Actor, describe_actor, get_process_actor
from uraniborg.kernel.store.audit_log import read_changes

ADA = Actor(kind="person", name="Ada", authenticated="sign_in")
PROGRAM = Actor(kind="software", name="Ada", authenticated="token")
AGENT = Actor(kind="agent", name="assistant 1.0", authenticated="credential")
INCLUDE = PaperDecision(status=ReviewStatus.INCLUDE)
EXCLUDE = PaperDecision(status=ReviewStatus.EXCLUDE, reason="no data")


async def test_who_started_a_session_survives_a_restart(manager: SessionManager, data_folder: DataFolder) -> None:
    reply: Any = await manager.start("moons", AppConfig(), actor=AGENT)
    assert reply["actor"] == AGENT.model_dump()
    await manager.aclose()
    again = data_folder.create_manager()
    try:
        assert (await again.get_state(reply["session_id"])).get("actor") == AGENT.model_dump()
        (listed,) = (await again.list_sessions())["sessions"]
        assert listed.get("actor") == AGENT.model_dump()
    finally:
        await again.aclose()


async def test_a_session_that_names_no_actor_was_started_by_the_program(manager: SessionManager) -> None:
    assert (await manager.start("moons", AppConfig())).get("actor") == get_process_actor().model_dump()


def test_a_request_of_an_earlier_version_has_no_actor_and_stays_as_it_is() -> None:
    stored: dict[str, Any] = {"query": "moons", "config": {}, "at": "2026-01-01T00:00:00Z"}
    request = SessionRequest.model_validate_json(json.dumps(stored))
    assert request.actor is None
    assert json.loads(request.model_dump_json()) == stored


async def test_another_round_is_by_who_asks_for_it(manager: SessionManager) -> None:
    reply = await open_review(manager)
    await manager.decide(reply["session_id"], APPROVE, actor=ADA, door="console")
    renewed: Any = await start_another_round(manager, reply["session_id"], "more", actor=PROGRAM)
    assert renewed["actor"] == PROGRAM.model_dump()


async def test_marks_of_a_program_are_not_those_of_the_person_whose_token_it_sends(manager: SessionManager) -> None:
    reply = await open_review(manager)
    session_id = reply["session_id"]
    first, second = [paper["id"] for paper in reply["checkpoint"]["payload"]["papers"]][:2]
    review = SessionReview(manager)
    await review.mark_papers(session_id, {first: EXCLUDE}, describe_actor(ADA), ADA)
    await review.mark_papers(session_id, {first: EXCLUDE, second: EXCLUDE}, describe_actor(PROGRAM), PROGRAM)
    assert await review.undo_marks(session_id, describe_actor(ADA), ADA) == {first: None}
    await review.mark_papers(session_id, {first: EXCLUDE}, describe_actor(ADA), ADA)
    await manager.decide(session_id, APPROVE, door="console", actor=ADA, reviewer=describe_actor(ADA))
    result = await manager.get_result(session_id)
    reasons = {one.paper_id: (one.reason.value, one.reviewer) for one in result.metadata.exclusions}
    assert reasons[first][0] == "by_person"
    assert reasons[second] == ("by_program", "Ada (software)")
    decisions = {paper.id: paper.decisions for paper in result.excluded_papers}
    assert {decision.actor for decision in decisions[first]} == {ADA, PROGRAM}
    assert [decision.actor for decision in decisions[second]] == [PROGRAM]


async def test_the_search_log_counts_people_agents_and_programs_apart(manager: SessionManager) -> None:
    reply = await open_review(manager)
    session_id = reply["session_id"]
    papers = [paper["id"] for paper in reply["checkpoint"]["payload"]["papers"]]
    review = SessionReview(manager)
    marks = [(ADA, EXCLUDE), (AGENT, EXCLUDE), (PROGRAM, INCLUDE)]
    for (actor, mark), paper in zip(marks, papers, strict=True):
        await review.mark_papers(session_id, {paper: mark}, describe_actor(actor), actor)
    await manager.decide(session_id, APPROVE, door="console", actor=ADA, reviewer=describe_actor(ADA))
    result = await manager.get_result(session_id)
    flow = build_prisma_flow(result)
    assert (flow.judged_by_person, flow.judged_by_agent, flow.judged_by_program) == (1, 1, 1)
    assert flow.judged_by_software == flow.screened - 3
    assert (flow.included_by_agent, flow.included_by_program) == ({}, {"include": 1})
    assert (flow.excluded["by_person"], flow.excluded["by_agent"]) == (1, 1)
    log = export_prisma(result)
    assert "judged by a program" in log
    assert "marked include by a program" in log


async def test_a_program_sees_its_own_decisions_and_those_of_people_stay_hidden(manager: SessionManager) -> None:
    reply = await open_review(manager)
    session_id, paper = reply["session_id"], reply["checkpoint"]["payload"]["papers"][0]["id"]
    review = SessionReview(manager)
    await review.mark_papers(session_id, {paper: INCLUDE}, "Ada", ADA)
    own: Any = await review.get_paper(session_id, paper, describe_actor(PROGRAM))
    assert (own["others"], own["others_hidden"]) == ([], 1)
    await review.mark_papers(session_id, {paper: EXCLUDE}, describe_actor(PROGRAM), PROGRAM)
    (other,) = (await review.get_paper(session_id, paper, describe_actor(PROGRAM)))["others"]
    assert (other["reviewer"], other["actor"]) == ("Ada", ADA.model_dump())


async def test_the_actor_of_a_decision_is_in_the_journal_and_its_papers(manager: SessionManager) -> None:
    reply = await open_review(manager)
    paper = reply["checkpoint"]["payload"]["papers"][0]["id"]
    decision = APPROVE.model_copy(update={"revised_data": {"decisions": {paper: "exclude"}, "reviewer": "Ada"}})
    await manager.decide(reply["session_id"], decision, actor=AGENT)
    stored = await asyncio.to_thread(manager.store.read, reply["session_id"], "decision-1")
    assert json.loads(stored or "")["actor"] == AGENT.model_dump()
    (excluded,) = (await manager.get_result(reply["session_id"])).excluded_papers
    (made,) = excluded.decisions
    assert (made.reviewer, made.by_agent, made.actor) == ("Ada", True, AGENT), "the name that it claims is no person"


async def test_the_search_log_states_who_started_the_search(manager: SessionManager) -> None:
    reply = await manager.start("moons", AppConfig(), actor=AGENT)
    await manager.decide(reply["session_id"], APPROVE, actor=ADA, door="console")
    await manager.decide(reply["session_id"], APPROVE, actor=ADA, door="console")
    log = export_prisma(await manager.get_result(reply["session_id"]))
    assert "Started by: assistant 1.0 (agent)" in log


async def test_who_deleted_a_session_is_in_the_log_of_changes(
    manager: SessionManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    reply = await manager.start("moons", AppConfig())
    for _ in range(2):  # the second finds nothing to delete
        await asyncio.to_thread(lambda: manager.cleanup(reply["session_id"], actor=ADA))
    assert [(one["change"], one["subject"], one["actor"]) for one in read_changes().changes] == [
        ("session deleted", reply["session_id"], ADA.model_dump())
    ]


async def test_a_decision_is_taken_also_if_its_marks_cannot_be_deleted(
    manager: SessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply: Any = await manager.start("moons", AppConfig())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(MarkStore, "delete_sent", fail)
    decided: Any = await manager.decide(reply["session_id"], APPROVE, door="console", actor=ADA)
    assert decided["checkpoint_id"] != reply["checkpoint_id"]
    assert manager.inbox.get(reply["checkpoint_id"]).actor == ADA


async def test_who_deleted_the_expired_sessions_is_in_the_log_of_changes(
    manager: SessionManager, data_folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    expired = (await manager.start("moons", AppConfig()))["session_id"]
    await manager.aclose()
    (file,) = data_folder.folder.rglob(f"{expired}.db")
    os.utime(file, (0, 0))
    again = data_folder.create_manager()
    for _ in range(2):
        await again.delete_expired(actor=AGENT)
    await again.aclose()
    (change,) = read_changes().changes
    assert (change["change"], change["subject"], change["actor"]) == ("session deleted", expired, AGENT.model_dump())
    assert change["details"] == {"reason": "not used for 90 days"}
