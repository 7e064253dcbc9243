"""Sessions are opened, decided once, brought back, let go of and deleted, whatever happens around them."""

# pyright: reportPrivateUsage=false

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from pydantic import SecretStr

from paper_search.config import AppConfig, LLMConfig, SearchSourceConfig, SessionsConfig
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
    SessionInterrupted,
    SessionNotComplete,
    SessionNotFound,
    UnknownDomain,
)
from paper_search.models import SearchStrategy, UserFeedback
from paper_search.sessions import SessionManager, WorkflowSession
from paper_search.sessions import manager as manager_module
from paper_search.sessions.store import SessionFiles
from paper_search.testing import FakeSource
from paper_search.workflow import Decision, DecisionAction, SearchWorkflow
from tests.paper_search.sessions.helpers import (
    APPROVE,
    PATIENCE_S,
    QUERY,
    REJECT,
    REVIEW,
    STRATEGY,
    Engine,
    House,
    at_review,
    completed,
    eventually,
    moons,
    opened,
    size,
)
from tests.requirements import requirement
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.inbox import DecisionNotFound, Entry, Inbox
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.sqlite import DatabaseUnusable

STRIKE = Unavailable("The merger is on strike.")
NARROWER = {"queries": [{"keywords": ["Europa"], "boolean_query": "Europa"}], "sources": ["alpha"]}


def edit(data: Any) -> Decision:
    return Decision(action=DecisionAction.EDIT, revised_data=data)


def reject(data: Any = None, note: str | None = None) -> Decision:
    return Decision(action=DecisionAction.REJECT, revised_data=data, note=note)


def decisions_kept(house: House, session_id: str) -> list[str]:
    return [step for step in house.store().steps(session_id) if step.startswith("decision-")]


@asynccontextmanager
async def waiting(work: Awaitable[Any]) -> AsyncGenerator[asyncio.Task[Any]]:
    """A call under way; whatever is left of it ends with the block."""
    task = asyncio.ensure_future(work)
    assert isinstance(task, asyncio.Task)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def ended(task: asyncio.Task[Any]) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        return await task


class Gated:
    """A house with a source that answers once `gate` is open."""

    def __init__(self, folder: Path) -> None:
        self.gate = asyncio.Event()
        self.source = FakeSource("alpha", moons(), gate=self.gate)
        self.house = House(folder, self.source)

    async def searching(self) -> None:
        await eventually(lambda: bool(self.source.asked))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
async def manager(house: House) -> AsyncGenerator[SessionManager]:
    async with house.open() as made:
        yield made


@pytest.fixture
async def gated(tmp_path: Path) -> Gated:
    return Gated(tmp_path)


@requirement("PS-REQ-13")
async def test_creating_starts_the_search_in_the_background_and_returns_its_id_at_once(
    house: House, manager: SessionManager
) -> None:
    house.engine.gates["intent"] = asyncio.Event()
    session_id = manager.create(f"  {QUERY} ", AppConfig())
    session = manager.get(session_id)
    assert isinstance(session, WorkflowSession)
    assert (session.session_id, session.query) == (session_id, QUERY)
    assert (session.result, session.error, session.is_complete) == (None, None, False)
    assert isinstance(session._task, asyncio.Task)
    assert not session._task.done()
    house.engine.gates["intent"].set()
    await eventually(lambda: session.waiting is not None)


@requirement("PS-REQ-13")
async def test_ids_are_new_each_time_and_cannot_be_guessed(manager: SessionManager) -> None:
    ids = {manager.create(QUERY, AppConfig()) for _ in range(20)}
    assert len(ids) == 20
    assert all(len(session_id) >= 32 for session_id in ids)


@pytest.mark.parametrize("query", ["", "   ", "???", "x" * 2_001])
async def test_what_cannot_be_searched_opens_no_session(house: House, manager: SessionManager, query: str) -> None:
    with pytest.raises(InvalidQuery):
        manager.create(query, AppConfig())
    with pytest.raises(InvalidQuery):
        await manager.start(query, AppConfig())
    assert [path for path in house.folder.rglob("*.db") if path.parent.name == "sessions"] == []


@requirement("PS-E1")
async def test_a_configuration_that_cannot_be_built_opens_no_session(house: House, manager: SessionManager) -> None:
    house.engine.refusal = UnknownDomain("There is no domain 'alchemy'.")
    with pytest.raises(UnknownDomain):
        await manager.start(QUERY, AppConfig())
    assert not (house.folder / "sessions").exists()
    assert manager._sessions == {}
    with closing(house.inbox()) as inbox:
        assert inbox.pending() == []


@requirement("PS-REQ-8", "PS-PROP-6")
async def test_a_new_session_is_answered_at_its_first_checkpoint_and_can_be_looked_up(manager: SessionManager) -> None:
    reply = await opened(manager)
    assert reply["checkpoint"]["kind"] == STRATEGY
    assert (reply["is_complete"], reply["iteration"], reply["round"]) == (False, 0, 0)
    assert await manager.state(reply["session_id"]) == reply


@requirement("PS-REQ-8", "PS-PROP-6")
async def test_a_search_that_asks_nobody_is_answered_with_its_result(house: House) -> None:
    def unattended(config: AppConfig, **hooks: Any) -> SearchWorkflow:
        return house.engine(config, **{**hooks, "checkpoint_handler": None})

    async with house.open(build=unattended) as manager:
        reply = await opened(manager)
        assert reply["is_complete"] is True
        assert reply["result"]["paper_count"] == reply["paper_count"] == 3
        assert "checkpoint" not in reply
        assert await manager.state(reply["session_id"]) == reply
        assert len((await manager.result(reply["session_id"])).papers) == 3


async def test_a_search_without_a_strategy_checkpoint_is_answered_at_its_review(tmp_path: Path) -> None:
    async with House(tmp_path, enable_strategy_checkpoint=False).open() as manager:
        reply = await opened(manager)
        assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 0)
        assert (await manager.decide(reply["session_id"], APPROVE))["is_complete"]


async def test_a_call_that_has_waited_long_enough_answers_with_how_far_the_search_is(gated: Gated) -> None:
    gated.house.settings = SessionsConfig(reply_within_s=0.05)
    gated.house.engine.gates["intent"] = asyncio.Event()
    async with gated.house.open() as manager:
        reply = await opened(manager)
        assert (reply["is_complete"], reply["has_pending_checkpoint"]) == (False, False)
        assert not {"checkpoint", "checkpoint_id", "user_question", "current_checkpoint_kind"} & reply.keys()
        session = manager.get(reply["session_id"])
        assert session is not None
        gated.house.engine.gates["intent"].set()
        await eventually(lambda: session.waiting is not None)
        assert (await manager.state(reply["session_id"]))["checkpoint_kind"] == STRATEGY
        reply = await manager.decide(reply["session_id"], APPROVE)
        assert (reply["is_complete"], reply["has_pending_checkpoint"], reply["iteration"]) == (False, False, 1)
        await gated.searching()
        assert (await manager.state(reply["session_id"]))["phase"] == "searching"
        gated.gate.set()
        await eventually(lambda: session.waiting is not None)
        assert (await manager.state(reply["session_id"]))["checkpoint_kind"] == REVIEW


