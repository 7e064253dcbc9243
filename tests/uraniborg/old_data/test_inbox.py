"""Inbox entries of an older version: listed, shown and decided."""

from typing import Any

from tests.uraniborg.old_data.folder import OldData
from uraniborg.kernel.store.inbox import Inbox, InboxEntry

SEARCHES = ("at_strategy", "strategy_rejected", "at_review", "second_strategy", "second_review")
WORKFLOWS = ("waiting", "asked_again")


def entry(old: OldData, entry_id: str) -> InboxEntry:
    inbox = Inbox(old.data / "inbox.db")
    try:
        return inbox.get(entry_id)
    finally:
        inbox.close()


def pending(old: OldData) -> dict[str, dict[str, Any]]:
    """Return the entries that wait, by the name of their session or workflow."""
    names = {session_id: name for name, session_id in old.ids["sessions"].items()}
    return {names.get(one["subject"]) or one["payload"]["workflow"]: one for one in old.run("uraniborg", "inbox")}


def test_everything_that_waits_is_listed(old: OldData) -> None:
    waiting = pending(old)
    assert set(waiting) == {*SEARCHES, *WORKFLOWS}
    assert waiting["at_review"]["kind"] == "result_review"
    assert waiting["at_review"]["payload"]["total_papers"] == 7
    assert waiting["waiting"]["payload"]["question"] == "Publish waiting?"
    for one in waiting.values():
        assert old.run("uraniborg", "inbox", one["id"])["payload"] == one["payload"]


def test_decisions_keep_their_interface_and_their_note(old: OldData) -> None:
    session = old.ids["sessions"]["second_review"]
    marks = entry(old, f"{session}:1:result_review")
    assert (marks.state, marks.door) == ("decided", "agent")
    assert marks.decision is not None
    assert (marks.decision.action, marks.decision.note) == ("reject", "not yet")
    assert len(marks.decision.data["marked_relevant"]) == 2
    assert marks.decision.data["free_text_feedback"] == "more on orbits"
    terminal = entry(old, f"{old.ids['sessions']['decided_at_terminal']}:0:strategy_confirmation")
    assert terminal.decision is not None
    assert (terminal.door, terminal.decision.note) == ("terminal", "from the terminal")
    refused = entry(old, old.ids["runs"]["refused approval"])
    assert refused.decision is not None
    assert (refused.decision.action, refused.decision.note) == ("reject", "not yet")
    assert entry(old, old.ids["runs"]["withdrawn approval"]).state == "withdrawn"


def test_a_decision_at_the_terminal_reaches_the_session_that_waits(old: OldData) -> None:
    waiting = pending(old)["at_strategy"]
    old.run("uraniborg", "decide", waiting["id"], "approve")
    with old.server() as server:
        state = server.state_once(waiting["subject"], lambda state: state["has_pending_checkpoint"])
    assert (state["iteration"], state["current_checkpoint_kind"]) == (1, "result_review")
    assert "at_strategy" in pending(old), "its review waits now"


def test_a_decided_or_withdrawn_question_cannot_be_decided_again(old: OldData) -> None:
    for name, code in {"refused approval": "already_decided", "withdrawn approval": "decision_withdrawn"}.items():
        reply = old.run("uraniborg", "decide", old.ids["runs"][name], "approve", code=4)
        assert reply["error"]["code"] == code


def test_the_history_lists_decisions_of_the_older_version_without_a_name_and_new_ones_with_it(old: OldData) -> None:
    before = old.run("uraniborg", "inbox", "--decided", "--limit", "1000")
    assert {one["door"] for one in before} >= {"agent", "terminal"}
    assert [one["decided_at"] for one in before] == sorted((one["decided_at"] for one in before), reverse=True)
    assert not any("decided_by" in one for one in before)
    decided = pending(old)["waiting"]["id"]
    old.run("uraniborg", "decide", decided, "approve", URANIBORG_USER="Sophie")
    after = old.run("uraniborg", "inbox", "--decided", "--limit", "1000")
    assert (after[0]["id"], after[0]["decided_by"]) == (decided, "Sophie")
    assert after[1:] == before
    assert (old.data / "inbox.db.before-decided_by").is_file()
