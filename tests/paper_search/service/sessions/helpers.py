"""Sessions for tests: a data folder with store and inbox, workflows over fake sources, gates and a clock."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from paper_search.config import AppConfig, SessionsConfig
from paper_search.models import Author, ParsedIntent, RawPaper, SourceRecord
from paper_search.service.sessions import SessionManager
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import SearchSource
from paper_search.store.saved_marks import MarkStore
from paper_search.store.session_files import SessionFiles
from paper_search.testing import FakeSource
from paper_search.workflow import Decision, DecisionAction, SearchWorkflow
from paper_search.workflow.skill_interfaces import DistinctPapers
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.store.inbox import Inbox

QUERY = "tidal heating of icy moons"
APPROVE = Decision(action=DecisionAction.APPROVE)
REJECT = Decision(action=DecisionAction.REJECT)
STRATEGY = "strategy_confirmation"
REVIEW = "result_review"
TIMEOUT_S = 20.0
"""The maximum time that a test waits for an event."""


class MovableClock:
    """A clock that starts at the present, as file times do, and moves only by `advance`."""

    def __init__(self, at: datetime | None = None) -> None:
        self._at = at or datetime.now(UTC)

    def now(self) -> datetime:
        return self._at

    def advance(self, **by: float) -> None:
        """Move the clock by `seconds=`, `minutes=`, `days=` and so on."""
        self._at += timedelta(**by)


def make_paper(title: str, source: str = "alpha", **fields: Any) -> RawPaper:
    """Return a record of `source`; it matches QUERY if its title does."""
    values: dict[str, Any] = {"authors": [Author(name="Tycho Brahe")], "year": 2020, "venue": "Icarus", **fields}
    record = SourceRecord(source=source, record_id=title.casefold())
    return RawPaper(title=title, source=source, records=[record], **values)


def make_moon_papers(count: int = 3, source: str = "alpha", **fields: Any) -> list[RawPaper]:
    """Return distinct papers that match QUERY."""
    return [
        make_paper(
            f"Tidal heating of icy moons: {_make_word(number)} {number}",
            source,
            doi=f"10.1000/{source}.{number}",
            **fields,
        )
        for number in range(count)
    ]


def _make_word(number: int) -> str:
    """Return a distinct word for each number, so that no two titles are merged."""
    letters = "bcdfghjklm"
    return "".join(f"{letters[int(digit)]}o" for digit in f"{number:04d}")


class Engine:
    """Builds workflows with the real skills over `sources`, which all sessions share.

    `failures` maps a stage ("intent", "dedup") to the exception it raises, `gates` to the event it waits for; both may
    change while sessions run. `ran` holds the stages that ran, `configs` the configurations of the workflows.
    """

    def __init__(self, *sources: SearchSource, max_rounds: int = 5, **options: Any) -> None:
        self.sources = list(sources) if sources else [FakeSource("alpha", make_moon_papers())]
        self.options = {"max_iterations": max_rounds, **options}
        self.failures: dict[str, Exception] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.refusal: Exception | None = None
        self.ran: list[str] = []
        self.configs: list[AppConfig] = []

    def __call__(self, config: AppConfig, **hooks: Any) -> SearchWorkflow:
        """Return a workflow. Raise `refusal`, if it is set, like an invalid configuration."""
        if self.refusal is not None:
            raise self.refusal
        self.configs.append(config)
        return SearchWorkflow(
            _StagedParser(self),
            QueryBuilder(available_sources=[source.source_name for source in self.sources]),
            Searcher(self.sources),
            _StagedDeduplicator(self),
            RelevanceScorer(),
            ResultOrganizer(0.0),
            max_results=config.default_max_results,
            domain=config.domain,
            **self.options,
            **hooks,
        )

    async def run_stage(self, name: str) -> None:
        """Record the stage, wait for its gate, and raise its failure."""
        self.ran.append(name)
        if (gate := self.gates.get(name)) is not None:
            await gate.wait()
        if (failure := self.failures.get(name)) is not None:
            raise failure

    @property
    def asked(self) -> list[int]:
        """The number of searches of each source."""
        return [len(source.asked) for source in self.sources if isinstance(source, FakeSource)]


class _StagedParser(IntentParser):
    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    async def parse(self, user_input: str) -> ParsedIntent:
        await self._engine.run_stage("intent")
        return await super().parse(user_input)


class _StagedDeduplicator(Deduplicator):
    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    async def deduplicate(self, papers: Sequence[RawPaper]) -> DistinctPapers:
        await self._engine.run_stage("dedup")
        return await super().deduplicate(papers)


class DataFolder:
    """A data folder with managers. Each manager has its own store and inbox objects, like a separate process."""

    def __init__(self, folder: Path, *sources: SearchSource, clock: MovableClock | None = None, **options: Any) -> None:
        self.folder = folder
        self.clock = clock or MovableClock()
        self.engine = Engine(*sources, **options)
        self.settings = SessionsConfig(reply_within_s=TIMEOUT_S)
        self.present = AppConfig()
        """The present settings when a session is restored."""

    def create_manager(self, **changes: Any) -> SessionManager:
        """Return a manager that the caller closes."""
        given: dict[str, Any] = {
            "settings": self.settings,
            "store": self.store(),
            "inbox": self.inbox(),
            "marks": MarkStore(self.folder / "reviews"),
            "clock": self.clock,
            "configure": lambda: self.present,
            "build": self.engine,
            **changes,
        }
        return SessionManager(**given)

    @asynccontextmanager
    async def open_manager(self, **changes: Any) -> AsyncGenerator[SessionManager]:
        """Yield a manager and close it at the end of the block."""
        manager = self.create_manager(**changes)
        try:
            yield manager
        finally:
            await manager.aclose()

    def store(self) -> SessionFiles:
        return SessionFiles(self.folder / "sessions")

    def inbox(self) -> Inbox:
        """Return the inbox, opened again; the caller closes it."""
        return Inbox(self.folder / "inbox.db", self.clock)

    def list_files(self, session_id: str) -> list[Path]:
        """Return the files of the session."""
        return sorted((self.folder / "sessions").glob(f"{session_id}*"))

    def read_all_bytes(self) -> bytes:
        """Return the content of all files of the folder."""
        return b"".join(file.read_bytes() for file in sorted(self.folder.rglob("*")) if file.is_file())


async def open_session(manager: SessionManager, query: str = QUERY, config: AppConfig | None = None) -> Any:
    """Open a session; return its reply at the first checkpoint."""
    return await manager.start(query, config or AppConfig())


async def open_review(manager: SessionManager, query: str = QUERY, config: AppConfig | None = None) -> Any:
    """Open a session; return its reply at the first review."""
    reply = await open_session(manager, query, config)
    return await manager.decide(reply["session_id"], APPROVE)


async def complete_session(manager: SessionManager, query: str = QUERY, config: AppConfig | None = None) -> Any:
    """Open and approve a session; return its last reply."""
    reply = await open_review(manager, query, config)
    return await manager.decide(reply["session_id"], APPROVE)


async def wait_until(holds: Callable[[], bool], within_s: float = TIMEOUT_S) -> None:
    """Return once `holds` is true. Raise TimeoutError if it never is."""
    async with asyncio.timeout(within_s):
        while True:
            if holds():
                return
            await asyncio.sleep(0.005)


def count_json_bytes(value: Any) -> int:
    """Return the size of a reply as compact JSON in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


