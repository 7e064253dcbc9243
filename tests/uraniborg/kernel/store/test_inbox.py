"""Entries that wait for a person are stored, can be decided once by any interface, and survive a kill."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.clock import FrozenClock
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.change_feed import ChangeFeed, ChangeReader
from uraniborg.kernel.store.inbox import (
    AlreadyDecided,
    DecisionNotFound,
    DecisionWithdrawn,
    Inbox,
    InboxDecision,
    InboxEntry,
    InboxPort,
    MemoryInbox,
    describe_decision,
)
from uraniborg.kernel.store.sqlite import DatabaseUnusable


def make_person(name: str) -> Actor:
    return Actor(kind="person", name=name, authenticated="sign_in")


SIGNED_IN = make_person("Tycho Brahe")
NOW = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)
APPROVE = InboxDecision(action="approve", data={"keep": ["ünï", None, 1.5]}, note="go on")


@pytest.fixture(params=["file", "memory"])
def inbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InboxPort]:
    clock = FrozenClock(NOW)
    made: InboxPort = Inbox(tmp_path / "inbox.db", clock) if request.param == "file" else MemoryInbox(clock)
    with closing(made):
        yield made


def ask(
    inbox: InboxPort, entry_id: str = "dec_1", part: str = "paper_search", payload: JsonObject | None = None
) -> InboxEntry:
    return inbox.put(entry_id, part, "strategy_confirmation", "ses_1", payload or {})


def test_an_entry_is_kept_with_all_it_was_given(inbox: InboxPort) -> None:
    payload: JsonObject = {"query": "perovskite ☀", "years": [2018, None], "nested": {"deep": True}}
    entry = ask(inbox, payload=payload)
    assert entry == inbox.get("dec_1")
    assert entry == InboxEntry(
        id="dec_1",
        part="paper_search",
        kind="strategy_confirmation",
        subject="ses_1",
        payload=payload,
        created_at=NOW,
        state="pending",
    )


@pytest.mark.parametrize("text", ["caf\udce9", "\ud83d"], ids=ascii)
def test_text_that_cannot_be_encoded_is_refused(inbox: InboxPort, text: str) -> None:
    with pytest.raises(InvalidInput, match="payload is not JSON"):
        ask(inbox, payload={"query": text})
    ask(inbox)
    for decision in (InboxDecision(action="reject", note=text), InboxDecision(action="edit", data={text: 1})):
        with pytest.raises(InvalidInput, match="decision is not JSON"):
            inbox.decide("dec_1", decision, "cli")
    assert inbox.get("dec_1").state == "pending"


def test_a_decision_is_recorded_with_its_door_its_claimed_author_and_its_time(inbox: InboxPort) -> None:
    ask(inbox)
    entry = inbox.decide("dec_1", APPROVE, "console", SIGNED_IN)
    assert entry == inbox.get("dec_1")
    assert (entry.state, entry.decision, entry.door, entry.decided_at) == ("decided", APPROVE, "console", NOW)
    assert (entry.decided_by, entry.actor) == ("Tycho Brahe", SIGNED_IN)


def test_a_repeated_question_has_no_actor_of_its_earlier_decision(inbox: InboxPort) -> None:
    ask(inbox)
    inbox.decide("dec_1", APPROVE, "console", SIGNED_IN)
    assert inbox.reopen("dec_1").actor is None


def test_a_decision_of_a_program_is_described_as_that_of_a_program(inbox: InboxPort) -> None:
    ask(inbox)
    agent = Actor(kind="agent", name="cursor 1.0", authenticated="credential")
    assert "by cursor 1.0 (agent)" in describe_decision(inbox.decide("dec_1", APPROVE, "agent", agent))


@pytest.mark.parametrize(
    ("claimed", "stored"),
    [
        (None, None),
        ("", None),
        (" \n\x1b ", None),
        ("Ty\x1b[31mcho\n", "Ty[31mcho (agent)"),
        ("x" * 500, "x" * 100 + " (agent)"),
        ("\ud800", None),
    ],
)
def test_a_claimed_name_is_stored_on_one_line_and_short(
    inbox: InboxPort, claimed: str | None, stored: str | None
) -> None:
    ask(inbox)
    actor = None if claimed is None else Actor(kind="agent", name=claimed, authenticated="none")
    assert inbox.decide("dec_1", APPROVE, "agent", actor).decided_by == stored


def test_asking_again_returns_the_stored_entry_even_when_decided(inbox: InboxPort) -> None:
    first = ask(inbox, payload={"n": 1})
    assert ask(inbox, payload={"n": 2}) == first
    decided = inbox.decide("dec_1", APPROVE, "cli")
    assert ask(inbox, payload={"n": 3}) == decided


def test_a_second_decision_is_refused_with_the_first(inbox: InboxPort) -> None:
    ask(inbox)
    inbox.decide("dec_1", APPROVE, "console", make_person("Tycho"))
    with pytest.raises(AlreadyDecided) as caught:
        inbox.decide("dec_1", InboxDecision(action="reject"), "mcp", make_person("Kepler"))
    assert caught.value.code == "already_decided"
    assert caught.value.ids == {
        "decision_id": "dec_1",
        "action": "approve",
        "door": "console",
        "decided_by": "Tycho",
        "decided_at": "2024-05-01T12:30:00.000000Z",
    }
    assert "approve, through console, by Tycho, at 2024-05-01 12:30:00 UTC" in caught.value.message
    assert inbox.get("dec_1").decision == APPROVE


@pytest.mark.parametrize("unknown", ["", "nope", "\0", "x" * 1_000_000])
def test_an_unknown_id_is_refused_with_the_number_that_wait(inbox: InboxPort, unknown: str) -> None:
    ask(inbox, "dec_1")
    ask(inbox, "dec_2")
    inbox.decide("dec_2", APPROVE, "cli")
    calls: list[Callable[[], Any]] = [
        lambda: inbox.get(unknown),
        lambda: inbox.decide(unknown, APPROVE, "cli"),
        lambda: inbox.withdraw(unknown),
    ]
    for call in calls:
        with pytest.raises(DecisionNotFound) as caught:
            call()
        assert caught.value.code == "decision_not_found"
        assert "1 waits" in caught.value.message
        assert len(json.dumps(caught.value.body())) < 1000


def test_pending_entries_are_listed_oldest_first_for_all_parts_or_one(inbox: InboxPort) -> None:
    for entry_id, part in [("z", "paper_search"), ("a", "pflow"), ("m", "paper_search"), ("b", "pflow")]:
        ask(inbox, entry_id, part)
    inbox.decide("a", APPROVE, "cli")
    assert [entry.id for entry in inbox.pending()] == ["z", "m", "b"]
    assert [entry.id for entry in inbox.pending("paper_search")] == ["z", "m"]
    assert inbox.pending("unknown part") == []


def test_pending_entries_are_counted_by_part(inbox: InboxPort) -> None:
    assert inbox.count_pending() == {}
    for entry_id, part in [("a", "pflow"), ("b", "paper_search"), ("c", "pflow"), ("d", "universe")]:
        ask(inbox, entry_id, part)
    inbox.decide("d", APPROVE, "cli")
    assert inbox.count_pending() == {"pflow": 2, "paper_search": 1}


def list_pages(inbox: InboxPort, limit: int, **filters: Any) -> list[str]:
    """Return the ids of all pages of the history."""
    found: list[InboxEntry] = []
    following: int | None = None
    while True:
        page, following = inbox.list_entries(before=following, limit=limit, **filters)
        assert len(page) <= limit
        found += page
        if following is None:
            break
    return [entry.id for entry in found]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_the_history_is_listed_in_pages_with_the_entry_that_changed_last_first(tmp_path: Path, limit: int) -> None:
    def open_at(seconds: float) -> closing[Inbox]:
        return closing(Inbox(tmp_path / "inbox.db", FrozenClock(NOW + timedelta(seconds=seconds))))

    with open_at(0) as inbox:
        for entry_id, part in [("a", "pflow"), ("b", "search"), ("c", "pflow"), ("d", "search"), ("e", "pflow")]:
            ask(inbox, entry_id, part)
    with open_at(0.5) as inbox:
        inbox.decide("a", APPROVE, "cli")
        inbox.decide("d", APPROVE, "cli")
    with open_at(1) as inbox:
        inbox.decide("b", APPROVE, "cli")
        inbox.withdraw("c")
        assert list_pages(inbox, limit) == ["b", "d", "a", "e", "c"]
        assert list_pages(inbox, limit, state="decided") == ["b", "d", "a"]
        assert list_pages(inbox, limit, state="decided", part="search") == ["b", "d"]
        assert list_pages(inbox, limit, part="pflow") == ["a", "e", "c"]
        assert list_pages(inbox, limit, state="withdrawn") == ["c"]
        assert list_pages(inbox, limit, part="\0") == []


def test_a_clock_that_jumps_back_changes_no_order(tmp_path: Path) -> None:
    def open_at(days: float) -> closing[Inbox]:
        return closing(Inbox(tmp_path / "inbox.db", FrozenClock(NOW + timedelta(days=days))))

    with open_at(0) as inbox:
        ask(inbox, "first")
        ask(inbox, "second")
    with open_at(365) as inbox:
        inbox.decide("first", APPROVE, "cli")
    with open_at(-365) as inbox:
        ask(inbox, "third")
        inbox.decide("second", APPROVE, "cli")
        assert list_pages(inbox, 1) == ["second", "third", "first"]
        assert list_pages(inbox, 1, state="decided") == ["second", "first"]
        assert [entry.id for entry in inbox.pending()] == ["third"]
        inbox.reopen("first")
        assert list_pages(inbox, 1) == ["first", "second", "third"]


def test_entries_of_earlier_versions_keep_their_order(tmp_path: Path) -> None:
    with closing(Inbox(tmp_path / "inbox.db", FrozenClock(NOW))) as inbox:
        for entry_id in ("a", "b", "c"):
            ask(inbox, entry_id)
    with closing(sqlite3.connect(tmp_path / "inbox.db")) as database, database:
        database.execute("DROP INDEX entries_history")
        database.execute("ALTER TABLE entries DROP COLUMN changed")
        database.execute("CREATE INDEX entries_history ON entries (coalesce(decided_at, created_at), id, state, part)")
        database.execute("DELETE FROM migrations WHERE name = 'changed'")
        for entry_id, day in {"a": 3, "b": 1, "c": 2}.items():
            moment = (NOW + timedelta(days=day)).isoformat()
            database.execute("UPDATE entries SET created_at = ? WHERE id = ?", (moment, entry_id))
    with closing(Inbox(tmp_path / "inbox.db")) as inbox:
        assert list_pages(inbox, 1) == ["a", "c", "b"]
        ask(inbox, "d")
        assert list_pages(inbox, 1) == ["d", "a", "c", "b"]
    assert (tmp_path / "inbox.db.before-changed").is_file()


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"state": "pending"},
        {"part": "paper_search"},
        {"state": "pending", "before": 6},
    ],
)
def test_a_page_of_the_history_is_read_from_an_index_and_nothing_is_sorted(filters: dict[str, Any]) -> None:
    """Otherwise a page would take as long as all payloads take to read."""
    with closing(MemoryInbox()) as inbox:
        for number in range(5):
            ask(inbox, f"dec_{number}")
        statements: list[str] = []
        connection: sqlite3.Connection = inbox._opened  # pyright: ignore[reportPrivateUsage, reportAssignmentType]
        connection.set_trace_callback(statements.append)
        assert len(inbox.list_entries(**filters, limit=3).entries) == 3
        connection.set_trace_callback(None)
        (plan,) = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {statements[0]}")]
        assert "USING INDEX entries_history" in plan


def test_an_archived_decision_stays_in_the_history_and_its_question_can_be_asked_again(inbox: InboxPort) -> None:
    for note in ("first", "second"):
        ask(inbox)
        inbox.archive("dec_1")  # a question that waits stays
        assert inbox.get("dec_1").state == "pending"
        inbox.decide("dec_1", InboxDecision(action="reject", note=note), "cli", make_person("Tycho"))
        inbox.archive("dec_1")
        found = inbox.get("dec_1")
        assert found.decision is not None, "readers that know the question find the archived one"
        assert found.decision.note == note
    assert ask(inbox).state == "pending"
    archived = inbox.list_entries("decided").entries
    assert [(entry.subject, entry.decided_by) for entry in archived] == [("ses_1", "Tycho")] * 2
    assert all(entry.id.startswith("dec_1:") for entry in archived)
    inbox.archive("unknown")


@pytest.mark.parametrize("part_of_an_id", ["ses_1", "ses_1:1"])
def test_a_part_of_the_id_of_a_checkpoint_finds_no_entry(inbox: InboxPort, part_of_an_id: str) -> None:
    ask(inbox, "ses_1:1:review")
    with pytest.raises(DecisionNotFound):
        inbox.get(part_of_an_id)


@pytest.mark.parametrize("unknown", ["", "\0"])
def test_forgetting_a_subject_that_cannot_be_does_nothing(inbox: InboxPort, unknown: str) -> None:
    ask(inbox)
    inbox.forget("paper_search", unknown)
    assert [entry.id for entry in inbox.pending()] == ["dec_1"]


def test_a_withdrawn_entry_is_not_pending_and_cannot_be_decided(inbox: InboxPort) -> None:
    ask(inbox)
    assert inbox.withdraw("dec_1").state == "withdrawn"
    assert inbox.withdraw("dec_1").state == "withdrawn"
    assert inbox.pending() == []
    with pytest.raises(DecisionWithdrawn):
        inbox.decide("dec_1", APPROVE, "cli")


def test_a_decided_entry_cannot_be_withdrawn(inbox: InboxPort) -> None:
    ask(inbox)
    inbox.decide("dec_1", APPROVE, "cli")
    with pytest.raises(AlreadyDecided):
        inbox.withdraw("dec_1")
    assert inbox.get("dec_1").state == "decided"


def test_of_the_entries_named_those_that_wait_no_longer_are_settled(inbox: InboxPort) -> None:
    for entry_id in ("waits", "decided", "withdrawn", "not named"):
        ask(inbox, entry_id)
    decided = inbox.decide("decided", APPROVE, "cli")
    withdrawn = inbox.withdraw("withdrawn")
    inbox.decide("not named", APPROVE, "cli")
    settled = inbox.settled(["waits", "withdrawn", "unknown", "decided", "decided"])
    assert {entry.id: entry for entry in settled} == {"decided": decided, "withdrawn": withdrawn}
    assert len(settled) == 2
    assert inbox.settled([]) == []


@pytest.mark.parametrize("odd", ["", "it's", 'a "quoted" one', "\0", "[", "%", "漢字"])
def test_odd_ids_are_looked_for_as_they_are(inbox: InboxPort, odd: str) -> None:
    ask(inbox, "dec_1")
    inbox.decide("dec_1", APPROVE, "cli")
    assert [entry.id for entry in inbox.settled([odd, "dec_1"])] == ["dec_1"]


def test_many_entries_can_be_looked_for_at_once(inbox: InboxPort) -> None:
    ids = [f"dec_{number}" for number in range(300)]
    for entry_id in ids:
        ask(inbox, entry_id)
    inbox.decide("dec_7", APPROVE, "cli")
    assert [entry.id for entry in inbox.settled([*ids, *(f"x{number}" for number in range(100_000))])] == ["dec_7"]


def test_a_decision_that_cannot_be_used_is_forgotten_and_asked_for_again(inbox: InboxPort) -> None:
    first = ask(inbox, payload={"n": 1})
    inbox.decide("dec_1", InboxDecision(action="dance"), "console")
    assert inbox.reopen("dec_1") == inbox.get("dec_1") == first
    assert inbox.pending() == [first]
    assert inbox.decide("dec_1", APPROVE, "cli").decision == APPROVE


def test_reopening_a_pending_or_withdrawn_entry_leaves_it_pending(inbox: InboxPort) -> None:
    first = ask(inbox)
    assert inbox.reopen("dec_1") == first
    inbox.withdraw("dec_1")
    assert inbox.reopen("dec_1") == first


@pytest.mark.parametrize("unknown", ["", "nope", "\0"])
def test_an_unknown_entry_cannot_be_reopened(inbox: InboxPort, unknown: str) -> None:
    with pytest.raises(DecisionNotFound):
        inbox.reopen(unknown)


def test_forgetting_a_subject_removes_its_entries_and_no_others(inbox: InboxPort) -> None:
    for entry_id, part, subject in [
        ("a", "paper_search", "ses_1"),
        ("b", "paper_search", "ses_1"),
        ("c", "paper_search", "ses_2"),
        ("d", "pflow", "ses_1"),
    ]:
        inbox.put(entry_id, part, "kind", subject, {})
    inbox.decide("b", APPROVE, "cli")
    inbox.forget("paper_search", "ses_1")
    inbox.forget("paper_search", "ses_1")
    inbox.forget("paper_search", "unknown")
    for gone in ("a", "b"):
        with pytest.raises(DecisionNotFound):
            inbox.get(gone)
    assert [entry.id for entry in inbox.pending()] == ["c", "d"]
    assert inbox.put("a", "paper_search", "kind", "ses_1", {}).state == "pending"


def test_each_entry_of_a_forgotten_subject_is_announced_as_deleted(tmp_path: Path) -> None:
    feed = ChangeFeed(tmp_path / "changes")
    with closing(Inbox(tmp_path / "inbox.db", feed=feed)) as inbox:
        ask(inbox, "dec_1")
        ask(inbox, "dec_2")
        reader = ChangeReader(tmp_path / "changes")
        inbox.forget("paper_search", "ses_1")
    facts = {"state": "deleted", "part": "paper_search", "about": "ses_1"}
    assert [(one.subject, one.facts) for one in reader.read()] == [("dec_1", facts), ("dec_2", facts)]


async def test_waiting_for_a_forgotten_entry_ends(inbox: InboxPort) -> None:
    ask(inbox)
    waiting = asyncio.create_task(inbox.wait_decided("dec_1", timeout_s=30, poll_s=0.01))
    inbox.forget("paper_search", "ses_1")
    with pytest.raises(DecisionNotFound):
        await waiting


def test_the_revision_differs_after_every_change_made_here(inbox: InboxPort) -> None:
    for entry_id in ("a", "b", "c"):
        ask(inbox, entry_id)
    changes: list[Callable[[], Any]] = [
        lambda: inbox.decide("a", APPROVE, "cli"),
        lambda: inbox.reopen("a"),
        lambda: inbox.decide("a", APPROVE, "cli"),
        lambda: inbox.withdraw("b"),
        lambda: inbox.forget("paper_search", "ses_1"),
    ]
    seen = [inbox.revision()]
    for change in changes:
        change()
        seen.append(inbox.revision())
    assert len(set(seen)) == len(changes) + 1


def test_of_the_entries_that_begin_alike_the_first_hundred_are_listed_and_no_others(inbox: InboxPort) -> None:
    names = [f"dec_{number:03}" for number in range(101)]
    for name in (*names, "other_1", "DEC_1"):
        ask(inbox, name)
    assert [entry.id for entry in inbox.beginning_with("dec_")] == names[:100]
    assert [entry.id for entry in inbox.beginning_with("dec_1")] == ["dec_100"]
    assert [entry.id for entry in inbox.beginning_with("%")] == []


def test_the_revision_differs_after_the_file_was_closed_and_opened_again(tmp_path: Path) -> None:
    with closing(Inbox(tmp_path / "inbox.db")) as inbox, closing(Inbox(tmp_path / "inbox.db")) as other:
        ask(inbox)
        seen = inbox.revision()
        inbox.close()
        other.decide("dec_1", APPROVE, "elsewhere")
        assert inbox.revision() != seen, "it was decided while nobody looked"


def test_the_revision_stays_while_nothing_is_decided(inbox: InboxPort) -> None:
    ask(inbox)
    before = inbox.revision()
    inbox.get("dec_1")
    inbox.pending()
    inbox.settled(["dec_1"])
    with pytest.raises(DecisionNotFound):
        inbox.get("nope")
    assert inbox.revision() == before


def test_the_revision_differs_after_a_change_made_elsewhere(tmp_path: Path) -> None:
    with closing(Inbox(tmp_path / "inbox.db")) as here, closing(Inbox(tmp_path / "inbox.db")) as elsewhere:
        ask(here, "a")
        ask(here, "b")
        seen = [here.revision()]
        changes: list[Callable[[], Any]] = [
            lambda: elsewhere.decide("a", APPROVE, "console"),
            lambda: elsewhere.reopen("a"),
            lambda: elsewhere.withdraw("b"),
            lambda: elsewhere.forget("paper_search", "ses_1"),
        ]
        for change in changes:
            change()
            assert here.revision() not in seen
            seen.append(here.revision())
            assert here.revision() == seen[-1]


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": {1, 2}}, b"bytes"])
def test_a_value_that_is_not_json_is_refused_and_changes_nothing(inbox: InboxPort, value: Any) -> None:
    with pytest.raises(InvalidInput, match="payload"):
        ask(inbox, payload=value)
    assert inbox.pending() == []
    ask(inbox)
    with pytest.raises(InvalidInput, match="decision"):
        inbox.decide("dec_1", InboxDecision(action="edit", data=value), "cli")
    assert inbox.get("dec_1").state == "pending"


def test_of_many_threads_exactly_one_decides(inbox: InboxPort) -> None:
    ask(inbox)
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def decide(number: int) -> None:
        start.wait(timeout=10)
        try:
            inbox.decide("dec_1", InboxDecision(action=f"choice {number}"), "mcp")
            outcomes.append(f"choice {number}")
        except AlreadyDecided as refusal:
            outcomes.append(f"lost to {refusal.ids['action']}")

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    decision = inbox.get("dec_1").decision
    assert decision is not None
    assert sorted(outcomes) == sorted([decision.action, *[f"lost to {decision.action}"] * 7])


async def test_waiting_ends_with_the_decision_and_never_blocks_the_loop(inbox: InboxPort) -> None:
    ask(inbox)
    with blockbuster_ctx("uraniborg"):
        waiting = asyncio.create_task(inbox.wait_decided("dec_1", timeout_s=30, poll_s=0.01))
        assert await inbox.wait_decided("dec_1", timeout_s=0.03, poll_s=0.01) is None
        assert not waiting.done()
        decided = await asyncio.to_thread(inbox.decide, "dec_1", APPROVE, "console")
        assert await waiting == decided


async def test_waiting_for_a_decided_entry_ends_at_once(inbox: InboxPort) -> None:
    ask(inbox)
    decided = inbox.decide("dec_1", APPROVE, "cli")
    assert await inbox.wait_decided("dec_1", timeout_s=0) == decided


async def test_waiting_ends_when_the_entry_is_withdrawn(inbox: InboxPort) -> None:
    ask(inbox)
    waiting = asyncio.create_task(inbox.wait_decided("dec_1", timeout_s=30, poll_s=0.01))
    inbox.withdraw("dec_1")
    ended = await waiting
    assert ended is not None
    assert ended.state == "withdrawn"


async def test_waiting_for_the_unknown_is_refused(inbox: InboxPort) -> None:
    with pytest.raises(DecisionNotFound):
        await inbox.wait_decided("nope")


async def test_a_cancelled_wait_leaves_the_inbox_usable(inbox: InboxPort) -> None:
    ask(inbox)
    waits = [asyncio.create_task(inbox.wait_decided("dec_1", poll_s=0.001)) for _ in range(5)]
    await asyncio.wait(waits, timeout=0.02)
    for wait in waits:
        wait.cancel()
    await asyncio.gather(*waits, return_exceptions=True)
    assert inbox.decide("dec_1", APPROVE, "cli").state == "decided"


def test_an_inbox_makes_nothing_until_it_is_used_and_lies_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    with closing(Inbox()) as inbox:
        assert list(tmp_path.iterdir()) == []
        ask(inbox)
    assert (tmp_path / "home" / "data" / "inbox.db").is_file()


def test_entries_and_decisions_are_read_by_the_next_process(tmp_path: Path) -> None:
    with closing(Inbox(tmp_path / "inbox.db")) as first:
        ask(first, "dec_1")
        ask(first, "dec_2")
        first.decide("dec_1", APPROVE, "mcp")
    with closing(Inbox(tmp_path / "inbox.db")) as second:
        assert second.get("dec_1").decision == APPROVE
        assert [entry.id for entry in second.pending()] == ["dec_2"]


def test_a_closed_inbox_opens_again_when_used(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox.db")
    ask(inbox)
    inbox.close()
    inbox.close()
    assert inbox.get("dec_1").state == "pending"
    inbox.close()


def test_memory_inboxes_share_nothing() -> None:
    with closing(MemoryInbox()) as one, closing(MemoryInbox()) as other:
        ask(one)
        assert other.pending() == []


def test_a_file_that_is_not_an_inbox_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "inbox.db").write_text("not an inbox" * 100)
    with pytest.raises(DatabaseUnusable, match=r"inbox\.db"):
        Inbox(tmp_path / "inbox.db").pending()


def test_a_damaged_inbox_is_a_clear_error_for_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"
    with closing(Inbox(path)) as inbox:
        ask(inbox, payload={"text": "x" * 200_000})
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with closing(Inbox(path)) as inbox:
        calls: list[Callable[[], Any]] = [
            lambda: inbox.get("dec_1"),
            inbox.pending,
            lambda: inbox.settled(["dec_1"]),
            lambda: inbox.decide("dec_1", APPROVE, "cli"),
        ]
        for call in calls:
            with pytest.raises(DatabaseUnusable) as caught:
                call()
            assert str(tmp_path) not in str(caught.value.body())


def test_decisions_are_forced_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*arguments, **options)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    with closing(Inbox(tmp_path / "inbox.db")) as inbox:
        ask(inbox)
    assert "PRAGMA synchronous = FULL" in seen


CHILD = """
import json, sys
from pathlib import Path
from uraniborg.kernel.store.inbox import AlreadyDecided, Inbox, InboxDecision
inbox = Inbox(Path(sys.argv[1]))
door = sys.argv[2]
inbox.pending()
print("ready", flush=True)
for line in sys.stdin:
    entry_id = line.strip()
    try:
        inbox.decide(entry_id, InboxDecision(action="approve", data={"by": door, "bulk": "x" * 5000}), door)
        print(json.dumps([entry_id, "won"]), flush=True)
    except AlreadyDecided as refusal:
        print(json.dumps([entry_id, refusal.ids["door"]]), flush=True)
