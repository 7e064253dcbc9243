"""Tests of the deduplicator."""

import asyncio
import threading

import pytest

from paper_search.domain.dedup import Deduplication, deduplicate
from paper_search.models import Author, RawPaper
from paper_search.skills import deduplicator
from paper_search.skills.deduplicator import Deduplicator


def make_record(number: int, source: str = "a") -> RawPaper:
    return RawPaper(
        title=f"Observations of the outer satellite {number} in infrared light",
        authors=[Author(name="Lei Wang")],
        year=2019,
        source=source,
    )


async def test_duplicates_are_merged() -> None:
    assert len(await Deduplicator().deduplicate([make_record(1), make_record(1, "b"), make_record(2)])) == 2


async def test_the_report_counts_the_merged_records_by_reason() -> None:
    found = await Deduplicator().deduplicate([make_record(1), make_record(1, "b"), make_record(2)])
    assert found.merged == {"title, authors and year match": 1}
    assert len(found) == 2


async def test_no_papers_give_no_papers() -> None:
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
    papers = [make_record(number) for number in range(size)]
    assert len(await Deduplicator().deduplicate(papers)) == size
    assert (workers[0] is not threading.main_thread()) is elsewhere


async def test_changing_the_input_list_during_deduplication_changes_nothing() -> None:
    papers = [make_record(number) for number in range(200)]
    running = asyncio.ensure_future(Deduplicator().deduplicate(papers))
    await asyncio.sleep(0)
    papers.clear()
    assert len(await running) == 200


async def test_concurrent_searches_share_no_state() -> None:
    skill = Deduplicator()
    first, second = await asyncio.gather(
        skill.deduplicate([make_record(number) for number in range(100)]),
        skill.deduplicate([make_record(number, "b") for number in range(100)]),
    )
    assert {paper.source for paper in first} == {"a"}
    assert {paper.source for paper in second} == {"b"}
