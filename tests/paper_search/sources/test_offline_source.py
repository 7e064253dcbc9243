from pathlib import Path
from typing import Any

import pytest

from paper_search.config import AppConfig, SearchSourceConfig
from paper_search.domain.dedup import deduplicate
from paper_search.errors import UnknownSource
from paper_search.models import SearchConstraints, SearchQuery, SearchStrategy, SourceStatus
from paper_search.recordings import CLASSICS, OFFLINE_NOTICE, RECORDING
from paper_search.sources.interfaces import SourceResult
from paper_search.sources.offline_source import (
    OfflineSource,
    build_offline_sources,
    describe_offline_sources,
    read_recorded_papers,
)
from uraniborg.kernel.errors import InvalidInput


async def search(query: str, source: str = "crossref", **filters: Any) -> SourceResult:
    strategy = SearchStrategy(
        queries=[SearchQuery(keywords=[], boolean_query=query)],
        sources=[source],
        filters=SearchConstraints(**filters),
    )
    return await OfflineSource(source, read_recorded_papers()[source]).search_with_report(strategy)


async def list_titles(query: str, source: str = "crossref", **filters: Any) -> list[str]:
    return [paper.title for paper in (await search(query, source, **filters)).papers]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("random forest", "Random Forests"),
        ('"random forests"', "Random Forests"),
        ("fores*", "Random Forests"),
        ("Breiman", "Random Forests"),
        ("10.1023/A:1010933404324", "Random Forests"),
        ("quantum OR (decision AND trees)", "Random Forests"),
        (
            "perovskites AND sensitizer",
            "Organometal Halide Perovskites as Visible-Light Sensitizers for Photovoltaic Cells",
        ),
    ],
)
async def test_words_phrases_names_and_identifiers_find_recorded_papers(query: str, title: str) -> None:
    assert title in await list_titles(query)


@pytest.mark.parametrize(
    "query", ["quantum cryptography", '"forests random"', "10.1000/unknown", "forest AND Queloz", ""]
)
async def test_a_query_that_no_recorded_paper_matches_finds_nothing(query: str) -> None:
    result = await search(query)
    assert (result.papers, result.report.status) == ([], SourceStatus.EMPTY)


async def test_years_languages_and_exclusions_are_applied_and_counted() -> None:
    every, recent = await search("TRAPPIST-1"), await search("TRAPPIST-1", year_from=2018)
    assert {paper.year or 0 for paper in recent.papers} == {2018, 2019, 2021, 2023}
    assert recent.report.removed == {"year": len(every.papers) - len(recent.papers)}
    without = await search("TRAPPIST-1 NOT resonant")
    assert 0 < without.report.removed["excluded_words"] < len(every.papers)
    assert await list_titles("TRAPPIST-1", language="fr") == []


async def test_a_report_says_that_the_papers_were_filtered_and_not_searched() -> None:
    report = (await search("TRAPPIST-1")).report
    held = len(read_recorded_papers()["crossref"])
    assert report.reason == f"Filtered from its {held} papers in the shipped recording, not searched."
    assert (report.calls, report.requests, report.status) == (0, [], SourceStatus.OK)


async def test_a_trial_climbs_the_ladder_and_reports_each_query() -> None:
    queries = [
        SearchQuery(keywords=[], boolean_query="forests AND Queloz", words="quantum forests trees decision", rung=0),
        SearchQuery(keywords=[], boolean_query="forests", rung=1),
    ]
    strategy = SearchStrategy(queries=queries, sources=[])
    ranked = (await OfflineSource("crossref", read_recorded_papers()["crossref"]).search_with_report(strategy)).report
    assert [(query.text, query.stopped.value) for query in ranked.queries] == [
        ("quantum forests trees decision", "complete")
    ]
    boolean = (await OfflineSource("arxiv", read_recorded_papers()["arxiv"]).search_with_report(strategy)).report
    assert [(query.text, query.found) for query in boolean.queries] == [("forests AND Queloz", 0), ("forests", 0)]


async def test_words_find_the_recorded_papers_with_more_than_half_of_them_best_first() -> None:
    query = SearchQuery(keywords=[], boolean_query="", words="random forests elephants -Queloz")
    source = OfflineSource("crossref", read_recorded_papers()["crossref"])
    papers = await source.search_advanced(SearchStrategy(queries=[query], sources=[]))
    assert papers[0].title == "Random Forests"
    assert len(papers) < len(read_recorded_papers()["crossref"])


async def test_changed_papers_do_not_change_the_recording() -> None:
    (first,) = (await search("Breiman")).papers
    first.title = "Changed"
    assert await list_titles("Breiman") == ["Random Forests"]


def test_the_notice_states_the_true_number_of_papers() -> None:
    records = [paper.record for papers in read_recorded_papers().values() for paper in papers]
    merged = deduplicate(records)
    assert f"of {len(merged.papers)} papers." in OFFLINE_NOTICE


@pytest.mark.parametrize("topic", ["TRAPPIST-1", "planets", "orbit", "solar cells", "learning"])
async def test_the_recording_holds_the_topics_that_it_names(topic: str) -> None:
    assert len(await list_titles(topic)) >= 2


def test_every_recorded_paper_has_authors_a_year_and_an_identifier() -> None:
    for papers in read_recorded_papers().values():
        for paper in (paper.record for paper in papers):
            assert all((paper.authors, paper.year, paper.identifiers)), paper.title


def test_the_shipped_recordings_are_small() -> None:
    files = [file for folder in (RECORDING, CLASSICS) for file in Path(folder).iterdir()]
    assert (
        sum(file.stat().st_size for file in files) < 900_000
    )  # a plan is a ladder of about 22 queries for each source


def test_the_sources_of_a_trial_are_those_with_recorded_papers() -> None:
    names = [source.source_name for source in build_offline_sources(AppConfig())]
    assert names == ["crossref", "arxiv", "openalex", "europepmc"]
    off = AppConfig(sources={"arxiv": SearchSourceConfig(name="arxiv", enabled=False)})
    assert "arxiv" not in [source.source_name for source in build_offline_sources(off)]
    assert [source.source_name for source in build_offline_sources(off, ["arxiv"])] == ["arxiv"]
    described = {entry["name"]: entry for entry in describe_offline_sources(off)}
    assert [name for name, entry in described.items() if entry["used"]] == ["openalex", "crossref", "europepmc"]
    assert described["pubmed"]["remark"] == "not in the shipped recording"


def test_a_source_without_recorded_papers_is_refused_with_those_that_have_some() -> None:
    with pytest.raises(InvalidInput, match="no papers of pubmed") as caught:
        build_offline_sources(AppConfig(), ["pubmed"])
    assert caught.value.hint == "Offline, use one of: crossref, arxiv, openalex, europepmc."
    with pytest.raises(UnknownSource):
        build_offline_sources(AppConfig(), ["nowhere"])
