"""Tests of the manager: sessions are opened, read, decided once and exported; invalid calls are refused."""

# pyright: reportPrivateUsage=false

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from paper_search.config import AppConfig, SessionsConfig
from paper_search.errors import (
    CheckpointBusy,
    CheckpointNotFound,
    InvalidDecision,
    InvalidQuery,
    NonRetryableError,
    NoPapersYet,
    NoPendingCheckpoint,
    SessionComplete,
    SessionFailed,
    SessionNotComplete,
    SessionNotFound,
    UnknownDomain,
)
from paper_search.models import SearchStrategy, UserFeedback
from paper_search.service.sessions import SessionManager, WorkflowSession
from paper_search.testing import FakeSource
from paper_search.workflow import Decision, DecisionAction, SearchWorkflow
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    DEDUP_ERROR,
    NARROWER,
    QUERY,
    REJECT,
    REVIEW,
    STRATEGY,
    DataFolder,
    GatedFolder,
    complete_session,
    count_json_bytes,
    list_stored_decisions,
    make_edit,
    make_moon_papers,
    make_reject,
    open_review,
    open_session,
    run_in_background,
    wait_for_end,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import register_secret


@requirement("PS-REQ-13")
async def test_creating_starts_the_search_in_the_background_and_returns_its_id_at_once(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    data_folder.engine.gates["intent"] = asyncio.Event()
    session_id = manager.create(f"  {QUERY} ", AppConfig())
    session = manager.get(session_id)
    assert isinstance(session, WorkflowSession)
    assert (session.session_id, session.query) == (session_id, QUERY)
    assert (session.result, session.error, session.is_complete) == (None, None, False)
    assert isinstance(session._task, asyncio.Task)
    assert not session._task.done()
    data_folder.engine.gates["intent"].set()
    await wait_until(lambda: session.pending is not None)


@requirement("PS-REQ-13")
def test_the_first_fields_of_a_session_are_those_of_the_specification() -> None:
    names = [field.name for field in dataclasses.fields(WorkflowSession)]
    assert names[:7] == ["session_id", "query", "_handler", "_task", "result", "error", "is_complete"]
    session = WorkflowSession("s1", QUERY)
    assert (session._task, session.result, session.error, session.is_complete) == (None, None, None, False)


@requirement("PS-REQ-13")
async def test_ids_are_new_each_time_and_cannot_be_guessed(manager: SessionManager) -> None:
    ids = {manager.create(QUERY, AppConfig()) for _ in range(20)}
    assert len(ids) == 20
    assert all(len(session_id) >= 32 for session_id in ids)


@pytest.mark.parametrize("query", ["", "   ", "???", "x" * 2_001, "stem AND (tides"])
async def test_an_invalid_query_opens_no_session(data_folder: DataFolder, manager: SessionManager, query: str) -> None:
    with pytest.raises(InvalidQuery):
        manager.create(query, AppConfig())
    with pytest.raises(InvalidQuery):
        await manager.start(query, AppConfig())
    assert [path for path in data_folder.folder.rglob("*.db") if path.parent.name == "sessions"] == []


@requirement("PS-E1")
async def test_an_invalid_configuration_opens_no_session(data_folder: DataFolder, manager: SessionManager) -> None:
    data_folder.engine.refusal = UnknownDomain("There is no domain 'alchemy'.")
    with pytest.raises(UnknownDomain):
        await manager.start(QUERY, AppConfig())
    assert not (data_folder.folder / "sessions").exists()
    assert manager._sessions.list_all() == []
    with closing(data_folder.inbox()) as inbox:
        assert inbox.pending() == []


@requirement("PS-REQ-8", "PS-PROP-6")
async def test_a_new_session_returns_at_its_first_checkpoint_and_can_be_looked_up(manager: SessionManager) -> None:
    reply = await open_session(manager)
    assert reply["checkpoint"]["kind"] == STRATEGY
    assert (reply["is_complete"], reply["iteration"], reply["round"]) == (False, 0, 0)
    assert await manager.get_state(reply["session_id"]) == reply


@requirement("PS-REQ-8", "PS-PROP-6")
async def test_a_search_without_checkpoints_returns_its_result(data_folder: DataFolder) -> None:
    def unattended(config: AppConfig, **hooks: Any) -> SearchWorkflow:
        return data_folder.engine(config, **{**hooks, "checkpoint_handler": None})

    async with data_folder.open_manager(build=unattended) as manager:
        reply = await open_session(manager)
        assert reply["is_complete"] is True
        assert reply["result"]["paper_count"] == reply["paper_count"] == 3
        assert "checkpoint" not in reply
        assert await manager.get_state(reply["session_id"]) == reply
        assert len((await manager.get_result(reply["session_id"])).papers) == 3


async def test_a_search_without_a_strategy_checkpoint_returns_at_its_review(tmp_path: Path) -> None:
    async with DataFolder(tmp_path, enable_strategy_checkpoint=False).open_manager() as manager:
        reply = await open_session(manager)
        assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 0)
        assert (await manager.decide(reply["session_id"], APPROVE))["is_complete"]


