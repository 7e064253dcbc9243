"""Two hundred sessions at once in one process: is any mixed up with another, and what does one that waits cost?

First, all at the same moment: each has a query of its own and a person of its own, who edits, rejects, teaches and
approves; its replies, its journal and its entries in the inbox must be its own. Then, in a process of
its own for each figure: what memory has grown by for each session that nobody has asked about for a minute, since a
first few sessions came and went, and the CPU used while nothing happens. There the sessions come eight a minute, by a
clock of our own, so that what is measured is sessions that wait and not searches that run.
"""

import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from paper_search.config import AppConfig
from paper_search.models import Author, RawPaper, SearchStrategy, SourceRecord
from paper_search.service.sessions import SessionManager
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import Request, Response, SearchSource
from paper_search.sources.transport.recording import Recording
from paper_search.store.session_files import SessionFiles
from paper_search.workflow.checkpoints import Decision, DecisionAction
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.store.inbox import Inbox
from uraniborg.recordings import QUERY, RECORDING

Build = Callable[..., SearchWorkflow]

SESSIONS: Final = 200
AT_A_TIME: Final = 8
LEFT_ALONE_S: Final = 4.0
TARGET_KB: Final = 200
RECORDED: Final = 24
"""So many papers does the recorded search give; what has more is made up."""
MARK: Final = re.compile(r"moon[b-m]o[b-m]o[b-m]o")
WORDS: Final = ["crust", "mantle", "ocean", "core", "plume", "ridge", "vent", "tide", "orbit", "flux"]


def mark(number: int) -> str:
    """Return the word that marks a session in its query, strategy, papers and decisions."""
    return "moon" + "".join(f"{'bcdfghjklm'[int(digit)]}o" for digit in f"{number:03d}")


def find_marks(*values: Any) -> set[str]:
    return set(MARK.findall(json.dumps(values, default=str)))


class MadeUpSource(SearchSource):
    """Finds so many papers about whatever it is asked for."""

    def __init__(self, papers: int) -> None:
        self._papers = papers

    @property
    def source_name(self) -> str:
        return "alpha"

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        await asyncio.sleep(0)
        (about,) = find_marks([query.boolean_query for query in strategy.queries])
        return [self._paper(about, number) for number in range(self._papers)]

    @staticmethod
    def _paper(about: str, number: int) -> RawPaper:
        title = f"Tidal heating of {about}: {WORDS[number // 10 % 10]} and {WORDS[number % 10]}"
        return RawPaper(
            title=title,
            authors=[Author(name=f"{name} Brahe") for name in ("Tycho", "Sophie", "Otte", "Beate", "Steen")],
            year=2000 + number % 25,
            venue="Icarus",
            doi=f"10.1000/{about}.{number}",
            abstract=f"{title}. " * 20,
            source="alpha",
            records=[SourceRecord(source="alpha", record_id=f"{about}.{number}")],
        )


def make_paper_text(papers: int) -> Build:
    source = MadeUpSource(papers)

    def build(config: AppConfig, **hooks: Any) -> SearchWorkflow:
        return SearchWorkflow(
            IntentParser(),
            QueryBuilder(available_sources=[source.source_name]),
            Searcher([source]),
            Deduplicator(),
            RelevanceScorer(),
            ResultOrganizer(0.0),
            max_results=config.default_max_results,
            **hooks,
        )

    return build


class SharedAnswers:
    """The answers of the recording, for all sessions together: as they share one network."""

    def __init__(self, recording: Recording) -> None:
        self._replay = recording.make_replay_transport()

    async def send(self, request: Request) -> Response:
        return await self._replay.send(request)

    async def aclose(self) -> None:
        pass


def make_recording() -> Build:
    recording = Recording.open(RECORDING)
    answers = SharedAnswers(recording)

    def build(config: AppConfig, **hooks: Any) -> SearchWorkflow:
        return SearchWorkflow.from_config(
            config, transport=answers, only=recording.options.sources, clock=recording.clock, **hooks
        )

    return build


class MovableClock:
    """A clock that starts at the present and moves only with `advance`."""

    def __init__(self) -> None:
        self._at = datetime.now(UTC)

    def now(self) -> datetime:
        return self._at

    def advance(self, seconds: float) -> None:
        self._at += timedelta(seconds=seconds)


def make_manager(folder: Path, build: Build, clock: MovableClock | None = None) -> SessionManager:
    store, inbox = SessionFiles(folder / "sessions"), Inbox(folder / "inbox.db")
    return SessionManager(store=store, inbox=inbox, build=build, clock=clock)


def decided(number: int, action: str, data: dict[str, Any] | None = None) -> Decision:
    return Decision(action=DecisionAction(action), revised_data=data, note=f"So says {mark(number)}")


def next_decision(number: int, reply: Any, taken: int) -> Decision:
    """Return the next decision of the session's person: five kinds of people, who all approve in the end."""
    kind, about = number % 5, mark(number)
    if kind == 1 and taken == 0:
        query = {"keywords": [about, "tides"], "boolean_query": f"{about} AND tides"}
        return decided(number, "edit", {"queries": [query]})
    if kind == 2 and taken == 0:
        return decided(number, "reject", {"free_text_feedback": f"{about} in winter"})
    if kind in (3, 4) and taken == 1:
        first = reply["checkpoint_payload"]["papers"][0]["id"]
        action, field = ("reject", "marked_irrelevant") if kind == 3 else ("edit", "marked_relevant")
        return decided(number, action, {field: [first]})
    return decided(number, "approve")