DEDUP_ERROR = Unavailable("The deduplicator failed.")
NARROWER = {"queries": [{"keywords": ["Europa"], "boolean_query": "Europa"}], "sources": ["alpha"]}


def make_edit(data: Any) -> Decision:
    return Decision(action=DecisionAction.EDIT, revised_data=data)


def make_reject(data: Any = None, note: str | None = None) -> Decision:
    return Decision(action=DecisionAction.REJECT, revised_data=data, note=note)


def list_stored_decisions(data_folder: DataFolder, session_id: str) -> list[str]:
    return [step for step in data_folder.store().list_steps(session_id) if step.startswith("decision-")]


@asynccontextmanager
async def run_in_background(work: Awaitable[Any]) -> AsyncGenerator[asyncio.Task[Any]]:
    """Run a call in a task; cancel it at the end of the block."""
    task = asyncio.ensure_future(work)
    assert isinstance(task, asyncio.Task)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def wait_for_end(task: asyncio.Task[Any]) -> Any:
    async with asyncio.timeout(TIMEOUT_S):
        return await task


class GatedFolder:
    """A data folder with a source that answers once `gate` is set."""

    def __init__(self, folder: Path) -> None:
        self.gate = asyncio.Event()
        self.source = FakeSource("alpha", make_moon_papers(), gate=self.gate)
        self.data_folder = DataFolder(folder, self.source)

    async def wait_for_search(self) -> None:
        await wait_until(lambda: bool(self.source.asked))


async def wait_for_checkpoint(manager: SessionManager, session_id: str) -> Any:
    """Return the reply once the session is at a checkpoint or at its end."""
    await manager.get_state(session_id)
    if (session := manager.get(session_id)) is not None:
        await wait_until(lambda: session.pending is not None or session.is_complete)
    return await manager.get_state(session_id)