async def test_a_call_that_reaches_its_timeout_returns_the_progress(gated: GatedFolder) -> None:
    gated.data_folder.settings = SessionsConfig(reply_within_s=0.05)
    gated.data_folder.engine.gates["intent"] = asyncio.Event()
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        assert (reply["is_complete"], reply["has_pending_checkpoint"]) == (False, False)
        assert not {"checkpoint", "checkpoint_id", "user_action_required", "current_checkpoint_kind"} & reply.keys()
        session = manager.get(reply["session_id"])
        assert session is not None
        gated.data_folder.engine.gates["intent"].set()
        await wait_until(lambda: session.pending is not None)
        assert (await manager.get_state(reply["session_id"])).get("checkpoint_kind") == STRATEGY
        reply = await manager.decide(reply["session_id"], APPROVE)
        assert (reply["is_complete"], reply["has_pending_checkpoint"], reply["iteration"]) == (False, False, 1)
        await gated.wait_for_search()
        assert (await manager.get_state(reply["session_id"]))["phase"] == "searching"
        gated.gate.set()
        await wait_until(lambda: session.pending is not None)
        assert (await manager.get_state(reply["session_id"])).get("checkpoint_kind") == REVIEW


@requirement("PS-REQ-9", "PS-REQ-13", "PS-PROP-9")
async def test_two_approvals_lead_through_both_checkpoints_to_the_result(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    session_id = reply["session_id"]
    second: Any = await manager.decide(session_id, APPROVE)
    assert (second["checkpoint_kind"], second["iteration"], second["round"]) == (REVIEW, 1, 0)
    assert second["checkpoint"]["payload"]["total_papers"] == 3
    last: Any = await manager.decide(session_id, APPROVE)
    assert (last["is_complete"], last["iteration"], last["paper_count"]) == (True, 2, 3)
    session = manager.get(session_id)
    assert session is not None
    assert session.is_complete
    assert session.result is not None
    assert len(session.result.papers) == 3
    assert data_folder.engine.asked == [1]


@requirement("PS-C3")
@pytest.mark.parametrize("data", [NARROWER, SearchStrategy.model_validate(NARROWER)], ids=["dict", "model"])
async def test_an_edited_strategy_is_the_one_that_is_searched(
    data_folder: DataFolder, manager: SessionManager, data: Any
) -> None:
    reply = await open_session(manager)
    reply: Any = await manager.decide(reply["session_id"], make_edit(data))
    assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
    source = data_folder.engine.sources[0]
    assert isinstance(source, FakeSource)
    assert [query.boolean_query for query in source.asked[0].queries] == ["Europa"]


@requirement("PS-C3")
@pytest.mark.parametrize("action", [DecisionAction.EDIT, DecisionAction.REJECT])
@pytest.mark.parametrize("as_model", [False, True])
async def test_feedback_on_papers_is_applied_in_the_next_round(
    manager: SessionManager, action: DecisionAction, as_model: bool
) -> None:
    reply: Any = await open_review(manager)
    session_id = reply["session_id"]
    good, bad, _ = (paper["id"] for paper in reply["checkpoint"]["payload"]["papers"])
    feedback: Any = {"marked_relevant": [good], "marked_irrelevant": [bad], "free_text_feedback": "more on Europa"}
    given = UserFeedback.model_validate(feedback) if as_model else feedback
    reply = await manager.decide(session_id, Decision(action=action, revised_data=given))
    assert (reply["checkpoint_kind"], reply["iteration"], reply["round"]) == (STRATEGY, 2, 1)
    reply = await manager.decide(session_id, APPROVE)
    shown = [paper["id"] for paper in reply["checkpoint"]["payload"]["papers"]]
    assert good in shown
    assert bad not in shown
    assert reply["checkpoint"]["payload"]["accumulated_count"] == 1


async def test_a_note_guides_the_next_round(manager: SessionManager) -> None:
    reply = await open_review(manager)
    reply: Any = await manager.decide(reply["session_id"], make_reject(note="also Enceladus"))
    assert "enceladus" in str(reply["checkpoint"]["payload"]["strategy"]).casefold()


async def test_used_up_rounds_end_the_search_with_a_reason(tmp_path: Path) -> None:
    async with DataFolder(tmp_path, max_rounds=2).open_manager() as manager:
        reply = await open_review(manager)
        reply = await manager.decide(reply["session_id"], REJECT)
        reply: Any = await manager.decide(reply["session_id"], REJECT)
        assert (reply["is_complete"], reply["iteration"], reply["round"]) == (True, 3, 2)
        assert reply["result"]["reason"] == "max_rounds"
        assert len((await manager.get_result(reply["session_id"])).papers) == reply["paper_count"]


@requirement("PS-REQ-14", "PS-E2")
async def test_an_unknown_session_is_not_found_by_any_method(data_folder: DataFolder, manager: SessionManager) -> None:
    await open_session(manager)
    for session_id in (new_id(), "", "nonsense", "../../etc/passwd", "\ud800", "x" * 100_000):
        calls: list[Callable[[str], Awaitable[Any]]] = [
            lambda unknown: manager.decide(unknown, APPROVE),
            lambda unknown: manager.decide(unknown, APPROVE, checkpoint_id="any"),
            manager.get_state,
            manager.get_result,
            manager.get_papers,
        ]
        for call in calls:
            with pytest.raises(SessionNotFound, match=r"^Session not found") as caught:
                await call(session_id)
            assert count_json_bytes(caught.value.body()) < 1_000
        assert manager.get(session_id) is None
    assert len(list((data_folder.folder / "sessions").glob("*.db"))) == 1


@requirement("PS-PROP-10")
@pytest.mark.parametrize(
    "session_id",
    [
        "",
        "nonsense",
        "../../etc/passwd",
        "0" * 32,
        "\ud800",
    ],
    ids=ascii,
)
async def test_cleaning_up_an_unknown_session_does_nothing(manager: SessionManager, session_id: str) -> None:
    reply = await open_session(manager)
    manager.cleanup(session_id)
    assert manager.get(session_id) is None
    assert await manager.get_state(reply["session_id"]) == reply


@requirement("PS-REQ-14", "PS-E3")
async def test_deciding_before_the_first_checkpoint_is_refused(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    data_folder.engine.gates["intent"] = asyncio.Event()
    session_id = manager.create(QUERY, AppConfig())
    with pytest.raises(NoPendingCheckpoint, match=r"^No pending checkpoint"):
        await manager.decide(session_id, APPROVE)
    data_folder.engine.gates["intent"].set()
    session = manager.get(session_id)
    assert session is not None
    await wait_until(lambda: session.pending is not None)
    assert (await manager.get_state(session_id))["iteration"] == 0, "the refused decision is not stored"


@requirement("PS-REQ-14", "PS-E3")
async def test_deciding_while_the_search_works_is_refused(gated: GatedFolder) -> None:
    gated.data_folder.settings = SessionsConfig(reply_within_s=0.05)
    async with gated.data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.pending is not None)
        await manager.decide(session_id, APPROVE)
        with pytest.raises(NoPendingCheckpoint, match=r"^No pending checkpoint"):
            await manager.decide(session_id, REJECT)


@requirement("PS-REQ-14", "PS-E4")
@pytest.mark.parametrize("decision", [APPROVE, REJECT, make_edit(NARROWER)], ids=["approve", "reject", "edit"])
async def test_deciding_after_the_end_is_refused(manager: SessionManager, decision: Decision) -> None:
    reply = await complete_session(manager)
    with pytest.raises(SessionComplete, match=r"^Session already complete"):
        await manager.decide(reply["session_id"], decision)
    assert await manager.get_state(reply["session_id"]) == reply


async def test_lists_begin_with_their_first_item_unless_an_offset_is_given(manager: SessionManager) -> None:
    session_id = (await complete_session(manager))["session_id"]
    for read_page in (manager.get_papers, manager.get_removed_papers, manager.get_queries, manager.get_export_page):
        assert to_jsonable_python(await read_page(session_id))["offset"] == 0
        assert to_jsonable_python(await read_page(session_id, 1))["offset"] == 1


@requirement("PS-REQ-14", "PS-E5")
async def test_there_is_no_result_before_the_end(manager: SessionManager) -> None:
    reply = await open_session(manager)
    for _ in range(2):
        with pytest.raises(SessionNotComplete, match=r"^Session not complete"):
            await manager.get_result(reply["session_id"])
        reply = await manager.decide(reply["session_id"], APPROVE)
    assert len((await manager.get_result(reply["session_id"])).papers) == 3


@requirement("PS-C3")
@pytest.mark.parametrize(
    "decision",
    [
        make_edit(None),
        make_edit({}),
        make_edit({"queries": []}),
        make_edit({"queries": "Europa"}),
        make_edit({"sources": ["nowhere"]}),
        make_edit({"no such field": 1}),
        make_edit({"filters": {"max_results": 0}}),
        make_edit({"filters": {"year_from": 2020, "year_to": 1990}}),
        make_edit([1, 2]),
        make_edit({"marked_relevant": ["p_1"]}),
        make_reject({"marked_relevant": ["p_1"]}),
        make_reject({"queries": []}),
        Decision(action=DecisionAction.APPROVE, revised_data=NARROWER),
    ],
    ids=str,
)
async def test_data_that_does_not_fit_the_strategy_is_refused_and_the_checkpoint_stays(
    manager: SessionManager, decision: Decision
) -> None:
    reply = await open_session(manager)
    with pytest.raises(InvalidDecision):
        await manager.decide(reply["session_id"], decision)
    assert await manager.get_state(reply["session_id"]) == reply
    assert (await manager.decide(reply["session_id"], APPROVE))["iteration"] == 1


@requirement("PS-C3")
@pytest.mark.parametrize(
    "decision",
    [
        make_edit(NARROWER),
        make_reject({"marked_relevant": ["p_unknown"]}),
        make_reject({"marked_relevant": 7}),
        make_reject({"free_text_feedback": ["a"]}),
        make_reject("not json"),
        Decision(action=DecisionAction.APPROVE, revised_data={"free_text_feedback": "no"}),
    ],
    ids=str,
)
async def test_data_that_does_not_fit_the_review_is_refused_and_the_checkpoint_stays(
    manager: SessionManager, decision: Decision
) -> None:
    reply = await open_review(manager)
    with pytest.raises(InvalidDecision):
        await manager.decide(reply["session_id"], decision)
    assert await manager.get_state(reply["session_id"]) == reply
    assert (await manager.decide(reply["session_id"], APPROVE))["is_complete"]


async def test_the_id_of_the_pending_checkpoint_may_be_sent(manager: SessionManager) -> None:
    reply = await open_session(manager)
    reply: Any = await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
    assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
    assert "already_decided" not in reply


async def test_a_repeated_decision_reports_its_outcome_and_is_not_applied_again(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    session_id, first_id = reply["session_id"], reply["checkpoint_id"]
    at_second = await manager.decide(session_id, APPROVE, checkpoint_id=first_id)
    for again in (APPROVE, REJECT, make_edit({"nonsense": 1})):
        repeated = await manager.decide(session_id, again, checkpoint_id=first_id)
        earlier = repeated.pop("already_decided")
        assert repeated == at_second
        assert (earlier["checkpoint_id"], earlier["action"], earlier["door"]) == (first_id, "approve", "agent")
    assert data_folder.engine.asked == [1]
    assert list_stored_decisions(data_folder, session_id) == ["decision-0"]


async def test_the_decision_of_every_earlier_checkpoint_can_be_looked_up(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    ids: list[str] = []
    reply: Any = await open_session(manager)
    session_id = reply["session_id"]
    for decision in (REJECT, APPROVE, REJECT, APPROVE, APPROVE):
        ids.append(reply["checkpoint_id"])
        reply = await manager.decide(session_id, decision)
    assert len(set(ids)) == 5
    assert reply["is_complete"]
    await manager.aclose()
    async with data_folder.open_manager() as another:
        for checkpoint_id, action in zip(ids, ["reject", "approve", "reject", "approve", "approve"], strict=True):
            repeated = await another.decide(session_id, REJECT, checkpoint_id=checkpoint_id)
            assert repeated.pop("already_decided")["action"] == action
            assert repeated == reply


@pytest.mark.parametrize("wrong", ["", "nonsense", "\ud800", "x" * 100_000])
async def test_a_checkpoint_the_session_never_had_is_not_found(manager: SessionManager, wrong: str) -> None:
    reply = await open_session(manager)
    with pytest.raises(CheckpointNotFound) as caught:
        await manager.decide(reply["session_id"], APPROVE, checkpoint_id=wrong)
    assert count_json_bytes(caught.value.body()) < 1_000
    assert await manager.get_state(reply["session_id"]) == reply


@requirement("PS-PROP-8")
async def test_the_checkpoint_of_another_session_decides_nothing_in_either(manager: SessionManager) -> None:
    one, other = await open_session(manager, "moons of Jupiter"), await open_session(manager, "moons of Saturn")
    with pytest.raises(CheckpointNotFound):
        await manager.decide(one["session_id"], APPROVE, checkpoint_id=other["checkpoint_id"])
    assert await manager.get_state(one["session_id"]) == one
    assert await manager.get_state(other["session_id"]) == other


async def test_a_future_checkpoint_is_not_found(manager: SessionManager) -> None:
    reply = await open_session(manager)
    later = f"{reply['session_id']}:1:{REVIEW}"
    with pytest.raises(CheckpointNotFound):
        await manager.decide(reply["session_id"], APPROVE, checkpoint_id=later)


async def test_a_session_id_in_place_of_a_checkpoint_id_is_not_found(manager: SessionManager) -> None:
    reply = await open_session(manager)
    for wrong in (reply["session_id"], f"{reply['session_id']}:0"):
        with pytest.raises(CheckpointNotFound):
            await manager.decide(reply["session_id"], APPROVE, checkpoint_id=wrong)
    assert await manager.get_state(reply["session_id"]) == reply


async def test_a_decision_sent_again_while_it_is_carried_out_waits_for_the_same_outcome(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        async with run_in_background(manager.decide(session_id, APPROVE, checkpoint_id=given)) as first:
            await gated.wait_for_search()
            async with run_in_background(manager.decide(session_id, APPROVE, checkpoint_id=given)) as again:
                done, _ = await asyncio.wait([first, again], timeout=0.05)
                assert not done
                gated.gate.set()
                outcome, repeated = await wait_for_end(first), await wait_for_end(again)
        assert repeated.pop("already_decided")["action"] == "approve"
        assert repeated == outcome
        assert outcome["checkpoint_kind"] == REVIEW
        assert gated.data_folder.engine.asked == [1]


async def test_a_repeated_decision_of_a_failed_session_reports_the_failure(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    data_folder.engine.failures["dedup"] = DEDUP_ERROR
    reply = await open_session(manager)
    for _ in range(2):
        with pytest.raises(SessionFailed, match="The deduplicator failed"):
            await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])


async def test_a_repeated_reply_is_no_longer_than_any_other(tmp_path: Path) -> None:
    papers = [paper.model_copy(update={"venue": "潮汐加热" * 80}) for paper in make_moon_papers(60)]
    for paper in papers:
        paper.title += " 冰卫星" * 80
    failing = [FakeSource(f"source-{n}", error=NonRetryableError("没有网络" * 200)) for n in range(29)]
    async with DataFolder(tmp_path, FakeSource("alpha", papers), *failing).open_manager() as manager:
        reply = await open_session(manager, QUERY + " 潮汐" * 600)
        note = "关于" * 1_000
        given = reply["checkpoint_id"]
        decision = Decision(action=DecisionAction.APPROVE, note=note)
        replies = [reply, *[await manager.decide(reply["session_id"], decision, checkpoint_id=given) for _ in range(2)]]
        assert "already_decided" in replies[-1]
        assert [count_json_bytes(earlier) for earlier in replies if count_json_bytes(earlier) > 25_000] == []


@requirement("PS-REQ-14", "PS-E8")
async def test_of_two_concurrent_decisions_one_is_applied_and_the_other_is_refused(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id = reply["session_id"]
        async with (
            run_in_background(manager.decide(session_id, APPROVE)) as first,
            run_in_background(manager.decide(session_id, REJECT)) as second,
        ):
            with pytest.raises(CheckpointBusy, match="checkpoint already being processed"):
                await wait_for_end(second)
            await gated.wait_for_search()
            with pytest.raises(CheckpointBusy, match="checkpoint already being processed"):
                await manager.decide(session_id, REJECT)
            assert not first.done()
            gated.gate.set()
            reply = await wait_for_end(first)
        assert (reply["checkpoint_kind"], reply["iteration"], reply["round"]) == (REVIEW, 1, 0)
        assert (await manager.decide(session_id, APPROVE))["is_complete"], "the session stays usable"
        assert list_stored_decisions(gated.data_folder, session_id) == ["decision-0", "decision-1"]


@requirement("PS-E8")
async def test_of_many_concurrent_decisions_exactly_one_is_applied(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    decisions = [APPROVE, REJECT, make_edit(NARROWER)] * 5
    outcomes = await asyncio.gather(
        *(manager.decide(reply["session_id"], decision) for decision in decisions), return_exceptions=True
    )
    taken = [outcome for outcome in outcomes if isinstance(outcome, dict)]
    assert len(taken) == 1
    assert all(isinstance(outcome, CheckpointBusy) for outcome in outcomes if not isinstance(outcome, dict))
    assert taken[0] == await manager.get_state(reply["session_id"])
    assert taken[0]["iteration"] == 1
    assert list_stored_decisions(data_folder, reply["session_id"]) == ["decision-0"]


async def test_a_refused_decision_does_not_block_the_next_one(manager: SessionManager) -> None:
    reply = await open_session(manager)
    outcomes = await asyncio.gather(
        manager.decide(reply["session_id"], make_edit(None)),
        manager.decide(reply["session_id"], APPROVE),
        return_exceptions=True,
    )
    assert isinstance(outcomes[0], InvalidDecision)
    assert isinstance(outcomes[1], dict)


@requirement("PS-REQ-15", "PS-PROP-8")
async def test_sessions_share_no_handler_task_or_checkpoint(manager: SessionManager) -> None:
    one, other = await open_session(manager, "moons of Jupiter"), await open_session(manager, "moons of Saturn")
    first, second = manager.get(one["session_id"]), manager.get(other["session_id"])
    assert first is not None
    assert second is not None
    assert first._handler is not second._handler
    assert first._task is not second._task
    await manager.decide(one["session_id"], REJECT)
    await manager.decide(one["session_id"], APPROVE)
    assert await manager.get_state(other["session_id"]) == other
    assert other["checkpoint"]["payload"]["intent"]["topic"] == "moons of Saturn"


@requirement("PS-REQ-15", "PS-PROP-8")
async def test_forty_concurrent_sessions_are_never_mixed_up(data_folder: DataFolder, manager: SessionManager) -> None:
    async def search(number: int) -> Any:
        reply = await open_session(manager, f"tidal heating of moon number{number}")
        session_id = reply["session_id"]
        for _ in range(number % 3):
            reply: Any = await manager.decide(session_id, make_reject(note=f"remark{number}"))
            assert f"number{number}" in str(reply["checkpoint"]["payload"])
        reply = await manager.decide(session_id, APPROVE)
        return await manager.decide(session_id, APPROVE)

    replies = await asyncio.gather(*(search(number) for number in range(40)))
    assert len({reply["session_id"] for reply in replies}) == 40
    for number, reply in enumerate(replies):
        assert reply["is_complete"]
        assert reply["query"] == f"tidal heating of moon number{number}"
        assert reply["iteration"] == 2 + number % 3
        assert reply["round"] == 1 + number % 3
        result = await manager.get_result(reply["session_id"])
        assert result.metadata.query == reply["query"]
    assert data_folder.engine.asked == [40]


@requirement("PS-REQ-14", "PS-E7")
async def test_a_failure_before_the_first_checkpoint_is_reported_to_the_waiting_call(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    data_folder.engine.failures["intent"] = Unavailable("The parser failed.")
    with pytest.raises(SessionFailed, match="The parser failed") as caught:
        await open_session(manager)
    session_id = caught.value.ids["session_id"]
    reply: Any = await manager.get_state(session_id)
    assert (reply["is_complete"], reply["error"]) == (True, "The parser failed.")


@requirement("PS-REQ-14", "PS-E7")
async def test_a_failure_is_reported_to_the_waiting_call_and_to_later_calls_even_after_a_restart(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    data_folder.engine.failures["dedup"] = DEDUP_ERROR
    session_id = (await open_session(manager))["session_id"]
    with pytest.raises(SessionFailed, match="The deduplicator failed"):
        await manager.decide(session_id, APPROVE)
    session = manager.get(session_id)
    assert session is not None
    assert (session.error, session.is_complete, session.result) == ("The deduplicator failed.", True, None)
    data_folder.engine.failures.clear()
    async with data_folder.open_manager() as another:
        for door in (manager, another):
            calls: list[Callable[[], Awaitable[Any]]] = [
                partial(door.decide, session_id, APPROVE),
                partial(door.get_result, session_id),
                partial(door.get_papers, session_id),
            ]
            for call in calls:
                with pytest.raises(SessionFailed, match="The deduplicator failed") as caught:
                    await call()
                assert caught.value.code == "session_failed"
            reply: Any = await door.get_state(session_id)
            assert reply["error"] == "The deduplicator failed."
            assert (reply["is_complete"], reply["has_pending_checkpoint"]) == (True, False)
            assert "result" not in reply
    assert data_folder.engine.ran.count("dedup") == 1, "what has failed is not tried again"


class SilentError(Exception):
    """An exception whose text cannot be read."""

    def __str__(self) -> str:
        raise ValueError("no text")


@requirement("PS-E7")
@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (ValueError("The merger cannot read row 7."), "ValueError: The merger cannot read row 7."),
        (KeyError("papers"), "KeyError: 'papers'"),
        (RuntimeError(), "RuntimeError"),
        (SilentError(), "SilentError"),
        (ExceptionGroup("merging", [ZeroDivisionError("division by zero")]), "ZeroDivisionError: division by zero"),
        (Unavailable("The deduplicator failed."), "The deduplicator failed."),
    ],
)
async def test_any_exception_of_a_skill_is_captured_with_its_class_and_text(
    data_folder: DataFolder, manager: SessionManager, failure: Exception, error: str
) -> None:
    data_folder.engine.failures["dedup"] = failure
    session_id = (await open_session(manager))["session_id"]
    for _ in range(2):
        with pytest.raises(SessionFailed) as caught:
            await manager.decide(session_id, APPROVE)
        assert caught.value.message == f"The search failed: {error}"
    session = manager.get(session_id)
    assert session is not None
    assert (session.error, session.is_complete) == (error, True)
    assert (await manager.get_state(session_id)).get("error") == error


@requirement("PS-E7")
@pytest.mark.parametrize("kind", [RuntimeError, Unavailable])
async def test_a_captured_error_contains_no_secret(
    data_folder: DataFolder, manager: SessionManager, kind: type[Exception]
) -> None:
    register_secret("s3cr3t-v4lue-of-a-key")
    data_folder.engine.failures["dedup"] = kind("GET https://x.example/?key=s3cr3t-v4lue-of-a-key failed.")
    session_id = (await open_session(manager))["session_id"]
    with pytest.raises(SessionFailed) as caught:
        await manager.decide(session_id, APPROVE)
    state: Any = await manager.get_state(session_id)
    error = state["error"]
    assert "failed." in error
    assert "s3cr3t" not in error
    assert "s3cr3t" not in str(caught.value.body())
    await manager.aclose()
    assert b"s3cr3t" not in data_folder.read_all_bytes()


async def test_when_every_source_fails_the_review_opens_empty_with_the_failures_listed(tmp_path: Path) -> None:
    sources = [FakeSource(f"source-{n}", error=NonRetryableError(f"Source {n} is closed.")) for n in range(4)]
    async with DataFolder(tmp_path, *sources).open_manager() as manager:
        reply = await open_review(manager)
        assert reply["checkpoint_kind"] == REVIEW
        assert reply["checkpoint"]["payload"]["papers"] == []
        assert reply["checkpoint"]["payload"]["total_papers"] == 0
        assert {(source["name"], source["status"], source["reason"]) for source in reply["sources"]} == {
            (f"source-{n}", "failed", f"Source {n} is closed.") for n in range(4)
        }
        assert "source-0" in reply["summary"]
        assert "No source answered" in reply["summary"]
        reply: Any = await manager.decide(reply["session_id"], APPROVE)
        assert (reply["is_complete"], reply["paper_count"]) == (True, 0)
        assert "No source answered" in reply["summary"]
        assert len(reply["sources"]) == 4
        assert (await manager.get_result(reply["session_id"])).papers == []


async def test_there_are_no_papers_to_read_before_a_search(manager: SessionManager) -> None:
    reply = await open_session(manager)
    with pytest.raises(NoPapersYet):
        await manager.get_papers(reply["session_id"])


async def test_all_papers_can_be_read_page_by_page_under_review_and_afterwards(tmp_path: Path) -> None:
    papers = [paper.model_copy(update={"abstract": "潮汐" * 400}) for paper in make_moon_papers(130)]
    data_folder = DataFolder(tmp_path, FakeSource("alpha", papers))
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager, config=AppConfig(default_max_results=1_000))
        session_id = reply["session_id"]
        under_review = await list_all_papers(manager, session_id)
        await manager.decide(session_id, APPROVE)
        ids = [paper.id for paper in (await manager.get_result(session_id)).papers]
        assert len(set(ids)) == 130
        assert under_review == await list_all_papers(manager, session_id) == ids
        shown = [paper["id"] for paper in reply["checkpoint"]["payload"]["papers"]]
        assert shown == ids[: len(shown)]


async def list_all_papers(manager: SessionManager, session_id: str) -> list[str]:
    seen: list[str] = []
    page = await manager.get_papers(session_id)
    while True:
        assert count_json_bytes(page) <= 25_000
        seen += [paper["id"] for paper in page["papers"]]
        if page["next"] is None:
            return seen
        page = await manager.get_papers(session_id, int(page["next"].rpartition("/")[2]))


async def test_the_last_round_is_announced_before_it_is_used_up(tmp_path: Path) -> None:
    async with DataFolder(tmp_path, max_rounds=2).open_manager() as manager:
        reply = await open_session(manager, config=AppConfig(max_rounds=2))
        assert reply["rounds_left"] == 2
        assert "last round" not in reply["summary"]
        reply = await manager.decide(reply["session_id"], REJECT)
        assert reply["rounds_left"] == 1
        assert reply["summary"].endswith("This is the last round.")
