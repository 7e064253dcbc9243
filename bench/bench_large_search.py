"""A search that a person conducts, with 1,000 and with 20,000 papers: seconds for each step, and their growth.

python bench/bench_large_search.py [--quick]

Two sources share a literature of made-up papers. A person confirms the strategy, reads lists, marks a tenth of the
papers, asks for another round, leaves, comes back, approves, and exports. A step grows well if its time per paper at
20,000 papers is near that at 1,000; steps that do not depend on the number of papers get near 0. `longest hold` is the
longest time by which a task of the event loop was late while the process used the processor.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

from ratios import record_ratio

from paper_search.config import AppConfig
from paper_search.domain.review_models import PaperDecision, ReviewStatus
from paper_search.export import FORMATS
from paper_search.models import Author, RawPaper
from paper_search.service.review.paper_list import PaperConditions
from paper_search.service.review.session_review import SessionReview
from paper_search.service.sessions import SessionManager
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.store.saved_marks import MarkStore
from paper_search.store.session_files import SessionFiles
from paper_search.testing import EmulatedBooleanSource, EmulatedLiterature, EmulatedRankedSource
from paper_search.workflow.checkpoints import Decision, DecisionAction
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.store.inbox import Inbox

T = TypeVar("T")

SIZES: Final = (1_000, 20_000)
QUERY: Final = "tidal heating of icy moons"
PERSON: Final = "Sophie"
TICK_S: Final = 0.002
SYLLABLES: Final = ("ba", "cre", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "xo", "zu")
VOCABULARY: Final = [f"{first}{second}{third}n" for first in SYLLABLES for second in SYLLABLES for third in SYLLABLES]


def make_paper(number: int) -> RawPaper:
    """Return a paper with words of its own, as many papers share a word as in real literature."""
    draw = Random(number)
    words = [VOCABULARY[int(len(VOCABULARY) * draw.random() ** 3)] for _ in range(120)]
    return RawPaper(
        title=f"{' '.join(words[:5])} and the tidal heating of icy moons {words[5]}",
        authors=[Author(name=f"{word.title()} Brahe") for word in words[6:10]],
        year=1980 + number % 45,
        venue=f"Journal {number % 40}",
        doi=f"10.1000/moons.{number}",
        abstract=" ".join(words),
        citation_count=number % 211,
        source="made up",
    )


class Timer:
    """The seconds of each step, and the longest time that the event loop was held in it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.holds: dict[str, float] = {}
        self._hold = 0.0

    async def watch_loop(self) -> None:
        while True:
            woken, used = time.monotonic(), time.process_time()
            await asyncio.sleep(TICK_S)
            late = time.monotonic() - woken - TICK_S
            self._hold = max(self._hold, min(late, time.process_time() - used))

    @contextmanager
    def time_step(self, name: str) -> Generator[None]:
        self._hold, started = 0.0, time.process_time()
        yield
        self.seconds[name], self.holds[name] = time.process_time() - started, self._hold

    async def time_call(self, name: str, call: Awaitable[T]) -> T:
        with self.time_step(name):
            result = await call
            await asyncio.sleep(2 * TICK_S)
        return result


