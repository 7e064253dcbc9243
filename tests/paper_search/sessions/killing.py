"""Kills the paper search server with SIGKILL at random moments of scripted sessions, and counts what that broke.

`python -m tests.paper_search.sessions.killing --kills 50 --seed 1` prints one JSON object; every figure under
"failures" must be 0. `--self-check` breaks the server on purpose, in all ways known or in those named, one after the
other, and prints what was noticed.

One process imports everything and forks a server for each life, which serves stdio over two pipes. It has no thread, no
event loop and no session of its own that a server could inherit.
"""

import argparse
import asyncio
import gc
import json
import os
import random
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib import import_module
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final, NoReturn
from zlib import crc32

from paper_search import mcp_server
from paper_search.config import AppConfig, load_config
from paper_search.models import Author, RawPaper, SearchStrategy, SourceRecord
from paper_search.sessions import SessionManager
from paper_search.sessions.store import SessionFiles
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.base import SearchSource
from paper_search.workflow.engine import SearchWorkflow
from tests.uraniborg.kernel.mcp.wire import INITIALIZE, INITIALIZED, request
from uraniborg.kernel.errors import UraniborgError

FAILURES: Final = (
    "decisions_lost",
    "decisions_applied_twice",
    "iterations_out_of_order",
    "sessions_unreadable",
    "sessions_half_made",
    "answers_fetched_again",
    "replies_changed",
    "exports_changed",
    "unexpected_errors",
)
SESSIONS_PER_FOLDER: Final = 20
LONG: Final = 1.0
"""Seconds that a server lives at most, and never more than half of what all plans take side by side, undisturbed."""
SOON: Final = 30.0
"""Seconds of silence after which a server is given up."""
ASPECTS: Final = (
    "theory",
    "observations",
    "models",
    "limits",
    "methods",
    "surveys",
    "history",
    "data",
    "errors",
    "use",
)


# The server: the real one, with sources that leave a trace of every fetch.


class CountedSource(SearchSource):
    """Notes that it is asked before it answers, and takes a few milliseconds, so that it can die in between."""

    def __init__(self, name: str, aspects: Sequence[str], note: Callable[[str], None]) -> None:
        self._name = name
        self._aspects = aspects
        self._note = note

    @property
    def source_name(self) -> str:
        return self._name

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        self._note(self._name)
        await asyncio.sleep(0.005)
        topic = " ".join(strategy.queries[0].keywords)
        return [self._paper(f"{topic}: {aspect}", 2010 + number) for number, aspect in enumerate(self._aspects)]

    def _paper(self, title: str, year: int) -> RawPaper:
        number = f"{crc32(title.encode()):08x}"
        return RawPaper(
            title=title,
            authors=[Author(name="Sophie Brahe")],
            year=year,
            doi=f"10.1000/{number}",
            abstract=f"About {title}.",
            source=self._name,
            records=[SourceRecord(source=self._name, record_id=number)],
        )


@dataclass(frozen=True)
class CountedWorkflows:
    """Builds workflows with the real skills. Each fetch becomes a line in `log`: life, session, round, source."""

    log: Path
    life: int

    def __call__(
        self, config: AppConfig, *, progress_reporter: Any = None, journal: Any = None, **hooks: Any
    ) -> SearchWorkflow:
        rounds = [0]

        def progress(phase: str, facts: dict[str, Any]) -> None:
            if phase == "searching":
                rounds.append(facts["iteration"])
            progress_reporter(phase, facts)

        def note(source: str) -> None:
            descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{self.life} {journal._session_id} {rounds[-1]} {source}\n".encode())
            os.close(descriptor)

        return SearchWorkflow(
            IntentParser(),
            QueryBuilder(available_sources=["alpha", "beta"]),
            Searcher([CountedSource("alpha", ASPECTS[:7], note), CountedSource("beta", ASPECTS[4:], note)]),
            Deduplicator(),
            RelevanceScorer(),
            ResultOrganizer(min_relevance=0.0),
            max_results=config.default_max_results,
            progress_reporter=progress,
            journal=journal,
            **hooks,
        )


