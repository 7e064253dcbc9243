"""The real server in a forked process, with sources that log every fetch, and deliberate faults."""

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
from paper_search.service.sessions import SessionManager
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import SearchSource
from paper_search.store.session_files import SessionFiles
from paper_search.workflow.engine import SearchWorkflow
from paper_search.workflow.skill_interfaces import ProgressFacts
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

TIMEOUT_S: Final = 30.0
"""Seconds without output after which a server counts as gone."""


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
    """A source that logs each search and answers a few milliseconds later, so that a kill can happen in between."""

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
    """Builds workflows with the real skills. Each fetch is a line in `log`: server number, session, round, source."""

    log: Path
    server_number: int

    def __call__(
        self, config: AppConfig, *, progress_reporter: Any = None, journal: Any = None, **hooks: Any
    ) -> SearchWorkflow:
        rounds = [0]

        def progress(phase: str, facts: ProgressFacts) -> None:
            if phase == "searching":
                assert "iteration" in facts
                rounds.append(facts["iteration"])
            progress_reporter(phase, facts)

        def note(source: str) -> None:
            descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{self.server_number} {journal._session_id} {rounds[-1]} {source}\n".encode())
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


def serve(folder: Path, server_number: int, fault: str | None) -> None:
    """Serve this data folder over stdin and stdout until the client disconnects."""
    os.chdir(folder)
    os.environ["URANIBORG_HOME"] = str(folder)
    sys.argv = ["paper-search-mcp"]  # instead of the arguments of the harness
    workflows = CountedWorkflows(folder / "fetches", server_number)

    def create_manager(_create_manager: Any) -> Callable[[], SessionManager]:
        return lambda: SessionManager(settings=load_config().sessions, build=workflows)

    _replace_attribute(mcp_server, "_create_manager", create_manager)
    if fault is not None:
        _, owner, name, broken = FAULTS[fault]
        _replace_attribute(owner, name, broken)
    mcp_server.main()
    (folder / "modules").write_text("\n".join(sys.modules))


def _replace_attribute(owner: Any, name: str, by: Callable[[Any], Any]) -> None:
    setattr(owner, name, by(getattr(owner, name)))


def _skip_decisions(write: Any) -> Any:
    def broken(self: Any, session_id: str, step: str, *given: Any, **options: Any) -> None:
        if not step.startswith("decision-"):
            write(self, session_id, step, *given, **options)

    return broken


def _hide_searches(steps: Any) -> Any:
    def broken(self: Any, session_id: str) -> list[str]:
        return [step for step in steps(self, session_id) if not step.endswith("/search")]

    return broken


def _decide_twice(decide: Any) -> Any:
    async def broken(*given: Any, **options: Any) -> Any:
        reply = await decide(*given, **options)
        with suppress(UraniborgError):
            reply = await decide(*given, **{**options, "checkpoint_id": None})
        return reply

    return broken


def _drop_notes(decide: Any) -> Any:
    def broken(self: Any, entry_id: str, decision: InboxDecision, *origin: Any) -> Any:
        return decide(self, entry_id, decision.model_copy(update={"note": None}), *origin)

    return broken


def _delete_ended_sessions(write: Any) -> Any:
    def broken(self: Any, session_id: str, step: str, *given: Any, **options: Any) -> None:
        write(self, session_id, step, *given, **options)
        if step == "ended":
            self.delete(session_id)

    return broken


def _misread_step(step: str, old: str, new: str) -> Callable[[Any], Any]:
    def by(read: Any) -> Any:
        def broken(self: Any, session_id: str, wanted: str) -> str | None:
            text: str | None = read(self, session_id, wanted)
            return text.replace(old, new) if text and wanted == step else text

        return broken

    return by


FAULTS: Final[dict[str, tuple[str, Any, str, Callable[[Any], Any]]]] = {
    "decisions are not journaled": ("decisions_lost", SessionFiles, "write", _skip_decisions),
    "a decision is taken for two checkpoints": ("decisions_applied_twice", SessionManager, "decide", _decide_twice),
    "the journal cannot be read": ("sessions_unreadable", SessionFiles, "read", _misread_step("intent", "{", "[")),
    "sources are asked again": ("answers_fetched_again", SessionFiles, "list_steps", _hide_searches),
    "another strategy is proposed": (
        "replies_changed",
        SessionFiles,
        "read",
        _misread_step("round-0/strategy", " AND ", " OR "),
    ),
    "notes do not reach the inbox": ("inbox_wrong", Inbox, "decide", _drop_notes),
    "sessions are deleted when they end": ("sessions_lost", SessionFiles, "write", _delete_ended_sessions),
    "another result is exported": ("exports_changed", SessionFiles, "read", _misread_step("result", "Sophie", "Tycho")),
}
"""Deliberate faults: the check that must detect each, and the attribute that is replaced."""


class ServerGone(Exception):
    """The server has ended or sends no output."""


class ServerProcess:
    """One server process that exchanges lines of JSON."""

    def __init__(self, folder: Path, number: int, fault: str | None) -> None:
        assert threading.active_count() == 1
        child_in, self._to = os.pipe()
        self._from, child_out = os.pipe()
        self._unread = b""
        self.number = number
        self._pid = os.fork()
        if self._pid == 0:
            _run_child(folder, number, fault, (child_in, child_out), (self._to, self._from))
        os.close(child_in)
        os.close(child_out)

    def send(self, message: dict[str, Any]) -> None:
        try:
            os.write(self._to, json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            raise ServerGone from None

    def receive(self, until: float) -> list[dict[str, Any]]:
        """Return the messages that arrive until then; [] if none arrive."""
        if not select.select([self._from], [], [], max(0.0, until - monotonic()))[0]:
            return []
        chunk = os.read(self._from, 1 << 20)
        if not chunk:
            raise ServerGone
        *lines, self._unread = (self._unread + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def kill(self) -> bool:
        """Kill the process; return True if it was running."""
        os.kill(self._pid, signal.SIGKILL)
        return self._wait_for_exit() == -signal.SIGKILL

    def disconnect(self) -> bool:
        """Close its stdin; return True if it then exits with 0."""
        os.close(self._to)
        self._to = -1
        return self._wait_for_exit() == 0

    def close(self) -> None:
        for descriptor in (self._to, self._from):
            if descriptor >= 0:
                os.close(descriptor)

    def _wait_for_exit(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _run_child(
    folder: Path, server_number: int, fault: str | None, ours: tuple[int, int], others: tuple[int, int]
) -> NoReturn:
    code = 1
    try:
        log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for number, descriptor in enumerate((*ours, log)):
            os.dup2(descriptor, number)
        for descriptor in (*ours, *others, log):
            os.close(descriptor)
        serve(folder, server_number, fault)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