class LargeSearch:
    """One search by one person, step by step, with its data in `folder`."""

    def __init__(self, folder: Path, papers: int) -> None:
        self._folder = folder
        self._config = AppConfig(default_max_results=papers)
        literature = EmulatedLiterature(make_paper(number) for number in range(papers * 5 // 4))
        self._sources = [
            EmulatedBooleanSource(literature, most=2 * papers, too_broad=10 * papers),
            EmulatedRankedSource(literature, most=2 * papers),
        ]
        self.papers = papers
        self.timer = Timer()
        self._start_manager()

    def _start_manager(self) -> None:
        self._manager = SessionManager(
            store=SessionFiles(self._folder / "sessions"),
            inbox=Inbox(self._folder / "inbox.db"),
            marks=MarkStore(self._folder / "reviews"),
            configure=lambda: self._config,
            build=self._build_workflow,
        )
        self._review = SessionReview(self._manager)

    def _build_workflow(self, config: AppConfig, **hooks: Any) -> SearchWorkflow:
        return SearchWorkflow(
            IntentParser(),
            QueryBuilder(available_sources=[source.source_name for source in self._sources]),
            Searcher(self._sources),
            Deduplicator(),
            RelevanceScorer(),
            ResultOrganizer(),
            max_results=config.default_max_results,
            **hooks,
        )

    async def run_steps(self) -> None:
        watch = asyncio.create_task(self.timer.watch_loop())
        session_id = await self._search()
        await self._read(session_id)
        await self._mark_and_search_again(session_id)
        await self._reopen(session_id)
        await self._finish(session_id)
        await self._manager.aclose()
        watch.cancel()

    async def _search(self) -> str:
        state = await self.timer.time_call("open the session", self._manager.start(QUERY, self._config))
        session_id: str = state["session_id"]
        await self.timer.time_call("search and score", self._decide(session_id, DecisionAction.APPROVE))
        collection = await self._manager.get_collection(session_id)
        if len(collection.papers) != self.papers:
            raise SystemExit(f"The result must have {self.papers:,} papers, got {len(collection.papers):,}.")
        return session_id

    async def _decide(self, session_id: str, action: DecisionAction, **fields: Any) -> None:
        before = await self._manager.peek_state(session_id)
        assert before.checkpoint_id is not None
        await self._manager.decide(
            session_id, Decision(action=action, **fields), door="console", reviewer=PERSON, reply_within_s=0.1
        )
        state = await self._manager.wait_until_passed(session_id, before.checkpoint_id, 300)
        if state.get("phase") == "working":
            raise SystemExit("The search did not reach its next checkpoint within 300 s.")

    async def _read(self, session_id: str) -> None:
        time_call, review = self.timer.time_call, self._review
        await time_call("get the session", self._manager.get_state(session_id))
        await time_call("first page, MCP", self._manager.get_papers(session_id))
        await time_call("last page, MCP", self._manager.get_papers(session_id, self.papers - 5))
        lists: dict[str, tuple[PaperConditions, dict[str, Any]]] = {
            "list of 50": (PaperConditions(), {}),
            "list of 500, by title": (PaperConditions(), {"sort": "title", "limit": 500}),
            "list with words": (PaperConditions(words="ocean vent"), {}),
        }
        for name, (conditions, options) in lists.items():
            await time_call(name, review.list_papers(session_id, PERSON, conditions, **options))
        await time_call("PRISMA flow", review.get_flow(session_id, PERSON))

    async def _mark_and_search_again(self, session_id: str) -> None:
        papers = (await self._manager.get_collection(session_id)).papers[: self.papers // 10]
        statuses = (ReviewStatus.INCLUDE, ReviewStatus.EXCLUDE)
        marks = {paper.id: PaperDecision(status=statuses[number % 2]) for number, paper in enumerate(papers)}
        time_call = self.timer.time_call
        await time_call("mark a tenth", self._review.mark_papers(session_id, marks, PERSON))
        await time_call("mark one more", self._review.mark_papers(session_id, dict(list(marks.items())[:1]), PERSON))
        await time_call("decide and plan again", self._decide(session_id, DecisionAction.REJECT, note="more"))
        await time_call("second round", self._decide(session_id, DecisionAction.APPROVE))
        exclusions = self._review.list_exclusions(session_id, PERSON, offset=0, limit=50)
        await time_call("list of exclusions", exclusions)

    async def _reopen(self, session_id: str) -> None:
        await self._manager.aclose()
        self._start_manager()
        # Every checkpoint differs from this one: the call waits until the session is back at its own.
        reopened = self._manager.wait_until_passed(session_id, "none", 300)
        await self.timer.time_call("reopen from disk", reopened)
        await self.timer.time_call("papers after that", self._manager.get_collection(session_id))

    async def _finish(self, session_id: str) -> None:
        await self.timer.time_call("approve the result", self._decide(session_id, DecisionAction.APPROVE))
        for name in FORMATS:
            export = self._review.export_papers(session_id, PERSON, name)
            text = await self.timer.time_call(f"export {name}", export)
            (self._folder / f"export.{name}").write_text(text, encoding="utf-8")


def print_growth(small: LargeSearch, large: LargeSearch) -> None:
    print(f"{'processor seconds':24} {small.papers:>8,} {large.papers:>8,}  per paper  longest hold")
    factor = large.papers / small.papers
    for name, seconds in large.timer.seconds.items():
        ratio = seconds / small.timer.seconds[name] / factor
        hold = 1_000 * large.timer.holds[name]
        print(f"{name:24} {small.timer.seconds[name]:8.3f} {seconds:8.3f}  {ratio:8.2f}x  {hold:8.0f} ms")
    total = sum(large.timer.seconds.values()) / sum(small.timer.seconds.values()) / factor
    print(f"all steps, per paper: {total:.2f}x (linear is 1.00x)")
    record_ratio(f"time per paper, {large.papers:,} papers to {small.papers:,}", total)
    longest = max(large.timer.holds.values())
    print(f"longest hold of the event loop: {1_000 * longest:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="50 and 200 papers")
    sizes = (50, 200) if parser.parse_args().quick else SIZES
    searches: list[LargeSearch] = []
    for papers in sizes:
        with tempfile.TemporaryDirectory() as folder:
            search = LargeSearch(Path(folder), papers)
            asyncio.run(search.run_steps())
            stored = sum(file.stat().st_size for file in (Path(folder) / "sessions").iterdir())
        searches.append(search)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
        print(f"{papers:,} papers: {stored / 1e6:,.0f} MB in the store, at most {memory:,.0f} MB of memory")
    print_growth(*searches)


if __name__ == "__main__":
    main()
