"""Many concurrent sessions in one process: each has only its own query, decisions and papers."""

import asyncio
import json
import re
import threading
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from paper_search.models import RawPaper, SearchStrategy
from paper_search.service.sessions import SessionManager
from paper_search.sources.interfaces import SearchSource
from paper_search.store.session_files import MemorySessions
from paper_search.workflow import Decision, DecisionAction
from paper_search.workflow.decisions import add_missing_reviewer
from tests.paper_search.service.sessions import fast_server
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REVIEW,
    STRATEGY,
    DataFolder,
    make_paper,
    open_session,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry, MemoryInbox

SESSIONS = 50
MARK = re.compile(r"moon[b-m]o[b-m]o")


@pytest.fixture(autouse=True)
def disable_disk_sync() -> Generator[None]:
    with fast_server.disable_disk_sync():
        yield


def make_mark(number: int) -> str:
    """Return the word that marks the query, strategy, papers and decisions of one session."""
    letters = "bcdfghjklm"
    return f"moon{letters[number // 10]}o{letters[number % 10]}o"


def make_query(number: int) -> str:
    return f"tidal heating of {make_mark(number)}"


def find_marks(*values: Any) -> set[str]:
    return set(MARK.findall(json.dumps(values, default=str)))


class EchoingSource(SearchSource):
    """A source that yields to other sessions and then returns three papers about the query."""

    @property
    def source_name(self) -> str:
        return "alpha"

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        await asyncio.sleep(0)
        (about,) = find_marks([asked.boolean_query for asked in strategy.queries])
        return [
            make_paper(f"Tidal heating of {about}: the {aspect}", doi=f"10.1000/{about}.{aspect}")
            for aspect in ("crust", "mantle", "ocean")
        ]


def make_decision(number: int, action: str, data: dict[str, Any] | None = None) -> Decision:
    return Decision(action=DecisionAction(action), revised_data=data, note=f"So says {make_mark(number)}")


def choose_decision(number: int, reply: dict[str, Any], taken: int) -> Decision:
    """Return the next decision of this session: one of five patterns, each ending with an approval."""
    kind, about = number % 5, make_mark(number)
    if kind == 1 and taken == 0:
        words = [about, "tides"]
        return make_decision(
            number, "edit", {"queries": [{"keywords": words, "boolean_query": " AND ".join(words)}], "notes": [about]}
        )
    if kind == 2 and taken == 0:
        return make_decision(number, "reject", {"free_text_feedback": f"{about} in winter"})
    if kind in (3, 4) and taken == 1:
        first = reply["checkpoint"]["payload"]["papers"][0]["id"]
        action, field = ("reject", "marked_irrelevant") if kind == 3 else ("edit", "marked_relevant")
        return make_decision(number, action, {field: [first]})
    return make_decision(number, "approve")


async def complete_session(manager: SessionManager, number: int) -> tuple[list[dict[str, Any]], list[Decision]]:
    """Run a session to its end; return all replies and decisions."""
    replies = [await open_session(manager, make_query(number))]
    decisions: list[Decision] = []
    while not (reply := replies[-1])["is_complete"]:
        decision = choose_decision(number, reply, len(decisions))
        decisions.append(decision)
        checkpoint_id = reply["checkpoint_id"]
        replies.append(await manager.decide(reply["session_id"], decision, checkpoint_id=checkpoint_id))
    return replies, decisions


@requirement("PS-REQ-15", "PS-PROP-8")
async def test_fifty_concurrent_sessions_never_mix_their_data(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path, EchoingSource())
    async with data_folder.open_manager(store=MemorySessions(), inbox=MemoryInbox()) as manager:
        outcomes = await asyncio.gather(*(complete_session(manager, number) for number in range(SESSIONS)))
        results = [await manager.get_result(replies[0]["session_id"]) for replies, _ in outcomes]

    assert len({replies[0]["session_id"] for replies, _ in outcomes}) == SESSIONS
    asked = [reply["checkpoint_id"] for replies, _ in outcomes for reply in replies[:-1]]
    assert len(set(asked)) == len(asked)
    for number, (replies, _) in enumerate(outcomes):
        assert {(reply["session_id"], reply["query"]) for reply in replies} == {
            (replies[0]["session_id"], make_query(number))
        }
        assert all(find_marks(reply) == {make_mark(number)} for reply in replies)
        assert find_marks(results[number].model_dump()) == {make_mark(number)}
        assert len(results[number].papers) == (2 if number % 5 == 3 else 3)
    kinds = [[reply["checkpoint_kind"] for reply in outcomes[kind][0][:-1]] for kind in range(5)]
    once, again = [STRATEGY, REVIEW], [STRATEGY, REVIEW, STRATEGY, REVIEW]
    assert kinds == [once, once, [STRATEGY, *once], again, again]