"""


class Door:
    """Another process that decides each entry whose id it receives."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        assert self.stdout.readline() == "ready\n"

    def tell(self, *entry_ids: str) -> None:
        self.stdin.write("".join(f"{entry_id}\n" for entry_id in entry_ids))
        self.stdin.flush()

    def answer(self) -> tuple[str, str]:
        entry_id, outcome = json.loads(self.stdout.readline())
        return entry_id, outcome

    def close(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=10)


def test_of_two_processes_racing_for_fifty_entries_exactly_one_wins_each(tmp_path: Path) -> None:
    ids = [f"dec_{number}" for number in range(50)]
    with closing(Inbox(tmp_path / "inbox.db")) as inbox:
        for entry_id in ids:
            ask(inbox, entry_id)
        with closing(Door(tmp_path / "inbox.db", "console")) as one, closing(Door(tmp_path / "inbox.db", "mcp")) as two:
            one.tell(*ids)
            two.tell(*ids)
            answers = {door.name: dict(door.answer() for _ in ids) for door in (one, two)}
        for entry_id in ids:
            winner = inbox.get(entry_id).door
            loser = "mcp" if winner == "console" else "console"
            assert winner is not None
            assert answers[winner][entry_id] == "won"
            assert answers[loser][entry_id] == winner
        assert inbox.pending() == []


