"""Tests of the result organizer: selection, order and facets."""

import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.facets import count_facets
from paper_search.models import (
    Author,
    PaperTag,
    RawPaper,
    ScoredPaper,
    SearchConstraints,
    SearchStrategy,
    SourceRecord,
)
from paper_search.skills.result_organizer import ResultOrganizer
from uraniborg.kernel.clock import FrozenClock

AT = datetime(2025, 6, 1, 12, tzinfo=UTC)


def make_strategy(max_results: int = 100) -> SearchStrategy:
    return SearchStrategy(queries=[], sources=["made_up"], filters=SearchConstraints(max_results=max_results))


def make_scored_paper(title: str, score: float = 0.8, **fields: Any) -> ScoredPaper:
    raw = RawPaper.model_validate({"title": title, "source": "made_up", **fields})
    return ScoredPaper(paper=raw, relevance_score=score, relevance_reason="because", tags=[PaperTag.METHOD])


async def list_titles(papers: list[ScoredPaper], max_results: int = 100, min_relevance: float = 0.3) -> list[str]:
    collection = await ResultOrganizer(min_relevance).organize(papers, make_strategy(max_results), "query")
    return [paper.title for paper in collection.papers]


async def test_papers_below_the_threshold_are_removed_and_total_found_counts_them() -> None:
    papers = [make_scored_paper("kept", 0.3), make_scored_paper("gone", 0.299999), make_scored_paper("best", 0.9)]
    organizer = ResultOrganizer(0.3, clock=FrozenClock(AT))
    collection = await organizer.organize(papers, make_strategy(), "amber")
    assert [paper.title for paper in collection.papers] == ["best", "kept"]
    assert collection.metadata.total_found == 3
    assert collection.metadata.query == "amber"
    assert collection.metadata.timestamp == AT.isoformat()
    assert collection.metadata.search_strategy == make_strategy()


async def test_equal_scores_are_sorted_by_citations_year_title_and_id() -> None:
    papers = [
        make_scored_paper("b", id="2"),
        make_scored_paper("b", id="1"),
        make_scored_paper("a", id="9"),
        make_scored_paper("newer", year=2024),
        make_scored_paper("cited", citation_count=5),
        make_scored_paper("better", 0.81),
    ]
    collection = await ResultOrganizer().organize(papers, make_strategy(), "q")
    assert [paper.title for paper in collection.papers] == ["better", "cited", "newer", "a", "b", "b"]
    assert [paper.id for paper in collection.papers][-2:] == ["1", "2"]


@given(
    st.permutations([make_scored_paper(f"t{n % 3}", n % 2 / 2 + 0.3, year=2000 + n % 2, id=f"{n}") for n in range(8)])
)
async def test_the_order_of_the_input_does_not_matter(papers: list[ScoredPaper]) -> None:
    collection = await ResultOrganizer(clock=FrozenClock(AT)).organize(papers, make_strategy(5), "q")
    in_order = sorted(papers, key=lambda one: one.paper.id)
    assert collection == await ResultOrganizer(clock=FrozenClock(AT)).organize(in_order, make_strategy(5), "q")


async def test_at_most_max_results_papers_are_returned() -> None:
    papers = [make_scored_paper(f"paper {n}", 0.5 + n / 100) for n in range(9)]
    assert await list_titles(papers, max_results=2) == ["paper 8", "paper 7"]
    assert await list_titles(papers, max_results=0) == []
    assert await list_titles(papers, max_results=-3) == []


async def test_a_paper_keeps_its_fields_and_lists_all_its_sources() -> None:
    records = [SourceRecord(source=name, record_id=name) for name in ("openalex", "arxiv", "openalex")]
    papers = [
        make_scored_paper(
            "full", doi="10.1000/a", abstract="text", authors=[{"name": "Ann"}], identifiers={"doi": "10.1000/a"}
        ),
        make_scored_paper("merged", records=records, snippet="not kept", raw_data={"not": "kept"}),
    ]
    full, merged = (await ResultOrganizer().organize(papers, make_strategy(), "q")).papers
    assert (full.doi, full.abstract, full.authors, full.sources) == (
        "10.1000/a",
        "text",
        [Author(name="Ann")],
        ["made_up"],
    )
    assert (full.relevance_score, full.relevance_reason, full.tags) == (0.8, "because", [PaperTag.METHOD])
    assert full.id == papers[0].paper.id
    assert merged.sources == ["arxiv", "openalex"]


async def test_no_papers_make_an_empty_collection() -> None:
    collection = await ResultOrganizer().organize([], make_strategy(), "q")
    assert collection.papers == []
    assert collection.metadata.total_found == 0
    assert collection.facets == count_facets([])


async def get_facets(*papers: ScoredPaper) -> Any:
    return (await ResultOrganizer().organize(list(papers), make_strategy(), "q")).facets


async def test_years_are_counted_in_order_without_missing_years() -> None:
    found = await get_facets(
        make_scored_paper("a", year=2024),
        make_scored_paper("b", year=1999),
        make_scored_paper("c", year=2024),
        make_scored_paper("d"),
    )
    assert list(found.by_year.items()) == [(1999, 1), (2024, 2)]


async def test_venues_are_grouped_ignoring_case_under_the_most_frequent_spelling() -> None:
    venues = ["Nature", "NATURE ", "Nature", "PLoS ONE", "", None]
    found = await get_facets(*(make_scored_paper(f"t{n}", venue=venue) for n, venue in enumerate(venues)))
    assert list(found.by_venue.items()) == [("Nature", 3), ("PLoS ONE", 1)]


async def test_the_ten_most_frequent_authors_are_listed_with_ties_sorted_by_name() -> None:
    crowd = [
        make_scored_paper(f"t{n}", authors=[Author(name=f"Author {n:02}"), Author(name="Zoe Zebra")]) for n in range(20)
    ]
    found = await get_facets(*reversed(crowd))
    assert found.top_authors == ["Zoe Zebra", *(f"Author {n:02}" for n in range(9))]


async def test_themes_are_shared_words_and_pairs_of_clearly_relevant_titles() -> None:
    found = await get_facets(
        make_scored_paper("Perovskite solar cells with tin"),
        make_scored_paper("A solar cell of perovskite"),
        make_scored_paper("Solar cells made of perovskite"),
        make_scored_paper("Perovskite lasers using a new method"),
        make_scored_paper("Whales whales whales", 0.49),
    )
    assert found.key_themes[:2] == ["perovskite", "solar cells"]
    assert "whales" not in found.key_themes
    assert not {"using", "new", "method", "with", "solar", "cells", "cell"} & set(found.key_themes)


async def test_there_are_at_most_eight_themes_and_none_is_short_or_a_number() -> None:
    found = await get_facets(make_scored_paper("alpha bravo charlie delta echo foxtrot golf hotel india ab 2024"))
    assert found.key_themes == ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]


async def test_a_large_result_is_organised_outside_the_event_loop() -> None:
    threads: set[int] = set()

    class WatchedClock(FrozenClock):
        def now(self) -> datetime:
            threads.add(threading.get_ident())
            return super().now()

    papers = [make_scored_paper(f"paper {n}") for n in range(400)]
    collection = await ResultOrganizer(clock=WatchedClock(AT)).organize(papers, make_strategy(1000), "q")
    assert len(collection.papers) == 400
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
async def test_the_caller_can_choose_the_threshold(threshold: float) -> None:
    papers = [make_scored_paper("none", 0.0), make_scored_paper("half", 0.5), make_scored_paper("all", 1.0)]
    assert len(await list_titles(papers, min_relevance=threshold)) == 3 - int(threshold * 2)