def serve(folder: Path, life: int, sabotage: str | None) -> None:
    """Be the server of this data folder, over stdin and stdout, until the client leaves."""
    os.chdir(folder)
    os.environ["URANIBORG_HOME"] = str(folder)
    workflows = CountedWorkflows(folder / "fetches", life)

    def made_manager(_made_manager: Any) -> Callable[[], SessionManager]:
        return lambda: SessionManager(settings=load_config().sessions, build=workflows)

    _replace(mcp_server, "_made_manager", made_manager)
    if sabotage is not None:
        _, owner, name, broken = SABOTAGES[sabotage]
        _replace(owner, name, broken)
    mcp_server.main()
    (folder / "modules").write_text("\n".join(sys.modules))


def _replace(owner: Any, name: str, by: Callable[[Any], Any]) -> None:
    setattr(owner, name, by(getattr(owner, name)))


def _forgetting_decisions(write: Any) -> Any:
    def broken(self: Any, session_id: str, step: str, *given: Any, **options: Any) -> None:
        if not step.startswith("decision-"):
            write(self, session_id, step, *given, **options)

    return broken


def _hiding_searches(steps: Any) -> Any:
    def broken(self: Any, session_id: str) -> list[str]:
        return [step for step in steps(self, session_id) if not step.endswith("/search")]

    return broken


def _deciding_twice(decide: Any) -> Any:
    async def broken(*given: Any, **options: Any) -> Any:
        reply = await decide(*given, **options)
        with suppress(UraniborgError):
            reply = await decide(*given, **{**options, "checkpoint_id": None})
        return reply

    return broken


def _misreading(step: str, old: str, new: str) -> Callable[[Any], Any]:
    def by(read: Any) -> Any:
        def broken(self: Any, session_id: str, wanted: str) -> str | None:
            text: str | None = read(self, session_id, wanted)
            return text.replace(old, new) if text and wanted == step else text

        return broken

    return by


SABOTAGES: Final[dict[str, tuple[str, Any, str, Callable[[Any], Any]]]] = {
    "decisions are not journaled": ("decisions_lost", SessionFiles, "write", _forgetting_decisions),
    "a decision is taken for two checkpoints": ("decisions_applied_twice", SessionManager, "decide", _deciding_twice),
    "the journal cannot be read": ("sessions_unreadable", SessionFiles, "read", _misreading("intent", "{", "[")),
    "sources are asked again": ("answers_fetched_again", SessionFiles, "steps", _hiding_searches),
    "another strategy is proposed": (
        "replies_changed",
        SessionFiles,
        "read",
        _misreading("round-0/strategy", " AND ", " OR "),
    ),
    "another result is exported": ("exports_changed", SessionFiles, "read", _misreading("result", "Sophie", "Tycho")),
}
"""Ways to break the server: the check that must notice, and what is replaced by what."""


class ServerGone(Exception):
    """The server has ended by itself, or is silent."""