@requirement("PS-REQ-9", "PS-REQ-13", "PS-PROP-9")
async def test_two_approvals_lead_through_both_checkpoints_to_the_result(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    session_id = reply["session_id"]
    second = await manager.decide(session_id, APPROVE)
    assert (second["checkpoint_kind"], second["iteration"], second["round"]) == (REVIEW, 1, 0)
    assert second["checkpoint_payload"]["total_papers"] == 3
    last = await manager.decide(session_id, APPROVE)
    assert (last["is_complete"], last["iteration"], last["paper_count"]) == (True, 2, 3)
    session = manager.get(session_id)
    assert session is not None
    assert session.is_complete
    assert session.result is not None
    assert len(session.result.papers) == 3
    assert house.engine.asked == [1]


@requirement("PS-C3")
@pytest.mark.parametrize("data", [NARROWER, SearchStrategy.model_validate(NARROWER)], ids=["dict", "model"])
async def test_an_edited_strategy_is_the_one_that_is_searched(house: House, manager: SessionManager, data: Any) -> None:
    reply = await opened(manager)
    reply = await manager.decide(reply["session_id"], edit(data))
    assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
    source = house.engine.sources[0]
    assert isinstance(source, FakeSource)
    assert [query.boolean_query for query in source.asked[0].queries] == ["Europa"]


@requirement("PS-C3")
@pytest.mark.parametrize("action", [DecisionAction.EDIT, DecisionAction.REJECT])
@pytest.mark.parametrize("as_model", [False, True])
async def test_feedback_on_papers_leads_to_another_round_that_heeds_it(
    manager: SessionManager, action: DecisionAction, as_model: bool
) -> None:
    reply = await at_review(manager)
    session_id = reply["session_id"]
    good, bad, _ = (paper["id"] for paper in reply["checkpoint_payload"]["papers"])
    feedback: Any = {"marked_relevant": [good], "marked_irrelevant": [bad], "free_text_feedback": "more on Europa"}
    given = UserFeedback.model_validate(feedback) if as_model else feedback
    reply = await manager.decide(session_id, Decision(action=action, revised_data=given))
    assert (reply["checkpoint_kind"], reply["iteration"], reply["round"]) == (STRATEGY, 2, 1)
    reply = await manager.decide(session_id, APPROVE)
    shown = [paper["id"] for paper in reply["checkpoint_payload"]["papers"]]
    assert good in shown
    assert bad not in shown
    assert reply["checkpoint_payload"]["accumulated_count"] == 1


async def test_a_note_guides_the_next_round(manager: SessionManager) -> None:
    reply = await at_review(manager)
    reply = await manager.decide(reply["session_id"], reject(note="also Enceladus"))
    assert "enceladus" in str(reply["checkpoint_payload"]["strategy"]).casefold()


async def test_rounds_that_are_used_up_end_the_search_and_say_so(tmp_path: Path) -> None:
    async with House(tmp_path, max_rounds=2).open() as manager:
        reply = await at_review(manager)
        reply = await manager.decide(reply["session_id"], REJECT)
        reply = await manager.decide(reply["session_id"], REJECT)
        assert (reply["is_complete"], reply["iteration"], reply["round"]) == (True, 3, 2)
        assert reply["result"]["reason"] == "max_rounds"
        assert len((await manager.result(reply["session_id"])).papers) == reply["paper_count"]


@requirement("PS-REQ-14", "PS-E2")
async def test_an_unknown_session_is_not_found_whatever_is_asked_of_it(house: House, manager: SessionManager) -> None:
    await opened(manager)
    for session_id in (new_id(), "", "nonsense", "../../etc/passwd", "\ud800", "x" * 100_000):
        calls: list[Callable[[str], Awaitable[Any]]] = [
            lambda unknown: manager.decide(unknown, APPROVE),
            lambda unknown: manager.decide(unknown, APPROVE, checkpoint_id="any"),
            manager.state,
            manager.result,
            manager.papers,
        ]
        for call in calls:
            with pytest.raises(SessionNotFound, match=r"^Session not found") as caught:
                await call(session_id)
            assert size(caught.value.body()) < 1_000
        assert manager.get(session_id) is None
    assert len(list((house.folder / "sessions").glob("*.db"))) == 1


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
async def test_cleaning_up_what_is_not_there_does_nothing(manager: SessionManager, session_id: str) -> None:
    reply = await opened(manager)
    manager.cleanup(session_id)
    assert manager.get(session_id) is None
    assert await manager.state(reply["session_id"]) == reply


@requirement("PS-REQ-14", "PS-E3")
async def test_deciding_before_anything_is_asked_is_refused(house: House, manager: SessionManager) -> None:
    house.engine.gates["intent"] = asyncio.Event()
    session_id = manager.create(QUERY, AppConfig())
    with pytest.raises(NoPendingCheckpoint, match=r"^No pending checkpoint"):
        await manager.decide(session_id, APPROVE)
    house.engine.gates["intent"].set()
    session = manager.get(session_id)
    assert session is not None
    await eventually(lambda: session.waiting is not None)
    assert (await manager.state(session_id))["iteration"] == 0, "and it was not kept for later"


@requirement("PS-REQ-14", "PS-E3")
async def test_deciding_while_the_search_goes_on_is_refused(gated: Gated) -> None:
    gated.house.settings = SessionsConfig(reply_within_s=0.05)
    async with gated.house.open() as manager:
        session_id = (await opened(manager))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        await eventually(lambda: session.waiting is not None)
        await manager.decide(session_id, APPROVE)
        with pytest.raises(NoPendingCheckpoint, match=r"^No pending checkpoint"):
            await manager.decide(session_id, REJECT)


@requirement("PS-REQ-14", "PS-E4")
@pytest.mark.parametrize("decision", [APPROVE, REJECT, edit(NARROWER)], ids=["approve", "reject", "edit"])
async def test_deciding_after_the_end_is_refused(manager: SessionManager, decision: Decision) -> None:
    reply = await completed(manager)
    with pytest.raises(SessionComplete, match=r"^Session already complete"):
        await manager.decide(reply["session_id"], decision)
    assert await manager.state(reply["session_id"]) == reply


@requirement("PS-REQ-14", "PS-E5")
async def test_there_is_no_result_before_the_end(manager: SessionManager) -> None:
    reply = await opened(manager)
    for _ in range(2):
        with pytest.raises(SessionNotComplete, match=r"^Session not complete"):
            await manager.result(reply["session_id"])
        reply = await manager.decide(reply["session_id"], APPROVE)
    assert len((await manager.result(reply["session_id"])).papers) == 3


@requirement("PS-C3")
@pytest.mark.parametrize(
    "decision",
    [
        edit(None),
        edit({}),
        edit({"queries": []}),
        edit({"queries": "Europa"}),
        edit({"sources": ["nowhere"]}),
        edit({"no such field": 1}),
        edit({"filters": {"max_results": 0}}),
        edit({"filters": {"year_from": 2020, "year_to": 1990}}),
        edit([1, 2]),
        edit({"marked_relevant": ["p_1"]}),
        reject({"marked_relevant": ["p_1"]}),
        reject({"queries": []}),
        Decision(action=DecisionAction.APPROVE, revised_data=NARROWER),
    ],
    ids=str,
)
async def test_data_that_does_not_fit_the_strategy_is_refused_and_the_checkpoint_stays(
    manager: SessionManager, decision: Decision
) -> None:
    reply = await opened(manager)
    with pytest.raises(InvalidDecision):
        await manager.decide(reply["session_id"], decision)
    assert await manager.state(reply["session_id"]) == reply
    assert (await manager.decide(reply["session_id"], APPROVE))["iteration"] == 1


@requirement("PS-C3")
@pytest.mark.parametrize(
    "decision",
    [
        edit(NARROWER),
        reject({"marked_relevant": ["p_unknown"]}),
        reject({"marked_relevant": 7}),
        reject({"free_text_feedback": ["a"]}),
        reject("not json"),
        Decision(action=DecisionAction.APPROVE, revised_data={"free_text_feedback": "no"}),
    ],
    ids=str,
)
async def test_data_that_does_not_fit_the_review_is_refused_and_the_checkpoint_stays(
    manager: SessionManager, decision: Decision
) -> None:
    reply = await at_review(manager)
    with pytest.raises(InvalidDecision):
        await manager.decide(reply["session_id"], decision)
    assert await manager.state(reply["session_id"]) == reply
    assert (await manager.decide(reply["session_id"], APPROVE))["is_complete"]


async def test_the_id_of_what_is_pending_may_be_given(manager: SessionManager) -> None:
    reply = await opened(manager)
    reply = await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
    assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
    assert "already_decided" not in reply


async def test_a_repeated_decision_reports_its_outcome_and_is_not_taken_again(
    house: House, manager: SessionManager
) -> None:
    reply = await opened(manager)
    session_id, first_id = reply["session_id"], reply["checkpoint_id"]
    at_second = await manager.decide(session_id, APPROVE, checkpoint_id=first_id)
    for again in (APPROVE, REJECT, edit({"nonsense": 1})):
        repeated = await manager.decide(session_id, again, checkpoint_id=first_id)
        said = repeated.pop("already_decided")
        assert repeated == at_second
        assert (said["checkpoint_id"], said["action"], said["door"]) == (first_id, "approve", "agent")
    assert house.engine.asked == [1]
    assert decisions_kept(house, session_id) == ["decision-0"]


async def test_every_earlier_checkpoint_can_be_asked_about_for_ever(house: House, manager: SessionManager) -> None:
    ids: list[str] = []
    reply = await opened(manager)
    session_id = reply["session_id"]
    for decision in (REJECT, APPROVE, REJECT, APPROVE, APPROVE):
        ids.append(reply["checkpoint_id"])
        reply = await manager.decide(session_id, decision)
    assert len(set(ids)) == 5
    assert reply["is_complete"]
    await manager.aclose()
    async with house.open() as another:
        for checkpoint_id, action in zip(ids, ["reject", "approve", "reject", "approve", "approve"], strict=True):
            repeated = await another.decide(session_id, REJECT, checkpoint_id=checkpoint_id)
            assert repeated.pop("already_decided")["action"] == action
            assert repeated == reply


@pytest.mark.parametrize("wrong", ["", "nonsense", "\ud800", "x" * 100_000])
async def test_a_checkpoint_the_session_never_had_is_not_found(manager: SessionManager, wrong: str) -> None:
    reply = await opened(manager)
    with pytest.raises(CheckpointNotFound) as caught:
        await manager.decide(reply["session_id"], APPROVE, checkpoint_id=wrong)
    assert size(caught.value.body()) < 1_000
    assert await manager.state(reply["session_id"]) == reply


@requirement("PS-PROP-8")
async def test_the_checkpoint_of_another_session_decides_nothing_in_either(manager: SessionManager) -> None:
    one, other = await opened(manager, "moons of Jupiter"), await opened(manager, "moons of Saturn")
    with pytest.raises(CheckpointNotFound):
        await manager.decide(one["session_id"], APPROVE, checkpoint_id=other["checkpoint_id"])
    assert await manager.state(one["session_id"]) == one
    assert await manager.state(other["session_id"]) == other


async def test_a_checkpoint_that_is_still_to_come_is_not_found(manager: SessionManager) -> None:
    reply = await opened(manager)
    later = f"{reply['session_id']}:1:{REVIEW}"
    with pytest.raises(CheckpointNotFound):
        await manager.decide(reply["session_id"], APPROVE, checkpoint_id=later)


async def test_a_decision_sent_again_while_it_is_carried_out_waits_for_the_same_outcome(gated: Gated) -> None:
    async with gated.house.open() as manager:
        reply = await opened(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        async with waiting(manager.decide(session_id, APPROVE, checkpoint_id=given)) as first:
            await gated.searching()
            async with waiting(manager.decide(session_id, APPROVE, checkpoint_id=given)) as again:
                done, _ = await asyncio.wait([first, again], timeout=0.05)
                assert not done
                gated.gate.set()
                outcome, repeated = await ended(first), await ended(again)
        assert repeated.pop("already_decided")["action"] == "approve"
        assert repeated == outcome
        assert outcome["checkpoint_kind"] == REVIEW
        assert gated.house.engine.asked == [1]


async def test_a_repeated_decision_of_a_failed_session_tells_the_failure(house: House, manager: SessionManager) -> None:
    house.engine.failures["dedup"] = STRIKE
    reply = await opened(manager)
    for _ in range(2):
        with pytest.raises(SessionFailed, match="on strike"):
            await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])


