"""The kill harness: starts servers, kills them, and starts others until all sessions are complete."""

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
from tests.paper_search.service.sessions.kill_harness.conversation import Conversation
from tests.paper_search.service.sessions.kill_harness.disk import (
    get_sessions_folder,
    read_inbox,
    read_journal,
    read_pending,
)
from tests.paper_search.service.sessions.kill_harness.judge import KillNow, KillPoint, ReplyChecker
from tests.paper_search.service.sessions.kill_harness.plans import PLANS, Folder, Plan, Script
from tests.paper_search.service.sessions.kill_harness.server import FAULTS, ServerGone, ServerProcess

MAX_LIFETIME_S: Final = 1.0
"""The maximum seconds until a kill; never more than half of the time of an undisturbed run of all plans."""


@dataclass(frozen=True)
class Rehearsal:
    """The replies and the duration of an undisturbed run of all plans."""

    expected: dict[tuple[int, int | str], Any] = field(default_factory=dict[tuple[int, int | str], Any])
    seconds: float = inf


def rehearse(root: Path) -> Rehearsal:
    """Run every plan undisturbed twice: once to import all modules, once to record the replies and the duration."""
    harness = Harness(root, 1, Rehearsal())
    folder = harness.run_undisturbed()
    for name in (folder.path / "modules").read_text().split():
        with suppress(ImportError):
            import_module(name)
    _ = mcp_server.mcp  # created once for all forked servers
    gc.collect()
    gc.freeze()
    started = monotonic()
    harness.run_undisturbed()
    return Rehearsal(harness.expected, monotonic() - started)


class Harness:
    """Runs and kills servers in one data folder after the other."""

    def __init__(self, root: Path, seed: int, rehearsal: Rehearsal, plans: Sequence[Plan] = PLANS) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._plans = plans
        self._checker = ReplyChecker(rehearsal.expected)
        self._fault: str | None = None
        self._folders = 0
        self._seconds = rehearsal.seconds
        self._kills_by_point: Counter[str] = Counter()
        self._phases: Counter[str] = Counter()

    @property
    def expected(self) -> dict[tuple[int, int | str], Any]:
        return self._checker.expected

    def run(self, kills: int, report_kills: Callable[[int], None]) -> dict[str, Any]:
        """Kill this many servers, report the count after each kill, and return the report."""
        counts = self._checker.counts
        while counts["kills"] < kills:
            folder = self._create_folder()
            for kill_point in self._choose_kill_points(folder, kills):
                self._run_server(folder, kill_point)
                report_kills(counts["kills"])
        return {
            **dict(sorted(counts.items())),
            "failures": self._checker.failures,
            "kills_by_aim": dict(self._kills_by_point.most_common()),
            "sessions_at_kill": dict(self._phases.most_common()),
            "undisturbed_seconds": round(self._seconds, 3),
            "problems": self._checker.problems,
        }

    def run_broken(self, fault: str, kills: int) -> dict[str, Any]:
        """Kill servers with this fault until it is detected, at most `kills` times; return the report."""
        check = FAULTS[fault][0]
        self._fault = fault
        self._checker = checker = ReplyChecker(self._checker.expected)
        while checker.counts["kills"] < kills and not checker.failures[check]:
            folder = self._create_folder()
            for kill_point in self._choose_kill_points(folder, checker.counts["kills"] + 4):
                self._run_server(folder, kill_point)
                if checker.failures[check]:
                    break
        return {"check": check, "noticed": checker.failures[check], "kills": checker.counts["kills"]}

    def _choose_kill_points(self, folder: Folder, kills: int) -> Iterator[KillPoint | None]:
        """Yield a kill point for each server of a folder; None for the last two, which finish all sessions."""
        counts = self._checker.counts
        while counts["kills"] < kills and not folder.is_used_up:
            yield self._make_kill_point()
        yield None
        self._checker.check_inbox(folder)
        counts["sessions"] += len(folder.scripts) + len(folder.orphans)
        counts["sessions_orphaned"] += len(folder.orphans)
        counts["sessions_finished"] += sum(script.is_done for script in folder.scripts)
        folder.start_review()
        yield None
        shutil.rmtree(folder.path)

    def rehearse(self) -> None:
        """Run every plan undisturbed and record the replies."""
        self._checker = ReplyChecker()
        shutil.rmtree(self.run_undisturbed().path)
        self._checker = ReplyChecker(self._checker.expected)

    def run_undisturbed(self) -> Folder:
        """Run every plan with one server; return the folder."""
        folder = self._create_folder()
        folder.start_scripts()
        self._run_server(folder, None)
        if any(self._checker.failures.values()):
            raise RuntimeError(f"The undisturbed run failed: {self._checker.problems}")
        return folder

    def _create_folder(self) -> Folder:
        self._folders += 1
        path = self._root / f"folder-{self._folders}"
        path.mkdir()
        return Folder(path, self._plans)

    def _make_kill_point(self) -> KillPoint:
        kind = self._random.choices(["at any moment", "after a request", "after an answer"], [5, 3, 2])[0]
        if kind == "at any moment":
            return KillPoint(kind, self._random.uniform(0, min(MAX_LIFETIME_S, self._seconds / 2)))
        return KillPoint(kind, self._random.choice([0.0, self._random.uniform(0, 0.03)]), self._random.randint(1, 12))

    def _run_server(self, folder: Folder, kill_point: KillPoint | None) -> None:
        """Run one server until its kill point, or without one until all scripts are done."""
        checker = self._checker
        checker.counts["servers"] += 1
        server = ServerProcess(folder.path, checker.counts["servers"], self._fault)
        talk = Conversation(checker, folder, server, kill_point, self._random)
        try:
            talk.run()
            if not server.disconnect():
                checker.fail("unexpected_errors", f"server {server.number} did not exit with 0")
        except KillNow:
            if not server.kill():
                checker.fail("unexpected_errors", f"server {server.number} had ended before it was killed")
            checker.counts["kills"] += 1
            if self._random.random() < 0.5:
                talk.read_remaining()
        except ServerGone:
            server.kill()
            checker.fail("unexpected_errors", f"server {server.number} ended or sent no output: {folder.scripts}")
        server.close()
        new = self._check_stored_data(folder)
        if kill_point is not None:
            self._kills_by_point[kill_point.kind] += 1
            self._phases.update(
                _describe_phases(folder, new) if talk.is_open else ["server starting"] * len(folder.active)
            )
        for script in folder.active:
            script.in_flight = None
            script.ready_at = 0.0

    def _check_stored_data(self, folder: Folder) -> list[str]:
        """Check the files that the server left; return the new orphans."""
        checker, before = self._checker, folder.journals
        known = {script.session_id for script in folder.scripts} | set(folder.orphans)
        new = sorted({path.stem for path in get_sessions_folder(folder.path).glob("*.db")} - known)
        folder.orphans += new
        folder.to_read += new
        folder.journals = dict(before)
        resting = {orphan for orphan in folder.orphans if "checkpoint-0" in folder.get_journal(orphan)}
        for session_id in filter(None, (known | {*new}) - resting):
            if "ended" not in folder.get_journal(session_id):
                try:
                    folder.journals[session_id] = read_journal(folder.path, session_id)
                except sqlite3.Error as exc:
                    checker.fail("sessions_unreadable", f"{session_id}: its file cannot be read: {exc}")
        entries = read_inbox(folder.path)
        for script in folder.scripts:
            journal = folder.get_journal(script.session_id)
            if script.session_id is not None and not (journal and _is_stored(folder, script.session_id)):
                checker.fail("sessions_lost", f"{script.session_id} was answered but is not on disk")
            checker.check_journal(script, journal)
            checker.check_entries(script, entries)
        log = folder.path / "fetches"
        lines = log.read_text().splitlines() if log.exists() else []
        checker.check_fetches(lines[folder.fetches :], before)
        folder.fetches = len(lines)
        return new


