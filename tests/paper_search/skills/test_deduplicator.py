"""The skill around deduplication."""

import asyncio
import threading

import pytest

from paper_search.dedup import Deduplication, deduplicate
from paper_search.models import Author, RawPaper
from paper_search.skills import deduplicator
from paper_search.skills.deduplicator import Deduplicator


def record(number: int, source: str = "a") -> RawPaper:
    return RawPaper(
        title=f"Observations of the outer satellite {number} in infrared light",
        authors=[Author(name="Lei Wang")],
        year=2019,
        source=source,
    )


async def test_duplicates_are_merged() -> None:
    assert len(await Deduplicator().deduplicate([record(1), record(1, "b"), record(2)])) == 2


async def test_the_report_says_how_many_records_were_merged_for_which_reason() -> None:
    found = await Deduplicator().deduplicate([record(1), record(1, "b"), record(2)])
    assert found.merged == {"title, authors and year match": 1}
    assert len(found) == 2


async def test_nothing_gives_nothing() -> None:
    assert await Deduplicator().deduplicate([]) == []


@pytest.mark.parametrize(("size", "elsewhere"), [(10, False), (200, True)])
async def test_many_papers_are_merged_off_the_event_loop(
    size: int, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: list[threading.Thread] = []

    def noting(papers: list[RawPaper]) -> Deduplication:
        workers.append(threading.current_thread())
        return deduplicate(papers)

    monkeypatch.setattr(deduplicator, "deduplicate", noting)
    papers = [record(number) for number in range(size)]
    assert len(await Deduplicator().deduplicate(papers)) == size
    assert (workers[0] is not threading.main_thread()) is elsewhere


async def test_a_list_changed_while_it_is_deduplicated_does_not_matter() -> None:
    papers = [record(number) for number in range(200)]
    running = asyncio.ensure_future(Deduplicator().deduplicate(papers))
    await asyncio.sleep(0)
    papers.clear()
    assert len(await running) == 200


async def test_two_searches_at_once_share_nothing() -> None:
    skill = Deduplicator()
    first, second = await asyncio.gather(
        skill.deduplicate([record(number) for number in range(100)]),
        skill.deduplicate([record(number, "b") for number in range(100)]),
    )
    assert {paper.source for paper in first} == {"a"}
    assert {paper.source for paper in second} == {"b"}