async def test_a_repeated_reply_is_no_longer_than_any_other(tmp_path: Path) -> None:
    papers = [paper.model_copy(update={"venue": "潮汐加热" * 80}) for paper in moons(60)]
    for paper in papers:
        paper.title += " 冰卫星" * 80
    failing = [FakeSource(f"source-{n}", error=NonRetryableError("没有网络" * 200)) for n in range(29)]
    async with House(tmp_path, FakeSource("alpha", papers), *failing).open() as manager:
        reply = await opened(manager, QUERY + " 潮汐" * 600)
        note = "关于" * 1_000
        given = reply["checkpoint_id"]
        decision = Decision(action=DecisionAction.APPROVE, note=note)
        replies = [reply, *[await manager.decide(reply["session_id"], decision, checkpoint_id=given) for _ in range(2)]]
        assert "already_decided" in replies[-1]
        assert [size(said) for said in replies if size(said) > 25_000] == []


@requirement("PS-REQ-14", "PS-E8")
async def test_of_two_decisions_at_once_one_is_taken_and_the_other_told_so(gated: Gated) -> None:
    async with gated.house.open() as manager:
        reply = await opened(manager)
        session_id = reply["session_id"]
        async with (
            waiting(manager.decide(session_id, APPROVE)) as first,
            waiting(manager.decide(session_id, REJECT)) as second,
        ):
            with pytest.raises(CheckpointBusy, match="checkpoint already being processed"):
                await ended(second)
            await gated.searching()
            with pytest.raises(CheckpointBusy, match="checkpoint already being processed"):
                await manager.decide(session_id, REJECT)
            assert not first.done()
            gated.gate.set()
            reply = await ended(first)
        assert (reply["checkpoint_kind"], reply["iteration"], reply["round"]) == (REVIEW, 1, 0)
        assert (await manager.decide(session_id, APPROVE))["is_complete"], "the session stays usable"
        assert decisions_kept(gated.house, session_id) == ["decision-0", "decision-1"]


