"""Checks of replies, journals and inbox entries, and the count of failures."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.paper_search.service.sessions.kill_harness.disk import read_pending
from tests.paper_search.service.sessions.kill_harness.plans import Folder, Script

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
FAILURES: Final = (
    "decisions_lost",
    "decisions_applied_twice",
    "iterations_out_of_order",
    "sessions_unreadable",
    "sessions_half_made",
    "sessions_lost",
    "inbox_wrong",
    "answers_fetched_again",
    "replies_changed",
    "exports_changed",
    "unexpected_errors",
)


@dataclass(frozen=True)
class KillPoint:
    """The time of a kill: `delay` seconds after the start or, with a `count`, after that many requests or answers."""

    kind: str
    delay: float
    count: int = 0


class KillNow(Exception):
    """The kill point is reached."""


class ReplyChecker:
    """Compares replies with earlier replies of the session and with those of an undisturbed run."""

    def __init__(self, expected: dict[tuple[int, int | str], Any] | None = None) -> None:
        self.expected = {} if expected is None else expected
        self.counts: Counter[str] = Counter()
        self._failures: dict[str, set[str]] = {check: set() for check in FAILURES}

    def fail(self, check: str, text: str) -> None:
        self._failures[check].add(text[:600])

    @property
    def failures(self) -> dict[str, int]:
        return {check: len(found) for check, found in self._failures.items()}

    @property
    def problems(self) -> list[str]:
        return [f"{check}: {text}" for check, texts in self._failures.items() for text in sorted(texts)[:3]]

    def check_reply(self, script: Script, tool: str, reply: dict[str, Any]) -> None:
        """Check a state that a script received, and update the script."""
        iteration, session_id = reply["iteration"], reply["session_id"]
        if script.session_id not in (None, session_id):
            self.fail("replies_changed", f"{session_id} answered for {script.session_id}")
        script.session_id = session_id
        if iteration != len(script.sent) and not (tool == "get_session" and iteration == script.step):
            seen = {key: reply[key] for key in ("phase", "iteration", "round", "has_pending_checkpoint")}
            self.fail("iterations_out_of_order", f"{tool} {session_id}: {seen}, {script.step} of {len(script.sent)}")
        if tool == "decide":
            script.acknowledged = len(script.sent)
            self._check_repeated_decision(script, reply)
        if reply["has_pending_checkpoint"] or reply["is_complete"]:
            number = script.length if reply["is_complete"] else reply["checkpoint"]["iteration"]
            self._compare_with_expected(script, number, reply)
            script.step = max(script.step, number)
            script.has_given_up = number > len(script.sent)
            script.must_read_state = False
        else:
            script.must_read_state = tool == "decide"

    def _check_repeated_decision(self, script: Script, reply: dict[str, Any]) -> None:
        self.counts["decisions_answered"] += 1
        if again := reply.get("already_decided"):
            self.counts["decisions_answered_again"] += 1
            meant = [sent["action"] for sent in script.sent if sent["checkpoint_id"] == again["checkpoint_id"]]
            if meant != [again["action"]]:
                self.fail("decisions_lost", f"{script.session_id}: {again}, but {meant} was decided")

    def _compare_with_expected(self, script: Script, number: int, reply: dict[str, Any]) -> None:
        seen = {key: value for key, value in reply.items() if key not in ("elapsed_s", "already_decided")}
        comparable = _normalise_reply(seen, script.session_id)
        first = script.replies.setdefault(number, seen)
        usual = self.expected.setdefault((script.plan, number), comparable)
        for now, other in ((seen, first), (comparable, usual)):
            if changed := {
                key: (other.get(key), now.get(key)) for key in now | other if now.get(key) != other.get(key)
            }:
                self.fail("replies_changed", f"{script.session_id} at {number}, was and is: {changed}")

    def check_export(self, script: Script, text: str) -> None:
        comparable = _normalise_reply(json.loads(text), script.session_id)
        if comparable != self.expected.setdefault((script.plan, "export"), comparable):
            self.fail("exports_changed", f"{script.session_id}: {text}")
        script.is_done = True

    def check_error(self, tool: str, session_id: str | None, text: str, journal: dict[str, str]) -> None:
        """Record an unexpected error; a file without a first step is not a session and may be not found."""
        check = "unexpected_errors"
        if tool == "get_session":
            check = "sessions_unreadable" if journal else "sessions_half_made"
        if check != "sessions_half_made" or '"session_not_found"' not in text:
            self.fail(check, f"{tool} {session_id} with {list(journal)}: {text}")

    def check_journal(self, script: Script, journal: dict[str, str]) -> None:
        """Check that the journal holds all acknowledged decisions and no others."""
        sent = script.list_expected_decisions()
        decisions = {step: text for step, text in journal.items() if step.startswith("decision-")}
        written = {step: json.loads(text, object_hook=_drop_times) for step, text in decisions.items()}
        wanted = list(sent)[: script.length if script.is_done else script.acknowledged]
        if lost := [step for step in wanted if written.get(step) != sent[step]]:
            self.fail("decisions_lost", f"{script.session_id}: {lost}, there are {list(written)}")
        if list(written.items()) != list(sent.items())[: len(written)]:
            self.fail("decisions_applied_twice", f"{script.session_id}: {written}, sent was {sent}")

    def check_entries(self, script: Script, entries: dict[str, tuple[str, Any]]) -> None:
        """Check that the inbox holds every acknowledged decision as it was sent, and the pending checkpoint."""
        for number, sent in enumerate(script.sent):
            state, decision = entries.get(sent["checkpoint_id"], ("missing", None))
            taken = {key: sent[key] for key in ("action", "data", "note")}
            if (state, decision) == ("decided", taken) or (number >= script.acknowledged and state == "pending"):
                continue
            self.fail("inbox_wrong", f"{script.session_id} at {number}: {state} {decision}, sent was {taken}")
        asked = script.replies.get(script.step, {}).get("checkpoint_id")
        if asked and len(script.sent) == script.step and entries.get(asked) != ("pending", None):
            self.fail("inbox_wrong", f"{script.session_id} waits at {script.step}: {entries.get(asked)}")

    def check_fetches(self, lines: Sequence[str], journals_before: dict[str, dict[str, str]]) -> None:
        """Check that no source was searched again for a round that the journal already held."""
        self.counts["fetches"] += len(lines)
        for line, times in Counter(lines).items():
            _, session_id, number, _ = line.split()
            if times > 1 or f"round-{number}/search" in journals_before.get(session_id, {}):
                self.fail("answers_fetched_again", line)

    def check_inbox(self, folder: Folder) -> None:
        """Check that no complete session has a pending entry."""
        asked = set(read_pending(folder.path).values())
        for script in folder.scripts:
            if script.is_done and script.session_id in asked:
                self.fail("unexpected_errors", f"{script.session_id} is complete and still waits in the inbox")


def _normalise_reply(value: Any, session_id: str | None) -> Any:
    """Return the value without session ids and times."""
    return json.loads(json.dumps(value).replace(session_id or "", "SESSION"), object_hook=_drop_times)


def _drop_times(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in ("seconds", "timestamp") and not _is_time(value)}


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.match(value) is not None