async def test_a_decision_taken_in_another_process_ends_the_wait(tmp_path: Path) -> None:
    with closing(Inbox(tmp_path / "inbox.db")) as inbox:
        ask(inbox)
        with closing(await asyncio.to_thread(Door, tmp_path / "inbox.db", "console")) as door:
            waiting = asyncio.create_task(inbox.wait_decided("dec_1", timeout_s=30))
            assert await inbox.wait_decided("dec_1", timeout_s=0) is None
            door.tell("dec_1")
            ended = await waiting
        assert ended is not None
        assert ended.door == "console"


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_a_kill_during_writes_loses_no_acknowledged_decision(tmp_path: Path, acknowledged: int) -> None:
    ids = [f"dec_{number}" for number in range(300)]
    with closing(Inbox(tmp_path / "inbox.db")) as inbox:
        for entry_id in ids:
            ask(inbox, entry_id)
    with closing(Door(tmp_path / "inbox.db", "console")) as door:
        door.tell(*ids)
        answers = [door.answer() for _ in range(acknowledged)]
        door.process.send_signal(signal.SIGKILL)
        answers += [json.loads(line) for line in door.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    with closing(Inbox(tmp_path / "inbox.db")) as inbox:
        decided = {entry_id for entry_id in ids if inbox.get(entry_id).state == "decided"}
        assert {entry_id for entry_id, _ in answers} <= decided
        assert len(decided) <= len(answers) + 1
        assert all(inbox.get(entry_id).decision for entry_id in decided)
        ask(inbox, "afterwards")
        assert inbox.decide("afterwards", APPROVE, "cli").state == "decided"