@requirement("PS-E8")
async def test_of_many_decisions_at_once_exactly_one_is_taken(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    decisions = [APPROVE, REJECT, edit(NARROWER)] * 5
    outcomes = await asyncio.gather(
        *(manager.decide(reply["session_id"], decision) for decision in decisions), return_exceptions=True
    )
    taken = [outcome for outcome in outcomes if isinstance(outcome, dict)]
    assert len(taken) == 1
    assert all(isinstance(outcome, CheckpointBusy) for outcome in outcomes if not isinstance(outcome, dict))
    assert taken[0] == await manager.state(reply["session_id"])
    assert taken[0]["iteration"] == 1
    assert decisions_kept(house, reply["session_id"]) == ["decision-0"]


async def test_a_refused_decision_does_not_keep_the_next_one_out(manager: SessionManager) -> None:
    reply = await opened(manager)
    outcomes = await asyncio.gather(
        manager.decide(reply["session_id"], edit(None)),
        manager.decide(reply["session_id"], APPROVE),
        return_exceptions=True,
    )
    assert isinstance(outcomes[0], InvalidDecision)
    assert isinstance(outcomes[1], dict)


@requirement("PS-REQ-15", "PS-PROP-8")
async def test_sessions_share_no_handler_task_or_checkpoint(manager: SessionManager) -> None:
    one, other = await opened(manager, "moons of Jupiter"), await opened(manager, "moons of Saturn")
    first, second = manager.get(one["session_id"]), manager.get(other["session_id"])
    assert first is not None
    assert second is not None
    assert first._handler is not second._handler
    assert first._task is not second._task
    await manager.decide(one["session_id"], REJECT)
    await manager.decide(one["session_id"], APPROVE)
    assert await manager.state(other["session_id"]) == other
    assert other["checkpoint_payload"]["intent"]["topic"] == "moons of Saturn"


@requirement("PS-REQ-15", "PS-PROP-8")
async def test_forty_sessions_decided_side_by_side_are_never_mixed_up(house: House, manager: SessionManager) -> None:
    async def search(number: int) -> dict[str, Any]:
        reply = await opened(manager, f"tidal heating of moon number{number}")
        session_id = reply["session_id"]
        for _ in range(number % 3):
            reply = await manager.decide(session_id, reject(note=f"remark{number}"))
            assert f"number{number}" in str(reply["checkpoint_payload"])
        reply = await manager.decide(session_id, APPROVE)
        return await manager.decide(session_id, APPROVE)

    replies = await asyncio.gather(*(search(number) for number in range(40)))
    assert len({reply["session_id"] for reply in replies}) == 40
    for number, reply in enumerate(replies):
        assert reply["is_complete"]
        assert reply["query"] == f"tidal heating of moon number{number}"
        assert reply["iteration"] == 2 + number % 3
        assert reply["round"] == 1 + number % 3
        result = await manager.result(reply["session_id"])
        assert result.metadata.query == reply["query"]
    assert house.engine.asked == [40]


@requirement("PS-REQ-14", "PS-E7")
async def test_a_search_that_fails_before_its_first_checkpoint_tells_the_waiting_call(
    house: House, manager: SessionManager
) -> None:
    house.engine.failures["intent"] = Unavailable("The parser is on strike.")
    with pytest.raises(SessionFailed, match="The parser is on strike") as caught:
        await opened(manager)
    session_id = caught.value.ids["session_id"]
    reply = await manager.state(session_id)
    assert (reply["is_complete"], reply["error"]) == (True, "The parser is on strike.")


@requirement("PS-REQ-14", "PS-E7")
async def test_a_search_that_fails_tells_the_waiting_call_and_all_later_ones_also_after_a_restart(
    house: House, manager: SessionManager
) -> None:
    house.engine.failures["dedup"] = STRIKE
    session_id = (await opened(manager))["session_id"]
    with pytest.raises(SessionFailed, match="on strike"):
        await manager.decide(session_id, APPROVE)
    session = manager.get(session_id)
    assert session is not None
    assert (session.error, session.is_complete, session.result) == ("The merger is on strike.", True, None)
    house.engine.failures.clear()
    async with house.open() as another:
        for door in (manager, another):
            calls: list[Callable[[], Awaitable[Any]]] = [
                partial(door.decide, session_id, APPROVE),
                partial(door.result, session_id),
                partial(door.papers, session_id),
            ]
            for call in calls:
                with pytest.raises(SessionFailed, match="The merger is on strike") as caught:
                    await call()
                assert caught.value.code == "session_failed"
            reply = await door.state(session_id)
            assert reply["error"] == "The merger is on strike."
            assert (reply["is_complete"], reply["has_pending_checkpoint"]) == (True, False)
            assert "result" not in reply
    assert house.engine.ran.count("dedup") == 1, "what has failed is not tried again"


@requirement("PS-E7")
async def test_a_failure_tells_nothing_of_the_inside_and_no_secret(house: House, manager: SessionManager) -> None:
    register_secret("s3cr3t-v4lue-of-a-key")
    house.engine.failures["dedup"] = RuntimeError("/home/me/.keys")
    broken = (await opened(manager))["session_id"]
    with pytest.raises(SessionFailed):
        await manager.decide(broken, APPROVE)
    house.engine.failures["dedup"] = Unavailable("GET https://x.example/?key=s3cr3t-v4lue-of-a-key failed.")
    leaking = (await opened(manager))["session_id"]
    with pytest.raises(SessionFailed) as caught:
        await manager.decide(leaking, APPROVE)
    assert "s3cr3t" not in str(caught.value.body())
    for session_id in (broken, leaking):
        error = (await manager.state(session_id))["error"]
        assert isinstance(error, str)
        assert error.strip()
        assert ".keys" not in error
        assert "s3cr3t" not in error
    await manager.aclose()
    assert b"s3cr3t" not in house.bytes_on_disk()


async def test_when_every_source_fails_the_review_opens_empty_with_the_failures_listed(tmp_path: Path) -> None:
    sources = [FakeSource(f"source-{n}", error=NonRetryableError(f"Source {n} is closed.")) for n in range(4)]
    async with House(tmp_path, *sources).open() as manager:
        reply = await at_review(manager)
        assert reply["checkpoint_kind"] == REVIEW
        assert reply["checkpoint_payload"]["papers"] == []
        assert reply["checkpoint_payload"]["total_papers"] == 0
        assert {(source["name"], source["status"], source["reason"]) for source in reply["sources"]} == {
            (f"source-{n}", "failed", f"Source {n} is closed.") for n in range(4)
        }
        assert "source-0" in reply["user_question"]
        reply = await manager.decide(reply["session_id"], APPROVE)
        assert (reply["is_complete"], reply["paper_count"]) == (True, 0)
        assert len(reply["sources"]) == 4
        assert (await manager.result(reply["session_id"])).papers == []


async def test_there_are_no_papers_to_read_before_a_search(manager: SessionManager) -> None:
    reply = await opened(manager)
    with pytest.raises(NoPapersYet):
        await manager.papers(reply["session_id"])


async def test_all_papers_can_be_read_page_by_page_under_review_and_afterwards(tmp_path: Path) -> None:
    papers = [paper.model_copy(update={"abstract": "潮汐" * 400}) for paper in moons(130)]
    house = House(tmp_path, FakeSource("alpha", papers))
    async with house.open() as manager:
        reply = await at_review(manager, config=AppConfig(default_max_results=1_000))
        session_id = reply["session_id"]
        under_review = await all_papers(manager, session_id)
        await manager.decide(session_id, APPROVE)
        ids = [paper.id for paper in (await manager.result(session_id)).papers]
        assert len(set(ids)) == 130
        assert under_review == await all_papers(manager, session_id) == ids
        shown = [paper["id"] for paper in reply["checkpoint_payload"]["papers"]]
        assert shown == ids[: len(shown)]


async def all_papers(manager: SessionManager, session_id: str) -> list[str]:
    seen: list[str] = []
    page = await manager.papers(session_id)
    while True:
        assert size(page) <= 25_000
        seen += [paper["id"] for paper in page["papers"]]
        if page["next"] is None:
            return seen
        page = await manager.papers(session_id, int(page["next"].rpartition("/")[2]))


@requirement("PS-REQ-13")
async def test_a_new_manager_continues_every_session_where_it_was_and_makes_nothing_again(house: House) -> None:
    expected: list[dict[str, Any]] = []
    async with house.open() as manager:
        expected += [await opened(manager), await at_review(manager), await completed(manager)]
        reply = await at_review(manager)
        expected.append(await manager.decide(reply["session_id"], reject({"free_text_feedback": "Europa"})))
    asked, ran = list(house.engine.asked), list(house.engine.ran)
    async with house.open() as manager:
        for reply in expected:
            assert manager.get(reply["session_id"]) is None
            back = await manager.state(reply["session_id"])
            assert {**back, "sources": reply["sources"]} == reply
        assert (house.engine.asked, house.engine.ran) == (asked, ran)
        for reply in expected:
            session_id = reply["session_id"]
            while not reply["is_complete"]:
                reply = await manager.decide(session_id, APPROVE)  # noqa: PLW2901 - it goes on from there
            assert len((await manager.result(session_id)).papers) == 3
    assert house.engine.asked == [asked[0] + 2]
    assert house.engine.ran.count("intent") == 4


async def test_a_session_killed_in_the_middle_of_its_search_goes_on_without_being_asked_again(gated: Gated) -> None:
    async with gated.house.open() as manager:
        reply = await opened(manager)
        session_id = reply["session_id"]
        async with waiting(manager.decide(session_id, APPROVE)):
            await gated.searching()
            await manager.aclose()
    gated.gate.set()
    async with gated.house.open() as manager:
        repeated = await manager.decide(session_id, REJECT, checkpoint_id=reply["checkpoint_id"])
        assert repeated["already_decided"]["action"] == "approve"
        assert (repeated["checkpoint_kind"], repeated["iteration"], repeated["round"]) == (REVIEW, 1, 0)
    assert decisions_kept(gated.house, session_id) == ["decision-0"]
    assert gated.house.engine.ran.count("intent") == 1


@pytest.mark.parametrize("first_call", ["state", "repeat"])
async def test_a_decision_written_when_nobody_ran_the_session_is_carried_out_once(
    house: House, first_call: str
) -> None:
    async with house.open() as manager:
        reply = await opened(manager)
    session_id, given = reply["session_id"], reply["checkpoint_id"]
    with closing(house.inbox()) as inbox:
        inbox.decide(given, InboxDecision(action="edit", data=NARROWER, note="only this"), "console")
    async with house.open() as manager:
        if first_call == "repeat":
            repeated = await manager.decide(session_id, REJECT, checkpoint_id=given)
            assert repeated["already_decided"]["door"] == "console"
            assert repeated["checkpoint_kind"] == REVIEW
        await manager.state(session_id)
        session = manager.get(session_id)
        assert session is not None
        await eventually(lambda: session.waiting is not None)
        reply = await manager.state(session_id)
        assert (reply["checkpoint_kind"], reply["iteration"], reply["round"]) == (REVIEW, 1, 0)
    source = house.engine.sources[0]
    assert isinstance(source, FakeSource)
    assert [[query.boolean_query for query in strategy.queries] for strategy in source.asked] == [["Europa"]]
    assert decisions_kept(house, session_id) == ["decision-0"]


STEPS_OF_A_SESSION = 30
"""How many steps the session below leaves; a test makes sure that none is forgotten."""
ITS_DECISIONS = [reject(note="also Io"), APPROVE, reject({"free_text_feedback": "x"}), edit(NARROWER), APPROVE]


class Past:
    """A whole session of another day: the folder it was in, its replies, and the ids of its papers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replies: list[dict[str, Any]] = []
        self.papers: list[str] = []

    async def happen(self) -> None:
        async with House(self.folder).open() as manager:
            self.replies.append(await opened(manager))
            session_id = self.replies[0]["session_id"]
            for decision in ITS_DECISIONS:
                self.replies.append(await manager.decide(session_id, decision))
            self.papers = [paper.id for paper in (await manager.result(session_id)).papers]

    def killed(self, folder: Path, steps: int) -> tuple[House, list[str]]:
        """A house as it would be had the process been killed after so many steps, and the names of those."""
        shutil.copytree(self.folder, folder / "house")
        house, session_id = House(folder / "house"), self.replies[0]["session_id"]
        store = house.store()
        left = [(step, store.read(session_id, step) or "") for step in store.steps(session_id)[:steps]]
        store.delete(session_id)
        for number, (step, value) in enumerate(left):
            store.write(session_id, step, value, first=number == 0)
        return house, [step for step, _ in left]


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    made = Past(tmp_path_factory.mktemp("past"))
    asyncio.run(made.happen())
    return made


async def settled(manager: SessionManager, session_id: str) -> dict[str, Any]:
    """The reply once the session has come to a checkpoint or to its end."""
    await manager.state(session_id)
    if (session := manager.get(session_id)) is not None:
        await eventually(lambda: session.waiting is not None or session.is_complete)
    return await manager.state(session_id)


def test_the_session_that_is_killed_at_every_step_has_as_many_as_are_tried(past: Past) -> None:
    steps = House(past.folder).store().steps(past.replies[0]["session_id"])
    assert len(steps) == STEPS_OF_A_SESSION
    assert past.replies[-1]["is_complete"]
    assert past.papers


@pytest.mark.parametrize("steps", range(1, STEPS_OF_A_SESSION + 1))
async def test_a_session_killed_after_any_step_comes_to_the_same_end_with_the_decisions_that_were_taken(
    past: Past, tmp_path: Path, steps: int
) -> None:
    house, kept = past.killed(tmp_path, steps)
    last = past.replies[-1]
    session_id = last["session_id"]
    async with house.open() as manager:
        reply = await settled(manager, session_id)
        varying = {"elapsed_s": 0, "iteration": 5}
        assert {**reply, **varying} == {**last, **varying}
        assert [paper.id for paper in (await manager.result(session_id)).papers] == past.papers
    assert house.engine.ran.count("intent") == ("intent" not in kept)
    assert house.engine.ran.count("dedup") == 2 - sum(step.endswith("/dedup") for step in kept)
    assert house.engine.asked == [2 - sum(step.endswith("/search") for step in kept)]
    assert len(decisions_kept(house, session_id)) == 5


@requirement("PS-PROP-9")
@pytest.mark.parametrize("steps", [6, 21, 29])
async def test_decisions_taken_before_a_kill_are_counted_by_the_one_who_continues(
    past: Past, tmp_path: Path, steps: int
) -> None:
    house, kept = past.killed(tmp_path, steps)
    assert "ended" not in kept
    async with house.open() as manager:
        reply = await settled(manager, past.replies[0]["session_id"])
    assert (reply["is_complete"], reply["iteration"]) == (True, 5)


@requirement("PS-PROP-9")
async def test_the_iteration_never_goes_back_also_while_a_continued_session_works(gated: Gated) -> None:
    async with gated.house.open() as manager:
        session_id = (await opened(manager))["session_id"]
        async with waiting(manager.decide(session_id, APPROVE)):
            await gated.searching()
            assert (await manager.state(session_id))["iteration"] == 1
            await manager.aclose()
    asked = len(gated.source.asked)
    async with gated.house.open() as manager:
        await manager.state(session_id)
        await eventually(lambda: len(gated.source.asked) > asked)
        assert (await manager.state(session_id))["iteration"] == 1


@pytest.mark.parametrize("steps", range(1, STEPS_OF_A_SESSION + 1))
async def test_a_session_killed_after_any_step_asks_again_what_was_not_decided(
    past: Past, tmp_path: Path, steps: int
) -> None:
    house, kept = past.killed(tmp_path, steps)
    session_id = past.replies[0]["session_id"]
    decided = sum(step.startswith("decision-") for step in kept)
    with closing(house.inbox()) as inbox:
        entries = [inbox.get(reply["checkpoint_id"]) for reply in past.replies[:-1]]
        inbox.forget("paper_search", session_id)
        for entry in entries[:decided]:
            inbox.put(entry.id, entry.part, entry.kind, entry.subject, entry.payload)
            assert entry.decision is not None
            inbox.decide(entry.id, entry.decision, "agent")
    async with house.open() as manager:
        reply = await settled(manager, session_id)
        expected = past.replies[decided]
        for key in ("checkpoint_id", "checkpoint_kind", "checkpoint_payload", "round", "is_complete"):
            assert reply.get(key) == expected.get(key), key
        for decision in ITS_DECISIONS[decided:]:
            reply = await manager.decide(session_id, decision)
        assert reply["is_complete"]
        assert [paper.id for paper in (await manager.result(session_id)).papers] == past.papers


async def test_whoever_holds_the_lease_runs_the_session_and_the_other_may_look_and_decide(house: House) -> None:
    elsewhere = Engine()
    async with house.open() as holder, house.open(build=elsewhere) as other:
        reply = await opened(holder)
        session_id = reply["session_id"]
        assert await other.state(session_id) == reply
        reply = await other.decide(session_id, APPROVE, door="console")
        assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
        assert await holder.state(session_id) == reply
        assert await other.papers(session_id) == await holder.papers(session_id)
        reply = await other.decide(session_id, APPROVE, door="console")
        assert reply["is_complete"]
        assert await holder.state(session_id) == reply
        assert await other.result(session_id) == await holder.result(session_id)
        assert other.get(session_id) is None
    assert (house.engine.asked, elsewhere.ran) == ([1], [])
    with closing(house.inbox()) as inbox:
        assert inbox.get(f"{session_id}:0:{STRATEGY}").door == "console"


async def test_one_who_waits_is_told_what_another_process_decided(gated: Gated) -> None:
    async with gated.house.open() as holder, gated.house.open() as other:
        reply = await opened(holder)
        async with waiting(other.decide(reply["session_id"], APPROVE, door="console")) as deciding:
            await gated.searching()
            repeated = holder.decide(reply["session_id"], REJECT, checkpoint_id=reply["checkpoint_id"])
            async with waiting(repeated) as asking:
                gated.gate.set()
                said = await ended(asking)
                assert said["already_decided"]["door"] == "console"
                assert said["checkpoint_kind"] == (await ended(deciding))["checkpoint_kind"] == REVIEW
    assert gated.house.engine.asked == [1]


class DecidedAtOnce(Inbox):
    """An inbox in which another process approves what is asked about `subject` before the session knows that it is.

    By the time the session knows, the manager has looked for decisions at least twice.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.armed = False
        self._looked = threading.Semaphore(0)

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Any) -> Entry:
        entry = super().put(entry_id, part, kind, subject, payload)
        if self.armed:
            self.armed = False
            with closing(Inbox(self._path)) as elsewhere:
                elsewhere.decide(entry_id, InboxDecision(action="approve"), "console")
            while self._looked.acquire(blocking=False):
                pass
            for _ in range(2):
                assert self._looked.acquire(timeout=PATIENCE_S)
        return entry

    def revision(self) -> tuple[int, int]:
        revision = super().revision()
        self._looked.release()
        return revision