async def carry_through(manager: SessionManager, number: int) -> tuple[list[Any], list[Decision]]:
    replies = [await manager.start(f"tidal heating of {mark(number)}", AppConfig())]
    decisions: list[Decision] = []
    while not (reply := replies[-1])["is_complete"]:
        decisions.append(next_decision(number, reply, len(decisions)))
        session_id, checkpoint_id = reply["session_id"], reply.get("checkpoint_id")
        replies.append(await manager.decide(session_id, decisions[-1], checkpoint_id=checkpoint_id))
    return replies, decisions


async def find_mixed_up(folder: Path) -> tuple[int, int]:
    """How many of the sessions, all carried through at the same moment, hold what is not theirs; and the decisions."""
    manager = make_manager(folder, make_paper_text(3))
    conversations = await asyncio.gather(*(carry_through(manager, number) for number in range(SESSIONS)))
    await manager.aclose()
    store = SessionFiles(folder / "sessions")
    assert len({replies[0]["session_id"] for replies, _ in conversations}) == SESSIONS
    wrong = 0
    with closing(Inbox(folder / "inbox.db")) as inbox:
        for number, (replies, decisions) in enumerate(conversations):
            session_id = replies[0]["session_id"]
            journal = {step: store.read(session_id, step) or "" for step in store.list_steps(session_id)}
            kept = [Decision.model_validate_json(journal[step]) for step in journal if step.startswith("decision-")]
            entries = [inbox.get(reply["checkpoint_id"]) for reply in replies[:-1]]
            taken = [(entry.subject, entry.decision and entry.decision.note) for entry in entries]
            wrong += not (
                {(reply["session_id"], reply["query"]) for reply in replies}
                == {(session_id, f"tidal heating of {mark(number)}")}
                and find_marks(replies, journal) == {mark(number)}
                and kept == decisions
                and taken == [(session_id, decision.note) for decision in decisions]
            )
    return wrong, sum(len(decisions) for _, decisions in conversations)


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def memory(folder: Path, papers: int, sessions: int) -> dict[str, float]:
    """Kilobytes for each idle session: at its strategy, or at a review of so many papers; and CPU meanwhile."""
    clock = MovableClock()
    manager = make_manager(folder, make_paper_text(papers) if papers > RECORDED else make_recording(), clock)
    query = f"tidal heating of {mark(0)}" if papers > RECORDED else QUERY

    async def waiting() -> str:
        reply = await manager.start(query, AppConfig())
        if papers:
            reply: Any = await manager.decide(reply["session_id"], Decision(action=DecisionAction.APPROVE))
            assert reply["checkpoint_payload"]["total_papers"] == papers, reply
        return reply["session_id"]

    async def minute() -> list[str]:
        ids = await asyncio.gather(*(waiting() for _ in range(AT_A_TIME)))
        clock.advance(61)
        await manager.park_idle()
        return ids

    for session_id in await minute():
        await asyncio.to_thread(manager.cleanup, session_id)
    before = resident_bytes()
    ids = [session_id for _ in range(sessions // AT_A_TIME) for session_id in await minute()]
    cpu, started = time.process_time(), time.perf_counter()
    await asyncio.sleep(LEFT_ALONE_S)
    cpu_share = (time.process_time() - cpu) / (time.perf_counter() - started)
    kilobytes = (resident_bytes() - before) / len(ids) / 1024
    assert all(manager.get(session_id) for session_id in ids)
    assert (await manager.get_state(ids[0]))["has_pending_checkpoint"]
    await manager.aclose()
    return {"kilobytes": kilobytes, "cpu_share": cpu_share}


def measured(*figures: tuple[int, int]) -> list[dict[str, float]]:
    """Measure each pair of papers and sessions in a separate process."""
    processes = [
        subprocess.Popen([sys.executable, __file__, str(papers), str(sessions)], stdout=subprocess.PIPE)
        for papers, sessions in figures
    ]
    return [json.loads(process.communicate()[0]) for process in processes]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wrong, decisions = asyncio.run(find_mixed_up(Path(folder)))
    print(f"{SESSIONS} sessions at once, {decisions} decisions: {wrong} mixed up  (target: 0)")
    assert not wrong
    figures = ((0, SESSIONS), (RECORDED, SESSIONS), (100, SESSIONS))
    results = measured(*figures)
    print(f"memory of an idle session, and CPU of the process (target: under {TARGET_KB} KB)")
    for (papers, sessions), result in zip(figures, results, strict=True):
        where = f"at a review of {papers} papers" if papers else "at its strategy"
        size = result["kilobytes"]
        print(
            f"  {sessions:>3} {where:<26} {size:5.0f} KB each, {size / TARGET_KB:5.2f}x of the target;"
            f" {result['cpu_share']:.1%} of one core"
        )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        with tempfile.TemporaryDirectory() as scratch:
            print(json.dumps(asyncio.run(memory(Path(scratch), int(sys.argv[1]), int(sys.argv[2])))))
    else:
        main()
