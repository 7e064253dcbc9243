"""The real server, forked, with sources that leave a trace of every fetch; and ways to break it on purpose."""

import asyncio
import json
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from paper_search.sources.interfaces import SearchSource
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.inbox import Inbox

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

    def create_manager(_create_manager: Any) -> Callable[[], SessionManager]:
        return lambda: SessionManager(settings=load_config().sessions, build=workflows)

    _replace(mcp_server, "_create_manager", create_manager)
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


def _dropping_notes(decide: Any) -> Any:
    def broken(self: Any, entry_id: str, decision: InboxDecision, door: str) -> Any:
        return decide(self, entry_id, decision.model_copy(update={"note": None}), door)

    return broken


def _deleting_what_has_ended(write: Any) -> Any:
    def broken(self: Any, session_id: str, step: str, *given: Any, **options: Any) -> None:
        write(self, session_id, step, *given, **options)
        if step == "ended":
            self.delete(session_id)

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
    "sources are asked again": ("answers_fetched_again", SessionFiles, "list_steps", _hiding_searches),
    "another strategy is proposed": (
        "replies_changed",
        SessionFiles,
        "read",
        _misreading("round-0/strategy", " AND ", " OR "),
    ),
    "notes do not reach the inbox": ("inbox_wrong", Inbox, "decide", _dropping_notes),
    "sessions are deleted when they end": ("sessions_lost", SessionFiles, "write", _deleting_what_has_ended),
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