async def test_a_decision_taken_elsewhere_the_moment_it_is_asked_for_is_not_overlooked(house: House) -> None:
    inbox = DecidedAtOnce(house.folder / "inbox.db")
    async with house.open(inbox=inbox) as manager:
        await opened(manager)
        inbox.armed = True
        session_id = (await opened(manager))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        await eventually(lambda: session.state().iteration == 1, within_s=3)
        assert (await settled(manager, session_id))["checkpoint_kind"] == REVIEW


async def test_what_is_refused_here_is_refused_there_too_and_nothing_is_written(house: House) -> None:
    async with house.open() as holder, house.open() as other:
        reply = await opened(holder)
        session_id = reply["session_id"]
        with pytest.raises(InvalidDecision):
            await other.decide(session_id, edit({"sources": ["nowhere"]}))
        with pytest.raises(CheckpointNotFound):
            await other.decide(session_id, APPROVE, checkpoint_id="unheard of")
        with pytest.raises(SessionNotComplete):
            await other.result(session_id)
        with pytest.raises(NoPapersYet):
            await other.papers(session_id)
        assert await holder.state(session_id) == await other.state(session_id) == reply
        await holder.decide(session_id, APPROVE)
        await holder.decide(session_id, APPROVE)
        with pytest.raises(SessionComplete):
            await other.decide(session_id, APPROVE)


@requirement("PS-E8")
@pytest.mark.parametrize("attempt", range(6))
async def test_of_two_processes_that_decide_at_once_one_wins_and_the_other_is_told(house: House, attempt: int) -> None:
    async with house.open() as holder, house.open() as other:
        reply = await opened(holder)
        session_id = reply["session_id"]
        await other.state(session_id)
        doors = [holder, other] if attempt % 2 else [other, holder]
        outcomes = await asyncio.gather(
            doors[0].decide(session_id, REJECT, door="first"),
            doors[1].decide(session_id, APPROVE, door="second"),
            return_exceptions=True,
        )
        with closing(house.inbox()) as inbox:
            winner = inbox.get(reply["checkpoint_id"]).door
        won, lost = outcomes if winner == "first" else reversed(outcomes)
        assert isinstance(won, dict)
        assert won["iteration"] == 1
        assert won["checkpoint_kind"] == (STRATEGY if winner == "first" else REVIEW)
        if isinstance(lost, dict):
            # It came after the first had been carried out, and so decided what that led to.
            assert lost["iteration"] == 2
        else:
            assert isinstance(lost, CheckpointBusy)
            assert "checkpoint already being processed" in lost.message
            assert await holder.state(session_id) == won