class Life:
    """One server process, spoken to in lines of JSON."""

    def __init__(self, folder: Path, number: int, sabotage: str | None) -> None:
        assert threading.active_count() == 1
        child_in, self._to = os.pipe()
        self._from, child_out = os.pipe()
        self._unread = b""
        self.number = number
        self._pid = os.fork()
        if self._pid == 0:
            _be_child(folder, number, sabotage, (child_in, child_out), (self._to, self._from))
        os.close(child_in)
        os.close(child_out)

    def send(self, message: dict[str, Any]) -> None:
        try:
            os.write(self._to, json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            raise ServerGone from None

    def receive(self, until: float) -> list[dict[str, Any]]:
        """What has come by then at the latest; nothing when nothing has."""
        if not select.select([self._from], [], [], max(0.0, until - monotonic()))[0]:
            return []
        chunk = os.read(self._from, 1 << 20)
        if not chunk:
            raise ServerGone
        *lines, self._unread = (self._unread + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def kill(self) -> bool:
        """Whether it was alive until now."""
        os.kill(self._pid, signal.SIGKILL)
        return self._exit_code() == -signal.SIGKILL

    def leave(self) -> bool:
        """Close its stdin. Whether it then ended well."""
        os.close(self._to)
        self._to = -1
        return self._exit_code() == 0

    def close(self) -> None:
        for descriptor in (self._to, self._from):
            if descriptor >= 0:
                os.close(descriptor)

    def _exit_code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _be_child(
    folder: Path, life: int, sabotage: str | None, ours: tuple[int, int], others: tuple[int, int]
) -> NoReturn:
    code = 1
    try:
        log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for number, descriptor in enumerate((*ours, log)):
            os.dup2(descriptor, number)
        for descriptor in (*ours, *others, log):
            os.close(descriptor)
        serve(folder, life, sabotage)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


# What a server leaves on disk. It is read from copies: looking at a database in its place can also mend it.


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    """What a query gives in a database as a killed server left it; nothing where the table is missing."""
    with tempfile.TemporaryDirectory() as scratch:
        for ending in ("", "-wal", "-journal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{database}{ending}", f"{scratch}/copy{ending}")
        with closing(sqlite3.connect(f"{scratch}/copy")) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError as exc:
                if "no such table" in str(exc):
                    return []
                raise


def sessions_in(folder: Path) -> Path:
    return folder / "data" / "paper_search" / "sessions"


def journal_of(folder: Path, session_id: str) -> dict[str, str]:
    """The steps of a session in the order they were written."""
    return dict(rows(sessions_in(folder) / f"{session_id}.db", "SELECT step, value FROM steps ORDER BY rowid"))


def pending_in(folder: Path) -> dict[str, str]:
    """The checkpoints that wait in the inbox, and their sessions."""
    return dict(rows(folder / "data" / "inbox.db", "SELECT id, subject FROM entries WHERE state = 'pending'"))


# What a client does.

MakeData = Callable[[dict[str, Any]], Any]


def _nothing(_payload: dict[str, Any]) -> None:
    return None


def _fields(**fields: Any) -> MakeData:
    return lambda _: fields


def _query(*keywords: str) -> MakeData:
    return _fields(queries=[{"keywords": list(keywords), "boolean_query": " AND ".join(keywords)}])


def _marked(how: str, which: int, **more: Any) -> MakeData:
    return lambda payload: {how: [payload["papers"][which]["id"]], **more}


PLANS: Final[list[tuple[str, list[tuple[str, MakeData, str | None]]]]] = [
    (
        "tidal heating of icy moons",
        [
            ("edit", _query("tidal", "heating", "moons"), None),
            ("reject", _marked("marked_relevant", 0, free_text_feedback="more about Enceladus"), "too broad"),
            ("approve", _nothing, None),
            ("approve", _nothing, "good"),
        ],
    ),
    (
        "perovskite solar cells since 2012",
        [
            ("edit", _fields(sources=["beta"]), "only there"),
            ("reject", _marked("marked_irrelevant", 1), None),
            ("edit", _query("perovskite", "stability"), None),
            ("approve", _nothing, None),
        ],
    ),
    (
        "graph neural networks for molecules",
        [
            ("reject", _fields(free_text_feedback="also crystals"), None),
            ("edit", _query("graph", "networks", "crystals"), None),
            ("edit", _marked("marked_relevant", 2), "like this one"),
            ("approve", _nothing, None),
            ("approve", _nothing, None),
        ],
    ),
    (
        "ocean acidification and coral reefs",
        [
            ("edit", _fields(filters={"max_results": 6}), None),
            ("reject", _nothing, "what about larvae?"),
            ("approve", _nothing, None),
            ("reject", _marked("marked_irrelevant", 0), None),
            ("approve", _nothing, None),
            ("approve", _nothing, None),
        ],
    ),
]
"""Each a query, and the decisions to take one after the other: action, data made from the payload, note."""


@dataclass(eq=False)
class Script:
    """One person's way through one session.

    `sent` holds all decisions ever sent, `step` counts those known to be taken, `acknowledged` those answered.
    """

    plan: int
    session_id: str | None = None
    step: int = 0
    acknowledged: int = 0
    is_done: bool = False
    has_given_up: bool = False
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    replies: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    in_flight: str | None = None
    ready_at: float = 0.0
    must_look: bool = False
    repeats: bool = False
    """Whether it sends its last decision once more although it was answered."""

    @property
    def length(self) -> int:
        return len(PLANS[self.plan][1])

    def request(self) -> tuple[str, dict[str, Any]]:
        """The next call: a tool and its arguments."""
        if self.session_id is None:
            return "search_papers", {"query": PLANS[self.plan][0], "max_results": 8}
        if self.must_look:
            return "get_session", {"session_id": self.session_id}
        if self.repeats and self.step:
            return "decide", self.sent[self.step - 1]
        if self.step == self.length:
            return "export_results", {"session_id": self.session_id, "format": "json"}
        if len(self.sent) == self.step:
            action, data, note = PLANS[self.plan][1][self.step]
            asked = self.replies[self.step]
            decision = {"action": action, "data": data(asked["checkpoint_payload"]), "note": note}
            self.sent.append({"session_id": self.session_id, **decision, "checkpoint_id": asked["checkpoint_id"]})
        return "decide", self.sent[self.step]

    def journaled(self) -> dict[str, Any]:
        """What the journal may hold of the decisions sent."""
        return {
            f"decision-{number}": {"action": sent["action"], "revised_data": sent["data"], "note": sent["note"]}
            for number, sent in enumerate(self.sent)
        }


@dataclass
class Folder:
    """A data folder, the scripts begun in it, and what its journals held when the last server had died."""

    path: Path
    scripts: list[Script] = field(default_factory=list[Script])
    orphans: list[str] = field(default_factory=list[str])
    """The sessions that were opened by a call that was never answered."""
    to_look_at: list[str] = field(default_factory=list[str])
    journals: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    fetches: int = 0

    @property
    def active(self) -> list[Script]:
        return [script for script in self.scripts if not (script.is_done or script.has_given_up)]

    @property
    def is_used_up(self) -> bool:
        return not self.active and len(self.scripts) >= SESSIONS_PER_FOLDER

    def journal(self, session_id: str | None) -> dict[str, str]:
        return self.journals.get(session_id or "", {})

    def begin_scripts(self) -> None:
        """One for each plan that nobody follows, until there are enough."""
        followed = {script.plan for script in self.active}
        for plan in range(len(PLANS)):
            if plan not in followed and len(self.scripts) < SESSIONS_PER_FOLDER:
                self.scripts.append(Script(plan))

    def begin_review(self) -> None:
        """Look at all sessions once more, and export the finished ones again."""
        self.to_look_at += self.orphans
        for script in self.scripts:
            script.is_done = False
            script.must_look = True


@dataclass(frozen=True)
class Aim:
    """When to kill: so long after the start or, with a `count`, after so many requests or answers."""

    kind: str
    delay: float
    count: int = 0


class KillNow(Exception):
    """The moment has come."""


class Judge:
    """Holds what the server says against what it said before, and against what it says undisturbed."""

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

    def hear(self, script: Script, tool: str, reply: dict[str, Any]) -> None:
        """A state that was answered to a script, which is taken on by it."""
        iteration, session_id = reply["iteration"], reply["session_id"]
        if script.session_id not in (None, session_id):
            self.fail("replies_changed", f"{session_id} answered for {script.session_id}")
        script.session_id = session_id
        if iteration != len(script.sent) and not (tool == "get_session" and iteration == script.step):
            said = {key: reply[key] for key in ("phase", "iteration", "round", "has_pending_checkpoint")}
            self.fail("iterations_out_of_order", f"{tool} {session_id}: {said}, {script.step} of {len(script.sent)}")
        if tool == "decide":
            script.acknowledged = len(script.sent)
            self._check_repeated(script, reply)
        if reply["has_pending_checkpoint"] or reply["is_complete"]:
            number = script.length if reply["is_complete"] else reply["checkpoint"]["iteration"]
            self._compare(script, number, reply)
            script.step = max(script.step, number)
            script.has_given_up = number > len(script.sent)
            script.must_look = False
        else:
            script.must_look = tool == "decide"

    def _check_repeated(self, script: Script, reply: dict[str, Any]) -> None:
        self.counts["decisions_answered"] += 1
        if again := reply.get("already_decided"):
            self.counts["decisions_answered_again"] += 1
            meant = [sent["action"] for sent in script.sent if sent["checkpoint_id"] == again["checkpoint_id"]]
            if meant != [again["action"]]:
                self.fail("decisions_lost", f"{script.session_id}: {again}, but {meant} was decided")

    def _compare(self, script: Script, number: int, reply: dict[str, Any]) -> None:
        said = {key: value for key, value in reply.items() if key not in ("elapsed_s", "already_decided")}
        alike = _alike(said, script.session_id)
        first = script.replies.setdefault(number, said)
        usual = self.expected.setdefault((script.plan, number), alike)
        for now, other in ((said, first), (alike, usual)):
            if changed := {
                key: (other.get(key), now.get(key)) for key in now | other if now.get(key) != other.get(key)
            }:
                self.fail("replies_changed", f"{script.session_id} at {number}, was and is: {changed}")

    def hear_export(self, script: Script, text: str) -> None:
        alike = _alike(json.loads(text), script.session_id)
        if alike != self.expected.setdefault((script.plan, "export"), alike):
            self.fail("exports_changed", f"{script.session_id}: {text}")
        script.is_done = True

    def hear_error(self, tool: str, session_id: str | None, text: str, journal: dict[str, str]) -> None:
        """An error, where none is expected; except that a file in which no session was begun is no session."""
        check = "unexpected_errors"
        if tool == "get_session":
            check = "sessions_unreadable" if journal else "sessions_half_made"
        if check != "sessions_half_made" or '"session_not_found"' not in text:
            self.fail(check, f"{tool} {session_id} with {list(journal)}: {text}")

    def read_journal(self, script: Script, journal: dict[str, str]) -> None:
        """Are all decisions that were answered there, and no others?"""
        sent = script.journaled()
        written = {step: json.loads(text) for step, text in journal.items() if step.startswith("decision-")}
        wanted = list(sent)[: script.length if script.is_done else script.acknowledged]
        if lost := [step for step in wanted if written.get(step) != sent[step]]:
            self.fail("decisions_lost", f"{script.session_id}: {lost}, there are {list(written)}")
        if list(written.items()) != list(sent.items())[: len(written)]:
            self.fail("decisions_applied_twice", f"{script.session_id}: {written}, sent was {sent}")

    def read_fetches(self, lines: Sequence[str], journals_before: dict[str, dict[str, str]]) -> None:
        """Was a source asked for what it had answered, and the journal held, before the server was started?"""
        self.counts["fetches"] += len(lines)
        for line, times in Counter(lines).items():
            _, session_id, number, _ = line.split()
            if times > 1 or f"round-{number}/search" in journals_before.get(session_id, {}):
                self.fail("answers_fetched_again", line)

    def read_inbox(self, folder: Folder) -> None:
        """Is nobody asked about a session that is complete?"""
        asked = set(pending_in(folder.path).values())
        for script in folder.scripts:
            if script.is_done and script.session_id in asked:
                self.fail("unexpected_errors", f"{script.session_id} is complete and still waits in the inbox")


def _alike(value: Any, session_id: str | None) -> Any:
    """The same without what no two sessions share: ids and times."""
    return json.loads(json.dumps(value).replace(session_id or "", "SESSION"), object_hook=_timeless)


def _timeless(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in ("seconds", "timestamp")}


class Conversation:
    """What the client says in one life, to all sessions of a folder at once."""

    def __init__(self, judge: Judge, folder: Folder, life: Life, aim: Aim | None, chance: random.Random) -> None:
        self._judge = judge
        self._folder = folder
        self._life = life
        self._aim = aim
        self._random = chance
        self._calls = 0
        self._unanswered: dict[int, tuple[str, Script | str]] = {}
        self._seen: Counter[str] = Counter()
        self._kill_at = monotonic() + aim.delay if aim and not aim.count else inf
        self.is_open = False

    def run(self) -> None:
        """Until there is nothing left to say. Raises KillNow when the moment has come, and ServerGone."""
        self._send(INITIALIZE)
        while not self._receive(inf):
            pass
        self.is_open = True
        self._send(INITIALIZED)
        for script in self._folder.active:
            script.must_look |= script.session_id is not None and self._random.random() < 0.5
        while True:
            self._speak()
            if not self._unanswered and not self._folder.active:
                break
            silent = [script.ready_at for script in self._folder.active if script.in_flight is None]
            self._take(self._receive(min(silent, default=inf)))
        if self._aim is not None:
            raise KillNow

    def read_the_rest(self) -> None:
        """What the server had answered before it was killed."""
        with suppress(ServerGone):
            while True:
                self._take(self._life.receive(monotonic() + SOON))

    def _speak(self) -> None:
        folder, now = self._folder, monotonic()
        if self._aim is not None:
            folder.begin_scripts()
        for script in folder.active:
            if script.in_flight is None and script.ready_at <= now:
                tool, arguments = script.request()
                script.in_flight = tool
                self._call(tool, arguments, script)
        asked = [who for _, who in self._unanswered.values()]
        for session_id in folder.to_look_at:
            if session_id not in asked:
                self._call("get_session", {"session_id": session_id}, session_id)

    def _call(self, tool: str, arguments: dict[str, Any], who: Script | str) -> None:
        self._calls += 1
        self._unanswered[self._calls] = tool, who
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": self._calls}}
        self._send(request("tools/call", params, id=self._calls))

    def _take(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if message.get("id") not in self._unanswered:  # a notification
                continue
            tool, who = self._unanswered.pop(message["id"])
            result = message.get("result", {"isError": True})
            text = result["content"][0]["text"] if "content" in result else json.dumps(message)
            if isinstance(who, Script):
                self._hear(tool, who, text, failed=result.get("isError", False))
            else:
                self._folder.to_look_at.remove(who)
                if result.get("isError") or json.loads(text)["session_id"] != who:
                    self._judge.hear_error(tool, who, text, self._folder.journal(who))
            self._count("after an answer")

    def _hear(self, tool: str, script: Script, text: str, *, failed: bool) -> None:
        script.in_flight = None
        script.ready_at = monotonic() + self._random.choice([0.0, 0.0, self._random.uniform(0, 0.02)])
        if failed:
            self._judge.hear_error(tool, script.session_id, text, self._folder.journal(script.session_id))
            script.has_given_up = True
        elif tool == "export_results":
            self._judge.hear_export(script, text)
        else:
            self._judge.hear(script, tool, json.loads(text))
            script.repeats = tool == "decide" and not script.repeats and self._random.random() < 0.1

    def _send(self, message: dict[str, Any]) -> None:
        self._life.send(message)
        self._count("after a request")
        self._check_the_time()

    def _receive(self, wake_at: float) -> list[dict[str, Any]]:
        self._check_the_time()
        too_late = monotonic() + SOON
        messages = self._life.receive(min(self._kill_at, wake_at, too_late))
        self._check_the_time()
        if monotonic() > too_late:
            raise ServerGone
        return messages

    def _count(self, event: str) -> None:
        self._seen[event] += 1
        if self._aim and self._aim.kind == event and self._aim.count == self._seen[event]:
            self._kill_at = monotonic() + self._aim.delay

    def _check_the_time(self) -> None:
        if monotonic() >= self._kill_at:
            raise KillNow


class Harness:
    """Lives and deaths of servers, in one data folder after the other."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._judge = Judge()
        self._sabotage: str | None = None
        self._folders = 0
        self._seconds = inf
        self._aims: Counter[str] = Counter()
        self._phases: Counter[str] = Counter()

    def learn(self) -> None:
        """Follow every plan undisturbed, twice: to see what is imported, and to see what comes out in what time."""
        folder = self._undisturbed()
        for name in (folder.path / "modules").read_text().split():
            with suppress(ImportError):
                import_module(name)
        _ = mcp_server.mcp  # made here, once, for all servers
        gc.collect()
        gc.freeze()
        started = monotonic()
        self._undisturbed()
        self._seconds = monotonic() - started
        self._judge = Judge(self._judge.expected)

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

    def _undisturbed(self) -> Folder:
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
        return Folder(path)

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
        for script in folder.scripts:
            judge.read_journal(script, folder.journal(script.session_id))
        log = folder.path / "fetches"
        lines = log.read_text().splitlines() if log.exists() else []
        judge.read_fetches(lines[folder.fetches :], before)
        folder.fetches = len(lines)
        return new


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--self-check", nargs="*", metavar="WAY", help="break the server; at most so many kills for each"
    )
    parser.add_argument("--progress", action="store_true", help="tell on stderr how far it is")
    given = parser.parse_args()
    started = monotonic()

    def tell(kills: int) -> None:
        if given.progress and kills % 50 == 0:
            print(f"{kills} kills, {monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as root:
        harness = Harness(Path(root), given.seed)
        harness.learn()
        if given.self_check is not None:
            broken = given.self_check or SABOTAGES
            report = {sabotage: harness.run_broken(sabotage, given.kills) for sabotage in broken}
        else:
            report = harness.run(given.kills, tell)
    print(json.dumps({**report, "seconds": round(monotonic() - started, 1)}))


if __name__ == "__main__":
    main()