@requirement("PS-REQ-15", "PS-PROP-8")
async def test_the_files_of_fifty_sessions_contain_only_their_own_data(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path, EchoingSource())
    async with data_folder.open_manager() as manager:
        outcomes = await asyncio.gather(*(complete_session(manager, number) for number in range(SESSIONS)))

    store = data_folder.store()
    with closing(data_folder.inbox()) as inbox:
        for number, (replies, decisions) in enumerate(outcomes):
            session_id = replies[0]["session_id"]
            journal = {step: store.read(session_id, step) or "" for step in store.list_steps(session_id)}
            assert find_marks(journal) == {make_mark(number)}
            stored = [Decision.model_validate_json(journal[f"decision-{taken}"]) for taken in range(len(decisions))]
            assert stored == [add_agent_reviewer(decision) for decision in decisions]
            assert f"decision-{len(decisions)}" not in journal
            entries = [inbox.get(reply["checkpoint_id"]) for reply in replies[:-1]]
            assert [get_decision(entry) for entry in entries] == decisions
            assert {entry.subject for entry in entries} == {session_id}
            assert find_marks([entry.payload for entry in entries]) == {make_mark(number)}
    async with data_folder.open_manager() as successor:
        for replies, _ in outcomes:
            assert drop_elapsed_time(await successor.get_state(replies[0]["session_id"])) == drop_elapsed_time(
                replies[-1]
            )


async def test_decisions_of_another_process_reach_the_right_one_of_fifty_sessions(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path, EchoingSource())
    async with data_folder.open_manager() as manager:
        replies = await asyncio.gather(*(open_session(manager, make_query(number)) for number in range(SESSIONS)))
        await asyncio.to_thread(decide_in_inbox, data_folder, replies)
        after = await asyncio.gather(*(complete_review(manager, reply) for reply in replies))

    store = data_folder.store()
    for number, reply in enumerate(after):
        assert find_marks(reply) == {make_mark(number)}
        stored = Decision.model_validate_json(store.read(reply["session_id"], "decision-0") or "")
        assert stored == make_decision(number, "approve")


async def test_a_decision_of_another_process_just_before_the_session_waits_is_applied(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path, EchoingSource())
    inbox = SlowInbox(tmp_path / "inbox.db")
    async with data_folder.open_manager(inbox=inbox) as manager:
        await open_session(manager, make_query(0))  # one session waits already, so the inbox is polled
        inbox.dawdle = True
        opening = asyncio.create_task(open_session(manager, make_query(1)))
        await wait_until(lambda: inbox.asked is not None)
        assert inbox.asked is not None
        with closing(data_folder.inbox()) as elsewhere:
            await asyncio.to_thread(elsewhere.decide, inbox.asked.id, InboxDecision(action="approve"), "console")
        await inbox.wait_for_polls(times=3)
        inbox.go_on.set()
        session_id = (await opening)["session_id"]
        await inbox.wait_for_polls(times=3)
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.get_state().iteration == 1, within_s=3)


def add_agent_reviewer(decision: Decision) -> Decision:
    return decision.model_copy(update={"revised_data": add_missing_reviewer(decision.revised_data, "agent")})


def get_decision(entry: InboxEntry) -> Decision:
    assert entry.decision is not None
    decision = entry.decision
    return Decision(action=DecisionAction(decision.action), revised_data=decision.data, note=decision.note)


def drop_elapsed_time(reply: Any) -> dict[str, Any]:
    """Return the reply without its elapsed time."""
    return {key: value for key, value in reply.items() if key != "elapsed_s"}


def decide_in_inbox(data_folder: DataFolder, replies: Sequence[dict[str, Any]]) -> None:
    with closing(data_folder.inbox()) as inbox:
        for number, reply in enumerate(replies):
            decision = make_decision(number, "approve")
            inbox.decide(
                reply["checkpoint_id"], InboxDecision(action=decision.action.value, note=decision.note), "console"
            )


async def complete_review(manager: SessionManager, reply: dict[str, Any]) -> Any:
    """Return the reply at the review, after the strategy was decided in another process."""
    return await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])


class SlowInbox(Inbox):
    """An inbox whose `put` can be made to return late."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.dawdle = False
        self.asked: InboxEntry | None = None
        self.go_on = threading.Event()
        self._looks = 0

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Any) -> InboxEntry:
        entry = super().put(entry_id, part, kind, subject, payload)
        if self.dawdle:
            self.asked = entry
            assert self.go_on.wait(timeout=30)
        return entry

    def revision(self) -> tuple[int, int]:
        self._looks += 1
        return super().revision()

    async def wait_for_polls(self, *, times: int) -> None:
        """Wait until the inbox was polled this many times."""
        enough = self._looks + times
        await wait_until(lambda: self._looks >= enough)
