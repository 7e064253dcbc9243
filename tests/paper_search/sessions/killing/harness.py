"""Servers started, killed and followed by others until all sessions are through."""

import gc
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final

from paper_search import mcp_server
from tests.paper_search.sessions.killing.conversation import Conversation
from tests.paper_search.sessions.killing.disk import inbox_in, journal_of, pending_in, sessions_in
from tests.paper_search.sessions.killing.judge import Aim, Judge, KillNow
from tests.paper_search.sessions.killing.plans import PLANS, Folder, Plan, Script
from tests.paper_search.sessions.killing.server import SABOTAGES, Life, ServerGone

LONG: Final = 1.0
"""Seconds that a server lives at most, and never more than half of what all plans take side by side, undisturbed."""


@dataclass(frozen=True)
class Rehearsal:
    """What came out when all plans were followed undisturbed, side by side, and in how many seconds."""

    expected: dict[tuple[int, int | str], Any] = field(default_factory=dict[tuple[int, int | str], Any])
    seconds: float = inf


def rehearse(root: Path) -> Rehearsal:
    """Follow every plan undisturbed, twice: to see what is imported, and to see what comes out in what time."""
    harness = Harness(root, 1, Rehearsal())
    folder = harness.undisturbed()
    for name in (folder.path / "modules").read_text().split():
        with suppress(ImportError):
            import_module(name)
    _ = mcp_server.mcp  # made here, once, for all servers
    gc.collect()
    gc.freeze()
    started = monotonic()
    harness.undisturbed()
    return Rehearsal(harness.expected, monotonic() - started)


class Harness:
    """Lives and deaths of servers, in one data folder after the other."""

    def __init__(self, root: Path, seed: int, rehearsal: Rehearsal, plans: Sequence[Plan] = PLANS) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._plans = plans
        self._judge = Judge(rehearsal.expected)
        self._sabotage: str | None = None
        self._folders = 0
        self._seconds = rehearsal.seconds
        self._aims: Counter[str] = Counter()
        self._phases: Counter[str] = Counter()

    @property
    def expected(self) -> dict[tuple[int, int | str], Any]:
        return self._judge.expected

    def run(self, kills: int, tell: Callable[[int], None]) -> dict[str, Any]:
        """Kill so many servers, tell how many were killed after each, and report."""
        counts = self._judge.counts
        while counts["kills"] < kills:
            folder = self._new_folder()
            for aim in self._aims_at(folder, kills):
                self._live(folder, aim)
                tell(counts["kills"])
        return {
            **dict(sorted(counts.items())),
            "failures": self._judge.failures,
            "kills_by_aim": dict(self._aims.most_common()),
            "sessions_at_kill": dict(self._phases.most_common()),
            "undisturbed_seconds": round(self._seconds, 3),
            "problems": self._judge.problems,
        }

    def run_broken(self, sabotage: str, kills: int) -> dict[str, Any]:
        """Kill servers that are broken in this way until it is noticed, but not more than so many; and report."""
        check = SABOTAGES[sabotage][0]
        self._sabotage = sabotage
        self._judge = judge = Judge(self._judge.expected)
        while judge.counts["kills"] < kills and not judge.failures[check]:
            folder = self._new_folder()
            for aim in self._aims_at(folder, judge.counts["kills"] + 4):
                self._live(folder, aim)
                if judge.failures[check]:
                    break
        return {"check": check, "noticed": judge.failures[check], "kills": judge.counts["kills"]}

    def _aims_at(self, folder: Folder, kills: int) -> Iterator[Aim | None]:
        """One for each life in a folder. The last two servers are not killed: they finish everything, and review it."""
        counts = self._judge.counts
        while counts["kills"] < kills and not folder.is_used_up:
            yield self._new_aim()
        yield None
        self._judge.read_inbox(folder)
        counts["sessions"] += len(folder.scripts) + len(folder.orphans)
        counts["sessions_orphaned"] += len(folder.orphans)
        counts["sessions_finished"] += sum(script.is_done for script in folder.scripts)
        folder.begin_review()
        yield None
        shutil.rmtree(folder.path)

    def rehearse(self) -> None:
        """Follow every plan undisturbed, to see what comes out."""
        self._judge = Judge()
        shutil.rmtree(self.undisturbed().path)
        self._judge = Judge(self._judge.expected)

    def undisturbed(self) -> Folder:
        """Where every plan was followed in one life of the server."""
        folder = self._new_folder()
        folder.begin_scripts()
        self._live(folder, None)
        if any(self._judge.failures.values()):
            raise RuntimeError(f"The undisturbed run failed: {self._judge.problems}")
        return folder

    def _new_folder(self) -> Folder:
        self._folders += 1
        path = self._root / f"folder-{self._folders}"
        path.mkdir()
        return Folder(path, self._plans)

    def _new_aim(self) -> Aim:
        kind = self._random.choices(["at any moment", "after a request", "after an answer"], [5, 3, 2])[0]
        if kind == "at any moment":
            return Aim(kind, self._random.uniform(0, min(LONG, self._seconds / 2)))
        return Aim(kind, self._random.choice([0.0, self._random.uniform(0, 0.03)]), self._random.randint(1, 12))

    def _live(self, folder: Folder, aim: Aim | None) -> None:
        """One life of the server: killed as aimed; without an aim it lasts until all scripts are done."""
        judge = self._judge
        judge.counts["lives"] += 1
        life = Life(folder.path, judge.counts["lives"], self._sabotage)
        talk = Conversation(judge, folder, life, aim, self._random)
        try:
            talk.run()
            if not life.leave():
                judge.fail("unexpected_errors", f"life {life.number} did not end well")
        except KillNow:
            if not life.kill():
                judge.fail("unexpected_errors", f"life {life.number} had ended before it was killed")
            judge.counts["kills"] += 1
            if self._random.random() < 0.5:
                talk.read_the_rest()
        except ServerGone:
            life.kill()
            judge.fail("unexpected_errors", f"life {life.number} ended by itself, or was silent: {folder.scripts}")
        life.close()
        new = self._examine(folder)
        if aim is not None:
            self._aims[aim.kind] += 1
            self._phases.update(_phases(folder, new) if talk.is_open else ["server starting"] * len(folder.active))
        for script in folder.active:
            script.in_flight = None
            script.ready_at = 0.0

    def _examine(self, folder: Folder) -> list[str]:
        """Read what the server left, and return the orphans of its last call."""
        judge, before = self._judge, folder.journals
        known = {script.session_id for script in folder.scripts} | set(folder.orphans)
        new = sorted({path.stem for path in sessions_in(folder.path).glob("*.db")} - known)
        folder.orphans += new
        folder.to_look_at += new
        folder.journals = dict(before)
        resting = {orphan for orphan in folder.orphans if "checkpoint-0" in folder.journal(orphan)}
        for session_id in filter(None, (known | {*new}) - resting):
            if "ended" not in folder.journal(session_id):
                try:
                    folder.journals[session_id] = journal_of(folder.path, session_id)
                except sqlite3.Error as exc:
                    judge.fail("sessions_unreadable", f"{session_id}: its file cannot be read: {exc}")
        entries = inbox_in(folder.path)
        for script in folder.scripts:
            journal = folder.journal(script.session_id)
            if script.session_id is not None and not (journal and _is_there(folder, script.session_id)):
                judge.fail("sessions_lost", f"{script.session_id} was answered, and is not on disk")
            judge.read_journal(script, journal)
            judge.read_entries(script, entries)
        log = folder.path / "fetches"
        lines = log.read_text().splitlines() if log.exists() else []
        judge.read_fetches(lines[folder.fetches :], before)
        folder.fetches = len(lines)
        return new


