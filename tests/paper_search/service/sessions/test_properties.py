"""Random operations through two managers keep every session consistent."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from paper_search.config import AppConfig
from paper_search.errors import CheckpointNotFound, InvalidDecision, SessionComplete, SessionNotFound
from paper_search.service.sessions import SessionManager
from paper_search.service.sessions.inbox_decisions import to_inbox_decision
from paper_search.store.session_state import read_session_state
from paper_search.workflow import CheckpointKind, Decision, DecisionAction
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REVIEW,
    STRATEGY,
    TIMEOUT_S,
    DataFolder,
    open_review,
    open_session,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import InboxPort

T = TypeVar("T")

MAX_ROUNDS = 3
ROUNDS_USED_UP = "max_rounds"
DATA = ["none", "valid", "invalid"]
VALID: dict[tuple[str, str], Any] = {
    (STRATEGY, "approve"): {},
    (STRATEGY, "edit"): {"queries": [{"keywords": ["Europa"], "boolean_query": "moons OR Europa"}]},
    (STRATEGY, "reject"): {"free_text_feedback": "more about Io"},
    (REVIEW, "approve"): {},
    (REVIEW, "edit"): {"free_text_feedback": "more about Io"},
    (REVIEW, "reject"): {"free_text_feedback": "less about Io"},
}
INVALID: dict[tuple[str, str], Any] = {
    (STRATEGY, "approve"): {"queries": []},
    (STRATEGY, "edit"): {"queries": [{"boolean_query": ""}], "sources": ["nowhere"]},
    (STRATEGY, "reject"): {"marked_relevant": ["p_nothing"]},
    (REVIEW, "approve"): {"free_text_feedback": "but"},
    (REVIEW, "edit"): {"queries": [{"keywords": [], "boolean_query": "x"}]},
    (REVIEW, "reject"): {"marked_irrelevant": ["p_nothing"]},
}


def make_decision(kind: str, action: str, data: str) -> Decision:
    given = None if data == "none" else (VALID if data == "valid" else INVALID)[kind, action]
    return Decision(action=DecisionAction(action), revised_data=given)


def is_accepted(kind: str, action: str, data: str) -> bool:
    """Return True unless the data is invalid or the edit of a strategy is empty."""
    return data == "valid" or (data == "none" and (kind, action) != (STRATEGY, "edit"))


@dataclass
class Model:
    """The expected state of a session."""

    session_id: str
    query: str
    checkpoint_id: str | None
    kind: str | None = STRATEGY
    iteration: int = 0
    round: int = 0
    reason: str | None = None
    decided: dict[str, str] = field(default_factory=dict[str, str])
    """The action at each earlier checkpoint."""

    @property
    def is_complete(self) -> bool:
        return self.kind is None

    def decide(self, action: str) -> None:
        """Apply a valid action."""
        assert self.kind is not None
        assert self.checkpoint_id is not None
        self.decided[self.checkpoint_id] = action
        self.iteration += 1
        if self.kind == STRATEGY and action != "reject":
            self.kind = REVIEW
        else:
            self.round += 1
            approved = action == "approve"
            self.reason = ROUNDS_USED_UP if self.round == MAX_ROUNDS and not approved else None
            self.kind = None if approved or self.reason else STRATEGY
        self.checkpoint_id = f"{self.session_id}:{self.iteration}:{self.kind}" if self.kind else None

    def check(self, reply: Any) -> None:
        expected = {
            "session_id": self.session_id,
            "query": self.query,
            "is_complete": self.is_complete,
            "has_pending_checkpoint": not self.is_complete,
            "iteration": self.iteration,
            "round": self.round,
        }
        assert {key: reply[key] for key in expected} == expected
        assert "error" not in reply
        assert reply.get("current_checkpoint_kind") == reply.get("checkpoint_kind") == self.kind
        if self.is_complete:
            assert not {"checkpoint", "checkpoint_id", "user_action_required"} & reply.keys()
            assert reply["result"].get("reason") == self.reason
            return
        nested = reply["checkpoint"]
        assert (nested["kind"], nested["iteration"]) == (self.kind, self.iteration)
        assert reply["checkpoint_id"] == nested["id"] == self.checkpoint_id
        if self.kind == STRATEGY:
            assert nested["payload"]["intent"]["topic"] == self.query, "never another session's"


class Sessions(RuleBasedStateMachine):
    """Two managers, like two processes, with one store and one inbox."""

    sessions = Bundle("sessions")
    doors = st.sampled_from([0, 1])
    actions = st.sampled_from([action.value for action in DecisionAction])

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.data_folder = DataFolder(self.folder, max_rounds=MAX_ROUNDS)
        self.runner = asyncio.Runner()
        self.managers = [self.data_folder.create_manager(), self.data_folder.create_manager()]
        self.models: list[Model] = []
        self.opened = 0

    def teardown(self) -> None:
        try:
            for manager in self.managers:
                self.run(manager.aclose())
        finally:
            self.runner.close()
            shutil.rmtree(self.folder)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(TIMEOUT_S):
                return await work

        return self.runner.run(bounded())

    @precondition(lambda self: len(self.models) < 3)
    @rule(target=sessions, door=doors)
    def open(self, door: int) -> Model:
        self.opened += 1
        query = f"tidal heating of moon number{self.opened}"
        reply = self.run(open_session(self.managers[door], query))
        model = Model(reply["session_id"], query, reply["checkpoint_id"])
        self.models.append(model)
        model.check(reply)
        assert self.managers[door].get(model.session_id) is not None
        return model

    @rule(session=sessions, door=doors)
    def read_state(self, session: Model, door: int) -> None:
        session.check(self.run(self.managers[door].get_state(session.session_id)))

    @rule(session=sessions, door=doors, action=actions, data=st.sampled_from(DATA), with_id=st.booleans())
    def decide(self, session: Model, door: int, action: str, data: str, with_id: bool) -> None:
        before = session.iteration
        decision = make_decision(session.kind or REVIEW, action, data)
        checkpoint_id = session.checkpoint_id if with_id else None
        deciding = self.managers[door].decide(session.session_id, decision, checkpoint_id=checkpoint_id)
        if session.is_complete:
            with pytest.raises(SessionComplete):
                self.run(deciding)
            return
        if not is_accepted(session.kind or "", action, data):
            with pytest.raises(InvalidDecision):
                self.run(deciding)
            return
        session.decide(action)
        reply = self.run(deciding)
        session.check(reply)
        assert "already_decided" not in reply
        assert reply["iteration"] > before or reply["is_complete"]

    @rule(session=sessions, door=doors, action=actions, pick=st.integers(0, 9))
    def repeat(self, session: Model, door: int, action: str, pick: int) -> None:
        """Send another decision for an earlier checkpoint."""
        decision = Decision(action=DecisionAction(action))
        if not session.decided:
            with pytest.raises(CheckpointNotFound):
                self.run(self.managers[door].decide(session.session_id, decision, checkpoint_id="never asked"))
            return
        checkpoint_id, taken = list(session.decided.items())[pick % len(session.decided)]
        reply: Any = self.run(self.managers[door].decide(session.session_id, decision, checkpoint_id=checkpoint_id))
        assert reply["already_decided"]["checkpoint_id"] == checkpoint_id
        assert reply["already_decided"]["action"] == taken
        session.check(reply)

    @rule(session=sessions, door=doors, action=actions)
    def decide_elsewhere(self, session: Model, door: int, action: str) -> None:
        """Store a decision in the inbox as a third process."""
        if session.is_complete:
            return
        assert session.checkpoint_id is not None
        data = "valid" if (session.kind, action) == (STRATEGY, "edit") else "none"
        with closing(self.data_folder.inbox()) as inbox:
            inbox.decide(
                session.checkpoint_id, to_inbox_decision(make_decision(session.kind or "", action, data)), "console"
            )
        given = session.checkpoint_id
        session.decide(action)
        reply: Any = self.run(self.managers[door].decide(session.session_id, APPROVE, checkpoint_id=given))
        assert (reply["already_decided"]["action"], reply["already_decided"]["door"]) == (action, "console")
        session.check(reply)

    @rule(minutes=st.sampled_from([5, 31]))
    def advance_time(self, minutes: int) -> None:
        self.data_folder.clock.advance(minutes=minutes)
        for manager in self.managers:
            self.run(manager.unload_idle())
        if minutes > 30:
            assert all(manager.get(model.session_id) is None for manager in self.managers for model in self.models)

    @rule(door=doors)
    def restart(self, door: int) -> None:
        self.run(self.managers[door].aclose())
        self.managers[door] = self.data_folder.create_manager()
        assert all(self.managers[door].get(model.session_id) is None for model in self.models)

    @rule(session=consumes(sessions), door=doors)
    def clean_up(self, session: Model, door: int) -> None:
        # The manager that has the session in memory deletes it.
        holding = [manager for manager in self.managers if manager.get(session.session_id) is not None]
        manager = holding[0] if holding else self.managers[door]
        self.run(asyncio.to_thread(manager.cleanup, session.session_id))
        self.models.remove(session)
        assert manager.get(session.session_id) is None
        assert self.data_folder.list_files(session.session_id) == []
        with pytest.raises(SessionNotFound):
            self.run(manager.get_state(session.session_id))
        with pytest.raises(SessionNotFound):
            self.run(manager.decide(session.session_id, APPROVE, checkpoint_id=session.checkpoint_id))

    @invariant()
    def stored_data_is_as_expected(self) -> None:
        """Check that the stored data of every session is as expected."""
        store = self.data_folder.store()
        with closing(self.data_folder.inbox()) as inbox:
            for model in self.models:
                state = read_session_state(store, inbox, model.session_id)
                assert (state.query, state.iteration, state.round) == (model.query, model.iteration, model.round)
                assert state.checkpoint_id == model.checkpoint_id
                assert (state.ended is not None) is model.is_complete
                steps = store.list_steps(model.session_id)
                assert sum(step.startswith("decision-") for step in steps) == model.iteration
            asked = {model.checkpoint_id for model in self.models if model.checkpoint_id}
            self.run(self._check_pending(inbox, asked))

    async def _check_pending(self, inbox: InboxPort, asked: set[str]) -> None:
        """Check the pending entries; run the loop until each checkpoint of the journals is in the inbox."""
        while {entry.id for entry in inbox.pending("paper_search")} != asked:  # noqa: ASYNC110 - a thread writes it
            await asyncio.sleep(0.005)

    @invariant()
    def no_stage_is_repeated(self) -> None:
        assert self.data_folder.engine.ran.count("intent") == self.opened


@requirement("PS-PROP-6", "PS-PROP-7", "PS-PROP-8", "PS-PROP-9", "PS-PROP-10", "PS-REQ-13", "PS-REQ-15")
def test_random_operations_keep_every_session_consistent() -> None:
    run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
        Sessions,
        # Shrinking would exceed the time limit of a test.
        settings=settings(max_examples=15, stateful_step_count=20, phases=[Phase.reuse, Phase.generate]),
    )


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path, max_rounds=MAX_ROUNDS)


async def open_at(manager: SessionManager, kind: CheckpointKind) -> dict[str, Any]:
    reach = open_session if kind is CheckpointKind.STRATEGY_CONFIRMATION else open_review
    reply = await reach(manager)
    assert reply["checkpoint_kind"] == kind.value
    return reply


@requirement("PS-PROP-7", "PS-PROP-9", "PS-C3")
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("action", [action.value for action in DecisionAction])
@pytest.mark.parametrize("kind", CheckpointKind)
async def test_every_action_at_every_checkpoint_with_any_data_is_handled(
    data_folder: DataFolder, kind: CheckpointKind, action: str, data: str
) -> None:
    async with data_folder.open_manager() as manager:
        before = await open_at(manager, kind)
        session_id = before["session_id"]
        decision = make_decision(kind.value, action, data)
        if not is_accepted(kind.value, action, data):
            with pytest.raises(InvalidDecision) as caught:
                await manager.decide(session_id, decision)
            assert caught.value.hint
            assert await manager.get_state(session_id) == before, "the checkpoint stays pending"
            return
        reply = await manager.decide(session_id, decision)
        assert reply["is_complete"] or reply["iteration"] == before["iteration"] + 1
        model = Model(session_id, before["query"], before["checkpoint_id"], kind.value, before["iteration"])
        model.decide(action)
        model.check(reply)
        assert await manager.get_state(session_id) == reply


@requirement("PS-PROP-9")
@pytest.mark.parametrize("kind", CheckpointKind)
async def test_a_valid_edit_without_changes_is_accepted(data_folder: DataFolder, kind: CheckpointKind) -> None:
    async with data_folder.open_manager() as manager:
        before = await open_at(manager, kind)
        data = {"sources": ["alpha"]} if kind is CheckpointKind.STRATEGY_CONFIRMATION else {}
        decision = Decision(action=DecisionAction.EDIT, revised_data=data)
        reply = await manager.decide(before["session_id"], decision)
        assert reply["iteration"] == before["iteration"] + 1


@requirement("PS-PROP-6")
async def test_a_session_can_be_looked_up_from_the_moment_it_is_created(data_folder: DataFolder) -> None:
    data_folder.engine.gates["intent"] = asyncio.Event()
    async with data_folder.open_manager() as manager:
        session_id = manager.create("icy moons", AppConfig())
        reply = await manager.get_state(session_id)
        assert (reply["session_id"], reply["query"]) == (session_id, "icy moons")
        assert (reply["is_complete"], reply["has_pending_checkpoint"], reply["iteration"]) == (False, False, 0)
        data_folder.engine.gates["intent"].set()
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.pending is not None)


@requirement("PS-PROP-10")
@pytest.mark.parametrize("restarted", [False, True])
async def test_after_a_clean_up_no_manager_finds_the_session(data_folder: DataFolder, restarted: bool) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        manager.cleanup(session_id)
        assert manager.get(session_id) is None
        if restarted:
            async with data_folder.open_manager() as another:
                assert another.get(session_id) is None
                with pytest.raises(SessionNotFound):
                    await another.get_state(session_id)
        with pytest.raises(SessionNotFound):
            await manager.get_state(session_id)
