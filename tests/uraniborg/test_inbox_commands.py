"""Deciding from a terminal what another process asked."""

import asyncio
import getpass
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paper_search.config import AppConfig
from paper_search.service.session_replies import SessionReply
from paper_search.service.sessions import SessionManager
from paper_search.store.session_files import SessionFiles
from pflow.config import Settings
from pflow.service.operations import Service
from tests.installed_programs import Program
from uraniborg.kernel.store.inbox import Inbox, InboxDecision
from uraniborg.recordings import QUERY, RECORDING

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def uraniborg(home: Path) -> Command:
    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return Program("uraniborg").run(
            *arguments, env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}, cwd=home, given=given
        )

    return run


@pytest.fixture
def asked(home: Path) -> dict[str, Any]:
    """Return a session that waits at its first checkpoint, and whose process has ended."""

    async def ask() -> SessionReply:
        manager = SessionManager(store=SessionFiles(), inbox=Inbox())
        try:
            return await manager.start(QUERY, AppConfig(replay_dir=RECORDING))
        finally:
            await manager.aclose()

    return {**asyncio.run(ask())}


def look(session_id: str) -> dict[str, Any]:
    """Run the session until it waits for a decision or is complete, and return its state."""

    async def settled() -> SessionReply:
        manager = SessionManager()
        try:
            while True:
                state = await manager.get_state(session_id)
                if state["is_complete"] or state["has_pending_checkpoint"]:
                    return state
                await asyncio.sleep(0.01)
        finally:
            await manager.aclose()

    return {**asyncio.run(settled())}


def test_an_empty_inbox_says_so(uraniborg: Command) -> None:
    assert uraniborg("inbox").stdout == "Nothing waits for a decision.\n"
    assert json.loads(uraniborg("inbox", "--json").stdout) == []


def test_the_inbox_lists_the_question_and_the_id_to_decide_it_by(uraniborg: Command, asked: dict[str, Any]) -> None:
    shown = uraniborg("inbox").stdout
    assert f"{asked['session_id'][:8]}:0 " in shown
    assert QUERY in shown
    assert "Approve, edit the strategy, or reject it" in " ".join(shown.split())
    (entry,) = json.loads(uraniborg("inbox", "--json").stdout)
    assert (entry["id"], entry["state"], entry["subject"]) == (asked["checkpoint_id"], "pending", asked["session_id"])


@pytest.mark.parametrize("spelled", ["id", "handle", "longer"])
def test_a_decision_can_be_named_by_its_id_or_by_a_beginning_of_it_with_its_number(
    uraniborg: Command, asked: dict[str, Any], spelled: str
) -> None:
    names = {
        "id": asked["checkpoint_id"],
        "handle": f"{asked['session_id'][:8]}:0",
        "longer": f"{asked['session_id']}:0",
    }
    done = uraniborg("decide", names[spelled], "approve", "--note", "good", "--json")
    assert done.returncode == 0, done.stderr
    decided = json.loads(done.stdout)
    assert decided["decision"] == {"action": "approve", "note": "good"}
    assert decided["door"] == "terminal"
    assert look(asked["session_id"])["checkpoint_kind"] == "result_review"


def test_an_approve_with_a_note_that_asks_for_something_is_applied_when_it_is_repeated(
    uraniborg: Command, asked: dict[str, Any]
) -> None:
    decision = ("decide", asked["checkpoint_id"], "approve", "--note", "but exclude reviews")
    first = uraniborg(*decision)
    assert first.returncode != 0
    assert "Nothing was decided: " in first.stderr
    assert "send the same approve again" in " ".join(first.stderr.split())
    assert look(asked["session_id"])["checkpoint_kind"] == "strategy_confirmation"
    assert uraniborg(*decision).returncode == 0


def test_the_review_can_be_seen_whole_and_rejected_with_feedback(
    uraniborg: Command, asked: dict[str, Any], home: Path
) -> None:
    uraniborg("decide", asked["checkpoint_id"], "approve")
    review = look(asked["session_id"])
    paper = review["checkpoint"]["payload"]["papers"][0]
    shown = uraniborg("inbox", asked["session_id"]).stdout
    assert paper["id"] in shown
    assert paper["title"] in shown
    (home / "feedback.json").write_text(json.dumps({"marked_relevant": [paper["id"]]}))
    done = uraniborg("decide", review["checkpoint_id"], "reject", "--data", "feedback.json")
    assert done.returncode == 0, done.stderr
    after = look(asked["session_id"])
    assert (after["iteration"], after["round"], after["checkpoint_kind"]) == (2, 1, "strategy_confirmation")