@requirement("PS-E8")
async def test_a_decision_of_another_process_that_is_being_carried_out_keeps_others_out(gated: Gated) -> None:
    async with gated.house.open() as holder, gated.house.open() as other:
        reply = await opened(holder)
        session_id = reply["session_id"]
        async with waiting(holder.decide(session_id, APPROVE)) as deciding:
            await gated.searching()
            with pytest.raises(CheckpointBusy, match="checkpoint already being processed"):
                await other.decide(session_id, REJECT)
            gated.gate.set()
            assert (await ended(deciding))["iteration"] == 1


async def test_of_two_processes_with_the_same_checkpoint_id_both_get_the_new_state(house: House) -> None:
    async with house.open() as holder, house.open() as other:
        reply = await opened(holder)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        one, two = await asyncio.gather(
            holder.decide(session_id, APPROVE, checkpoint_id=given),
            other.decide(session_id, APPROVE, checkpoint_id=given),
        )
        assert ("already_decided" in one) is not ("already_decided" in two)
        for said in (one, two):
            said.pop("already_decided", None)
        assert one == two
        assert one["checkpoint_kind"] == REVIEW
    assert house.engine.asked == [1]


async def test_when_the_holder_is_closed_the_other_takes_over(house: House) -> None:
    elsewhere = Engine()
    async with house.open(build=elsewhere) as other:
        async with house.open() as holder:
            reply = await opened(holder)
            session_id = reply["session_id"]
            assert await other.state(session_id) == reply
            assert other.get(session_id) is None
        assert await other.state(session_id) == reply
        assert other.get(session_id) is not None
        assert (await other.decide(session_id, APPROVE))["checkpoint_kind"] == REVIEW
    assert (house.engine.asked, elsewhere.asked) == ([0], [1])
    assert elsewhere.ran == ["dedup"], "the intent was in the journal"


async def test_a_call_that_waits_for_another_process_takes_over_when_that_ends(gated: Gated) -> None:
    elsewhere = Engine()
    async with gated.house.open(build=elsewhere) as other:
        holder = gated.house.manager()
        reply = await opened(holder)
        await other.state(reply["session_id"])
        async with waiting(other.decide(reply["session_id"], APPROVE)) as deciding:
            await gated.searching()
            await holder.aclose()
            said = await ended(deciding)
        assert (said["checkpoint_kind"], said["iteration"]) == (REVIEW, 1)
    assert elsewhere.asked == [1]
    assert decisions_kept(gated.house, reply["session_id"]) == ["decision-0"]


async def test_a_session_deleted_by_another_process_cannot_be_decided_here(house: House) -> None:
    async with house.open() as holder, house.open() as other:
        session_id = (await opened(holder))["session_id"]
        await asyncio.to_thread(other.cleanup, session_id)
        for door in (holder, other):
            with pytest.raises(SessionNotFound):
                await door.decide(session_id, APPROVE)
    assert house.files(session_id) == []


async def test_a_session_deleted_by_another_process_is_soon_gone_here_too(house: House) -> None:
    async with house.open() as holder, house.open() as other:
        session_id = (await opened(holder))["session_id"]
        await asyncio.to_thread(other.cleanup, session_id)
        await eventually(lambda: holder.get(session_id) is None, within_s=3)
        with pytest.raises(SessionNotFound):
            await holder.state(session_id)


def test_by_default_a_session_is_idle_after_thirty_minutes() -> None:
    assert SessionsConfig().idle_s == 30 * 60


@requirement("PS-E6")
async def test_a_session_idle_for_thirty_minutes_leaves_memory_and_comes_back_when_asked_for(
    house: House, manager: SessionManager
) -> None:
    reply = await opened(manager)
    done = await completed(manager)
    house.clock.advance(minutes=29, seconds=59)
    await manager.unload_idle()
    assert manager.get(reply["session_id"]) is not None
    house.clock.advance(seconds=1)
    await manager.unload_idle()
    for said in (reply, done):
        assert manager.get(said["session_id"]) is None
        assert manager.get(said["session_id"]) is None, "looking does not load"
        back = await manager.state(said["session_id"])
        assert {**back, "elapsed_s": said["elapsed_s"]} == said
    assert manager.get(reply["session_id"]) is not None
    assert house.engine.ran == ["intent", "intent", "dedup"]
    assert (await manager.decide(reply["session_id"], APPROVE))["checkpoint_kind"] == REVIEW


