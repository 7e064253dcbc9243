"""A replayed search of 500 raw papers from five sources: the time of each stage, and how long the loop ever waits."""

import asyncio
import json
import random
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from paper_search.config import AppConfig
from paper_search.models import PaperCollection
from paper_search.sources.interfaces import Request, Response
from paper_search.workflow import SearchWorkflow
from paper_search.workflow.skill_interfaces import ProgressFacts

QUERY = "tidal heating of icy moons"
SOURCES = ["crossref", "openalex", "europepmc", "semantic_scholar", "dblp"]
PER_SOURCE = 100
SYLLABLES = ["ra", "to", "mi", "sel", "van", "dor", "pex", "lun", "cri", "bas", "tem", "gal", "ori", "nep"]


def titles() -> list[str]:
    """200 papers; each source knows 100 of them, so that sources overlap."""
    random.seed(7)
    words = ["".join(random.choices(SYLLABLES, k=3)) for _ in range(600)]
    return ["Tidal heating of icy moons: " + " ".join(random.sample(words, 6)) for _ in range(200)]


class MadeUpAnswers:
    def __init__(self) -> None:
        self._titles = titles()

    def _known(self, source: str) -> list[tuple[int, str]]:
        random.seed(source)
        return random.sample(list(enumerate(self._titles)), PER_SOURCE)

    async def send(self, request: Request) -> Response:
        works = [getattr(self, f"_{request.source}")(number, title) for number, title in self._known(request.source)]
        return Response(200, json.dumps(self._wrapped(request.source, works)).encode(), {}, seconds=0.1)

    async def aclose(self) -> None:
        pass

    @staticmethod
    def _wrapped(source: str, works: list[Any]) -> Any:
        count = len(works)
        return {
            "crossref": {
                "status": "ok",
                "message-type": "work-list",
                "message": {"total-results": count, "items": works},
            },
            "openalex": {"meta": {"count": count, "next_cursor": None}, "results": works},
            "europepmc": {"hitCount": count, "resultList": {"result": works}},
            "semantic_scholar": {"total": count, "data": works},
            "dblp": {"result": {"hits": {"@total": str(count), "hit": [{"info": work} for work in works]}}},
        }[source]

    @staticmethod
    def _abstract(title: str) -> str:
        return " ".join([title] * 12)

    def _crossref(self, n: int, title: str) -> Any:
        return {"DOI": f"10.1000/{n}", "title": [title], "author": [{"given": "T.", "family": f"Brahe{n}"}]}

    def _openalex(self, n: int, title: str) -> Any:
        words = {f"w{i}{word}": [i] for i, word in enumerate(self._abstract(title).split())}
        author = {"author": {"display_name": f"T. Brahe{n}"}}
        return {
            "id": f"https://openalex.org/W{n}",
            "display_name": title,
            "title": title,
            "publication_year": 2020,
            "abstract_inverted_index": words,
            "authorships": [author],
        }

    def _europepmc(self, n: int, title: str) -> Any:
        return {
            "id": str(n),
            "title": title,
            "doi": f"10.1000/{n}",
            "authorString": f"Brahe{n} T.",
            "abstractText": self._abstract(title),
            "pubYear": "2020",
        }

    def _semantic_scholar(self, n: int, title: str) -> Any:
        return {
            "paperId": f"{n:040x}",
            "title": title,
            "abstract": self._abstract(title),
            "year": 2020,
            "authors": [{"name": f"T. Brahe{n}"}],
        }

    def _dblp(self, n: int, title: str) -> Any:
        return {"title": title + ".", "year": "2020", "authors": {"author": {"text": f"T. Brahe{n}"}}, "key": f"j/{n}"}


class Stopwatch:
    """Notes when each phase begins and how late the loop's own clock ever was."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, float, ProgressFacts]] = []
        self.longest_wait = 0.0

    def progress(self, phase: str, facts: ProgressFacts) -> None:
        if phase != "source_finished":
            self.phases.append((phase, perf_counter(), facts))

    async def watch(self) -> None:
        while True:
            before = perf_counter()
            await asyncio.sleep(0.001)
            self.longest_wait = max(self.longest_wait, perf_counter() - before - 0.001)


async def replay_search(recording: Path) -> tuple[PaperCollection, Stopwatch, float]:
    stopwatch = Stopwatch()
    workflow = await asyncio.to_thread(
        SearchWorkflow.from_config, AppConfig(replay_dir=recording), progress_reporter=stopwatch.progress
    )
    watching = asyncio.create_task(stopwatch.watch())
    started = perf_counter()
    result = await workflow.run(QUERY)
    seconds = perf_counter() - started
    watching.cancel()
    return result, stopwatch, seconds


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording"
        recorder = SearchWorkflow.from_config(
            AppConfig(record_dir=recording), transport=MadeUpAnswers(), only=SOURCES, query=QUERY
        )
        await recorder.run(QUERY)
        await replay_search(recording)  # this one also pays for imports and caches; the next is shown
        result, stopwatch, total = await replay_search(recording)
    raw = sum(report.returned for report in result.metadata.sources)
    print(f"raw papers {raw} from {len(SOURCES)} sources, {len(result.papers)} in the result")
    for (phase, begun, _), (_, ended, _) in zip(stopwatch.phases, stopwatch.phases[1:], strict=False):
        print(f"  {phase:<16} {(ended - begun) * 1000:7.1f} ms  {(ended - begun) / total:6.1%}")
    print(f"  {'in all':<16} {total * 1000:7.1f} ms")
    print(f"longest the event loop was held: {stopwatch.longest_wait * 1000:.1f} ms  (target: at most 50 ms)")


if __name__ == "__main__":
    asyncio.run(main())