def test_a_strategy_can_be_piped_in(uraniborg: Command, asked: dict[str, Any]) -> None:
    strategy = {"queries": [{"keywords": ["flares"], "boolean_query": "flares AND dwarfs"}]}
    done = uraniborg("decide", asked["checkpoint_id"], "edit", "--data", "-", "--json", given=json.dumps(strategy))
    assert json.loads(done.stdout)["decision"]["data"] == strategy


@pytest.mark.parametrize(
    ("arguments", "given", "code", "exit_code"),
    [
        (("approve", "--data", "-"), '{"sources": []}', "invalid_decision", 2),
        (("edit",), "", "invalid_decision", 2),
        (("edit", "--data", "-"), '{"sources": ["the moon"]}', "invalid_decision", 2),
        (("edit", "--data", "-"), "no json", "invalid_argument", 2),
        (("edit", "--data", "nowhere.json"), "", "invalid_argument", 2),
        (("perhaps",), "", "invalid_action", 2),
        (("reject", "--note", "n" * 5_000), "", "invalid_decision", 2),
    ],
)
def test_an_invalid_decision_is_refused_and_the_checkpoint_keeps_waiting(
    uraniborg: Command, asked: dict[str, Any], arguments: tuple[str, ...], given: str, code: str, exit_code: int
) -> None:
    done = uraniborg("decide", asked["checkpoint_id"], *arguments, "--json", given=given)
    assert done.returncode == exit_code
    error = json.loads(done.stdout)["error"]
    assert error["code"] == code
    assert error["hint"]
    assert look(asked["session_id"])["checkpoint_id"] == asked["checkpoint_id"]


@pytest.mark.parametrize("meanwhile", ["nobody runs it", "it has resumed"])
def test_the_second_decision_is_refused_with_the_first_and_changes_nothing(
    uraniborg: Command, asked: dict[str, Any], meanwhile: str
) -> None:
    handle = f"{asked['session_id'][:8]}:0"
    uraniborg("decide", handle, "approve")
    if meanwhile == "it has resumed":
        look(asked["session_id"])
    for named in (handle, asked["checkpoint_id"]):
        done = uraniborg("decide", named, "reject", "--json")
        assert done.returncode == 4
        error = json.loads(done.stdout)["error"]
        assert (error["code"], error["action"], error["door"]) == ("already_decided", "approve", "terminal")
    assert look(asked["session_id"])["iteration"] == 1