@requirement("PS-E6")
async def test_each_call_begins_the_thirty_minutes_anew(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    for _ in range(4):
        house.clock.advance(minutes=20)
        await manager.unload_idle()
        assert manager.get(reply["session_id"]) is not None
        await manager.state(reply["session_id"])


@requirement("PS-E6")
async def test_a_session_that_works_or_is_waited_for_is_not_idle(gated: Gated) -> None:
    async with gated.house.open() as manager:
        reply = await opened(manager)
        session_id = reply["session_id"]
        async with waiting(manager.decide(session_id, APPROVE)) as deciding:
            await gated.searching()
            gated.house.clock.advance(hours=5)
            await manager.unload_idle()
            assert manager.get(session_id) is not None
            deciding.cancel()
            await asyncio.wait([deciding])
            gated.house.clock.advance(hours=5)
            await manager.unload_idle()
            assert manager.get(session_id) is not None, "a stage is running"
        gated.gate.set()
        session = manager.get(session_id)
        assert session is not None
        await eventually(lambda: session.waiting is not None)


@requirement("PS-E6")
async def test_idle_sessions_are_let_go_of_in_the_background(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager_module, "_HOUSEKEEPING_S", 0.01)
    async with house.open() as manager:
        reply = await opened(manager)
        house.clock.advance(minutes=31)
        await eventually(lambda: manager.get(reply["session_id"]) is None)
        with closing(house.inbox()) as inbox:
            assert inbox.get(reply["checkpoint_id"]).state == "pending"


async def test_an_unloaded_session_can_be_run_by_another_process(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    house.clock.advance(minutes=31)
    await manager.unload_idle()
    async with house.open() as other:
        assert (await other.decide(reply["session_id"], APPROVE))["checkpoint_kind"] == REVIEW
        assert other.get(reply["session_id"]) is not None
        assert (await manager.state(reply["session_id"]))["checkpoint_kind"] == REVIEW
        assert manager.get(reply["session_id"]) is None


async def test_sessions_nobody_has_used_for_as_long_as_the_settings_say_are_deleted(house: House) -> None:
    house.settings = SessionsConfig(retention_days=10)
    async with house.open() as manager:
        old, loaded = await completed(manager), await opened(manager)
    async with house.open() as holder, house.open() as manager:
        await holder.state(loaded["session_id"])
        house.clock.advance(days=9.9)
        await manager.expire()
        assert house.files(old["session_id"]) != []
        house.clock.advance(days=0.2)
        await manager.expire()
        assert house.files(old["session_id"]) == []
        with pytest.raises(SessionNotFound):
            await manager.state(old["session_id"])
        with closing(house.inbox()) as inbox, pytest.raises(DecisionNotFound):
            inbox.get(f"{old['session_id']}:0:{STRATEGY}")
        assert (await manager.state(loaded["session_id"]))["checkpoint_kind"] == STRATEGY, "another process runs it"
        assert (await holder.decide(loaded["session_id"], APPROVE))["checkpoint_kind"] == REVIEW
    async with house.open() as manager:
        await manager.expire()
        with pytest.raises(SessionNotFound):
            await manager.state(loaded["session_id"])


async def test_a_session_in_memory_is_never_too_old(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    house.clock.advance(days=1_000)
    await manager.expire()
    assert (await manager.decide(reply["session_id"], APPROVE))["checkpoint_kind"] == REVIEW


async def test_old_sessions_are_deleted_in_the_background(house: House) -> None:
    async with house.open() as manager:
        old = await opened(manager)
    path = house.files(old["session_id"])[0]
    os.utime(path, (0, 0))
    async with house.open() as manager:
        await opened(manager)
        await eventually(lambda: house.files(old["session_id"]) == [])


@requirement("PS-REQ-13", "PS-PROP-10")
@pytest.mark.parametrize("reach", [opened, at_review, completed])
async def test_a_session_that_was_cleaned_up_is_gone_for_good(
    house: House, manager: SessionManager, reach: Callable[[SessionManager], Awaitable[dict[str, Any]]]
) -> None:
    reply, other = await reach(manager), await opened(manager)
    session_id = reply["session_id"]
    session = manager.get(session_id)
    assert session is not None
    assert session._task is not None
    manager.cleanup(session_id)
    assert manager.get(session_id) is None
    await asyncio.wait([session._task], timeout=PATIENCE_S)
    assert session._task.done()
    assert house.files(session_id) == []
    with closing(house.inbox()) as inbox:
        assert [entry.subject for entry in inbox.pending()] == [other["session_id"]]
        with pytest.raises(DecisionNotFound):
            inbox.get(f"{session_id}:0:{STRATEGY}")
    for call in (manager.state, manager.result, manager.papers, partial(manager.decide, decision=APPROVE)):
        with pytest.raises(SessionNotFound):
            await call(session_id)
    manager.cleanup(session_id)
    assert await manager.state(other["session_id"]) == other
    assert session_id.encode() not in b"".join(path.name.encode() for path in house.folder.rglob("*"))


@requirement("PS-REQ-13")
async def test_cleaning_up_ends_the_search_and_the_call_that_waits_for_it(gated: Gated) -> None:
    async with gated.house.open() as manager:
        session_id = (await opened(manager))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        async with waiting(manager.decide(session_id, APPROVE)) as deciding:
            await gated.searching()
            manager.cleanup(session_id)
            with pytest.raises((SessionNotFound, SessionInterrupted)):
                await ended(deciding)
        await asyncio.wait([session._task], timeout=PATIENCE_S)
        assert session._task.done()
        gated.gate.set()
        assert gated.house.files(session_id) == []


@requirement("PS-REQ-13", "PS-PROP-10")
async def test_a_session_that_left_memory_can_be_cleaned_up(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    house.clock.advance(minutes=31)
    await manager.unload_idle()
    manager.cleanup(reply["session_id"])
    assert manager.get(reply["session_id"]) is None
    assert house.files(reply["session_id"]) == []
    with pytest.raises(SessionNotFound):
        await manager.state(reply["session_id"])


class SlowStore(SessionFiles):
    """A store whose writing of one step takes until `go_on`; `writing` tells that it has begun."""

    def __init__(self, folder: Path, step: str) -> None:
        super().__init__(folder)
        self._step = step
        self.writing = threading.Event()
        self.go_on = threading.Event()
        self.written = threading.Event()

    def write(self, session_id: str, step: str, value: str, *, first: bool = False) -> None:
        if step != self._step:
            super().write(session_id, step, value, first=first)
            return
        self.writing.set()
        assert self.go_on.wait(PATIENCE_S)
        try:
            super().write(session_id, step, value, first=first)
        finally:
            self.written.set()


@requirement("PS-PROP-10")
@pytest.mark.parametrize(
    "step",
    [
        "session",
        "intent",
        "checkpoint-0",
    ],
)
async def test_a_session_cleaned_up_while_it_is_being_written_does_not_come_back(house: House, step: str) -> None:
    store = SlowStore(house.folder / "sessions", step)
    async with house.open(store=store) as manager:
        session_id = manager.create(QUERY, AppConfig())
        assert await asyncio.to_thread(store.writing.wait, PATIENCE_S)
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        async with waiting(asyncio.to_thread(manager.cleanup, session_id)) as cleaning:
            await asyncio.wait([cleaning], timeout=0.1)
            store.go_on.set()
            await ended(cleaning)
        assert await asyncio.to_thread(store.written.wait, PATIENCE_S)
        await asyncio.wait([session._task], timeout=PATIENCE_S)
        with pytest.raises(SessionNotFound):
            await manager.state(session_id)
    assert house.files(session_id) == []
    with closing(house.inbox()) as inbox:
        assert inbox.pending() == []


class SlowInbox(Inbox):
    """An inbox into which putting an entry takes until `go_on`; `putting` tells that it has begun."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.putting = threading.Event()
        self.go_on = threading.Event()
        self.put_there = threading.Event()

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Any) -> Entry:
        self.putting.set()
        assert self.go_on.wait(PATIENCE_S)
        try:
            return super().put(entry_id, part, kind, subject, payload)
        finally:
            self.put_there.set()


@requirement("PS-PROP-10")
async def test_a_session_cleaned_up_while_it_begins_to_ask_leaves_nothing_in_the_inbox(house: House) -> None:
    slow = SlowInbox(house.folder / "inbox.db")
    async with house.open(inbox=slow) as manager:
        session_id = manager.create(QUERY, AppConfig())
        assert await asyncio.to_thread(slow.putting.wait, PATIENCE_S)
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        async with waiting(asyncio.to_thread(manager.cleanup, session_id)) as cleaning:
            await asyncio.wait([cleaning], timeout=0.1)
            slow.go_on.set()
            await ended(cleaning)
        assert await asyncio.to_thread(slow.put_there.wait, PATIENCE_S)
        await asyncio.wait([session._task], timeout=PATIENCE_S)
    assert house.files(session_id) == []
    with closing(house.inbox()) as inbox:
        assert inbox.pending() == []


async def test_a_session_is_not_let_go_of_while_a_step_is_being_written(house: House) -> None:
    store = SlowStore(house.folder / "sessions", "round-0/search")
    manager = house.manager(store=store)
    reply = await opened(manager)
    session_id = reply["session_id"]
    async with waiting(manager.decide(session_id, APPROVE)):
        assert await asyncio.to_thread(store.writing.wait, PATIENCE_S)
        async with waiting(manager.aclose()) as closing_down:
            await asyncio.wait([closing_down], timeout=0.2)
            lease = await asyncio.to_thread(house.store().lease, session_id)
            if lease is not None:
                lease.release()
            store.go_on.set()
            await ended(closing_down)
    assert lease is None, "another process could have begun to run it"
    async with house.open() as another:
        repeated = await another.decide(session_id, APPROVE, checkpoint_id=reply["checkpoint_id"])
        assert repeated["checkpoint_kind"] == REVIEW
    assert house.engine.asked == [1], "what was journaled is not fetched again"


@requirement("PS-REQ-13")
async def test_threads_that_use_a_manager_side_by_side_lose_nothing(house: House, manager: SessionManager) -> None:
    await manager.state((await opened(manager))["session_id"])
    loop = asyncio.get_running_loop()
    outcomes: dict[int, tuple[str, bool]] = {}
    start = threading.Barrier(8)

    def wait_for(asking: Any) -> dict[str, Any]:
        return asyncio.run_coroutine_threadsafe(asking, loop).result(PATIENCE_S)

    def use(number: int) -> None:
        start.wait(timeout=PATIENCE_S)
        for turn in range(3):
            session_id = manager.create(f"tidal heating of moon number{number}x{turn}", AppConfig())
            session = manager.get(session_id)
            assert session is not None
            assert session.query.endswith(f"number{number}x{turn}")
            reply = wait_for(first_checkpoint(manager, session_id))
            assert reply["query"] == session.query
            reply = wait_for(manager.decide(session_id, APPROVE))
            if turn == 1:
                manager.cleanup(session_id)
                assert manager.get(session_id) is None
            else:
                reply = wait_for(manager.decide(session_id, APPROVE))
            outcomes[number * 10 + turn] = session_id, reply["is_complete"]

    with ThreadPoolExecutor(8) as threads:
        async with asyncio.timeout(50):
            await asyncio.gather(*(loop.run_in_executor(threads, use, number) for number in range(8)))
    assert len(outcomes) == 24
    assert len({session_id for session_id, _ in outcomes.values()}) == 24
    for key, (session_id, is_complete) in outcomes.items():
        cleaned = key % 10 == 1
        assert is_complete is not cleaned
        assert (manager.get(session_id) is None) is cleaned
        assert bool(house.files(session_id)) is not cleaned
    assert house.engine.asked == [24]


async def first_checkpoint(manager: SessionManager, session_id: str) -> dict[str, Any]:
    session = manager.get(session_id)
    assert session is not None
    await eventually(lambda: session.waiting is not None)
    return await manager.state(session_id)


@requirement("PS-REQ-13")
async def test_a_manager_can_be_called_from_another_event_loop(house: House, manager: SessionManager) -> None:
    reply = await opened(manager)
    session_id = reply["session_id"]

    def elsewhere() -> tuple[dict[str, Any], dict[str, Any]]:
        return asyncio.run(manager.state(session_id)), asyncio.run(manager.decide(session_id, APPROVE))

    seen, decided = await asyncio.to_thread(elsewhere)
    assert seen == reply
    assert decided["checkpoint_kind"] == REVIEW
    assert await manager.state(session_id) == decided
    assert house.engine.asked == [1]


async def test_the_event_loop_is_never_blocked(house: House) -> None:
    async with house.open() as warm:
        await completed(warm)
    with blockbuster_ctx("paper_search"):
        manager, other = house.manager(), house.manager()
        reply = await opened(manager)
        session_id = reply["session_id"]
        await other.state(session_id)
        await other.decide(session_id, reject(note="also Io"))
        await manager.decide(session_id, APPROVE)
        await manager.papers(session_id)
        house.clock.advance(minutes=31)
        await manager.unload_idle()
        await manager.state(session_id)
        await manager.decide(session_id, APPROVE, checkpoint_id=reply["checkpoint_id"])
        await manager.decide(session_id, APPROVE)
        await manager.result(session_id)
        await manager.expire()
        await manager.aclose()
        await other.aclose()


async def test_cancelling_a_call_ends_its_wait_and_not_the_session(gated: Gated) -> None:
    async with gated.house.open() as manager:
        reply = await opened(manager)
        session_id = reply["session_id"]
        async with waiting(manager.decide(session_id, APPROVE)) as deciding:
            await gated.searching()
            deciding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await ended(deciding)
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        assert not session._task.done()
        assert (await manager.state(session_id))["phase"] == "searching"
        gated.gate.set()
        await eventually(lambda: session.waiting is not None)
        reply = await manager.state(session_id)
        assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
    assert gated.house.engine.asked == [1]


async def test_cancelling_the_call_that_opens_a_session_leaves_the_session(gated: Gated) -> None:
    gated.house.engine.gates["intent"] = asyncio.Event()
    async with gated.house.open() as manager:
        async with waiting(opened(manager)) as opening:
            await eventually(lambda: bool(gated.house.engine.ran))
            opening.cancel()
            await asyncio.wait([opening])
        (session,) = manager._sessions.values()
        gated.house.engine.gates["intent"].set()
        await eventually(lambda: session.waiting is not None)
        assert (await manager.state(session.session_id))["checkpoint_kind"] == STRATEGY


@pytest.mark.parametrize("steps", range(8))
async def test_a_decision_cancelled_at_any_moment_is_taken_whole_or_not_at_all(house: House, steps: int) -> None:
    async with house.open() as manager:
        reply = await opened(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        async with waiting(manager.decide(session_id, REJECT, checkpoint_id=given)) as deciding:
            for _ in range(steps):
                await asyncio.sleep(0)
            deciding.cancel()
            await asyncio.wait([deciding])
        outcome = await manager.decide(session_id, APPROVE, checkpoint_id=given)
        taken = outcome.get("already_decided", {}).get("action", "approve")
        assert outcome["checkpoint_kind"] == (STRATEGY if taken == "reject" else REVIEW)
        assert outcome["iteration"] == 1
    assert decisions_kept(house, session_id) == ["decision-0"]


UNFIT: list[InboxDecision] = [
    InboxDecision(action="dance"),
    InboxDecision(action="edit"),
    InboxDecision(action="edit", data={"sources": ["nowhere"]}),
    InboxDecision(action="edit", data=[1, 2, 3]),
    InboxDecision(action="approve", data={"queries": []}),
    InboxDecision(action="reject", data={"marked_relevant": ["p_unknown"]}),
    InboxDecision(action="reject", note="x" * 1_000_000),
]


@pytest.mark.parametrize("unfit", UNFIT, ids=lambda decision: f"{decision.action} {decision.data}")
@pytest.mark.parametrize("when", ["while it runs", "while nobody runs it"])
async def test_a_decision_forced_into_the_inbox_that_does_not_fit_is_asked_for_again(
    house: House, unfit: InboxDecision, when: str
) -> None:
    async with house.open() as manager:
        reply = await opened(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        with closing(house.inbox()) as inbox:
            if when == "while it runs":
                inbox.decide(given, unfit, "force")
                await eventually(lambda: inbox.get(given).state == "pending")
            else:
                await manager.aclose()
                inbox.decide(given, unfit, "force")
                manager = house.manager()  # noqa: PLW2901 - another process
                await manager.state(session_id)
                await eventually(lambda: inbox.get(given).state == "pending")
        session = manager.get(session_id)
        assert session is not None
        await eventually(lambda: session.waiting is not None)
        assert await manager.state(session_id) == reply
        assert (await manager.decide(session_id, APPROVE))["iteration"] == 1
        await manager.aclose()
    assert decisions_kept(house, session_id) == ["decision-0"]


@pytest.mark.parametrize(
    "odd",
    [
        InboxDecision(action="reject", note="caf\udce9"),
        InboxDecision(action="reject", data={"free_text_feedback": "\ud800"}),
        InboxDecision(action="edit", data={"queries": [{"keywords": [], "boolean_query": "moons \ud800"}]}),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("when", ["while it runs", "while nobody runs it"])
async def test_half_characters_such_as_a_terminal_passes_on_do_not_end_the_session(
    house: House, odd: InboxDecision, when: str
) -> None:
    async with house.open() as manager:
        reply = await opened(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        if when == "while nobody runs it":
            await manager.aclose()
        with closing(house.inbox()) as inbox:
            inbox.decide(given, odd, "cli")
            if when == "while nobody runs it":
                manager = house.manager()  # noqa: PLW2901 - another process
                await manager.state(session_id)
            session = manager.get(session_id)
            assert session is not None
            await eventually(
                lambda: session.is_complete or inbox.get(given).state == "pending" or session.state().has_left(given)
            )
        assert session.error is None
        await manager.aclose()


@requirement("PS-REQ-13")
async def test_keys_are_never_written_and_come_from_the_settings_of_the_day(house: House) -> None:
    def config(source_key: str, model_key: str) -> AppConfig:
        return AppConfig(
            llm=LLMConfig(provider="openai", api_key=SecretStr(model_key)),
            sources={"alpha": SearchSourceConfig(name="alpha", api_key=SecretStr(source_key))},
        )

    async with house.open() as manager:
        reply = await at_review(manager, config=config("old-source-key", "old-model-key"))
    for key in (b"old-source-key", b"old-model-key"):
        assert key not in house.bytes_on_disk()
    house.present = config("new-source-key", "new-model-key")
    house.engine.configs.clear()
    async with house.open() as manager:
        await manager.state(reply["session_id"])
        await manager.decide(reply["session_id"], APPROVE)
    used = house.engine.configs[-1]
    assert used.sources["alpha"].api_key.get_secret_value() == "new-source-key"
    assert used.llm.api_key.get_secret_value() == "new-model-key"
    for key in (b"-source-key", b"-model-key"):
        assert key not in house.bytes_on_disk()


async def test_a_session_comes_back_as_it_was_asked_for_whatever_the_settings_say_now(house: House) -> None:
    async with house.open() as manager:
        reply = await opened(manager, config=AppConfig(default_max_results=7, domain="materials_science"))
    house.present = AppConfig(default_max_results=500)
    house.engine.configs.clear()
    async with house.open() as manager:
        assert await manager.state(reply["session_id"]) == reply
    assert {(used.default_max_results, used.domain) for used in house.engine.configs} == {(7, "materials_science")}


class Faulty(SessionFiles):
    """A store that cannot write while `broken`, as with a full disk."""

    broken = False

    def write(self, session_id: str, step: str, value: str, *, first: bool = False) -> None:
        if self.broken:
            raise DatabaseUnusable("The database cannot be used: database or disk is full.", hint="Check the disk.")
        super().write(session_id, step, value, first=first)


async def test_a_full_disk_interrupts_the_session_and_a_later_call_continues_it(house: House) -> None:
    store = Faulty(house.folder / "sessions")
    async with house.open(store=store) as manager:
        reply = await opened(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        store.broken = True
        with pytest.raises(SessionInterrupted, match="disk is full") as caught:
            await manager.decide(session_id, APPROVE, checkpoint_id=given)
        assert str(house.folder) not in str(caught.value.body())
        store.broken = False
        again = await manager.decide(session_id, APPROVE, checkpoint_id=given)
        assert again["already_decided"]["action"] == "approve"
        assert (again["checkpoint_kind"], again["iteration"]) == (REVIEW, 1)
        assert (await manager.decide(session_id, APPROVE))["is_complete"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"no database at all" * 100,
    ],
    ids=["empty", "foreign"],
)
async def test_a_damaged_session_is_a_clear_error_and_the_others_go_on(house: House, damage: bytes) -> None:
    async with house.open() as manager:
        broken, fine = await at_review(manager), await opened(manager)
    house.files(broken["session_id"])[0].write_bytes(damage)
    async with house.open() as manager:
        for call in (manager.state, manager.papers, partial(manager.decide, decision=APPROVE)):
            with pytest.raises((SessionInterrupted, DatabaseUnusable, SessionNotFound)) as caught:
                await call(broken["session_id"])
            assert str(house.folder) not in str(caught.value.body())
        assert (await manager.decide(fine["session_id"], APPROVE))["checkpoint_kind"] == REVIEW
        manager.cleanup(broken["session_id"])
    assert house.files(broken["session_id"]) == []
