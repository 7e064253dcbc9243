"""Concurrent decisions in one process and in two, and clients that disconnect or time out."""

import asyncio
import json
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paper_search.config import AppConfig
from paper_search.service.sessions import SessionManager
from paper_search.store.session_files import SessionFiles
from tests.installed_programs import find_program
from tests.paper_search.service.sessions.processes import (
    TIMEOUT_S,
    Answer,
    GatedSource,
    Server,
    environment,
    eventually,
    get_inbox_path,
    get_journal_path,
    get_sessions_folder,
    open_client,
    read_decisions,
    read_steps,
    serving,
)
from tests.requirements import requirement
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp.testing import get_json, get_text
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry
from uraniborg.recordings import QUERY, RECORDING

STRATEGY = "strategy_confirmation"
REVIEW = "result_review"
TOPIC = "moons"
"""One word, so that a source gets one query."""


@contextmanager
def run_two_servers(home: Path, gated_source: GatedSource | None = None) -> Generator[tuple[Server, Server]]:
    env = gated_source.env if gated_source else {}
    with serving(home, env=env) as first, serving(home, env=env) as second:
        yield first, second


def decide_at_once(*calls: tuple[Server, dict[str, Any]]) -> list[Answer]:
    """Send `decide` calls at the same time; return their answers."""
    start = threading.Barrier(len(calls))
    answers: list[Answer | None] = [None] * len(calls)

    def decide(place: int, server: Server, arguments: dict[str, Any]) -> None:
        start.wait(TIMEOUT_S)
        answers[place] = server.call("decide", **arguments)

    threads = [threading.Thread(target=decide, args=(place, *call)) for place, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    return [answer for answer in answers if answer is not None]


def was_applied(answer: Answer) -> bool:
    """Return True if this decision was applied; check that the others got a clear error or report."""
    if answer.is_error:
        answer.check_error("checkpoint_busy", "checkpoint already being processed", "get_session")
        return False
    return "already_decided" not in answer.state


def finish(server: Server, session_id: str) -> str:
    """Approve all remaining checkpoints and return the exported papers."""
    while not server.state_once(session_id, lambda state: state["has_pending_checkpoint"] or state["is_complete"])[
        "is_complete"
    ]:
        assert not server.call("decide", session_id=session_id, action="approve").is_error
    return server.call("export_results", session_id=session_id, format="json").text


@requirement("PS-E8")
@pytest.mark.parametrize("names_the_checkpoint", [True, False], ids=["with its id", "without"])
def test_of_two_concurrent_decides_in_one_process_one_is_applied(
    home: Path, gated_source: GatedSource, names_the_checkpoint: bool
) -> None:
    with serving(home, env=gated_source.env) as server:
        asked = server.search(TOPIC)
        session_id = asked["session_id"]
        which = {"checkpoint_id": asked["checkpoint_id"]} if names_the_checkpoint else {}
        first = server.begin("decide", session_id=session_id, action="approve", note="first", **which)
        second = server.begin("decide", session_id=session_id, action="reject", note="second", **which)
        gated_source.wait_for_search()
        if not names_the_checkpoint:
            second().check_error("checkpoint_busy", "checkpoint already being processed")
        gated_source.open()
        assert first().state["checkpoint_kind"] == REVIEW
        if names_the_checkpoint:
            answer = second()
            assert not was_applied(answer)
            if not answer.is_error:
                assert answer.state["already_decided"]["note"] == "first"
                assert answer.state["checkpoint_kind"] == REVIEW
        journal = read_steps(get_journal_path(home, session_id))
        assert journal["decision-0"]["note"] == "first"
        assert "decision-1" not in journal
        finish(server, session_id)


@requirement("PS-E8")
def test_a_decide_in_another_process_is_refused_while_one_is_carried_out(home: Path, gated_source: GatedSource) -> None:
    with run_two_servers(home, gated_source) as (one, other):
        session_id = one.search(TOPIC)["session_id"]
        first = one.begin("decide", session_id=session_id, action="approve", note="first")
        gated_source.wait_for_search()
        for server in (one, other):
            late = server.call("decide", session_id=session_id, action="approve", note="late")
            late.check_error("checkpoint_busy", "checkpoint already being processed")
        gated_source.open()
        assert first().state["iteration"] == 1
        assert read_decisions(get_journal_path(home, session_id)) == ["approve"]
        finish(other, session_id)


@requirement("PS-E8")
def test_of_many_concurrent_decides_in_one_process_one_is_applied(home: Path) -> None:
    with serving(home) as server:
        asked = server.search()
        session_id, checkpoint_id = asked["session_id"], asked["checkpoint_id"]
        decides = [
            server.begin(
                "decide", session_id=session_id, action="approve", note=f"number {number}", checkpoint_id=checkpoint_id
            )
            for number in range(30)
        ]
        taken = [number for number, decide in enumerate(decides) if was_applied(decide())]
        assert len(taken) == 1
        assert read_steps(get_journal_path(home, session_id))["decision-0"]["note"] == f"number {taken[0]}"
        assert read_decisions(get_journal_path(home, session_id)) == ["approve"]
        finish(server, session_id)


@requirement("PS-E8")
def test_of_two_concurrent_decides_in_two_processes_one_is_applied(home: Path) -> None:
    with run_two_servers(home) as (one, other):
        won = {"one": 0, "other": 0}
        for number in range(4):
            asked = (one if number % 2 else other).search()
            session_id = asked["session_id"]
            journal = get_journal_path(home, session_id)
            rounds = [("approve", "reject"), ("reject", "reject"), ("approve", "approve")]
            for decided, actions in enumerate(rounds):
                pending = one.state_once(session_id, lambda state: state["has_pending_checkpoint"])
                common = {"session_id": session_id, "checkpoint_id": pending["checkpoint_id"]}
                answers = decide_at_once(
                    (one, {**common, "action": actions[0], "note": "one"}),
                    (other, {**common, "action": actions[1], "note": "other"}),
                )
                taken = [name for name, answer in zip(won, answers, strict=True) if was_applied(answer)]
                assert len(taken) == 1
                won[taken[0]] += 1
                steps = read_steps(journal)
                assert steps[f"decision-{decided}"]["note"] == taken[0]
                assert len(read_decisions(journal)) == decided + 1
                for answer in answers:
                    if not answer.is_error:
                        assert answer.state["iteration"] == decided + 1
                if one.state(session_id)["is_complete"]:
                    break
            assert finish(one, session_id) == finish(other, session_id)
        assert sum(won.values()) >= 8


def test_decides_without_a_checkpoint_id_are_applied_once_or_refused(home: Path) -> None:
    with run_two_servers(home) as (one, other):
        for _ in range(4):
            session_id = one.search()["session_id"]
            answers = decide_at_once(
                (one, {"session_id": session_id, "action": "reject", "note": "one"}),
                (other, {"session_id": session_id, "action": "reject", "note": "other"}),
            )
            taken: list[str] = []
            for name, answer in zip(("one", "other"), answers, strict=True):
                if answer.is_error and answer.error["code"] == "no_pending_checkpoint":
                    answer.check_error(
                        "no_pending_checkpoint", "the session is working", "get_session"
                    )  # it came later
                elif was_applied(answer):
                    taken.append(name)
            steps = read_steps(get_journal_path(home, session_id))
            notes = [value["note"] for step, value in steps.items() if step.startswith("decision-")]
            assert sorted(notes) == sorted(taken)
            finish(other, session_id)


async def test_a_decision_of_another_process_reaches_the_waiting_process(home: Path, gated_source: GatedSource) -> None:
    gated_source.open()
    async with open_client(home, gated_source.env) as agent, open_client(home, gated_source.env) as console:
        asked = get_json(await agent.call_tool("search_papers", {"query": TOPIC}))
        session_id = asked["session_id"]
        seen = get_json(await console.call_tool("get_session", {"session_id": session_id}))
        assert seen["checkpoint"] == asked["checkpoint"]
        decided = get_json(await console.call_tool("decide", {"session_id": session_id, "action": "approve"}))
        assert decided["checkpoint_kind"] == REVIEW
        async with asyncio.timeout(TIMEOUT_S):
            state = get_json(await agent.call_tool("get_session", {"session_id": session_id}))
        assert state["checkpoint"] == decided["checkpoint"]
        late = await agent.call_tool(
            "decide", {"session_id": session_id, "action": "reject", "checkpoint_id": asked["checkpoint_id"]}
        )
        assert get_json(late)["already_decided"]["action"] == "approve"
        ended = get_json(await agent.call_tool("decide", {"session_id": session_id, "action": "approve"}))
        assert ended["is_complete"]
        exports = [
            get_text(await client.call_tool("export_results", {"session_id": session_id}))
            for client in (agent, console)
        ]
        assert exports[0] == exports[1]
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


def test_of_decisions_from_the_command_line_and_the_agent_only_one_is_applied(home: Path) -> None:
    with serving(home) as server:
        for action in ("approve", "reject"):
            asked = server.search()
            session_id, checkpoint_id = asked["session_id"], asked["checkpoint_id"]
            with subprocess.Popen(
                [find_program("uraniborg"), "decide", checkpoint_id, action, "--note", "from the terminal", "--json"],
                env=environment(home, {}),
                cwd=home,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as command:
                answer = server.call(
                    "decide", session_id=session_id, action="approve", note="agent", checkpoint_id=checkpoint_id
                )
                out, err = command.communicate(timeout=TIMEOUT_S)
            by_agent = was_applied(answer)
            assert (command.returncode == 0) != by_agent, (out, err)
            if by_agent:
                assert json.loads(out)["error"]["code"] == "already_decided"
            server.state_once(session_id, lambda state: state["iteration"] == 1 and state["has_pending_checkpoint"])
            decision = read_steps(get_journal_path(home, session_id))["decision-0"]
            assert decision["note"] == ("agent" if by_agent else "from the terminal")
            finish(server, session_id)


class InboxThatDecides(Inbox):
    """While `in_haste` is set, another process decides each new entry at once, and `put` returns late."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.in_haste = False
        self._elsewhere = Inbox(path)
        self._looks = threading.Semaphore(0)

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Any) -> InboxEntry:
        entry = super().put(entry_id, part, kind, subject, payload)
        if self.in_haste:
            self.in_haste = False
            self._elsewhere.decide(entry_id, InboxDecision(action="approve"), "console")
            while self._looks.acquire(blocking=False):
                pass
            for _ in range(3):
                assert self._looks.acquire(timeout=TIMEOUT_S)
        return entry

    def revision(self) -> tuple[int, int]:
        revision = super().revision()
        self._looks.release()
        return revision

    def close(self) -> None:
        super().close()
        self._elsewhere.close()


async def ignore_progress(_session: object) -> None:
    pass


async def test_a_decision_stored_before_the_session_waits_is_applied(home: Path) -> None:
    inbox = InboxThatDecides(get_inbox_path(home))
    manager = SessionManager(store=SessionFiles(get_sessions_folder(home)), inbox=inbox)
    config = AppConfig(replay_dir=RECORDING)
    try:
        await manager.start(QUERY, config)  # so that the inbox is polled
        inbox.in_haste = True
        session_id = (await manager.start(QUERY, config))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        await session.wait_until_passed(f"{session_id}:0:{STRATEGY}", TIMEOUT_S, ignore_progress)
        assert (await manager.get_state(session_id)).get("checkpoint_kind") == REVIEW
        assert read_decisions(get_journal_path(home, session_id)) == ["approve"]
    finally:
        await manager.aclose()


def test_an_invalid_decision_in_the_inbox_is_reopened(home: Path) -> None:
    """Entries that another program writes into the inbox are checked too."""
    with serving(home) as server:
        asked = server.search()
        session_id, checkpoint_id = asked["session_id"], asked["checkpoint_id"]
        inbox = Inbox(get_inbox_path(home))
        try:
            for decision in (
                InboxDecision(action="dance"),
                InboxDecision(action="edit", data=[1, 2]),
                InboxDecision(action="edit", data={"queries": "none"}),
                InboxDecision(action="reject", note="x" * 1_000_000),
            ):
                inbox.decide(checkpoint_id, decision, "elsewhere")
                eventually(lambda: inbox.get(checkpoint_id).state == "pending")
                state = server.state(session_id)
                assert "error" not in state
                assert state["checkpoint_id"] == checkpoint_id
            for data in ("\ud800", {"free_text_feedback": "\ud800"}):
                with pytest.raises(InvalidInput, match="decision is not JSON"):
                    inbox.decide(checkpoint_id, InboxDecision(action="reject", data=data), "elsewhere")
        finally:
            inbox.close()
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


def test_a_client_that_breaks_its_pipes_while_it_waits_leaves_a_session_that_continues(
    home: Path, gated_source: GatedSource
) -> None:
    with serving(home, env=gated_source.env) as server:
        session_id = server.search(TOPIC)["session_id"]
        waiting = server.begin("decide", session_id=session_id, action="approve", note="before I go")
        gated_source.wait_for_search()
        assert not waiting.future.done()
        server.stop_listening()  # with stdout open, the server would wait to answer the call
        server.process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]
        assert server.process.wait(TIMEOUT_S) == 0
        server.check_log()
    assert read_steps(get_journal_path(home, session_id))["decision-0"]["note"] == "before I go"
    gated_source.open()
    with serving(home, env=gated_source.env) as server:
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


def test_a_client_that_stops_reading_while_it_waits_leaves_a_session_that_continues(
    home: Path, gated_source: GatedSource
) -> None:
    with serving(home, env=gated_source.env) as server:
        session_id = server.search(TOPIC)["session_id"]
        server.begin("decide", session_id=session_id, action="approve")
        gated_source.wait_for_search()
        server.stop_listening()
        gated_source.open()
        assert server.process.wait(TIMEOUT_S) == 0
    with serving(home, env=gated_source.env) as server:
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)


def test_a_client_that_leaves_during_its_search_leaves_a_valid_session_or_none(home: Path) -> None:
    folder = get_sessions_folder(home)
    with serving(home) as server:
        server.begin("search_papers", query=TOPIC)
        eventually(lambda: folder.is_dir() and any(folder.glob("*.db")))
        server.kill()
    (journal,) = folder.glob("*.db")
    with serving(home) as server:
        answer = server.call("get_session", session_id=journal.stem)
        if answer.is_error:
            answer.check_error(("session_not_found", "session_interrupted"), journal.stem)
        else:
            finish(server, journal.stem)
        finish(server, server.search()["session_id"])


def test_a_cancelled_decide_ends_the_wait_and_not_the_session(home: Path, gated_source: GatedSource) -> None:
    with serving(home, env=gated_source.env) as server:
        session_id = server.search(TOPIC)["session_id"]
        waiting = server.begin("decide", session_id=session_id, action="approve")
        gated_source.wait_for_search()
        cancel = {"requestId": waiting.request_id, "reason": "the person has left"}
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
        assert "error" in waiting.future.result(TIMEOUT_S)
        state = server.state(session_id)
        assert (state["phase"], state["iteration"], state["has_pending_checkpoint"]) == ("searching", 1, False)
        server.call("decide", session_id=session_id, action="approve").check_error(
            "no_pending_checkpoint", "No pending checkpoint", "get_session"
        )
        gated_source.open()
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]
        assert gated_source.search_count == 1


def test_a_cancelled_search_leaves_a_session_that_waits(home: Path) -> None:
    with serving(home) as server:
        known = server.search()["session_id"]
        for _ in range(20):
            waiting = server.begin("search_papers", query=QUERY)
            cancel = {"requestId": waiting.request_id}
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
            waiting.future.result(TIMEOUT_S)
        for journal in get_sessions_folder(home).glob("*.db"):
            state = server.state_once(journal.stem, lambda state: state["has_pending_checkpoint"])
            assert state["checkpoint_kind"] == STRATEGY
        server.check_log()
        finish(server, known)


async def test_the_official_client_may_time_out_and_call_again(home: Path, gated_source: GatedSource) -> None:
    async with open_client(home, gated_source.env) as client:
        asked = get_json(await client.call_tool("search_papers", {"query": TOPIC}))
        decision = {
            "session_id": asked["session_id"],
            "action": "approve",
            "checkpoint_id": asked["checkpoint_id"],
        }
        waiting = asyncio.create_task(client.call_tool("decide", decision))
        await asyncio.to_thread(gated_source.wait_for_search)
        waiting.cancel()
        again = asyncio.create_task(client.call_tool("decide", decision))
        gated_source.open()
        async with asyncio.timeout(TIMEOUT_S):
            state = get_json(await again)
        assert state["already_decided"]["action"] == "approve"
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
    assert gated_source.search_count == 1
    assert read_decisions(get_journal_path(home, asked["session_id"])) == ["approve"]


def test_cancelling_an_unknown_request_changes_nothing(home: Path) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        for request_id in (0, 999, "no such request", None, [1], 1.5):
            cancel = {"requestId": request_id}
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
            assert server.state(session_id)["has_pending_checkpoint"]
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled"})
        finish(server, session_id)
        assert server.close() == 0


def test_a_process_continues_the_session_of_a_killed_process_where_it_stopped(
    home: Path, gated_source: GatedSource
) -> None:
    with run_two_servers(home, gated_source) as (one, other):
        asked = one.search(TOPIC)
        session_id = asked["session_id"]
        watching = other.begin(
            "decide", session_id=session_id, action="approve", note="other", checkpoint_id=asked["checkpoint_id"]
        )
        gated_source.wait_for_search()
        one.kill()
        gated_source.wait_for_search(2)
        gated_source.open()
        state = watching().state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        steps = read_steps(get_journal_path(home, session_id))
        assert steps["decision-0"]["note"] == "other"
        finish(other, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]