def test_decided_questions_are_listed_with_who_decided_them_how_and_when(
    uraniborg: Command, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert uraniborg("inbox", "--decided").stdout == "Nothing was decided yet.\n"
    monkeypatch.setenv("URANIBORG_USER", "Tycho Brahe")
    before = json.loads(uraniborg("decide", asked["checkpoint_id"], "approve", "--note", "as agreed", "--json").stdout)
    assert before["decided_by"] == "Tycho Brahe"
    (entry,) = json.loads(uraniborg("inbox", "--decided", "--json").stdout)
    assert (entry["state"], entry["door"], entry["decided_by"]) == ("decided", "terminal", "Tycho Brahe")
    assert entry["decided_at"] == before["decided_at"]
    at = f"{entry['decided_at'][:19].replace('T', ' ')} UTC"
    line = f"decided: approve, through terminal, by Tycho Brahe, at {at}"
    for arguments in (("inbox",), ("inbox", "--decided"), ("inbox", asked["session_id"])):
        shown = uraniborg(*arguments).stdout
        assert line in shown
        assert "note: as agreed" in shown
    assert uraniborg("inbox").stdout.startswith("Nothing waits for a decision.\n\nDecided last:\n")
    assert json.loads(uraniborg("inbox", "--json").stdout) == []
    error = json.loads(uraniborg("decide", asked["checkpoint_id"], "reject", "--json").stdout)["error"]
    assert (error["decided_by"], error["decided_at"]) == ("Tycho Brahe", entry["decided_at"])
    assert f"by Tycho Brahe, at {at}" in error["message"]


def test_the_last_decisions_are_below_the_questions_and_all_of_them_are_listed_on_request(
    uraniborg: Command, home: Path
) -> None:
    inbox = Inbox()
    for number in range(6):
        inbox.put(f"q{number}", "another part", "question", "s", {"question": f"number {number}?"})
    for number in range(5):
        inbox.decide(f"q{number}", InboxDecision(action="approve"), "agent")
    inbox.close()
    shown = uraniborg("inbox").stdout
    waiting, _, decided = shown.partition("Decided last:")
    assert "number 5?" in waiting
    assert [number for number in range(6) if f"number {number}?" in decided] == [2, 3, 4]
    assert decided.index("number 4?") < decided.index("number 2?")
    assert "uraniborg inbox --decided" in decided
    assert [entry["id"] for entry in json.loads(uraniborg("inbox", "--decided", "--json").stdout)] == [
        f"q{number}" for number in (4, 3, 2, 1, 0)
    ]
    some = uraniborg("inbox", "--decided", "--limit", "2").stdout
    assert [number for number in range(6) if f"number {number}?" in some] == [3, 4]
    assert "uraniborg inbox --decided --limit 4" in some


def test_the_name_of_the_person_comes_from_the_settings_or_is_that_of_the_account(
    uraniborg: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = Inbox()
    names: list[str] = []
    for number, (file, variable) in enumerate([("", ""), ("Sophie", ""), ("Sophie", "Tycho")]):
        (home / "config").mkdir(exist_ok=True)
        (home / "config" / "uraniborg.toml").write_text(f'[uraniborg]\nuser = "{file}"\n' if file else "")
        monkeypatch.setenv("URANIBORG_USER", variable)
        inbox.put(f"q{number}", "another part", "question", "s", {"question": "?"})
        names.append(json.loads(uraniborg("decide", f"q{number}", "yes", "--json").stdout)["decided_by"])
    inbox.close()
    assert names == [getpass.getuser(), "Sophie", "Tycho"]


def test_a_decision_about_a_run_says_which_runs_continue_by_themselves(uraniborg: Command, home: Path) -> None:
    payload = {"question": "Publish?", "workflow": "publish", "node": "ask", "actions": ["approve", "reject"]}
    Inbox().put("apr_1", "pflow", "approval", "apr_1", payload)
    shown = " ".join(uraniborg("decide", "apr_1", "approve").stdout.split())
    assert (
        "A run of the console continues by itself while the server runs; other runs when they are run again." in shown
    )


def test_a_rejected_approval_of_a_workflow_stays_in_the_history_when_it_is_asked_again(
    uraniborg: Command, home: Path
) -> None:
    workflow = {"nodes": [{"id": "ask", "type": "approval", "params": {"question": "Publish?"}}], "edges": []}
    service = Service(Settings(home=home / "pflow"), folder=home)
    waiting: Any = service.run_document(workflow, name="publish").error_body
    asked = waiting["approval_id"]
    assert uraniborg("decide", asked, "reject", "--note", "not yet").returncode == 0
    assert not service.run_document(workflow, name="publish").success
    (entry,) = json.loads(uraniborg("inbox", "--decided", "--json").stdout)
    assert (entry["decision"]["action"], entry["decided_by"]) == ("reject", getpass.getuser())
    waiting = service.run_document(workflow, name="publish").error_body
    assert waiting["approval_id"] == asked
    assert uraniborg("decide", asked, "approve").returncode == 0
    assert service.run_document(workflow, name="publish").success
    actions = [one["decision"]["action"] for one in json.loads(uraniborg("inbox", "--decided", "--json").stdout)]
    assert actions == ["approve", "reject"]


def test_to_decide_one_must_say_which_question_is_meant(uraniborg: Command, asked: dict[str, Any]) -> None:
    done = uraniborg("decide", asked["session_id"], "approve", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["allowed"] == [f"{asked['session_id'][:8]}:0"]


def test_an_unknown_id_is_not_found_and_an_unclear_one_names_the_candidates(
    uraniborg: Command, asked: dict[str, Any], home: Path
) -> None:
    assert json.loads(uraniborg("decide", "zzz", "approve", "--json").stdout)["error"]["code"] == "decision_not_found"
    assert uraniborg("inbox", "zzz").returncode == 3
    inbox = Inbox()
    inbox.put("twin-1", "another part", "question", "a subject", {"question": "This?"})
    inbox.put("twin-2", "another part", "question", "a subject", {"question": "That?"})
    inbox.close()
    error = json.loads(uraniborg("decide", "twin", "approve", "--json").stdout)["error"]
    assert error["allowed"] == ["twin-1", "twin-2"]
    assert uraniborg("decide", "twin-1", "sure").returncode == 0


def test_a_session_that_was_deleted_can_no_longer_be_decided(uraniborg: Command, asked: dict[str, Any]) -> None:
    SessionFiles().delete(asked["session_id"])
    error = json.loads(uraniborg("decide", asked["checkpoint_id"], "approve", "--json").stdout)["error"]
    assert error["code"] == "session_not_found"