def _is_stored(folder: Folder, session_id: str) -> bool:
    return (get_sessions_folder(folder.path) / f"{session_id}.db").is_file()


def _describe_phases(folder: Folder, orphans: Sequence[str]) -> list[str]:
    """Return the phase of each session at the time of the kill."""
    pending = read_pending(folder.path)
    opened = [_describe_opening(folder.get_journal(session_id)) for session_id in orphans]
    return [
        (opened.pop() if opened else "opening: nothing on disk")
        if script.in_flight == "search_papers"
        else _describe_phase(script, list(folder.get_journal(script.session_id)), pending)
        for script in folder.active
    ]


def _describe_opening(journal: dict[str, str]) -> str:
    if not journal:
        return "opening: a file without a session"
    return f"opening: {'not yet answered' if 'checkpoint-0' in journal else 'before the first checkpoint'}"


def _describe_phase(script: Script, steps: list[str], pending: dict[str, str]) -> str:
    if script.in_flight is None:
        return "waiting for the person" if script.session_id else "not begun"
    number = len(script.sent) - 1
    if script.in_flight != "decide" or script.step > number:
        return {"get_session": "reading its state", "decide": "repeating a decision"}.get(script.in_flight, "exporting")
    sent = script.sent[number]
    if sent["checkpoint_id"] in pending:
        return "deciding: not yet stored"
    if f"decision-{number}" not in steps:
        return "deciding: stored, not yet journaled"
    if steps[-1] in (f"checkpoint-{number + 1}", "ended"):
        return "deciding: done, not yet answered"
    if steps[-1] == f"decision-{number}":
        searches = sent["checkpoint_id"].endswith("strategy_confirmation") and sent["action"] != "reject"
        return f"deciding: journaled, {'searching' if searches else 'continuing'}"
    return f"deciding: {'searched, ranking' if steps[-1].endswith(('/search', '/dedup', '/score')) else 'continuing'}"