def _is_there(folder: Folder, session_id: str) -> bool:
    return (sessions_in(folder.path) / f"{session_id}.db").is_file()


def _phases(folder: Folder, orphans: Sequence[str]) -> list[str]:
    """Where each session was when its server died."""
    pending = pending_in(folder.path)
    opened = [_phase_of_opening(folder.journal(session_id)) for session_id in orphans]
    return [
        (opened.pop() if opened else "opening: nothing on disk")
        if script.in_flight == "search_papers"
        else _phase(script, list(folder.journal(script.session_id)), pending)
        for script in folder.active
    ]


def _phase_of_opening(journal: dict[str, str]) -> str:
    if not journal:
        return "opening: a file without a session"
    return f"opening: {'not yet answered' if 'checkpoint-0' in journal else 'before the first checkpoint'}"


def _phase(script: Script, steps: list[str], pending: dict[str, str]) -> str:
    if script.in_flight is None:
        return "waiting for the person" if script.session_id else "not begun"
    number = len(script.sent) - 1
    if script.in_flight != "decide" or script.step > number:
        return {"get_session": "being looked at", "decide": "repeating a decision"}.get(script.in_flight, "exporting")
    sent = script.sent[number]
    if sent["checkpoint_id"] in pending:
        return "deciding: not yet taken"
    if f"decision-{number}" not in steps:
        return "deciding: taken, not yet journaled"
    if steps[-1] in (f"checkpoint-{number + 1}", "ended"):
        return "deciding: done, not yet answered"
    if steps[-1] == f"decision-{number}":
        searches = sent["checkpoint_id"].endswith("strategy_confirmation") and sent["action"] != "reject"
        return f"deciding: journaled, {'searching' if searches else 'going on'}"
    return f"deciding: {'searched, ranking' if steps[-1].endswith(('/search', '/dedup', '/score')) else 'going on'}"
